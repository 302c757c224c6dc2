//! Conjunctions by propagation: a search over phases whose nodes are closed by intervals alone.
//!
//! The rows of a conjunction tell much about each other's inputs, which no bound of one row sees. Where that is so, few nodes
//! are enough, and they take no linear program. Where it is not, the rows leave the root as it is, or the part of the tree that
//! is closed soon tells.

use super::guide::smear::widest;
use super::journal::empty_leaf;
use super::proof::contract::{Conditions, Domain};
use super::proof::{Begins, Goal, Reason, Region, Settled, Split, Ticket, Tree, TreeLog};
use super::{End, Search};
use crate::bounds::Emptiness;
use crate::report::Activity;
use crate::tuning::PropagationTuning;

/// What the phases fixed so far leave, and how many they are.
struct Branch {
    domain: Domain,
    depth: u64,
    ticket: Ticket,
    /// Its number in the log.
    node: u32,
}

/// A goal's tree.
struct Propagation<'r> {
    conditions: &'r Conditions<'r>,
    tuning: PropagationTuning,
    tree: Tree,
    /// For a certificate, with the number of the disjunct's rows.
    log: Option<TreeLog>,
    rows: usize,
    open: Vec<Branch>,
    nodes: u64,
    /// The part of the tree that is closed, and when it is looked at next.
    closed: f64,
    look: u64,
}

impl Propagation<'_> {
    /// Contracts a node; opens it unless nothing is left.
    fn add(&mut self, mut branch: Branch) {
        self.nodes += 1;
        let PropagationTuning { turns, worth, .. } = self.tuning;
        match self.conditions.contract(&mut branch.domain, turns, worth) {
            Ok(()) => self.open.push(branch),
            Err(Emptiness) => {
                self.closed += 0.5f64.powi(branch.depth as i32);
                self.log.iter_mut().for_each(|log| log.close(branch.node, Some(empty_leaf(self.rows))));
                self.tree.close(branch.ticket, &Reason::Empty);
            }
        }
    }

    /// Adds both phases of a neuron, the one to try first last.
    fn split(&mut self, branch: Branch, neuron: usize, on_first: bool) {
        let split = Split::Phase(neuron - self.conditions.hidden().start);
        let nodes = self.log.as_mut().map_or([0; 2], |log| log.split(branch.node, split));
        for (on, ticket) in [!on_first, on_first].into_iter().zip(self.tree.split(branch.ticket)) {
            let mut domain = branch.domain.clone();
            let side = if on { &mut domain.lower } else { &mut domain.upper };
            side[neuron] = 0.0;
            self.add(Branch { domain, depth: branch.depth + 1, ticket, node: nodes[usize::from(on)] });
        }
    }

    /// Whether, by the part of it that is closed, the tree will not be too large.
    fn is_worth_more(&mut self) -> bool {
        if self.nodes < self.look {
            return true;
        }
        self.look *= 2;
        self.nodes as f64 <= self.closed * self.tuning.most_nodes
    }
}

impl<'a> Search<'a> {
    /// Closes the goals of several rows that propagation can close soon.
    pub fn propagate_goals(&mut self, region: &mut Region<'a>) -> Result<(), End> {
        if region.goals.iter().all(|goal| goal.bounded < 2) {
            return Ok(());
        }
        self.control.enter(Activity::Phases);
        let domain = Domain::new(region.input(), &region.bounds);
        let mut conditions = Conditions::new(&region.bounder, &domain);
        if conditions.work() > self.tuning.propagation.most_terms {
            return Ok(());
        }
        let mut reasons = Vec::with_capacity(region.goals.len());
        for goal in &region.goals {
            conditions.set_rows(&goal.rows[..goal.bounded]);
            let is_several = goal.bounded > 1;
            reasons.push(if is_several { self.propagate_goal(region, goal, &conditions, &domain)? } else { None });
        }
        self.close_goals(region, reasons, None);
        Ok(())
    }

    /// The reason, if a tree closes the goal.
    fn propagate_goal(
        &mut self,
        region: &Region<'a>,
        goal: &Goal<'a>,
        conditions: &Conditions,
        domain: &Domain,
    ) -> Result<Option<Reason>, End> {
        let tuning = self.tuning.propagation;
        if !is_told(conditions, domain, tuning) {
            return Ok(None);
        }
        let (tree, ticket) = Tree::plant();
        let (nodes, closed, look) = (0, 0.0, tuning.first_look);
        let log = self.proves().then(|| TreeLog::new(Begins::Counterexamples));
        let (rows, open) = (goal.disjunct.rows.len(), vec![]);
        let mut propagation = Propagation { conditions, tuning, tree, log, rows, open, nodes, closed, look };
        propagation.add(Branch { domain: domain.clone(), depth: 0, ticket, node: 0 });
        let settled = self.run_propagation(region, goal, &mut propagation);
        self.counters.nodes += propagation.nodes;
        self.control.add_nodes(propagation.nodes);
        let settled = settled?;
        if settled.is_some() {
            self.note_tree(region, goal.number, propagation.log.as_ref(), None);
        }
        Ok(settled.map(Reason::Propagated))
    }

    fn run_propagation(
        &mut self,
        region: &Region<'a>,
        goal: &Goal<'a>,
        propagation: &mut Propagation,
    ) -> Result<Option<Settled>, End> {
        while let Some(branch) = propagation.open.pop() {
            self.go_on()?;
            self.counters.max_depth = self.counters.max_depth.max(branch.depth);
            self.try_corner(region, goal, &branch.domain)?;
            match widest(propagation.conditions, &branch.domain, propagation.tuning.least_cut) {
                Some((neuron, on_first)) if propagation.is_worth_more() => propagation.split(branch, neuron, on_first),
                _ => return Ok(None),
            }
        }
        Ok(propagation.tree.settled())
    }

    /// Replays the corner of the region that is nearest to what is left of it.
    fn try_corner(&mut self, region: &Region<'a>, goal: &Goal<'a>, domain: &Domain) -> Result<(), End> {
        let (lower, upper) = region.input();
        let end = |i: usize| {
            let is_low = domain.lower[i] - lower[i] <= upper[i] - domain.upper[i];
            if is_low { lower[i] } else { upper[i] }
        };
        let corner: Vec<f64> = (0..lower.len()).map(end).collect();
        self.try_near(goal.disjunct, &corner)
    }
}

/// Whether one turn through the conditions tells something of the open phases.
fn is_told(conditions: &Conditions, domain: &Domain, tuning: PropagationTuning) -> bool {
    let mut left = domain.clone();
    let before = triangles(conditions, domain);
    conditions.contract(&mut left, 1, tuning.worth) == Err(Emptiness)
        || triangles(conditions, &left) <= tuning.told * before
}

/// How far the open phases are from decided, together.
fn triangles(conditions: &Conditions, domain: &Domain) -> f64 {
    conditions.hidden().map(|neuron| domain.upper[neuron].min(-domain.lower[neuron]).max(0.0)).sum()
}
