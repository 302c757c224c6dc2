//! One stage of the bound in float32: the multipliers of a batch of rows, and what their terms come to.
//!
//! Chunks are copied to local arrays before the lanes choose among them: the compiler then selects instead of gathering.

use super::panels::{PANEL, chunks, chunks_mut};
use super::simd::{Simd, Vectorised};
use crate::rounding::Sum;

/// What is known of a stage's neurons, one number each, padded with zeros.
pub struct Neurons<'a> {
    pub bias: &'a [f32],
    /// What a unit of a multiplier may cost by rounding and by the neuron's own error.
    pub slop: &'a [f32],
    /// Whether undecided neurons with μ < 0 have no chord here: they are spread over the inputs later.
    pub is_spread: bool,
}

/// A batch of rows as wide as the stage.
pub struct Block<'a> {
    pub mu: &'a [f32],
    /// The part of μ ≥ 0, and of μ < 0, that is the multiplier.
    pub alpha: &'a [f32],
    pub slope: &'a [f32],
    /// What the relaxation of an undecided neuron costs for each unit of −μ; 0 for decided ones.
    pub cost: &'a [f32],
    /// −β for a neuron fixed on, β for one fixed off.
    pub shift: &'a [f32],
    /// Out: the multipliers, and what each relaxation costs the bound.
    pub nu: &'a mut [f32],
    pub loss: &'a mut [f32],
}

/// Chooses the multipliers of one stage and adds their terms to the sums, one a row.
pub struct Relax<'a> {
    pub neurons: Neurons<'a>,
    pub rows: Block<'a>,
    pub sums: &'a mut [Sum],
}

impl Vectorised for Relax<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Relax { neurons, rows, sums } = self;
        let width = neurons.bias.len();
        let (bias, slop) = (chunks(neurons.bias), chunks(neurons.slop));
        for (slot, total) in sums.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            let (mu, alpha) = (chunks(&rows.mu[row.clone()]), chunks(&rows.alpha[row.clone()]));
            let (slope, cost) = (chunks(&rows.slope[row.clone()]), chunks(&rows.cost[row.clone()]));
            let shift = chunks(&rows.shift[row.clone()]);
            let loss = chunks_mut(&mut rows.loss[row.clone()]);
            let nu = chunks_mut(&mut rows.nu[row]);
            let (mut sum, mut size, mut error) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
            for c in 0..width / PANEL {
                let (mu, alpha, slope, cost, shift) = (mu[c], alpha[c], slope[c], cost[c], shift[c]);
                let (bias, slop) = (bias[c], slop[c]);
                let (mut multiplier, mut lost) = ([0.0; PANEL], [0.0; PANEL]);
                for lane in 0..PANEL {
                    let positive = mu[lane] >= 0.0;
                    let part = if positive { alpha[lane] } else { slope[lane] };
                    let cost = if positive || neurons.is_spread { 0.0 } else { cost[lane] };
                    multiplier[lane] = S::mul_add(part, mu[lane], shift[lane]);
                    let (least, constant) = (mu[lane] * cost, multiplier[lane] * bias[lane]);
                    lost[lane] = -least;
                    sum[lane] += constant + least;
                    size[lane] += constant.abs() + least.abs();
                    error[lane] = S::mul_add(multiplier[lane].abs(), slop[lane], error[lane]);
                }
                (nu[c], loss[c]) = (multiplier, lost);
            }
            total.add_lanes(&sum, &size, &error, 3 * width / PANEL);
        }
    }
}

/// The least value of rows over the box, by its centre and radius, in two steps: see [`Centre`] and [`Least`].
#[derive(Clone, Copy)]
pub struct CentredBox<'a> {
    pub lower: &'a [f32],
    pub upper: &'a [f32],
    /// Centre and radius enclose the box.
    pub centre: &'a [f32],
    pub radius: &'a [f32],
}

/// Turns the coefficients of a row into pulls, that is times the radius, and adds their value at the centre. Returns an upper
/// bound of the pulls' magnitudes together.
pub struct Centre<'a> {
    pub input: CentredBox<'a>,
    pub a: &'a mut [f32],
    pub sum: &'a mut Sum,
}

impl Vectorised for Centre<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        let Centre { input, a, sum: total } = self;
        let terms = a.len() / PANEL;
        let (mut sum, mut size, mut pulls) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
        let sides = chunks(input.centre).iter().zip(chunks(input.radius));
        for (a, (centre, radius)) in chunks_mut(a).iter_mut().zip(sides) {
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
        total.add_lanes(&sum, &size, &[0.0; PANEL], terms);
        Sum::of_sizes(&pulls, terms)
    }
}

/// Adds the least value over the box of what pulls are left, and keeps the corner where it is.
pub struct Least<'a> {
    pub input: CentredBox<'a>,
    pub pull: &'a [f32],
    pub x: &'a mut [f32],
    pub sum: &'a mut Sum,
}

impl Vectorised for Least<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Least { input, pull, x, sum } = self;
        let terms = pull.len() / PANEL;
        let mut size = [0.0f32; PANEL];
        let sides = chunks(input.lower).iter().zip(chunks(input.upper));
        for ((x, pull), (lower, upper)) in chunks_mut(x).iter_mut().zip(chunks(pull)).zip(sides) {
            let (pull, lower, upper) = (*pull, *lower, *upper);
            let mut corner = [0.0; PANEL];
            for lane in 0..PANEL {
                corner[lane] = if pull[lane] >= 0.0 { lower[lane] } else { upper[lane] };
                size[lane] += pull[lane].abs();
            }
            *x = corner;
        }
        sum.add_lanes(&size.map(|size| -size), &size, &[0.0; PANEL], terms);
    }
}
