//! A region: a box of inputs, the bounds of every neuron on it, and what is to be proved there.

use super::tree::Ticket;
use crate::bounds::{Bounder, Bounds, Compact, Objective, Objective32, Targets};
use crate::certificate::RegionId;
use crate::property::Disjunct;
use pg_core::Source;

pub struct Region<'a> {
    /// Its number in the journal of a certificate.
    pub id: RegionId,
    /// The box, and what errors cost on it.
    pub bounder: Bounder<'a>,
    pub bounds: Bounds,
    pub goals: Vec<Goal<'a>>,
    /// That its goals' trees belong in the place of a leaf.
    pub leaf: Option<LeafOf>,
}

/// A leaf of another tree, which a tree begins at: what is relaxed is the region as it is, with these phases as any others.
pub struct LeafOf {
    pub number: usize,
    /// The phases on the way to it, and the bounds under them.
    pub depth: usize,
    pub bounds: Bounds,
    /// For all hidden neurons, the parts α that those of its tree are told from.
    pub parts: Vec<u8>,
}

/// That no input of a region is a counterexample of a disjunct.
pub struct Goal<'a> {
    pub disjunct: &'a Disjunct,
    /// The disjunct's number in the property.
    pub number: usize,
    /// The number of the tree which the goal is a part of.
    pub tree: usize,
    /// The disjunct's rows, then the tangents of its quadratics: where one of them is positive there is no counterexample.
    pub rows: Vec<Objective>,
    /// How many rows are bounded by themselves; the later ones serve the linear program.
    pub bounded: usize,
    /// How near the region's bounds come to closing it.
    pub margin: f64,
    /// What closing it takes.
    pub ticket: Ticket,
}

impl<'a> Region<'a> {
    /// Lower and upper ends of the box.
    pub fn input(&self) -> (&[f64], &[f64]) {
        self.bounder.input()
    }

    /// What the neurons of a stage depend on.
    pub fn compact(&self, target: usize) -> Compact {
        self.compact_under(&self.bounds, target)
    }

    /// What some of them depend on.
    pub fn compact_of(&self, target: usize, targets: Targets) -> Compact {
        Compact::of(&self.bounder.shape, &self.bounds, Source::Input, target, targets, self.input())
    }

    /// The undecided neurons of a stage in groups that are best bounded apart.
    pub fn groups(&self, stage: usize) -> Vec<Targets> {
        Targets::groups(&self.bounder.shape, &self.bounds, stage)
    }

    /// The same under tighter bounds, of some phases.
    pub fn compact_under(&self, bounds: &Bounds, target: usize) -> Compact {
        Compact::new(&self.bounder.shape, bounds, Source::Input, target, self.input())
    }

    /// Every row of every goal, with the place of its goal and its own.
    pub fn rows(&self, compact: &Compact) -> Vec<((usize, usize), Objective32)> {
        goal_rows(&self.goals, 0..self.goals.len(), &self.bounder, compact, &self.bounds)
    }

    /// The number of hidden neurons that are undecided.
    pub fn undecided(&self) -> usize {
        self.bounds.undecided_counts().iter().sum()
    }

    pub fn are_boxes(&self) -> bool {
        self.goals.iter().all(|goal| goal.disjunct.is_box())
    }
}

/// The rows of some goals on a compact network of the whole or of a tail.
pub fn goal_rows(
    goals: &[Goal],
    open: impl IntoIterator<Item = usize>,
    bounder: &Bounder,
    compact: &Compact,
    bounds: &Bounds,
) -> Vec<((usize, usize), Objective32)> {
    let last = &bounder.shape.stages[bounder.shape.last()];
    let rows = |g: usize| {
        let row = move |(r, row)| ((g, r), compact.objective_row(last, row, bounds));
        goals[g].rows.iter().enumerate().map(row)
    };
    open.into_iter().flat_map(rows).collect()
}
