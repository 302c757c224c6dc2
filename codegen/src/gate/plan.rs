//! A gate with all that it leaves out filled in: instances for a suite, what each may leave open, and crates to compare.

use super::GateArgs;
use super::file::{Crate, File, Image, Network, Property, TIMEOUT};
use crate::cases::Allowed;
use crate::error::Error;
use crate::suite::{Instance, List, SuiteArgs, check, find};
use crate::verifier::RuntimeSource;
use pg_property::files::sha256;
use pg_runtime::options::{Options, Semantics};
use std::path::{Path, PathBuf};

/// The file that is read unless another one is named.
pub const FILE: &str = "gate.toml";
/// Where results go unless it is said, beside the file.
const OUT: &str = "target/gate";

#[derive(Debug)]
pub struct Plan {
    pub out: PathBuf,
    pub suite: SuiteArgs,
    pub list: List,
    /// What each instance may leave open.
    pub allowed: Vec<Vec<Allowed>>,
    pub crates: Vec<Generated>,
    pub runtime: RuntimeSource,
}

/// A crate that is checked in, and the model that it was generated from; its paths from where the program runs.
#[derive(Debug)]
pub struct Generated {
    pub network: String,
    pub model: PathBuf,
    /// As the file names it.
    pub name: String,
    pub asked: Crate,
}

impl Plan {
    pub fn new(args: &GateArgs) -> Result<Plan, Error> {
        let (path, text, file) = read(args)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let out = args.output.clone().unwrap_or_else(|| folder.join(OUT));
        let allow = if args.allow.is_empty() { file.allow.clone() } else { args.allow.clone() };
        let mut reader = Reader { path: &path, text: &text, folder, args, file: &file, allow, found: Found::default() };
        file.network.iter().try_for_each(|network| reader.network(network))?;
        let Found { instances, allowed, crates } = reader.found;
        if instances.is_empty() && crates.is_empty() {
            let what = "it asks nothing; give it a [[network]] with properties, robust or generated";
            return Err(Error::File(format!("{}: {what}", path.display())));
        }
        let suite = suite(args, &file, &path, folder, &out);
        if suite.proofs.is_some() && suite.options.semantics == Some(Semantics::Float32) {
            let what = "certificates are about real arithmetic: leave out proofs, or semantics = \"float32\"";
            return Err(Error::File(format!("{}: {what}", path.display())));
        }
        let list = List { category: "gate".into(), sha256: sha256(text.as_bytes()), instances };
        Ok(Plan { out, suite, list, allowed, crates, runtime: file.runtime(folder) })
    }
}

/// The file, or what the command line says instead of one.
fn read(args: &GateArgs) -> Result<(PathBuf, String, File), Error> {
    let Some(model) = &args.model else {
        let path = args.file.clone().unwrap_or_else(|| FILE.into());
        let text = std::fs::read_to_string(&path).map_err(|e| {
            let advice = "; pg-codegen gate --init writes one to begin with";
            let advice = if e.kind() == std::io::ErrorKind::NotFound { advice } else { "" };
            Error::File(format!("cannot read {}: {e}{advice}", path.display()))
        })?;
        let file = File::parse(&text, &path)?;
        return Ok((path, text, file));
    };
    let properties = args.property.iter().map(|file| Property::from(file.as_str())).collect();
    let file = File { network: vec![Network::of(model, properties)], timeout: args.timeout, ..File::default() };
    Ok(("the command line".into(), format!("{model} {:?}", args.property), file))
}

fn suite(args: &GateArgs, file: &File, path: &Path, folder: &Path, out: &Path) -> SuiteArgs {
    let cache = file.cache.as_ref().map_or_else(|| out.join("cache"), |cache| folder.join(cache));
    let options = Options {
        threads: file.threads,
        engine: file.engine.unwrap_or(Options::default().engine),
        semantics: file.semantics,
        seed: file.seed,
        ..Options::default()
    };
    SuiteArgs {
        list: path.to_path_buf(),
        output: out.join("results"),
        jobs: args.jobs.or(file.jobs).unwrap_or(1),
        interpret: !file.build,
        proofs: (args.proofs || file.proofs).then(|| out.join("certificates")),
        cache: (!args.no_cache).then_some(cache),
        quiet: args.quiet,
        options,
        runtime: file.runtime(folder),
        ..SuiteArgs::default()
    }
}

#[derive(Default)]
struct Found {
    instances: Vec<Instance>,
    allowed: Vec<Vec<Allowed>>,
    crates: Vec<Generated>,
}

struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    folder: &'a Path,
    args: &'a GateArgs,
    file: &'a File,
    /// What all may leave open.
    allow: Vec<Allowed>,
    found: Found,
}

