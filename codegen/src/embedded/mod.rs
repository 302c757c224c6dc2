//! `--embedded`: a crate that evaluates and certifies one network without an operating system, a heap or a reachable panic.
//!
//! The crate depends on `core` alone. Its kernels and bounds are fixed files of `templates/embedded`; what is generated are the
//! weights, one line a stage, and the [evidence] of what all of it is. [`Device`] holds every decision; emission only writes.

mod bounds;
mod budget;
mod device;
mod elf;
mod evidence;
mod measure;
mod question;
mod regions;
mod text;
mod vectors;
mod weights;

use crate::emit::{File, fill};
use crate::error::Error;
pub use budget::Budget;
pub use device::Device;
pub use measure::{Measured, has_target, link, measure};
use std::path::PathBuf;
pub use text::{MODULES, exports};
pub use vectors::vectors;
use vectors::{VECTORS, test};

/// What an embedded crate is asked for besides its network.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where the network was read from.
    pub model: PathBuf,
    pub name: Option<String>,
    /// A VNN-LIB file whose box is the domain; what it says of outputs is the property to certify.
    pub domain: Option<PathBuf>,
    /// A list of boxes that were proved, with their certificates.
    pub regions: Option<PathBuf>,
}

/// All files of the crate, `Cargo.toml` first: it lists the others. What was measured is part of the evidence, if it was.
pub fn files(device: &Device, measured: Option<&Measured>) -> Result<Vec<File>, Error> {
    let mut files = sources(device);
    files.extend(evidence::evidence(device, &files, measured)?);
    files.insert(0, File::text("Cargo.toml", manifest(device, &files)));
    Ok(files)
}

/// What makes the network a module of another crate: the modules [`MODULES`] and what they read, and beside them vectors and
/// evidence.
pub fn modules(device: &Device) -> Result<Vec<File>, Error> {
    let (vectors, sources): (Vec<File>, Vec<File>) = sources(device)
        .into_iter()
        .filter(|file| file.path != "src/lib.rs")
        .partition(|file| file.path == "vectors.in");
    let mut files: Vec<File> = sources.into_iter().filter_map(File::below_src).chain(vectors).collect();
    files.extend(evidence::evidence(device, &files, None)?);
    Ok(files)
}

/// Everything but the evidence of it and the manifest.
fn sources(device: &Device) -> Vec<File> {
    let mut files = vec![
        File::text(".gitignore", include_str!("../../../templates/gitignore").into()),
        File::text("README.md", readme(device)),
        File::text("src/bound.rs", include_str!("../../../templates/embedded/bound.rs").into()),
        File::text("src/certify.rs", bounds::certify(device)),
        File::text("src/lib.rs", text::library(device)),
        File::text("src/map.rs", include_str!("../../../templates/embedded/map.rs").into()),
        File::text("src/network.rs", text::network(device)),
        File::text("tests/vectors.rs", test(device)),
        File::text("vectors.in", vectors(device, VECTORS)),
    ];
    files.extend(weights::weights(device));
    files
}

fn manifest(device: &Device, files: &[File]) -> String {
    let list: Vec<String> = files.iter().map(|file| format!("    \"{}\",\n", file.path)).collect();
    let values = [
        ("name", device.name.clone()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("sha256", device.net.source.sha256.clone()),
        ("files", list.concat()),
    ];
    fill(include_str!("../../../templates/embedded/Cargo.toml"), &values)
}

fn readme(device: &Device) -> String {
    let values = [
        ("name", device.name.clone()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("crate", device.name.replace('-', "_")),
        ("format", device.net.source.format.to_string()),
        ("sha256", device.net.source.sha256.clone()),
        ("inputs", device.net.inputs.to_string()),
        ("outputs", device.net.outputs().to_string()),
    ];
    fill(include_str!("../../../templates/embedded/README.md"), &values)
}
