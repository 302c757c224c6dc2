//! What is asked about boxes: every box of the property, with the rows of its disjuncts.

use crate::bounds::{BoxBatch, BoxNumber, BoxRow, Directions, Objective};
use crate::property::Disjunct;

/// The roots of the search, and the directions of their rows.
#[derive(Default)]
pub struct Question<'a> {
    pub directions: Directions,
    pub roots: Vec<Root<'a>>,
    /// Words of bits that a cell keeps about decided neurons.
    pub known_words: usize,
    /// Whether cells are logged for a certificate.
    pub is_logged: bool,
}

/// A box of the property, or a leaf of another search.
pub struct Root<'a> {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The leaf's number.
    pub leaf: Option<usize>,
    pub goals: Vec<RootGoal<'a>>,
}

/// That no input of the box is a counterexample of a disjunct.
pub struct RootGoal<'a> {
    pub disjunct: &'a Disjunct,
    /// The numbers of the disjunct and of its tree of boxes.
    pub number: usize,
    pub tree: usize,
    pub rows: Vec<BoxRow>,
}

impl RootGoal<'_> {
    /// The largest value of a row at a point and its outputs, about; only what is at most 0 in all rows is a counterexample.
    pub fn worst(&self, directions: &Directions, x: impl Fn(usize) -> f64, y: impl Fn(usize) -> f64) -> f64 {
        let value = |row: &BoxRow| {
            let by_outputs = row.direction.map_or(0.0, |n| directions.value(n, &y));
            row.constant + by_outputs + row.x.iter().map(|&(i, a, _)| a * x(i)).sum::<f64>()
        };
        self.rows.iter().map(value).fold(f64::NEG_INFINITY, f64::max)
    }
}

impl<'a> Question<'a> {
    /// The largest row of a goal, by the numbers of its root and of itself, at the point that was evaluated in a lane.
    pub fn worst<T: BoxNumber>(&self, batch: &BoxBatch<T>, lane: usize, (root, goal): (usize, usize)) -> f64 {
        self.roots[root].goals[goal].worst(&self.directions, |i| batch.x(lane, i), |o| batch.y(lane, o))
    }

    pub fn goal(
        &mut self,
        disjunct: &'a Disjunct,
        (number, tree): (usize, usize),
        rows: impl Iterator<Item = Objective>,
    ) -> RootGoal<'a> {
        let rows = rows.map(|row| self.directions.row(&row)).collect();
        RootGoal { disjunct, number, tree, rows }
    }
}
