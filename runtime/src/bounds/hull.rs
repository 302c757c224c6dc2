//! The least value over the box, with the undecided neurons that read nothing else spread over the inputs.
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
//! is what it costs.

use super::batch::Buffers;
use super::buffer::Buffer;
use super::compact::Compact;
use super::live::Live;
use pg_core::kernel::dispatch;
use pg_core::kernel::hull::{Need, Sides, Turn, roundings, spread};
use pg_core::kernel::relax::{Centre, Least};
use pg_core::kernel::sparse::Entry;
use pg_core::rounding::{EPSILON_32, Sum, above, sum_error_32, underflow_error_32};

/// The neurons that may be spread, those with the largest need first.
#[derive(Default)]
pub struct Hull {
    neurons: Vec<Neuron>,
    needs: Vec<Need>,
    /// Their reaches, the weight times the radius of each input: the negative ones and the positive ones.
    low: Buffer,
    high: Buffer,
}

struct Neuron {
    /// Its stage and its place there.
    stage: usize,
    index: usize,
    /// Half of what it can be on the box at most, rounded up, and its reaches together.
    half: f64,
    total: f64,
    /// What a unit of it may cost beyond its half.
    error: f64,
}

/// Centre and radius of a box, the radius rounded up, so that the two enclose it.
pub fn middle(lower: &[f32], upper: &[f32]) -> (Buffer, Buffer) {
    let centre: Vec<f32> = lower.iter().zip(upper).map(|(l, u)| l + (u - l) / 2.0).collect();
    let radius = |((&l, &u), &c): ((&f32, &f32), &f32)| match l == c && u == c {
        true => 0.0,
        false => above((f64::from(c) - f64::from(l)).max(f64::from(u) - f64::from(c))).next_up(),
    };
    let radius: Vec<f32> = lower.iter().zip(upper).zip(&centre).map(radius).collect();
    (Buffer::from(&centre), Buffer::from(&radius))
}

impl Hull {
    /// Of the undecided neurons that read nothing but the box.
    pub fn new(live: &Live, compact: &Compact) -> Hull {
        let mut rows: Vec<(Neuron, Need, Vec<f32>)> = Vec::new();
        for (k, stage) in compact.stages.iter().enumerate().filter(|(_, stage)| stage.is_spread) {
            for index in (0..stage.neurons.len()).filter(|&index| stage.cost[index] > 0.0) {
                rows.push(reaches(live, compact, k, index));
            }
        }
        rows.sort_by(|(a, ..), (b, ..)| b.half.total_cmp(&a.half));
        let side = |part: fn(f32) -> f32| {
            let all: Vec<f32> = rows.iter().flat_map(|(.., reach)| reach).map(|&reach| part(reach)).collect();
            Buffer::from(&all)
        };
        let (low, high) = (side(|reach| reach.min(0.0)), side(|reach| reach.max(0.0)));
        let (neurons, needs) = rows.into_iter().map(|(neuron, need, _)| (neuron, need)).unzip();
        Hull { neurons, needs, low, high }
    }

    fn sides(&self, width: usize) -> Sides<'_> {
        Sides { width, low: &self.low, high: &self.high, needs: &self.needs }
    }
}

/// A neuron with its reaches.
///
/// The slop is what it can be beyond its half, by the stage's stated error. By the roundings of what is found, what is spread
/// may differ from the half: that far the line's constant is wrong, and where it falls short the line too, twice as far. What
/// each input takes may exceed its reach by a few roundings, or underflows. Reaches fall short of the half by rounding at most.
fn reaches(live: &Live, compact: &Compact, stage: usize, index: usize) -> (Neuron, Need, Vec<f32>) {
    let made = &compact.stages[stage];
    let weights = live.maps[made.number][0].column(index);
    let (mut least, mut size, mut total) = (0.0, 0.0, 0.0);
    let mut reach = vec![0.0; compact.inputs()];
    for &Entry { row, value } in weights {
        let slot = row as usize;
        let term = f64::from(value) * f64::from(compact.centre[slot]);
        let part = f64::from(value) * f64::from(compact.radius[slot]);
        (least, size, total) = (least - term - part.abs(), size + term.abs() + part.abs(), total + part.abs());
        reach[slot] = part as f32;
    }
    // The least of −z, rounded down, is the most of z, rounded up.
    let mut negated = Sum::new(-f64::from(made.bias[index]), 0.0);
    negated.add(least, size, 2 * weights.len());
    let half = above((-negated.lower() / 2.0).max(0.0));
    let need = Need { half, total: total as f32 };
    let (half, total) = (f64::from(need.half), f64::from(need.total));
    let width = reach.len();
    let rounding =
        EPSILON_32 * (4.0 * roundings(width) as f64 * half + 32.0 * total) + underflow_error_32(8 * width, 1.0);
    let error = f64::from(made.slop[index]) + rounding + 2.0 * (half - total).max(0.0);
    (Neuron { stage, index, half, total, error }, need, reach)
}

/// Minimises a row over the box, and keeps where. The coefficients `a` of the inputs are used up; for each neuron that was
/// spread the buffers of its stage are told its loss and, as its lift, its line's value. `turns` is room for all neurons.
pub fn corner(
    compact: &Compact,
    stages: &mut [Buffers],
    slot: usize,
    a: &mut [f32],
    x: &mut [f32],
    sum: &mut Sum,
    turns: &mut [Turn],
) {
    let (hull, width) = (&compact.hull, compact.inputs());
    let mut size = dispatch(Centre { input: compact.input(), a, sum });
    let mut count = 0;
    for (neuron, &Neuron { stage, index, .. }) in hull.neurons.iter().enumerate() {
        let at = slot * compact.stages[stage].width + index;
        let times = -stages[stage].mu[at];
        turns[count] = Turn { neuron, times, ..Turn::default() };
        // If μ is NaN the sum already is, so skipping it is safe.
        count += usize::from(times > 0.0 && stages[stage].cost[at] > 0.0);
    }
    spread(hull.sides(width), &mut turns[..count], a);
    let (mut needs, mut error) = (0.0, 0.0);
    for turn in &turns[..count] {
        let neuron = &hull.neurons[turn.neuron];
        let (times, found) = (f64::from(turn.times), f64::from(turn.found));
        needs += times * neuron.half;
        // A product with `times` that underflows is off by less than a rounding of the least normal number.
        error += (times + f64::from(f32::MIN_POSITIVE)) * neuron.error;
        size += times * neuron.total;
        // Of an infinite sum nothing was taken.
        error += if found == f64::INFINITY { f64::INFINITY } else { 0.0 };
        let lacking = (neuron.half - found).max(0.0);
        let (buffers, at) = (&mut stages[neuron.stage], slot * compact.stages[neuron.stage].width + neuron.index);
        (buffers.loss[at], buffers.lift[at]) = ((2.0 * times * lacking) as f32, turn.line);
    }
    sum.add(-needs, needs, count);
    // Every subtraction from a pull is rounded once, and what is subtracted twice.
    let pulls = sum_error_32(count, size) + (count as f64 + 4.0) * underflow_error_32(2 * width, 1.0);
    sum.charge(error + pulls, 2 * count + 4);
    dispatch(Least { input: compact.input(), pull: a, x, sum });
}
