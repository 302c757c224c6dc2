//! Input splitting: for networks of few inputs, bounds of small boxes are tight.
//!
//! Sixteen boxes at a time are bounded, one a lane of the kernels ([`pg_core::boxes`]). A goal of a box falls by a row that is
//! positive there, by a combination of its rows, or by an empty rest where all rows may hold; what is left is clipped to that
//! rest and halved along the input that moves the relaxation most. The halves share their border and cover the box, so closing
//! both closes it. Depth first, the half that is nearer to a violation before the other; what float32 cannot tell is asked in
//! float64, and what boxes cannot tell at all is handed on to the search over phases.

mod cell;
mod question;
mod wander;

use super::guide::cuts::first_cuts;
use super::proof::{Reason, Region, Ticket};
use super::{End, Search};
use crate::bounds::{BoxKernel, BoxNumber, Objective};
use crate::property::Row;
use crate::report::{Activity, Chosen};
use cell::{Cell, Judged, Next, judge, middle};
use pg_core::boxes::{LANES, Places};
use question::{Question, Root};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a search over boxes leaves.
pub enum Split<'a> {
    /// Cells that say no more.
    Rest(Vec<Region<'a>>),
    /// It does not get on: the disjuncts that are open.
    GaveUp(Vec<(usize, Ticket)>),
}

/// How the open part of the boxes shrinks, where there are too many inputs to be sure that it does.
struct Trial {
    /// The number of cells at which it is looked at next, and what was open the time before.
    next: u64,
    open: f64,
}

impl Trial {
    /// Each doubling of the cells has to close a part of what was open.
    fn gets_on(&mut self, cells: u64, open: f64, least: f64) -> bool {
        if cells < self.next {
            return true;
        }
        let gets_on = open <= (1.0 - least) * self.open;
        *self = Trial { next: 2 * self.next, open };
        gets_on
    }
}

/// A cell and the ticket of each of its open goals.
struct OpenCell {
    cell: Cell,
    tickets: Vec<Ticket>,
}

/// Cells that wait, of one precision, and what bounds them: for each thread one, once there is a cell.
struct Front<'a, T> {
    kernels: Vec<BoxKernel<'a, T>>,
    open: Vec<OpenCell>,
}

/// What the cells of a round have come to.
#[derive(Default)]
struct Round {
    /// For finer numbers, and for phases.
    stubborn: Vec<OpenCell>,
    touched: Vec<OpenCell>,
    points: Vec<(usize, usize, Vec<f64>)>,
}

impl<'a> Search<'a> {
    /// Whether the network is small enough for boxes, or for a trial of them.
    pub fn may_split_inputs(&self) -> bool {
        let (tuning, inputs) = (self.tuning.boxes, self.shape.inputs);
        let work = 2 * (inputs + 1) * self.shape.stages.iter().map(|stage| stage.entries()).sum::<usize>();
        let may_try = inputs <= tuning.most_inputs && work <= tuning.trial_work;
        (inputs <= tuning.few_inputs || may_try) && Places::of(&self.shape).lanes <= tuning.most_memory
    }

