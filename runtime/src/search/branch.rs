//! Which neuron to condition next, and on which phase first.

use super::sample::Random;
use crate::bounds::Domain;
use crate::lp::Point;
use crate::options::Priority;

/// A neuron and the phase to try first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    pub layer: usize,
    pub neuron: usize,
    pub on_first: bool,
}

/// A neuron is at a valid point if its activation or its slack is this small.
const VALID: f64 = 1e-7;

/// The paper's rule: in the layer nearest the input with a neuron off its ReLU, the one with the largest slack (or the
/// smallest, or any), first the phase that the point suggests. `None` if the point is a point of the network.
pub fn by_slack(domain: &Domain, point: &Point, priority: Priority, random: &mut Random) -> Option<Branch> {
    for (layer, neurons) in point.neurons.iter().enumerate() {
        let invalid = |j: &usize| neurons[*j].0.min(neurons[*j].1) > VALID;
        let candidates: Vec<usize> = domain.undecided(layer).filter(invalid).collect();
        let slack = |j: &&usize| neurons[**j].1;
        let chosen = match priority {
            Priority::MaxSlack => candidates.iter().max_by(|a, b| slack(a).total_cmp(&slack(b))),
            Priority::MinSlack => candidates.iter().min_by(|a, b| slack(a).total_cmp(&slack(b))),
            Priority::Random if candidates.is_empty() => None,
            Priority::Random => candidates.get(random.below(candidates.len())),
        };
        if let Some(&neuron) = chosen {
            let (activation, slack) = neurons[neuron];
            return Some(Branch { layer, neuron, on_first: activation >= slack });
        }
    }
    None
}

/// Where no point guides: in the first layer with an undecided neuron, the one with the largest triangle.
pub fn by_bounds(domain: &Domain) -> Option<Branch> {
    for layer in 0..domain.lower.len() - 1 {
        let size = |j: usize| domain.upper[layer][j].min(-domain.lower[layer][j]);
        if let Some(neuron) = domain.undecided(layer).max_by(|&a, &b| size(a).total_cmp(&size(b))) {
            let on_first = domain.upper[layer][neuron] >= -domain.lower[layer][neuron];
            return Some(Branch { layer, neuron, on_first });
        }
    }
    None
}
