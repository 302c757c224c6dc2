//! One claim for several threads: the first nodes of its tree are split here, and what is open of them is dealt out as claims of
//! their own.

use super::claim::{Answer, Claim, Effort, prove};
use super::reason::{Positive, Reason};
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
}

impl Parts {
    /// Splits the nodes with the lowest bounds until there are so many, or none is left to split.
    fn new(compact: &Compact, claim: &Claim, effort: Effort, count: usize) -> Parts {
        let (tree, ticket) = Tree::plant();
        let mut parts = Parts { tree, open: vec![(claim.root.clone(), ticket)], nodes: 0 };
        let mut ascent = Ascent::new(compact, effort.tuning);
        while parts.open.len() < count {
            let splittable = parts.open.iter().enumerate().filter(|(_, (node, _))| node.branch.is_some());
            let lowest = splittable.min_by(|(_, (a, _)), (_, (b, _))| a.bound.total_cmp(&b.bound));
            let Some(at) = lowest.map(|(at, _)| at) else { break };
            parts.split(at, claim, effort, &mut ascent);
        }
        parts
    }

    fn split(&mut self, at: usize, claim: &Claim, effort: Effort, ascent: &mut Ascent) {
        let (node, ticket) = self.open.swap_remove(at);
        let (slot, _) = node.branch.expect("a neuron to split");
        let child = |on| Subproblem { row: claim.row, node: node.child(slot, on), target: claim.target };
        let mut children = [true, false].map(child);
        ascent.raise(&mut children, effort.steps);
        self.nodes += 2;
        for (Subproblem { node, .. }, ticket) in children.into_iter().zip(self.tree.split(ticket)) {
            if node.bound > claim.target {
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
    let Parts { mut tree, open, nodes } = Parts::new(compact, claim, effort, PARTS * effort.threads);
    let (roots, tickets): (Vec<Node>, Vec<Ticket>) = open.into_iter().unzip();
    let claims: Vec<Claim> =
        roots.into_iter().map(|root| Claim { row: claim.row, target: claim.target, root }).collect();
    let effort = Effort { total: effort.nodes, ..effort };
    let answers = prove(compact, &claims, effort, control);
    let mut answer = Answer { bound: claim.target, settled: None, nodes, depth: 0 };
    for (part, ticket) in answers.into_iter().zip(tickets) {
        answer.nodes += part.nodes;
        answer.depth = answer.depth.max(part.depth);
        answer.bound = answer.bound.min(part.bound);
        if let Some(settled) = part.settled {
            tree.close(ticket, &Reason::Tree { what, settled });
        }
    }
    answer.settled = tree.settled();
    answer
}
