//! The tail: where a layer is left with few live neurons, the rest of the network is a function of those few.
//!
//! Their bounds are a box of few dimensions. It is halved, and halved again, until the bounds of the layers
//! after it exclude a task on every piece: every input of the network leads to a point of some piece, so that closes the
//! task. Half-spaces of every two neurons cut off what inputs do not reach. A task that the tail violates somewhere in what is
//! left of the box is left to others, who know which points can be reached.

use super::attack::attack;
use super::peregrinn::Task;
use super::planes::Plane;
use super::refine::{NO_STEPS, Refined, Round};
use super::{End, Search};
use crate::bounds::{Domain, Emptiness, Front, Steps};
use crate::report::Stage;
use std::time::Instant;

/// So few live neurons are swept.
const NARROW: u64 = 10;
/// And of so few, every two together are bounded too.
const FEW: u64 = 6;
/// Bounds of their neurons are worth so many times the nodes of others, and then so many times as many again.
const NARROW_EFFORT: u64 = 20;
const GROWTH: u64 = 4;
/// A piece that was halved so often for each side is at a border of the property.
const HALVINGS: usize = 12;
/// Steps of the attack on a piece.
const ATTACK_STEPS: usize = 2;
const AT_ROWS: Steps = Steps { count: 4, rate: 0.3, decay: 0.8 };

/// A box of the live activations of the narrow layer, and the tasks that are open there.
struct Piece {
    lower: Vec<f64>,
    upper: Vec<f64>,
    tasks: Vec<usize>,
    /// How often it was halved.
    depth: usize,
}

impl Piece {
    /// One point, of so many activations, padded.
    fn point(x: &[f32], count: usize) -> Piece {
        let at: Vec<f64> = x[..count].iter().map(|&x| x.into()).collect();
        Piece { lower: at.clone(), upper: at, tasks: vec![], depth: 0 }
    }

    /// Clips the piece to the half-spaces; false if nothing is left.
    fn clip(&mut self, lowest: &[f64], planes: &[Plane]) -> bool {
        planes.iter().all(|plane| plane.clip(lowest, &mut self.lower, &mut self.upper))
    }
}

impl<'a> Search<'a> {
    /// Where a layer is narrow, bounds its neurons and sweeps what is behind it: harder and harder, with as many nodes as were
    /// spent before.
    pub fn close_by_tail(
        &mut self,
        tasks: &mut Vec<Task<'a>>,
        refined: &mut Refined,
        layer: usize,
        round: Round,
    ) -> Result<(), End> {
        let limit = 2 * self.counters.neuron_nodes;
        let mut nodes = round.bound_nodes * NARROW_EFFORT;
        while !tasks.is_empty() {
            let live = refined.domain.live(layer).count() as u64;
            if live == 0 || live > NARROW || layer + 1 >= self.layers.hidden() {
                return Ok(());
            }
            let before = self.counters.neuron_nodes;
            let known = (refined.domain.lower[layer].clone(), refined.domain.upper[layer].clone());
            let start = Instant::now();
            let reached = self.enclose(refined, layer, nodes);
            self.times.refine += start.elapsed().as_secs_f64();
            self.attack_from_reached(tasks, refined, &reached?)?;
            self.close_at_root(tasks, refined);
            let closed = self.sweep(tasks, refined, layer, &[], round.pieces)?;
            self.drop_closed(tasks, &closed);
            if !tasks.is_empty() && live <= FEW {
                let start = Instant::now();
                let planes = self.planes(refined, layer, nodes);
                self.times.refine += start.elapsed().as_secs_f64();
                let closed = self.sweep(tasks, refined, layer, &planes?, round.pieces)?;
                self.drop_closed(tasks, &closed);
            }
            let spent = self.counters.neuron_nodes - before;
            let is_tighter = refined.domain.lower[layer] != known.0 || refined.domain.upper[layer] != known.1;
            if !is_tighter || self.counters.neuron_nodes + GROWTH * spent > limit {
                return Ok(());
            }
            nodes *= GROWTH;
        }
        Ok(())
    }

