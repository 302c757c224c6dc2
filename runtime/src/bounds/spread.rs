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
use super::passes::{Buffers, Total, add, chunks, chunks_mut};
use crate::kernel::{PANEL, Reach, Reaches, Simd, Task, Want, dispatch, roundings};
use crate::network::Network;

/// The box of inputs by its centre and radius, and the first layer's neurons that may be spread.
pub(crate) struct Spread {
    centre: Vec<f32>,
    radius: Vec<f32>,
    neurons: Vec<Neuron>,
    /// Of the same neurons: their reaches are the weight times the radius of each input, their need half of what they can be.
    reaches: Box<dyn Reaches>,
}

struct Neuron {
    /// Its place in the layer.
    index: usize,
    /// Half of what it can be on the box at most, rounded up, and its reaches together.
    half: f64,
    total: f64,
    /// What a unit of it may cost beyond its half.
    error: f64,
}

impl Spread {
    /// Of a box, padded with zeros. The radius is rounded up, so that centre and radius enclose the box.
    pub fn new(network: &dyn Network, lower: &[f32], upper: &[f32]) -> Spread {
        let centre: Vec<f32> = lower.iter().zip(upper).map(|(l, u)| l + (u - l) / 2.0).collect();
        let radius = |((l, u), c): ((&f32, &f32), &f32)| above((f64::from(c - l)).max(f64::from(u - c))).next_up();
        let is_point = |((l, u), c): &((&f32, &f32), &f32)| l == c && u == c;
        let sides = lower.iter().zip(upper).zip(&centre);
        let radius = sides.map(|side| if is_point(&side) { 0.0 } else { radius(side) }).collect();
        Spread { centre, radius, neurons: vec![], reaches: network.reaches(vec![]) }
    }

    /// Takes the undecided neurons of the first layer, which refers to the given inputs of the box.
    pub fn take(&mut self, network: &dyn Network, made: &FrontLayer, layer: &Layer, before: &[usize]) {
        let mut rows: Vec<(usize, Reach)> = Vec::new();
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
            rows.push((index, Reach { reach, total: total as f32, half }));
        }
        rows.sort_by(|(_, a), (_, b)| b.half.total_cmp(&a.half));
        let width = self.centre.len();
        self.neurons = rows.iter().map(|(index, reach)| Neuron::new(*index, reach, width, made.slop[*index])).collect();
        self.reaches = network.reaches(rows.into_iter().map(|(_, reach)| reach).collect());
    }
}

impl Neuron {
    /// The slop is what it can be beyond its half, by the layer's stated error. By the roundings of what is found, what is spread may
    /// differ from the half: that far the line's constant is wrong, and where it falls short the line too, twice as far. What
    /// each input takes may exceed its reach by a few roundings. Reaches fall short of the half by rounding at most.
    fn new(index: usize, reach: &Reach, width: usize, slop: f32) -> Neuron {
        let (half, total) = (f64::from(reach.half), f64::from(reach.total));
        let rounding = ROUND_32 * (4.0 * roundings(width) as f64 * half + 32.0 * total);
        Neuron { index, half, total, error: f64::from(slop) + rounding + 2.0 * (half - total).max(0.0) }
    }
}

/// Minimises rows over the box, and keeps where. The coefficients `a` of the inputs are used up; for each neuron that was spread
/// the buffers of the first layer are told its loss and, as its lift, its line's value.
pub fn corner(front: &Front, mut buffers: Option<&mut Buffers>, a: &mut [f32], x: &mut [f32], totals: &mut [Total]) {
    let spread = &front.spread;
    let width = spread.centre.len();
    let mut room = vec![Want::default(); spread.neurons.len()];
    for (slot, total) in totals.iter_mut().enumerate() {
        let row = slot * width..(slot + 1) * width;
        let pull = &mut a[row.clone()];
        let mut size = dispatch(Centre { spread, a: pull, total });
        let mut count = 0;
        if let Some((layer, buffers)) = front.layers.first().zip(buffers.as_deref_mut()) {
            let first = slot * layer.width;
            for (neuron, &Neuron { index, .. }) in spread.neurons.iter().enumerate() {
                let times = -buffers.mu[first + index];
                room[count] = Want { neuron, times, ..Want::default() };
                // A μ that is not a number has made the sum one that is none.
                count += usize::from(times > 0.0 && buffers.cost[first + index] > 0.0);
            }
            let wants = &mut room[..count];
            spread.reaches.spread(wants, pull);
            for want in wants {
                let neuron = &spread.neurons[want.neuron];
                let (times, found) = (f64::from(want.times), f64::from(want.found));
                total.sum -= times * neuron.half;
                // What underflows is less than a rounding of the least number.
                total.error += (times + f64::from(f32::MIN_POSITIVE)) * neuron.error;
                size += times * neuron.total;
                let lacking = (neuron.half - found).max(0.0);
                let index = first + neuron.index;
                (buffers.loss[index], buffers.lift[index]) = ((2.0 * times * lacking) as f32, want.line);
                if found == f64::INFINITY {
                    // Of an infinite sum nothing was taken.
                    total.error = f64::INFINITY;
                }
            }
        }
        // Every subtraction from a pull is rounded once, and what is subtracted twice.
        let tiny = width as f64 * f64::from(f32::MIN_POSITIVE);
        total.error += (count as f64 + 4.0) * (ROUND_32 * size + tiny);
        dispatch(Least { front, pull, x: &mut x[row], total });
    }
}

/// Turns coefficients into pulls, that is times the radius, and adds their value at the centre. Returns the size of the pulls.
struct Centre<'a> {
    spread: &'a Spread,
    a: &'a mut [f32],
    total: &'a mut Total,
}

impl Task for Centre<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let Centre { spread, a, total } = self;
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
}

/// Adds the least value over the box of what pulls are left, and keeps where it is.
struct Least<'a> {
    front: &'a Front,
    pull: &'a [f32],
    x: &'a mut [f32],
    total: &'a mut Total,
}

impl Task for Least<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Least { front, pull, x, total } = self;
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
}