impl Reader<'_> {
    fn network(&mut self, network: &Network) -> Result<(), Error> {
        let (name, file) = self.find(&network.model)?;
        for property in &network.properties.0 {
            let (asked, path) = self.find(&property.file)?;
            let question = vec!["verify".into(), self.argument(&path)?];
            let own = (property.timeout, property.allow.as_ref());
            self.add(network, (&name, &file), (asked, None, question), own);
        }
        for image in &network.robust {
            for (asked, eps, question) in self.images(image)? {
                let own = (image.timeout, image.allow.as_ref());
                self.add(network, (&name, &file), (asked, Some(eps), question), own);
            }
        }
        for asked in &network.generated.0 {
            let asked = self.generated(asked)?;
            self.found.crates.push(Generated {
                network: name.clone(),
                model: file.clone(),
                name: asked.0,
                asked: asked.1,
            });
        }
        Ok(())
    }

    fn add(
        &mut self,
        network: &Network,
        (name, file): (&str, &Path),
        (property, eps, question): (String, Option<String>, Vec<String>),
        (timeout, allow): (Option<f64>, Option<&Vec<Allowed>>),
    ) {
        let limit = timeout.or(network.timeout).or(self.file.timeout).unwrap_or(TIMEOUT);
        let limit = self.args.timeout.map_or(limit, |most| limit.min(most));
        self.found.allowed.push(allow.or(network.allow.as_ref()).unwrap_or(&self.allow).clone());
        let number = self.found.instances.len() + 1;
        let (network, network_file) = (name.to_string(), file.to_path_buf());
        let is_first = self.found.instances.iter().all(|other| other.network_file != network_file);
        let instance = Instance { number, network, network_file, property, eps, question, limit, is_first };
        self.found.instances.push(instance);
    }

    /// Each of the images with each of the radii: its name, the radius and the question.
    fn images(&self, image: &Image) -> Result<Vec<(String, String, Vec<String>)>, Error> {
        let mut all = Vec::new();
        for name in &image.image.0 {
            let (plain, path) = self.find(name)?;
            for eps in &image.eps.0 {
                let mut question = vec!["robust".into(), self.argument(&path)?, format!("--eps={}", eps.0)];
                question.extend(image.scale.iter().map(|scale| format!("--scale={}", scale.0)));
                question.extend(image.clip.iter().map(|[low, high]| format!("--clip={},{}", low.0, high.0)));
                question.extend(image.label.iter().map(|label| format!("--label={label}")));
                check(&question).map_err(|what| self.error(name, &what))?;
                let label = image.label.map_or(String::new(), |label| format!(" label {label}"));
                all.push((format!("{plain} eps {}{label}", eps.0), eps.0.clone(), question));
            }
        }
        Ok(all)
    }

    /// The crate's name in the file, and the crate with paths that can be opened.
    fn generated(&self, asked: &Crate) -> Result<(String, Crate), Error> {
        let Crate { folder, name, embedded, domain, regions, budget, target } = asked;
        if folder.is_empty() {
            return Err(Error::File(format!("{}: a generated crate has to name its folder", self.path.display())));
        }
        if !embedded && (domain.is_some() || regions.is_some() || budget.is_some() || target.is_some()) {
            let what = "domain, regions, budget and target are for crates with embedded = true";
            return Err(self.error(folder, what));
        }
        let path = self.folder.join(folder).to_str().map(String::from);
        let path = path.ok_or_else(|| self.error(folder, "the path is not UTF-8"))?;
        let [domain, regions] = [domain, regions].map(|file| file.as_ref().map(|file| self.folder.join(file)));
        let (name, target, budget) = (name.clone(), target.clone(), *budget);
        Ok((folder.clone(), Crate { folder: path, name, embedded: *embedded, domain, regions, budget, target }))
    }

    fn find(&self, name: &str) -> Result<(String, PathBuf), Error> {
        find(self.folder, name).map_err(|what| self.error(name, &what))
    }

    fn argument(&self, file: &Path) -> Result<String, Error> {
        file.to_str().map(String::from).ok_or_else(|| Error::File(format!("{}: the path is not UTF-8", file.display())))
    }

    /// What is wrong with what has a name in the file; its line, where the name stands in one alone.
    fn error(&self, name: &str, what: &str) -> Error {
        let names = [format!("'{name}'"), format!("\"{name}\"")];
        let is_named = |line: &str| names.iter().any(|name| line.contains(name));
        let mut lines = (1..).zip(self.text.lines()).filter(|(_, line)| is_named(line)).map(|(number, _)| number);
        let place = match (lines.next(), lines.next()) {
            (Some(line), None) if self.args.model.is_none() => format!("{}, line {line}", self.path.display()),
            _ => self.path.display().to_string(),
        };
        Error::File(format!("{place}: {what}"))
    }
}
