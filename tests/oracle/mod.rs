//! The brute-force oracle: what a tiny ReLU network does on a bounded polytope, decided in exact rational arithmetic.
//!
//! With every phase fixed the network is affine in its input, so the region falls into cells, one polytope per
//! phase pattern, on which every question here is answered by looking at vertices. [`phases`] enumerates the
//! cells, [`polytope`] cuts them, and each answer that is a point is replayed by [`eval_exact`], which shares no
//! arithmetic with either. Cost grows with the number of cells: meant for a few inputs and a dozen ReLUs.
//!
//! Arguments come from tests, so a malformed one (ragged weights, a NaN, an unequal length) panics.

mod phases;
mod polytope;
#[cfg(test)]
mod tests;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use phases::Phases;
use polytope::Polytope;
use std::ops::ControlFlow;

/// z = W·h + b. A network is a slice of layers with a ReLU between one and the next; no layers is the identity.
#[derive(Clone, Debug)]
pub struct Layer {
    pub weights: Vec<Vec<f32>>,
    pub bias: Vec<f32>,
}

/// The affine form `input`·x + `output`·y + `constant`; an empty coefficient vector is a vector of zeros.
#[derive(Clone, Debug, Default)]
pub struct Linear {
    pub input: Vec<BigRational>,
    pub output: Vec<BigRational>,
    pub constant: BigRational,
}

/// `form` ≤ 0, or `form` < 0 when strict.
#[derive(Clone, Debug)]
pub struct Row {
    pub form: Linear,
    pub strict: bool,
}

/// The inputs with `lower` ≤ x ≤ `upper` and every one of `rows` ≤ 0; the rows read the input only.
#[derive(Clone, Debug)]
pub struct Region {
    pub lower: Vec<BigRational>,
    pub upper: Vec<BigRational>,
    pub rows: Vec<Linear>,
}

/// The rational that `value` denotes, exactly.
pub fn exact(value: f32) -> BigRational {
    BigRational::from_float(value).expect("weights and biases are finite")
}

/// The output of `net` at `x` over the rationals: the definition, which every witness of this module is held to.
pub fn eval_exact(net: &[Layer], x: &[BigRational]) -> Vec<BigRational> {
    let mut values = x.to_vec();
    for (depth, layer) in net.iter().enumerate() {
        if depth > 0 {
            values = values.into_iter().map(|z| if z.is_negative() { BigRational::zero() } else { z }).collect();
        }
        assert_eq!(layer.weights.len(), layer.bias.len(), "layer {depth}: one bias per row of weights");
        let row = |(weights, bias): (&Vec<f32>, &f32)| {
            assert_eq!(weights.len(), values.len(), "layer {depth}: one weight per input");
            weights.iter().zip(&values).map(|(&w, h)| exact(w) * h).sum::<BigRational>() + exact(*bias)
        };
        values = layer.weights.iter().zip(&layer.bias).map(row).collect();
    }
    values
}

/// An input of `region` at which all `rows` hold, or `None` if there is none.
///
/// Sound in both directions. A point is returned only after it was replayed on the definitions. `None` means that
/// in every cell the closed rows leave nothing, or leave a polytope on all of which some strict row is zero:
/// otherwise each strict row is negative at some vertex and positive at none, hence negative at the vertices' mean.
pub fn satisfying_input(net: &[Layer], region: &Region, rows: &[Row]) -> Option<Vec<BigRational>> {
    let phases = Phases::new(net, region.lower.len());
    let found = phases.each_cell(region_polytope(region)?, |cell, outputs| {
        let integral: Vec<_> = rows.iter().map(|row| phases.compose(&row.form, outputs).numerators).collect();
        let Some(cell) = at_most_all(cell, integral.iter().cloned()) else { return ControlFlow::Continue(()) };
        let attained = |row: &[BigInt]| cell.values(row).iter().any(Signed::is_negative);
        let strict = rows.iter().zip(&integral).filter(|(row, _)| row.strict);
        if strict.into_iter().all(|(_, numerators)| attained(numerators)) {
            ControlFlow::Break(cell.centre())
        } else {
            ControlFlow::Continue(())
        }
    });
    let x = found?;
    assert!(region.contains(&x), "the oracle left its region");
    let y = eval_exact(net, &x);
    assert!(rows.iter().all(|row| row.holds(&x, &y)), "the oracle's point does not satisfy the rows");
    Some(x)
}

