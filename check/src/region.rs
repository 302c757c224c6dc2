//! A region: a box of inputs, and bounds of every hidden neuron on it.
//!
//! Everything is an integer times a power of two. The box is rounded outward to 48 bits, and so are bounds, which begin as
//! what intervals say: each neuron's range from the ranges of what it reads.

use crate::fixed::{Fixed, shift_down};
use crate::number::{Dyadic, Ratio};
use crate::{Refused, refused};

/// The unit of sums: 2^−80.
pub const UNIT: i32 = 80;
/// Bits of the largest end of a box, and of the largest bound of a stage.
const BOX_BITS: i32 = 48;
const BOUND_BITS: i32 = 56;
/// The finest units of a box or of bounds.
const FINEST: i32 = 76;

/// A box of inputs, in units of 2^−grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Cube {
    pub grid: i32,
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
}

/// Bounds of the hidden neurons, stage by stage, in units of 2^−grid of the stage.
#[derive(Clone)]
pub struct Table {
    pub grid: Vec<i32>,
    pub lower: Vec<i64>,
    pub upper: Vec<i64>,
}

#[derive(Clone)]
pub struct Region<'n> {
    pub net: &'n Fixed,
    pub cube: Cube,
    pub table: Table,
}

impl Cube {
    /// Around the exact box.
    pub fn new(lower: &[Ratio], upper: &[Ratio]) -> Result<Cube, Refused> {
        let fits = |grid: i32, end: &Ratio| {
            let ends = end.floor_scaled(grid).zip(end.ceil_scaled(grid));
            ends.is_some_and(|(low, high)| low.unsigned_abs().max(high.unsigned_abs()) >> BOX_BITS == 0)
        };
        let all_fit = |grid: &i32| lower.iter().chain(upper).all(|end| fits(*grid, end));
        let grid = (-FINEST..=FINEST).rev().find(all_fit).ok_or_else(|| refused("the box of inputs is too large"))?;
        let small = |end: Option<i128>| {
            end.and_then(|end| i64::try_from(end).ok()).ok_or_else(|| refused("the box of inputs is too large"))
        };
        Ok(Cube {
            grid,
            lower: lower.iter().map(|end| small(end.floor_scaled(grid))).collect::<Result<_, _>>()?,
            upper: upper.iter().map(|end| small(end.ceil_scaled(grid))).collect::<Result<_, _>>()?,
        })
    }

    /// The larger magnitude of an input's ends.
    pub fn size(&self, input: usize) -> i64 {
        self.lower[input].abs().max(self.upper[input].abs())
    }
}

