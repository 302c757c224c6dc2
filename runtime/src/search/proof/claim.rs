//! Branch and bound on the phases before a row, for many rows at once.
//!
//! A claim says that a row exceeds its target wherever the bounds hold. Each claim has a tree of its own, searched best
//! bound first; a node's two children fix one undecided neuron on and off. Nodes of many claims are bounded together, since
//! a pass over one row would leave the kernels idle.
//!
//! Claims are dealt out to the threads in turn, and a thread's work depends on nothing but its claims: results are the same
//! for the same number of threads, unless time runs out.

use super::reason::Reason;
use super::record::Record;
use super::tree::{Settled, Ticket, Tree};
use crate::bounds::{Bounded, Compact, Node, ROWS, Slot, Subproblem};
use crate::report::Control;
use crate::search::guide::ascent::Ascent;
use crate::search::guide::trend::Trend;
use crate::tuning::{Steps, Tuning};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// That a row exceeds its target; of a conjunction that some combination of its rows does, at each leaf one of its own.
#[derive(Clone)]
pub struct Claim<'r> {
    pub row: Bounded<'r>,
    pub target: f32,
    pub root: Node,
    /// That its tree is recorded as a part of another.
    pub part_of: Option<&'r Record>,
}

impl Claim<'_> {
    /// An empty record of its tree. A claim that is split is one about a goal, which has to be proved.
    pub fn record(&self, keeps_all: bool) -> Record {
        self.part_of.map_or_else(|| Record::new(self.root.clone(), keeps_all), Record::of_part)
    }
}

/// What became of a claim.
#[derive(Debug)]
pub struct Answer {
    /// The row is at least this everywhere: more than the target if the claim is proved.
    pub bound: f32,
    /// That it is proved.
    pub settled: Option<Settled>,
    pub nodes: u64,
    pub depth: u64,
    /// The tree that shows the bound, if it was recorded.
    pub record: Option<Record>,
}

/// Of a claim that was not tried.
impl Default for Answer {
    fn default() -> Answer {
        Answer { bound: f32::NEG_INFINITY, settled: None, nodes: 0, depth: 0, record: None }
    }
}

impl Answer {
    pub fn is_proved(&self) -> bool {
        self.settled.is_some()
    }

    /// For a certificate, the tree that shows the bound of a side.
    pub fn side_tree(&self, compact: &Compact, unsound: f32) -> Option<Vec<u8>> {
        self.record.as_ref()?.tree(compact, |bound| bound >= self.bound - unsound)
    }
}

/// How hard to try.
#[derive(Clone, Copy)]
pub struct Effort<'t> {
    /// Nodes for each claim, and for all of them.
    pub nodes: u64,
    pub total: u64,
    /// Whether a claim is given up as soon as so many nodes will not prove it, or as soon as its bound gains little.
    pub all_or_nothing: bool,
    /// For each node.
    pub steps: Steps,
    pub threads: usize,
    /// Whether trees are recorded, for a certificate; and whether with inner nodes, so that a bound below the target is shown too.
    pub records: bool,
    pub keeps_all: bool,
    pub tuning: &'t Tuning,
}

impl Effort<'_> {
    /// Whether a bound closes a node.
    pub fn is_enough(&self, bound: f32, target: f32) -> bool {
        bound > target - self.tuning.prove.unsound
    }
}

