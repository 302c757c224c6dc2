//! One claim for several threads: the first nodes of its tree are split here, and what is open of them is dealt out as claims of
//! their own.

use super::claim::{Answer, Claim, Effort, prove};
use super::reason::{Positive, Reason};
use super::record::Record;
use super::tree::{Ticket, Tree};
use crate::bounds::{Compact, Node, Subproblem};
use crate::report::Control;
use crate::search::guide::ascent::Ascent;

/// Parts for each thread: some are closed long before others.
const PARTS: usize = 8;

/// The open nodes of a claim's tree.
struct Parts {
    tree: Tree,
    open: Vec<(Node, Ticket)>,
    nodes: u64,
    record: Option<Record>,
}

impl Parts {
    /// Splits the nodes with the lowest bounds until there are so many, or none is left to split.
    fn new(compact: &Compact, claim: &Claim, effort: Effort, count: usize) -> Parts {
        let (tree, ticket) = Tree::plant();
        let root = claim.root.clone().numbered(0);
        let record = effort.records.then(|| Record::new(root.clone(), effort.keeps_all));
        let mut parts = Parts { tree, open: vec![(root, ticket)], nodes: 0, record };
        let mut ascent = Ascent::new(compact, effort.tuning);
        while parts.open.len() < count {
            let splittable = parts.open.iter().enumerate().filter(|(_, (node, _))| node.branch.is_some());
            let lowest = splittable.min_by(|(_, (a, _)), (_, (b, _))| a.bound.total_cmp(&b.bound));
            let Some(at) = lowest.map(|(at, _)| at) else { break };
            parts.split(at, claim, effort, &mut ascent, compact);
        }
        parts
    }

    fn split(&mut self, at: usize, claim: &Claim, effort: Effort, ascent: &mut Ascent, compact: &Compact) {
        let (node, ticket) = self.open.swap_remove(at);
        let (slot, _) = node.branch.expect("a neuron to split");
        let record = self.record.as_mut();
        let [off, on] = record.map_or([0; 2], |record| record.split(compact, &node, compact.hidden(slot)));
        let child = |(phase, number)| {
            let node = node.child(slot, phase).numbered(number);
            Subproblem { row: claim.row, node, target: claim.target }
        };
        let mut children = [(true, on), (false, off)].map(child);
        ascent.raise(&mut children, effort.steps);
        self.nodes += 2;
        for (Subproblem { node, .. }, ticket) in children.into_iter().zip(self.tree.split(ticket)) {
            if effort.is_enough(node.bound, claim.target) {
                if let Some(record) = &mut self.record {
                    record.keep(compact, &node);
                }
                self.tree.close(ticket, &Reason::of_leaf(node));
            } else {
                self.open.push((node, ticket));
            }
        }
    }
}

/// Tries to prove one claim with all threads.
pub fn prove_in_parts(compact: &Compact, claim: &Claim, effort: Effort, control: &Control) -> Answer {
    let what = Positive::of(&claim.root);
    let Parts { mut tree, open, nodes, mut record } = Parts::new(compact, claim, effort, PARTS * effort.threads);
    let (roots, tickets): (Vec<Node>, Vec<Ticket>) = open.into_iter().unzip();
    let part = |root: &Node| Claim { root: root.clone(), part_of: record.as_ref(), ..*claim };
    let claims: Vec<Claim> = roots.iter().map(part).collect();
    let effort = Effort { total: effort.nodes, ..effort };
    let answers = prove(compact, &claims, effort, control);
    let mut answer = Answer { bound: claim.target, nodes, ..Answer::default() };
    for ((part, root), ticket) in answers.into_iter().zip(&roots).zip(tickets) {
        if let (Some(record), Some(part)) = (&mut record, part.record) {
            record.graft(root.number, part);
        }
        answer.nodes += part.nodes;
        answer.depth = answer.depth.max(part.depth);
        answer.bound = answer.bound.min(part.bound);
        if let Some(settled) = part.settled {
            tree.close(ticket, &Reason::Tree { what, settled, record: None });
        }
    }
    answer.settled = tree.settled();
    answer.record = record;
    answer
}
