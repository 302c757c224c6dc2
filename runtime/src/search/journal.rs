//! What a certificate is told of a search: the bounds that it uses, and why each goal is closed.
//!
//! With a certificate the search takes only steps that can be written down. What is left open by these is not closed at all.

use super::Search;
use super::peregrinn::{GoalTree, Phases};
use super::proof::claim::Answer;
use super::proof::record::Record;
use super::proof::{Lemma, Positive, Proved, Reason, Region, TreeLog};
use crate::bounds::{Bounds, Compact, Multipliers, NOT_EMPTY, Node, Objective, Side};
use crate::certificate::{Half, Heading, PlaneSet, RULE, RegionId, TREE, node as kind, put};
use crate::lp::Ray;
use crate::verdict::{StopReason, Verdict};

impl<'a> Search<'a> {
    /// Whether there is to be a certificate.
    pub fn proves(&self) -> bool {
        self.journal.is_some()
    }

    /// A region of these disjuncts, of their whole box or of a cell.
    pub fn begin_region(&mut self, disjuncts: Vec<usize>, is_cell: bool) -> RegionId {
        self.journal.as_mut().map_or(0, |journal| journal.region(disjuncts, is_cell))
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
        let mut bound = lemma.bound();
        if let Some(journal) = self.journal.as_mut().filter(|_| stage < self.shape.last()) {
            bound = region.bounds.roomy(stage, side.neuron, bound);
            if f64::from(bound) <= before {
                return;
            }
            let tree = match lemma {
                Lemma::Raised(node) => Some(leaf(node, compact)),
                Lemma::Tree(answer) => answer.side_tree(compact, self.tuning.prove.unsound),
            };
            // A bound that cannot be shown is not used.
            let Some(tree) = tree else { return };
            let proof = [&[TREE][..], &tree].concat();
            journal.bound(region.id, (stage, self.shape.start(stage)), side.number(), bound, &proof);
        }
        region.bounds.raise(stage, side, bound).expect(NOT_EMPTY);
    }

    /// Notes why a goal is closed. What cannot be written down has no record, so that the certificate will lack it.
    pub fn note_close(&mut self, region: RegionId, disjunct: usize, reason: &Reason, compact: Option<&Compact>) {
        let Some(journal) = self.journal.as_mut() else { return };
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
        journal.close(region, disjunct, what, &proof, None);
    }

    /// Notes that disjuncts of one box are closed by cells; or all that were open on a leaf of another search.
    pub fn note_cells_of(
        &mut self,
        leaf: Option<usize>,
        disjuncts: Vec<usize>,
        tree: &[u8],
        places: &[(usize, RegionId)],
    ) {
        let Some(journal) = &mut self.journal else { return };
        match leaf {
            Some(leaf) => journal.piece(leaf, tree, places),
            None => {
                let region = journal.region(disjuncts.clone(), false);
                journal.cells(region, &disjuncts, tree, places);
            }
        }
    }

    /// Notes that a goal is closed by its own tree, perhaps within half-spaces, if every leaf of it could be written down.
    pub fn note_tree(&mut self, region: &Region, disjunct: usize, log: Option<&TreeLog>, planes: Option<PlaneSet>) {
        let (Some(journal), Some(tree)) = (&mut self.journal, log.and_then(TreeLog::tree)) else { return };
        match &region.leaf {
            Some(leaf) => journal.piece(leaf.number, &tree, &[]),
            // A tree of its own begins without changes.
            None => journal.close(region.id, disjunct, 0, &[&[TREE, 0][..], &tree].concat(), planes),
        }
    }

    /// A number for half-spaces that are to be used together, if there is to be a certificate.
    pub fn plane_set(&mut self) -> Option<PlaneSet> {
        self.journal.as_mut().map(|journal| journal.plane_set())
    }

    /// Notes what two neurons of a stage are at least together; false if that has to be shown and cannot.
    pub fn note_plane(
        &mut self,
        region: &Region,
        set: Option<PlaneSet>,
        (stage, compact): (usize, &Compact),
        plane: &Half,
        answer: &Answer,
    ) -> bool {
        let (Some(journal), Some(set)) = (&mut self.journal, set) else { return true };
        let tree = answer.side_tree(compact, self.tuning.prove.unsound).filter(|_| plane.value.is_finite());
        if let Some(tree) = &tree {
            journal.plane(region.id, set, stage, plane, &[&[TREE][..], tree].concat());
        }
        tree.is_some()
    }

    /// Notes that a leaf of another search is closed by a tree over phases.
    pub fn note_subtree(&mut self, leaf: usize, record: Option<&Record>) {
        let unsound = self.tuning.prove.unsound;
        let tree = record.and_then(|record| record.subtree(|bound| bound > -unsound));
        if let (Some(journal), Some(tree)) = (&mut self.journal, tree) {
            journal.piece(leaf, &tree, &[]);
        }
    }

