//! The tail: where a layer is left with few live neurons, the rest of the network is a function of those few.
//!
//! Their bounds are a box of one, two or three dimensions. It is halved, and halved again, until the bounds of the layers
//! after it exclude a task on every piece: every input of the network leads to a point of some piece, so that closes the
//! task. A task that the tail violates somewhere in the box is left to others, who know which points can be reached.

use super::attack::attack;
use super::peregrinn::Task;
use super::refine::{NO_STEPS, Refined};
use super::{End, Search};
use crate::bounds::{Domain, Emptiness, Front, Row, Steps};

/// So few live neurons are swept.
pub const NARROW: usize = 3;
/// Pieces that a sweep may look at.
const PIECES: usize = 4_000;
const AT_ROWS: Steps = Steps { count: 4, rate: 0.3, decay: 0.8 };

/// A box of the live activations of the narrow layer, and the tasks that are open there.
struct Piece {
    lower: Vec<f64>,
    upper: Vec<f64>,
    tasks: Vec<usize>,
}

impl<'a> Search<'a> {
    /// The tasks that a sweep behind the given layer closes, by their index.
    pub fn sweep(&mut self, tasks: &[Task<'a>], refined: &Refined, layer: usize) -> Result<Vec<usize>, End> {
        let live: Vec<usize> = refined.domain.live(layer).collect();
        if live.is_empty() || live.len() > NARROW || layer + 1 >= self.layers.hidden() {
            return Ok(vec![]);
        }
        let swept = |task: &Task| !task.rows.is_empty() && !task.rows.iter().any(|row| row.has_inputs());
        let mut closing: Vec<bool> = tasks.iter().map(swept).collect();
        let mut pieces = vec![Piece {
            lower: live.iter().map(|&j| refined.domain.lower[layer][j].max(0.0)).collect(),
            upper: live.iter().map(|&j| refined.domain.upper[layer][j]).collect(),
            tasks: (0..tasks.len()).collect(),
        }];
        for _ in 0..PIECES {
            let Some(mut piece) = pieces.pop() else { break };
            self.go_on()?;
            piece.tasks.retain(|&task| closing[task]);
            if piece.tasks.is_empty() {
                continue;
            }
            for violated in self.bound_piece(tasks, refined, layer, &mut piece) {
                closing[violated] = false;
            }
            piece.tasks.retain(|&task| closing[task]);
            if !piece.tasks.is_empty() {
                pieces.extend(self.halves(piece, &live, layer));
            }
        }
        pieces.iter().flat_map(|piece| &piece.tasks).for_each(|&task| closing[task] = false);
        Ok((0..tasks.len()).filter(|&task| closing[task]).collect())
    }

    /// Drops the tasks that the piece's bounds exclude from it; returns those that the tail violates at its centre.
    fn bound_piece(&mut self, tasks: &[Task<'a>], refined: &Refined, layer: usize, piece: &mut Piece) -> Vec<usize> {
        let mut domain = refined.domain.clone();
        if self.bound_tail(&mut domain, layer, piece).is_err() {
            piece.tasks.clear();
            return vec![];
        }
        let last = self.layers.hidden();
        let front = self.tail(&domain, layer, last, piece);
        let mut violated = Vec::new();
        piece.tasks.retain(|&task| {
            let row = |row| front.objective_row(&self.layers.0[last], row, &domain);
            let rows: Vec<Row> = tasks[task].rows.iter().map(row).collect();
            if self.raise(&front, &rows, AT_ROWS).iter().any(|root| root.bound > 0.0) {
                return false;
            }
            if attack(&front, &rows.iter().collect::<Vec<_>>(), 0, None).iter().all(|found| found.value <= 0.0) {
                violated.push(task);
            }
            true
        });
        violated
    }

    /// The bounds of the layers behind the narrow one, for activations in the piece. A contradiction says that no input of
    /// the network leads there.
    fn bound_tail(&mut self, domain: &mut Domain, layer: usize, piece: &Piece) -> Result<(), Emptiness> {
        for k in layer + 1..self.layers.hidden() {
            let front = self.tail(domain, layer, k, piece);
            self.raise_behind(&front, domain, k, NO_STEPS)?;
        }
        Ok(())
    }

    fn tail(&self, domain: &Domain, layer: usize, end: usize, piece: &Piece) -> Front {
        Front::new(self.network, self.layers, layer + 1..end, domain, (&piece.lower, &piece.upper))
    }

    /// The halves of a piece, along the side that moves the next layer most. They share their border and cover it.
    fn halves(&self, piece: Piece, live: &[usize], layer: usize) -> [Piece; 2] {
        let next = &self.layers.0[layer + 1];
        let weight = |j: usize| (0..next.outputs).map(|i| f64::from(next.row(i)[j]).abs()).sum::<f64>();
        let effect = |d: usize| (piece.upper[d] - piece.lower[d]) * weight(live[d]);
        let side = (0..live.len()).max_by(|&a, &b| effect(a).total_cmp(&effect(b))).expect("a live neuron");
        let middle = piece.lower[side] + (piece.upper[side] - piece.lower[side]) / 2.0;
        let (mut below, mut above) = (piece.upper.clone(), piece.lower.clone());
        (below[side], above[side]) = (middle, middle);
        [
            Piece { lower: piece.lower, upper: below, tasks: piece.tasks.clone() },
            Piece { lower: above, upper: piece.upper, tasks: piece.tasks },
        ]
    }
}
