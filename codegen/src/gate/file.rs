//! What `gate.toml` may say. Whatever it says that is not known here is an error with its line.

use super::several::{Number, Several};
use crate::cases::Allowed;
use crate::embedded::Budget;
use crate::error::Error;
use crate::verifier::RuntimeSource;
use clap::ValueEnum;
use pg_runtime::options::{Engine, Semantics};
use serde::Deserialize;
use serde::de::{self, Deserializer};
use std::path::{Path, PathBuf};

/// The limit of an instance that has none of its own, in seconds.
pub const TIMEOUT: f64 = 60.0;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct File {
    #[serde(deserialize_with = "seconds")]
    pub timeout: Option<f64>,
    #[serde(deserialize_with = "amount")]
    pub threads: Option<u32>,
    #[serde(deserialize_with = "amount")]
    pub jobs: Option<u32>,
    #[serde(deserialize_with = "choice")]
    pub engine: Option<Engine>,
    #[serde(deserialize_with = "choice")]
    pub semantics: Option<Semantics>,
    pub seed: u64,
    pub allow: Vec<Allowed>,
    pub proofs: bool,
    pub build: bool,
    pub cache: Option<PathBuf>,
    pub runtime: Option<Runtime>,
    pub network: Vec<Network>,
}

/// Where generated crates find pg-runtime: as the options of these names when they were generated.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Runtime {
    Path(PathBuf),
    Version(String),
    Git(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    pub model: String,
    #[serde(default)]
    pub properties: Several<Property>,
    #[serde(default)]
    pub robust: Vec<Image>,
    #[serde(default)]
    pub generated: Several<Crate>,
    #[serde(default, deserialize_with = "seconds")]
    pub timeout: Option<f64>,
    pub allow: Option<Vec<Allowed>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Property {
    pub file: String,
    #[serde(default, deserialize_with = "seconds")]
    pub timeout: Option<f64>,
    pub allow: Option<Vec<Allowed>>,
}

/// Images, each with each of the radii.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Image {
    pub image: Several<String>,
    pub eps: Several<Number>,
    pub scale: Option<Number>,
    pub clip: Option<[Number; 2]>,
    pub label: Option<usize>,
    #[serde(default, deserialize_with = "seconds")]
    pub timeout: Option<f64>,
    pub allow: Option<Vec<Allowed>>,
}

/// A folder whose text has to be what would be generated.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Crate {
    pub folder: String,
    pub name: Option<String>,
    pub embedded: bool,
    pub domain: Option<PathBuf>,
    pub regions: Option<PathBuf>,
    #[serde(deserialize_with = "budget")]
    pub budget: Option<Budget>,
    pub target: Option<String>,
}

impl File {
    pub fn parse(text: &str, path: &Path) -> Result<File, Error> {
        toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let place = line.map_or(path.display().to_string(), |line| format!("{}, line {line}", path.display()));
            Error::File(format!("{place}: {}", error.message().replace('\n', " ")))
        })
    }

    pub fn runtime(&self, folder: &Path) -> RuntimeSource {
        let nothing = RuntimeSource::default();
        match &self.runtime {
            None => nothing,
            Some(Runtime::Path(path)) => RuntimeSource { runtime_path: Some(folder.join(path)), ..nothing },
            Some(Runtime::Version(version)) => RuntimeSource { runtime_version: Some(version.clone()), ..nothing },
            Some(Runtime::Git(git)) => RuntimeSource { runtime_git: Some(git.clone()), ..nothing },
        }
    }
}

impl Network {
    /// One that has nothing but properties.
    pub fn of(model: &str, properties: Vec<Property>) -> Network {
        let (model, properties) = (model.into(), Several(properties));
        Network { model, properties, robust: vec![], generated: Several::default(), timeout: None, allow: None }
    }
}

impl From<&str> for Property {
    fn from(file: &str) -> Property {
        Property { file: file.into(), timeout: None, allow: None }
    }
}

impl From<&str> for Crate {
    fn from(folder: &str) -> Crate {
        Crate { folder: folder.into(), ..Crate::default() }
    }
}

