//! Why a goal is closed, and why a bound may move. Written in order, these are a certificate; now they are counted.

use super::claim::Answer;
use super::record::Record;
use super::tree::Settled;
use crate::bounds::{Node, Relaxation};
use crate::lp::Ray;
use crate::lp::exact::Farkas;
use serde::{Deserialize, Serialize};

/// What is positive, so that no counterexample is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Positive {
    /// One of the goal's rows.
    Row(usize),
    /// The goal's rows, with the weights of each node: see [`Node::weights`].
    Combination,
}

impl Positive {
    /// What a node of a claim's tree is about: the claim's only row, or a combination.
    pub fn of(node: &Node) -> Positive {
        if node.weights.is_empty() { Positive::Row(0) } else { Positive::Combination }
    }
}

/// Why no input of a region, under the phases fixed so far, is a counterexample of a goal.
#[derive(Debug)]
pub enum Reason {
    /// The bounds contradict each other: there is no such input, or no counterexample where they are bounds of these alone.
    Empty,
    /// A row is positive, by multipliers that a rule gives: no more is needed to check it.
    Bounded { row: usize, rule: Relaxation },
    /// Forms of the rows over the box leave no counterexample: one or a combination is positive, or they clip all of it away.
    Forms,
    /// A row or a combination is positive, by the multipliers of this node.
    Raised { what: Positive, node: Node },
    /// The rows with these weights are positive, by the multipliers of a linear program.
    Certified(Ray),
    /// The polyhedron of the counterexamples is empty, by exact multipliers of its rows.
    Infeasible(Farkas),
    /// A row, or at each leaf a combination of its own, is positive, by a tree over phases.
    Tree { what: Positive, settled: Settled, record: Option<Record> },
    /// At every leaf of a tree over phases, the bounds of counterexamples contradict each other.
    Propagated(Settled),
    /// Every piece of what a narrow stage can be is closed.
    Swept(Settled),
    /// Every node of the goal's own tree over phases is closed.
    Phases(Settled),
    /// Every part of the goal's box is closed.
    Boxes(Settled),
    /// Another process has closed it: the root's work, or a part with its answer.
    Elsewhere,
}

impl Reason {
    /// Of a leaf of a claim's tree, where the claim's row or combination exceeds its target.
    pub fn of_leaf(node: Node) -> Reason {
        Reason::Raised { what: Positive::of(&node), node }
    }

    /// How many leaves it closes: one, or those of a tree.
    pub fn leaves(&self) -> u64 {
        match self {
            Reason::Tree { settled, .. }
            | Reason::Propagated(settled)
            | Reason::Swept(settled)
            | Reason::Phases(settled)
            | Reason::Boxes(settled) => settled.leaves(),
            _ => 1,
        }
    }
}

/// Why a side of a neuron's bounds may move.
#[derive(Clone, Copy)]
pub enum Lemma<'l> {
    /// By the multipliers of a node.
    Raised(&'l Node),
    /// By a tree over phases.
    Tree(&'l Answer),
}

impl Lemma<'_> {
    /// What is proved of the side.
    pub fn bound(&self) -> f32 {
        match self {
            Lemma::Raised(node) => node.bound,
            Lemma::Tree(answer) => answer.bound,
        }
    }
}

/// How many leaves were closed for each reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClosedBy {
    pub empty: u64,
    pub bounded: u64,
    pub forms: u64,
    pub raised: u64,
    pub certified: u64,
    pub infeasible: u64,
    /// Trees and sweeps, by the number of their leaves.
    pub tree_leaves: u64,
    pub swept_pieces: u64,
    pub propagated: u64,
}

impl ClosedBy {
    pub fn add(&mut self, other: &ClosedBy) {
        let sums = [
            (&mut self.empty, other.empty),
            (&mut self.bounded, other.bounded),
            (&mut self.forms, other.forms),
            (&mut self.raised, other.raised),
            (&mut self.certified, other.certified),
            (&mut self.infeasible, other.infeasible),
            (&mut self.tree_leaves, other.tree_leaves),
            (&mut self.swept_pieces, other.swept_pieces),
            (&mut self.propagated, other.propagated),
        ];
        sums.into_iter().for_each(|(sum, count)| *sum = sum.saturating_add(count));
    }

    /// Counts a reason; returns how many leaves it stands for.
    pub fn count(&mut self, reason: &Reason) -> u64 {
        let counter = match reason {
            Reason::Empty => &mut self.empty,
            Reason::Bounded { .. } => &mut self.bounded,
            Reason::Forms => &mut self.forms,
            Reason::Raised { .. } => &mut self.raised,
            Reason::Certified(_) => &mut self.certified,
            Reason::Infeasible(_) => &mut self.infeasible,
            Reason::Tree { .. } => &mut self.tree_leaves,
            Reason::Swept(_) => &mut self.swept_pieces,
            Reason::Propagated(_) => &mut self.propagated,
            // Its leaves were counted as they were closed.
            Reason::Phases(_) | Reason::Boxes(_) | Reason::Elsewhere => return 0,
        };
        *counter += reason.leaves();
        reason.leaves()
    }
}
