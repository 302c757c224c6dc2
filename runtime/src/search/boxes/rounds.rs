//! Rounds over the cells of a search: batches are handed to threads and taken back in order, so that the outcome does not depend on
//! timing.

use super::cell::{Cell, Clip, Judged, Next, OpenCell};
use super::crew::{Crew, Work};
use super::log::CellLog;
use super::question::{Question, Root};
use crate::search::proof::{Reason, Ticket};
use crate::search::{End, Search};
use pg_core::boxes::LANES;
use std::collections::VecDeque;

/// How the open part of the boxes shrinks, where there are too many inputs to be sure that it does.
pub struct Trial {
    /// The number of cells at which it is looked at next, and what was open the time before.
    pub next: u64,
    pub open: f64,
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

/// The cells of a search.
#[derive(Default)]
pub struct Cells {
    /// Those that wait, the next one last: for float32, and for float64.
    coarse: VecDeque<OpenCell>,
    fine: VecDeque<OpenCell>,
    /// Whether the one that waits longest is the next, while they are not too many: for a frontier of cells that are much alike.
    is_broad: bool,
    /// What each batch under way is for, and the tickets of its cells.
    busy: VecDeque<(Work, Vec<Vec<Ticket>>)>,
    /// Those for phases.
    pub rest: Vec<OpenCell>,
    /// For a certificate, what became of the cells of each root.
    pub logs: Vec<CellLog>,
    /// Points that are worth a try, each for a goal of a root.
    points: Vec<(usize, usize, Vec<f64>)>,
}

/// Beyond so many cells the newest are the next.
const MOST_BROAD: usize = 1 << 16;

impl Cells {
    pub fn new(roots: Vec<OpenCell>, logs: Vec<CellLog>, is_broad: bool) -> Cells {
        Cells { coarse: roots.into(), logs, is_broad, ..Cells::default() }
    }

    /// How many are open, but for those under way.
    fn count(&self) -> usize {
        self.coarse.len() + self.fine.len() + self.rest.len()
    }

    /// Hands out batches: full ones until so many are under way, others to threads that would idle.
    fn hand_out(&mut self, crew: &mut Crew, most_full: usize, threads: usize) {
        loop {
            let is_fine = self.coarse.is_empty() || self.fine.len() >= LANES;
            let (work, from) = if is_fine { (Work::Fine, &mut self.fine) } else { (Work::Coarse, &mut self.coarse) };
            let most = if from.len() >= LANES { most_full } else { threads };
            if from.is_empty() || crew.busy() >= most {
                return;
            }
            let is_broad = self.is_broad && from.len() <= MOST_BROAD;
            let first = if is_broad { 0 } else { from.len().saturating_sub(LANES) };
            let cells = from.drain(first..from.len().min(first + LANES)).collect();
            self.hand(crew, work, cells);
        }
    }

    fn hand(&mut self, crew: &mut Crew, work: Work, cells: Vec<OpenCell>) {
        let (cells, tickets) = cells.into_iter().map(|open| (open.cell, open.tickets)).unzip();
        crew.hand(work, cells);
        self.busy.push_back((work, tickets));
    }
}

impl<'a> Search<'a> {
    /// Judges cells and halves them until none is left but those that say no more; false if a trial does not get on.
    pub fn halve(
        &mut self,
        crew: &mut Crew,
        question: &Question<'a>,
        cells: &mut Cells,
        mut trial: Option<Trial>,
    ) -> Result<bool, End> {
        let tuning = self.tuning.boxes;
        if cells.coarse.len() >= LANES {
            self.look(crew, question, cells)?;
        }
        let (mut batches, mut next_attack) = (0u64, 0u64);
        while !cells.coarse.is_empty() || !cells.fine.is_empty() || crew.busy() > 0 {
            self.goes_on(cells.count())?;
            let open = 1.0 - self.work.closed;
            if trial.as_mut().is_some_and(|trial| !trial.gets_on(self.counters.nodes, open, tuning.gets_on)) {
                return Ok(false);
            }
            cells.hand_out(crew, self.most_batches(), self.threads());
            if batches >= next_attack && self.control.stop().is_none() {
                let time = next_attack;
                next_attack = (next_attack * 4).max(4);
                self.wander(question, time)?;
            }
            batches += 1;
            self.settle_batch(crew, question, cells);
            for (root, goal, point) in cells.points.drain(..) {
                self.try_near(question.roots[root].goals[goal].disjunct, &point)?;
            }
        }
        Ok(true)
    }