    /// The tasks that a sweep behind the given layer, of so many pieces at most and within half-spaces, closes, by their index.
    fn sweep(
        &mut self,
        tasks: &[Task<'a>],
        refined: &Refined,
        layer: usize,
        planes: &[Plane],
        pieces_left: u64,
    ) -> Result<Vec<usize>, End> {
        self.control.enter(Stage::Tail);
        let live: Vec<usize> = refined.domain.live(layer).collect();
        let lowest: Vec<f64> = live.iter().map(|&j| refined.domain.lower[layer][j]).collect();
        let swept = |task: &Task| !task.rows.is_empty() && !task.rows.iter().any(|row| row.has_inputs());
        let mut closing: Vec<bool> = tasks.iter().map(swept).collect();
        let mut pieces = vec![Piece {
            lower: live.iter().map(|&j| refined.domain.lower[layer][j].max(0.0)).collect(),
            upper: live.iter().map(|&j| refined.domain.upper[layer][j]).collect(),
            tasks: (0..tasks.len()).collect(),
            depth: 0,
        }];
        for _ in 0..pieces_left {
            let Some(mut piece) = pieces.pop() else { break };
            self.go_on()?;
            self.control.add_nodes(1);
            piece.tasks.retain(|&task| closing[task]);
            if piece.tasks.is_empty() || !piece.clip(&lowest, planes) {
                continue;
            }
            let allows = |x: &[f32]| Piece::point(x, live.len()).clip(&lowest, planes);
            for violated in self.bound_piece(tasks, refined, layer, &mut piece, allows) {
                closing[violated] = false;
            }
            piece.tasks.retain(|&task| closing[task]);
            if piece.depth == HALVINGS * live.len() {
                piece.tasks.iter().for_each(|&task| closing[task] = false);
            } else if !piece.tasks.is_empty() {
                pieces.extend(self.halves(piece, &live, layer));
            }
        }
        pieces.iter().flat_map(|piece| &piece.tasks).for_each(|&task| closing[task] = false);
        Ok((0..tasks.len()).filter(|&task| closing[task]).collect())
    }

    /// Drops the tasks that the piece's bounds exclude from it; returns those that the tail seems to violate somewhere in it, at
    /// points that are allowed.
    fn bound_piece(
        &mut self,
        tasks: &[Task<'a>],
        refined: &Refined,
        layer: usize,
        piece: &mut Piece,
        allows: impl Fn(&[f32]) -> bool,
    ) -> Vec<usize> {
        let mut domain = refined.domain.clone();
        if self.bound_tail(&mut domain, layer, piece).is_err() {
            piece.tasks.clear();
            return vec![];
        }
        let front = self.tail(&domain, layer, self.layers.hidden(), piece);
        let (owners, rows) = self.task_rows(tasks, piece.tasks.iter().copied(), &front, &domain);
        let roots = self.raise(&front, &rows, AT_ROWS);
        piece.tasks.retain(|task| !owners.iter().zip(&roots).any(|(owner, root)| owner == task && root.bound > 0.0));
        if piece.tasks.is_empty() {
            return vec![];
        }
        let found = attack(&front, &rows.iter().collect::<Vec<_>>(), ATTACK_STEPS, None);
        let is_violated = |&task: &usize| {
            let points = owners.iter().zip(&found).filter(|(owner, _)| **owner == task);
            points.clone().count() > 0
                && points.map(|(_, found)| found).all(|found| found.value <= 0.0 && allows(&found.x))
        };
        piece.tasks.iter().copied().filter(is_violated).collect()
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
            Piece { lower: piece.lower, upper: below, tasks: piece.tasks.clone(), depth: piece.depth + 1 },
            Piece { lower: above, upper: piece.upper, tasks: piece.tasks, depth: piece.depth + 1 },
        ]
    }
}
