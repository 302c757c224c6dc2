//! What a verdict depends on: the bytes of model and property, the question, the options that a search or its meaning depends
//! on, and the program that answers.

use crate::error::Error;
use crate::read;
use crate::suite::arithmetic;
use crate::suite::list::Instance;
use pg_property::files::{self, sha256};
use pg_runtime::options::Options;
use pg_runtime::tuning::Tuning;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Changed when entries mean something else.
const FORMAT: u32 = 1;
const TOOL: &str = concat!("pg-codegen ", env!("CARGO_PKG_VERSION"));

#[derive(Clone, Debug)]
pub struct Key {
    digest: String,
    model: String,
    property: String,
    tuning: String,
    /// The options of the search, as arguments.
    options: Vec<String>,
    /// What a certificate has to be about.
    pub arithmetic: &'static str,
}

impl Key {
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Whether a verifier's report is about these bytes and from this tool: files may have changed between the digests and the
    /// verifier's reading of them.
    pub fn is_of(&self, report: &Value) -> bool {
        report["model"]["sha256"] == *self.model
            && report["property"]["sha256"] == *self.property
            && report["tool"] == TOOL
            && report["tuning"] == *self.tuning
    }

    /// The instance's question as a command line, with the options of its search.
    pub fn question(&self, instance: &Instance) -> Vec<String> {
        [&instance.question[..], &self.options].concat()
    }
}

/// Makes keys: what all instances share, and the digests of the models that were read.
pub struct Keys {
    shared: Value,
    tuning: String,
    options: Vec<String>,
    arithmetic: &'static str,
    models: HashMap<PathBuf, Option<String>>,
}

impl Keys {
    /// `interpret` tells whether networks are interpreted. This program's own bytes are part of what all keys share: versions under
    /// development have one name.
    pub fn new(options: &Options, interpret: bool) -> Result<Keys, Error> {
        let this = std::env::current_exe().and_then(std::fs::read);
        let program = sha256(&this.map_err(|e| Error::File(format!("cannot read this program: {e}")))?);
        let options = Options { timeout: None, threads: None, ..options.clone() };
        let tuning = Tuning::default().hash();
        let shared = json!({
            "format": FORMAT, "tool": TOOL, "program": program, "tuning": tuning, "interpret": interpret, "options": options,
        });
        let (arithmetic, models) = (arithmetic(&options), HashMap::new());
        Ok(Keys { shared, tuning, options: options.arguments(), arithmetic, models })
    }

    /// The key of an instance; none if its files cannot be read, which its verifier will tell of.
    pub fn of(&mut self, instance: &Instance) -> Option<Key> {
        let model = self.model(&instance.network_file)?;
        let [_, asked, rest @ ..] = &instance.question[..] else { return None };
        let asked = files::find(Path::new(asked));
        // A pipe is read once, by the verifier.
        let property = asked.is_file().then(|| files::read(&asked).ok()).flatten().map(|bytes| sha256(&bytes))?;
        let whole = json!({
            "shared": self.shared, "model": model, "property": property, "verb": instance.question[0], "rest": rest,
        });
        let (tuning, options) = (self.tuning.clone(), self.options.clone());
        let digest = sha256(whole.to_string().as_bytes());
        Some(Key { digest, model, property, tuning, options, arithmetic: self.arithmetic })
    }

    fn model(&mut self, path: &Path) -> Option<String> {
        if !self.models.contains_key(path) {
            let digest = path.is_file().then(|| read::read(path).ok()).flatten().map(|model| model.source.sha256);
            self.models.insert(path.to_path_buf(), digest);
        }
        self.models[path].clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pg_runtime::options::{Engine, Semantics};

    fn digest(change: impl Fn(&mut Instance, &mut Options)) -> String {
        let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/networks");
        let file = |name: &str| networks.join(name);
        let mut instance = Instance {
            number: 1,
            network: "a".into(),
            network_file: file("control.onnx"),
            property: "p".into(),
            eps: None,
            question: vec!["verify".into(), file("control_bound.vnnlib").display().to_string()],
            limit: 1.0,
            is_first: true,
        };
        let mut options = Options::default();
        change(&mut instance, &mut options);
        Keys::new(&options, true).unwrap().of(&instance).unwrap().digest
    }

    #[test]
    fn limits_and_names_are_no_part_of_a_key() {
        let same = digest(|_, _| {});
        assert_eq!(digest(|instance, _| (instance.limit, instance.number) = (9.0, 7)), same);
        assert_eq!(digest(|instance, _| instance.network = "b".into()), same);
        assert_eq!(digest(|_, options| (options.timeout, options.threads) = (Some(1.0), Some(3))), same);
    }

    #[test]
    fn whatever_a_verdict_depends_on_changes_the_key() {
        let networks = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/networks");
        let mut all = vec![
            digest(|_, _| {}),
            digest(|_, options| options.seed = 1),
            digest(|_, options| options.engine = Engine::Phases),
            digest(|_, options| options.semantics = Some(Semantics::Float32)),
            digest(|instance, _| instance.question.push("--eps=0.1".into())),
            digest(|instance, _| instance.question[0] = "robust".into()),
            digest(|instance, _| instance.network_file = networks.join("digits_16.onnx")),
            digest(|instance, _| instance.question[1] = networks.join("digit_3.csv").display().to_string()),
        ];
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
