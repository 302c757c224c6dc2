//! What splits have gained so far, which tells the better neurons to split.
//!
//! The loss that a neuron's relaxation is charged with is a rough guide to what splitting it gains: some neurons give nearly
//! all of it, others little, and much the same at every node. So the loss is weighted by the mean share that was gained.

use super::front::{Front, Place};

pub struct Gains {
    /// By layer and neuron: shares gained, and how many.
    seen: Vec<Vec<(f32, f32)>>,
    all: (f32, f32),
    worth: Vec<Vec<f32>>,
}

/// A neuron starts as if split so often with the mean share of all.
const PRIOR: f32 = 4.0;
/// No split counts as more than this share: a small loss says little.
const MOST: f32 = 2.0;

impl Gains {
    pub fn new(front: &Front) -> Gains {
        Gains {
            seen: front.layers.iter().map(|layer| vec![(0.0, 0.0); layer.width]).collect(),
            all: (1.0, 1.0),
            worth: front.layers.iter().map(|layer| vec![1.0; layer.width]).collect(),
        }
    }

    /// The weights of a layer's neurons: 1 for one that is like all.
    pub fn worth(&self, layer: usize) -> &[f32] {
        &self.worth[layer]
    }

    /// Both sides count: their gains' geometric mean.
    pub fn learn(&mut self, place: Place, loss: f32, [on, off]: [f32; 2]) {
        let share = (on.max(0.0) * off.max(0.0)).sqrt() / loss;
        if loss <= 0.0 || !share.is_finite() {
            return;
        }
        let share = share.min(MOST);
        let (layer, index) = (place.layer as usize, place.index as usize);
        let (sum, count) = &mut self.seen[layer][index];
        (*sum, *count) = (*sum + share, *count + 1.0);
        self.all = (self.all.0 + share, self.all.1 + 1.0);
        let mean = self.all.0 / self.all.1;
        self.worth[layer][index] = (PRIOR * mean + *sum) / (PRIOR + *count) / mean;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neurons_that_gained_more_are_worth_more() {
        let mut gains = Gains { seen: vec![vec![(0.0, 0.0); 3]], all: (1.0, 1.0), worth: vec![vec![1.0; 3]] };
        let place = |index| Place { layer: 0, index };
        for _ in 0..10 {
            gains.learn(place(0), 2.0, [1.8, 1.8]);
            gains.learn(place(1), 2.0, [0.4, 0.1]);
        }
        let worth = gains.worth(0);
        assert!(worth[0] > 1.0 && worth[1] < 1.0 && worth[2] == 1.0, "{worth:?}");
        let before = worth.to_vec();
        gains.learn(place(2), 0.0, [1.0, 1.0]);
        gains.learn(place(2), 1.0, [f32::INFINITY, 1.0]);
        assert_eq!(gains.worth(0), before, "nothing is learned from no loss or no finite gain");
    }
}
