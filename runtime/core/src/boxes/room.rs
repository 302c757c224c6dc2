//! What a batch of boxes is asked about, where its bounds are kept, and what rounding costs there.

use super::TOGETHER;
use crate::kernel::{Lanes, PANEL, Scalar};
use crate::rounding::{EPSILON, EPSILON_32, TINY, TINY_32};
use crate::{Shape, Source};

/// Lanes of numbers for every input and neuron: slices of one piece of memory.
///
/// A neuron's numbers are at its number, counted over all stages; an activation's at the place of its source.
pub struct Room<'r, T> {
    /// The boxes: middle and half width of each input. What they stand for may be larger than what is asked about.
    pub middle: &'r mut [Lanes<T>],
    pub half: &'r mut [Lanes<T>],
    /// Half widths with what the last sum of a row may be off by.
    pub(super) reach: &'r mut [Lanes<T>],
    /// For each neuron the coefficients of its lower form, the constant first, and then those of its upper form: of z while its
    /// stage is bounded, and of hidden ones then of max(z, 0).
    pub forms: &'r mut [Lanes<T>],
    /// An upper bound of the magnitude of each input and neuron: of activations, and of the outputs.
    pub size: &'r mut [Lanes<T>],
    /// Of the hidden neurons.
    pub lower: &'r mut [Lanes<T>],
    pub upper: &'r mut [Lanes<T>],
    /// What a unit of a neuron's multiplier costs.
    pub(super) slop: &'r mut [Lanes<T>],
    /// Slopes of multipliers that are positive and negative, and what the latter cost.
    pub(super) alpha: &'r mut [Lanes<T>],
    pub(super) lambda: &'r mut [Lanes<T>],
    pub(super) drop: &'r mut [Lanes<T>],
    /// What a positive multiplier may cost at most: min(−l, u).
    pub(super) fall: &'r mut [Lanes<T>],
    /// What the relaxation of each neuron costs the rows that were bounded with [`super::Pass::rows`].
    pub(super) gap: &'r mut [Lanes<T>],
    /// How the lower form of an undecided neuron moves with each input, as parts of one.
    pub(super) spread: &'r mut [Lanes<T>],
    /// Each input and neuron at the points that were evaluated last; outputs too.
    pub value: &'r mut [Lanes<T>],
    /// Coefficients of the activations on the way back, of a few rows; and multipliers of one stage.
    pub(super) mu: &'r mut [Lanes<T>],
    pub(super) nu: &'r mut [Lanes<T>],
    /// The sizes of all that was bounded so far, and what underflow may cost a row over it.
    pub(super) total: &'r mut Lanes<T>,
    pub underflow: &'r mut Lanes<T>,
    /// The hidden neurons of each stage that are not off in every lane, and how many there are.
    pub(super) alive: &'r mut [u32],
    pub(super) counts: &'r mut [u32],
    /// The pass that last reached the inputs and each stage, and the number of this one.
    reached: &'r mut [u32],
    pub(super) pass: u32,
    /// The lanes in which each hidden neuron is undecided; and is known to be on, or off: from a larger box before, and on this
    /// one after it was bounded.
    pub undecided: &'r mut [u16],
    pub known_on: &'r mut [u16],
    pub known_off: &'r mut [u16],
    /// Undecided neurons of a stage are bounded by passes back to the inputs if that takes at most so many times the work of the
    /// way forward.
    pub refined: f64,
    /// Multiply-adds so far, of whole vectors.
    pub work: u64,
}

/// How much memory a room takes: lanes of numbers, of indices, and of bits.
pub struct Places {
    pub lanes: usize,
    pub indices: usize,
    pub bits: usize,
}

/// What one operation may be off by, relative and if it underflows; and the least number of full precision.
pub trait Rounding: Scalar {
    const RELATIVE: f64;
    const TINY: f64;
    const NORMAL: Self;

