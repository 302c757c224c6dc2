//! Steps that raise the one bound: which multipliers to bound with next, and where to split.
//!
//! A pass backward gives a bound and the corner of the box where it is attained; pushing that corner forward through the
//! chosen pieces gives the supergradient: μz for α, −z for β of a neuron on and z for one off, and for the weight of a row its
//! value. The steps are Adam's.

use super::pseudo_costs::PseudoCosts;
use super::steps::{Adam, Largest, Push, Step};
use super::weights;
use crate::bounds::{Batch, Bounded, Compact, Conjunction, Node, Objective32, ROWS, Slot, Subproblem};
use crate::tuning::{AscentTuning, Steps, Tuning};
use pg_core::kernel::dispatch;

/// Batches on one compact network, and what their splits have gained.
pub struct Ascent<'c> {
    batch: Batch<'c>,
    tuning: AscentTuning,
    costs: PseudoCosts,
    /// The best bound that each slot's own multipliers gave: a node's may be its parent's, from others.
    best: Vec<f32>,
}

impl<'c> Ascent<'c> {
    pub fn new(compact: &'c Compact, tuning: &Tuning) -> Ascent<'c> {
        let costs = PseudoCosts::new(compact, tuning.pseudo_costs);
        Ascent { batch: Batch::new(compact), tuning: tuning.ascent, costs, best: vec![0.0; ROWS] }
    }

    /// The root of each row's tree, its bound raised; and how many rows were passed backward.
    pub fn roots(compact: &Compact, rows: &[&Objective32], steps: Steps, tuning: &Tuning) -> (Vec<Node>, u64) {
        let mut ascent = Ascent::new(compact, tuning);
        let problem = |row| Subproblem { row: Bounded::Row(row), node: Node::root(compact), target: 0.0 };
        let mut problems: Vec<Subproblem> = rows.iter().copied().map(problem).collect();
        ascent.raise(&mut problems, steps);
        (problems.into_iter().map(|problem| problem.node).collect(), ascent.batch.passes)
    }

    /// The root of a conjunction's tree, its bound raised: from the rows in even parts, or from the nearest of the rows' own
    /// roots with a part of the others, whichever comes farther.
    pub fn combined_root(&mut self, conjunction: &Conjunction, roots: &[Node], steps: Steps) -> Node {
        let (compact, count) = (self.batch.compact, conjunction.rows().len());
        assert_eq!(roots.len(), count);
        let nearest = (0..count).max_by(|&a, &b| roots[a].bound.total_cmp(&roots[b].bound)).expect("a row");
        let starts = [
            Node::root(compact).weighted(weights::even(count)),
            roots[nearest].clone().weighted(weights::mostly(nearest, count, self.tuning.others)),
        ];
        let problem = |node| Subproblem { row: conjunction.into(), node, target: 0.0 };
        let mut problems = starts.map(problem);
        self.raise(&mut problems, steps);
        let [even, mostly] = problems.map(|problem| problem.node);
        if even.bound > mostly.bound { even } else { mostly }
    }

    /// Raises each bound until it exceeds its target or the steps are done, and picks where to branch.
    pub fn raise(&mut self, problems: &mut [Subproblem], steps: Steps) {
        for batch in problems.chunks_mut(ROWS) {
            self.raise_batch(batch, steps);
        }
    }

    fn raise_batch(&mut self, problems: &mut [Subproblem], steps: Steps) {
        let mut live: Vec<usize> = (0..problems.len()).collect();
        for (slot, problem) in problems.iter().enumerate() {
            self.batch.load(slot, &problem.node);
        }
        let mut rate = steps.rate;
        for step in 0..=steps.count {
            self.batch.backward(problems, &live);
            let is_last = step == steps.count;
            self.judge(problems, &mut live, step, is_last);
            if live.is_empty() || is_last {
                return;
            }
            self.forward(live.len());
            self.step(problems, &live, step, rate);
            rate *= steps.decay;
        }
    }

    /// Keeps what the last pass gained; drops the slots whose bounds are enough.
    fn judge(&mut self, problems: &mut [Subproblem], live: &mut Vec<usize>, step: usize, is_last: bool) {
        let mut kept = 0;
        for slot in 0..live.len() {
            let Subproblem { node, target, .. } = &mut problems[live[slot]];
            let bound = self.batch.bound(slot);
            if step > 0 {
                let gained = bound > self.best[slot];
                self.pace(node, gained);
                if gained {
                    self.batch.save(slot, node);
                }
            }
            self.best[slot] = if step > 0 { self.best[slot].max(bound) } else { bound };
            node.own = self.best[slot];
            node.bound = node.bound.max(bound);
            if node.bound > *target {
                continue;
            }
            node.branch = if is_last { self.branch(slot) } else { None };
            if kept < slot {
                self.batch.move_row(slot, kept);
                self.best[kept] = self.best[slot];
            }
            live[kept] = live[slot];
            kept += 1;
        }
        live.truncate(kept);
    }

    /// Sets the length of the next steps by whether one gained. The root's many steps set their own.
    fn pace(&self, node: &mut Node, gained: bool) {
        if !node.splits.is_empty() {
            let change = if gained { self.tuning.longer } else { self.tuning.shorter };
            node.stride = (node.stride * change).clamp(self.tuning.strides.0, self.tuning.strides.1);
        }
    }

    /// The undecided neuron that promises to gain the bound most, and its loss: by what its relaxation costs and by what
    /// splits of it have gained before. If none costs anything, the one with the largest triangle times μ.
    fn branch(&self, slot: usize) -> Option<(Slot, f32)> {
        let (mut most, mut best) = (0.0, None);
        let (mut second_most, mut second) = (0.0, None);
        for (k, (stage, buffers)) in self.batch.compact.stages.iter().zip(&self.batch.stages).enumerate() {
            let row = slot * stage.width..(slot + 1) * stage.width;
            let (mu, loss, cost) = (&buffers.mu[row.clone()], &buffers.loss[row.clone()], &buffers.cost[row]);
            let branch = |index: usize| Some((Slot { stage: k as u32, index: index as u32 }, loss[index]));
            let gain = dispatch(Largest { of: loss, by: self.costs.worth(k), cost });
            if gain.0 > most {
                (most, best) = (gain.0, branch(gain.1));
            }
            if best.is_none() {
                let size = dispatch(Largest { of: mu, by: &stage.triangle, cost });
                if size.0 > second_most {
                    (second_most, second) = (size.0, branch(size.1));
                }
            }
        }
        best.or(second)
    }

    /// Learns from what a split gained on both sides, of a neuron with that loss.
    pub fn learn(&mut self, slot: Slot, loss: f32, gains: [f32; 2]) {
        self.costs.learn(slot, loss, gains);
    }

    /// Pushes the corners of the rows in the first slots through the chosen pieces.
    fn forward(&mut self, count: usize) {
        let Batch { compact, stages, x, room, .. } = &mut self.batch;
        let inputs = compact.inputs();
        for (k, stage) in compact.stages.iter().enumerate() {
            let (before, rest) = stages.split_at_mut(k);
            let z = &mut rest[0].z[..count * stage.width];
            for edge in &stage.edges {
                match edge.from {
                    Some(s) => {
                        let h = &before[s].h[..count * compact.stages[s].width];
                        edge.forward.product(h, z, edge.sets_forward, room);
                    }
                    None => edge.forward.product(&x[..count * inputs], z, edge.sets_forward, room),
                }
            }
            dispatch(Push { stage, buffers: &mut rest[0], count });
        }
    }

    /// What a row is at the point that was pushed forward.
    fn value(&self, slot: usize, row: &Objective32) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let hidden = self.batch.compact.reads.iter().zip(&row.mu);
        let hidden = hidden.map(|(&read, mu)| dot(mu, &self.batch.stages[read].h[slot * mu.len()..]));
        let own = row.x.as_ref().map_or(0.0, |x| dot(x, &self.batch.x[slot * x.len()..]));
        hidden.sum::<f32>() + own + row.constant as f32
    }

