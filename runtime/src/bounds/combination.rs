//! Combinations of rows: no point has all rows of a conjunction at most 0 where one combination of them, with weights γ ≥ 0,
//! is positive.
//!
//! The weights are multipliers like the others: they belong to a node, and the combination is formed in float32 for every
//! pass. What that costs is known for each row in advance. A coefficient of the combination is a sum of one product for each
//! row, off by at most its roundings relative to Σ γ|c| and by the underflow of its products. Both are charged at the largest
//! activations, the first from the rows' sizes Σ|c|·h and the second from Σh. What each row is charged for its coefficients'
//! way back is at most half of them, so that Σ γ·error charges it for Σ γ|c|; the coefficients that are used may be larger by
//! what they are rounded by, for which every rounding is counted twice.

use super::compact::Compact;
use super::rows::Objective32;
use super::table::Bounds;
use pg_core::rounding::{Sum, at_most, sum_error_32, underflow_error_32};

/// What is bounded from below at a node.
#[derive(Clone, Copy, Debug)]
pub enum Bounded<'r> {
    Row(&'r Objective32),
    /// The rows with the node's weights.
    Combination(&'r Conjunction),
}

impl<'r> From<&'r Objective32> for Bounded<'r> {
    fn from(row: &'r Objective32) -> Bounded<'r> {
        Bounded::Row(row)
    }
}

impl<'r> From<&'r Conjunction> for Bounded<'r> {
    fn from(conjunction: &'r Conjunction) -> Bounded<'r> {
        Bounded::Combination(conjunction)
    }
}

impl<'r> Bounded<'r> {
    /// The rows that it is made of.
    pub fn rows(self) -> &'r [Objective32] {
        match self {
            Bounded::Row(row) => std::slice::from_ref(row),
            Bounded::Combination(conjunction) => &conjunction.rows,
        }
    }
}

/// Rows on one compact network, and what combining them may cost.
#[derive(Clone, Debug)]
pub struct Conjunction {
    rows: Vec<Objective32>,
    /// For each row, the magnitudes of its coefficients at the largest activations, rounded up.
    sizes: Vec<f64>,
    /// The largest activations of all that the rows may read, rounded up.
    reach: f64,
}

impl Conjunction {
    pub fn new(compact: &Compact, rows: Vec<Objective32>, bounds: &Bounds) -> Conjunction {
        let terms = compact.width + compact.inputs();
        let sizes = rows.iter().map(|row| at_most(compact.sizes(row, bounds).into_iter().sum(), 2 * terms)).collect();
        let reach = at_most(compact.reach(bounds), terms);
        Conjunction { rows, sizes, reach }
    }

    pub fn rows(&self) -> &[Objective32] {
        &self.rows
    }

    /// The constant of the combination, with all that its coefficients may be off by.
    pub fn constant(&self, weights: &[f32]) -> Sum {
        assert_eq!(weights.len(), self.rows.len());
        assert!(weights.iter().all(|&weight| weight >= 0.0), "a combination with a weight that is not positive or 0");
        let (count, mut error) = (self.rows.len(), 0.0);
        let (mut value, mut magnitude, mut size) = (0.0, 0.0, 0.0);
        for ((row, &own), &weight) in
            self.rows.iter().zip(&self.sizes).zip(weights).filter(|(_, weight)| **weight > 0.0)
        {
            let weight = f64::from(weight);
            let term = weight * row.constant;
            (value, magnitude) = (value + term, magnitude + term.abs());
            (error, size) = (error + weight * row.error, size + weight * own);
        }
        let rounding = sum_error_32(2 * count, size) + underflow_error_32(2 * count, self.reach);
        let mut sum = Sum::new(0.0, at_most(error + rounding, 4 * count + 8));
        sum.add(value, magnitude, count);
        sum
    }

    /// The coefficients of what the target reads, the given one of its sources.
    pub fn coefficients(&self, source: usize, weights: &[f32], into: &mut [f32]) {
        combine(self.rows.iter().map(|row| Some(&*row.mu[source])), weights, into);
    }