    /// Notes that no input has the phases of a leaf of another search.
    pub fn note_empty(&mut self, leaf: usize, rows: usize) {
        if let Some(journal) = &mut self.journal {
            journal.piece(leaf, &empty_leaf(rows), &[]);
        }
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
    tree.push(kind::LEAF);
    tree.extend(node.multipliers(compact, node));
    tree
}

/// Weights of rows are multiples of its inverse.
const GRID: f64 = (1 << 24) as f64;
/// Larger multipliers are scaled down, with the weights: they show that no input has some phases.
const LARGEST: f64 = 65_536.0;
/// What a judge may lose by rounding multipliers.
pub const ROOM: f64 = 1e-9;
/// Multipliers of neurons that are on count as their coefficients if they differ by less than this part.
const SAME: f64 = 1e-12;

/// Brings multipliers to what a certificate can hold: any are sound.
pub fn told(ray: &mut Ray) {
    let largest = ray.neurons.iter().flatten().fold(0.0, |most: f64, nu| most.max(nu.abs()));
    let factor = if largest > LARGEST { largest.recip() } else { 1.0 };
    ray.rows.iter_mut().for_each(|weight| *weight = (*weight * factor * GRID).floor() / GRID);
    ray.neurons.iter_mut().flatten().for_each(|nu| *nu *= factor);
}

/// The leaf of a certificate's tree that closes a node of a goal's search over phases, if there is one.
pub fn leaf_of(tree: &GoalTree, node: &Phases, reason: &Reason) -> Option<Vec<u8>> {
    let goal = &tree.goal;
    let rows = goal.disjunct.rows.len();
    let (weights, by) = match reason {
        Reason::Empty => return Some(empty_leaf(rows)),
        Reason::Bounded { row, rule } if *row < rows => (one_of(*row, rows), Multipliers::Rule(*rule)),
        Reason::Certified(ray) if ray.rows.iter().skip(rows).all(|weight| *weight == 0.0) => {
            (ray.rows[..rows].to_vec(), Multipliers::Given(&ray.neurons))
        }
        Reason::Raised { what: Positive::Row(row), node: raised } if *row < rows => {
            return Some(raised_leaf(tree, node, &one_of(*row, rows), raised));
        }
        _ => return None,
    };
    let terms: Vec<(f64, &Objective)> = weights.iter().copied().zip(&goal.rows).collect();
    let shape = &tree.region.bounder.shape;
    let objective = Objective::combination(&terms, shape.inputs, shape.outputs());
    let found = tree.region.bounder.multipliers(&node.bounds, &objective, by);
    let lower = &node.bounds.all().0[..found.len()];
    let told = found.into_iter().zip(lower).enumerate().filter_map(|(neuron, ((mu, nu), l))| {
        let unsaid = if *l >= 0.0 { mu } else { 0.0 };
        ((nu - unsaid).abs() > SAME * unsaid.abs()).then_some((neuron, nu))
    });
    Some(given(&weights, told))
}

/// The weights of one of so many rows.
fn one_of(row: usize, rows: usize) -> Vec<f64> {
    (0..rows).map(|other| if other == row { 1.0 } else { 0.0 }).collect()
}

/// A leaf that holds no counterexample of a disjunct of so many rows, since its bounds contradict each other.
pub fn empty_leaf(rows: usize) -> Vec<u8> {
    given(&vec![0.0; rows], [].into_iter())
}

/// A leaf with multipliers of some neurons, ascending.
fn given(weights: &[f64], multipliers: impl Iterator<Item = (usize, f64)>) -> Vec<u8> {
    let mut bytes = vec![kind::GIVEN];
    weights.iter().for_each(|weight| bytes.extend((*weight as f32).to_le_bytes()));
    let multipliers: Vec<(usize, f64)> = multipliers.collect();
    put(&mut bytes, multipliers.len());
    let mut next = 0;
    for (neuron, multiplier) in multipliers {
        put(&mut bytes, neuron - next);
        bytes.extend(multiplier.to_le_bytes());
        next = neuron + 1;
    }
    bytes
}

/// A leaf with the parts of a node that was raised under a search's phases, which it takes as bounds: their multipliers are 0.
fn raised_leaf(tree: &GoalTree, node: &Phases, weights: &[f64], raised: &Node) -> Vec<u8> {
    let compact = tree.region.compact_under(&node.bounds, tree.region.bounder.shape.last());
    let (leaf, shape) = (tree.region.leaf.as_ref(), &tree.region.bounder.shape);
    let first = |stage: usize, neuron: usize| match leaf {
        Some(leaf) => leaf.parts[shape.start(stage) + neuron],
        None => first_part(&tree.region.bounds, stage, neuron),
    };
    let depth = leaf.map_or(0, |leaf| leaf.depth) + node.depth as usize;
    parts_leaf(weights, raised.parts_from(&compact, first), depth)
}

/// A leaf of a sweep, by the parts of a node that was raised on the tail behind it.
pub fn tail_leaf(region: &Region, tail: &Compact, (row, rows): (usize, usize), raised: &Node) -> Option<Vec<u8>> {
    let parts = raised.parts_from(tail, |stage, neuron| first_part(&region.bounds, stage, neuron));
    (row < rows).then(|| parts_leaf(&one_of(row, rows), parts, 0))
}

/// A leaf with weights of rows and changes of parts, and no multipliers of the phases on the way to it.
fn parts_leaf(weights: &[f64], parts: Vec<u8>, phases: usize) -> Vec<u8> {
    let mut bytes = vec![kind::LEAF];
    weights.iter().for_each(|weight| bytes.extend((*weight as f32).to_le_bytes()));
    bytes.extend(parts);
    (0..phases).for_each(|_| bytes.extend(0f32.to_le_bytes()));
    bytes
}

/// The part of a neuron that a tree begins with.
fn first_part(bounds: &Bounds, stage: usize, neuron: usize) -> u8 {
    let (l, u) = bounds.of(stage, neuron);
    if u > -l { u8::MAX } else { 0 }
}
