//! A part of a split search: its leaves are closed one by one, or split again.

use super::frontier::{Frontier, Splitting, cells_frontier};
use super::proof::{Proof, Ticket};
use super::{Asked, End, Outcome, Search, conduct};
use crate::bounds::Guide;
use crate::certificate::{Journal, Kept};
use crate::split::{Cell, Place, Start};
use crate::verdict::{StopReason, Verdict};
use std::path::Path;

/// The leaves of a part, with what the root has left for all.
pub struct Leaves<'l> {
    pub start: &'l Start,
    pub places: &'l [Place],
    pub guides: Vec<Option<&'l Guide>>,
    /// Attacks of different parts begin elsewhere.
    pub number: usize,
}

/// What is wrong with a part that was not written for this question.
pub const FOREIGN: &str = "the part does not fit the network and the property";

/// Closes the leaves of a part; with a certificate, their sub-trees go to a file of that name. A part of another question is an
/// error.
pub fn solve(
    asked: Asked,
    leaves: &Leaves,
    certificate: Option<(Journal, &Path)>,
) -> Result<(Outcome, Option<Kept>), String> {
    let (journal, path) = certificate.unzip();
    let mut kept = None;
    let outcome = on_leaves(asked, leaves, journal, |search, tickets| {
        let result = search.close_leaves(leaves, tickets)?;
        Ok(search.verdict(result, |search, proved| {
            let (Some(journal), Some(path)) = (search.journal.take(), path) else { return Verdict::Holds(proved) };
            match journal.keep_pieces(path, &search.widths(), leaves.places.len()) {
                Ok(pieces) => {
                    kept = Some(pieces);
                    Verdict::Holds(proved)
                }
                Err(e) => Verdict::Unknown(StopReason::GaveUp(format!("the certificate could not be written: {e}"))),
            }
        }))
    })?;
    Ok((outcome, kept))
}

/// Splits the leaves of a part into leaves for so many: cells by a search for the given time, phases by the first nodes of their
/// trees. A counterexample on the way is told instead.
pub fn split_again(asked: Asked, leaves: &Leaves, parts: usize) -> Result<(Outcome, Option<Frontier>), String> {
    let mut frontier = None;
    let outcome = on_leaves(asked, leaves, None, |search, tickets| {
        search.splitting = Some(Splitting::new(parts));
        Ok(match search.split_leaves(leaves, tickets)? {
            Ok(found) => {
                frontier = Some(found);
                Verdict::Unknown(StopReason::Timeout)
            }
            Err(End::Stopped(reason)) => Verdict::Unknown(reason),
            Err(End::Violated(witness)) => Verdict::Violated(witness),
        })
    })?;
    Ok((outcome, frontier))
}

/// A search with a goal for each disjunct of each cell, or for each leaf of a goal's tree.
fn on_leaves(
    asked: Asked,
    leaves: &Leaves,
    journal: Option<Journal>,
    search: impl FnOnce(&mut Search, Vec<Ticket>) -> Result<Verdict, String>,
) -> Result<Outcome, String> {
    let goals = |place: &Place| if let Place::Cell(cell) = place { cell.open.len() } else { 1 };
    let (proof, tickets) = Proof::of(leaves.places.iter().map(goals).sum());
    let mut foreign = None;
    let outcome = conduct(asked, journal, proof, |all| {
        search(all, tickets).unwrap_or_else(|why| {
            foreign = Some(why.clone());
            Verdict::Unknown(StopReason::GaveUp(why))
        })
    });
    foreign.map_or(Ok(outcome), Err)
}

impl Leaves<'_> {
    fn cells(&self) -> Option<Vec<Cell>> {
        let cell = |place: &Place| if let Place::Cell(cell) = place { Some(cell.clone()) } else { None };
        self.places.iter().map(cell).collect()
    }
}

impl<'a> Search<'a> {
    fn widths(&self) -> Vec<usize> {
        self.shape.stages[..self.shape.last()].iter().map(|stage| stage.width()).collect()
    }

    /// Closes all leaves. The outer error is that they are not of this question.
    fn close_leaves(&mut self, leaves: &Leaves, tickets: Vec<Ticket>) -> Result<Result<(), End>, String> {
        match (leaves.start, leaves.cells()) {
            (Start::Cells(_), Some(cells)) => Ok(self.close_cells(&cells, tickets)),
            (Start::Phases(regions), _) => self.close_phases(leaves, regions, tickets),
            _ => Err(FOREIGN.into()),
        }
    }

    /// Trees in the places of the leaves.
    fn split_leaves(&mut self, leaves: &Leaves, tickets: Vec<Ticket>) -> Result<Result<Frontier, End>, String> {
        match (leaves.start, leaves.cells()) {
            (Start::Cells(_), Some(cells)) => Ok(match self.halve_cells(&cells, tickets) {
                Ok(()) | Err(End::Stopped(StopReason::Timeout)) => {
                    let open = self.splitting.as_mut().and_then(|splitting| splitting.cells.take());
                    Ok(cells_frontier(open.into_iter().flatten().map(|(_, tree)| tree).collect()))
                }
                Err(end) => Err(end),
            }),
            (Start::Phases(regions), _) => self.split_phases(leaves, regions).map(Ok),
            _ => Err(FOREIGN.into()),
        }
    }
}