    /// Not below.
    fn above(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Rounding for f32 {
    const RELATIVE: f64 = EPSILON_32;
    const TINY: f64 = TINY_32;
    const NORMAL: f32 = f32::MIN_POSITIVE;

    fn above(value: f64) -> f32 {
        crate::rounding::above(value)
    }

    fn to_f64(self) -> f64 {
        f64::from(self)
    }
}

impl Rounding for f64 {
    const RELATIVE: f64 = EPSILON;
    const TINY: f64 = TINY;
    const NORMAL: f64 = f64::MIN_POSITIVE;

    fn above(value: f64) -> f64 {
        value
    }

    fn to_f64(self) -> f64 {
        self
    }
}

/// Neurons before the outputs.
fn hidden(shape: &Shape) -> usize {
    shape.start(shape.last())
}

impl Places {
    pub fn of(shape: &Shape) -> Places {
        let (inputs, hidden, neurons) = (shape.inputs, hidden(shape), shape.neurons());
        let widest = shape.stages.iter().map(|stage| stage.width()).max().unwrap_or(0);
        let by_input = 3 * inputs;
        let by_neuron = hidden * (2 + 5 + inputs) + neurons * (2 * (inputs + 1) + 1);
        let by_source = 2 * (inputs + neurons) + TOGETHER * (inputs + hidden);
        Places {
            lanes: by_input + by_neuron + by_source + TOGETHER * widest + 2,
            indices: hidden + 2 * shape.stages.len() + 1,
            bits: 3 * hidden,
        }
    }
}

impl<'r, T: Rounding> Room<'r, T> {
    pub fn new(
        shape: &Shape,
        mut lanes: &'r mut [Lanes<T>],
        indices: &'r mut [u32],
        mut bits: &'r mut [u16],
        refined: f64,
    ) -> Room<'r, T> {
        let places = Places::of(shape);
        assert_eq!((lanes.len(), indices.len(), bits.len()), (places.lanes, places.indices, places.bits));
        let (inputs, hidden, neurons) = (shape.inputs, hidden(shape), shape.neurons());
        let widest = shape.stages.iter().map(|stage| stage.width()).max().unwrap_or(0);
        let mut take = |count: usize| lanes.split_off_mut(..count).expect("as many as there are places");
        let mut take_bits = |count: usize| bits.split_off_mut(..count).expect("as many as there are places");
        let (alive, indices) = indices.split_at_mut(hidden);
        let (counts, reached) = indices.split_at_mut(shape.stages.len());
        reached.fill(0);
        Room {
            middle: take(inputs),
            half: take(inputs),
            reach: take(inputs),
            forms: take(2 * (inputs + 1) * neurons),
            size: take(inputs + neurons),
            lower: take(hidden),
            upper: take(hidden),
            slop: take(neurons),
            alpha: take(hidden),
            lambda: take(hidden),
            drop: take(hidden),
            fall: take(hidden),
            gap: take(hidden),
            spread: take(inputs * hidden),
            value: take(inputs + neurons),
            mu: take(TOGETHER * (inputs + hidden)),
            nu: take(TOGETHER * widest),
            total: &mut take(1)[0],
            underflow: &mut take(1)[0],
            alive,
            counts,
            reached,
            pass: 0,
            undecided: take_bits(hidden),
            known_on: take_bits(hidden),
            known_off: take_bits(hidden),
            refined,
            work: 0,
        }
    }

    /// Whether the rows of this pass have coefficients for a source.
    pub(super) fn is_reached(&self, source: Source) -> bool {
        self.reached[index(source)] == self.pass
    }

    pub(super) fn reach_source(&mut self, source: Source) {
        self.reached[index(source)] = self.pass;
    }

    /// The neurons of a hidden stage that are not off in every lane.
    pub(super) fn alive(&self, shape: &Shape, stage: usize) -> &[u32] {
        let start = shape.start(stage);
        &self.alive[start..start + self.counts[stage] as usize]
    }
}

/// The inputs, then the stages.
fn index(source: Source) -> usize {
    match source {
        Source::Input => 0,
        Source::Stage(s) => s + 1,
    }
}

/// Where the numbers of a source's activations begin.
pub(super) fn place(shape: &Shape, source: Source) -> usize {
    match source {
        Source::Input => 0,
        Source::Stage(s) => shape.inputs + shape.start(s),
    }
}

/// What rounding may cost sums of a shape's stages, relative to the magnitudes of their terms.
pub(super) struct Costs {
    /// Products of a stage's neurons with what they read, on the way forward and on the way back.
    pub products: f64,
    /// Terms of a row's sum: three a neuron of a stage, the stages, and the inputs.
    pub sums: f64,
    /// The last sum of a row.
    pub inputs: f64,
    /// How many products there are at most whose underflow costs a row something.
    pub underflows: f64,
}

/// n roundings of sums whose magnitudes are themselves sums of n roundings.
pub(super) fn roundings<T: Rounding>(count: usize) -> f64 {
    let part = (count as f64 + 8.0) * T::RELATIVE;
    // Beyond this nothing is bounded.
    if part > 0.25 { f64::INFINITY } else { 1.01 * part / ((1.0 - part) * (1.0 - part)) }
}

impl Costs {
    pub fn of<T: Rounding>(shape: &Shape, stage: usize) -> Costs {
        let data = &shape.stages[stage];
        let forward: usize = data.edges.iter().map(|edge| edge.map.cols()).sum();
        let back = data.edges.iter().map(|edge| shape.terms_back(edge.from)).max().unwrap_or(0);
        let terms = 2 * shape.inputs + shape.stages.len() + 16;
        let sources = (shape.inputs + shape.neurons()) as f64;
        Costs {
            products: roundings::<T>(forward.max(back)),
            sums: roundings::<T>(3 * data.width() + terms),
            inputs: roundings::<T>(terms),
            underflows: 16.0 * (sources + terms as f64) * T::TINY,
        }
    }
}

/// Every lane the same.
pub(super) fn all<T: Copy>(value: T) -> Lanes<T> {
    Lanes([value; PANEL])
}
