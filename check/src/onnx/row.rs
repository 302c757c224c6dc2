//! Affine forms of the variables of a network.
//!
//! Composition is exact or refused. Only a division that does not come out even is rounded, and the row says how far
//! the model's own may lie from it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::number::{Dyadic, bits};
use crate::{Refused, require};

/// `bias + Σ coefficient · variable`, the terms ascending by variable and none with the coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub terms: Vec<(u32, Dyadic)>,
    pub bias: Dyadic,
    /// The model's coefficient differs from each one here by at most this, and is zero where there is none here.
    pub term_error: Dyadic,
    /// The model's bias differs from the one here by at most this.
    pub bias_error: Dyadic,
}

/// A row with the weight that it has in a sum.
pub(super) type Part<'r> = (Dyadic, Cow<'r, Row>);

impl Row {
    pub fn constant(value: Dyadic) -> Self {
        Self { bias: value, ..Self::default() }
    }

    pub fn variable(number: u32) -> Self {
        Self { terms: vec![(number, Dyadic::ONE)], ..Self::default() }
    }

    /// The value, if it is exactly known and depends on no variable.
    pub fn as_constant(&self) -> Option<Dyadic> {
        (self.terms.is_empty() && self.bias_error.is_zero()).then_some(self.bias)
    }

    /// `Σ weight · row`.
    ///
    /// The error of a coefficient of the sum is at most the sum of the errors of the products, each of them the weight
    /// times the error of the row. A coefficient that vanishes while it is known only up to an error may not vanish in
    /// the model.
    pub(super) fn combination<'r>(parts: impl IntoIterator<Item = Result<Part<'r>, Refused>>) -> Result<Self, Refused> {
        let (mut sum, mut terms) = (Self::default(), BTreeMap::new());
        for part in parts {
            let (weight, row) = part?;
            if !weight.is_zero() {
                sum.accumulate(&mut terms, weight, &row).ok_or_else(Refused::overflow)?;
            }
        }
        let count = terms.len();
        sum.terms = terms.into_iter().filter(|(_, coefficient)| !coefficient.is_zero()).collect();
        sum.terms.shrink_to_fit();
        let is_sure = sum.terms.len() == count || sum.term_error.is_zero();
        require(is_sure, "a coefficient vanishes, but is known only up to rounding")?;
        Ok(sum)
    }

    fn accumulate(&mut self, terms: &mut BTreeMap<u32, Dyadic>, weight: Dyadic, row: &Row) -> Option<()> {
        for &(variable, coefficient) in &row.terms {
            let sum = terms.entry(variable).or_default();
            *sum = sum.add(weight.mul(coefficient)?)?;
        }
        self.bias = self.bias.add(weight.mul(row.bias)?)?;
        self.term_error = self.term_error.add(weight.abs().mul(row.term_error)?)?;
        self.bias_error = self.bias_error.add(weight.abs().mul(row.bias_error)?)?;
        Some(())
    }

    /// The row divided by a number, `None` for zero, or by one that is larger by less than its 2^-62nd part. With
    /// `|c - c'| ≤ e` before, `|c/d - c'/d| ≤ e/|d|`, and that quotient may itself be rounded. Quotients have at least 64 bits
    /// or are exact, so that rounding them, too, and a larger divisor cost less than the 2^-60th part of the largest.
    pub(super) fn divided(&self, divisor: Dyadic, is_exact: bool) -> Option<Self> {
        let shrunk = |error: Dyadic| {
            let (quotient, rounding) = error.div(divisor.abs())?;
            quotient.add(rounding)
        };
        let divided = |value: Dyadic| {
            let (quotient, rounding) = value.div(divisor)?;
            let size = quotient.exponent.checked_add(bits(quotient.mantissa) as i32 - 60)?;
            Some((quotient, (!is_exact || !rounding.is_zero()).then_some(size)))
        };
        let off_by = |size: Option<i32>| size.map_or(Dyadic::ZERO, |exponent| Dyadic { mantissa: 1, exponent });
        let (bias, bias_size) = divided(self.bias)?;
        let (mut terms, mut size) = (Vec::with_capacity(self.terms.len()), None);
        for &(variable, coefficient) in &self.terms {
            let (quotient, own) = divided(coefficient)?;
            size = size.max(own);
            terms.push((variable, quotient));
        }
        let bias_error = shrunk(self.bias_error)?.add(off_by(bias_size))?;
        Some(Self { terms, bias, term_error: shrunk(self.term_error)?.add(off_by(size))?, bias_error })
    }
}
