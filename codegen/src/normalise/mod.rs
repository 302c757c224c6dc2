//! From a graph to the normal form of affine layers and ReLUs, by a list of passes.
//!
//! Each pass establishes an invariant that is checked right after it and holds from then on.

mod alternate;
mod compose;
mod layers;
mod prune;

use crate::error::Error;
use crate::graph::{Function, Graph};
use crate::net::Net;
use crate::read::Model;

pub struct Pass {
    pub name: &'static str,
    /// What it does and so what holds after it.
    pub about: &'static str,
    run: fn(Graph, &mut Vec<String>) -> Result<Graph, Error>,
    /// Panics if the invariant does not hold: that would be a mistake of the pass.
    check: fn(&Graph),
}

pub const PASSES: [Pass; 3] = [
    Pass {
        name: "compose",
        about: "no affine map reads another: chains are multiplied out",
        run: compose::run,
        check: compose::check,
    },
    Pass {
        name: "alternate",
        about: "one chain: affine, ReLU, affine, ..., affine",
        run: alternate::run,
        check: alternate::check,
    },
    Pass {
        name: "prune",
        about: "every hidden neuron is read by the layer after it",
        run: prune::run,
        check: prune::check,
    },
];

/// Runs all passes; `observe` sees the graph after each, by the pass's name.
pub fn normalise(model: Model, mut observe: impl FnMut(&str, &Graph)) -> Result<Net, Error> {
    let mut graph = model.graph;
    let mut notes = Vec::new();
    for (index, pass) in PASSES.iter().enumerate() {
        graph = (pass.run)(graph, &mut notes)?;
        graph.check();
        PASSES[..=index].iter().for_each(|done| (done.check)(&graph));
        observe(pass.name, &graph);
    }
    Ok(Net { layers: layers::layers(&graph)?, source: model.source, domain: model.domain, notes })
}

fn is_affine(function: &Function) -> bool {
    matches!(function, Function::Affine(_))
}
