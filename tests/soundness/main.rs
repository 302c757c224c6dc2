//! Verdicts against the brute-force oracle, on tiny networks and properties near the border.
//!
//! `Holds` only where the oracle finds nothing, `Violated` only with an input that is a counterexample in exact arithmetic;
//! `Unknown` is never wrong, but where the answer does not hang on a millionth it must be rare.

mod quadratic;

use num_rational::BigRational;
use num_traits::ToPrimitive;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_runtime::options::{Options, Semantics};
use pg_runtime::property::{Property, Violation};
use pg_runtime::verdict::Witness;
use pg_tests::case::border::{several_rows, single_row};
use pg_tests::case::{Case, onnx, vnnlib};
use pg_tests::judge::{Answer, ask, combinations, everything, is_counterexample, one_thread};
use pg_tests::oracle::{eval_exact, exact};
use pg_tests::{Random, Verifier};
use prost::Message;
use std::borrow::Borrow;
use std::process::Command;

/// Networks with one row each, asked with this many thresholds.
const SINGLE_ROW_NETWORKS: usize = 500;
const THRESHOLDS: usize = 6;
const SEVERAL_ROWS_CASES: usize = 800;
const LARGER_NETWORKS: usize = 12;
/// Cases that all twelve combinations of penalty and priority are asked.
const COMPARED_CASES: usize = 120;
const RELUS: usize = 8;
const LARGER_RELUS: usize = 12;
/// Of the clear cases, at most one in this many may stay unknown.
const UNKNOWN: usize = 50;
/// A counterexample is recognised if its bounds hold by this much, which is far above the errors of float32 here.
const ROOM: f64 = 1e-4;
/// Seconds after which a question counts as unknown.
const PATIENCE: f64 = 20.0;

fn network(case: &Case) -> Interpreter {
    case.network().unwrap_or_else(|e| panic!("{e}\n{:#?}", case.net))
}

fn property(case: &Case) -> Property {
    case.property().unwrap_or_else(|e| panic!("{e}\n{}", vnnlib::text(case)))
}

/// Everything needed to ask again.
fn describe(case: &Case, options: &Options) -> String {
    format!("{options:?}\n{:#?}\n{}", case.net, vnnlib::text(case))
}

/// Asks the engine and holds its answer, if it has one, against the oracle's.
fn is_decided(case: &Case, options: &Options) -> bool {
    match ask(case, options) {
        Ok(Answer::Holds | Answer::Violated) => true,
        Ok(Answer::Unknown(_)) => false,
        Ok(Answer::Refused(what)) | Err(what) => panic!("{what}\n{}", describe(case, options)),
    }
}

/// Asks every case with the options whose turn it is, and requires that few clear ones stay unknown.
fn ask_all<C: Borrow<Case>>(cases: impl Iterator<Item = C>, options: &[Options]) {
    let (mut clear, mut unknown, mut total) = (0, 0, 0);
    for (case, options) in cases.zip(options.iter().cycle()) {
        let case = case.borrow();
        let (is_known, is_clear) = (is_decided(case, options), case.is_clear());
        total += 1;
        clear += usize::from(is_clear);
        unknown += usize::from(is_clear && !is_known);
    }
    eprintln!("{total} cases, {clear} of them clear, {unknown} of these unknown");
    assert!(unknown * UNKNOWN <= clear, "{unknown} of {clear} clear cases are unknown");
}

fn single_row_cases(seed: u64, networks: usize, relus: usize) -> impl Iterator<Item = Case> {
    let mut random = Random::new(seed);
    (0..networks).flat_map(move |_| single_row(&mut random, relus, THRESHOLDS))
}

fn several_rows_cases(seed: u64, cases: usize, relus: usize) -> impl Iterator<Item = Case> {
    let mut random = Random::new(seed);
    (0..cases).map(move |_| several_rows(&mut random, relus))
}

#[test]
fn a_single_row() {
    ask_all(single_row_cases(1, SINGLE_ROW_NETWORKS, RELUS), &everything(PATIENCE));
}

#[test]
fn several_rows_and_disjuncts() {
    ask_all(several_rows_cases(2, SEVERAL_ROWS_CASES, RELUS), &everything(PATIENCE));
}

#[test]
fn larger_networks() {
    ask_all(single_row_cases(3, LARGER_NETWORKS, LARGER_RELUS), &everything(PATIENCE));
}

/// The same cases for each combination: all are right, so they agree.
#[test]
fn all_penalties_and_priorities_agree() {
    let single = single_row_cases(4, COMPARED_CASES / THRESHOLDS / 2, RELUS);
    let cases: Vec<Case> = single.chain(several_rows_cases(14, COMPARED_CASES / 2, RELUS)).collect();
    combinations(PATIENCE).into_iter().for_each(|options| ask_all(cases.iter(), &[options]));
}

/// An input of the box around some disjunct, and somewhat beyond.
fn sample(random: &mut Random, case: &Case) -> Vec<f32> {
    let region = &random.pick(&case.disjuncts).region;
    let float = |v: &BigRational| v.to_f32().expect("a number");
    let ends = region.lower.iter().zip(&region.upper).map(|(l, u)| (float(l), float(u)));
    ends.map(|(l, u)| (l + u) / 2.0 + 0.6 * (u - l) * random.number()).collect()
}

