//! The passes over one layer of a batch, a panel of neurons at a time.
//!
//! Chunks are copied to local arrays before the lanes choose among them: the compiler then selects instead of gathering.

use super::front::{FrontLayer, ROUND_32};
use crate::kernel::{Buffer, PANEL, Simd, Task};

/// Of Adam's averages.
pub const DECAY: f32 = 0.9;

/// The numbers of a batch for one layer of the front: a row for each work, as wide as the layer.
pub struct Buffers {
    pub mu: Buffer,
    pub nu: Buffer,
    pub z: Buffer,
    pub h: Buffer,
    pub alpha: Buffer,
    pub slope: Buffer,
    pub cost: Buffer,
    pub lift: Buffer,
    /// What the relaxation of each neuron costs the bound.
    pub loss: Buffer,
    /// −β for a neuron on, β for one off.
    pub shift: Buffer,
    /// Adam's averages of the gradient and of its square.
    pub mean: Buffer,
    pub square: Buffer,
}

/// A bound under way: the sum of its terms, and what must be subtracted.
#[derive(Clone, Copy, Default)]
pub struct Total {
    pub sum: f64,
    pub error: f64,
}

impl Buffers {
    pub fn new(layer: &FrontLayer, rows: usize) -> Buffers {
        let room = || Buffer::zeros(rows * layer.width);
        Buffers {
            mu: room(),
            nu: room(),
            z: room(),
            h: room(),
            alpha: room(),
            slope: room(),
            cost: room(),
            lift: room(),
            loss: room(),
            shift: room(),
            mean: room(),
            square: room(),
        }
    }
}

/// The direction that Adam takes, of length about 1.
#[inline(always)]
pub fn adam(gradient: f32, mean: &mut f32, square: &mut f32, correction: f32) -> f32 {
    *mean = DECAY * *mean + (1.0 - DECAY) * gradient;
    *square = DECAY * *square + (1.0 - DECAY) * gradient * gradient;
    *mean / correction / ((*square / correction).sqrt() + 1e-9)
}

pub type Chunk = [f32; PANEL];

#[inline(always)]
pub fn chunks(values: &[f32]) -> &[Chunk] {
    values.as_chunks().0
}

#[inline(always)]
pub fn chunks_mut(values: &mut [f32]) -> &mut [Chunk] {
    values.as_chunks_mut().0
}

/// Chooses the multipliers of one layer and adds their terms to the totals: but for those undecided neurons with μ < 0 of the
/// first layer, which are spread later.
pub struct Relax<'a> {
    pub layer: &'a FrontLayer,
    pub is_first: bool,
    pub buffers: &'a mut Buffers,
    pub totals: &'a mut [Total],
}

impl Task for Relax<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Relax { layer, is_first, buffers, totals } = self;
        let width = layer.width;
        let (bias, slop) = (chunks(&layer.bias), chunks(&layer.slop));
        for (slot, total) in totals.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            let mu = chunks(&buffers.mu[row.clone()]);
            let alpha = chunks(&buffers.alpha[row.clone()]);
            let slope = chunks(&buffers.slope[row.clone()]);
            let cost = chunks(&buffers.cost[row.clone()]);
            let shift = chunks(&buffers.shift[row.clone()]);
            let loss = chunks_mut(&mut buffers.loss[row.clone()]);
            let nu = chunks_mut(&mut buffers.nu[row]);
            let (mut sum, mut size, mut error) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
            for c in 0..width / PANEL {
                let (mu, alpha, slope, cost, shift) = (mu[c], alpha[c], slope[c], cost[c], shift[c]);
                let (bias, slop) = (bias[c], slop[c]);
                let (mut multiplier, mut lost) = ([0.0; PANEL], [0.0; PANEL]);
                for lane in 0..PANEL {
                    let positive = mu[lane] >= 0.0;
                    let share = if positive { alpha[lane] } else { slope[lane] };
                    let cost = if positive || is_first { 0.0 } else { cost[lane] };
                    multiplier[lane] = S::mul_add(share, mu[lane], shift[lane]);
                    let (least, constant) = (mu[lane] * cost, multiplier[lane] * bias[lane]);
                    lost[lane] = -least;
                    sum[lane] += constant + least;
                    size[lane] += constant.abs() + least.abs();
                    error[lane] = S::mul_add(multiplier[lane].abs(), slop[lane], error[lane]);
                }
                (nu[c], loss[c]) = (multiplier, lost);
            }
            add(total, &sum, &size, &error, width);
        }
    }
}

