//! Certificates of small proofs: what the search writes is accepted by both judges, and what was changed is not.

mod mutations;

use pg_check::judge::{Slice, Summary, judge};
use pg_check::{onnx, property, sha256};
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_property::files;
use pg_runtime::certificate::{Heading, Journal};
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search;
use pg_runtime::tuning::Tuning;
use pg_runtime::verdict::Verdict;
use pg_tests::dense::question;
use pg_tests::model::compile_bytes;
use pg_tests::{root, shipped};
use std::process::Command;

/// A question, and the certificate of its answer.
pub struct Case {
    pub model: Vec<u8>,
    pub property: String,
    pub certificate: Vec<u8>,
}

/// The certificate that a search writes, if it proves the property.
fn certify(model: &[u8], property: &str, engine: Engine, tuning: &Tuning) -> Option<Vec<u8>> {
    let network = Interpreter::new(compile_bytes(model).unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("proof.pgc");
    let shape = network.shape();
    let widths = shape.stages[..shape.last()].iter().map(|stage| stage.width()).collect();
    let digests = (files::sha256(model), files::sha256(property.as_bytes()));
    let heading = Heading { model: &digests.0, property: digests.1, generator: "a test", widths };
    let options = Options { engine, threads: Some(1), timeout: Some(20.0), ..Options::default() };
    let property = Property::parse(property, "a test").unwrap();
    let control = Control::new(options.timeout);
    let certificate = (Journal::new(&path).unwrap(), &heading);
    let outcome = search::prove(&network, &property, &options, tuning, &control, certificate);
    let proved = match outcome.verdict {
        Verdict::Holds(proved) => proved,
        _ => {
            assert!(!path.exists(), "what is not proved has no certificate");
            return None;
        }
    };
    let bytes = std::fs::read(&path).unwrap();
    let written = proved.certificate().expect("a proof with a certificate");
    assert_eq!((written.bytes, &written.sha256), (bytes.len() as u64, &files::sha256(&bytes)));
    Some(bytes)
}

impl Case {
    fn new(model: Vec<u8>, property: String, engine: Engine) -> Option<Case> {
        let certificate = certify(&model, &property, engine, &Tuning::default())?;
        Some(Case { model, property, certificate })
    }

    /// What the judge says of bytes as a certificate for this question.
    pub fn judge(&self, bytes: &[u8]) -> Result<Summary, String> {
        self.judge_slice(bytes, Slice { index: 0, count: 1 }, false)
    }

    fn judge_slice(&self, bytes: &[u8], slice: Slice, as_text: bool) -> Result<Summary, String> {
        let network = onnx::Network::read(&self.model).map_err(|e| e.to_string())?;
        let property = property::Property::read(&self.property).map_err(|e| e.to_string())?;
        let digests = [sha256::digest(&self.model), sha256::digest(self.property.as_bytes())];
        // Arithmetic that overflows is a rejection.
        let judged = std::panic::catch_unwind(|| judge(&network, &property, digests, bytes, slice, as_text));
        judged.map_err(|_| "overflow".to_string())?.map_err(|rejected| rejected.why.to_string())
    }

    /// What the other judge says; `None`, said aloud, without Python.
    pub fn second_opinion(&self, bytes: &[u8]) -> Option<bool> {
        let dir = tempfile::tempdir().unwrap();
        let files = ["model.onnx", "property.vnnlib", "proof.pgc"].map(|name| dir.path().join(name));
        for (path, bytes) in files.iter().zip([&self.model[..], self.property.as_bytes(), bytes]) {
            std::fs::write(path, bytes).unwrap();
        }
        let Ok(output) = Command::new("python3").arg(root().join("tests/check.py")).args(&files).output() else {
            eprintln!("skipped: there is no python3 for the second judge");
            return None;
        };
        let word = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string();
        let code = ["accepted", "rejected"].iter().position(|known| *known == word);
        assert_eq!(output.status.code(), code.map(|code| code as i32), "{}", String::from_utf8_lossy(&output.stderr));
        if word == "rejected" {
            eprintln!("the second judge: {}", String::from_utf8_lossy(&output.stderr));
        }
        Some(word == "accepted")
    }

    fn text(&self) -> String {
        let all = Slice { index: 0, count: 1 };
        self.judge_slice(&self.certificate, all, true).unwrap().text.unwrap()
    }
}

/// Small proofs of all kinds.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 0..6 {
        let (model, text) = question(seed, &[2, 6, 5, 2], 1.0, 0.05, 1 + seed as usize % 2);
        cases.extend(Case::new(model, text, Engine::Auto));
        let (model, text) = question(500 + seed, &[2, 24, 16, 2], 1.0, 0.1, 1 + seed as usize % 2);
        cases.extend(Case::new(model, text, Engine::Auto));
        let (model, text) = question(100 + seed, &[3, 7, 6, 2], 0.7, 0.15, 1);
        cases.extend(Case::new(model, text, Engine::Phases));
        let (model, text) = question(200 + seed, &[5, 10, 8, 6, 2], 0.5, 0.3, 1 + seed as usize % 2);
        cases.extend(Case::new(model, text, Engine::Phases));
        // The paper's engine: linear programs under phases.
        let (model, text) = question(400 + seed, &[3, 6, 6, 2], 0.9, 0.02, 1 + seed as usize % 2);
        cases.extend(Case::new(model, text, Engine::Peregrinn));
    }
    assert!(cases.len() >= 20, "only {} of 30 were proved", cases.len());
    cases
}

