//! A verdict about a case, held against the oracle's answer.

use crate::case::Case;
use crate::evaluate;
use crate::oracle::exact;
use crate::program::{Arithmetic, points};
use crate::random::nearest;
use num_rational::BigRational;
use pg_codegen::interpret::Interpreter;
use pg_core::{Network, Shape};
use pg_runtime::options::{Engine, Options, Penalty, Priority, Semantics};
use pg_runtime::property::{Property, Violation};
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::{StopReason, Verdict, Witness};

const PENALTIES: [Penalty; 4] = [Penalty::Weighted, Penalty::Uniform, Penalty::Feasibility, Penalty::Inverted];
const PRIORITIES: [Priority; 3] = [Priority::MaxSlack, Priority::MinSlack, Priority::Random];

/// An answer that is not wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Holds,
    Violated,
    Unknown(StopReason),
    /// The network or the property was not accepted, for this reason.
    Refused(String),
}

/// One thread and this many seconds.
pub fn one_thread(timeout: f64) -> Options {
    Options { threads: Some(1), timeout: Some(timeout), ..Options::default() }
}

/// All combinations of the paper's engine.
pub fn combinations(timeout: f64) -> Vec<Options> {
    let all = PENALTIES.into_iter().flat_map(|penalty| PRIORITIES.map(|priority| (penalty, priority)));
    let options = |(penalty, priority)| Options { engine: Engine::Peregrinn, penalty, priority, ..one_thread(timeout) };
    all.map(options).collect()
}

/// All engines, so that each has its turn: before each combination of the paper's, the two others.
pub fn everything(timeout: f64) -> Vec<Options> {
    let ours = [Engine::Auto, Engine::Phases].map(|engine| Options { engine, ..one_thread(timeout) });
    combinations(timeout).into_iter().flat_map(|paper| [ours.to_vec(), vec![paper]].concat()).collect()
}

/// The network and the property of a case, or that one of them is refused.
pub fn read(case: &Case) -> Result<(Interpreter, Property), Answer> {
    case.network().and_then(|network| Ok((network, case.property()?))).map_err(Answer::Refused)
}

/// Asks the engine. The error says in what way its answer is wrong.
pub fn ask(case: &Case, options: &Options) -> Result<Answer, String> {
    let (network, property) = match read(case) {
        Ok(question) => question,
        Err(refused) => return Ok(refused),
    };
    let verdict = verify(&network, &property, options, &Control::new(options.timeout)).verdict;
    answer(case, &network, &property, options, verdict)
}

/// What a verdict comes to.
///
/// `Holds` is right only where the oracle finds nothing. `Violated` is right only where the oracle finds something and
/// the witness is a counterexample in exact arithmetic. About the float32 program on a box of few points `Holds` is right only where no
/// order of its sums overflows at any of them or gives a counterexample, and `Violated` only for the outputs that the program computes.
pub fn answer(
    case: &Case,
    network: &Interpreter,
    property: &Property,
    options: &Options,
    verdict: Verdict,
) -> Result<Answer, String> {
    let is_of_program = options.semantics == Some(Semantics::Float32);
    let is_violated = |witness: &Witness| match is_of_program {
        true => is_computed(network, property, witness),
        false => is_counterexample(case, network, property, witness),
    };
    match verdict {
        Verdict::Unknown(reason) => Ok(Answer::Unknown(reason)),
        Verdict::Holds(_) if is_of_program => contradiction(case, &network.shape()).map_or(Ok(Answer::Holds), Err),
        Verdict::Holds(_) if case.satisfiable => Err("holds, but the oracle has a counterexample".into()),
        Verdict::Holds(_) => Ok(Answer::Holds),
        Verdict::Violated(witness) if is_violated(&witness) => Ok(Answer::Violated),
        Verdict::Violated(witness) => Err(format!("violated, but {witness:?} is no counterexample")),
    }
}

/// An input of a box, and an arithmetic, in which the program overflows or is at a counterexample.
fn contradiction(case: &Case, shape: &Shape) -> Option<String> {
    let exactly = |values: &[f32]| values.iter().map(|&v| exact(v)).collect::<Vec<_>>();
    let floats = |ends: &[BigRational]| ends.iter().map(nearest).collect::<Vec<_>>();
    for disjunct in &case.disjuncts {
        for x in points(&floats(&disjunct.region.lower), &floats(&disjunct.region.upper)) {
            for arithmetic in Arithmetic::all() {
                let y = arithmetic.eval(shape, &x);
                if !y.iter().all(|v| v.is_finite()) || disjunct.holds(&exactly(&x), &exactly(&y)) {
                    return Some(format!("holds, but {arithmetic:?} has {y:?} at {x:?}"));
                }
            }
        }
    }
    None
}

/// In exact arithmetic, and as float32 computes it.
pub fn is_counterexample(case: &Case, network: &Interpreter, property: &Property, witness: &Witness) -> bool {
    case.satisfiable && case.holds_exactly_at(witness.point()) && is_computed(network, property, witness)
}

/// As float32 computes it.
fn is_computed(network: &Interpreter, property: &Property, witness: &Witness) -> bool {
    let output: Vec<f64> = witness.output().iter().map(|&v| f64::from(v)).collect();
    let disjunct = &property.disjuncts[witness.disjunct()];
    witness.output() == evaluate(network, witness.input())
        && disjunct.violated_at(witness.input(), &output, &output) == Violation::Certain
}
