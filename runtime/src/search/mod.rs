//! The search: [`proof`] holds what a verdict rests on, [`guide`] what only guides, the files beside them the engines.

mod boxes;
mod frontier;
mod guide;
mod journal;
mod part;
mod peregrinn;
mod phases;
mod prefix;
mod proof;
mod propagation;
mod refine;
mod root;
mod tail;

use crate::bounds::Compact;
use crate::certificate::{Heading, Journal};
use crate::ending;
use crate::options::{Engine, Options, Semantics};
use crate::program::Program;
use crate::property::{InputBox, Property};
use crate::report::{Chosen, Control, Counters, Times};
use crate::tuning::Tuning;
use crate::verdict::{StopReason, Verdict, Witness};
use boxes::Split;
use frontier::Splitting;
pub use frontier::{Frontier, OpenLeaf, RootFrontier, split};
pub use guide::ascent::Ascent;
use guide::body::Body;
pub use part::{Leaves, solve, split_again};
use pg_core::Network;
use pg_core::Shape;
pub use proof::contract::{Conditions, Domain};
pub use proof::{ClosedBy, Proved};
use proof::{Goal, Region};
pub(crate) use proof::{Proof, Reason, Ticket};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// A verdict and what it took.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    pub counters: Counters,
    pub times: Times,
    /// Which numbers steered the search: [`Tuning::hash`].
    pub tuning: String,
}

/// What the steps of a search share.
struct Search<'a> {
    /// The network, or the program that evaluates it, whichever the question is about.
    network: &'a dyn Network,
    program: Option<&'a Program<'a>>,
    shape: Shape<'a>,
    property: &'a Property,
    options: &'a Options,
    tuning: &'a Tuning,
    control: &'a Control,
    proof: Proof,
    counters: Counters,
    times: Times,
    work: Work,
    /// The records of a certificate, if there is to be one.
    journal: Option<Journal>,
    /// The input sets that are no boxes, of the disjuncts asked for so far; `None` for one without an inside.
    bodies: HashMap<Vec<usize>, Option<Arc<Body>>>,
    /// That what is open when the time is up is to be split into parts.
    splitting: Option<Splitting>,
}

/// What a search has spent and got, by which it decides how to go on: not time, so that it does not depend on the machine.
#[derive(Default)]
struct Work {
    /// Multiply-adds, about, on bounds of hidden neurons; and when the property's trees were last tried.
    refine: u64,
    tried: u64,
    /// The part of the property's boxes that is closed, each halving of a box halving its part.
    closed: f64,
}

/// Why a search ends before every leaf is closed.
enum End {
    Violated(Witness),
    Stopped(StopReason),
}

/// Decides whether the network has an input in the property's set of counterexamples.
pub fn verify(network: &dyn Network, property: &Property, options: &Options, control: &Control) -> Outcome {
    verify_tuned(network, property, options, &Tuning::default(), control)
}

/// The same with a certificate: where that cannot be written, the property is not said to hold.
pub fn prove(
    network: &dyn Network,
    property: &Property,
    options: &Options,
    tuning: &Tuning,
    control: &Control,
    certificate: (Journal, &Heading),
) -> Outcome {
    run(Asked { network, property, options, tuning, control }, Some(certificate))
}

/// The same with other numbers than the default ones.
pub fn verify_tuned(
    network: &dyn Network,
    property: &Property,
    options: &Options,
    tuning: &Tuning,
    control: &Control,
) -> Outcome {
    run(Asked { network, property, options, tuning, control }, None)
}

/// A question, and how it is to be answered.
#[derive(Clone, Copy)]
pub struct Asked<'q> {
    pub network: &'q dyn Network,
    pub property: &'q Property,
    pub options: &'q Options,
    pub tuning: &'q Tuning,
    pub control: &'q Control,
}

fn run(asked: Asked, certificate: Option<(Journal, &Heading)>) -> Outcome {
    let (proof, tickets) = Proof::of(asked.property.disjuncts.len());
    let (journal, heading) = certificate.unzip();
    conduct(asked, journal, proof, |search| {
        let result = search.run(tickets, &mut vec![]);
        search.verdict(result, |search, proved| search.conclude(proved, heading))
    })
}

/// A search with everything that it needs, and what it comes to.
fn conduct(
    asked: Asked,
    journal: Option<Journal>,
    proof: Proof,
    search: impl FnOnce(&mut Search) -> Verdict,
) -> Outcome {
    let Asked { network, property, options, tuning, control } = asked;
    let program = (options.semantics_of(property) == Semantics::Float32).then(|| Program::of(network));
    let (program, network) = (program.as_ref(), program.as_ref().map_or(network, |program| program as &dyn Network));
    let shape = network.shape();
    shape.check();
    assert_eq!(ending::admit(network.model().ending, property), Ok(()), "a question about the model, not about scores");
    let rounds_well = pg_core::rounding::is_as_assumed();
    let (counters, times, work, bodies) = (Counters::default(), Times::default(), Work::default(), HashMap::new());
    let mut all = Search {
        network,
        program,
        shape,
        property,
        options,
        tuning,
        control,
        proof,
        counters,
        times,
        work,
        journal,
        bodies,
        splitting: None,
    };
    let verdict = match search(&mut all) {
        _ if !rounds_well => {
            let why = "the processor is set to flush subnormal numbers or not to round to nearest";
            Verdict::Unknown(StopReason::GaveUp(why.into()))
        }
        verdict => verdict,
    };
    all.times.total = control.elapsed().as_secs_f64();
    Outcome { verdict, counters: all.counters, times: all.times, tuning: tuning.hash() }
}