/// Tries to prove each claim: those given first are tried first.
pub fn prove(compact: &Compact, claims: &[Claim], effort: Effort, control: &Control) -> Vec<Answer> {
    let threads = effort.threads.min(claims.len()).max(1);
    let deal = |thread: usize| -> Vec<&Claim> { claims.iter().skip(thread).step_by(threads).collect() };
    let mut hands: Vec<std::vec::IntoIter<Answer>> = std::thread::scope(|scope| {
        let start = |thread| {
            let hand = deal(thread);
            scope.spawn(move || Prover::new(compact, hand, effort, control).run(false))
        };
        let others: Vec<_> = (1..threads).map(start).collect();
        let mut hands = vec![Prover::new(compact, deal(0), effort, control).run(true).into_iter()];
        hands.extend(others.into_iter().map(|other| match other.join() {
            Ok(answers) => answers.into_iter(),
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        hands
    });
    (0..claims.len()).map(|i| hands[i % threads].next().expect("an answer for each claim")).collect()
}

/// A node by its bound, the lowest first.
struct Open(Node, Ticket);

impl Ord for Open {
    fn cmp(&self, other: &Open) -> Ordering {
        other.0.bound.total_cmp(&self.0.bound)
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

/// A claim's tree: its open nodes by their bounds while there is room, then the newest first.
struct Frontier {
    tree: Tree,
    best: BinaryHeap<Open>,
    newest: Vec<Open>,
    /// The lowest bound of a node with no neuron left to split, if it is not enough. Its ticket is gone.
    stuck: f32,
    polished: u64,
    trend: Trend,
    record: Option<Record>,
}

impl Frontier {
    fn new(root: Node, record: Option<Record>) -> Frontier {
        let (tree, ticket) = Tree::plant();
        let best = BinaryHeap::from([Open(root.numbered(0), ticket)]);
        Frontier { tree, best, newest: vec![], stuck: f32::INFINITY, polished: 0, trend: Trend::default(), record }
    }

    fn push(&mut self, node: Node, ticket: Ticket, room: usize) {
        if self.best.len() < room {
            self.best.push(Open(node, ticket));
        } else {
            self.newest.push(Open(node, ticket));
        }
    }

    fn pop(&mut self) -> Option<(Node, Ticket)> {
        self.newest.pop().or_else(|| self.best.pop()).map(|Open(node, ticket)| (node, ticket))
    }

    /// Closes a node whose bound is above the claim's target.
    fn close(&mut self, compact: &Compact, node: Node, ticket: Ticket) {
        if let Some(record) = &mut self.record {
            record.keep(compact, &node);
        }
        self.tree.close(ticket, &Reason::of_leaf(node));
    }

    fn stick(&mut self, compact: &Compact, node: &Node) {
        if let Some(record) = &mut self.record {
            record.keep_open(compact, node);
        }
        self.stuck = self.stuck.min(node.bound);
    }

    /// The lowest bound of an open node.
    fn lowest(&self) -> f32 {
        let best = self.best.peek().map_or(f32::INFINITY, |open| open.0.bound);
        self.newest.iter().fold(best.min(self.stuck), |least, open| least.min(open.0.bound))
    }

    /// Whether splitting can raise the lowest bound.
    fn gains(&self) -> bool {
        self.best.peek().is_some_and(|open| open.0.bound < self.stuck) || !self.newest.is_empty()
    }
}

/// One thread's claims.
struct Prover<'a> {
    compact: &'a Compact,
    claims: Vec<&'a Claim<'a>>,
    effort: Effort<'a>,
    control: &'a Control,
    answers: Vec<Answer>,
    /// Of the claims that have been begun.
    frontiers: Vec<Frontier>,
    /// Open nodes a tree may keep by their bounds.
    room: usize,
}

/// Nodes of a batch: their claims and tickets, in the order of the subproblems.
#[derive(Default)]
struct Expansion<'r> {
    problems: Vec<Subproblem<'r>>,
    owners: Vec<(usize, Ticket)>,
    /// What was split for every two of the problems, its loss, and the bound before.
    parents: Vec<(Slot, f32, f32)>,
}

impl<'a> Prover<'a> {
    fn new(compact: &'a Compact, claims: Vec<&'a Claim<'a>>, effort: Effort<'a>, control: &'a Control) -> Prover<'a> {
        let answers = claims.iter().map(|_| Answer::default()).collect();
        let node = compact.width + effort.tuning.prove.node;
        let room = effort.tuning.prove.memory / node / effort.threads / (ROWS / 2).min(claims.len().max(1));
        Prover { compact, claims, effort, control, answers, frontiers: vec![], room }
    }

    /// One of the threads shows how far its claims are.
    fn run(mut self, shows_bound: bool) -> Vec<Answer> {
        let mut ascent = Ascent::new(self.compact, self.effort.tuning);
        let nodes = self.effort.total.div_ceil(self.effort.threads as u64);
        let mut active: Vec<usize> = vec![];
        loop {
            let spent: u64 = self.answers.iter().map(|answer| answer.nodes).sum();
            let stop = spent >= nodes || self.control.stop().is_some();
            active.retain(|&claim| self.goes_on(claim, stop));
            while active.len() < ROWS / 2 && self.frontiers.len() < self.claims.len() {
                let claim = self.frontiers.len();
                self.frontiers.push(Frontier::new(self.claims[claim].root.clone(), self.record(claim)));
                self.close_root(claim);
                if self.goes_on(claim, stop) {
                    active.push(claim);
                }
            }
            if active.is_empty() && self.frontiers.len() == self.claims.len() {
                return self.answers;
            }
            self.expand(&active, &mut ascent);
            if shows_bound {
                let lowest = active.iter().map(|&claim| self.frontiers[claim].lowest());
                self.control.set_bound(lowest.fold(f32::INFINITY, f32::min).into());
            }
        }
    }

    /// Closes a claim whose root's bound is enough as it is given.
    fn close_root(&mut self, claim: usize) {
        if self.effort.is_enough(self.claims[claim].root.bound, self.claims[claim].target) {
            let (node, ticket) = self.frontiers[claim].pop().expect("the root");
            self.frontiers[claim].close(self.compact, node, ticket);
        }
    }

    /// An empty record of a claim's tree.
    fn record(&self, claim: usize) -> Option<Record> {
        self.effort.records.then(|| self.claims[claim].record(self.effort.keeps_all))
    }

    /// Settles a claim whose tree is closed, whose nodes are used up, or which is not worth more.
    fn goes_on(&mut self, claim: usize, stop: bool) -> bool {
        let (answer, frontier) = (&self.answers[claim], &self.frontiers[claim]);
        let is_lost = self.effort.all_or_nothing && frontier.stuck < f32::INFINITY;
        let may_gain = frontier.gains() && !is_lost && !stop && answer.nodes < self.effort.nodes;
        if may_gain && self.is_worth_more(claim) {
            return true;
        }
        let (answer, frontier) = (&mut self.answers[claim], &mut self.frontiers[claim]);
        answer.settled = frontier.tree.settled();
        answer.bound = if answer.is_proved() { self.claims[claim].target } else { frontier.lowest() };
        answer.record = frontier.record.take();
        if let Some(record) = &mut answer.record {
            frontier.best.iter().chain(&frontier.newest).for_each(|open| record.keep_open(self.compact, &open.0));
        }
        (frontier.best, frontier.newest) = (BinaryHeap::new(), vec![]);
        false
    }

    /// Whether, by its trend, a claim can be proved with its nodes, or its bound still grows.
    fn is_worth_more(&mut self, claim: usize) -> bool {
        let (tuning, nodes) = (&self.effort.tuning.prove, self.answers[claim].nodes);
        let frontier = &mut self.frontiers[claim];
        if nodes < tuning.first_look.max(2 * frontier.trend.nodes) {
            return true;
        }
        let takes = frontier.trend.note(nodes, frontier.lowest(), self.claims[claim].target);
        let is_worth = if self.effort.all_or_nothing {
            self.effort.nodes == u64::MAX || takes <= self.effort.nodes as f32 * tuning.doubt.exp2()
        } else {
            frontier.trend.gain > tuning.stalled * frontier.trend.bound.abs()
        };
        is_worth || nodes < tuning.sure
    }

    /// Splits the next nodes of each active claim and bounds their children.
    fn expand(&mut self, active: &[usize], ascent: &mut Ascent) {
        let each = (ROWS / 2 / active.len().max(1)).max(1);
        let (mut children, mut unsplit) = (Expansion::default(), Expansion::default());
        for &claim in active {
            for _ in 0..each {
                let Some((node, ticket)) = self.frontiers[claim].pop() else { break };
                self.split(claim, node, ticket, &mut children, &mut unsplit);
            }
        }
        ascent.raise(&mut children.problems, self.effort.steps);
        for (pair, (slot, loss, bound)) in children.problems.chunks(2).zip(children.parents) {
            let gain = |child: &Subproblem| child.node.bound - bound;
            ascent.learn(slot, loss, [gain(&pair[0]), gain(&pair[1])]);
        }
        self.control.add_nodes(children.owners.len() as u64);
        for (Subproblem { node, target, .. }, (claim, ticket)) in children.problems.into_iter().zip(children.owners) {
            let answer = &mut self.answers[claim];
            answer.nodes += 1;
            answer.depth = answer.depth.max(node.splits.len() as u64);
            if self.effort.is_enough(node.bound, target) {
                self.frontiers[claim].close(self.compact, node, ticket);
            } else {
                self.frontiers[claim].push(node, ticket, self.room);
            }
        }
        self.polish(unsplit, ascent);
    }

    /// The children of a node, or the node itself where no neuron is left to split.
    fn split(
        &mut self,
        claim: usize,
        node: Node,
        ticket: Ticket,
        children: &mut Expansion<'a>,
        unsplit: &mut Expansion<'a>,
    ) {
        let (compact, Claim { row, target, .. }) = (self.compact, self.claims[claim]);
        let frontier = &mut self.frontiers[claim];
        let Some((slot, loss)) = node.branch else {
            if self.effort.all_or_nothing && frontier.polished < self.effort.tuning.prove.most_polished {
                frontier.polished += 1;
                unsplit.problems.push(Subproblem { row: *row, node, target: *target });
                unsplit.owners.push((claim, ticket));
            } else {
                frontier.stick(compact, &node);
            }
            return;
        };
        children.parents.push((slot, loss, node.bound));
        let record = frontier.record.as_mut();
        let [off, on] = record.map_or([0; 2], |record| record.split(compact, &node, compact.hidden(slot)));
        for ((phase, number), ticket) in [(true, on), (false, off)].into_iter().zip(frontier.tree.split(ticket)) {
            let node = node.child(slot, phase).numbered(number);
            children.problems.push(Subproblem { row: *row, node, target: *target });
            children.owners.push((claim, ticket));
        }
    }

    /// Where no neuron is left to split, the multipliers are all that can be better: they are given more steps.
    fn polish(&mut self, mut unsplit: Expansion, ascent: &mut Ascent) {
        ascent.raise(&mut unsplit.problems, self.effort.tuning.prove.polish);
        for (Subproblem { node, target, .. }, (claim, ticket)) in unsplit.problems.into_iter().zip(unsplit.owners) {
            let frontier = &mut self.frontiers[claim];
            if self.effort.is_enough(node.bound, target) {
                frontier.close(self.compact, node, ticket);
            } else if node.branch.is_some() {
                frontier.push(node, ticket, self.room);
            } else {
                frontier.stick(self.compact, &node);
            }
        }
    }
}