fn seconds<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    match f64::deserialize(source)? {
        value if (0.0..=1e9).contains(&value) => Ok(Some(value)),
        value => Err(de::Error::custom(format!("{value} is not a number of seconds between 0 and 1e9"))),
    }
}

fn amount<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(source)? {
        value @ 1..=1024 => Ok(Some(value)),
        value => Err(de::Error::custom(format!("{value} is not between 1 and 1024"))),
    }
}

fn choice<'de, D: Deserializer<'de>, T: ValueEnum>(source: D) -> Result<Option<T>, D::Error> {
    let word = String::deserialize(source)?;
    T::from_str(&word, false).map(Some).map_err(|_| {
        let known =
            T::value_variants().iter().filter_map(|value| Some(value.to_possible_value()?.get_name().to_string()));
        de::Error::custom(format!("unknown '{word}', known are {}", known.collect::<Vec<_>>().join(", ")))
    })
}

fn budget<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Budget>, D::Error> {
    String::deserialize(source)?.parse().map(Some).map_err(de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<File, String> {
        File::parse(text, Path::new("gate.toml")).map_err(|e| e.to_string())
    }

    #[test]
    fn one_or_more_of_a_kind_are_named_or_written_out() {
        let text = "jobs = 2\n[[network]]\nmodel = 'a.onnx'\nproperties = ['p', { file = 'q', timeout = 5, allow = [] }]\n\
                    generated = 'dir'\n[[network.robust]]\nimage = ['i', 'j']\neps = 0.02\nscale = 255\nclip = [0, '1']\n\
                    [[network]]\nmodel = 'b.onnx'\nproperties = 'r'\n\
                    generated = [{ folder = 'e', embedded = true, budget = 'flash=64K' }]\nallow = ['timeout']\n";
        let file = parse(text).unwrap();
        let [a, b] = &file.network[..] else { panic!() };
        assert_eq!(a.properties.0.iter().map(|p| p.file.as_str()).collect::<Vec<_>>(), ["p", "q"]);
        assert_eq!((a.properties.0[1].timeout, a.properties.0[1].allow.as_deref()), (Some(5.0), Some(&[][..])));
        assert_eq!((a.robust[0].image.0.len(), &a.robust[0].eps.0[..]), (2, &[Number("0.02".into())][..]));
        assert_eq!(a.robust[0].clip, Some([Number("0".into()), Number("1".into())]));
        assert_eq!((a.generated.0[0].folder.as_str(), b.generated.0[0].budget.unwrap().flash), ("dir", Some(65536)));
        assert_eq!((file.jobs, b.allow.as_deref()), (Some(2), Some(&[Allowed::Timeout][..])));
    }

    #[test]
    fn mistakes_are_located() {
        let line = |text: &str| parse(&format!("\n[[network]]\nmodel = 'a'\n{text}\n")).unwrap_err();
        let cases = [
            ("properties = 'p'\ncolour = 1", "gate.toml, line 5: unknown field `colour`, expected one of `model`, "),
            ("properties = [{ name = 'p' }]", "gate.toml, line 4: unknown field `name`, expected one of `file`, "),
            ("timeout = -1", "gate.toml, line 4: -1 is not a number of seconds"),
            ("allow = ['sat']", "gate.toml, line 4: unknown variant `sat`, expected `unknown` or `timeout`"),
            ("properties = [[['p', 'q']]]", "gate.toml, line 4: a list inside a list"),
            ("robust = [{ image = 'i' }]", "gate.toml, line 4: missing field `eps`"),
            ("generated = { folder = 'e', budget = 'disk=1' }", "gate.toml, line 4: there is no budget of 'disk'"),
            ("model = 'b'", "gate.toml, line 4: duplicate key"),
            (
                "[runtime]\nurl = 'x'",
                "gate.toml, line 5: unknown variant `url`, expected one of `path`, `version`, `git`",
            ),
        ];
        for (text, expected) in cases {
            assert!(line(text).starts_with(expected), "{text}: {}", line(text));
        }
        assert!(parse("engine = 'fast'").unwrap_err().ends_with("unknown 'fast', known are auto, phases, peregrinn"));
        assert!(parse("jobs = 0").unwrap_err().starts_with("gate.toml, line 1: 0 is not between 1 and 1024"));
    }
}
