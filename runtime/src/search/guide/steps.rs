//! The passes over one stage of a batch that propose its next multipliers, a panel of neurons at a time.
//!
//! Chunks are copied to local arrays before the lanes choose among them: the compiler then selects instead of gathering.

#![allow(clippy::needless_range_loop, reason = "loops over the lanes of arrays are what is compiled to vector code")]

use crate::bounds::{Buffers, CompactStage};
use pg_core::kernel::{PANEL, Simd, Vectorised, chunks, chunks_mut};

/// The memory of Adam's averages, and what they lack of their weight so far.
#[derive(Clone, Copy)]
pub struct Adam {
    pub memory: f32,
    pub correction: f32,
}

impl Adam {
    /// The direction to take, of length about 1.
    #[inline(always)]
    pub fn change(self, gradient: f32, mean: &mut f32, square: &mut f32) -> f32 {
        *mean = self.memory * *mean + (1.0 - self.memory) * gradient;
        *square = self.memory * *square + (1.0 - self.memory) * gradient * gradient;
        *mean / self.correction / ((*square / self.correction).sqrt() + 1e-9)
    }
}

/// Pre-activations with their biases, and the activations of the chosen pieces.
pub struct Push<'a> {
    pub stage: &'a CompactStage,
    pub buffers: &'a mut Buffers,
    pub count: usize,
}

impl Vectorised for Push<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Push { stage, buffers, count } = self;
        for slot in 0..count {
            let row = slot * stage.width..(slot + 1) * stage.width;
            let (mu, alpha, slope) =
                (&buffers.mu[row.clone()], &buffers.alpha[row.clone()], &buffers.slope[row.clone()]);
            let (z, h) = (&mut buffers.z[row.clone()], &mut buffers.h[row.clone()]);
            push::<S>([mu, alpha, slope, &buffers.lift[row], &stage.bias], z, h);
        }
    }
}

/// One row. Numbers are copied before they are chosen among, and all slices are as long as the first: then this is vector code.
#[inline(always)]
fn push<S: Simd>(row: [&[f32]; 5], z: &mut [f32], h: &mut [f32]) {
    let width = row[0].len();
    let [mu, alpha, slope, lift, bias] = row.map(|values| &values[..width]);
    let (z, h) = (&mut z[..width], &mut h[..width]);
    for i in 0..width {
        let (alpha, slope, lift) = (alpha[i], slope[i], lift[i]);
        let value = z[i] + bias[i];
        let (part, lift) = if mu[i] >= 0.0 { (alpha, 0.0) } else { (slope, lift) };
        z[i] = value;
        h[i] = S::mul_add(part, value, lift);
    }
}

/// The nearest part that a node can keep, so that its bound is that of what it keeps.
#[inline(always)]
fn in_255ths(part: f32) -> f32 {
    (part * 255.0 + 0.5).floor() / 255.0
}

/// Moves the parts α of the undecided neurons with μ ≥ 0.
pub struct Step<'a> {
    pub buffers: &'a mut Buffers,
    pub width: usize,
    pub adam: Adam,
    /// Of each row.
    pub rates: &'a [f32],
}

impl Vectorised for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Step { buffers, width, adam, rates } = self;
        let count = rates.len() * width;
        let (mu, z, cost) = (chunks(&buffers.mu[..count]), chunks(&buffers.z[..count]), chunks(&buffers.cost[..count]));
        let alpha = chunks_mut(&mut buffers.alpha[..count]);
        let mean = chunks_mut(&mut buffers.mean[..count]);
        let square = chunks_mut(&mut buffers.square[..count]);
        for c in 0..count / PANEL {
            let rate = rates[c * PANEL / width];
            let (mu, z, cost) = (mu[c], z[c], cost[c]);
            let (mut part, mut new_mean, mut new_square) = (alpha[c], mean[c], square[c]);
            for lane in 0..PANEL {
                let open = cost[lane] > 0.0;
                let moves = open && mu[lane] >= 0.0;
                let stuck = (z[lane] > 0.0 && part[lane] >= 1.0) || (z[lane] < 0.0 && part[lane] <= 0.0);
                let gradient = if moves && !stuck { z[lane] * mu[lane] } else { 0.0 };
                let (mut m, mut q) = (new_mean[lane], new_square[lane]);
                let change = adam.change(gradient, &mut m, &mut q);
                let moved = in_255ths((part[lane] + rate * change).clamp(0.0, 1.0));
                part[lane] = if moves { moved } else { part[lane] };
                new_mean[lane] = if open { m } else { new_mean[lane] };
                new_square[lane] = if open { q } else { new_square[lane] };
            }
            (alpha[c], mean[c], square[c]) = (part, new_mean, new_square);
        }
    }
}

/// The largest product of two numbers among the undecided neurons, and where it is.
pub struct Largest<'a> {
    pub of: &'a [f32],
    pub by: &'a [f32],
    pub cost: &'a [f32],
}

impl Vectorised for Largest<'_> {
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
