//! Which neuron to condition next, and on which phase first.

use super::random::Random;
use crate::bounds::Bounds;
use crate::lp::Point;
use crate::options::Priority;

/// The neuron to condition next, and the phase to try first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conditioning {
    pub stage: usize,
    pub neuron: usize,
    pub on_first: bool,
}

/// The paper's rule: in the stage nearest the input with a neuron off its ReLU, the one with the largest slack (or the
/// smallest, or any), first the phase that the point suggests. `None` if the point is a point of the network: every
/// neuron's activation or its slack is as small as `valid`.
pub fn by_slack(
    bounds: &Bounds,
    point: &Point,
    valid: f64,
    priority: Priority,
    random: &mut Random,
) -> Option<Conditioning> {
    for (stage, neurons) in point.neurons.iter().enumerate() {
        let invalid = |j: &usize| neurons[*j].0.min(neurons[*j].1) > valid;
        let candidates: Vec<usize> = bounds.undecided(stage).filter(invalid).collect();
        let slack = |j: &&usize| neurons[**j].1;
        let chosen = match priority {
            Priority::MaxSlack => candidates.iter().max_by(|a, b| slack(a).total_cmp(&slack(b))),
            Priority::MinSlack => candidates.iter().min_by(|a, b| slack(a).total_cmp(&slack(b))),
            Priority::Random if candidates.is_empty() => None,
            Priority::Random => candidates.get(random.below(candidates.len())),
        };
        if let Some(&neuron) = chosen {
            let (activation, slack) = neurons[neuron];
            return Some(Conditioning { stage, neuron, on_first: activation >= slack });
        }
    }
    None
}

/// Where no point guides: in the first stage with an undecided neuron, the one with the largest triangle.
pub fn by_bounds(bounds: &Bounds, hidden: usize) -> Option<Conditioning> {
    for stage in 0..hidden {
        let (lower, upper) = (bounds.lower(stage), bounds.upper(stage));
        let size = |j: usize| upper[j].min(-lower[j]);
        if let Some(neuron) = bounds.undecided(stage).max_by(|&a, &b| size(a).total_cmp(&size(b))) {
            return Some(Conditioning { stage, neuron, on_first: upper[neuron] >= -lower[neuron] });
        }
    }
    None
}
