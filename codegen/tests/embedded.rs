//! `pg-codegen NET -o DIR --embedded` as a user meets it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn networks() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/networks")
}

fn embed(dir: &Path, more: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
    command.arg(networks().join("digits_16.onnx")).arg("-o").arg(dir).arg("--embedded").args(more);
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A property of the digits on their domain: what a counterexample has.
fn property(folder: &Path, asserts: &str) -> PathBuf {
    let path = folder.join("property.vnnlib");
    fs::write(&path, fs::read_to_string(networks().join("digits_domain.vnnlib")).unwrap() + asserts).unwrap();
    path
}

#[test]
fn a_crate_is_generated_measured_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("crate");
    let host = Command::new("rustc").args(["--print", "host-tuple"]).output().unwrap();
    let host = String::from_utf8(host.stdout).unwrap().trim().to_string();
    let output = embed(&dir, &["--budget", "flash=64K,ram=16K,stack=2K", "--target", &host]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(said(&output).contains("bytes of flash"), "{}", said(&output));
    let evidence: serde_json::Value = serde_json::from_slice(&fs::read(dir.join("evidence.json")).unwrap()).unwrap();
    assert_eq!(evidence["replication"], "exact");
    assert_eq!(evidence["measured"]["target"], host.as_str());
    assert_eq!(evidence["trace"].as_array().unwrap().len(), 3);
    assert_eq!(embed(&dir, &["--check", "--target", &host]).status.code(), Some(0));
    assert_eq!(embed(&dir, &["--check"]).status.code(), Some(1), "what was measured is part of the evidence");
}

#[test]
fn a_budget_that_is_exceeded_names_the_figure_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("crate");
    let output = embed(&dir, &["--budget", "flash=1K,stack=1M"]);
    assert_eq!(output.status.code(), Some(4));
    assert!(said(&output).contains("flash: ") && said(&output).contains("the budget is 1024"), "{}", said(&output));
    assert!(!said(&output).contains("stack:") && !dir.exists());
    assert_eq!(embed(&dir, &["--budget", "disk=1K"]).status.code(), Some(4));
    assert_eq!(embed(&dir, &["--budget", "flash=64K", "--target", "no-such-target"]).status.code(), Some(4));
}

#[test]
fn a_property_to_certify_is_linear_over_outputs_on_one_box() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("crate");
    let with = |asserts: &str| {
        let domain = property(folder.path(), asserts);
        embed(&dir, &["--domain", domain.to_str().unwrap()])
    };
    let output = with("(assert (or (and (<= Y_3 Y_0)) (and (<= (* 0.1 Y_3) Y_1) (<= Y_3 0.3))))\n");
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(fs::read_to_string(dir.join("src/lib.rs")).unwrap().contains("certify_property"));
    for bad in [
        "(assert (<= X_0 Y_0))\n",
        "(assert (<= (+ X_0 X_1) 1))\n",
        "(assert (or (and (<= X_0 0.5)) (and (>= X_0 0.6))))\n",
    ] {
        let output = with(bad);
        assert_eq!(output.status.code(), Some(4), "{bad}");
        assert!(said(&output).contains("property.vnnlib"), "{}", said(&output));
    }
    assert_eq!(embed(&dir, &["--domain", "/nowhere.vnnlib"]).status.code(), Some(4));
}

#[test]
fn regions_are_boxes_whose_certificates_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let (model, prop) = (networks().join("digits_16.onnx"), networks().join("digits_16_robust.vnnlib"));
    let proof = folder.path().join("robust.pgc");
    let mut verify = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
    verify.arg("verify").arg(model).arg(&prop).arg("--proof").arg(&proof).arg("--quiet");
    assert_eq!(verify.output().unwrap().status.code(), Some(0));
    let (list, dir) = (folder.path().join("regions.csv"), folder.path().join("crate"));
    fs::write(&list, format!("{},robust.pgc\n", prop.canonicalize().unwrap().display())).unwrap();
    let output = embed(&dir, &["--regions", list.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert!(fs::read_to_string(dir.join("src/network.rs")).unwrap().contains("pub static REGIONS: [Region; 1]"));
    let mut bytes = fs::read(&proof).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&proof, bytes).unwrap();
    let output = embed(&dir, &["--regions", list.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(4));
    assert!(said(&output).contains("line 1") && said(&output).contains("rejected"), "{}", said(&output));
}
