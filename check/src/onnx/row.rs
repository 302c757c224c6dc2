//! Affine forms of the variables of a network.
//!
//! Composition is exact or refused. Only a division that does not come out even is rounded, and the row says how far
//! the model's own may lie from it.

use crate::{Dyadic, Refused, bits, require};
/// `bias + Σ coefficient · variable`, the terms ascending by variable and none with the coefficient zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    pub terms: Vec<(u32, Dyadic)>,
    pub bias: Dyadic,
    /// The model's bias and coefficients differ from those here by at most this, and are zero where there is none here.
    pub error: Dyadic,
}

impl Row {
    pub fn constant(value: Dyadic) -> Self {
        Self { bias: value, ..Self::default() }
    }

    pub fn variable(number: u32) -> Self {
        Self { terms: vec![(number, Dyadic::ONE)], ..Self::default() }
    }

    /// `Σ weight · row`.
    ///
    /// The error of a coefficient of the sum is at most the sum of the errors of the products, each of them the weight
    /// times the error of the row. A coefficient that vanishes while it is known only up to an error may not vanish in
    /// the model.
    pub(super) fn combination<'r>(parts: impl IntoIterator<Item = (Dyadic, &'r Row)>) -> Result<Self, Refused> {
        let parts = parts.into_iter();
        let (mut sum, mut terms) = (Self::default(), Vec::with_capacity(parts.size_hint().0));
        for (weight, row) in parts.filter(|(weight, _)| !weight.is_zero()) {
            sum.accumulate(&mut terms, weight, row).ok_or_else(Refused::overflow)?;
        }
        terms.sort_by_key(|term| term.0);
        sum.terms.reserve(terms.len());
        for same in terms.chunk_by(|a, b| a.0 == b.0) {
            let total =
                same.iter().try_fold(Dyadic::ZERO, |sum, term| sum.add(term.1)).ok_or_else(Refused::overflow)?;
            let is_sure = !total.is_zero() || sum.error.is_zero();
            require(is_sure, "a coefficient vanishes, but is known only up to rounding")?;
            sum.terms.extend((!total.is_zero()).then_some((same[0].0, total)));
        }
        sum.terms.shrink_to_fit();
        Ok(sum)
    }

    fn accumulate(&mut self, terms: &mut Vec<(u32, Dyadic)>, weight: Dyadic, row: &Row) -> Option<()> {
        for &(variable, coefficient) in &row.terms {
            terms.push((variable, weight.mul(coefficient)?));
        }
        self.bias = self.bias.add(weight.mul(row.bias)?)?;
        self.error = self.error.add(weight.abs().mul(row.error)?)?;
        Some(())
    }

    /// The row divided by a number, `None` for zero, or by one that is larger by less than its 2^-62nd part. With
    /// `|c - c'| ≤ e` before, `|c/d - c'/d| ≤ e/|d|`, and that quotient may itself be rounded. Quotients have at least 64 bits
    /// or are exact, so that rounding them, too, and a larger divisor cost less than the 2^-60th part of the largest.
    pub(super) fn divided(&self, divisor: Dyadic, is_exact: bool) -> Option<Self> {
        let mut size = None;
        let mut divided = |value: Dyadic| {
            let (quotient, rounding) = value.div(divisor)?;
            if !(value.is_zero() || is_exact && rounding.is_zero()) {
                size = size.max(Some(quotient.exponent.checked_add(bits(quotient.mantissa) as i32 - 60)?));
            }
            Some(quotient)
        };
        let bias = divided(self.bias)?;
        let quotients = self.terms.iter().map(|&(variable, coefficient)| Some((variable, divided(coefficient)?)));
        let terms = quotients.collect::<Option<_>>()?;
        let (quotient, rounding) = self.error.div(divisor.abs())?;
        let own = size.map_or(Dyadic::ZERO, |exponent| Dyadic { mantissa: 1, exponent });
        Some(Self { terms, bias, error: quotient.add(rounding)?.add(own)? })
    }
}
