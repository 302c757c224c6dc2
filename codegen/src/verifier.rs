//! Compiling a generated crate, in a cache that all generated crates share.

mod cargo;

use crate::lower::{Plan, Runtime, default_name, lower};
use crate::net::Net;
use crate::{emit, error::Error};
pub use cargo::Cargo;
use clap::Args;
use pg_property::files::{Draft, write_atomically};
use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

/// The runtime beside this tool's own source.
pub const RUNTIME: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime");

/// Where a generated crate finds pg-runtime; by default the one beside this tool's source
#[derive(Args, Clone, Debug, Default)]
#[group(multiple = false)]
pub struct RuntimeSource {
    /// Folder of pg-runtime
    #[arg(long, value_name = "DIR")]
    pub runtime_path: Option<PathBuf>,
    /// Version of pg-runtime in the registry
    #[arg(long, value_name = "VERSION")]
    pub runtime_version: Option<String>,
    /// Git repository of pg-runtime, with an optional revision after '#'
    #[arg(long, value_name = "URL[#REV]")]
    pub runtime_git: Option<String>,
}

impl RuntimeSource {
    /// As the generated crate in `dir` has to name it.
    pub fn seen_from(&self, dir: &Path) -> Result<Runtime, Error> {
        if let Some(version) = &self.runtime_version {
            return Ok(Runtime::Version(version.clone()));
        }
        if let Some(git) = &self.runtime_git {
            let (url, rev) = git.split_once('#').map_or((git.as_str(), None), |(url, rev)| (url, Some(rev.into())));
            return Ok(Runtime::Git { url: url.into(), rev });
        }
        runtime_path(self.folder(), dir)
    }

    fn folder(&self) -> &Path {
        self.runtime_path.as_deref().unwrap_or(Path::new(RUNTIME))
    }

    fn cache(&self) -> Result<PathBuf, Error> {
        match self.runtime_version.is_some() || self.runtime_git.is_some() {
            true => users_cache(),
            false => Ok(self.folder().join("..").join("target")),
        }
    }
}

/// The path from the generated crate in `dir` to the runtime.
pub fn runtime_path(runtime: &Path, dir: &Path) -> Result<Runtime, Error> {
    if !runtime.join("Cargo.toml").is_file() {
        return Err(Error::File(format!(
            "there is no pg-runtime at {}; say where it is with --runtime-path, --runtime-version or --runtime-git",
            runtime.display()
        )));
    }
    let to = runtime.canonicalize().map_err(|e| Error::file("find", runtime, e))?;
    let from = resolved(dir)?;
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(shared).map(|_| "..".to_string());
    let down = to.components().skip(shared).map(|c| c.as_os_str().to_string_lossy().into_owned());
    Ok(Runtime::Path(up.chain(down).collect::<Vec<_>>().join("/")))
}

/// The folder's real path, which need not exist yet.
fn resolved(dir: &Path) -> Result<PathBuf, Error> {
    let absolute = std::path::absolute(dir).map_err(|e| Error::file("find", dir, e))?;
    let mut existing = absolute.as_path();
    while !existing.exists() {
        existing = existing.parent().unwrap_or(Path::new("/"));
    }
    let mut path = existing.canonicalize().map_err(|e| Error::file("find", existing, e))?;
    for part in absolute.strip_prefix(existing).unwrap_or(Path::new("")).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    Ok(path)
}

/// Generates and builds the verifier of a network inside the cache and returns the path of its binary. The model's name and
/// hash give it its place, so each model is built once, and models of the same name do not meet.
pub fn build_in_cache(net: Net, source: &RuntimeSource, cargo: &Cargo) -> Result<PathBuf, Error> {
    let name = format!("{:.40}_{:.12}", default_name(&net.source.stem), net.source.sha256);
    let dir = source.cache()?.join("verifiers").join(&name);
    let plan = lower(net, Some(&name), source.seen_from(&dir)?)?;
    // The place is ours, and other processes may be writing the same files there.
    emit::write(&dir, &emit::emit(&plan), true)?;
    build(&dir, &plan, cargo)
}

/// Builds the crate in release mode and returns the path of its binary, a copy inside the crate's own folder.
///
/// The cache may hold another crate's binary of the same name, so the copy is asked which model it was made for.
pub fn build(dir: &Path, plan: &Plan, cargo: &Cargo) -> Result<PathBuf, Error> {
    let cache = cache(dir, &plan.runtime)?;
    seed_lock_file(dir, &plan.runtime)?;
    let built = cargo.build(dir, &cache)?;
    let target = dir.join("target").join("release");
    let name = built.file_name().ok_or_else(|| Error::Build("cargo named no binary".into()))?;
    let binary = target.join(name);
    let bytes = fs::read(&built).map_err(|e| Error::file("read", &built, e))?;
    if !fs::read(&binary).is_ok_and(|old| old == bytes) {
        let mode = fs::metadata(&built).map_err(|e| Error::file("read", &built, e))?.permissions();
        write_program(&binary, &bytes, mode).map_err(|e| Error::file("write", &binary, e))?;
    }
    let binary = binary.canonicalize().map_err(|e| Error::file("find", &binary, e))?;
    if !is_verifier_of(&binary, &plan.net.source.sha256).map_err(|e| Error::file("run", &binary, e))? {
        return Err(Error::Build(format!("{} was built for another model; build again", binary.display())));
    }
    Ok(binary)
}

/// A program that is there can be run: other processes may build the same.
fn write_program(path: &Path, bytes: &[u8], mode: Permissions) -> std::io::Result<()> {
    let mut draft = Draft::new(path)?;
    draft.write_all(bytes)?;
    draft.set_permissions(mode)?;
    draft.keep()
}

/// Whether a program says that it was made for the model of this digest.
pub fn is_verifier_of(binary: &Path, sha256: &str) -> std::io::Result<bool> {
    Ok(String::from_utf8_lossy(&run_info(binary)?.stdout).contains(sha256))
}

/// A process started by another thread may hold the new file open for writing until it executes: a moment's patience.
fn run_info(binary: &Path) -> std::io::Result<Output> {
    for _ in 0..100 {
        match Command::new(binary).arg("info").output() {
            Err(e) if e.kind() == ErrorKind::ExecutableFileBusy => std::thread::sleep(Duration::from_millis(20)),
            result => return result,
        }
    }
    Command::new(binary).arg("info").output()
}

/// The target folder: the one beside the runtime's source if it is a path, else one of the user's.
fn cache(dir: &Path, runtime: &Runtime) -> Result<PathBuf, Error> {
    match runtime {
        Runtime::Path(path) => Ok(dir.join(path).join("..").join("target")),
        Runtime::Version(_) | Runtime::Git { .. } => users_cache(),
    }
}

fn users_cache() -> Result<PathBuf, Error> {
    let home =
        std::env::home_dir().ok_or_else(|| Error::Build("there is no home folder for the build cache".into()))?;
    Ok(home.join(".cache").join("pg-codegen").join("target"))
}

/// The same versions of all packages as the runtime's own workspace has, so that they are built once.
fn seed_lock_file(dir: &Path, runtime: &Runtime) -> Result<(), Error> {
    let Runtime::Path(path) = runtime else { return Ok(()) };
    let lock = dir.join("Cargo.lock");
    match fs::read(dir.join(path).join("..").join("Cargo.lock")) {
        Ok(bytes) if !lock.exists() => write_atomically(&lock, &bytes).map_err(|e| Error::file("write", &lock, e)),
        _ => Ok(()),
    }
}
