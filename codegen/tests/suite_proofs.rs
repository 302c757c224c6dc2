//! `suite --proofs`: a certificate of every proof, judged at once. Networks are interpreted.

mod common;

use common::{assert_refused, networks, run, shipped, stderr, stdout};
use flate2::write::GzEncoder;
use pg_codegen::suite::{Certificate, Judgement};
use pg_property::files::sha256;
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Output;
use tempfile::TempDir;

const REJECTED: i32 = 1;

/// A shipped list, and a place for results and certificates.
struct Run {
    list: String,
    dir: TempDir,
}

impl Run {
    fn new(list: &str) -> Run {
        let list = networks().join("../suites").join(list).display().to_string();
        Run { list, dir: tempfile::tempdir().unwrap() }
    }

    fn suite(&self, more: &[&str]) -> Output {
        let out = self.path("out").display().to_string();
        run(&[&["suite", &self.list, "-o", &out, "--interpret", "--resume"], more].concat())
    }

    fn with_proofs(&self) -> Output {
        self.suite(&["--proofs", &self.path("new/proofs").display().to_string()])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn record(&self, instance: &str) -> PathBuf {
        self.path(&format!("out/instances/{instance}.json"))
    }

    fn proof(&self, instance: &str) -> PathBuf {
        self.path(&format!("new/proofs/{instance}.pgc"))
    }

    fn summary(&self) -> Value {
        read(&self.path("out/summary.json"))
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

const ROBUST: &str = "0001_digits_16_digits_16_robust";
const VIOLATED: &str = "0002_digits_16_digits_16_violated";
const CONTROL: &str = "0003_control_control_bound";

#[test]
fn every_proof_has_a_certificate_that_is_accepted() {
    let run = Run::new("shipped.csv");
    let output = run.with_proofs();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for instance in [ROBUST, CONTROL] {
        let (record, file) = (read(&run.record(instance)), fs::read(run.proof(instance)).unwrap());
        let (told, judged) = (&record["report"]["certificate"], &record["certificate"]);
        assert_eq!((&told["bytes"], &told["sha256"]), (&file.len().into(), &sha256(&file).into()));
        assert_eq!((&judged["bytes"], &judged["judgement"]), (&file.len().into(), &"accepted".into()));
        assert!(judged["seconds"].as_f64().unwrap() > 0.0);
    }
    assert!(read(&run.record(VIOLATED))["certificate"].is_null() && !run.proof(VIOLATED).exists());
    let told = stdout(&output);
    assert!(told.contains("certificates: 2 accepted, 0 rejected, 0 unusable; "), "{told}");
    let certificates = &run.summary()["certificates"];
    assert_eq!((&certificates["accepted"], &certificates["rejected"]), (&2.into(), &serde_json::json!([])));
    let results = fs::read_to_string(run.path("out/results.csv")).unwrap();
    assert!(results.lines().all(|line| line.split(',').count() == 6), "the competition's columns: {results}");
}

#[test]
fn what_is_asked_about_an_image_lies_beside_its_certificate() {
    let run = Run::new("shipped_images.csv");
    let output = run.with_proofs();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let summary = run.summary();
    let (proved, accepted) = (&summary["verdicts"]["unsat"], &summary["certificates"]["accepted"]);
    assert!(proved.as_u64().unwrap() > 0 && proved == accepted, "{summary}");
    assert!(run.path("new/proofs/0001_digits_16_digit_3.csv_eps_0.01.pgc.vnnlib").exists());
}

/// Only proofs are asked for again, and only those without a certificate in its place.
#[test]
fn a_certificate_that_is_missing_is_asked_for() {
    let run = Run::new("shipped.csv");
    assert_eq!(run.suite(&[]).status.code(), Some(0));
    assert!(run.summary()["certificates"].is_null());
    let violated = fs::read(run.record(VIOLATED)).unwrap();
    assert_eq!(run.with_proofs().status.code(), Some(0));
    assert_eq!(run.summary()["certificates"]["accepted"], 2);
    let control = fs::read(run.record(CONTROL)).unwrap();
    fs::remove_file(run.proof(ROBUST)).unwrap();
    assert_eq!(run.with_proofs().status.code(), Some(0));
    assert!(run.proof(ROBUST).exists());
    assert_eq!(fs::read(run.record(VIOLATED)).unwrap(), violated);
    assert_eq!(fs::read(run.record(CONTROL)).unwrap(), control);
}

#[test]
fn a_place_without_room_for_certificates_is_a_mistake() {
    let run = Run::new("shipped.csv");
    let (out, file) = (run.path("out").display().to_string(), shipped("control.onnx"));
    assert_refused(&[(&["suite", &run.list, "-o", &out, "--interpret", "--proofs", &file], "cannot create ")]);
    assert_eq!(run.with_proofs().status.code(), Some(0), "another place will do");
}

#[test]
fn a_rejected_certificate_is_named() {
    let run = Run::new("shipped.csv");
    assert_eq!(run.with_proofs().status.code(), Some(0));
    let mut record = read(&run.record(CONTROL));
    record["certificate"]["judgement"] = serde_json::json!({ "rejected": "record 1, at byte 99: no" });
    fs::write(run.record(CONTROL), record.to_string()).unwrap();
    let output = run.suite(&["--quiet"]);
    assert_eq!(output.status.code(), Some(REJECTED));
    let told = stderr(&output);
    let rejected =
        "REJECTED: the certificate of ../networks/control.onnx ../networks/control_bound.vnnlib: record 1, at byte";
    assert!(told.starts_with(rejected), "{told}");
    assert_eq!(run.summary()["certificates"]["rejected"][0]["why"], "record 1, at byte 99: no");
}

#[test]
fn a_certificate_is_judged_by_what_is_in_the_files() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let [model, property, other, image] =
        ["digits_16.onnx", "digits_16_robust.vnnlib", "digits_16_violated.vnnlib", "digit_3.csv"]
            .map(|name| PathBuf::from(shipped(name)));
    let proof = path("proof.pgc");
    let [net, asked, file] = [&model, &property, &proof].map(|path| path.display().to_string());
    let output = run(&["verify", &net, &asked, "--proof", &file]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let judged = |certificate: &Path, model: &Path, property: &Path| {
        Certificate::judge(certificate, model, property).judgement.to_string()
    };
    assert_eq!(judged(&proof, &model, &property), "accepted");

    let packed = |from: &Path, name: &str| {
        let mut packed = GzEncoder::new(fs::File::create(path(name)).unwrap(), Default::default());
        packed.write_all(&fs::read(from).unwrap()).unwrap();
        packed.finish().unwrap();
        path(name)
    };
    assert_eq!(judged(&proof, &packed(&model, "n.onnx.gz"), &packed(&property, "p.vnnlib.gz")), "accepted");

    let bytes = fs::read(&proof).unwrap();
    for at in [0, bytes.len() / 2, bytes.len() - 1] {
        let mut tampered = bytes.clone();
        tampered[at] ^= 1;
        fs::write(path("tampered.pgc"), &tampered).unwrap();
        let judgement = Certificate::judge(&path("tampered.pgc"), &model, &property).judgement;
        assert!(matches!(judgement, Judgement::Rejected(_)), "byte {at}: {judgement}");
    }
    assert!(judged(&proof, &model, &other).ends_with("the certificate is for another property"));
    assert!(judged(&proof, &image, &property).starts_with("unusable: "), "no model");
    assert!(judged(&proof, &model, &path("none.vnnlib")).starts_with("unusable: cannot read "));
}