impl<'a> Search<'a> {
    /// Closes every leaf, or says what ended the search; then the regions are those with open goals.
    fn run(&mut self, tickets: Vec<Ticket>, regions: &mut Vec<Region<'a>>) -> Result<(), End> {
        let mut tickets: Vec<(usize, Ticket)> = tickets.into_iter().enumerate().collect();
        if self.options.engine == Engine::Auto && self.may_split_inputs() {
            match self.split_inputs(tickets)? {
                Split::Rest(mut rest) => return self.peregrinn(&mut rest),
                Split::GaveUp(open) => tickets = open,
            }
        }
        self.counters.chosen = Chosen::Phases;
        self.sample()?;
        *regions = self.root_regions(tickets)?;
        // Of a goal without rows every input is a counterexample: no bound excludes it.
        let has_rows = regions.iter().flat_map(|region| &region.goals).all(|goal| !goal.rows.is_empty());
        if !self.raises() || !has_rows {
            self.has_root();
            return self.peregrinn(regions);
        }
        if self.shape.last() > 0 {
            regions.iter().try_for_each(|region| self.attack_goals(region, 0))?;
        }
        self.has_root();
        if self.options.engine != Engine::Peregrinn {
            regions.iter_mut().try_for_each(|region| self.propagate_goals(region))?;
            regions.retain(|region| !region.goals.is_empty());
        }
        match self.options.engine {
            Engine::Auto | Engine::Phases => regions.iter_mut().try_for_each(|region| self.close_region(region))?,
            Engine::Peregrinn => regions.iter_mut().try_for_each(|region| self.tighten_region(region))?,
        }
        self.peregrinn(regions)
    }

    /// What a search has come to: where every goal is closed, what is then concluded from that.
    fn verdict(
        &mut self,
        result: Result<(), End>,
        conclude: impl FnOnce(&mut Search<'a>, Proved) -> Verdict,
    ) -> Verdict {
        match result {
            Ok(()) if self.may_overflow() => {
                let why = "that the float32 program overflows cannot be excluded, so that nothing is proved about it";
                Verdict::Unknown(StopReason::GaveUp(why.into()))
            }
            Ok(()) => match self.proof.finish() {
                Ok(proved) => conclude(self, proved),
                Err(open) => Verdict::Unknown(StopReason::GaveUp(format!("{open} disjuncts were not settled"))),
            },
            Err(End::Violated(witness)) => Verdict::Violated(witness),
            Err(End::Stopped(reason)) => Verdict::Unknown(reason),
        }
    }

    /// A box of `f64` ends that has all inputs of a region, of the network or of its program.
    fn enclosure(&self, region: &InputBox) -> (Vec<f64>, Vec<f64>) {
        if self.program.is_some() { region.program_enclosure() } else { region.enclosure() }
    }

    /// Whether the question is about a program that may overflow, so that no bound of it holds. Intervals over all boxes together
    /// mostly tell; if not, each box by itself is bounded better.
    fn may_overflow(&self) -> bool {
        let Some(program) = self.program else { return false };
        let mut boxes: Vec<&Arc<InputBox>> = self.property.disjuncts.iter().map(|disjunct| &disjunct.region).collect();
        boxes.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let join = |(mut lower, mut upper): (Vec<f64>, Vec<f64>), (l, u): (Vec<f64>, Vec<f64>)| {
            lower.iter_mut().zip(l).for_each(|(lower, l)| *lower = lower.min(l));
            upper.iter_mut().zip(u).for_each(|(upper, u)| *upper = upper.max(u));
            (lower, upper)
        };
        let all = boxes.iter().map(|region| region.program_enclosure()).reduce(join);
        if all.is_none_or(|all| program.excludes_overflow(all, &|_, _| false)) {
            return false;
        }
        let is_worth = |_, _| self.control.stop().is_none();
        !boxes.iter().all(|region| program.excludes_overflow(region.program_enclosure(), &is_worth))
    }

    /// A search that is to be split goes on until there is something to split.
    fn go_on(&self) -> Result<(), End> {
        match (self.control.stop(), &self.splitting) {
            (Some(StopReason::Timeout), Some(splitting)) if !splitting.has_root => Ok(()),
            (reason, _) => reason.map_or(Ok(()), |reason| Err(End::Stopped(reason))),
        }
    }

    /// For a solver that was told to stop: the reason, whatever the clock says since.
    fn stopped(&self) -> End {
        End::Stopped(self.control.stop().unwrap_or(StopReason::Timeout))
    }

    /// Counts a reason.
    fn count(&mut self, reason: &Reason) {
        self.counters.leaves += self.counters.closed_by.count(reason);
    }

    /// Closes a part of a disjunct before it is a goal.
    fn close_part(&mut self, tree: usize, ticket: Ticket, reason: Reason) {
        self.counters.nodes += 1;
        self.count(&reason);
        self.proof.close(tree, ticket, &reason);
    }

    fn close(&mut self, goal: Goal, reason: Reason) {
        self.count(&reason);
        self.proof.close(goal.tree, goal.ticket, &reason);
    }

    /// Closes those goals of a region that have a reason; multipliers are of the compact network.
    fn close_goals(&mut self, region: &mut Region<'a>, reasons: Vec<Option<Reason>>, compact: Option<&Compact>) {
        let goals = std::mem::take(&mut region.goals);
        assert_eq!(goals.len(), reasons.len());
        for (goal, reason) in goals.into_iter().zip(reasons) {
            match reason {
                Some(reason) => {
                    self.counters.nodes += 1;
                    self.note_close(region.id, goal.number, &reason, compact);
                    self.close(goal, reason);
                }
                None => region.goals.push(goal),
            }
        }
        self.control.set_open(region.goals.len());
    }
}

/// Adds the time that `work` takes to a counter.
fn timed<T>(seconds: &mut f64, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    *seconds += start.elapsed().as_secs_f64();
    result
}
