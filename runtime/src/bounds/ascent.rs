//! The one bound in float32, for many rows at once, and steps that raise it.
//!
//! Each row has a node: the phases fixed on its way and its multipliers, α for undecided neurons and β for fixed ones. One
//! pass backward gives a lower bound and the corner of the box where it is attained; pushing that corner forward through the
//! chosen pieces gives the supergradient: μz for α, −z for β of a neuron on and z for one off. The steps are Adam's.
//!
//! What a pass returns is rigorous: sums are kept in [`PANEL`] lanes of float32 with the sum of their terms' magnitudes, and
//! the error bounds of [`Front`] are subtracted in float64. Any multipliers are sound, so nothing else needs care.

use super::front::{Front, Place, Row};
use super::gains::Gains;
use super::passes::{Buffers, DECAY, Largest, Push, Relax, Step, Total, adam};
use super::spread::corner;
use crate::kernel::{Buffer, dispatch};

/// Rows evaluated together.
pub const ROWS: usize = 48;

/// A search node of one row.
#[derive(Clone, Debug)]
pub struct Node {
    /// For each neuron of the front, layer by layer, the share α of μ ≥ 0 that is its multiplier, in 255ths.
    alpha: Box<[u8]>,
    pub splits: Vec<Split>,
    /// The best lower bound so far; a child starts with its parent's.
    pub bound: f32,
    /// Where to split next.
    pub branch: Option<Branch>,
    /// The length of its steps, as a share of what [`Steps`] say. It is the children's too: they are much alike.
    stride: f32,
}

/// An undecided neuron, and what its relaxation costs the bound.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub place: Place,
    loss: f32,
}

/// A neuron's phase, and the multiplier β ≥ 0 of the half-space that it is.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    pub place: Place,
    pub on: bool,
    pub beta: f32,
}

/// How far to raise a bound.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub count: usize,
    pub rate: f32,
    pub decay: f32,
}

/// A step below the root that gains makes the next ones longer, one that does not makes them shorter, within limits.
const LONGER: f32 = 1.5;
const SHORTER: f32 = 0.7;
const STRIDES: (f32, f32) = (0.02, 2.0);

/// A row at a node, and the bound that is enough.
pub struct Work<'r> {
    pub row: &'r Row,
    pub node: Node,
    pub target: f32,
}

impl Node {
    pub fn root(front: &Front) -> Node {
        let shares = front.layers.iter().flat_map(|layer| &layer.alpha);
        let alpha = shares.map(|&alpha| to_byte(alpha)).collect();
        Node { alpha, splits: vec![], bound: f32::NEG_INFINITY, branch: None, stride: 1.0 }
    }

    /// Sets the length of the next steps by whether one gained. The root's many steps set their own.
    fn pace(&mut self, gained: bool) {
        if !self.splits.is_empty() {
            let change = if gained { LONGER } else { SHORTER };
            self.stride = (self.stride * change).clamp(STRIDES.0, STRIDES.1);
        }
    }

    /// The node with one more phase.
    pub fn child(&self, place: Place, on: bool) -> Node {
        let mut splits = Vec::with_capacity(self.splits.len() + 1);
        splits.extend_from_slice(&self.splits);
        splits.push(Split { place, on, beta: 0.0 });
        Node { alpha: self.alpha.clone(), splits, ..*self }
    }
}

/// Room for evaluating batches on one front.
pub struct Ascent<'f> {
    front: &'f Front,
    layers: Vec<Buffers>,
    gains: Gains,
    /// Coefficients of the inputs, and the corner.
    a: Buffer,
    x: Buffer,
    totals: Vec<Total>,
    /// The best bound that each slot's own multipliers gave: a node's may be its parent's, from others.
    best: Vec<f32>,
    /// Rows passed backward.
    pub passes: u64,
}