/// Adds lanes to a total. Each lane took at most three roundings a term and one an addition, over `width / PANEL` terms:
/// twice that many times the magnitudes bounds their error and that of the magnitudes themselves.
#[inline(always)]
pub fn add(total: &mut Total, sum: &[f32; PANEL], size: &[f32; PANEL], error: &[f32; PANEL], width: usize) {
    let roundings = 2.0 * ((width / PANEL) as f64 + 8.0) * ROUND_32;
    let (mut s, mut m, mut e) = (0.0, 0.0, 0.0);
    for lane in 0..PANEL {
        s += f64::from(sum[lane]);
        m += f64::from(size[lane]);
        e += f64::from(error[lane]);
    }
    total.sum += s;
    total.error += roundings * m + e * (1.0 + roundings);
}

/// Pre-activations with their biases, and the activations of the chosen pieces.
pub struct Push<'a> {
    pub layer: &'a FrontLayer,
    pub buffers: &'a mut Buffers,
    pub count: usize,
}

impl Task for Push<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Push { layer, buffers, count } = self;
        let width = layer.width;
        let bias = chunks(&layer.bias);
        for slot in 0..count {
            let row = slot * width..(slot + 1) * width;
            let mu = chunks(&buffers.mu[row.clone()]);
            let alpha = chunks(&buffers.alpha[row.clone()]);
            let slope = chunks(&buffers.slope[row.clone()]);
            let lift = chunks(&buffers.lift[row.clone()]);
            let z = chunks_mut(&mut buffers.z[row.clone()]);
            let h = chunks_mut(&mut buffers.h[row]);
            for c in 0..width / PANEL {
                let (mu, alpha, slope, lift, bias) = (mu[c], alpha[c], slope[c], lift[c], bias[c]);
                let (mut value, mut activation) = (z[c], [0.0; PANEL]);
                for lane in 0..PANEL {
                    value[lane] += bias[lane];
                    let positive = mu[lane] >= 0.0;
                    let share = if positive { alpha[lane] } else { slope[lane] };
                    let lift = if positive { 0.0 } else { lift[lane] };
                    activation[lane] = S::mul_add(share, value[lane], lift);
                }
                (z[c], h[c]) = (value, activation);
            }
        }
    }
}

/// Moves the shares of the undecided neurons with μ ≥ 0.
pub struct Step<'a> {
    pub buffers: &'a mut Buffers,
    pub width: usize,
    pub correction: f32,
    /// Of each row.
    pub rates: &'a [f32],
}

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Step { buffers, width, correction, rates } = self;
        let count = rates.len() * width;
        let (mu, z, cost) = (chunks(&buffers.mu[..count]), chunks(&buffers.z[..count]), chunks(&buffers.cost[..count]));
        let alpha = chunks_mut(&mut buffers.alpha[..count]);
        let mean = chunks_mut(&mut buffers.mean[..count]);
        let square = chunks_mut(&mut buffers.square[..count]);
        for c in 0..count / PANEL {
            let rate = rates[c * PANEL / width];
            let (mu, z, cost) = (mu[c], z[c], cost[c]);
            let (mut share, mut new_mean, mut new_square) = (alpha[c], mean[c], square[c]);
            for lane in 0..PANEL {
                let open = cost[lane] > 0.0;
                let moves = open && mu[lane] >= 0.0;
                let stuck = (z[lane] > 0.0 && share[lane] >= 1.0) || (z[lane] < 0.0 && share[lane] <= 0.0);
                let gradient = if moves && !stuck { z[lane] * mu[lane] } else { 0.0 };
                let (mut m, mut q) = (new_mean[lane], new_square[lane]);
                let change = adam(gradient, &mut m, &mut q, correction);
                let moved = (share[lane] + rate * change).clamp(0.0, 1.0);
                share[lane] = if moves { moved } else { share[lane] };
                new_mean[lane] = if open { m } else { new_mean[lane] };
                new_square[lane] = if open { q } else { new_square[lane] };
            }
            (alpha[c], mean[c], square[c]) = (share, new_mean, new_square);
        }
    }
}

/// The largest product of two numbers among the undecided neurons, and where it is.
pub struct Largest<'a> {
    pub of: &'a [f32],
    pub by: &'a [f32],
    pub cost: &'a [f32],
}

impl Task for Largest<'_> {
    type Output = (f32, usize);

    #[inline(always)]
    fn run<S: Simd>(self) -> (f32, usize) {
        let (of, by, cost) = (chunks(self.of), chunks(self.by), chunks(self.cost));
        let (mut most, mut at) = ([0.0f32; PANEL], [0u32; PANEL]);
        for c in 0..of.len().min(by.len()).min(cost.len()) {
            let (of, by, cost) = (of[c], by[c], cost[c]);
            for lane in 0..PANEL {
                let product = of[lane] * by[lane];
                let larger = cost[lane] > 0.0 && product > most[lane];
                most[lane] = if larger { product } else { most[lane] };
                at[lane] = if larger { c as u32 } else { at[lane] };
            }
        }
        let mut best = (0.0, 0);
        for lane in 0..PANEL {
            if most[lane] > best.0 {
                best = (most[lane], at[lane] as usize * PANEL + lane);
            }
        }
        best
    }
}
