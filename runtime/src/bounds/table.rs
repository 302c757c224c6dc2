//! Bounds of every neuron on a region.

use pg_core::Shape;
use pg_core::rounding::{above, below};

/// The part of a range that coarse bounds have room for.
const PART: f64 = 1.0 / (1u64 << 26) as f64;
/// The part that a proved bound has room for.
const FINE: f64 = 1.0 / (1u64 << 44) as f64;
/// The least room, for a judge that has so many bits behind the point and a few more.
const LEAST: f64 = 1.0 / (1u128 << 64) as f64;

/// The region of a search node holds no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emptiness;

/// One side of a neuron's bounds: that `sign·z` is at least something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Side {
    pub neuron: usize,
    pub sign: f32,
}

impl Side {
    pub fn both(neuron: usize) -> [Side; 2] {
        [1.0, -1.0].map(|sign| Side { neuron, sign })
    }

    /// For a certificate: two for each neuron of the stage.
    pub fn number(&self) -> usize {
        2 * self.neuron + usize::from(self.sign < 0.0)
    }
}

/// `lower ≤ z ≤ upper` for every neuron wherever the region holds, outputs included.
///
/// A phase is a bound: fixed on means lower ≥ 0, fixed off means upper ≤ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Bounds {
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// Where each stage begins, and the end.
    starts: Vec<usize>,
}

impl Bounds {
    pub fn unknown(shape: &Shape) -> Bounds {
        let neurons = shape.neurons();
        let starts = (0..=shape.stages.len()).map(|k| shape.start(k)).collect();
        Bounds { lower: vec![f64::NEG_INFINITY; neurons], upper: vec![f64::INFINITY; neurons], starts }
    }

    /// These bounds of all neurons, stage after stage; `None` if they are not of so many, or contradict each other.
    pub fn of_all(shape: &Shape, lower: Vec<f64>, upper: Vec<f64>) -> Option<Bounds> {
        let unknown = Bounds::unknown(shape);
        let fit = lower.len() == unknown.lower.len() && upper.len() == unknown.upper.len();
        (fit && lower.iter().zip(&upper).all(|(l, u)| l <= u)).then_some(Bounds { lower, upper, ..unknown })
    }

    /// Of all neurons, stage after stage.
    pub fn all(&self) -> (&[f64], &[f64]) {
        (&self.lower, &self.upper)
    }

    pub fn lower(&self, stage: usize) -> &[f64] {
        &self.lower[self.starts[stage]..self.starts[stage + 1]]
    }

    pub fn upper(&self, stage: usize) -> &[f64] {
        &self.upper[self.starts[stage]..self.starts[stage + 1]]
    }

    /// Of the outputs.
    pub fn outputs(&self) -> (&[f64], &[f64]) {
        let last = self.starts.len() - 2;
        (self.lower(last), self.upper(last))
    }

    pub fn of(&self, stage: usize, neuron: usize) -> (f64, f64) {
        (self.lower(stage)[neuron], self.upper(stage)[neuron])
    }

    pub fn is_undecided(&self, stage: usize, neuron: usize) -> bool {
        let (l, u) = self.of(stage, neuron);
        l < 0.0 && u > 0.0
    }

    /// The neurons of a hidden stage that may be on.
    pub fn live(&self, stage: usize) -> impl Iterator<Item = usize> + '_ {
        self.upper(stage).iter().enumerate().filter(|(_, u)| **u > 0.0).map(|(j, _)| j)
    }

    /// The neurons of a hidden stage whose phase is open.
    pub fn undecided(&self, stage: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.lower(stage).len()).filter(move |&j| self.is_undecided(stage, j))
    }

    /// Both sides of the undecided neurons.
    pub fn open_sides(&self, stage: usize) -> Vec<Side> {
        self.undecided(stage).flat_map(Side::both).collect()
    }

    /// How many neurons of each hidden stage are undecided.
    pub fn undecided_counts(&self) -> Vec<usize> {
        (0..self.starts.len() - 2).map(|stage| self.undecided(stage).count()).collect()
    }

    /// Conditions a neuron: on is z ≥ 0, off is z ≤ 0.
    pub fn fix(&mut self, stage: usize, neuron: usize, on: bool) -> Result<(), Emptiness> {
        let (lower, upper) = if on { (0.0, f64::INFINITY) } else { (f64::NEG_INFINITY, 0.0) };
        self.tighten(stage, neuron, lower, upper)
    }

    /// Moves the bounds of a stage outward to float32 numbers, by at least a small part of the neuron's range and a smaller one of
    /// the largest: so that one who computes them in another way comes as far.
    pub fn coarsen(&mut self, stage: usize) {
        let neurons = self.starts[stage]..self.starts[stage + 1];
        let ends = self.lower[neurons.clone()].iter().chain(&self.upper[neurons.clone()]);
        let largest = ends.map(|end| end.abs()).filter(|end| end.is_finite()).fold(0.0, f64::max);
        for at in neurons {
            let (l, u) = (self.lower[at], self.upper[at]);
            let room = PART * l.abs().max(u.abs()) + PART / 256.0 * largest + LEAST;
            (self.lower[at], self.upper[at]) = (below(l - room).into(), above(u + room).into());
        }
    }

    /// A proved bound of a neuron with room for a judge who rounds elsewhere: right below 0 it may have none.
    pub fn roomy(&self, stage: usize, neuron: usize, bound: f32) -> f32 {
        let (l, u) = self.of(stage, neuron);
        let room = FINE * l.abs().max(u.abs()) + LEAST;
        if (-room..0.0).contains(&f64::from(bound)) { below(f64::from(bound) - room) } else { bound }
    }

    /// What a proved bound of one side says.
    pub fn raise(&mut self, stage: usize, side: Side, bound: f32) -> Result<(), Emptiness> {
        let bound = f64::from(bound);
        let (lower, upper) = if side.sign > 0.0 { (bound, f64::INFINITY) } else { (f64::NEG_INFINITY, -bound) };
        self.tighten(stage, side.neuron, lower, upper)
    }

    /// Intersects with `[lower, upper]`; NaN tightens nothing.
    pub fn tighten(&mut self, stage: usize, neuron: usize, lower: f64, upper: f64) -> Result<(), Emptiness> {
        let at = self.starts[stage] + neuron;
        let (l, u) = (&mut self.lower[at], &mut self.upper[at]);
        if lower > *l {
            *l = lower;
        }
        if upper < *u {
            *u = upper;
        }
        if *l > *u { Err(Emptiness) } else { Ok(()) }
    }
}
