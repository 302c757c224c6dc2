//! Trees whose leaves are closed one by one: nothing is closed by forgetting it.
//!
//! A tree counts what is not settled yet. Every such part of it has a [`Ticket`], which cannot be copied: splitting a part
//! turns its ticket into two, closing it takes the ticket and a reason. A ticket that is dropped stays unsettled, and so does
//! the tree. [`Settled`] is the value that says there is none left, and only a tree makes it.

use super::reason::Reason;
use crate::certificate::Written;
use std::sync::atomic::{AtomicU64, Ordering};

/// A part of a tree that is not settled.
#[derive(Debug)]
#[must_use = "what is dropped is never settled"]
pub struct Ticket {
    tree: u64,
}

#[derive(Debug)]
pub struct Tree {
    id: u64,
    unsettled: u64,
    leaves: u64,
}

/// A tree whose every leaf is closed.
#[derive(Debug)]
pub struct Settled {
    leaves: u64,
}

impl Settled {
    pub fn leaves(&self) -> u64 {
        self.leaves
    }
}

impl Tree {
    /// A tree of one part.
    pub fn plant() -> (Tree, Ticket) {
        static PLANTED: AtomicU64 = AtomicU64::new(0);
        let id = PLANTED.fetch_add(1, Ordering::Relaxed);
        (Tree { id, unsettled: 1, leaves: 0 }, Ticket { tree: id })
    }

    /// Two parts for one, which together are all of it.
    pub fn split(&mut self, ticket: Ticket) -> [Ticket; 2] {
        assert_eq!(ticket.tree, self.id, "a ticket of another tree");
        self.unsettled += 1;
        [Ticket { tree: self.id }, Ticket { tree: self.id }]
    }

    /// Closes a part. What the reason says must hold on all of it: that is for the caller to know.
    pub fn close(&mut self, ticket: Ticket, reason: &Reason) {
        assert_eq!(ticket.tree, self.id, "a ticket of another tree");
        self.unsettled -= 1;
        self.leaves += reason.leaves();
    }

    pub fn settled(&self) -> Option<Settled> {
        (self.unsettled == 0).then_some(Settled { leaves: self.leaves })
    }
}

/// The search's own trees: one for each goal that it begins with, and those that are grafted on parts of them.
#[derive(Debug)]
pub struct Proof {
    goals: usize,
    trees: Vec<Tree>,
    /// For each grafted tree, the part that it stands for.
    parts: Vec<Option<(usize, Ticket)>>,
}

/// That every goal is closed which a search began with: of a search over a property the disjuncts, so that the property holds.
/// Only a [`Proof`] makes one.
#[derive(Debug)]
pub struct Proved {
    goals: Vec<Settled>,
    certificate: Option<Written>,
}

impl Proof {
    /// Of so many goals: the disjuncts of a property, or what a part of a search is to close. And the ticket of each.
    pub fn of(goals: usize) -> (Proof, Vec<Ticket>) {
        let (trees, tickets): (Vec<Tree>, _) = (0..goals).map(|_| Tree::plant()).unzip();
        (Proof { goals, trees, parts: vec![] }, tickets)
    }

    /// A tree of its own for a part of another: once it is settled, the part is closed. Returns its number and its ticket.
    pub fn graft(&mut self, tree: usize, part: Ticket) -> (usize, Ticket) {
        let (grafted, ticket) = Tree::plant();
        self.trees.push(grafted);
        self.parts.push(Some((tree, part)));
        (self.trees.len() - 1, ticket)
    }

    /// Whether nothing of a tree is open.
    pub fn is_settled(&self, tree: usize) -> bool {
        self.trees[tree].settled().is_some()
    }

    /// Gives a grafted tree up: its part is open again, unless the tree was settled.
    pub fn give_up(&mut self, tree: usize) -> Option<Ticket> {
        self.parts[tree - self.goals].take().map(|(_, part)| part)
    }

    pub fn split(&mut self, tree: usize, ticket: Ticket) -> [Ticket; 2] {
        self.trees[tree].split(ticket)
    }

    pub fn close(&mut self, tree: usize, ticket: Ticket, reason: &Reason) {
        self.trees[tree].close(ticket, reason);
        let Some(part) = tree.checked_sub(self.goals).and_then(|grafted| self.parts.get_mut(grafted)) else {
            return;
        };
        if let Some(settled) = self.trees[tree].settled()
            && let Some((tree, ticket)) = part.take()
        {
            self.close(tree, ticket, &Reason::Boxes(settled));
        }
    }

    /// The evidence, if every goal is settled; otherwise how many are not.
    pub fn finish(&self) -> Result<Proved, usize> {
        let settled: Vec<Settled> = self.trees[..self.goals].iter().filter_map(Tree::settled).collect();
        match self.goals - settled.len() {
            0 => Ok(Proved { goals: settled, certificate: None }),
            open => Err(open),
        }
    }
}

impl Proved {
    /// With the certificate that was written of it.
    pub fn with(self, certificate: Written) -> Proved {
        Proved { certificate: Some(certificate), ..self }
    }

    pub fn certificate(&self) -> Option<&Written> {
        self.certificate.as_ref()
    }

    /// Parts of the goals that were closed, each for a reason of its own.
    pub fn parts(&self) -> u64 {
        self.goals.iter().map(Settled::leaves).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_settled_when_every_leaf_is_closed() {
        let (mut tree, root) = Tree::plant();
        assert!(tree.settled().is_none());
        let [left, right] = tree.split(root);
        tree.close(left, &Reason::Empty);
        assert!(tree.settled().is_none());
        let [a, b] = tree.split(right);
        tree.close(b, &Reason::Empty);
        tree.close(a, &Reason::Empty);
        assert_eq!(tree.settled().expect("nothing is open").leaves(), 3);
    }

    #[test]
    fn what_is_dropped_is_never_settled() {
        let (mut tree, root) = Tree::plant();
        let [left, right] = tree.split(root);
        drop(left);
        tree.close(right, &Reason::Empty);
        assert!(tree.settled().is_none());
    }

    #[test]
    fn a_grafted_tree_closes_its_part_once() {
        let (tree, root) = Tree::plant();
        let mut proof = Proof { goals: 1, trees: vec![tree], parts: vec![] };
        let (grafted, ticket) = proof.graft(0, root);
        let [a, b] = proof.split(grafted, ticket);
        proof.close(grafted, a, &Reason::Forms);
        assert_eq!(proof.finish().err(), Some(1));
        let part = proof.give_up(grafted).expect("an open part");
        // What the tree still does is of no use.
        proof.close(grafted, b, &Reason::Forms);
        assert_eq!(proof.finish().err(), Some(1));
        let (again, ticket) = proof.graft(0, part);
        proof.close(again, ticket, &Reason::Forms);
        assert!(proof.finish().is_ok() && proof.give_up(again).is_none());
    }

    #[test]
    #[should_panic(expected = "another tree")]
    fn a_ticket_closes_its_own_tree_alone() {
        let (mut tree, _root) = Tree::plant();
        let (_other, ticket) = Tree::plant();
        tree.close(ticket, &Reason::Empty);
    }
}