/// The exact minimum of `objective` over `region`, or `None` if the region is empty.
pub fn exact_minimum(net: &[Layer], region: &Region, objective: &Linear) -> Option<BigRational> {
    exact_minimum_where(net, region, &[], objective)
}

/// The exact minimum of `objective` over the inputs of `region` at which every row is at most 0, strict or not; `None`
/// if there are no such inputs.
///
/// Sound: an affine form attains its minimum over a part of a cell at a vertex, and the parts cover what is asked for.
/// That the minimum is attained is replayed on the definitions.
pub fn exact_minimum_where(net: &[Layer], region: &Region, rows: &[Row], objective: &Linear) -> Option<BigRational> {
    let phases = Phases::new(net, region.lower.len());
    let mut best: Option<(BigRational, Vec<BigRational>)> = None;
    let _: Option<()> = phases.each_cell(region_polytope(region)?, |cell, outputs| {
        let rows = rows.iter().map(|row| phases.compose(&row.form, outputs).numerators);
        if let Some(part) = at_most_all(cell, rows) {
            let row = phases.compose(objective, outputs);
            let (value, x) = part.minimum(&row.numerators);
            let value = value / row.denominator;
            if best.as_ref().is_none_or(|(least, _)| value < *least) {
                best = Some((value, x));
            }
        }
        ControlFlow::Continue(())
    });
    let (value, x) = best?;
    let y = eval_exact(net, &x);
    assert!(region.contains(&x), "the oracle left its region");
    assert!(rows.iter().all(|row| !row.form.at(&x, &y).is_positive()), "the oracle's point does not satisfy the rows");
    assert_eq!(objective.at(&x, &y), value, "the minimum is not attained");
    Some(value)
}

/// The part of the cell where all rows are at most 0.
fn at_most_all(cell: &Polytope, mut rows: impl Iterator<Item = Vec<BigInt>>) -> Option<Polytope> {
    rows.try_fold(cell.clone(), |part, row| part.at_most(&row))
}

/// The region as a polytope; `None` if it is empty.
fn region_polytope(region: &Region) -> Option<Polytope> {
    region.rows.iter().try_fold(Polytope::from_box(&region.lower, &region.upper)?, |polytope, row| {
        assert!(row.output.is_empty(), "a region's rows read the input only");
        let zeros = || vec![BigRational::zero(); region.lower.len()];
        let input = if row.input.is_empty() { zeros() } else { row.input.clone() };
        assert_eq!(input.len(), region.lower.len(), "a region's row has one coefficient per input");
        let row: Vec<_> = std::iter::once(row.constant.clone()).chain(input).collect();
        polytope.at_most(&integral(&row).0)
    })
}

/// `values` times the least positive integer that makes them integral, and that integer.
fn integral(values: &[BigRational]) -> (Vec<BigInt>, BigInt) {
    let unit = values.iter().fold(BigInt::one(), |unit, value| unit.lcm(value.denom()));
    (values.iter().map(|value| value.numer() * (&unit / value.denom())).collect(), unit)
}

impl Linear {
    /// The form's value at input `x` and output `y`.
    pub fn at(&self, x: &[BigRational], y: &[BigRational]) -> BigRational {
        let dot = |a: &[BigRational], b: &[BigRational]| -> BigRational {
            assert!(a.is_empty() || a.len() == b.len(), "one coefficient per variable");
            a.iter().zip(b).map(|(a, b)| a * b).sum()
        };
        dot(&self.input, x) + dot(&self.output, y) + &self.constant
    }
}

impl Row {
    /// Whether the row holds at input `x` and output `y`.
    pub fn holds(&self, x: &[BigRational], y: &[BigRational]) -> bool {
        let value = self.form.at(x, y);
        value.is_negative() || value.is_zero() && !self.strict
    }
}

impl Region {
    /// Whether `x` lies in the region.
    pub fn contains(&self, x: &[BigRational]) -> bool {
        x.len() == self.lower.len()
            && x.iter().zip(&self.lower).all(|(x, lower)| lower <= x)
            && x.iter().zip(&self.upper).all(|(x, upper)| x <= upper)
            && self.rows.iter().all(|row| !row.at(x, &[]).is_positive())
    }
}