impl<'n> Region<'n> {
    /// With what intervals say of every hidden neuron.
    pub fn new(net: &'n Fixed, cube: Cube) -> Result<Region<'n>, Refused> {
        let table = Table { grid: vec![], lower: vec![], upper: vec![] };
        let mut region = Region { net, cube, table };
        for stage in 0..net.last() {
            let mut ranges = Vec::with_capacity(net.layers[stage].width());
            for neuron in 0..net.layers[stage].width() {
                ranges.push(region.interval(stage, neuron)?);
            }
            let bits = |end: i128| 128 - end.unsigned_abs().leading_zeros() as i32;
            let most = ranges.iter().map(|&(low, high)| bits(low).max(bits(high))).max().unwrap_or(0);
            let grid = (UNIT + BOUND_BITS - most).min(FINEST);
            region.table.grid.push(grid);
            for (low, high) in ranges {
                region.table.lower.push(outward(low, grid - UNIT)?);
                region.table.upper.push(-outward(-high, grid - UNIT)?);
            }
        }
        Ok(region)
    }

    /// The range of a neuron, in units of 2^−80, by the ranges of what it reads.
    ///
    /// Products of weights of 49 bits and ends of at most 57 bits leave room for 2²¹ of them.
    pub fn interval(&self, stage: usize, neuron: usize) -> Result<(i128, i128), Refused> {
        let layer = &self.net.layers[stage];
        let (columns, weights) = layer.row(neuron);
        let (bias_low, bias_high) = layer.bias[neuron];
        let (mut low, mut negated) = (Total::default(), Total::default());
        low.add(bias_low.into(), layer.bias_scale)?;
        negated.add(-i128::from(bias_high), layer.bias_scale)?;
        for (source, terms) in layer.parts(neuron) {
            let (mut least, mut most, mut size) = (0i128, 0i128, 0i128);
            for (&column, &weight) in columns[terms.clone()].iter().zip(&weights[terms.clone()]) {
                let (from, to) = self.range(column as usize);
                let (a, b) = (i128::from(weight) * i128::from(from), i128::from(weight) * i128::from(to));
                least += a.min(b);
                most += a.max(b);
                size += i128::from(from.abs().max(to.abs()));
            }
            let error = i128::from(layer.error[neuron]) * size;
            let exponent = layer.scale + self.grid(*source);
            low.add(least - error, exponent)?;
            negated.add(-(most + error), exponent)?;
        }
        Ok((low.0, -negated.0))
    }

    /// The units of a source: the inputs, or a stage.
    pub fn grid(&self, source: Option<usize>) -> i32 {
        source.map_or(self.cube.grid, |stage| self.table.grid[stage])
    }

    /// The range of a variable, an input or an activation.
    pub fn range(&self, variable: usize) -> (i64, i64) {
        match variable.checked_sub(self.net.inputs) {
            None => (self.cube.lower[variable], self.cube.upper[variable]),
            Some(neuron) => (self.table.lower[neuron].max(0), self.table.upper[neuron].max(0)),
        }
    }

    /// Bounds of a hidden neuron, counted through all stages.
    pub fn of(&self, neuron: usize) -> (i64, i64) {
        (self.table.lower[neuron], self.table.upper[neuron])
    }

    /// Sets a side of a neuron's bounds to a proved value: `z ≥ value`, or `−z ≥ value`. It may have been known better; but
    /// multipliers depend on bounds, and those of the file were found with this one.
    pub fn set(&mut self, stage: usize, neuron: usize, is_upper: bool, value: &Dyadic) -> Result<(), Refused> {
        let at = self.net.starts[stage] - self.net.inputs + neuron;
        let scaled = outward(value.mantissa, value.exponent.saturating_add(self.table.grid[stage]))?;
        *(if is_upper { &mut self.table.upper[at] } else { &mut self.table.lower[at] }) =
            if is_upper { -scaled } else { scaled };
        Ok(())
    }

    /// Moves a side to a proved value, in units of 2^−80, if that is tighter.
    pub fn tighten(&mut self, stage: usize, neuron: usize, is_upper: bool, bound: i128) -> Result<(), Refused> {
        let at = self.net.starts[stage] - self.net.inputs + neuron;
        let scaled = outward(bound, self.table.grid[stage] - UNIT)?;
        if is_upper {
            self.table.upper[at] = self.table.upper[at].min(-scaled);
        } else {
            self.table.lower[at] = self.table.lower[at].max(scaled);
        }
        Ok(())
    }
}

/// ⌊value·2^by⌋ as a bound.
fn outward(value: i128, by: i32) -> Result<i64, Refused> {
    let shifted = shift_down(value, by).and_then(|value| i64::try_from(value).ok());
    shifted.filter(|end| end.unsigned_abs() >> (BOUND_BITS + 1) == 0).ok_or_else(|| refused("a bound is too large"))
}

/// A lower bound of a sum, in units of 2^−80: each term is rounded down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total(pub i128);

impl Total {
    /// Adds value·2^−exponent.
    pub fn add(&mut self, value: i128, exponent: i32) -> Result<(), Refused> {
        let term = shift_down(value, UNIT.saturating_sub(exponent));
        self.0 = term.and_then(|term| self.0.checked_add(term)).ok_or_else(|| refused("a sum is too large"))?;
        Ok(())
    }
}
