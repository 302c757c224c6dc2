//! Sums of products of two operands of which at most one is computed: matrix products and convolutions.

use super::Reading;
use crate::affine::{Affine, Matrix, Row};
use crate::approx::Approx;

/// Entry `o` of the output is `alpha` times the sum of `a[i]·b[j]` over all `(i, j)` of `terms(o)`, in which no entry
/// of a computed operand repeats.
pub fn bilinear<I: Iterator<Item = (usize, usize)>>(
    a: &Reading,
    b: &Reading,
    alpha: Approx,
    outputs: usize,
    terms: impl Fn(usize) -> I,
) -> Result<Affine, String> {
    let linear = |cols: usize, coefficient: &dyn Fn((usize, usize)) -> (usize, Approx)| Affine {
        matrices: vec![Matrix { cols, rows: (0..outputs).map(|o| row(terms(o).map(coefficient))).collect() }],
        bias: vec![Approx::exact(0.0); outputs],
    };
    match (a.constant, b.constant) {
        (None, None) => Err("a product of two computed values is not affine".into()),
        (None, Some(w)) => Ok(linear(a.len(), &|(x, c)| (x, alpha * w.data[c]))),
        (Some(w), None) => Ok(linear(b.len(), &|(c, x)| (x, alpha * w.data[c]))),
        (Some(v), Some(w)) => {
            let dot = |o| terms(o).fold(Approx::exact(0.0), |sum, (i, j)| sum + v.data[i] * w.data[j]);
            Ok(Affine { matrices: vec![], bias: (0..outputs).map(|o| alpha * dot(o)).collect() })
        }
    }
}

/// Coefficients of distinct columns as a row.
pub fn row(coefficients: impl Iterator<Item = (usize, Approx)>) -> Row {
    let mut row: Row = coefficients.filter(|(_, v)| !v.is_absent()).map(|(j, v)| (j as u32, v)).collect();
    row.sort_unstable_by_key(|&(j, _)| j);
    row
}
