//! A few thousand random cases of every kind against exact brute force; the command `random` tries more of them.

use pg_runtime::options::Semantics;
use pg_tests::case::vnnlib;
use pg_tests::random::{Asking, Counts, Kind, Plan, Tally, draw, run};

/// Cases, each asked of the engine whose turn it is.
const CASES: u64 = 120 * Kind::TURNS;
/// The same of questions about float32 programs.
const PROGRAM_CASES: u64 = 60 * Kind::TURNS;
/// Of those that ask for proofs.
const PROOFS: u64 = 40 * Kind::TURNS;
/// Seconds for each question.
const PATIENCE: f64 = 0.5;
/// Of the cases of a kind, at least one in this many is satisfiable, and as many are not.
const RARE: usize = 5;

#[test]
fn no_verdict_contradicts_brute_force() {
    let tally = tally(Semantics::Real, false, CASES);
    for (kind, counts) in &tally.kinds {
        let rarer = counts.satisfiable.min(counts.cases - counts.satisfiable);
        assert!(rarer * RARE >= counts.cases, "{kind:?}: {} of {} are satisfiable", counts.satisfiable, counts.cases);
    }
    assert_eq!(tally.total().failed, 0, "answers have failed, see above");
}

/// At all inputs of tiny boxes, in all orders of its sums.
#[test]
fn no_verdict_about_a_program_contradicts_its_evaluation() {
    let total = tally(Semantics::Float32, false, PROGRAM_CASES).total();
    assert!(2 * total.holds * RARE >= total.cases && total.violated * RARE >= total.cases, "{total:?}");
    assert_eq!(total.failed, 0, "answers have failed, see above");
}

/// Certificates of what holds are accepted, and none of what does not: for each counterexample of the oracle a search that closes what
/// it should not writes one.
#[test]
fn certificates_are_accepted_of_what_holds_alone() {
    for (semantics, rare) in [(Semantics::Real, 4), (Semantics::Float32, 100)] {
        let tally = tally(semantics, true, PROOFS);
        assert_eq!(tally.total().failed, 0, "answers have failed, see above");
        let Counts { cases, holds, .. } = tally.kinds[&Kind::Ordinary];
        assert!(holds * rare >= cases, "of {cases} cases {holds} have accepted proofs");
    }
}

fn tally(semantics: Semantics, for_proofs: bool, cases: u64) -> Tally {
    let asking = Asking { seed: 1, timeout: PATIENCE, semantics, for_proofs };
    let plan = Plan { asking, numbers: 0..cases, kind: None, threads: 1 };
    let tally = run(&plan, |trial, _| {
        if trial.has_failed() {
            println!("{}", trial.describe());
        }
    });
    eprintln!("{tally}");
    tally
}

/// What is printed of a failure is enough to have it again.
#[test]
fn a_case_depends_on_its_seed_and_number_alone() {
    for number in 0..2 * Kind::TURNS {
        let [first, second] = [(); 2].map(|()| draw(5, number));
        assert_eq!(vnnlib::text(&first), vnnlib::text(&second));
        assert_eq!(format!("{:?}", first.net), format!("{:?}", second.net));
        assert_ne!(vnnlib::text(&first), vnnlib::text(&draw(6, number)));
    }
}

#[test]
fn kinds_take_turns() {
    let kinds: Vec<Kind> = (0..Kind::TURNS).map(Kind::of).collect();
    assert!(Kind::ALL.iter().all(|kind| kinds.contains(kind)));
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Ordinary).count() as u64, Kind::TURNS / 3);
    assert_eq!(kinds.iter().filter(|kind| **kind == Kind::Dyadic).count() as u64, Kind::TURNS / 3);
}
