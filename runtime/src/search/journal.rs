//! What a certificate is told of a search: the bounds that it uses, and why each goal is closed.
//!
//! With a certificate the search takes only steps that can be written down. What is left open by these is not closed at all.

use super::proof::{Lemma, Positive, Proved, Reason, Region};
use super::{End, Search};
use crate::bounds::{Compact, NOT_EMPTY, Node, Side};
use crate::certificate::{Heading, RULE, RegionId, TREE, UNTOLD};
use crate::verdict::{StopReason, Verdict};

impl<'a> Search<'a> {
    /// Whether there is to be a certificate.
    pub fn proves(&self) -> bool {
        self.journal.is_some()
    }

    /// A region of these disjuncts.
    pub fn begin_region(&mut self, disjuncts: Vec<usize>) -> RegionId {
        self.journal.as_mut().map_or(0, |journal| journal.region(disjuncts))
    }

    /// Notes the bounds that a region begins with, which rules alone have given.
    pub fn note_bounds(&mut self, region: &Region) {
        let Some(journal) = &mut self.journal else { return };
        for stage in 0..self.shape.last() {
            let start = self.shape.start(stage);
            let ends = region.bounds.lower(stage).iter().zip(region.bounds.upper(stage));
            for (neuron, (&l, &u)) in ends.enumerate() {
                for (side, bound) in [(2 * neuron, l as f32), (2 * neuron + 1, -u as f32)] {
                    if bound.is_finite() {
                        journal.bound(region.id, (stage, start), side, bound, &[RULE]);
                    }
                }
            }
        }
    }

    /// Moves a side of a neuron's bounds, and notes why.
    pub fn tighten(&mut self, region: &mut Region<'a>, compact: &Compact, stage: usize, side: Side, lemma: Lemma) {
        let (l, u) = region.bounds.of(stage, side.neuron);
        let before = if side.sign > 0.0 { l } else { -u };
        let bound = lemma.bound();
        if let Some(journal) = self.journal.as_mut().filter(|_| stage < self.shape.last()) {
            if f64::from(bound) <= before {
                return;
            }
            let tree = match lemma {
                Lemma::Raised(node) => Some(leaf(node, compact)),
                Lemma::Tree(answer) => answer.side_tree(compact, self.tuning.prove.unsound),
            };
            // A bound that cannot be shown is not used.
            let Some(tree) = tree else { return };
            let side = 2 * side.neuron + usize::from(side.sign < 0.0);
            journal.bound(region.id, (stage, self.shape.start(stage)), side, bound, &[&[TREE][..], &tree].concat());
        }
        region.bounds.raise(stage, side, bound).expect(NOT_EMPTY);
    }

    /// Notes why a goal is closed. What cannot be written down has no record, so that the certificate will lack it.
    pub fn note_close(&mut self, region: RegionId, disjunct: usize, reason: &Reason, compact: Option<&Compact>) {
        let Some(journal) = self.journal.as_mut().filter(|_| region != UNTOLD) else { return };
        let number = |what: &Positive| match what {
            Positive::Row(row) => row + 1,
            Positive::Combination => 0,
        };
        let (what, proof) = match (reason, compact) {
            (Reason::Bounded { row, .. }, _) => (row + 1, vec![RULE]),
            (Reason::Raised { what, node }, Some(compact)) => {
                (number(what), [&[TREE][..], &leaf(node, compact)].concat())
            }
            (Reason::Tree { what, record: Some(record), .. }, Some(compact)) => {
                let Some(tree) = record.tree(compact, |bound| bound > -self.tuning.prove.unsound) else { return };
                (number(what), [&[TREE][..], &tree].concat())
            }
            _ => return,
        };
        journal.close(region, disjunct, what, &proof);
    }

    /// Notes that disjuncts of one box are closed by cells.
    pub fn note_cells_of(&mut self, disjuncts: Vec<usize>, tree: &[u8]) {
        if let Some(journal) = &mut self.journal {
            let region = journal.region(disjuncts.clone());
            journal.cells(region, &disjuncts, tree);
        }
    }

    /// What the search with linear programs would go on with cannot be written down yet.
    pub fn expect_proved(&self, regions: &[Region]) -> Result<(), End> {
        let open: usize = regions.iter().map(|region| region.goals.len()).sum();
        if open == 0 || !self.proves() {
            return Ok(());
        }
        let why = format!("{open} goals are left to steps that a certificate cannot tell; try again without --proof");
        Err(End::Stopped(StopReason::GaveUp(why)))
    }

    /// The verdict of a proof: with a certificate, if there is to be one.
    pub fn conclude(&mut self, proved: Proved, heading: Option<&Heading>) -> Verdict {
        let (Some(journal), Some(heading)) = (self.journal.take(), heading) else { return Verdict::Holds(proved) };
        match journal.finish(heading, self.property.disjuncts.len()) {
            Ok(written) => Verdict::Holds(proved.with(written)),
            Err(e) => Verdict::Unknown(StopReason::GaveUp(format!("the certificate could not be written: {e}"))),
        }
    }
}

/// A tree of one node.
fn leaf(node: &Node, compact: &Compact) -> Vec<u8> {
    let mut tree = node.parts(compact);
    tree.push(0);
    tree.extend(node.multipliers(compact, node));
    tree
}
