//! Affine forms of the variables of a network.
//!
//! Composition is exact as long as numbers fit. Where they do not, and where a division does not come out even, the
//! result is rounded and the row says how far the model's own may lie from it.

use crate::number::Dyadic;
use crate::{Refused, refuse};

use super::tensor::MAX_TERMS;

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
    /// times the error of the row plus its own rounding. The roundings of all coefficients are added up, which bounds
    /// those of each.
    pub fn combination<'a>(parts: impl IntoIterator<Item = (Dyadic, &'a Row)>) -> Result<Self, Refused> {
        let mut sum = Self::default();
        for (weight, row) in parts {
            if weight.is_zero() {
                continue;
            }
            if sum.terms.len().saturating_add(row.terms.len()) > MAX_TERMS {
                return refuse(format!("an affine form is a sum of more than {MAX_TERMS} products"));
            }
            sum.accumulate(weight, row).ok_or_else(Refused::overflow)?;
        }
        sum.terms.sort_unstable_by_key(|term| term.0);
        sum.merge()
    }

    fn accumulate(&mut self, weight: Dyadic, row: &Row) -> Option<()> {
        for &(variable, coefficient) in &row.terms {
            let (product, error) = weight.mul_near(coefficient)?;
            self.term_error = self.term_error.add_up(error)?;
            self.terms.push((variable, product));
        }
        let (product, product_error) = weight.mul_near(row.bias)?;
        let (bias, sum_error) = self.bias.add_near(product)?;
        self.bias = bias;
        let rounding = product_error.add_up(sum_error)?;
        self.bias_error = self.bias_error.add_up(rounding)?.add_up(weight.mul_up(row.bias_error)?)?;
        self.term_error = self.term_error.add_up(weight.mul_up(row.term_error)?)?;
        Some(())
    }

    /// Adds up the terms of the same variable, which stand side by side, and drops those that vanish. One that vanishes
    /// while coefficients are known only up to an error may not vanish in the model.
    fn merge(mut self) -> Result<Self, Refused> {
        let mut merged: Vec<(u32, Dyadic)> = Vec::with_capacity(self.terms.len());
        for (variable, coefficient) in self.terms {
            match merged.last_mut().filter(|last| last.0 == variable) {
                None => merged.push((variable, coefficient)),
                Some(last) => {
                    let (sum, error) = last.1.add_near(coefficient).ok_or_else(Refused::overflow)?;
                    last.1 = sum;
                    self.term_error = self.term_error.add_up(error).ok_or_else(Refused::overflow)?;
                }
            }
        }
        let terms = merged.len();
        merged.retain(|term| !term.1.is_zero());
        if merged.len() < terms && !self.term_error.is_zero() {
            return refuse("a coefficient vanishes, but is known only up to rounding");
        }
        if merged.is_empty() {
            self.term_error = Dyadic::ZERO;
        }
        merged.shrink_to_fit();
        Ok(Self { terms: merged, ..self })
    }

    /// The row divided by a number. With `|c - c'| ≤ e` before, `|c/d - c'/d| ≤ e/|d|`, and the rounding of the quotients
    /// comes on top: that of `e/|d|` itself, too.
    pub fn divided(&self, divisor: Dyadic) -> Result<Self, Refused> {
        if divisor.is_zero() {
            return refuse("it divides by zero");
        }
        self.quotient(divisor).ok_or_else(Refused::overflow)
    }

    fn quotient(&self, divisor: Dyadic) -> Option<Self> {
        let shrunk = |error: Dyadic| {
            let (quotient, rounding) = error.div_near(divisor)?;
            quotient.add_up(rounding)
        };
        let (bias, rounding) = self.bias.div_near(divisor)?;
        let bias_error = shrunk(self.bias_error)?.add_up(rounding)?;
        let (mut terms, mut term_error) = (Vec::with_capacity(self.terms.len()), shrunk(self.term_error)?);
        for &(variable, coefficient) in &self.terms {
            let (quotient, rounding) = coefficient.div_near(divisor)?;
            term_error = term_error.add_up(rounding)?;
            terms.push((variable, quotient));
        }
        let is_whole = terms.iter().all(|term| !term.1.is_zero());
        is_whole.then_some(Self { terms, bias, term_error, bias_error })
    }
}
