//! The answer to a verification question, as types that cannot be made without their evidence.

use crate::certificate::Written;
use crate::options::Semantics;
use crate::property::{Disjunct, Property, Violation};
use crate::replay;
use crate::search::Proved;
use pg_core::Network;
use pg_property::{Decimal, Side};
use std::fmt;

/// Lower and upper ends of numbers.
type Ends = (Vec<f64>, Vec<f64>);

/// What is known of a property of a network.
#[derive(Debug)]
pub enum Verdict {
    /// No input violates it: a closed goal for each disjunct.
    Holds(Proved),
    /// This input does.
    Violated(Witness),
    /// Neither was shown.
    Unknown(StopReason),
}

impl Verdict {
    /// VNN-COMP's word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds(_) => "unsat",
            Verdict::Violated(_) => "sat",
            Verdict::Unknown(StopReason::Timeout) => "timeout",
            Verdict::Unknown(_) => "unknown",
        }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Verdict::Holds(_) => 0,
            Verdict::Violated(_) => 1,
            Verdict::Unknown(StopReason::Timeout) => 3,
            Verdict::Unknown(_) => 2,
        }
    }

    /// The certificate that was written of a proof.
    pub fn certificate(&self) -> Option<&Written> {
        match self {
            Verdict::Holds(proved) => proved.certificate(),
            _ => None,
        }
    }
}

/// Why a search ended without an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The given time was used up.
    Timeout,
    /// The user asked to stop.
    Interrupted,
    /// It goes on in so many parts, or so many of them are open.
    Split(usize),
    /// A limit of the program, or trouble of a solver that no other method could make good.
    GaveUp(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Timeout => f.write_str("the time was used up"),
            StopReason::Interrupted => f.write_str("interrupted"),
            StopReason::Split(1) => f.write_str("one part is open"),
            StopReason::Split(parts) => write!(f, "{parts} parts are open"),
            StopReason::GaveUp(why) => f.write_str(why),
        }
    }
}

/// A counterexample: an input inside the exact region whose output violates the property as float32 computes it and, where the
/// question is about the real network, in real arithmetic too.
///
/// Where the property fixes an input at a number that is no float32, that number is the input of the real network, and the
/// nearest float32 the program's.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    input: Vec<f32>,
    point: Vec<Decimal>,
    output: Vec<f32>,
    disjunct: usize,
}

impl Witness {
    /// Replays an input: the only way to make a witness.
    ///
    /// The region is checked exactly, and the float32 output must satisfy every constraint exactly. That is all of a question
    /// about the program. Of one about the real network, its output must too: see [`real_violation`].
    pub fn replay(network: &dyn Network, property: &Property, semantics: Semantics, input: &[f32]) -> Option<Witness> {
        let mut output = vec![0.0; network.outputs()];
        network.forward(input, &mut output);
        if !output.iter().all(|v| v.is_finite()) {
            return None;
        }
        let float: Vec<f64> = output.iter().map(|&v| f64::from(v)).collect();
        let is_violated = |d: &Disjunct| d.violated_at(input, &float, &float) == Violation::Certain;
        let mut candidates = (0..property.disjuncts.len()).filter(|&d| is_violated(&property.disjuncts[d]));
        let disjunct = match semantics {
            Semantics::Float32 => candidates.next(),
            Semantics::Real => real_violation(network, property, input, candidates),
        }?;
        let exact = |(side, &x): (&Side, &f32)| side.stands_for().cloned().or_else(|| Decimal::from_f32(x));
        let point = property.disjuncts[disjunct].region.sides().zip(input).map(exact).collect::<Option<_>>()?;
        Some(Witness { input: input.to_vec(), point, output, disjunct })
    }

    /// As floats: what the float32 program is given.
    pub fn input(&self) -> &[f32] {
        &self.input
    }

    /// The input exactly: what the real network is given.
    pub fn point(&self) -> &[Decimal] {
        &self.point
    }

    /// The network's float32 output.
    pub fn output(&self) -> &[f32] {
        &self.output
    }

    /// The disjunct of the property that the witness satisfies.
    pub fn disjunct(&self) -> usize {
        self.disjunct
    }
}

/// The first of some disjuncts that the real network violates at an input as well.
///
/// Every point of the rigorous enclosure of the real output must satisfy the constraints: then the counterexample does not
/// depend on rounding. Where the enclosure is too wide to tell, the real output itself is computed, in exact arithmetic.
fn real_violation(
    network: &dyn Network,
    property: &Property,
    input: &[f32],
    candidates: impl Iterator<Item = usize>,
) -> Option<usize> {
    let shape = network.shape();
    let mut enclosed: Option<(Ends, Ends)> = None;
    let mut open = Vec::new();
    for d in candidates {
        let disjunct = &property.disjuncts[d];
        let at = disjunct.region.enclosure_at(input);
        if enclosed.as_ref().is_none_or(|(known, _)| *known != at) {
            let output = replay::enclose(&shape, (&at.0, &at.1));
            enclosed = Some((at, output));
        }
        let (_, (low, high)) = enclosed.as_ref().expect("just enclosed");
        match disjunct.violated_at(input, low, high) {
            Violation::Certain => return Some(d),
            Violation::Undecided if disjunct.region.is_of_floats() => open.push(d),
            _ => {}
        }
    }
    let exact = if open.is_empty() { None } else { replay::evaluate(&shape, input) }?;
    open.into_iter().find(|&d| property.disjuncts[d].holds_exactly(input, &exact))
}
