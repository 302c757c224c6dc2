//! Certificates of small proofs: what the search writes is accepted by both judges, and what was changed is not.

mod anatomy;
mod mutations;

use pg_check::{Slice, Summary};
use pg_codegen::interpret::Interpreter;
use pg_runtime::options::{Engine, Options, Semantics};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search;
use pg_runtime::tuning::Tuning;
use pg_tests::certify::{certify, read_question};
use pg_tests::dense::{chain, near, over_box, question};
use pg_tests::model::compile_bytes;
use pg_tests::{Random, root, shipped};
use std::process::Command;

/// A question, and the certificate of its answer.
pub struct Case {
    pub model: Vec<u8>,
    pub property: String,
    pub certificate: Vec<u8>,
}

impl Case {
    fn new(model: Vec<u8>, property: String, engine: Engine) -> Option<Case> {
        Case::with(model, property, &options(engine))
    }

    fn with(model: Vec<u8>, property: String, options: &Options) -> Option<Case> {
        let certificate = certify(&model, &property, options, &Tuning::default())?;
        Some(Case { model, property, certificate })
    }

    /// About the float32 program.
    fn of_program(model: Vec<u8>, property: String, engine: Engine) -> Option<Case> {
        Case::with(model, property, &Options { semantics: Some(Semantics::Float32), ..options(engine) })
    }

    /// What the judge says of bytes as a certificate for this question.
    pub fn judge(&self, bytes: &[u8]) -> Result<Summary, String> {
        self.judge_slice(bytes, Slice::ALL, false)
    }

    fn judge_slice(&self, bytes: &[u8], slice: Slice, as_text: bool) -> Result<Summary, String> {
        let question = read_question(&self.model, &self.property).map_err(|e| e.to_string())?;
        question.judge(bytes, slice, 1, as_text).map_err(|why| why.to_string())
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
        self.judge_slice(&self.certificate, Slice::ALL, true).unwrap().text.unwrap()
    }
}

fn options(engine: Engine) -> Options {
    Options { engine, threads: Some(1), timeout: Some(20.0), ..Options::default() }
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
        let engine = [Engine::Auto, Engine::Phases, Engine::Peregrinn][seed as usize % 3];
        let (model, text) = question(600 + seed, &[3, 7, 6, 2], 0.7, 0.15, 1 + seed as usize % 2);
        cases.extend(Case::of_program(model, text, engine));
    }
    // Conjunctions, of which one row tells something of the other's inputs.
    for (seed, widths) in [(905, &[6, 12, 4][..]), (913, &[4, 8, 6, 3]), (959, &[4, 8, 6, 3])] {
        let (model, text) = question(seed, widths, 1.0, 0.05, 2);
        cases.extend(Case::new(model, text, Engine::Phases));
    }
    cases.extend(narrow());
    assert!(cases.len() >= 34, "only {} of 45 were proved", cases.len());
    cases
}

/// The same rows on two boxes, which are two regions with bounds of their own.
pub fn of_two_boxes() -> Case {
    let (model, text) = question(500, &[2, 24, 16, 2], 1.0, 0.1, 1);
    let row = text.lines().rfind(|line| line.contains("Y_0")).expect("a row").trim_start_matches("(assert ");
    let declared = text.lines().filter(|line| line.contains("declare"));
    let side = |low: f32, high: f32| {
        let ends = |i: usize| format!("(>= X_{i} {low})(<= X_{i} {high})");
        format!("(and {}{}{}", ends(0), ends(1), row)
    };
    let text = format!("{}(assert (or {} {}))", declared.collect::<String>(), side(-1.0, -0.2), side(0.1, 1.0));
    Case::new(model, text, Engine::Phases).expect("it holds on both")
}

/// Proofs by sweeps of what is behind a narrow stage, some within half-spaces of its neurons: the property has no trees of its own.
fn narrow() -> Vec<Case> {
    let mut tuning = Tuning::default();
    tuning.phases.rounds.iter_mut().for_each(|round| round.property_nodes = 0);
    let all = [
        (703, &[6, 10, 3, 12, 6, 2][..], 0.001),
        (711, &[6, 10, 3, 6, 6, 2], 0.0002),
        (712, &[6, 10, 3, 6, 6, 2], 0.0002),
        (715, &[8, 12, 3, 8, 2], 0.0005),
        (736, &[8, 12, 3, 8, 2], 0.0005),
        (759, &[8, 12, 4, 8, 2], 0.002),
    ];
    let case = |(seed, widths, margin): (u64, &[usize], f32)| {
        let (model, property) = question(seed, widths, 1.0, margin, 1);
        let certificate = certify(&model, &property, &options(Engine::Phases), &tuning)?;
        Some(Case { model, property, certificate })
    };
    all.into_iter().filter_map(case).collect()
}

