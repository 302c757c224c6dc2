//! The one bound in float32 for many rows at once: rigorous, whatever the multipliers.
//!
//! Each row has a node: the phases fixed on its way and its multipliers, α for undecided neurons and β for fixed ones. One pass
//! backward gives a lower bound and the corner of the box where it is attained. Sums are kept in lanes of float32 with the sum
//! of their terms' magnitudes, and the error bounds of [`Compact`] are charged to them.

use super::buffer::Buffer;
use super::combination::Bounded;
use super::compact::{Compact, CompactStage, Slot};
use super::hull::{Room, Rows};
use crate::certificate::put;
use pg_core::kernel::dispatch;
use pg_core::kernel::relax::{Block, Neurons, Relax};
use pg_core::rounding::Sum;
use serde::{Deserialize, Serialize};

/// Rows evaluated together.
pub const ROWS: usize = 48;

/// A search node of one row.
#[derive(Clone, Debug)]
pub struct Node {
    /// For each neuron of the compact network, stage by stage, the part α of μ ≥ 0 that is its multiplier, in 255ths.
    alpha: Box<[u8]>,
    /// The weights γ ≥ 0 of the rows of a conjunction; none for a row by itself.
    pub weights: Box<[f32]>,
    pub splits: Vec<Split>,
    /// The best lower bound so far; a child starts with its parent's.
    pub bound: f32,
    /// The best that its own multipliers gave: those that it has.
    pub own: f32,
    /// Its number in the record of its tree.
    pub number: u32,
    /// Where to split next, and what the relaxation of that neuron costs the bound.
    pub branch: Option<(Slot, f32)>,
    /// The length of its steps, as a part of what is asked for. It is the children's too: they are much alike.
    pub stride: f32,
}

/// The multipliers of a node as a file has them; floats by their bits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    pub alpha: Vec<u8>,
    pub weights: Vec<u32>,
    /// Of the phases on its way.
    pub betas: Vec<u32>,
    pub stride: u32,
}

/// A neuron's phase, and the multiplier β ≥ 0 of the half-space that it is.
#[derive(Clone, Copy, Debug)]
pub struct Split {
    pub slot: Slot,
    pub on: bool,
    pub beta: f32,
}

/// A row or a conjunction at a node, and the bound that is enough.
pub struct Subproblem<'r> {
    pub row: Bounded<'r>,
    pub node: Node,
    pub target: f32,
}

impl Node {
    pub fn root(compact: &Compact) -> Node {
        let parts = compact.stages.iter().flat_map(|stage| &stage.alpha);
        let alpha = parts.map(|&alpha| to_byte(alpha)).collect();
        let (bound, own) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
        Node { alpha, weights: Box::default(), splits: vec![], bound, own, number: 0, branch: None, stride: 1.0 }
    }

    /// The node for a conjunction. Its bound so far is that of one of the rows, which is a combination of them too.
    pub fn weighted(self, weights: Box<[f32]>) -> Node {
        Node { weights, ..self }
    }

    /// A node of this compact network with multipliers that come from elsewhere, and the phases on its way with theirs; it is yet to
    /// be bounded. `None` if they are not of this network, or none that a node may have: else any are sound.
    pub fn revived(compact: &Compact, guide: &Guide, weights: usize, phases: &[(usize, bool)]) -> Option<Node> {
        let floats = |bits: &[u32]| bits.iter().map(|&bits| f32::from_bits(bits)).collect::<Vec<f32>>();
        let (own, betas) = (floats(&guide.weights), floats(&guide.betas));
        let is_one = |value: &f32| (0.0..f32::INFINITY).contains(value);
        let fits = (guide.alpha.len(), own.len(), betas.len()) == (compact.width, weights, phases.len());
        let stride = f32::from_bits(guide.stride);
        if !fits || !own.iter().chain(&betas).chain([&stride]).all(is_one) {
            return None;
        }
        let split = |(&(neuron, on), beta)| compact.slot(neuron).map(|slot| Split { slot, on, beta });
        let splits = phases.iter().zip(betas).map(split).collect::<Option<_>>()?;
        let (alpha, weights) = (guide.alpha.clone().into(), own.into());
        Some(Node { alpha, weights, splits, stride, ..Node::root(compact) })
    }

