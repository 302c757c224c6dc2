//! The least value over the box of inputs, with the undecided neurons of the first layer spread over the inputs.
//!
//! The chord is the best upper line of max(z, 0) for z in [l, u], but not for inputs of a box. Let x = centre + radius·t with t in
//! [−1, 1]ⁿ, and z = z₀ + Σ cᵢtᵢ ≤ u. Any σ with 0 ≤ σᵢ/cᵢ ≤ 1 and Σ|σᵢ| ≥ u/2 gives
//!
//! ```text
//!     max(z, 0) ≤ Σ |σᵢ| + σᵢtᵢ.
//! ```
//!
//! The right side is never negative, and at a corner it is 2Σ|σᵢ| less 2|σᵢ| for each tᵢ that lowers z, so at least u less 2|cᵢ|
//! for each of those, which is z; the left side is convex, so it holds in between. (These lines are the convex hull of one neuron over
//! a box: Anderson, Huchette, Ma, Tjandraatmadja, Vielma 2020.) If Σ|σᵢ| falls short by δ the line does so by at most 2δ.
//!
//! A neuron with μ < 0 so has a need −μu/2, to be spread over the inputs up to their reaches −μ|cᵢ|. What it takes from an
//! input whose coefficient pulls the other way costs the bound nothing. So each neuron, the one with the largest u first, takes
//! of all that is free in proportion, and if that is not enough the rest of all reaches in proportion: twice what was not free
//! is its loss.

use super::front::{Front, FrontLayer, ROUND_32, above};
use super::layers::Layer;
use super::passes::{Buffers, Chunk, Total, add, chunks, chunks_mut};
use crate::kernel::{PANEL, Simd, Task};

/// The box of inputs by its centre and radius, and the first layer's neurons that may be spread.
pub(crate) struct Spread {
    centre: Vec<f32>,
    radius: Vec<f32>,
    neurons: Vec<Neuron>,
    /// The weight times the radius of each input, a row for each neuron.
    reach: Vec<f32>,
}

struct Neuron {
    /// Its place in the layer.
    index: usize,
    /// Half of what it can be on the box at most, rounded up; what it can be beyond that by the layer's stated error is slop.
    half: f32,
    /// Its reaches together.
    total: f32,
}

impl Spread {
    /// Of a box, padded with zeros. The radius is rounded up, so that centre and radius enclose the box.
    pub fn new(lower: &[f32], upper: &[f32]) -> Spread {
        let centre: Vec<f32> = lower.iter().zip(upper).map(|(l, u)| l + (u - l) / 2.0).collect();
        let radius = |((l, u), c): ((&f32, &f32), &f32)| above((f64::from(c - l)).max(f64::from(u - c))).next_up();
        let is_point = |((l, u), c): &((&f32, &f32), &f32)| l == c && u == c;
        let sides = lower.iter().zip(upper).zip(&centre);
        let radius = sides.map(|side| if is_point(&side) { 0.0 } else { radius(side) }).collect();
        Spread { centre, radius, neurons: vec![], reach: vec![] }
    }

    /// Takes the undecided neurons of the first layer, which refers to the given inputs of the box.
    pub fn take(&mut self, made: &FrontLayer, layer: &Layer, before: &[usize]) {
        let mut rows: Vec<(Neuron, Vec<f32>)> = Vec::new();
        for (index, &j) in made.neurons.iter().enumerate().filter(|&(index, _)| made.cost[index] > 0.0) {
            let weights = layer.row(j);
            let (mut middle, mut size, mut total) = (f64::from(layer.bias[j]), f64::from(layer.bias[j]).abs(), 0.0);
            let mut reach = vec![0.0; self.centre.len()];
            for (slot, &i) in before.iter().enumerate() {
                let term = f64::from(weights[i]) * f64::from(self.centre[slot]);
                let part = f64::from(weights[i]) * f64::from(self.radius[slot]);
                (middle, size, total) = (middle + term, size + term.abs(), total + part.abs());
                reach[slot] = part as f32;
            }
            let rounding = (before.len() as f64 + 8.0) * f64::EPSILON * (size + total);
            let most = middle + total + rounding;
            let half = if most <= 0.0 { 0.0 } else { above(most / 2.0) };
            rows.push((Neuron { index, half, total: total as f32 }, reach));
        }
        rows.sort_by(|(a, _), (b, _)| b.half.total_cmp(&a.half));
        for (neuron, reach) in rows {
            self.neurons.push(neuron);
            self.reach.extend(reach);
        }
    }
}

