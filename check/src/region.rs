//! A region: a box of inputs, and bounds of every hidden neuron on it.
//!
//! Everything is an integer times a power of two. The box is rounded outward to 48 bits, and so are bounds, which begin as
//! what intervals say: each neuron's range from the ranges of what it reads.

use crate::{
    Bounder, Conditions, Fixed, Hull, Inequality, ROUNDING, Ratio, Refused, Rule, Start, bits, refused, shift_down,
    small,
};
use std::rc::Rc;

/// The unit of sums: 2^−80.
pub const UNIT: i32 = 80;
/// Bits of the largest end of a box, and of the largest bound of a stage.
const BOX_BITS: u32 = 48;
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

#[derive(Clone)]
pub struct Region<'n> {
    pub net: &'n Fixed,
    pub cube: Cube,
    /// The units are powers of two: of the box, minus the first of these; of the bounds of stage k, minus the one at k + 1.
    pub grids: Vec<i32>,
    /// Bounds of the hidden neurons' sides: those of z, and of −z, from below.
    pub sides: Vec<[i64; 2]>,
    /// What each neuron, the output's too, may be off by from its row, in units of 2^−80, by bounds that hold on all of the region; and
    /// of how many stages that is by the bounds of now.
    pub off: Vec<i128>,
    pub fresh: usize,
    /// None if no neuron is spread over the inputs.
    pub hull: Option<Rc<Hull>>,
    /// A stage whose neurons have no multipliers: what is behind it is bounded by its neurons' bounds.
    pub base: Option<usize>,
    /// What two neurons of a stage can be together.
    pub planes: Rc<Vec<(usize, Inequality)>>,
    /// What the counterexamples meet that the bounds are about; none if they are about all inputs.
    pub conditions: Option<Rc<Conditions>>,
    /// That inequalities contradict the bounds.
    pub is_void: bool,
    /// How many nodes of a tree are above it.
    pub depth: usize,
}

impl Cube {
    /// Around the exact box.
    pub fn new(lower: &[Ratio], upper: &[Ratio]) -> Result<Cube, Refused> {
        let fits = |grid: i32, end: &Ratio| {
            let ends = end.floor_scaled(grid).zip(end.ceil_scaled(grid));
            ends.is_some_and(|(low, high)| bits(low).max(bits(high)) <= BOX_BITS)
        };
        let all_fit = |grid: &i32| lower.iter().chain(upper).all(|end| fits(*grid, end));
        let grid = (-FINEST..=FINEST).rev().find(all_fit).ok_or_else(|| refused("the box of inputs is too large"))?;
        let lower = lower.iter().map(|end| small(end.floor_scaled(grid))).collect::<Result<_, _>>()?;
        let upper = upper.iter().map(|end| small(end.ceil_scaled(grid))).collect::<Result<_, _>>()?;
        Ok(Cube { grid, lower, upper })
    }

    /// The larger magnitudes of the inputs' ends, added up.
    pub fn sizes(&self) -> i128 {
        self.lower.iter().zip(&self.upper).map(|(l, u)| i128::from(l.abs().max(u.abs()))).sum()
    }
}

