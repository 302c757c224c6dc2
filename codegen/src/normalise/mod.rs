//! From a graph to the normal form of stages, by a list of passes.
//!
//! Each pass establishes an invariant that is checked right after it and holds from then on.

mod alternate;
mod compose;
mod prune;
mod share;
mod stages;

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

pub const PASSES: [Pass; 4] = [
    Pass { name: "share", about: "no ReLU repeats another, or changes nothing", run: share::run, check: share::check },
    Pass {
        name: "compose",
        about: "no affine map reads another: chains are multiplied out",
        run: compose::run,
        check: compose::check,
    },
    Pass {
        name: "alternate",
        about: "stages: affine, ReLU, affine, ..., affine, each map of earlier ReLUs and the input",
        run: alternate::run,
        check: alternate::check,
    },
    Pass {
        name: "prune",
        about: "every hidden neuron is read, but for some of convolutions",
        run: prune::run,
        check: prune::check,
    },
];

/// Runs all passes; `observe` sees the graph after each, by the pass's name.
pub fn normalise(model: Model, mut observe: impl FnMut(&str, &Graph)) -> Result<Net, Error> {
    let mut graph = model.graph;
    let mut notes = model.notes;
    for (index, pass) in PASSES.iter().enumerate() {
        graph = (pass.run)(graph, &mut notes)?;
        graph.check();
        PASSES[..=index].iter().for_each(|done| (done.check)(&graph));
        observe(pass.name, &graph);
    }
    let (inputs, stages) = (graph.values[graph.input].entries(), stages::stages(&graph)?);
    Ok(Net { source: model.source, domain: model.domain, inputs, stages, notes, read: graph.read })
}

fn is_affine(function: &Function) -> bool {
    matches!(function, Function::Affine(_))
}