/// Minimises rows over the box, and keeps where. The coefficients `a` of the inputs are used up; for each neuron that was spread
/// the buffers are told its loss and, as its lift, its line's value.
pub struct Corner<'a> {
    pub front: &'a Front,
    /// The first layer's.
    pub buffers: Option<&'a mut Buffers>,
    pub a: &'a mut [f32],
    pub x: &'a mut [f32],
    pub totals: &'a mut [Total],
}

impl Task for Corner<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Corner { front, mut buffers, a, x, totals } = self;
        let spread = &front.spread;
        let width = spread.centre.len();
        for (slot, total) in totals.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            let pull = &mut a[row.clone()];
            let mut size = centre(spread, pull, total);
            let mut spent = 0;
            if let Some((layer, buffers)) = front.layers.first().zip(buffers.as_deref_mut()) {
                let first = slot * layer.width;
                for (neuron, reach) in spread.neurons.iter().zip(spread.reach.chunks_exact(width)) {
                    let index = first + neuron.index;
                    let m = -buffers.mu[index];
                    // A μ that is not a number has made the sum one that is none.
                    if m > 0.0 && buffers.cost[index] > 0.0 {
                        let (loss, line) = neuron.spread::<S>(m, reach, pull, total);
                        (buffers.loss[index], buffers.lift[index]) = (loss, line);
                        total.error += f64::from(m) * f64::from(layer.slop[neuron.index]);
                        size += f64::from(m) * f64::from(neuron.total);
                        spent += 1;
                    }
                }
            }
            // Every subtraction from a pull is rounded once, and what is subtracted twice.
            let roundings = f64::from(spent) + 4.0;
            total.error += roundings * (ROUND_32 * size + width as f64 * f64::from(f32::MIN_POSITIVE));
            least(front, pull, &mut x[row], total);
        }
    }
}

/// Turns coefficients into pulls, that is times the radius, and adds their value at the centre. Returns the size of the pulls.
#[inline(always)]
fn centre(spread: &Spread, a: &mut [f32], total: &mut Total) -> f64 {
    let width = a.len();
    let (mut sum, mut size, mut pulls) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
    for ((a, centre), radius) in chunks_mut(a).iter_mut().zip(chunks(&spread.centre)).zip(chunks(&spread.radius)) {
        let (mut pull, centre, radius) = (*a, *centre, *radius);
        for lane in 0..PANEL {
            let term = pull[lane] * centre[lane];
            sum[lane] += term;
            size[lane] += term.abs();
            pull[lane] *= radius[lane];
            pulls[lane] += pull[lane].abs();
        }
        *a = pull;
    }
    add(total, &sum, &size, &[0.0; PANEL], width);
    let roundings = 2.0 * ((width / PANEL) as f64 + 8.0) * ROUND_32;
    pulls.iter().map(|&pull| f64::from(pull)).sum::<f64>() * (1.0 + roundings)
}

/// Adds the least value over the box of what pulls are left, and keeps where it is.
#[inline(always)]
fn least(front: &Front, pull: &[f32], x: &mut [f32], total: &mut Total) {
    let width = pull.len();
    let mut size = [0.0f32; PANEL];
    let sides = chunks(&front.input_lower).iter().zip(chunks(&front.input_upper));
    for ((x, pull), (lower, upper)) in chunks_mut(x).iter_mut().zip(chunks(pull)).zip(sides) {
        let (pull, lower, upper) = (*pull, *lower, *upper);
        let mut corner = [0.0; PANEL];
        for lane in 0..PANEL {
            corner[lane] = if pull[lane] >= 0.0 { lower[lane] } else { upper[lane] };
            size[lane] += pull[lane].abs();
        }
        *x = corner;
    }
    add(total, &size.map(|size| -size), &size, &[0.0; PANEL], width);
}

