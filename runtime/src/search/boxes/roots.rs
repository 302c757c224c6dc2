//! The roots of a search over boxes: every box of the property, or the leaves of another search.

use super::cell::{Cell, OpenCell};
use super::question::{Question, Root, RootGoal};
use crate::bounds::Objective;
use crate::property::Row;
use crate::search::Search;
use crate::search::guide::cuts::first_cuts;
use crate::search::proof::Ticket;
use crate::split;
use std::sync::Arc;

impl<'a> Search<'a> {
    /// Every box of the property, with a cell for it.
    pub fn box_question(&mut self, tickets: Vec<(usize, Ticket)>) -> (Question<'a>, Vec<OpenCell>) {
        let property = self.property;
        let (known_words, is_logged) = (self.known_words(), self.proves());
        let mut question = Question { known_words, is_logged, ..Question::default() };
        let mut cells: Vec<OpenCell> = Vec::new();
        let mut last = None;
        for (number, ticket) in tickets {
            let disjunct = &property.disjuncts[number];
            if !last.is_some_and(|region| Arc::ptr_eq(region, &disjunct.region)) {
                let (lower, upper) = self.enclosure(&disjunct.region);
                let (root, open, known) = (question.roots.len(), vec![], vec![]);
                let cell = Cell { root, depth: 0, node: 0, lower: lower.clone(), upper: upper.clone(), open, known };
                cells.push(OpenCell { cell, tickets: vec![] });
                question.roots.push(Root { lower, upper, leaf: None, goals: vec![] });
            }
            last = Some(&disjunct.region);
            let goal = self.root_goal(&mut question, (number, number), ticket);
            let (root, cell) = (question.roots.last_mut().expect("just pushed"), cells.last_mut().expect("as many"));
            cell.add(root, goal);
        }
        cells.reverse();
        (question, cells)
    }

    /// Cells that are left of another search, each as a root of its own; what closes them are the proof's goals, in order.
    pub fn leaf_question(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> (Question<'a>, Vec<OpenCell>) {
        let (known_words, is_logged) = (self.known_words(), self.proves() || self.splitting.is_some());
        let mut question = Question { known_words, is_logged, ..Question::default() };
        let (mut cells, mut tickets) = (Vec::with_capacity(leaves.len()), tickets.into_iter().enumerate());
        for (number, leaf) in leaves.iter().enumerate() {
            let split::Cell { lower, upper, depth, open } = leaf.clone();
            let mut root = Root { lower: lower.clone(), upper: upper.clone(), leaf: Some(number), goals: vec![] };
            let cell = Cell { root: number, depth, node: 0, lower, upper, open: vec![], known: vec![] };
            let mut cell = OpenCell { cell, tickets: vec![] };
            for (disjunct, (tree, ticket)) in open.into_iter().zip(tickets.by_ref()) {
                let goal = self.root_goal(&mut question, (disjunct, tree), ticket);
                cell.add(&mut root, goal);
            }
            question.roots.push(root);
            cells.push(cell);
        }
        cells.reverse();
        (question, cells)
    }

    /// A goal of a root, with a tree of boxes of its own, and that tree's ticket.
    fn root_goal(
        &mut self,
        question: &mut Question<'a>,
        (number, tree): (usize, usize),
        ticket: Ticket,
    ) -> (RootGoal<'a>, Ticket) {
        let disjunct = &self.property.disjuncts[number];
        let (tree, ticket) = self.proof.graft(tree, ticket);
        let cuts = self.box_cuts(number);
        let rows = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
        let rows = rows.map(|row| Objective::of_row(row, self.shape.inputs, self.shape.outputs()));
        (question.goal(disjunct, (number, tree), rows), ticket)
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
        let (lower, upper) = self.enclosure(&disjunct.region);
        let (bounder, bounds) = self.bound_box(lower, upper, None);
        first_cuts(disjunct, bounder.input(), &bounds, self.tuning.cuts.sweeps)
    }
}
