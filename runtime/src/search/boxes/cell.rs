//! A part of a root's box, and what becomes of it.

use super::question::{Root, RootGoal};
use crate::search::proof::Ticket;

/// A box, and the goals of its root that are open there.
#[derive(Clone, Debug)]
pub struct Cell {
    pub root: usize,
    pub depth: u32,
    /// Its number in the log of its root.
    pub node: u32,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Their places among the root's, ascending.
    pub open: Vec<usize>,
    /// Hidden neurons that are on, and off, on a box around it: bits, as many words of each. Empty if nothing is known.
    pub known: Vec<u64>,
}

impl Cell {
    /// Where a side is halved.
    pub fn middle(&self, input: usize) -> f64 {
        self.lower[input] + (self.upper[input] - self.lower[input]) / 2.0
    }
}

/// A cell and the ticket of each of its open goals.
pub struct OpenCell {
    pub cell: Cell,
    pub tickets: Vec<Ticket>,
}

impl OpenCell {
    /// Adds a goal to a root and to its cell.
    pub fn add<'a>(&mut self, root: &mut Root<'a>, (goal, ticket): (RootGoal<'a>, Ticket)) {
        self.cell.open.push(root.goals.len());
        self.tickets.push(ticket);
        root.goals.push(goal);
    }
}

/// An end of a cell that was moved inward: beyond it no goal that is open has a counterexample.
pub struct Clip {
    pub input: usize,
    pub at: f64,
    pub is_upper: bool,
}

/// What became of a cell.
pub struct Judged {
    /// The goals that were open.
    pub before: Vec<usize>,
    /// The goals that are still open, on a box that holds all their counterexamples, with the neurons decided on the cell.
    pub left: Cell,
    /// How that differs from the cell, where cells are logged.
    pub clips: Vec<Clip>,
    pub next: Next,
    /// Points that are worth a try, each for a goal.
    pub points: Vec<(usize, Vec<f64>)>,
}

/// What to do with what is left.
#[derive(Clone, Copy)]
pub enum Next {
    Closed,
    /// It was only looked at: judge it.
    Judge,
    /// Halve this input; the half that is nearer to a violation last.
    Halve {
        input: usize,
        upper_last: bool,
    },
    /// Boxes say no more about it in these numbers.
    Stubborn,
    /// It touches the border of the property, and few neurons are undecided: for phases.
    Touched,
}