#[test]
fn every_kind_of_record_is_written_and_accepted() {
    let mut texts = String::new();
    for (number, case) in cases().into_iter().enumerate() {
        case.judge(&case.certificate).unwrap_or_else(|why| panic!("case {number}: {why}\n{}", case.text()));
        texts += &case.text();
    }
    let records = ["region", "bound", "plane", "close", "cells"].map(|kind| format!("record: {kind}"));
    let cells = ["closed", "cut", "records"].map(|kind| format!("cell: {kind}"));
    let nodes = ["leaf", "phases", "given", "rules", "cut", "behind", "counterexamples"];
    let nodes = nodes.map(|kind| format!("node: {kind}"));
    for kind in records.iter().chain(&cells).chain(&nodes).chain(["float32 arithmetic".to_string()].iter()) {
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

#[test]
fn certificates_of_the_shipped_suite_are_accepted() {
    let all = [
        ("digits_16.onnx", "digits_16_robust.vnnlib"),
        ("digits_32x3.onnx", "digits_16_robust.vnnlib"),
        ("digits_bn.onnx", "digits_16_robust.vnnlib"),
        ("digits_conv.onnx", "digits_conv_robust.vnnlib"),
        ("control.onnx", "control_bound.vnnlib"),
    ];
    for (network, property) in all {
        for engine in [Engine::Auto, Engine::Phases, Engine::Peregrinn] {
            let model = std::fs::read(shipped(network)).unwrap();
            let text = std::fs::read_to_string(shipped(property)).unwrap();
            let case = Case::new(model, text, engine).expect("a property that holds");
            case.judge(&case.certificate).unwrap_or_else(|why| panic!("{network}: {why}"));
            assert_ne!(case.second_opinion(&case.certificate), Some(false), "{network}");
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
        let Some(certificate) = certify(&model, &text, &options(Engine::Phases), &tuning) else { continue };
        wrong += 1;
        let case = Case { model, property: text, certificate };
        let why = case.judge(&case.certificate).expect_err("a leaf that should not be closed");
        assert!(why.contains("do not show it"), "{why}");
    }
    assert!(wrong >= 3, "only {wrong} wrong proofs were written");
}

/// max(x, 0) + max(y, 0) − max(x + y, 0) is never below 0. A margin that is less than the solver's tolerance is for the exact end.
#[test]
fn what_rational_arithmetic_decides_has_a_certificate() {
    let layers = vec![(vec![1.0, 0.0, 1.0, 0.0, 1.0, 1.0], vec![0.0; 3]), (vec![1.0, 1.0, -1.0], vec![0.0])];
    let network = chain(&[2, 3, 1], layers);
    for below in ["1e-8", "1e-7"] {
        let text = over_box(2, 1, 1.0) + &format!("(assert (<= Y_0 -{below}))");
        let (asked, interpreter) =
            (Property::parse(&text, "a test").unwrap(), Interpreter::new(compile_bytes(&network).unwrap()));
        let outcome = search::verify(&interpreter, &asked, &options(Engine::Peregrinn), &Control::new(Some(20.0)));
        assert!(outcome.counters.exact_calls > 0, "this is decided before");
        let case = Case::new(network.clone(), text, Engine::Peregrinn).expect("it holds");
        case.judge(&case.certificate).unwrap_or_else(|why| panic!("{why}\n{}", case.text()));
        assert!(case.text().contains("node: given"));
        assert_ne!(case.second_opinion(&case.certificate), Some(false));
    }
}

/// Where rounding may come to more than the margin, a proof about real numbers is none about the float32 program.
#[test]
fn a_proof_about_real_numbers_is_none_about_the_program() {
    let network = chain(&[1, 1, 1], vec![(vec![1.0], vec![0.0]), (vec![1.0], vec![1.0])]);
    // On [1, 3] the output is 2 at least; the sums of the program may be off by more than 10⁻⁷.
    let ask = |limit: &str| {
        "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 1))(assert (<= X_0 3))".to_string()
            + &format!("(assert (<= Y_0 {limit}))")
    };
    let near = Case::new(network.clone(), ask("1.9999999"), Engine::Phases).expect("it holds");
    assert!(near.judge(&near.certificate).is_ok());
    let program = mutations::about_the_program(&near.certificate);
    assert!(near.judge(&program).is_err());
    assert_ne!(near.second_opinion(&program), Some(true));
    assert!(Case::of_program(network.clone(), ask("1.9999999"), Engine::Phases).is_none());
    let far = Case::of_program(network, ask("1.999"), Engine::Phases).expect("it holds");
    assert!(far.judge(&far.certificate).unwrap().arithmetic == "float32");
    assert_ne!(far.second_opinion(&far.certificate), Some(false));
}

/// Neurons that are equally large are spread in the same order by the search and by both judges, whatever the program's sums round by.
#[test]
fn neurons_that_are_equally_large_have_an_order() {
    let mut proved = 0;
    for seed in 0..8 {
        let (mut random, [inputs, first, second]) = (Random::new(800 + seed), [6, 20, 8]);
        let mut eighths = |count: usize| (0..count).map(|_| random.below(17) as f32 / 8.0 - 1.0).collect::<Vec<f32>>();
        let (w, v, u) = (eighths(inputs * first), eighths(first * second), eighths(second));
        // All of them are 1 at most on the box, with terms of other sizes.
        let bias = |j: usize| 1.0 - (0..inputs).map(|i| w[i * first + j].abs()).sum::<f32>();
        let layers = vec![(w.clone(), (0..first).map(bias).collect()), (v, vec![0.0; second]), (u, vec![0.0])];
        let network = chain(&[inputs, first, second, 1], layers);
        let text = near(&network, &mut random, 1.0, 0.05, 1);
        let Some(case) = Case::of_program(network, text, Engine::Phases) else { continue };
        proved += 1;
        case.judge(&case.certificate).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{}", case.text()));
        assert_ne!(case.second_opinion(&case.certificate), Some(false));
    }
    assert!(proved >= 4, "only {proved} were proved");
}
