//! What a search over boxes leaves: cells for phases, disjuncts for another search, a frontier for other machines; and what a certificate
//! is told of all cells.

use super::cell::OpenCell;
use super::question::Question;
use super::rounds::Cells;
use crate::certificate::RegionId;
use crate::search::proof::{Region, Ticket};
use crate::search::{End, Search};
use std::collections::HashSet;

impl<'a> Search<'a> {
    /// Gives the cells that say no more regions of their own in the certificate, if there is to be one: the numbers of these.
    pub fn hand_on(&mut self, question: &Question<'a>, cells: &mut Cells) -> Vec<RegionId> {
        let mut ids = Vec::with_capacity(cells.rest.len());
        for OpenCell { cell, .. } in &cells.rest {
            let goals = &question.roots[cell.root].goals;
            let id = self.begin_region(cell.open.iter().map(|&goal| goals[goal].number).collect(), true);
            if let Some(log) = cells.logs.get_mut(cell.root) {
                log.hand_on(cell.node, id);
            }
            ids.push(id);
        }
        ids
    }

    /// Notes the cells of all roots for the disjuncts that are closed on all of them but for those that are handed on, if there
    /// is to be a certificate.
    pub fn note_cells(&mut self, question: &Question<'a>, cells: &Cells, handed_on: &HashSet<usize>) {
        for (root, log) in question.roots.iter().zip(&cells.logs) {
            let is_told = |tree: usize| self.proof.is_settled(tree) || handed_on.contains(&tree);
            let told = root.goals.iter().filter(|goal| is_told(goal.tree));
            let told: Vec<usize> = told.map(|goal| goal.number).collect();
            if !told.is_empty() {
                let (tree, places) = log.tree(&told);
                self.note_cells_of(root.leaf, told, &tree, &places);
            }
        }
    }

    /// The disjuncts that are open, for another search.
    pub fn give_up(&mut self, question: &Question<'a>) -> Vec<(usize, Ticket)> {
        let goals = question.roots.iter().flat_map(|root| &root.goals);
        goals.filter_map(|goal| Some((goal.number, self.proof.give_up(goal.tree)?))).collect()
    }

    /// Keeps what is open of each root, if that may be split into parts.
    pub fn keep_open(&mut self, question: &Question<'a>, cells: &Cells) {
        let Some(splitting) = &mut self.splitting else { return };
        splitting.has_root = true;
        let roots = question.roots.iter().zip(&cells.logs).map(|(root, log)| {
            let disjuncts: Vec<usize> = root.goals.iter().map(|goal| goal.number).collect();
            (disjuncts.clone(), log.frontier(disjuncts))
        });
        splitting.cells = Some(roots.collect());
    }

    /// Stubborn cells as regions, bounded in float64.
    pub fn regions_of(
        &mut self,
        question: &Question<'a>,
        cells: Vec<OpenCell>,
        ids: Vec<RegionId>,
    ) -> Result<Vec<Region<'a>>, End> {
        let mut regions = Vec::with_capacity(cells.len());
        for (OpenCell { cell, tickets }, id) in cells.into_iter().zip(ids) {
            self.go_on()?;
            let (bounder, bounds) = self.bound_box(cell.lower, cell.upper, None);
            let mut region = Region { id, bounder, bounds, goals: vec![], leaf: None };
            self.note_bounds(&region);
            for (&goal, ticket) in cell.open.iter().zip(tickets) {
                let goal = &question.roots[cell.root].goals[goal];
                let goal = self.goal(&region, goal.disjunct, (goal.number, goal.tree), ticket);
                region.goals.extend(goal);
            }
            regions.push(region);
        }
        regions.retain(|region| !region.goals.is_empty());
        Ok(regions)
    }
}
