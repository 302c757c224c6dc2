//! The search over neuron phases.

mod attack;
mod body;
mod branch;
mod cuts;
mod descend;
mod exact;
mod fast;
mod peregrinn;
mod planes;
mod prove;
mod refine;
mod sample;
mod split_inputs;
mod tail;
mod tree;
mod walk;

use crate::bounds::{Domain, Layers};
use crate::network::Network;
use crate::options::{Engine, Options};
use crate::property::Property;
use crate::report::{Control, Counters, Times};
use crate::verdict::{StopReason, Verdict, Witness};
use body::Body;
use peregrinn::Task;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;
pub use tree::ClosedTree;

/// Up to this many inputs, boxes are split before phases.
const FEW_INPUTS: usize = 16;

/// A verdict and what it took.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub counters: Counters,
    pub times: Times,
}

/// What the steps of a search share.
struct Search<'a> {
    network: &'a dyn Network,
    layers: &'a Layers,
    property: &'a Property,
    options: &'a Options,
    control: &'a Control,
    counters: Counters,
    times: Times,
    /// The input sets that are no boxes, of the disjuncts asked for so far; `None` for one without an inside.
    bodies: HashMap<Vec<usize>, Option<Arc<Body>>>,
}

/// Why a search ends before every leaf is closed.
enum End {
    Violated(Witness),
    Stopped(StopReason),
}

/// Decides whether the network has an input in the property's set of counterexamples.
pub fn verify(network: &dyn Network, property: &Property, options: &Options, control: &Control) -> Outcome {
    let layers = Layers::of(network);
    let (counters, times, bodies) = (Counters::default(), Times::default(), HashMap::new());
    let mut search = Search { network, layers: &layers, property, options, control, counters, times, bodies };
    let verdict = match search.run() {
        Ok(()) => Verdict::Holds(ClosedTree::new(search.counters.leaves)),
        Err(End::Violated(witness)) => Verdict::Violated(witness),
        Err(End::Stopped(reason)) => Verdict::Unknown(reason),
    };
    search.times.total = control.elapsed().as_secs_f64();
    Outcome { verdict, counters: search.counters, times: search.times }
}

impl<'a> Search<'a> {
    /// Closes every leaf, or says what ended the search.
    fn run(&mut self) -> Result<(), End> {
        self.sample()?;
        let mut tasks: Vec<Task<'a>> = self.root_tasks()?;
        tasks = self.by_region(tasks, |search, tasks, refined| search.attack_tasks(tasks, refined, 0))?;
        let few = self.network.inputs() <= FEW_INPUTS;
        tasks = match self.options.engine {
            Engine::Auto if few => self.split_inputs(tasks)?,
            Engine::Auto | Engine::Phases => self.fast(tasks)?,
            Engine::Peregrinn => self.by_region(tasks, Search::tighten_region)?,
        };
        self.peregrinn(tasks)
    }

    /// Tells the progress line how many neurons of each hidden layer are undecided.
    fn show_undecided(&self, domain: &Domain) {
        let count = |layer| domain.undecided(layer).count();
        self.control.set_undecided((0..self.layers.hidden()).map(count).collect());
    }

    fn go_on(&self) -> Result<(), End> {
        self.control.stop().map_or(Ok(()), |reason| Err(End::Stopped(reason)))
    }
}

/// Adds the time that `work` takes to a counter.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
