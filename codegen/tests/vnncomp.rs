//! The competition's scripts, called as its harness calls them, and counterexamples read as its checker reads them.

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_runtime::property::{Property, Violation};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;
use tempfile::TempDir;

const CATEGORY: &str = "test";

fn shipped(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/networks").join(name).display().to_string()
}

/// The tool as it is installed: the scripts and the compiler, in a folder of its own.
struct Harness {
    dir: TempDir,
}

impl Harness {
    fn new() -> Harness {
        let dir = tempfile::tempdir().unwrap();
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../vnncomp").canonicalize().unwrap();
        fs::create_dir_all(dir.path().join("target/release")).unwrap();
        fs::create_dir(dir.path().join("vnncomp")).unwrap();
        for script in ["prepare_instance.sh", "run_instance.sh"] {
            fs::copy(scripts.join(script), dir.path().join("vnncomp").join(script)).unwrap();
        }
        symlink(env!("CARGO_BIN_EXE_pg-codegen"), dir.path().join("target/release/pg-codegen")).unwrap();
        Harness { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// From a folder of the harness's own, and with a limit of its own.
    fn call(&self, script: &str, limit: Duration, args: &[&str]) -> Output {
        let elsewhere = self.path("elsewhere");
        fs::create_dir_all(&elsewhere).unwrap();
        let mut command = Command::new("timeout");
        command.arg(limit.as_secs().to_string()).arg(self.path("vnncomp").join(script)).args(args);
        command.current_dir(elsewhere).output().unwrap()
    }

    fn prepare(&self, network: &str, property: &str) -> Output {
        self.call("prepare_instance.sh", Duration::from_secs(1800), &["v1", CATEGORY, network, property])
    }

    /// The verdict, and what follows it.
    fn run(&self, network: &str, property: &str, timeout: &str) -> (String, String) {
        let results = self.path("results.txt");
        let _ = fs::remove_file(&results);
        let args = ["v1", CATEGORY, network, property, results.to_str().unwrap(), timeout];
        let output = self.call("run_instance.sh", Duration::from_secs(90), &args);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = fs::read_to_string(results).unwrap();
        let (word, rest) = text.split_once('\n').unwrap();
        (word.into(), rest.into())
    }
}

/// By the checker's rules: without the outer brackets, split at `)`, names counted from 0, one blank before the number.
fn read_counterexample(text: &str) -> (Vec<f64>, Vec<f64>) {
    let text = text.replace('\n', " ");
    let inner = text.trim().strip_prefix('(').unwrap().strip_suffix(')').unwrap();
    let (mut x, mut y) = (vec![], vec![]);
    for part in inner.split(')').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, number) = part.strip_prefix('(').unwrap().split_once(' ').unwrap();
        let (kind, index) = name.split_at(2);
        let values = if kind == "X_" { &mut x } else { &mut y };
        assert!(kind == "X_" || kind == "Y_", "{name}");
        assert_eq!(index.parse::<usize>().unwrap(), values.len());
        values.push(number.parse().unwrap());
    }
    (x, y)
}

/// The checker grants a tolerance; we ask for none.
fn assert_counterexample(network: &str, property: &str, text: &str) {
    let network = Interpreter::new(compile(Path::new(network)).unwrap());
    let property = Property::read(Path::new(property)).unwrap();
    let (x, told) = read_counterexample(text);
    let x: Vec<f32> = x.iter().map(|&v| v as f32).collect();
    let mut y = vec![0.0; network.outputs()];
    network.forward(&x, &mut y);
    let y: Vec<f64> = y.iter().map(|&v| f64::from(v)).collect();
    assert!(told.iter().zip(&y).all(|(a, b)| (a - b).abs() <= 1e-5 * b.abs().max(1.0)), "{told:?} {y:?}");
    assert!(property.disjuncts.iter().any(|d| d.contains_input(&x) && d.violated_at(&x, &y, &y) == Violation::Certain));
}

#[test]
fn instances_are_prepared_and_run() {
    let harness = Harness::new();
    let network = shipped("digits_16.onnx");
    let (holds, violated) = (shipped("digits_16_robust.vnnlib"), shipped("digits_16_violated.vnnlib"));
    let prepared = harness.prepare(&network, &holds);
    assert!(prepared.status.success(), "{}", String::from_utf8_lossy(&prepared.stderr));
    assert!(harness.prepare(&network, &violated).status.success(), "once more, from the cache");
    assert_eq!(fs::read_dir(harness.path("target/vnncomp")).unwrap().count(), 1, "one verifier for one model");

    assert_eq!(harness.run(&network, &holds, "60"), ("unsat".into(), String::new()));
    let (word, counterexample) = harness.run(&network, &violated, "60.5");
    assert_eq!(word, "sat");
    assert_counterexample(&network, &violated, &counterexample);
    assert_eq!(harness.run(&network, &holds, "0"), ("timeout".into(), String::new()));

    let broken = harness.path("broken.vnnlib");
    fs::write(&broken, "(assert").unwrap();
    assert_eq!(harness.run(&network, broken.to_str().unwrap(), "60"), ("error".into(), String::new()));
}

#[test]
fn what_cannot_be_done_fails() {
    let harness = Harness::new();
    let (network, property) = (shipped("digits_16.onnx"), shipped("digits_16_robust.vnnlib"));
    let limit = Duration::from_secs(60);
    let version = harness.call("prepare_instance.sh", limit, &["v2", CATEGORY, &network, &property]);
    assert_eq!(version.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&version.stderr).contains("expected v1"));
    assert!(!harness.prepare(&shipped("README.md"), &property).status.success(), "no model");
    assert_eq!(harness.call("run_instance.sh", limit, &["v1", CATEGORY, &network]).status.code(), Some(1));
}
