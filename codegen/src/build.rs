//! For build scripts: a network becomes a module of the crate that is built. The command line decides by the same [`Config`].
//!
//! ```no_run
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     pg_codegen::build::compile("model/net.onnx")?;
//!     Ok(())
//! }
//! ```
//!
//! The crate then has one line, in a module of its own: `include!(concat!(env!("OUT_DIR"), "/net.rs"));`. That file declares the
//! modules of a generated crate, byte for byte, which lie in a folder beside it with their weights.

mod module;

use crate::embedded::{Device, Options};
use crate::error::Error;
use crate::lower::{Plan, Runtime, checked_name, lower};
use crate::net::Net;
use module::Module;
use pg_property::files;
use std::env;
use std::path::{Path, PathBuf};

/// What to make of a network besides what it is.
#[derive(Clone, Debug, Default)]
pub struct Config {
    pub(crate) embedded: bool,
    pub(crate) name: Option<String>,
    pub(crate) domain: Option<PathBuf>,
    pub(crate) regions: Option<PathBuf>,
    pub(crate) out_dir: Option<PathBuf>,
}

/// Compiles a model to a module in `OUT_DIR` that has its file's name: `model/net.onnx` to `net.rs`.
pub fn compile(model: impl AsRef<Path>) -> Result<(), Error> {
    Config::new().compile(model)
}

impl Config {
    pub fn new() -> Config {
        Config::default()
    }

    /// Whether to make code for devices, which evaluates and certifies with `core` alone.
    pub fn embedded(self, embedded: bool) -> Config {
        Config { embedded, ..self }
    }

    /// The name of the crate, or of the module's file without `.rs`.
    pub fn name(self, name: impl Into<String>) -> Config {
        Config { name: Some(name.into()), ..self }
    }

    /// For devices: the box of inputs that they have, and the property to certify there, in VNN-LIB.
    pub fn domain(self, file: impl Into<PathBuf>) -> Config {
        Config { domain: Some(file.into()), ..self }
    }

    /// For devices: a list of properties that were proved and their certificates, a pair a line. Each is judged again.
    pub fn regions(self, file: impl Into<PathBuf>) -> Config {
        Config { regions: Some(file.into()), ..self }
    }

    /// Where the module goes [default: cargo's `OUT_DIR`].
    pub fn out_dir(self, dir: impl Into<PathBuf>) -> Config {
        Config { out_dir: Some(dir.into()), ..self }
    }

    /// Every decision about a verifier.
    pub fn plan(&self, model: &Path, runtime: Runtime) -> Result<Plan, Error> {
        if self.domain.is_some() || self.regions.is_some() {
            let what = "a domain and regions are for devices: call embedded(true), or leave them out";
            return Err(Error::Model(what.into()));
        }
        lower(crate::compile(model)?, self.name.as_deref(), runtime)
    }

    /// Every decision about code for devices.
    pub fn device(&self, model: &Path) -> Result<Device, Error> {
        let Config { name, domain, regions, .. } = self.clone();
        Device::new(crate::compile(model)?, &Options { model: model.into(), name, domain, regions })
    }

    /// Compiles a model to a module: a file of its name, and a folder of the same name beside it. In a build script, cargo is told
    /// of every file that was read, so that it runs the script again when one of them changes.
    pub fn compile(&self, model: impl AsRef<Path>) -> Result<(), Error> {
        let (model, dir) = (model.as_ref(), self.folder()?);
        let (module, read) = if self.embedded {
            let device = self.device(model)?;
            (Module::embedded(self.stem(&device.net)?, &device)?, self.read(model, &device))
        } else {
            let plan = self.plan(model, Runtime::Version(env!("CARGO_PKG_VERSION").into()))?;
            (Module::verified(self.stem(&plan.net)?, &plan), read_of(model, &plan.net))
        };
        module.write(&dir, model)?;
        // Cargo reads this from build scripts alone, and sets both variables for them alone.
        if env::var_os("OUT_DIR").is_some() && env::var_os("TARGET").is_some() {
            read.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
        }
        Ok(())
    }

    fn folder(&self) -> Result<PathBuf, Error> {
        self.out_dir.clone().or_else(|| env::var_os("OUT_DIR").map(PathBuf::from)).ok_or_else(|| {
            let what =
                "OUT_DIR is not set, as it is in a build script that cargo runs; elsewhere, say where with out_dir";
            Error::File(what.into())
        })
    }

    /// The name of the module's file without `.rs`.
    fn stem(&self, net: &Net) -> Result<String, Error> {
        self.name.as_deref().map_or_else(|| Ok(net.source.stem.clone()), checked_name)
    }

    /// Every file that decided what becomes of a device's network.
    fn read(&self, model: &Path, device: &Device) -> Vec<PathBuf> {
        let mut read = read_of(model, &device.net);
        let regions = device.regions.iter().flat_map(|region| &region.files);
        read.extend([&self.domain, &self.regions].into_iter().flatten().chain(regions).map(|path| files::find(path)));
        read
    }
}

/// The model's files.
fn read_of(model: &Path, net: &Net) -> Vec<PathBuf> {
    let folder = model.parent().unwrap_or(Path::new(""));
    net.source.files.iter().map(|name| folder.join(name)).collect()
}
