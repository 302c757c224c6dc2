//! Bounds of every neuron on a node's domain, and their propagation.

use super::backward::{Bounder, Relaxation};

/// The region of a search node holds no input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emptiness;

/// `lower[k][j] ≤ z ≤ upper[k][j]` for neuron j of layer k wherever the node's region holds, outputs included.
///
/// A phase is a bound: fixed on means lower ≥ 0, fixed off means upper ≤ 0.
#[derive(Clone, Debug)]
pub struct Domain {
    pub lower: Vec<Vec<f64>>,
    pub upper: Vec<Vec<f64>>,
}

impl Domain {
    pub fn unknown(widths: &[usize]) -> Domain {
        let all = |value: f64| widths[1..].iter().map(|&n| vec![value; n]).collect();
        Domain { lower: all(f64::NEG_INFINITY), upper: all(f64::INFINITY) }
    }

    pub fn is_undecided(&self, layer: usize, neuron: usize) -> bool {
        self.lower[layer][neuron] < 0.0 && self.upper[layer][neuron] > 0.0
    }

    /// The neurons of a hidden layer that may be on.
    pub fn live(&self, layer: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.upper[layer].len()).filter(move |&j| self.upper[layer][j] > 0.0)
    }

    /// The neurons of a hidden layer whose phase is open.
    pub fn undecided(&self, layer: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.lower[layer].len()).filter(move |&j| self.is_undecided(layer, j))
    }

    /// Conditions a neuron: on is z ≥ 0, off is z ≤ 0.
    pub fn fix(&mut self, layer: usize, neuron: usize, on: bool) -> Result<(), Emptiness> {
        if on {
            self.tighten(layer, neuron, 0.0, f64::INFINITY)
        } else {
            self.tighten(layer, neuron, f64::NEG_INFINITY, 0.0)
        }
    }

    /// Intersects with `[lower, upper]`; NaN tightens nothing.
    pub fn tighten(&mut self, layer: usize, neuron: usize, lower: f64, upper: f64) -> Result<(), Emptiness> {
        let (l, u) = (&mut self.lower[layer][neuron], &mut self.upper[layer][neuron]);
        if lower > *l {
            *l = lower;
        }
        if upper < *u {
            *u = upper;
        }
        if *l > *u { Err(Emptiness) } else { Ok(()) }
    }
}

impl Bounder<'_> {
    /// Tightens the given neurons of a layer by both ends of their backward bounds, with each relaxation in turn.
    pub fn tighten_layer(
        &mut self,
        domain: &mut Domain,
        layer: usize,
        neurons: &[usize],
        relaxations: &[Relaxation],
    ) -> Result<(), Emptiness> {
        const CHUNK: usize = 128;
        for chunk in neurons.chunks(CHUNK) {
            for &relaxation in relaxations {
                let bounds = self.neuron_bounds(domain, layer, chunk, relaxation);
                for (&j, (lower, upper)) in chunk.iter().zip(bounds) {
                    domain.tighten(layer, j, lower, upper)?;
                }
            }
        }
        Ok(())
    }
}