impl Neuron {
    /// Spreads −m·max(z, 0) over the pulls; returns the loss, and the line's value where the pulls then point.
    ///
    /// The computed sum of what is free has at most `width / PANEL` roundings and a few. By them what is spread may fall short of
    /// the need, which counts twice; what each input takes may exceed its reach by a few roundings.
    #[inline(always)]
    fn spread<S: Simd>(&self, m: f32, reach: &[f32], pull: &mut [f32], total: &mut Total) -> (f32, f32) {
        let width = pull.len();
        let need = m * self.half;
        let found = found(m, reach, pull);
        let all = m * self.total;
        let roundings = 4.0 * ((width / PANEL) as f64 + PANEL as f64 + 8.0) * ROUND_32;
        total.sum -= f64::from(need);
        total.error += roundings * f64::from(need) + 32.0 * ROUND_32 * f64::from(all);
        if found >= need {
            let share = if need > 0.0 { need / found } else { 0.0 };
            for (pull, reach) in chunks_mut(pull).iter_mut().zip(chunks(reach)) {
                let (mut left, reach) = (*pull, *reach);
                for lane in 0..PANEL {
                    let taken = free(left[lane], m * reach[lane]);
                    left[lane] = S::mul_add(-share, same_way(taken, reach[lane]), left[lane]);
                }
                *pull = left;
            }
            return (0.0, 0.0);
        }
        let (lacking, rest) = (need - found, all - found);
        let share = if lacking < rest { lacking / rest } else { 1.0 };
        total.error += 2.0 * f64::from((lacking - rest).max(0.0));
        let mut lanes: Chunk = [0.0; PANEL];
        for (pull, reach) in chunks_mut(pull).iter_mut().zip(chunks(reach)) {
            let (mut left, reach) = (*pull, *reach);
            for lane in 0..PANEL {
                let reach = m * reach[lane];
                let taken = free(left[lane], reach);
                let taken = same_way(S::mul_add(share, reach.abs() - taken, taken), reach);
                left[lane] -= taken;
                lanes[lane] -= same_way(taken, left[lane]);
            }
            *pull = left;
        }
        (2.0 * lacking, (need + sum(lanes)) / m)
    }
}

/// All that is free for a neuron.
#[inline(always)]
fn found(m: f32, reach: &[f32], pull: &[f32]) -> f32 {
    const TWO: usize = 2 * PANEL;
    let mut sums = [0.0; TWO];
    let (pulls, last_pull) = pull.as_chunks::<TWO>();
    let (reaches, last_reach) = reach.as_chunks::<TWO>();
    for (pull, reach) in pulls.iter().zip(reaches) {
        let (pull, reach) = (*pull, *reach);
        for lane in 0..TWO {
            sums[lane] += free(pull[lane], m * reach[lane]);
        }
    }
    let mut lanes = [0.0; PANEL];
    for (pull, reach) in chunks(last_pull).iter().zip(chunks(last_reach)) {
        let (pull, reach) = (*pull, *reach);
        for lane in 0..PANEL {
            lanes[lane] = free(pull[lane], m * reach[lane]);
        }
    }
    sums.iter().map(|&part| f64::from(part)).sum::<f64>() as f32 + sum(lanes)
}

/// The sum of lanes, by halves.
#[inline(always)]
fn sum(mut lanes: Chunk) -> f32 {
    let mut half = PANEL / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// What of a signed reach a pull of the same sign allows, as a magnitude.
#[inline(always)]
fn free(pull: f32, reach: f32) -> f32 {
    let along = same_way(pull, reach);
    let most = reach.abs();
    let taken = if along < most { along } else { most };
    if taken > 0.0 { taken } else { 0.0 }
}

/// A number with its sign turned where the other is negative.
#[inline(always)]
fn same_way(value: f32, other: f32) -> f32 {
    f32::from_bits(value.to_bits() ^ (other.to_bits() & SIGN))
}

const SIGN: u32 = 1 << 31;