impl<'f> Ascent<'f> {
    pub fn new(front: &'f Front) -> Ascent<'f> {
        let inputs = ROWS * front.input_lower.len();
        Ascent {
            front,
            layers: front.layers.iter().map(|layer| Buffers::new(layer, ROWS)).collect(),
            gains: Gains::new(front),
            a: Buffer::zeros(inputs),
            x: Buffer::zeros(inputs),
            totals: vec![Total::default(); ROWS],
            best: vec![0.0; ROWS],
            passes: 0,
        }
    }

    /// Raises each work's bound until it exceeds its target or the steps are done, and picks where to branch.
    pub fn raise(&mut self, works: &mut [Work], steps: Steps) {
        for batch in works.chunks_mut(ROWS) {
            self.raise_batch(batch, steps);
        }
    }

    fn raise_batch(&mut self, works: &mut [Work], steps: Steps) {
        let mut live: Vec<usize> = (0..works.len()).collect();
        for (slot, work) in works.iter().enumerate() {
            self.load(slot, &work.node);
        }
        let mut rate = steps.rate;
        for step in 0..=steps.count {
            self.backward(works, &live);
            let last = step == steps.count;
            let mut kept = 0;
            for slot in 0..live.len() {
                let work = &mut works[live[slot]];
                let bound = self.bound(slot);
                if step > 0 {
                    let gained = bound > self.best[slot];
                    work.node.pace(gained);
                    if gained {
                        self.save(slot, &mut work.node);
                    }
                }
                self.best[slot] = if step > 0 { self.best[slot].max(bound) } else { bound };
                work.node.bound = work.node.bound.max(bound);
                if work.node.bound > work.target {
                    continue;
                }
                work.node.branch = if last { self.branch(slot) } else { None };
                if kept < slot {
                    self.move_row(slot, kept);
                }
                live[kept] = live[slot];
                kept += 1;
            }
            live.truncate(kept);
            if live.is_empty() || last {
                return;
            }
            self.forward(live.len());
            self.step(works, &live, step, rate);
            rate *= steps.decay;
        }
    }

    /// Fills a slot with a node's multipliers.
    fn load(&mut self, slot: usize, node: &Node) {
        let mut shares = &*node.alpha;
        for (layer, buffers) in self.front.layers.iter().zip(&mut self.layers) {
            let row = slot * layer.width..(slot + 1) * layer.width;
            let (now, later) = shares.split_at(layer.width);
            shares = later;
            buffers.alpha[row.clone()].iter_mut().zip(now).for_each(|(to, &from)| *to = f32::from(from) / 255.0);
            buffers.slope[row.clone()].copy_from_slice(&layer.slope);
            buffers.cost[row.clone()].copy_from_slice(&layer.cost);
            buffers.lift[row.clone()].copy_from_slice(&layer.lift);
            buffers.shift[row.clone()].fill(0.0);
            buffers.mean[row.clone()].fill(0.0);
            buffers.square[row].fill(0.0);
        }
        for split in &node.splits {
            let (layer, index) = self.at(slot, split.place);
            let buffers = &mut self.layers[layer];
            let (share, shift) = if split.on { (1.0, -split.beta) } else { (0.0, split.beta) };
            (buffers.alpha[index], buffers.slope[index], buffers.shift[index]) = (share, share, shift);
            (buffers.cost[index], buffers.lift[index]) = (0.0, 0.0);
        }
    }

    fn save(&self, slot: usize, node: &mut Node) {
        let mut shares = &mut *node.alpha;
        for (layer, buffers) in self.front.layers.iter().zip(&self.layers) {
            let (now, later) = shares.split_at_mut(layer.width);
            shares = later;
            let row = &buffers.alpha[slot * layer.width..(slot + 1) * layer.width];
            now.iter_mut().zip(row).for_each(|(to, &from)| *to = to_byte(from));
        }
        for split in &mut node.splits {
            let (layer, index) = self.at(slot, split.place);
            split.beta = self.layers[layer].shift[index].abs();
        }
    }

    /// The layer of a neuron, and its index in the layer's buffers.
    fn at(&self, slot: usize, place: Place) -> (usize, usize) {
        let layer = place.layer as usize;
        (layer, slot * self.front.layers[layer].width + place.index as usize)
    }

    fn move_row(&mut self, from: usize, to: usize) {
        for (layer, buffers) in self.front.layers.iter().zip(&mut self.layers) {
            let Buffers { mu, alpha, slope, cost, lift, shift, mean, square, .. } = buffers;
            for values in [mu, alpha, slope, cost, lift, shift, mean, square] {
                values.copy_within(from * layer.width..(from + 1) * layer.width, to * layer.width);
            }
        }
        self.best[to] = self.best[from];
        let inputs = self.front.input_lower.len();
        self.x.copy_within(from * inputs..(from + 1) * inputs, to * inputs);
    }

    /// The lower bounds of the rows in the first slots.
    fn backward(&mut self, works: &[Work], live: &[usize]) {
        self.passes += live.len() as u64;
        let count = live.len();
        for (slot, &work) in live.iter().enumerate() {
            let row = works[work].row;
            self.totals[slot] = Total { sum: row.constant, error: row.error + self.front.underflow };
            if let (Some(layer), Some(buffers)) = (self.front.layers.last(), self.layers.last_mut()) {
                buffers.mu[slot * layer.width..(slot + 1) * layer.width].copy_from_slice(&row.mu);
            }
        }
        for k in (0..self.front.layers.len()).rev() {
            let layer = &self.front.layers[k];
            let (before, rest) = self.layers.split_at_mut(k);
            let buffers = &mut rest[0];
            dispatch(Relax { layer, is_first: k == 0, buffers, totals: &mut self.totals[..count] });
            let nu = &buffers.nu[..count * layer.width];
            match (before.last_mut(), k.checked_sub(1).map(|k| &self.front.layers[k])) {
                (Some(before), Some(to)) => layer.back.product(nu, &mut before.mu[..count * to.width]),
                _ => layer.back.product(nu, &mut self.a[..count * self.front.input_lower.len()]),
            }
        }
        let inputs = self.front.input_lower.len();
        if self.front.layers.is_empty() {
            self.a.fill(0.0);
        }
        for (slot, &work) in live.iter().enumerate() {
            if let Some(x) = &works[work].row.x {
                self.a[slot * inputs..].iter_mut().zip(x).for_each(|(a, x)| *a += x);
            }
        }
        let (a, totals) = (&mut self.a[..count * inputs], &mut self.totals[..count]);
        corner(self.front, self.layers.first_mut(), a, &mut self.x, totals);
    }

    /// The bound of a slot after a pass, rounded down; none from a number that is not finite.
    fn bound(&self, slot: usize) -> f32 {
        let Total { sum, error } = self.totals[slot];
        let bound = (sum - error * (1.0 + 1e-9) - sum.abs() * 1e-13).next_down();
        let rounded = bound as f32;
        if !bound.is_finite() || !rounded.is_finite() {
            return f32::NEG_INFINITY;
        }
        if f64::from(rounded) <= bound { rounded } else { rounded.next_down() }
    }

    /// The undecided neuron that promises to gain the bound most: by what its relaxation costs and by what splits of it have
    /// gained before. If none costs anything, the one with the largest triangle times μ.
    fn branch(&self, slot: usize) -> Option<Branch> {
        let (mut most, mut best) = (0.0, None);
        let (mut second_most, mut second) = (0.0, None);
        for (k, (layer, buffers)) in self.front.layers.iter().zip(&self.layers).enumerate() {
            let row = slot * layer.width..(slot + 1) * layer.width;
            let (mu, loss, cost) = (&buffers.mu[row.clone()], &buffers.loss[row.clone()], &buffers.cost[row]);
            let branch = |index: usize| {
                let place = Place { layer: k as u32, index: index as u32 };
                Some(Branch { place, loss: loss[index] })
            };
            let gain = dispatch(Largest { of: loss, by: self.gains.worth(k), cost });
            if gain.0 > most {
                (most, best) = (gain.0, branch(gain.1));
            }
            if best.is_none() {
                let size = dispatch(Largest { of: mu, by: &layer.triangle, cost });
                if size.0 > second_most {
                    (second_most, second) = (size.0, branch(size.1));
                }
            }
        }
        best.or(second)
    }

    /// Learns from what a split gained on both sides.
    pub fn learn(&mut self, branch: Branch, gains: [f32; 2]) {
        self.gains.learn(branch.place, branch.loss, gains);
    }

    /// Pushes the corners of the rows in the first slots through the chosen pieces.
    fn forward(&mut self, count: usize) {
        let inputs = self.front.input_lower.len();
        for k in 0..self.front.layers.len() {
            let layer = &self.front.layers[k];
            let (before, rest) = self.layers.split_at_mut(k);
            let buffers = &mut rest[0];
            let z = &mut buffers.z[..count * layer.width];
            match (before.last(), k.checked_sub(1).map(|k| &self.front.layers[k])) {
                (Some(before), Some(from)) => layer.forward.product(&before.h[..count * from.width], z),
                _ => layer.forward.product(&self.x[..count * inputs], z),
            }
            dispatch(Push { layer, buffers, count });
        }
    }

    /// One step of Adam along the supergradient.
    fn step(&mut self, works: &mut [Work], live: &[usize], step: usize, rate: f32) {
        let correction = 1.0 - DECAY.powi(step as i32 + 1);
        let rates: Vec<f32> = live.iter().map(|&work| rate * works[work].node.stride).collect();
        for (layer, buffers) in self.front.layers.iter().zip(&mut self.layers) {
            dispatch(Step { buffers, width: layer.width, correction, rates: &rates });
        }
        for (slot, &work) in live.iter().enumerate() {
            for split in &works[work].node.splits {
                let (layer, index) = self.at(slot, split.place);
                let buffers = &mut self.layers[layer];
                let scale = buffers.mu[index].abs().max(1e-3);
                let z = buffers.z[index];
                let beta = buffers.shift[index].abs();
                let gradient = scale * if split.on { -z } else { z };
                let (mean, square) = (&mut buffers.mean[index], &mut buffers.square[index]);
                let change = adam(gradient, mean, square, correction);
                let beta = (beta + rates[slot] * scale * change).max(0.0);
                buffers.shift[index] = if split.on { -beta } else { beta };
            }
        }
    }
}

/// A share in 255ths.
#[inline(always)]
fn to_byte(share: f32) -> u8 {
    (share * 255.0 + 0.5) as u8
}