    /// Splits the boxes of the property until their parts are closed or say no more. Of networks with more inputs than few it is
    /// a trial, as long as it gets on: where most of them hardly matter it does.
    pub fn split_inputs(&mut self, tickets: Vec<(usize, Ticket)>) -> Result<Split<'a>, End> {
        self.control.enter(Activity::Boxes);
        self.control.set_undecided(vec![]);
        self.counters.chosen = Chosen::Boxes;
        let tuning = self.tuning.boxes;
        let mut trial = Trial { next: tuning.trial, open: 1.0 };
        let is_trial = self.shape.inputs > tuning.few_inputs;
        let (question, open) = self.box_question(tickets);
        let mut coarse: Front<f32> = Front { kernels: vec![], open };
        let mut fine: Front<f64> = Front { kernels: vec![], open: vec![] };
        let mut stubborn = Vec::new();
        let (mut rounds, mut next_attack) = (0u64, 0u64);
        while !coarse.open.is_empty() || !fine.open.is_empty() {
            self.go_on()?;
            if is_trial && !trial.gets_on(self.counters.nodes, 1.0 - self.work.closed, tuning.gets_on) {
                return Ok(Split::GaveUp(self.give_up(&question)));
            }
            if rounds >= next_attack {
                let time = next_attack;
                next_attack = (next_attack * 4).max(4);
                self.wander(&question, time)?;
            }
            rounds += 1;
            let round = if coarse.open.is_empty() || fine.open.len() >= LANES * self.threads() {
                self.round(&mut fine, &question)
            } else {
                let mut round = self.round(&mut coarse, &question);
                fine.open.append(&mut round.stubborn);
                round
            };
            stubborn.extend(round.stubborn.into_iter().chain(round.touched));
            for (root, goal, point) in &round.points {
                self.try_near(question.roots[*root].goals[*goal].disjunct, point)?;
            }
        }
        self.regions_of(&question, stubborn).map(Split::Rest)
    }

    /// The disjuncts that are open, for another search.
    fn give_up(&mut self, question: &Question<'a>) -> Vec<(usize, Ticket)> {
        let goals = question.roots.iter().flat_map(|root| &root.goals);
        goals.filter_map(|goal| Some((goal.number, self.proof.give_up(goal.tree)?))).collect()
    }

    /// Every box of the property, with a cell for it.
    fn box_question(&mut self, tickets: Vec<(usize, Ticket)>) -> (Question<'a>, Vec<OpenCell>) {
        let property = self.property;
        let (mut question, mut cells): (Question, Vec<OpenCell>) = Default::default();
        let mut last = None;
        for (number, ticket) in tickets {
            let disjunct = &property.disjuncts[number];
            if !last.is_some_and(|region| Arc::ptr_eq(region, &disjunct.region)) {
                let (lower, upper) = disjunct.region.enclosure();
                let known = vec![0; self.known_words()];
                let (root, open) = (question.roots.len(), vec![]);
                let cell = Cell { root, depth: 0, lower: lower.clone(), upper: upper.clone(), open, known };
                cells.push(OpenCell { cell, tickets: vec![] });
                question.roots.push(Root { lower, upper, goals: vec![] });
            }
            last = Some(&disjunct.region);
            let (tree, ticket) = self.proof.graft(number, ticket);
            let cuts = self.box_cuts(number);
            let rows = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
            let rows = rows.map(|row| Objective::of_row(row, self.shape.inputs, self.shape.outputs()));
            let goal = question.goal(disjunct, (number, tree), rows);
            let (root, cell) = (question.roots.last_mut().expect("just pushed"), cells.last_mut().expect("as many"));
            cell.cell.open.push(root.goals.len());
            cell.tickets.push(ticket);
            root.goals.push(goal);
        }
        cells.reverse();
        (question, cells)
    }

    /// Words of bits that a cell keeps about decided neurons.
    fn known_words(&self) -> usize {
        let hidden = self.shape.start(self.shape.last());
        if hidden > self.tuning.boxes.most_known { 0 } else { 2 * hidden.div_ceil(64) }
    }

    /// Tangents of a disjunct's quadratics.
    fn box_cuts(&mut self, number: usize) -> Vec<Row> {
        let disjunct = &self.property.disjuncts[number];
        if disjunct.quadratics.is_empty() {
            return vec![];
        }
        let (lower, upper) = disjunct.region.enclosure();
        let (bounder, bounds) = self.bound_box(lower, upper, None);
        first_cuts(disjunct, bounder.input(), &bounds, self.tuning.cuts.sweeps)
    }

    /// Judges the cells on top, a few batches for each thread, and opens what is left of them. The outcome does not depend on
    /// which thread judges which batch.
    fn round<T: BoxNumber>(&mut self, front: &mut Front<'a, T>, question: &Question<'a>) -> Round {
        let (threads, refined) = (self.threads(), self.tuning.boxes.refined);
        front.kernels.resize_with(threads, || BoxKernel::new(self.network, &question.directions, refined));
        let batches = if threads == 1 { 1 } else { threads * self.tuning.boxes.batches };
        let count = front.open.len().min(LANES * batches);
        let (mut cells, mut tickets) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for open in front.open.split_off(front.open.len() - count) {
            cells.push(open.cell);
            tickets.push(open.tickets);
        }
        self.counters.nodes += count as u64;
        self.control.add_nodes(count as u64);
        let judged = self.judge_all(&mut front.kernels, question, cells);
        let mut round = Round::default();
        for (judged, tickets) in judged.into_iter().zip(tickets) {
            self.settle(question, judged, tickets, &mut front.open, &mut round);
        }
        self.control.set_open(front.open.len());
        round
    }

    fn judge_all<T: BoxNumber>(
        &self,
        kernels: &mut [BoxKernel<'a, T>],
        question: &Question<'a>,
        cells: Vec<Cell>,
    ) -> Vec<Judged> {
        let tuning = &self.tuning.boxes;
        let mut batches: Vec<Vec<Cell>> = Vec::new();
        for cell in cells {
            match batches.last_mut().filter(|batch| batch.len() < LANES) {
                Some(batch) => batch.push(cell),
                None => batches.push(vec![cell]),
            }
        }
        if kernels.len() == 1 || batches.len() == 1 {
            return batches.into_iter().flat_map(|batch| judge(&mut kernels[0], question, batch, tuning)).collect();
        }
        let work: Vec<Mutex<(Vec<Cell>, Vec<Judged>)>> =
            batches.into_iter().map(|batch| Mutex::new((batch, vec![]))).collect();
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for kernel in kernels {
                scope.spawn(|| {
                    while let Some(item) = work.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let mut item = item.lock().expect("nobody panicked");
                        let batch = std::mem::take(&mut item.0);
                        item.1 = judge(kernel, question, batch, tuning);
                    }
                });
            }
        });
        work.into_iter().flat_map(|item| item.into_inner().expect("nobody panicked").1).collect()
    }

    /// Closes the goals that a cell has lost, and opens its halves.
    fn settle(
        &mut self,
        question: &Question<'a>,
        judged: Judged,
        tickets: Vec<Ticket>,
        open: &mut Vec<OpenCell>,
        round: &mut Round,
    ) {
        let Judged { before, left, next, points, .. } = judged;
        let root = &question.roots[left.root];
        let depth = u64::from(left.depth);
        self.counters.max_depth = self.counters.max_depth.max(depth);
        self.control.set_depth(depth);
        round.points.extend(points.into_iter().map(|(goal, point)| (left.root, goal, point)));
        let mut kept = Vec::with_capacity(left.open.len());
        for (goal, ticket) in before.into_iter().zip(tickets) {
            if left.open.binary_search(&goal).is_ok() {
                kept.push(ticket);
                continue;
            }
            let part = 0.5f64.powi(left.depth as i32) / self.property.disjuncts.len() as f64;
            self.work.closed += part;
            self.control.add_closed(part);
            self.count(&Reason::Forms);
            self.proof.close(root.goals[goal].tree, ticket, &Reason::Forms);
        }
        match next {
            Next::Closed => {}
            Next::Stubborn => round.stubborn.push(OpenCell { cell: left, tickets: kept }),
            Next::Touched => round.touched.push(OpenCell { cell: left, tickets: kept }),
            Next::Halve { input, upper_last } => {
                let (mut below, mut above) = (vec![], vec![]);
                for (&goal, ticket) in left.open.iter().zip(kept) {
                    let [a, b] = self.proof.split(root.goals[goal].tree, ticket);
                    below.push(a);
                    above.push(b);
                }
                let at = middle(&left, input);
                let depth = left.depth + 1;
                let (mut lower, mut upper) = (Cell { depth, ..left.clone() }, Cell { depth, ..left });
                (lower.upper[input], upper.lower[input]) = (at, at);
                let halves = [OpenCell { cell: lower, tickets: below }, OpenCell { cell: upper, tickets: above }];
                let [lower, upper] = halves;
                open.extend(if upper_last { [lower, upper] } else { [upper, lower] });
            }
        }
    }

    /// Stubborn cells as regions, bounded in float64.
    fn regions_of(&mut self, question: &Question<'a>, cells: Vec<OpenCell>) -> Result<Vec<Region<'a>>, End> {
        let mut regions = Vec::with_capacity(cells.len());
        for OpenCell { cell, tickets } in cells {
            self.go_on()?;
            let (bounder, bounds) = self.bound_box(cell.lower, cell.upper, None);
            let mut region = Region { bounder, bounds, goals: vec![] };
            for (&goal, ticket) in cell.open.iter().zip(tickets) {
                let goal = &question.roots[cell.root].goals[goal];
                let goal = self.goal(&region, goal.disjunct, goal.tree, ticket);
                region.goals.extend(goal);
            }
            regions.push(region);
        }
        regions.retain(|region| !region.goals.is_empty());
        Ok(regions)
    }
}