    /// Its multipliers.
    pub fn guide(&self) -> Guide {
        let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect();
        let betas: Vec<f32> = self.splits.iter().map(|split| split.beta).collect();
        let (weights, betas) = (bits(&self.weights), bits(&betas));
        Guide { alpha: self.alpha.to_vec(), weights, betas, stride: self.stride.to_bits() }
    }

    /// The node with one more phase.
    pub fn child(&self, slot: Slot, on: bool) -> Node {
        let mut splits = Vec::with_capacity(self.splits.len() + 1);
        splits.extend_from_slice(&self.splits);
        splits.push(Split { slot, on, beta: 0.0 });
        Node { alpha: self.alpha.clone(), weights: self.weights.clone(), splits, own: f32::NEG_INFINITY, ..*self }
    }

    pub fn numbered(self, number: u32) -> Node {
        Node { number, ..self }
    }

    /// The parts α of the neurons that are undecided in the compact network, each with the neuron's number among all.
    pub fn open_parts<'n>(&'n self, compact: &'n Compact) -> impl Iterator<Item = (usize, u8)> + 'n {
        let mut starts = vec![0];
        compact.stages.iter().for_each(|stage| starts.push(starts[starts.len() - 1] + stage.width));
        let part = move |slot: Slot| self.alpha[starts[slot.stage as usize] + slot.index as usize];
        compact.undecided().map(move |slot| (compact.hidden(slot), part(slot)))
    }

    /// For a certificate: the parts α that differ from the ones to start from.
    pub fn parts(&self, compact: &Compact) -> Vec<u8> {
        self.changes(compact, compact.stages.iter().flat_map(|stage| &stage.alpha).map(|&part| to_byte(part)))
    }

    /// The same from others, given by stage and neuron.
    pub fn parts_from(&self, compact: &Compact, from: impl Fn(usize, usize) -> u8) -> Vec<u8> {
        let from = &from;
        let part = |stage: &'_ CompactStage, slot: usize| stage.neurons.get(slot).map_or(0, |&j| from(stage.number, j));
        let stages = compact.stages.iter();
        self.changes(compact, stages.flat_map(|stage| (0..stage.width).map(move |slot| part(stage, slot))))
    }

    /// For a certificate: the weights of rows, the parts α that differ from another node's, and β of each phase.
    pub fn multipliers(&self, compact: &Compact, other: &Node) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
        bytes.extend(self.changes(compact, other.alpha.iter().copied()));
        self.splits.iter().for_each(|split| bytes.extend(split.beta.to_le_bytes()));
        bytes
    }

    /// The parts of undecided neurons that differ from the given ones: how many, then each with the number of neurons since the
    /// one before.
    fn changes(&self, compact: &Compact, from: impl Iterator<Item = u8>) -> Vec<u8> {
        let (mut bytes, mut count, mut next) = (vec![], 0, 0);
        let mut pairs = self.alpha.iter().zip(from);
        for (k, stage) in compact.stages.iter().enumerate() {
            for (index, (&part, before)) in pairs.by_ref().take(stage.width).enumerate() {
                let slot = Slot { stage: k as u32, index: index as u32 };
                let is_open = || stage.cost[index] > 0.0 && !self.splits.iter().any(|split| split.slot == slot);
                if part != before && is_open() {
                    let neuron = compact.hidden(slot);
                    put(&mut bytes, neuron - next);
                    bytes.push(part);
                    (count, next) = (count + 1, neuron + 1);
                }
            }
        }
        let mut all = vec![];
        put(&mut all, count);
        all.extend(bytes);
        all
    }
}

/// The numbers of a batch for one stage: a row for each subproblem, as wide as the stage.
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

