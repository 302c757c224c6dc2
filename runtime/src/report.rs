//! What a run did: counters and times, kept while it goes and reported at its end.

pub use crate::control::{Activity, Control, Progress};
use crate::search::ClosedBy;
use serde::{Deserialize, Serialize};

/// What a search over a property begins with, or ended up with after a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    #[default]
    Phases,
    Boxes,
}

impl std::fmt::Display for Chosen {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(match self {
            Chosen::Phases => "phases",
            Chosen::Boxes => "boxes",
        })
    }
}

/// What a search counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Whether inputs were split or phases.
    pub chosen: Chosen,
    /// Nodes of the search tree that were visited.
    pub nodes: u64,
    /// Nodes of the trees that bound hidden neurons, and of those that bound the property, without a linear program.
    pub neuron_nodes: u64,
    pub property_nodes: u64,
    /// Leaves closed by a rigorous bound, and for which reason.
    pub leaves: u64,
    pub closed_by: ClosedBy,
    /// Linear programs solved: the paper's convex calls.
    pub lp_calls: u64,
    pub simplex_iterations: u64,
    /// Rows pushed backward through the network for bounds.
    pub bound_rows: u64,
    pub samples: u64,
    /// Leaves that the exact rational method decided.
    pub exact_calls: u64,
    pub max_depth: u64,
}

impl Counters {
    /// What several processes have done together.
    pub fn add(&mut self, other: &Counters) {
        self.chosen = other.chosen;
        let sums = [
            (&mut self.nodes, other.nodes),
            (&mut self.neuron_nodes, other.neuron_nodes),
            (&mut self.property_nodes, other.property_nodes),
            (&mut self.leaves, other.leaves),
            (&mut self.lp_calls, other.lp_calls),
            (&mut self.simplex_iterations, other.simplex_iterations),
            (&mut self.bound_rows, other.bound_rows),
            (&mut self.samples, other.samples),
            (&mut self.exact_calls, other.exact_calls),
        ];
        sums.into_iter().for_each(|(sum, count)| *sum = sum.saturating_add(count));
        self.max_depth = self.max_depth.max(other.max_depth);
        self.closed_by.add(&other.closed_by);
    }
}

/// Where the time went, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    pub total: f64,
    pub sampling: f64,
    pub attack: f64,
    pub refine: f64,
    pub prove: f64,
    pub bounds: f64,
    pub lp: f64,
    pub certify: f64,
}