#[test]
fn a_witness_is_replayed_exactly() {
    let mut random = Random::new(5);
    let mut found = 0;
    for case in several_rows_cases(6, 200, RELUS) {
        let (network, property) = (network(&case), property(&case));
        for _ in 0..50 {
            let x = sample(&mut random, &case);
            match Witness::replay(&network, &property, Semantics::Real, &x) {
                Some(witness) => {
                    assert_eq!(witness.input(), x);
                    let right = is_counterexample(&case, &network, &property, &witness);
                    assert!(right, "{witness:?}\n{}", describe(&case, &one_thread(PATIENCE)));
                    found += 1;
                }
                None => {
                    assert!(!case.holds_with_room_at(&x, ROOM), "{x:?}\n{}", describe(&case, &one_thread(PATIENCE)))
                }
            }
        }
    }
    assert!(found > 200, "{found} witnesses");
}

/// Without conditions on outputs, a witness is an input of the region.
#[test]
fn a_witness_lies_in_the_region() {
    let mut random = Random::new(7);
    let mut inside = 0;
    for mut case in several_rows_cases(8, 50, RELUS) {
        case.disjuncts.iter_mut().for_each(|d| d.rows.retain(|row| row.form.output.is_empty()));
        let (network, property) = (network(&case), property(&case));
        for _ in 0..50 {
            let x = sample(&mut random, &case);
            let witness = Witness::replay(&network, &property, Semantics::Real, &x);
            // Where a float stands for a fixed number, the witness is of that number.
            let is_wrong = match &witness {
                Some(witness) => !case.holds_exactly_at(witness.point()),
                None => case.holds_at(&x),
            };
            assert!(!is_wrong, "{x:?}\n{}", vnnlib::text(&case));
            inside += usize::from(witness.is_some());
        }
    }
    assert!((200..2300).contains(&inside), "{inside} of 2500 inputs");
}

/// The engine is asked what the oracle was asked: the two readings of a property agree at random points.
#[test]
fn properties_are_read_as_the_oracle_reads_them() {
    let mut random = Random::new(9);
    let (mut inside, mut total) = (0, 0);
    for case in single_row_cases(10, 20, RELUS).chain(several_rows_cases(11, 100, RELUS)) {
        let (network, property) = (network(&case), property(&case));
        property.check_shape(network.inputs(), network.outputs()).expect("the sizes of the network");
        for _ in 0..50 {
            let x = sample(&mut random, &case);
            // Where a float stands for a fixed number, the oracle would have to be asked about that.
            if property.disjuncts.iter().any(|d| !d.region.is_of_floats() && d.region.contains(&x)) {
                continue;
            }
            let exact_x: Vec<_> = x.iter().map(|&v| exact(v)).collect();
            let y: Vec<f64> = eval_exact(&case.net, &exact_x).iter().map(|v| v.to_f64().expect("a number")).collect();
            let exact_y: Vec<_> = y.iter().map(|&v| BigRational::from_float(v).expect("a number")).collect();
            let expected = case.disjuncts.iter().any(|d| d.holds(&exact_x, &exact_y));
            let found = property.disjuncts.iter().any(|d| d.violated_at(&x, &y, &y) == Violation::Certain);
            assert_eq!(found, expected, "{x:?} {y:?}\n{}", vnnlib::text(&case));
            inside += usize::from(found);
            total += 1;
        }
    }
    assert!(inside * 20 > total, "{inside} of {total} points satisfy a property");
}

/// What the other tests ask is worth asking: both answers are common, and so are cases that hang on little.
#[test]
fn cases_lie_on_both_sides_of_the_border() {
    for (what, cases) in [
        ("one row", single_row_cases(12, 50, RELUS).collect::<Vec<_>>()),
        ("several rows", several_rows_cases(13, 100, RELUS).collect()),
    ] {
        let satisfiable = cases.iter().filter(|case| case.satisfiable).count();
        let clear = cases.iter().filter(|case| case.is_clear()).count();
        eprintln!("{what}: {} cases, {satisfiable} satisfiable, {clear} clear", cases.len());
        assert!((cases.len() / 4..cases.len() * 3 / 4).contains(&satisfiable), "{what}: {satisfiable} satisfiable");
        assert!((cases.len() / 2..cases.len() * 19 / 20).contains(&clear), "{what}: {clear} clear");
    }
}

/// The shipped program: a verifier that is generated and built for a random network, asked as a user would.
#[test]
fn a_freshly_generated_verifier() {
    let dir = tempfile::tempdir().expect("a folder");
    let cases = single_row(&mut Random::new(15), LARGER_RELUS, 4 * THRESHOLDS);
    let (model, text) = (dir.path().join("net.onnx"), dir.path().join("p.vnnlib"));
    std::fs::write(&model, onnx(&cases[0].net).encode_to_vec()).expect("written");
    let verifier = Verifier::build(&model, &dir.path().join("crate"));
    let (mut clear, mut unknown) = (0, 0);
    for (case, engine) in cases.iter().zip(["auto", "phases", "peregrinn"].into_iter().cycle()) {
        std::fs::write(&text, vnnlib::text(case)).expect("written");
        let mut command = Command::new(&verifier.binary);
        command.arg("verify").arg(&text).args(["--engine", engine, "--threads", "1", "--timeout", "20", "--quiet"]);
        let output = command.output().expect("it runs");
        let word = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string();
        let expected = if case.satisfiable { "sat" } else { "unsat" };
        assert!(
            [expected, "unknown", "timeout"].contains(&word.as_str()),
            "{word} by {engine}\n{}",
            vnnlib::text(case)
        );
        clear += usize::from(case.is_clear());
        unknown += usize::from(case.is_clear() && word != expected);
    }
    assert!(clear > THRESHOLDS && unknown * UNKNOWN <= clear, "{unknown} of {clear} clear cases are unknown");
}
