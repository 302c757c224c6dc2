//! Affine forms over inputs and outputs, and the linear rows `form ≤ 0` or `form < 0`.
//!
//! Coefficients are exact; each carries the `f64` interval that contains it, for engines. Rows are
//! decided in exact arithmetic.

use super::Decimal;
use super::disjunct::Violation;
use super::interval::Interval;

/// An exact number and the tightest `f64` interval around it: `low == high` if it is a float. An end
/// is infinite for numbers beyond the finite floats.
#[derive(Clone, Debug, PartialEq)]
pub struct Enclosed {
    pub exact: Decimal,
    pub low: f64,
    pub high: f64,
}

impl From<Decimal> for Enclosed {
    fn from(exact: Decimal) -> Self {
        let (low, high) = (exact.to_f64_down(), exact.to_f64_up());
        Self { exact, low, high }
    }
}

/// `coefficient · variable`, the variable given by its index among the inputs or the outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub index: usize,
    pub coefficient: Enclosed,
}

/// `Σ aᵢ·xᵢ + Σ bⱼ·yⱼ + c`, sparse, indices ascending, no coefficient zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    pub x: Vec<Term>,
    pub y: Vec<Term>,
    pub constant: Enclosed,
}

/// Which variables a constraint speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Input,
    Output,
    Joint,
}

impl Affine {
    fn value(&self, x: &[Decimal], y: &[Decimal]) -> Decimal {
        let mut sum = self.constant.exact.clone();
        for (terms, values) in [(&self.x, x), (&self.y, y)] {
            for term in terms {
                sum += &(&term.coefficient.exact * &values[term.index]);
            }
        }
        sum
    }

    /// The range over a point of inputs and a box of outputs, exact; `None` if an output has no
    /// finite range.
    pub(super) fn range(&self, x: &[f32], y: &[Option<Interval>]) -> Option<Interval> {
        let mut sum = self.constant.exact.clone();
        for term in &self.x {
            sum += &(&term.coefficient.exact * &Decimal::from_f32(x[term.index])?);
        }
        let mut sum = Interval::point(sum);
        for term in &self.y {
            sum.add(&y[term.index].as_ref()?.scaled(&term.coefficient.exact));
        }
        Some(sum)
    }
}

/// The constraint `affine ≤ 0`, or `affine < 0` if strict.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub affine: Affine,
    pub strict: bool,
}

impl Row {
    pub fn scope(&self) -> Scope {
        Scope::of(!self.affine.x.is_empty(), !self.affine.y.is_empty())
    }

    /// Whether the row holds at a point, in exact arithmetic.
    ///
    /// # Panics
    /// If a slice has no value for a variable of the row.
    pub fn holds_exactly(&self, x: &[Decimal], y: &[Decimal]) -> bool {
        self.affine.value(x, y).is_below_zero(self.strict)
    }

    /// The row at a point of inputs and over a box of outputs.
    pub(super) fn decide(&self, x: &[f32], y: &[Option<Interval>]) -> Violation {
        Violation::of_range(self.affine.range(x, y), self.strict)
    }
}

impl Scope {
    pub(super) fn of(inputs: bool, outputs: bool) -> Self {
        match (inputs, outputs) {
            (true, true) => Self::Joint,
            (true, false) => Self::Input,
            (false, _) => Self::Output,
        }
    }
}
