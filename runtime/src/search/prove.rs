//! Branch and bound on the phases before a row, for many rows at once.
//!
//! A claim says that a row exceeds its target wherever the domain holds. Each claim has a tree of its own, searched best
//! bound first; a node's two children fix one undecided neuron on and off. Nodes of many claims are bounded together, since
//! a pass over one row would leave the kernels idle.
//!
//! Claims are dealt out to the threads in turn, and a thread's work depends on nothing but its claims: results are the same
//! for the same number of threads, unless time runs out.

use crate::bounds::{Ascent, Branch, Front, Node, ROWS, Row, Steps, Work};
use crate::report::Control;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// That `row > target`.
pub struct Claim {
    pub row: Row,
    pub target: f32,
    pub root: Node,
}

/// What became of a claim.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    /// The row is at least this everywhere: more than the target if the claim is proved.
    pub bound: f32,
    pub proved: bool,
    pub nodes: u64,
    pub leaves: u64,
    pub depth: u64,
    /// The lowest bound of a node with no neuron left to split, if it is not enough.
    stuck: Option<f32>,
}

impl Answer {
    fn stick(&mut self, bound: f32) {
        self.stuck = Some(self.stuck.map_or(bound, |lowest| lowest.min(bound)));
    }
}

/// How hard to try.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Nodes for each claim, and for all of them.
    pub nodes: u64,
    pub total: u64,
    /// Whether a claim is given up as soon as so many nodes will not prove it, or as soon as its bound gains little.
    pub all_or_nothing: bool,
    /// For each node.
    pub steps: Steps,
    pub threads: usize,
}

/// How a claim's bound has grown. It gains about as much with each doubling of the nodes, so that after a few it can be told
/// what the proof would take.
#[derive(Clone, Copy, Debug, Default)]
struct Trend {
    nodes: u64,
    bound: f32,
    /// With a doubling, the later ones counting more.
    gain: f32,
}

/// Nodes before the first look at a trend, which the first splits do not show, and before a claim is given up by it.
const FIRST_LOOK: u64 = 64;
const SURE: u64 = 256;
/// A bound that gains less than this share of itself with a doubling is as good as it gets.
const STALLED: f32 = 0.005;
/// Doublings that a trend may be wrong by: the end of a proof goes faster than its middle.
const DOUBT: f32 = 1.0;

impl Trend {
    /// Notes the bound after so many nodes; returns how many it will take to reach the target.
    fn note(&mut self, nodes: u64, bound: f32, target: f32) -> f32 {
        if self.nodes > 0 {
            let gain = (bound - self.bound) / (nodes as f32 / self.nodes as f32).log2();
            self.gain = if self.gain > 0.0 { (self.gain + gain) / 2.0 } else { gain };
        }
        (self.nodes, self.bound) = (nodes, bound);
        if self.gain > 0.0 { nodes as f32 * ((target - bound) / self.gain).exp2() } else { f32::INFINITY }
    }
}

/// The steps at a node where no neuron is left to split, and how many such nodes of a claim are given them.
const POLISH: Steps = Steps { count: 100, rate: 0.2, decay: 0.96 };
const MOST_POLISHED: u64 = 16;

/// Bytes that the open nodes of all claims may take; beyond that the search goes depth first.
const MEMORY: usize = 300 << 20;
/// What an open node takes beside its shares: mostly its splits, of which a deep one has many.
const NODE: usize = 1200;

