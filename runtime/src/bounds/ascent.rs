//! The one bound in float32, for many rows at once, and steps that raise it.
//!
//! Each row has a node: the phases fixed on its way and its multipliers, α for undecided neurons and β for fixed ones. One
//! pass backward gives a lower bound and the corner of the box where it is attained; pushing that corner forward through the
//! chosen pieces gives the supergradient: μz for α, −z for β of a neuron on and z for one off. The steps are Adam's.
//!
//! What a pass returns is rigorous: sums are kept in [`PANEL`] lanes of float32 with the sum of their terms' magnitudes, and
//! the error bounds of [`Front`] are subtracted in float64. Any multipliers are sound, so nothing else needs care.

use super::front::{Front, FrontLayer, Place, ROUND_32, Row};
use crate::kernel::{PANEL, Simd, Task, dispatch};

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
    /// The undecided neuron to split next.
    pub branch: Option<Place>,
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
        Node { alpha, splits: vec![], bound: f32::NEG_INFINITY, branch: None }
    }

    /// The node with one more phase.
    pub fn child(&self, place: Place, on: bool) -> Node {
        let mut splits = Vec::with_capacity(self.splits.len() + 1);
        splits.extend_from_slice(&self.splits);
        splits.push(Split { place, on, beta: 0.0 });
        Node { alpha: self.alpha.clone(), splits, ..*self }
    }
}

/// The numbers of a batch for one layer of the front: a row for each work, as wide as the layer.
struct Buffers {
    mu: Vec<f32>,
    nu: Vec<f32>,
    z: Vec<f32>,
    h: Vec<f32>,
    alpha: Vec<f32>,
    slope: Vec<f32>,
    cost: Vec<f32>,
    lift: Vec<f32>,
    /// −β for a neuron on, β for one off.
    shift: Vec<f32>,
    /// Adam's averages of the gradient and of its square.
    mean: Vec<f32>,
    square: Vec<f32>,
}

/// A bound under way: the sum of its terms, and what must be subtracted.
#[derive(Clone, Copy, Default)]
struct Total {
    sum: f64,
    error: f64,
}

/// Room for evaluating batches on one front.
pub struct Ascent<'f> {
    front: &'f Front,
    layers: Vec<Buffers>,
    /// Coefficients of the inputs, and the corner.
    a: Vec<f32>,
    x: Vec<f32>,
    totals: Vec<Total>,
    /// Rows passed backward.
    pub passes: u64,
}

const DECAY: f32 = 0.9;