    /// The coefficients of the box, if a row has any.
    pub fn inputs(&self, weights: &[f32], into: &mut [f32]) {
        if self.rows.iter().any(|row| row.x.is_some()) {
            combine(self.rows.iter().map(|row| row.x.as_deref()), weights, into);
        }
    }
}

/// The sum of rows with weights. One of weight 0 is left out, infinite coefficients and all: it is no part of the combination.
fn combine<'r>(rows: impl Iterator<Item = Option<&'r [f32]>>, weights: &[f32], into: &mut [f32]) {
    into.fill(0.0);
    for (row, &weight) in rows.zip(weights).filter(|(_, weight)| **weight > 0.0) {
        for (to, &from) in into.iter_mut().zip(row.unwrap_or_default()) {
            *to += weight * from;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mu: [f32; 2], constant: f64, error: f64) -> Objective32 {
        Objective32 { mu: vec![mu.to_vec()], x: None, constant, error }
    }

    fn conjunction() -> Conjunction {
        let rows = vec![row([1.0, -2.0], 3.0, 0.5), row([f32::INFINITY, 0.25], -1.0, f64::INFINITY)];
        Conjunction { rows, sizes: vec![3.0, f64::INFINITY], reach: 2.0 }
    }

    #[test]
    fn a_row_without_weight_is_no_part() {
        let (conjunction, mut mu) = (conjunction(), [9.0; 2]);
        conjunction.coefficients(0, &[0.5, 0.0], &mut mu);
        assert_eq!(mu, [0.5, -1.0]);
        let bound = conjunction.constant(&[0.5, 0.0]).lower();
        assert!(bound < 1.25 && bound > 1.249_999, "{bound}");
        assert_eq!(conjunction.constant(&[0.5, 0.5]).lower(), f64::NEG_INFINITY);
    }

    /// Rows that nearly cancel, at any size: the coefficients' distance from the exact ones, at the largest activations, is
    /// charged. Products of float32 numbers and sums of two of them are exact in float64, or nearly.
    #[test]
    fn what_coefficients_are_rounded_by_is_charged() {
        let mut state = 1u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            0.5 + f32::from((state >> 16) as u16) / 65_536.0
        };
        for case in 0..1000 {
            let scale = [1.0, 1e-20, 1e-38, 1e-44][case % 4];
            let (a, b) = ([draw(), -draw()], draw());
            let weights = [scale * draw(), scale * draw()];
            let ratio = weights[0] / weights[1];
            let rows = vec![row(a, 0.0, 0.0), row([-a[0] * ratio, b], 0.0, 0.0)];
            let largest = [1.0 / f64::from(scale), 2.0];
            let size = |row: &Objective32| (0..2).map(|i| f64::from(row.mu[0][i]).abs() * largest[i]).sum::<f64>();
            let (sizes, reach) = (rows.iter().map(size).collect(), largest.iter().sum());
            let conjunction = Conjunction { rows, sizes, reach };
            let mut mu = [0.0; 2];
            conjunction.coefficients(0, &weights, &mut mu);
            let exact = |i: usize| -> f64 {
                let products = conjunction.rows.iter().zip(weights);
                products.map(|(row, weight)| f64::from(row.mu[0][i]) * f64::from(weight)).sum()
            };
            let off: f64 = (0..2).map(|i| (f64::from(mu[i]) - exact(i)).abs() * largest[i]).sum();
            let charged = -conjunction.constant(&weights).lower();
            assert!(off <= charged && charged < 1e-4 + 1e-4 * reach, "case {case}: {off} of {charged}");
        }
    }

    #[test]
    #[should_panic(expected = "not positive")]
    fn no_weight_is_negative() {
        conjunction().constant(&[1.0, -0.1]);
    }

    #[test]
    #[should_panic(expected = "not positive")]
    fn every_weight_is_a_number() {
        conjunction().constant(&[1.0, f32::NAN]);
    }
}