#[test]
fn every_kind_of_record_is_written_and_accepted() {
    let mut texts = String::new();
    for (number, case) in cases().into_iter().enumerate() {
        case.judge(&case.certificate).unwrap_or_else(|why| panic!("case {number}: {why}\n{}", case.text()));
        texts += &case.text();
    }
    let kinds = ["bound: ", "close: ", "combinations", "split neuron", "cells for", "cut input", "leaf at depth 2"];
    for kind in kinds.into_iter().chain(["given multipliers", "bounds by rules", "records of its own"]) {
        assert!(texts.contains(kind), "no certificate has '{kind}'");
    }
}

#[test]
fn both_judges_accept_what_is_written() {
    for case in cases() {
        if case.second_opinion(&case.certificate).is_some_and(|accepted| !accepted) {
            panic!("the second judge rejects what the first one accepts:\n{}", case.text());
        }
    }
}

/// Of both judges where the second one reads the model: it knows no convolutions and no normalisations.
#[test]
fn certificates_of_the_shipped_suite_are_accepted() {
    let all = [
        ("digits_16.onnx", "digits_16_robust.vnnlib", true),
        ("digits_32x3.onnx", "digits_16_robust.vnnlib", true),
        ("digits_bn.onnx", "digits_16_robust.vnnlib", false),
        ("digits_conv.onnx", "digits_conv_robust.vnnlib", false),
        ("control.onnx", "control_bound.vnnlib", true),
    ];
    for (network, property, has_two) in all {
        for engine in [Engine::Auto, Engine::Phases, Engine::Peregrinn] {
            let model = std::fs::read(shipped(network)).unwrap();
            let text = std::fs::read_to_string(shipped(property)).unwrap();
            let case = Case::new(model, text, engine).expect("a property that holds");
            case.judge(&case.certificate).unwrap_or_else(|why| panic!("{network}: {why}"));
            assert!(!has_two || case.second_opinion(&case.certificate) != Some(false), "{network}");
        }
    }
}

/// Slices look at all leaves together, and each checks the form of everything.
#[test]
fn slices_cover_all_leaves() {
    for case in cases() {
        let all = case.judge(&case.certificate).unwrap();
        let part = |index| case.judge_slice(&case.certificate, Slice { index, count: 3 }, false).unwrap();
        let parts: Vec<Summary> = (0..3).map(part).collect();
        assert_eq!(parts.iter().map(|part| part.checked).sum::<usize>(), all.leaves);
        assert!(parts.iter().all(|part| (part.leaves, part.records) == (all.leaves, all.records)));
    }
}

/// A search that closes what it should not gets no certificate that is accepted.
#[test]
fn an_unsound_search_is_caught() {
    let mut wrong = 0;
    for seed in 0..40 {
        // What was not seen is not violated, but far from proved where the search stops.
        let (model, text) = question(300 + seed, &[6, 12, 10, 8, 2], 0.8, 0.01, 1);
        let mut tuning = Tuning::default();
        tuning.prove.unsound = 0.5;
        let Some(certificate) = certify(&model, &text, Engine::Phases, &tuning) else { continue };
        wrong += 1;
        let case = Case { model, property: text, certificate };
        let why = case.judge(&case.certificate).expect_err("a leaf that should not be closed");
        assert!(why.contains("do not show it"), "{why}");
    }
    assert!(wrong >= 3, "only {wrong} wrong proofs were written");
}