    /// One step of Adam along the supergradient; a projected one for the weights of rows.
    fn step(&mut self, problems: &[Subproblem], live: &[usize], step: usize, rate: f32) {
        let adam = Adam { memory: self.tuning.memory, correction: 1.0 - self.tuning.memory.powi(step as i32 + 1) };
        let rates: Vec<f32> = live.iter().map(|&problem| rate * problems[problem].node.stride).collect();
        for (stage, buffers) in self.batch.compact.stages.iter().zip(&mut self.batch.stages) {
            dispatch(Step { buffers, width: stage.width, adam, rates: &rates });
        }
        for (slot, &problem) in live.iter().enumerate() {
            if let Bounded::Combination(conjunction) = problems[problem].row {
                let values: Vec<f32> = conjunction.rows().iter().map(|row| self.value(slot, row)).collect();
                weights::step(&mut self.batch.weights[slot], &values, self.tuning.weights * rates[slot]);
            }
            for split in &problems[problem].node.splits {
                let (stage, index) = self.batch.at(slot, split.slot);
                let buffers = &mut self.batch.stages[stage];
                let scale = buffers.mu[index].abs().max(self.tuning.least_scale);
                let z = buffers.z[index];
                let gradient = scale * if split.on { -z } else { z };
                let change = adam.change(gradient, &mut buffers.mean[index], &mut buffers.square[index]);
                let beta = (buffers.shift[index].abs() + rates[slot] * scale * change).max(0.0);
                buffers.shift[index] = if split.on { -beta } else { beta };
            }
        }
    }
}
