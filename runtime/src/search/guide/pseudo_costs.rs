//! What splits have gained so far, which tells the better neurons to split.
//!
//! The loss that a neuron's relaxation is charged with is a rough guide to what splitting it gains: some neurons give nearly
//! all of it, others little, and much the same at every node. So the loss is weighted by the mean part of it that was gained.

use crate::bounds::{Compact, Slot};
use crate::tuning::PseudoCostTuning;

pub struct PseudoCosts {
    tuning: PseudoCostTuning,
    /// By stage and neuron: parts of the loss that were gained, and how many.
    seen: Vec<Vec<(f32, f32)>>,
    all: (f32, f32),
    worth: Vec<Vec<f32>>,
}

impl PseudoCosts {
    pub fn new(compact: &Compact, tuning: PseudoCostTuning) -> PseudoCosts {
        let widths: Vec<usize> = compact.stages.iter().map(|stage| stage.width).collect();
        PseudoCosts::of(&widths, tuning)
    }

    fn of(widths: &[usize], tuning: PseudoCostTuning) -> PseudoCosts {
        PseudoCosts {
            tuning,
            seen: widths.iter().map(|&width| vec![(0.0, 0.0); width]).collect(),
            all: (1.0, 1.0),
            worth: widths.iter().map(|&width| vec![1.0; width]).collect(),
        }
    }

    /// The weights of a stage's neurons: 1 for one that is like all.
    pub fn worth(&self, stage: usize) -> &[f32] {
        &self.worth[stage]
    }

    /// Both sides count: their gains' geometric mean.
    pub fn learn(&mut self, slot: Slot, loss: f32, [on, off]: [f32; 2]) {
        let part = (on.max(0.0) * off.max(0.0)).sqrt() / loss;
        if loss <= 0.0 || !part.is_finite() {
            return;
        }
        let part = part.min(self.tuning.most);
        let (stage, index) = (slot.stage as usize, slot.index as usize);
        let (sum, count) = &mut self.seen[stage][index];
        (*sum, *count) = (*sum + part, *count + 1.0);
        self.all = (self.all.0 + part, self.all.1 + 1.0);
        let mean = self.all.0 / self.all.1;
        let prior = self.tuning.prior;
        self.worth[stage][index] = (prior * mean + *sum) / (prior + *count) / mean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neurons_that_gained_more_are_worth_more() {
        let mut costs = PseudoCosts::of(&[3], PseudoCostTuning { prior: 4.0, most: 2.0 });
        let slot = |index| Slot { stage: 0, index };
        for _ in 0..10 {
            costs.learn(slot(0), 2.0, [1.8, 1.8]);
            costs.learn(slot(1), 2.0, [0.4, 0.1]);
        }
        let worth = costs.worth(0);
        assert!(worth[0] > 1.0 && worth[1] < 1.0 && worth[2] == 1.0, "{worth:?}");
        let before = worth.to_vec();
        costs.learn(slot(2), 0.0, [1.0, 1.0]);
        costs.learn(slot(2), 1.0, [f32::INFINITY, 1.0]);
        assert_eq!(costs.worth(0), before, "nothing is learned from no loss or no finite gain");
    }
}