impl<'f> Ascent<'f> {
    pub fn new(front: &'f Front) -> Ascent<'f> {
        let buffers = |layer: &FrontLayer| {
            let room = || vec![0.0; ROWS * layer.width];
            Buffers {
                mu: room(),
                nu: room(),
                z: room(),
                h: room(),
                alpha: room(),
                slope: room(),
                cost: room(),
                lift: room(),
                shift: room(),
                mean: room(),
                square: room(),
            }
        };
        let inputs = ROWS * front.input_lower.len();
        Ascent {
            front,
            layers: front.layers.iter().map(buffers).collect(),
            a: vec![0.0; inputs],
            x: vec![0.0; inputs],
            totals: vec![Total::default(); ROWS],
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
                if bound > work.node.bound {
                    work.node.bound = bound;
                    if step > 0 {
                        self.save(slot, &mut work.node);
                    }
                }
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
            dispatch(Relax { layer, buffers, totals: &mut self.totals[..count] });
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
        dispatch(Corner { front: self.front, a: &self.a, x: &mut self.x, totals: &mut self.totals[..count] });
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

    /// The undecided neuron whose relaxation costs the bound most; if none does, the one with the largest triangle times μ.
    fn branch(&self, slot: usize) -> Option<Place> {
        let (mut most, mut best) = (0.0, None);
        let (mut second_most, mut second) = (0.0, None);
        for (k, (layer, buffers)) in self.front.layers.iter().zip(&self.layers).enumerate() {
            let row = slot * layer.width..(slot + 1) * layer.width;
            let (mu, cost) = (&buffers.mu[row.clone()], &buffers.cost[row]);
            let place = |index: usize| Some(Place { layer: k as u32, index: index as u32 });
            let loss = dispatch(Largest { mu, cost, by: None });
            if loss.0 > most {
                (most, best) = (loss.0, place(loss.1));
            }
            if best.is_none() {
                let size = dispatch(Largest { mu, cost, by: Some(&layer.triangle) });
                if size.0 > second_most {
                    (second_most, second) = (size.0, place(size.1));
                }
            }
        }
        best.or(second)
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
        for (layer, buffers) in self.front.layers.iter().zip(&mut self.layers) {
            dispatch(Step { buffers, count: live.len() * layer.width, correction, rate });
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
                let beta = (beta + rate * scale * change).max(0.0);
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

/// The direction that Adam takes, of length about 1.
#[inline(always)]
fn adam(gradient: f32, mean: &mut f32, square: &mut f32, correction: f32) -> f32 {
    *mean = DECAY * *mean + (1.0 - DECAY) * gradient;
    *square = DECAY * *square + (1.0 - DECAY) * gradient * gradient;
    *mean / correction / ((*square / correction).sqrt() + 1e-9)
}

type Chunk = [f32; PANEL];

#[inline(always)]
fn chunks(values: &[f32]) -> &[Chunk] {
    values.as_chunks().0
}

#[inline(always)]
fn chunks_mut(values: &mut [f32]) -> &mut [Chunk] {
    values.as_chunks_mut().0
}

/// Chooses the multipliers of one layer and adds their terms to the totals.
struct Relax<'a> {
    layer: &'a FrontLayer,
    buffers: &'a mut Buffers,
    totals: &'a mut [Total],
}

impl Task for Relax<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Relax { layer, buffers, totals } = self;
        let width = layer.width;
        let (bias, slop) = (chunks(&layer.bias), chunks(&layer.slop));
        for (slot, total) in totals.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            let mu = chunks(&buffers.mu[row.clone()]);
            let alpha = chunks(&buffers.alpha[row.clone()]);
            let slope = chunks(&buffers.slope[row.clone()]);
            let cost = chunks(&buffers.cost[row.clone()]);
            let shift = chunks(&buffers.shift[row.clone()]);
            let nu = chunks_mut(&mut buffers.nu[row]);
            let (mut sum, mut size, mut error) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
            for c in 0..width / PANEL {
                let (mu, alpha, slope, cost, shift) = (mu[c], alpha[c], slope[c], cost[c], shift[c]);
                let (bias, slop) = (bias[c], slop[c]);
                let mut multiplier = [0.0; PANEL];
                for lane in 0..PANEL {
                    let positive = mu[lane] >= 0.0;
                    let share = if positive { alpha[lane] } else { slope[lane] };
                    let cost = if positive { 0.0 } else { cost[lane] };
                    multiplier[lane] = S::mul_add(share, mu[lane], shift[lane]);
                    let (least, constant) = (mu[lane] * cost, multiplier[lane] * bias[lane]);
                    sum[lane] += constant + least;
                    size[lane] += constant.abs() + least.abs();
                    error[lane] = S::mul_add(multiplier[lane].abs(), slop[lane], error[lane]);
                }
                nu[c] = multiplier;
            }
            add(total, &sum, &size, &error, width);
        }
    }
}

/// Minimises over the box, and keeps where.
struct Corner<'a> {
    front: &'a Front,
    a: &'a [f32],
    x: &'a mut [f32],
    totals: &'a mut [Total],
}

impl Task for Corner<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Corner { front, a, x, totals } = self;
        let width = front.input_lower.len();
        let (lower, upper) = (chunks(&front.input_lower), chunks(&front.input_upper));
        let largest = chunks(&front.input_size);
        for (slot, total) in totals.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            let a = chunks(&a[row.clone()]);
            let x = chunks_mut(&mut x[row]);
            let (mut sum, mut size) = ([0.0f32; PANEL], [0.0f32; PANEL]);
            for c in 0..width / PANEL {
                let (a, lower, upper, largest) = (a[c], lower[c], upper[c], largest[c]);
                let mut corner = [0.0; PANEL];
                for lane in 0..PANEL {
                    corner[lane] = if a[lane] >= 0.0 { lower[lane] } else { upper[lane] };
                    sum[lane] = S::mul_add(a[lane], corner[lane], sum[lane]);
                    size[lane] = S::mul_add(a[lane].abs(), largest[lane], size[lane]);
                }
                x[c] = corner;
            }
            add(total, &sum, &size, &[0.0; PANEL], width);
        }
    }
}

/// Adds lanes to a total. Each lane took at most three roundings a term and one an addition, over `width / PANEL` terms:
/// twice that many times the magnitudes bounds their error and that of the magnitudes themselves.
#[inline(always)]
fn add(total: &mut Total, sum: &[f32; PANEL], size: &[f32; PANEL], error: &[f32; PANEL], width: usize) {
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
struct Push<'a> {
    layer: &'a FrontLayer,
    buffers: &'a mut Buffers,
    count: usize,
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
struct Step<'a> {
    buffers: &'a mut Buffers,
    count: usize,
    correction: f32,
    rate: f32,
}

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Step { buffers, count, correction, rate } = self;
        let (mu, z, cost) = (chunks(&buffers.mu[..count]), chunks(&buffers.z[..count]), chunks(&buffers.cost[..count]));
        let alpha = chunks_mut(&mut buffers.alpha[..count]);
        let mean = chunks_mut(&mut buffers.mean[..count]);
        let square = chunks_mut(&mut buffers.square[..count]);
        for c in 0..count / PANEL {
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

/// The largest loss −μ·cost of an undecided neuron and where it is; or the largest μ times the given numbers.
struct Largest<'a> {
    mu: &'a [f32],
    cost: &'a [f32],
    by: Option<&'a [f32]>,
}

impl Task for Largest<'_> {
    type Output = (f32, usize);

    #[inline(always)]
    fn run<S: Simd>(self) -> (f32, usize) {
        let (mu, cost) = (chunks(self.mu), chunks(self.cost));
        let by = self.by.map(chunks);
        let (mut most, mut at) = ([0.0f32; PANEL], [0u32; PANEL]);
        for c in 0..mu.len().min(cost.len()) {
            let (mu, cost) = (mu[c], cost[c]);
            let by = by.map_or([0.0; PANEL], |by| by[c]);
            for lane in 0..PANEL {
                let loss = if self.by.is_none() { -mu[lane] * cost[lane] } else { mu[lane] * by[lane] };
                let larger = cost[lane] > 0.0 && loss > most[lane];
                most[lane] = if larger { loss } else { most[lane] };
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
