//! The answer to a verification question, as types that cannot be made without their evidence.

use crate::property::{Disjunct, Property, Violation};
use crate::replay;
use crate::search::Proved;
use pg_core::Network;
use std::fmt;

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
}

/// Why a search ended without an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum StopReason {
    /// The given time was used up.
    Timeout,
    /// The user asked to stop.
    Interrupted,
    /// A limit of the program, or trouble of a solver that no other method could make good.
    GaveUp(String),
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            StopReason::Timeout => f.write_str("the time was used up"),
            StopReason::Interrupted => f.write_str("interrupted"),
            StopReason::GaveUp(why) => f.write_str(why),
        }
    }
}

/// A counterexample: an input inside the exact region whose output violates the property, both as float32 computes it and
/// in real arithmetic.
#[derive(Clone, Debug, PartialEq)]
pub struct Witness {
    input: Vec<f32>,
    output: Vec<f32>,
    disjunct: usize,
}

impl Witness {
    /// Replays an input: the only way to make a witness.
    ///
    /// The region is checked exactly. The float32 output must satisfy every constraint exactly, and so must every point
    /// of the rigorous enclosure of the real output: then the counterexample does not depend on rounding. Where the
    /// enclosure is too wide to tell, the real output itself is computed, in exact arithmetic.
    pub fn replay(network: &dyn Network, property: &Property, input: &[f32]) -> Option<Witness> {
        let mut output = vec![0.0; network.outputs()];
        network.forward(input, &mut output);
        if !output.iter().all(|v| v.is_finite()) {
            return None;
        }
        let float: Vec<f64> = output.iter().map(|&v| f64::from(v)).collect();
        let is_violated = |d: &Disjunct| d.violated_at(input, &float, &float) == Violation::Certain;
        let candidates: Vec<usize> =
            (0..property.disjuncts.len()).filter(|&d| is_violated(&property.disjuncts[d])).collect();
        if candidates.is_empty() {
            return None;
        }
        let (low, high) = replay::enclose(&network.shape(), input);
        let decide = |&d: &usize| property.disjuncts[d].violated_at(input, &low, &high);
        let certain = candidates.iter().copied().find(|d| decide(d) == Violation::Certain);
        let disjunct = certain.or_else(|| {
            let open: Vec<usize> = candidates.into_iter().filter(|d| decide(d) == Violation::Undecided).collect();
            let exact = if open.is_empty() { None } else { replay::evaluate(&network.shape(), input) }?;
            open.into_iter().find(|&d| property.disjuncts[d].holds_exactly(input, &exact))
        })?;
        Some(Witness { input: input.to_vec(), output, disjunct })
    }

    pub fn input(&self) -> &[f32] {
        &self.input
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
