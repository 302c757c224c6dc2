//! The files of the generated crate: Rust text from `quote!`, everything else from `templates/`.
//!
//! The same plan always gives the same bytes: no date, no absolute path, no unordered map.

pub(crate) mod maps;
pub(crate) mod network;
mod template;
mod tensors;
pub(crate) mod weights;
mod write;

use crate::lower::{Plan, Runtime};
pub(crate) use template::fill;
pub(crate) use write::put;
pub use write::{Outcome, check, write};

/// The module that holds the network.
pub const MODULE: &str = "network";

/// One file of the crate; the path is relative, with `/`.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub path: String,
    pub bytes: Vec<u8>,
}

impl File {
    pub(crate) fn text(path: impl Into<String>, text: String) -> File {
        File { path: path.into(), bytes: text.into_bytes() }
    }

    /// The file as seen from the folder of sources, if it is there.
    pub(crate) fn below_src(self) -> Option<File> {
        let path = self.path.strip_prefix("src/")?.into();
        Some(File { path, bytes: self.bytes })
    }
}

/// All files, `Cargo.toml` first: it lists the others.
pub fn emit(plan: &Plan) -> Vec<File> {
    let mut files = vec![
        File::text("README.md", fill(include_str!("../../../templates/README.md"), &readme(plan))),
        File::text(".gitignore", include_str!("../../../templates/gitignore").into()),
        File::text("src/lib.rs", network::library(plan)),
        File::text("src/main.rs", network::binary(plan)),
        File::text("src/network.rs", network::network(plan)),
    ];
    files.extend(weights::weights(plan));
    files.insert(0, File::text("Cargo.toml", manifest(plan, &files)));
    files
}

/// What makes the network a module of another crate: the module [`MODULE`] and its weights.
pub fn modules(plan: &Plan) -> Vec<File> {
    let mut files = vec![File::text(format!("{MODULE}.rs"), network::network(plan))];
    files.extend(weights::weights(plan).into_iter().filter_map(File::below_src));
    files
}

fn manifest(plan: &Plan, files: &[File]) -> String {
    let list: Vec<String> = files.iter().map(|file| format!("    \"{}\",\n", file.path)).collect();
    fill(
        include_str!("../../../templates/Cargo.toml"),
        &[
            ("name", plan.name.clone()),
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("sha256", plan.net.source.sha256.clone()),
            ("core", dependency(&plan.runtime, "/core", "default-features = false")),
            ("runtime", dependency(&plan.runtime, "", "optional = true")),
            ("files", list.concat()),
        ],
    )
}

/// One of the crates of the runtime, in a folder of it.
fn dependency(runtime: &Runtime, folder: &str, more: &str) -> String {
    let quoted = |text: &str| format!("{text:?}");
    let source = match runtime {
        Runtime::Path(path) => format!("path = {}", quoted(&format!("{path}{folder}"))),
        Runtime::Version(version) => format!("version = {}", quoted(version)),
        Runtime::Git { url, rev: None } => format!("git = {}", quoted(url)),
        Runtime::Git { url, rev: Some(rev) } => format!("git = {}, rev = {}", quoted(url), quoted(rev)),
    };
    format!("{{ {source}, {more} }}")
}

fn readme(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut stages = String::new();
    for (plan, stage) in plan.stages.iter().zip(&plan.net.stages) {
        let relu = if plan.relu { "ReLU" } else { "" };
        let exact = if plan.rounded { "rounded" } else { "exact" };
        let (reads, kinds) = (stage.reads(), stage.kinds());
        stages += &format!("| {} | {reads} | {kinds} | {relu} | {exact} | {} |\n", plan.number, stage.origin);
    }
    let cut = |name| format!("; its last {name} is cut, so only comparisons of classes can be verified");
    let ending = plan.net.source.ending.name().map(cut).unwrap_or_default();
    vec![
        ("name", plan.name.clone()),
        ("crate", plan.name.replace('-', "_")),
        ("inputs", plan.net.inputs.to_string()),
        ("format", plan.net.source.format.to_string()),
        ("sha256", plan.net.source.sha256.clone()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("ending", ending),
        ("stages", stages),
    ]
}
