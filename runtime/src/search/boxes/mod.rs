//! Input splitting: for networks of few inputs, bounds of small boxes are tight.
//!
//! Sixteen boxes at a time are bounded, one a lane of the kernels ([`pg_core::boxes`]). A goal of a box falls by a row that is
//! positive there, by a combination of its rows, or by an empty rest where all rows may hold; what is left is clipped to that
//! rest and halved along the input that moves the relaxation most. The halves share their border and cover the box, so closing
//! both closes it. Depth first, the half that is nearer to a violation before the other; what float32 cannot tell is asked in
//! float64, and what boxes cannot tell at all is handed on to the search over phases.

mod batch;
mod cell;
mod crew;
mod lane;
mod log;
mod question;
mod rest;
mod roots;
mod rounds;
mod wander;

use super::proof::{Region, Ticket};
use super::{End, Search};
use crate::report::{Activity, Chosen};
use crate::split;
use cell::OpenCell;
use crew::{Given, with_crew};
use log::CellLog;
use pg_core::boxes::Places;
use question::Question;
use rounds::{Cells, Trial};
use std::collections::HashSet;

/// What a search over boxes leaves.
pub enum Split<'a> {
    /// Cells that say no more.
    Rest(Vec<Region<'a>>),
    /// It does not get on: the disjuncts that are open.
    GaveUp(Vec<(usize, Ticket)>),
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
        let tuning = self.tuning.boxes;
        let trial = Trial { next: tuning.trial, open: 1.0 };
        let (question, roots) = self.box_question(tickets);
        self.split_boxes(question, roots, (self.shape.inputs > tuning.few_inputs).then_some(trial))
    }

    /// The same from cells that are open.
    fn split_boxes(
        &mut self,
        question: Question<'a>,
        roots: Vec<OpenCell>,
        trial: Option<Trial>,
    ) -> Result<Split<'a>, End> {
        self.control.enter(Activity::Boxes);
        self.control.set_undecided(vec![]);
        self.counters.chosen = Chosen::Boxes;
        let logs = question.roots.iter().filter(|_| question.is_logged).map(|_| CellLog::new()).collect();
        let mut cells = Cells::new(roots, logs, self.splitting.is_some());
        let given = Given { network: self.network, question: &question, tuning: &self.tuning.boxes };
        let gets_on = with_crew(self.threads(), given, |mut crew| {
            let result = self.halve(&mut crew, &question, &mut cells, trial);
            while crew.busy() > 0 && self.splitting.is_some() {
                self.settle_batch(&mut crew, &question, &mut cells);
            }
            result
        });
        if matches!(gets_on, Ok(false)) {
            self.note_cells(&question, &cells, &HashSet::new());
            return Ok(Split::GaveUp(self.give_up(&question)));
        }
        self.keep_open(&question, &cells);
        gets_on?;
        let ids = self.hand_on(&question, &mut cells);
        let goals = cells.rest.iter().flat_map(|open| open.cell.open.iter().map(|&goal| (open.cell.root, goal)));
        let handed_on = goals.map(|(root, goal)| question.roots[root].goals[goal].tree).collect();
        self.note_cells(&question, &cells, &handed_on);
        self.regions_of(&question, cells.rest, ids).map(Split::Rest)
    }

    /// Closes cells that are left of another search.
    pub fn close_cells(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> Result<(), End> {
        let (question, roots) = self.leaf_question(leaves, tickets);
        match self.split_boxes(question, roots, None)? {
            Split::Rest(mut rest) => self.peregrinn(&mut rest),
            Split::GaveUp(_) => unreachable!("only a trial gives up"),
        }
    }

    /// Halves them until the time is up, or boxes say no more.
    pub fn halve_cells(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> Result<(), End> {
        let (question, roots) = self.leaf_question(leaves, tickets);
        self.split_boxes(question, roots, None).map(|_| ())
    }
}
