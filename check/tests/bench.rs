//! Every network and property of the benchmark sets that stand beside the repository is read, or its refusal expected.

use std::path::{Path, PathBuf};
use std::process::Command;

use pg_check::{Network, Property};

/// The sets that are read as a whole.
const READ: [&str; 13] = [
    "acasxu",
    "cersyve",
    "collins_rul_cnn",
    "lindex",
    "linearizenn",
    "mnist_fc",
    "oval21",
    "reach_prob_density",
    "rl_benchmarks",
    "sat_relu",
    "sri_resnet_a",
    "test",
    "tllverifybench",
];

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let Ok(entries) = folder.read_dir() else { return Vec::new() };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<_> =
        paths.filter(|path| path.to_string_lossy().trim_end_matches(".gz").ends_with(extension)).collect();
    found.sort();
    found
}

/// The bytes of a file, unpacked if it is packed.
fn bytes(path: &Path) -> Vec<u8> {
    if path.extension().is_some_and(|extension| extension == "gz") {
        Command::new("gzip").arg("-dc").arg(path).output().expect("gzip unpacks").stdout
    } else {
        std::fs::read(path).expect("the file is readable")
    }
}

#[test]
fn the_benchmark_sets_are_read() {
    let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/bench");
    if !bench.is_dir() {
        eprintln!("skipped: there is no {}", bench.display());
        return;
    }
    let mut refused = Vec::new();
    for set in READ {
        let within = |folder: &str, extension: &str| {
            [files(&bench.join(set).join(folder), extension), files(&bench.join(set), extension)].concat()
        };
        for path in within("onnx", ".onnx") {
            if let Err(fault) = Network::read(&bytes(&path)) {
                refused.push(format!("{}: {fault}", path.display()));
            }
        }
        for path in within("vnnlib", ".vnnlib") {
            let text = String::from_utf8(bytes(&path)).expect("a property is text");
            if let Err(fault) = Property::read(&text) {
                refused.push(format!("{}: {fault}", path.display()));
            }
        }
    }
    assert!(refused.is_empty(), "refused:\n{}", refused.join("\n"));
}