impl<'n> Region<'n> {
    /// With what intervals say of every hidden neuron, and after each stage with what else is found there.
    pub fn new(
        mut cube: Cube,
        bounder: &mut Bounder<'n>,
        mut find: impl FnMut(&mut Region<'n>, usize, &mut Bounder<'n>) -> Result<(), Refused>,
    ) -> Result<Region<'n>, Refused> {
        let net = bounder.net;
        // So that every side has a middle.
        cube.lower.iter_mut().zip(&cube.upper).for_each(|(l, u)| *l -= (u - *l) & 1);
        let (grids, off) = (vec![cube.grid], vec![0; net.first(net.last() + 1)]);
        let (sides, planes, fresh, depth, is_void) = (vec![], Rc::default(), 0, 0, false);
        let (hull, base, conditions) = (None, None, None);
        let mut region = Region { net, cube, grids, sides, off, fresh, hull, base, planes, conditions, is_void, depth };
        for stage in 0..net.last() {
            region.refresh(stage)?;
            let width = net.layers[stage].rows.len();
            let side = |side| Start::side(stage, side / 2, side % 2);
            let ends = (0..2 * width).map(|n| bounder.bound(&region, &side(n), Rule::Interval));
            let ends = ends.collect::<Result<Vec<_>, _>>()?;
            let most = ends.iter().map(|&end| bits(end)).max().unwrap_or(0);
            let grid = (UNIT + BOUND_BITS - most as i32).min(FINEST);
            region.grids.push(grid);
            for [low, high] in ends.as_chunks().0 {
                region.sides.push([outward(shift_down(*low, grid - UNIT))?, outward(shift_down(*high, grid - UNIT))?]);
            }
            find(&mut region, stage, bounder)?;
        }
        // What a program's sums may be off by has a place here, so that their terms stay far below the largest float32.
        region.refresh(net.last())?;
        Ok(region)
    }

    /// Computes anew what the neurons of stages may be off by, up to a stage, where bounds that they read have moved.
    pub fn refresh(&mut self, to: usize) -> Result<(), Refused> {
        for stage in self.fresh..=to {
            for j in 0..self.net.layers[stage].rows.len() {
                self.off[self.net.first(stage) + j] = self.off_by(stage, j)?;
            }
        }
        self.fresh = self.fresh.max(to + 1);
        Ok(())
    }

    /// What a neuron's z may differ by from the sum of its row: its coefficients may be known up to an error, and a program's sum is
    /// rounded.
    fn off_by(&self, stage: usize, j: usize) -> Result<i128, Refused> {
        let (layer, row, mut total) = (&self.net.layers[stage], &self.net.layers[stage].rows[j], Total::default());
        for part in if row.error == 0 && row.rounding.is_none() { &[] } else { &row.parts[..] } {
            let (mut read, mut size) = (0i128, 0i128);
            for &(column, weight) in &part.terms {
                let (l, u) = self.range(column as usize);
                let most = i128::from(l.abs().max(u.abs()));
                read += most;
                size += most * i128::from(weight.abs() + row.error);
            }
            let exponent = layer.scale + self.grids[part.source];
            total.take(row.error.into(), read, exponent)?;
            total.take(row.rounding.map_or(0, |(relative, _)| relative.into()), size, exponent + ROUNDING)?;
        }
        if let Some((relative, products)) = row.rounding {
            let bias = row.bias.0.abs().max(row.bias.1.abs());
            total.take(relative.into(), bias.into(), layer.bias_scale + ROUNDING)?;
            total.take(products.into(), 1, 149)?;
        }
        Ok(-total.0)
    }

    /// The range of a variable, an input or an activation.
    pub fn range(&self, variable: usize) -> (i64, i64) {
        match variable.checked_sub(self.net.inputs) {
            None => (self.cube.lower[variable], self.cube.upper[variable]),
            Some(neuron) => (self.of(neuron).0.max(0), self.of(neuron).1.max(0)),
        }
    }

    /// Bounds of a hidden neuron, counted through all stages.
    pub fn of(&self, neuron: usize) -> (i64, i64) {
        let [low, negated] = self.sides[neuron];
        (low, -negated)
    }

    pub fn is_undecided(&self, neuron: usize) -> bool {
        self.sides[neuron].iter().all(|&side| side < 0)
    }

    /// Sets a side of a neuron's bounds to a proved value: `z ≥ value`, or `−z ≥ value`. It may have been known better; but
    /// multipliers depend on bounds, and those of the file were found with this one.
    pub fn set(&mut self, stage: usize, neuron: usize, side: usize, value: Option<i128>) -> Result<(), Refused> {
        self.sides[neuron][side] = outward(value)?;
        self.fresh = self.fresh.min(stage + 1);
        Ok(())
    }

    /// Whether bounds contradict each other, so that no input is left.
    pub fn is_empty(&self) -> bool {
        self.is_void || self.sides.iter().any(|[low, negated]| low + negated > 0)
    }

    /// Moves both sides of a neuron to what a rule says, where that is tighter, if it is undecided.
    pub fn bound(&mut self, bounder: &mut Bounder, stage: usize, j: usize, rule: Rule) -> Result<(), Refused> {
        let neuron = self.net.first(stage) + j;
        for side in if self.is_undecided(neuron) { 0..2 } else { 0..0 } {
            let bound = bounder.bound(self, &Start::side(stage, j, side), rule)?;
            self.raise(stage, neuron, side, shift_down(bound, self.grids[stage + 1] - UNIT))?;
        }
        Ok(())
    }

    /// Moves a side to a value that is known of it, if that is tighter.
    pub fn raise(&mut self, stage: usize, neuron: usize, side: usize, value: Option<i128>) -> Result<(), Refused> {
        let known = self.sides[neuron][side];
        self.set(stage, neuron, side, value.map(|value| value.max(known.into())))
    }
}

/// A bound, in the units of its stage.
fn outward(value: Option<i128>) -> Result<i64, Refused> {
    small(value.filter(|&end| bits(end) as i32 <= BOUND_BITS + 1))
}

/// A lower bound of a sum, in units of 2^−80: each term is rounded down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Total(pub i128);

impl Total {
    /// Adds value·2^−exponent.
    pub fn add(&mut self, value: i128, exponent: i32) -> Result<(), Refused> {
        let term = shift_down(value, UNIT.saturating_sub(exponent));
        self.0 = term.and_then(|term| self.0.checked_add(term)).ok_or_else(Refused::overflow)?;
        Ok(())
    }

    /// Takes factor·size·2^−exponent, neither below 0, the size rounded up to 32 bits.
    pub fn take(&mut self, factor: i128, size: i128, exponent: i32) -> Result<(), Refused> {
        if size == 0 {
            return Ok(());
        }
        let excess = bits(size).saturating_sub(32);
        let cost = factor.checked_mul(-(-size >> excess)).ok_or_else(Refused::overflow)?;
        self.add(-cost, exponent - excess as i32)
    }
}