/// Tries to prove each claim: those given first are tried first.
pub fn prove(front: &Front, claims: Vec<&Claim>, effort: Effort, control: &Control) -> Vec<Answer> {
    let threads = effort.threads.min(claims.len()).max(1);
    let deal = |thread: usize| -> Vec<&Claim> { claims.iter().skip(thread).step_by(threads).copied().collect() };
    let mut hands: Vec<std::vec::IntoIter<Answer>> = std::thread::scope(|scope| {
        let start = |thread| {
            let hand = deal(thread);
            scope.spawn(move || Prover::new(front, hand, effort, control).run(false))
        };
        let others: Vec<_> = (1..threads).map(start).collect();
        let mut hands = vec![Prover::new(front, deal(0), effort, control).run(true).into_iter()];
        hands.extend(others.into_iter().map(|other| match other.join() {
            Ok(answers) => answers.into_iter(),
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        hands
    });
    (0..claims.len()).map(|i| hands[i % threads].next().expect("an answer for each claim")).collect()
}

/// A node by its bound, the lowest first.
struct Open(Node);

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

/// A claim's open nodes: by their bounds while there is room, then the newest first.
#[derive(Default)]
struct Tree {
    best: BinaryHeap<Open>,
    newest: Vec<Node>,
}

impl Tree {
    fn len(&self) -> usize {
        self.best.len() + self.newest.len()
    }

    fn push(&mut self, node: Node, room: usize) {
        if self.best.len() < room {
            self.best.push(Open(node));
        } else {
            self.newest.push(node);
        }
    }

    fn pop(&mut self) -> Option<Node> {
        self.newest.pop().or_else(|| self.best.pop().map(|open| open.0))
    }

    fn lowest(&self) -> f32 {
        let best = self.best.peek().map_or(f32::INFINITY, |open| open.0.bound);
        self.newest.iter().fold(best, |least, node| least.min(node.bound))
    }
}

/// One thread's claims.
struct Prover<'a> {
    front: &'a Front,
    claims: Vec<&'a Claim>,
    effort: Effort,
    control: &'a Control,
    answers: Vec<Answer>,
    trees: Vec<Tree>,
    trends: Vec<Trend>,
    polished: Vec<u64>,
    /// Open nodes a tree may keep by their bounds.
    room: usize,
}

impl<'a> Prover<'a> {
    fn new(front: &'a Front, claims: Vec<&'a Claim>, effort: Effort, control: &'a Control) -> Prover<'a> {
        let answers = vec![Answer::default(); claims.len()];
        let trees = claims.iter().map(|_| Tree::default()).collect();
        let trends = vec![Trend::default(); claims.len()];
        let polished = vec![0; claims.len()];
        let node = front.width + NODE;
        let room = MEMORY / node / effort.threads / (ROWS / 2).min(claims.len().max(1));
        Prover { front, claims, effort, control, answers, trees, trends, polished, room }
    }

    /// Only one of the threads shows its bounds.
    fn run(mut self, shows_bound: bool) -> Vec<Answer> {
        let mut ascent = Ascent::new(self.front);
        let share = self.effort.total.div_ceil(self.effort.threads as u64);
        let mut waiting = 0;
        let mut active: Vec<usize> = vec![];
        loop {
            let spent: u64 = self.answers.iter().map(|answer| answer.nodes).sum();
            let stop = spent >= share || self.control.stop().is_some();
            active.retain(|&claim| self.goes_on(claim, stop));
            while active.len() < ROWS / 2 && waiting < self.claims.len() {
                self.trees[waiting].push(self.claims[waiting].root.clone(), self.room);
                if self.goes_on(waiting, stop) {
                    active.push(waiting);
                }
                waiting += 1;
            }
            if active.is_empty() && waiting == self.claims.len() {
                return self.answers;
            }
            self.expand(&active, &mut ascent);
            if shows_bound {
                self.show_bound(&active);
            }
        }
    }

    /// The lowest bound of the active claims, for the progress line.
    fn show_bound(&self, active: &[usize]) {
        let lowest = active.iter().map(|&claim| self.trees[claim].lowest()).fold(f32::INFINITY, f32::min);
        if lowest.is_finite() {
            self.control.set_bound(lowest.into());
        }
    }

    /// Settles a claim whose tree is closed or whose nodes are used up.
    fn goes_on(&mut self, claim: usize, stop: bool) -> bool {
        let (answer, tree, target) = (&mut self.answers[claim], &mut self.trees[claim], self.claims[claim].target);
        if tree.best.peek().is_some_and(|open| open.0.bound > target) && tree.len() == 1 {
            tree.pop();
            answer.leaves += 1;
        }
        let stuck = answer.stuck.unwrap_or(f32::INFINITY);
        let gains = tree.best.peek().is_some_and(|open| open.0.bound < stuck) || !tree.newest.is_empty();
        let is_lost = self.effort.all_or_nothing && answer.stuck.is_some();
        if gains && !is_lost && !stop && answer.nodes < self.effort.nodes {
            let trend = &mut self.trends[claim];
            if answer.nodes < FIRST_LOOK.max(2 * trend.nodes) {
                return true;
            }
            let takes = trend.note(answer.nodes, tree.lowest().min(stuck), target);
            let is_worth = if self.effort.all_or_nothing {
                self.effort.nodes == u64::MAX || takes <= self.effort.nodes as f32 * DOUBT.exp2()
            } else {
                trend.gain > STALLED * trend.bound.abs()
            };
            if is_worth || answer.nodes < SURE {
                return true;
            }
        }
        let lowest = tree.lowest().min(stuck);
        answer.proved = lowest == f32::INFINITY;
        answer.bound = if answer.proved { target } else { lowest };
        *tree = Tree::default();
        false
    }

    /// Splits the next nodes of each active claim and bounds their children.
    fn expand(&mut self, active: &[usize], ascent: &mut Ascent) {
        let each = (ROWS / 2 / active.len().max(1)).max(1);
        let mut works: Vec<Work> = Vec::with_capacity(ROWS);
        let mut owners: Vec<usize> = Vec::with_capacity(ROWS);
        let mut parents: Vec<(Branch, f32)> = Vec::with_capacity(ROWS / 2);
        let mut unsplit: Vec<(usize, Work)> = Vec::new();
        for &claim in active {
            let (row, target) = (&self.claims[claim].row, self.claims[claim].target);
            for _ in 0..each {
                let Some(node) = self.trees[claim].pop() else { break };
                let Some(branch) = node.branch else {
                    let polished = &mut self.polished[claim];
                    if self.effort.all_or_nothing && *polished < MOST_POLISHED {
                        *polished += 1;
                        unsplit.push((claim, Work { row, node, target }));
                    } else {
                        self.answers[claim].stick(node.bound);
                    }
                    continue;
                };
                parents.push((branch, node.bound));
                for on in [true, false] {
                    works.push(Work { row, node: node.child(branch.place, on), target });
                    owners.push(claim);
                }
            }
        }
        ascent.raise(&mut works, self.effort.steps);
        self.control.add_nodes(works.len() as u64);
        for (children, (branch, bound)) in works.chunks(2).zip(parents) {
            let gain = |child: &Work| child.node.bound.min(child.target) - bound;
            ascent.learn(branch, [gain(&children[0]), gain(&children[1])]);
        }
        for (work, claim) in works.into_iter().zip(owners) {
            let answer = &mut self.answers[claim];
            answer.nodes += 1;
            answer.depth = answer.depth.max(work.node.splits.len() as u64);
            if work.node.bound > work.target {
                answer.leaves += 1;
            } else {
                self.trees[claim].push(work.node, self.room);
            }
        }
        self.polish(unsplit, ascent);
    }

    /// Where no neuron is left to split, the multipliers are all that can be better: they are given more steps.
    fn polish(&mut self, unsplit: Vec<(usize, Work)>, ascent: &mut Ascent) {
        let (owners, mut works): (Vec<usize>, Vec<Work>) = unsplit.into_iter().unzip();
        ascent.raise(&mut works, POLISH);
        for (Work { node, target, .. }, claim) in works.into_iter().zip(owners) {
            let answer = &mut self.answers[claim];
            if node.bound > target {
                answer.leaves += 1;
            } else if node.branch.is_some() {
                self.trees[claim].push(node, self.room);
            } else {
                answer.stick(node.bound);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trend_tells_what_a_proof_takes() {
        let mut trend = Trend::default();
        assert_eq!(trend.note(64, -8.0, 0.0), f32::INFINITY, "nothing to compare with");
        assert_eq!(trend.note(128, -7.0, 0.0), 128.0 * 128.0);
        assert_eq!(trend.note(512, -5.0, 0.0), 512.0 * 32.0, "two doublings, the same gain in each");
        assert_eq!(trend.note(1024, -5.0, 0.0), 1024.0 * 1024.0, "half the gain, as the last doubling brought none");
    }
}
