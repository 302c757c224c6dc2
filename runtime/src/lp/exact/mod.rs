//! Feasibility of a linear system in exact rational arithmetic, with the evidence for either answer.
//!
//! The method is the general simplex of Dutertre and de Moura ("A fast linear-arithmetic solver for DPLL(T)", CAV
//! 2006): every row A·x ≤ b defines a slack variable s = A·x with bounds of its own, non-basic variables rest at a
//! bound, and a basic variable outside its bounds is exchanged for a non-basic one that can move it back. A row in
//! which nothing can move is a Farkas refutation. Strict rows are bounds b − δ for an infinitesimal δ.
//!
//! The path is `system` (what is asked, and the judges of both kinds of evidence) → `scaled` (the same in integers)
//! → `tableau` (basic variables in terms of the non-basic ones) → `search` (the pivots). Nothing after `system` is
//! trusted: [`solve`] returns only what the judges accept.

mod scaled;
mod search;
mod system;
mod tableau;
#[cfg(test)]
mod tests;

pub use system::{Bounds, Farkas, Relation, Row, System, exact};

use num_rational::BigRational;
use scaled::Scaled;
use search::{End, Search};
use std::fmt;

/// What is known about a system.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A point that satisfies the system.
    Feasible(Vec<BigRational>),
    /// Multipliers that refute it.
    Infeasible(Farkas),
    /// The caller asked to stop.
    Stopped,
}

/// Where a variable stands in a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    Basic,
    AtLower,
    AtUpper,
    /// Non-basic without a bound to rest at.
    AtZero,
}

/// A simplex basis: one status per column and per row of a system, a row's being that of its slack. As a hint it
/// may be anything: what cannot be honoured is ignored, and only the number of pivots depends on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    pub columns: Vec<Status>,
    pub rows: Vec<Status>,
}

/// An outcome, the basis it was found in, which serves as the hint for a similar system, and the pivots it took.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    pub basis: Basis,
    pub pivots: usize,
}

/// The simplex ended in evidence that its judge rejects: a bug in this module, and no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unverified;

impl fmt::Display for Unverified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("exact simplex: its own result failed verification; please report this as a bug")
    }
}

impl std::error::Error for Unverified {}

/// Decides whether `system` has a solution. `keep_going` is asked before every pivot. With the final basis of a
/// floating-point solver as `hint`, the pivots are those that install it and those that repair its rounding.
///
/// Sound: a point is returned only if [`System::admits`] it and multipliers only if [`System::refuted_by`] them,
/// both computed from the system as given. Complete: under Bland's rule no basis returns, so that with a
/// `keep_going` that never refuses, one of the two is reached.
pub fn solve(
    system: &System,
    hint: Option<&Basis>,
    keep_going: &mut dyn FnMut() -> bool,
) -> Result<Answer, Unverified> {
    let scaled = Scaled::new(system);
    let mut search = Search::new(&scaled);
    let outcome = match search.run(hint, keep_going) {
        End::Vertex(vertex) => {
            let point = scaled.unscale_point(&vertex);
            system.admits(&point).then_some(Outcome::Feasible(point))
        }
        End::Conflict(conflict) => {
            let farkas = scaled.unscale_conflict(&conflict);
            system.refuted_by(&farkas).then_some(Outcome::Infeasible(farkas))
        }
        End::Stopped => Some(Outcome::Stopped),
    };
    Ok(Answer { outcome: outcome.ok_or(Unverified)?, basis: search.basis(), pivots: search.pivots() })
}
