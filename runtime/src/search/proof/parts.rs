//! Claims for several threads or several machines: the first nodes of their trees are split here, and what is open of them is
//! dealt out as claims of their own.

use super::claim::{Answer, Claim, Effort, prove};
use super::reason::{Positive, Reason};
use super::record::Record;
use super::tree::{Settled, Ticket, Tree};
use crate::bounds::{Compact, Node, Subproblem};
use crate::report::Control;
use crate::search::guide::ascent::Ascent;

/// Parts for each thread: some are closed long before others.
const PARTS: usize = 8;

/// The first nodes of some claims' trees, and those that are open.
pub struct Parts<'c> {
    claims: &'c [Claim<'c>],
    trees: Vec<Tree>,
    /// Of each claim, if trees are recorded.
    pub records: Vec<Option<Record>>,
    pub open: Vec<Part>,
    nodes: u64,
}

/// An open node of a claim.
pub struct Part {
    pub claim: usize,
    pub node: Node,
    ticket: Ticket,
}

impl<'c> Parts<'c> {
    /// Splits the nodes with the lowest bounds until there are so many, or none is left to split.
    pub fn new(compact: &Compact, claims: &'c [Claim], effort: Effort, count: usize) -> Parts<'c> {
        let mut parts = Parts { claims, trees: vec![], records: vec![], open: vec![], nodes: 0 };
        for (number, claim) in claims.iter().enumerate() {
            let (tree, ticket) = Tree::plant();
            parts.trees.push(tree);
            parts.records.push(effort.records.then(|| claim.record(effort.keeps_all)));
            parts.add(compact, number, claim.root.clone().numbered(0), ticket, effort);
        }
        let mut ascent = Ascent::new(compact, effort.tuning);
        while parts.open.len() < count {
            let splittable = parts.open.iter().enumerate().filter(|(_, part)| part.node.branch.is_some());
            let lowest = splittable.min_by(|(_, a), (_, b)| a.node.bound.total_cmp(&b.node.bound));
            let Some(at) = lowest.map(|(at, _)| at) else { break };
            parts.split(at, effort, &mut ascent, compact);
        }
        parts
    }

    fn split(&mut self, at: usize, effort: Effort, ascent: &mut Ascent, compact: &Compact) {
        let Part { claim: number, node, ticket } = self.open.swap_remove(at);
        let (slot, _) = node.branch.expect("a neuron to split");
        let (claim, record) = (&self.claims[number], self.records[number].as_mut());
        let [off, on] = record.map_or([0; 2], |record| record.split(compact, &node, compact.hidden(slot)));
        let child = |(phase, number)| {
            let node = node.child(slot, phase).numbered(number);
            Subproblem { row: claim.row, node, target: claim.target }
        };
        let mut children = [(true, on), (false, off)].map(child);
        ascent.raise(&mut children, effort.steps);
        self.nodes += 2;
        for (Subproblem { node, .. }, ticket) in children.into_iter().zip(self.trees[number].split(ticket)) {
            self.add(compact, number, node, ticket, effort);
        }
    }

    /// Closes a node if its bound is enough, or else opens it.
    fn add(&mut self, compact: &Compact, claim: usize, node: Node, ticket: Ticket, effort: Effort) {
        if !effort.is_enough(node.bound, self.claims[claim].target) {
            return self.open.push(Part { claim, node, ticket });
        }
        if let Some(record) = &mut self.records[claim] {
            record.keep(compact, &node);
        }
        self.trees[claim].close(ticket, &Reason::of_leaf(node));
    }

    /// Closes a part by a tree of its own.
    fn close(&mut self, claim: usize, ticket: Ticket, settled: Settled) {
        let what = Positive::of(&self.claims[claim].root);
        self.trees[claim].close(ticket, &Reason::Tree { what, settled, record: None });
    }
}

/// Tries to prove one claim with all threads.
pub fn prove_in_parts(compact: &Compact, claim: &Claim, effort: Effort, control: &Control) -> Answer {
    let mut parts = Parts::new(compact, std::slice::from_ref(claim), effort, PARTS * effort.threads);
    let open = std::mem::take(&mut parts.open);
    let mut record = parts.records.pop().expect("of the claim");
    let part = |part: &Part| Claim { root: part.node.clone(), part_of: record.as_ref(), ..*claim };
    let claims: Vec<Claim> = open.iter().map(part).collect();
    let effort = Effort { total: effort.nodes, ..effort };
    let answers = prove(compact, &claims, effort, control);
    let mut answer = Answer { bound: claim.target, nodes: parts.nodes, ..Answer::default() };
    for (part, Part { claim, node, ticket }) in answers.into_iter().zip(open) {
        if let (Some(record), Some(part)) = (&mut record, part.record) {
            record.graft(node.number, part);
        }
        answer.nodes += part.nodes;
        answer.depth = answer.depth.max(part.depth);
        answer.bound = answer.bound.min(part.bound);
        if let Some(settled) = part.settled {
            parts.close(claim, ticket, settled);
        }
    }
    answer.settled = parts.trees[0].settled();
    answer.record = record;
    answer
}