impl Buffers {
    fn new(stage: &CompactStage) -> Buffers {
        let room = || Buffer::zeros(ROWS * stage.width);
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

/// Room for evaluating batches on one compact network.
pub struct Batch<'c> {
    pub compact: &'c Compact,
    pub stages: Vec<Buffers>,
    /// Coefficients of the inputs, and the corner.
    a: Buffer,
    pub x: Buffer,
    sums: Vec<Sum>,
    /// Of the rows of each slot's conjunction.
    pub weights: Vec<Vec<f32>>,
    turns: Room,
    /// Of products.
    pub room: Buffer,
    /// Rows passed backward.
    pub passes: u64,
}

impl<'c> Batch<'c> {
    pub fn new(compact: &'c Compact) -> Batch<'c> {
        Batch {
            compact,
            stages: compact.stages.iter().map(Buffers::new).collect(),
            a: Buffer::zeros(ROWS * compact.inputs()),
            x: Buffer::zeros(ROWS * compact.inputs()),
            sums: vec![Sum::default(); ROWS],
            weights: vec![vec![]; ROWS],
            turns: compact.hull.room(),
            room: Buffer::default(),
            passes: 0,
        }
    }

    /// Fills a slot with a node's multipliers.
    pub fn load(&mut self, slot: usize, node: &Node) {
        self.weights[slot].clear();
        self.weights[slot].extend_from_slice(&node.weights);
        let mut parts = &*node.alpha;
        for (stage, buffers) in self.compact.stages.iter().zip(&mut self.stages) {
            let row = slot * stage.width..(slot + 1) * stage.width;
            let (now, later) = parts.split_at(stage.width);
            parts = later;
            buffers.alpha[row.clone()].iter_mut().zip(now).for_each(|(to, &from)| *to = f32::from(from) / 255.0);
            buffers.slope[row.clone()].copy_from_slice(&stage.slope);
            buffers.cost[row.clone()].copy_from_slice(&stage.cost);
            buffers.lift[row.clone()].copy_from_slice(&stage.lift);
            buffers.shift[row.clone()].fill(0.0);
            buffers.mean[row.clone()].fill(0.0);
            buffers.square[row].fill(0.0);
        }
        for split in &node.splits {
            let (stage, index) = self.at(slot, split.slot);
            let buffers = &mut self.stages[stage];
            let (part, shift) = if split.on { (1.0, -split.beta) } else { (0.0, split.beta) };
            (buffers.alpha[index], buffers.slope[index], buffers.shift[index]) = (part, part, shift);
            (buffers.cost[index], buffers.lift[index]) = (0.0, 0.0);
        }
    }

    /// Keeps a slot's multipliers in a node.
    pub fn save(&self, slot: usize, node: &mut Node) {
        node.weights.copy_from_slice(&self.weights[slot]);
        let mut parts = &mut *node.alpha;
        for (stage, buffers) in self.compact.stages.iter().zip(&self.stages) {
            let (now, later) = parts.split_at_mut(stage.width);
            parts = later;
            let row = &buffers.alpha[slot * stage.width..(slot + 1) * stage.width];
            now.iter_mut().zip(row).for_each(|(to, &from)| *to = to_byte(from));
        }
        for split in &mut node.splits {
            let (stage, index) = self.at(slot, split.slot);
            split.beta = self.stages[stage].shift[index].abs();
        }
    }

    /// The stage of a neuron, and its index in the stage's buffers.
    pub fn at(&self, slot: usize, neuron: Slot) -> (usize, usize) {
        let stage = neuron.stage as usize;
        (stage, slot * self.compact.stages[stage].width + neuron.index as usize)
    }

    pub fn move_row(&mut self, from: usize, to: usize) {
        self.weights.swap(from, to);
        for (stage, buffers) in self.compact.stages.iter().zip(&mut self.stages) {
            let Buffers { mu, alpha, slope, cost, lift, shift, mean, square, .. } = buffers;
            for values in [mu, alpha, slope, cost, lift, shift, mean, square] {
                values.copy_within(from * stage.width..(from + 1) * stage.width, to * stage.width);
            }
        }
        let inputs = self.compact.inputs();
        self.x.copy_within(from * inputs..(from + 1) * inputs, to * inputs);
    }

    /// Bounds the given subproblems in the first slots.
    pub fn backward(&mut self, problems: &[Subproblem], live: &[usize]) {
        let (count, inputs) = (live.len(), self.compact.inputs());
        self.passes += count as u64;
        let has_inputs = self.start(problems, live);
        for k in (0..self.stages.len()).rev() {
            let stage = &self.compact.stages[k];
            let (before, rest) = self.stages.split_at_mut(k);
            let Buffers { mu, alpha, slope, cost, shift, nu, loss, .. } = &mut rest[0];
            let neurons = Neurons { bias: &stage.bias, slop: &stage.slop, is_spread: stage.is_spread };
            let rows = Block { mu, alpha, slope, cost, shift, nu, loss };
            dispatch(Relax { neurons, rows, sums: &mut self.sums[..count] });
            let nu = &rest[0].nu[..count * stage.width];
            for edge in &stage.edges {
                match edge.from {
                    Some(s) => {
                        let mu = &mut before[s].mu[..count * self.compact.stages[s].width];
                        edge.back.product(nu, mu, edge.sets_back, &mut self.room);
                    }
                    None => {
                        let a = &mut self.a[..count * inputs];
                        edge.back.product(nu, a, edge.sets_back && !has_inputs, &mut self.room);
                    }
                }
            }
        }
        let (a, x) = (&mut self.a[..count * inputs], &mut self.x[..count * inputs]);
        let mut rows = Rows { stages: &mut self.stages, a, x, sums: &mut self.sums[..count] };
        rows.minimise(self.compact, &mut self.turns);
    }

    /// Coefficients of what the rows read; whether the box is among it.
    fn start(&mut self, problems: &[Subproblem], live: &[usize]) -> bool {
        let (count, inputs) = (live.len(), self.compact.inputs());
        let reads_box = |&problem: &usize| problems[problem].row.rows().iter().any(|row| row.x.is_some());
        let has_inputs = self.stages.is_empty() || live.iter().any(reads_box);
        if has_inputs {
            self.a[..count * inputs].fill(0.0);
        }
        for (slot, &problem) in live.iter().enumerate() {
            self.sums[slot] = self.start_row(problems[problem].row, slot);
            self.sums[slot].charge(self.compact.underflow, 0);
        }
        has_inputs
    }

    /// Coefficients of what a row or a combination reads; its constant.
    fn start_row(&mut self, row: Bounded, slot: usize) -> Sum {
        let (inputs, weights) = (self.compact.inputs(), &self.weights[slot]);
        let a = &mut self.a[slot * inputs..(slot + 1) * inputs];
        for (source, &read) in self.compact.reads.iter().enumerate() {
            let width = self.compact.stages[read].width;
            let mu = &mut self.stages[read].mu[slot * width..(slot + 1) * width];
            match row {
                Bounded::Row(row) => mu.copy_from_slice(&row.mu[source]),
                Bounded::Combination(conjunction) => conjunction.coefficients(source, weights, mu),
            }
        }
        match row {
            Bounded::Row(row) => {
                row.x.iter().for_each(|x| a.copy_from_slice(x));
                Sum::new(row.constant, row.error)
            }
            Bounded::Combination(conjunction) => {
                conjunction.inputs(weights, a);
                conjunction.constant(weights)
            }
        }
    }

    /// The bound of a slot after a pass.
    pub fn bound(&self, slot: usize) -> f32 {
        self.sums[slot].lower_32()
    }
}

/// A part in 255ths.
#[inline(always)]
fn to_byte(part: f32) -> u8 {
    (part * 255.0 + 0.5) as u8
}