    /// A first look at many roots, most of which fall at once.
    fn look(&mut self, crew: &mut Crew, question: &Question<'a>, cells: &mut Cells) -> Result<(), End> {
        let mut roots = std::mem::take(&mut cells.coarse).into_iter();
        loop {
            if let Err(end) = self.go_on() {
                cells.coarse.extend(roots);
                return Err(end);
            }
            while roots.len() > 0 && crew.busy() < self.most_batches() {
                cells.hand(crew, Work::Look, roots.by_ref().take(LANES).collect());
            }
            if crew.busy() == 0 {
                return Ok(());
            }
            self.settle_batch(crew, question, cells);
        }
    }

    /// Batches that are under way at a time: with several threads each has some to follow.
    fn most_batches(&self) -> usize {
        let threads = self.threads();
        if threads == 1 { 1 } else { threads * self.tuning.boxes.batches }
    }

    /// Takes back the batch that was handed out first.
    pub fn settle_batch(&mut self, crew: &mut Crew, question: &Question<'a>, cells: &mut Cells) {
        let judged = crew.take();
        let (work, tickets) = cells.busy.pop_front().expect("a batch is under way");
        for (judged, tickets) in judged.into_iter().zip(tickets) {
            self.settle(question, judged, tickets, work, cells);
        }
        self.control.set_open(cells.coarse.len() + cells.fine.len());
    }

    /// Closes the goals that a cell has lost, and opens its halves.
    fn settle(&mut self, question: &Question<'a>, judged: Judged, tickets: Vec<Ticket>, work: Work, cells: &mut Cells) {
        let Judged { before, mut left, clips, next, points } = judged;
        cells.points.extend(points.into_iter().map(|(goal, point)| (left.root, goal, point)));
        let root = &question.roots[left.root];
        let kept = self.close_lost(root, &before, &left, tickets);
        if let Some(log) = cells.logs.get_mut(left.root) {
            let lost = before.iter().filter(|goal| left.open.binary_search(goal).is_err());
            lost.for_each(|&goal| log.close(left.node, root.goals[goal].number));
            for Clip { input, at, is_upper } in clips {
                let [below, above] = log.cut(left.node, input, at);
                let (inside, beyond) = if is_upper { (below, above) } else { (above, below) };
                left.open.iter().for_each(|&goal| log.close(beyond, root.goals[goal].number));
                left.node = inside;
            }
        }
        let nodes = u64::from(!matches!(next, Next::Judge));
        self.counters.nodes += nodes;
        self.control.add_nodes(nodes);
        let open = if work == Work::Fine { &mut cells.fine } else { &mut cells.coarse };
        match next {
            Next::Closed => {}
            Next::Judge => open.push_back(OpenCell { cell: left, tickets: kept }),
            Next::Stubborn if work == Work::Coarse => cells.fine.push_back(OpenCell { cell: left, tickets: kept }),
            Next::Stubborn | Next::Touched => cells.rest.push(OpenCell { cell: left, tickets: kept }),
            Next::Halve { input, upper_last } => {
                let log = cells.logs.get_mut(left.root);
                let nodes = log.map_or([0; 2], |log| log.cut(left.node, input, left.middle(input)));
                let [lower, upper] = self.halves(root, left, kept, input, nodes);
                open.extend(if upper_last { [lower, upper] } else { [upper, lower] });
            }
        }
    }

    /// Closes the goals that are no longer open on a cell; the tickets of the others.
    fn close_lost(&mut self, root: &Root, before: &[usize], left: &Cell, tickets: Vec<Ticket>) -> Vec<Ticket> {
        let depth = u64::from(left.depth);
        self.counters.max_depth = self.counters.max_depth.max(depth);
        self.control.set_depth(depth);
        let mut kept = Vec::with_capacity(left.open.len());
        for (goal, ticket) in before.iter().zip(tickets) {
            if left.open.binary_search(goal).is_ok() {
                kept.push(ticket);
                continue;
            }
            let part = 0.5f64.powi(left.depth as i32) / self.property.disjuncts.len() as f64;
            self.work.closed += part;
            self.control.add_closed(part);
            self.count(&Reason::Forms);
            self.proof.close(root.goals[*goal].tree, ticket, &Reason::Forms);
        }
        kept
    }

    fn halves(
        &mut self,
        root: &Root,
        cell: Cell,
        tickets: Vec<Ticket>,
        input: usize,
        nodes: [u32; 2],
    ) -> [OpenCell; 2] {
        let (mut below, mut above) = (vec![], vec![]);
        for (&goal, ticket) in cell.open.iter().zip(tickets) {
            let [a, b] = self.proof.split(root.goals[goal].tree, ticket);
            below.push(a);
            above.push(b);
        }
        let (at, depth) = (cell.middle(input), cell.depth + 1);
        let [mut lower, mut upper] = nodes.map(|node| Cell { depth, node, ..cell.clone() });
        (lower.upper[input], upper.lower[input]) = (at, at);
        [OpenCell { cell: lower, tickets: below }, OpenCell { cell: upper, tickets: above }]
    }
}
