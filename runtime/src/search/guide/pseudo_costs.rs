//! What splits have gained so far, which tells the better neurons to split.
//!
//! The loss that a neuron's relaxation is charged with is a rough guide to what splitting it gains: some neurons give several
//! times as much on both sides, others nothing on one, and much the same at every node. Neurons of one stage are alike: those
//! of the first, whose hull is shared, lose to their neighbours what one of them no longer costs. So each side's part of the loss
//! that was gained is averaged for each neuron, starting from the mean of its stage, and the loss is weighted by the geometric
//! mean of the two sides.

use crate::bounds::{Compact, Slot};
use crate::tuning::PseudoCostTuning;

pub struct PseudoCosts {
    tuning: PseudoCostTuning,
    stages: Vec<StageCosts>,
}

struct StageCosts {
    /// Of each neuron, and of all splits of the stage.
    seen: Vec<Gained>,
    all: Gained,
    worth: Vec<f32>,
}

/// Parts of the loss that were gained, on and off, and how many.
#[derive(Clone, Copy, Default)]
struct Gained {
    parts: [f32; 2],
    count: f32,
}

impl Gained {
    fn add(&mut self, parts: [f32; 2]) {
        self.parts = [0, 1].map(|side| self.parts[side] + parts[side]);
        self.count += 1.0;
    }

    /// The geometric mean of both sides' means, if there were also so many splits as the mean of others.
    fn worth(&self, prior: f32, others: &Gained) -> f32 {
        let mean = |side: usize| (prior * others.parts[side] / others.count + self.parts[side]) / (prior + self.count);
        (mean(0) * mean(1)).sqrt()
    }
}

impl PseudoCosts {
    pub fn new(compact: &Compact, tuning: PseudoCostTuning) -> PseudoCosts {
        let widths: Vec<usize> = compact.stages.iter().map(|stage| stage.width).collect();
        PseudoCosts::of(&widths, tuning)
    }

    fn of(widths: &[usize], tuning: PseudoCostTuning) -> PseudoCosts {
        let stage = |&width: &usize| StageCosts {
            seen: vec![Gained::default(); width],
            all: Gained { parts: [1.0; 2], count: 1.0 },
            worth: vec![1.0; width],
        };
        PseudoCosts { tuning, stages: widths.iter().map(stage).collect() }
    }

    /// The weights of a stage's neurons: what a split promises to gain, as a part of the loss.
    pub fn worth(&self, stage: usize) -> &[f32] {
        &self.stages[stage].worth
    }

    /// Learns from what a split of a neuron with that loss gained, on and off.
    pub fn learn(&mut self, slot: Slot, loss: f32, gains: [f32; 2]) {
        if loss <= 0.0 || gains.iter().any(|gain| !gain.is_finite()) {
            return;
        }
        let PseudoCostTuning { prior, most } = self.tuning;
        let parts = gains.map(|gain| (gain / loss).clamp(0.0, most));
        let StageCosts { seen, all, worth } = &mut self.stages[slot.stage as usize];
        let index = slot.index as usize;
        seen[index].add(parts);
        all.add(parts);
        worth[index] = seen[index].worth(prior, all);
        // The others are told of their stage's mean now and then.
        if (all.count as u32).is_power_of_two() {
            worth.iter_mut().zip(seen).for_each(|(worth, seen)| *worth = seen.worth(prior, all));
        }
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
        assert!(worth[0] > worth[2] && worth[2] > worth[1], "{worth:?}");
        let before = worth.to_vec();
        costs.learn(slot(2), 0.0, [1.0, 1.0]);
        costs.learn(slot(2), 1.0, [f32::INFINITY, 1.0]);
        assert_eq!(costs.worth(0), before, "nothing is learned from no loss or no finite gain");
    }
}
