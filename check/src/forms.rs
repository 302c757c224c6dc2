//! Symbolic intervals: for every neuron of a cell an affine function of the inputs below it, and one above.
//!
//! The box is lower + width·t with t in [0, 1]. As no t is negative, a form is moved down, or up, by rounding each of its
//! numbers so. Below, the ReLU of z is at least the lower form of z times 0 or 1. Above, with U ≥ z ≥ l and p = max(least U, l)
//! below 0, it is at most λ·U + d for any λ in [0, 1] and d ≥ max(−λp, (1 − λ)u): at the ends of [p, u] by the choice of d, between
//! them since the ReLU is convex, and where U exceeds u since z does not.

use crate::fixed::shift_down;
use crate::region::{Region, UNIT};
use crate::{Refused, refused};

/// The unit of forms is 2^−60, and slopes λ have so many bits.
const GRID: i32 = 60;
const BITS: u32 = 32;

/// A constant, then a slope for each input: below, and above.
type Pair = [Vec<i128>; 2];

/// Of the inputs, then of the neurons stage after stage.
pub struct Forms {
    pairs: Vec<Pair>,
}

impl Forms {
    pub fn new(region: &Region) -> Result<Forms, Refused> {
        let cube = &region.cube;
        let unit = |value: i64| shift_down(value.into(), GRID - cube.grid).ok_or_else(|| refused("a box is too large"));
        let mut pairs = Vec::with_capacity(region.net.starts[region.net.last()]);
        for i in 0..region.net.inputs {
            let mut form = vec![0; region.net.inputs + 1];
            (form[0], form[1 + i]) = (unit(cube.lower[i])?, unit(cube.upper[i] - cube.lower[i])?);
            // Both were rounded down, by less than a unit each.
            let above = form.iter().map(|&a| if a == 0 { 0 } else { a + 1 }).collect();
            pairs.push([form, above]);
        }
        Ok(Forms { pairs })
    }

    /// Adds the forms of a neuron before its ReLU, and returns its range in units of 2^−80.
    pub fn add(&mut self, region: &Region, stage: usize, neuron: usize) -> Result<(i128, i128), Refused> {
        let layer = &region.net.layers[stage];
        let (columns, weights) = layer.row(neuron);
        let mut pair: Pair = [vec![0; region.net.inputs + 1], vec![0; region.net.inputs + 1]];
        let mut size = 0i128;
        for (&column, &weight) in columns.iter().zip(weights) {
            let [below, above] = &self.pairs[column as usize];
            let (low, high) = if weight >= 0 { (below, above) } else { (above, below) };
            for (into, from) in pair.iter_mut().zip([low, high]) {
                into.iter_mut().zip(from).for_each(|(sum, a)| *sum += i128::from(weight) * a);
            }
            let largest = below.iter().chain(above).map(|a| a.abs()).sum::<i128>();
            size += i128::from(layer.error[neuron]) * largest;
        }
        let too_large = || refused("a form is too large");
        let [below, above] = &mut pair;
        (below[0], above[0]) = (below[0] - size, above[0] + size);
        for (below, above) in below.iter_mut().zip(&mut *above) {
            *below = shift_down(*below, -layer.scale).ok_or_else(too_large)?;
            *above = -shift_down(-*above, -layer.scale).ok_or_else(too_large)?;
        }
        let (low, high) = layer.bias[neuron];
        below[0] += shift_down(low.into(), GRID - layer.bias_scale).ok_or_else(too_large)?;
        above[0] -= shift_down(-i128::from(high), GRID - layer.bias_scale).ok_or_else(too_large)?;
        let range = (least(below), greatest(above));
        self.pairs.push(pair);
        let unit = |value: i128| shift_down(value, UNIT - GRID).ok_or_else(too_large);
        Ok((unit(range.0)?, unit(range.1)?))
    }

    /// Replaces the forms of the last neurons by those of their ReLUs, by the bounds of the region.
    pub fn relax(&mut self, region: &Region, stage: usize) -> Result<(), Refused> {
        for (variable, pair) in self.pairs.iter_mut().enumerate().skip(region.net.starts[stage]) {
            let (l, u) = region.of(variable - region.net.inputs);
            let end =
                |end: i64| shift_down(end.into(), GRID - region.table.grid[stage]).ok_or_else(|| refused("too large"));
            let (l, u) = (end(l)?, -end(-u)?);
            let [below, above] = pair;
            if u <= 0 {
                below.fill(0);
                above.fill(0);
            } else if l < 0 {
                if greatest(below) <= -least(below) {
                    below.fill(0);
                }
                let p = least(above).max(l);
                if p < 0 {
                    let slope = (u << BITS) / (u - p);
                    above.iter_mut().for_each(|a| *a = -((-*a * slope) >> BITS));
                    let lift = (-p * slope).max(((1 << BITS) - slope) * u);
                    above[0] -= (-lift) >> BITS;
                }
            }
        }
        Ok(())
    }
}

fn least(form: &[i128]) -> i128 {
    form[0] + form[1..].iter().map(|&a| a.min(0)).sum::<i128>()
}

fn greatest(form: &[i128]) -> i128 {
    form[0] + form[1..].iter().map(|&a| a.max(0)).sum::<i128>()
}
