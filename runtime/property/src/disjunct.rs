//! One disjunct of a property: a set of counterexamples `(x, N(x))` given by a box of inputs, linear
//! rows and convex quadratic constraints, all of which must hold.

use std::sync::Arc;

use super::Decimal;
use super::affine::{Row, Scope};
use super::interval::Interval;
use super::quadratic::Quadratic;
use super::region::InputBox;

/// A conjunction of constraints. Parts common to several disjuncts are shared, not copied.
#[derive(Clone, Debug, PartialEq)]
pub struct Disjunct {
    pub region: Arc<InputBox>,
    pub rows: Vec<Arc<Row>>,
    pub quadratics: Vec<Arc<Quadratic>>,
}

/// Whether constraints are met by the outputs of a point that are known up to an interval each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// Every constraint holds for all outputs in the box: a counterexample.
    Certain,
    /// Some constraint fails for all outputs in the box.
    Impossible,
    /// The box of outputs does not decide it.
    Undecided,
}

impl Violation {
    /// Decides `value ≤ 0`, or `< 0`, for a value known to lie in the range.
    pub(super) fn of_range(range: Option<Interval>, strict: bool) -> Self {
        match range {
            Some(range) if range.high.is_below_zero(strict) => Self::Certain,
            Some(range) if !range.low.is_below_zero(strict) => Self::Impossible,
            _ => Self::Undecided,
        }
    }
}

impl Disjunct {
    /// Rows of one scope, in the order of the property.
    pub fn rows_of(&self, scope: Scope) -> impl Iterator<Item = &Row> {
        self.rows.iter().map(|row| &**row).filter(move |row| row.scope() == scope)
    }

    /// Quadratic constraints of one scope, in the order of the property.
    pub fn quadratics_of(&self, scope: Scope) -> impl Iterator<Item = &Quadratic> {
        let quadratics = self.quadratics.iter().map(|quadratic| &**quadratic);
        quadratics.filter(move |quadratic| quadratic.scope() == scope)
    }

    /// Whether the inputs are restricted to the box and not further.
    pub fn is_box(&self) -> bool {
        self.rows_of(Scope::Input).next().is_none() && self.quadratics_of(Scope::Input).next().is_none()
    }

    /// The same for two disjuncts of a property only if they share all constraints on inputs alone.
    pub fn input_set_id(&self) -> Vec<usize> {
        let rows = self.rows.iter().filter(|row| row.scope() == Scope::Input).map(|row| Arc::as_ptr(row).addr());
        let quadratics = self.quadratics.iter().filter(|q| q.scope() == Scope::Input).map(|q| Arc::as_ptr(q).addr());
        [Arc::as_ptr(&self.region).addr()].into_iter().chain(rows).chain(quadratics).collect()
    }

    /// Whether the float input meets every constraint on inputs alone, in exact arithmetic. Where a float stands for another
    /// number, there may be no constraint on inputs but the box.
    ///
    /// # Panics
    /// If `x` is not of the size of the property.
    pub fn contains_input(&self, x: &[f32]) -> bool {
        let rows_and_quadratics = || {
            let quadratics = self.quadratics.iter().map(|quadratic| quadratic.scope());
            self.rows.iter().map(|row| row.scope()).chain(quadratics)
        };
        self.region.contains(x)
            && (self.region.is_of_floats() || rows_and_quadratics().all(|scope| scope == Scope::Output))
            && self.rows_of(Scope::Input).all(|row| row.decide(x, &[]) == Violation::Certain)
            && self.quadratics_of(Scope::Input).all(|q| q.decide(x, &[]) == Violation::Certain)
    }

    /// Whether `x` with outputs somewhere in `[y_low, y_high]` is a counterexample.
    ///
    /// Sound both ways: constraints are evaluated in exact interval arithmetic, so `Certain` and
    /// `Impossible` hold for every output in the box, the true one included. An output with an
    /// infinite, unordered or NaN interval decides nothing.
    ///
    /// # Panics
    /// If the slices are not of the sizes of the property.
    pub fn violated_at(&self, x: &[f32], y_low: &[f64], y_high: &[f64]) -> Violation {
        assert_eq!(y_low.len(), y_high.len(), "an output box of two dimensions");
        let ends = y_low.iter().zip(y_high);
        self.decide(x, &ends.map(|(&low, &high)| Interval::between(low, high)).collect::<Vec<_>>())
    }

    /// Whether `x` with exactly the outputs `y` is a counterexample.
    ///
    /// # Panics
    /// If the slices are not of the sizes of the property.
    pub fn holds_exactly(&self, x: &[f32], y: &[Decimal]) -> bool {
        let y: Vec<_> = y.iter().map(|y| Some(Interval::point(y.clone()))).collect();
        self.decide(x, &y) == Violation::Certain
    }

    fn decide(&self, x: &[f32], y: &[Option<Interval>]) -> Violation {
        if !self.contains_input(x) {
            return Violation::Impossible;
        }
        let rows = self.rows.iter().filter(|row| row.scope() != Scope::Input);
        let quadratics = self.quadratics.iter().filter(|q| q.scope() != Scope::Input);
        let decisions = rows.map(|row| row.decide(x, y)).chain(quadratics.map(|q| q.decide(x, y)));
        let mut all = Violation::Certain;
        for decision in decisions {
            match decision {
                Violation::Certain => {}
                Violation::Impossible => return Violation::Impossible,
                Violation::Undecided => all = Violation::Undecided,
            }
        }
        all
    }
}
