//! From `polynomial ≤ 0` to the kinds of constraint a disjunct is made of.

use std::sync::Arc;

use super::Decimal;
use super::affine::Row;
use super::polynomial::Polynomial;
use super::quadratic::{Quadratic, Refused};
use super::region::Bound;

/// An atom of a property.
#[derive(Clone, Debug)]
pub(super) enum Constraint {
    /// No variable is left: it holds everywhere or nowhere.
    Constant(bool),
    Bound(InputBound),
    /// A row, and the bound on an input that follows from it where it speaks of one input only.
    Row(Arc<Row>, Option<InputBound>),
    Quadratic(Arc<Quadratic>),
}

#[derive(Clone, Debug)]
pub(super) struct InputBound {
    pub(super) input: usize,
    pub(super) end: End,
    pub(super) bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Lower,
    Upper,
}

impl Constraint {
    /// The constraint `polynomial ≤ 0`, or `< 0` if strict, of a merged polynomial.
    pub(super) fn new(polynomial: Polynomial, strict: bool) -> Result<Self, Refused> {
        if let Some(value) = polynomial.as_constant() {
            return Ok(Self::Constant(value.is_below_zero(strict)));
        }
        let single = polynomial.as_single_input();
        let bound = single.and_then(|(input, a, c)| solve(input, a, c, strict));
        if let Some((bound, true)) = bound {
            return Ok(Self::Bound(bound));
        }
        let (products, affine) = polynomial.into_parts();
        if products.is_empty() {
            let implied = bound.map(|(bound, _)| bound);
            return Ok(Self::Row(Arc::new(Row { affine, strict }), implied));
        }
        Ok(Self::Quadratic(Arc::new(Quadratic::new(products, affine, strict)?)))
    }

    /// The bound on an input that it is, or implies.
    pub(super) fn bound(&self) -> Option<&InputBound> {
        match self {
            Self::Bound(bound) | Self::Row(_, Some(bound)) => Some(bound),
            _ => None,
        }
    }
}

/// `a·x + c ≤ 0` solved for `x`, and whether the bound says the same as the row. Where `-c/a` is not
/// a finite decimal the bound is rounded outward: it follows from the row and does not replace it.
/// `None` for `a = 0`.
fn solve(input: usize, a: &Decimal, c: &Decimal, strict: bool) -> Option<(InputBound, bool)> {
    let end = if a.is_positive() { End::Upper } else { End::Lower };
    let c = -c;
    if let Some(value) = c.exact_quotient(a) {
        return Some((InputBound { input, end, bound: Bound { value, strict } }, true));
    }
    let (low, high) = c.enclosed_quotient(a)?;
    let value = if end == End::Upper { high } else { low };
    Some((InputBound { input, end, bound: Bound { value, strict: false } }, false))
}
