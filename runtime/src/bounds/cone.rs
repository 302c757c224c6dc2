//! Which neurons of a stage are bounded together, and the cone of what they depend on.
//!
//! A neuron of a convolution depends on a patch of each stage before it. A compact network of that alone is much smaller than
//! one of everything, and bounds the neuron just the same: what is outside the cone has no path to it.

use super::batch::ROWS;
use super::table::{Bounds, Side};
use pg_core::kernel::PANEL;
use pg_core::{Shape, Source};
use std::collections::HashMap;

/// Neurons of a target stage whose rows a compact network bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    All,
    Some(Vec<usize>),
}

impl Targets {
    /// Both sides of those that are undecided.
    pub fn open_sides(&self, bounds: &Bounds, stage: usize) -> Vec<Side> {
        match self {
            Targets::All => bounds.open_sides(stage),
            Targets::Some(neurons) => {
                let open = neurons.iter().filter(|&&j| bounds.is_undecided(stage, j));
                open.flat_map(|&j| Side::both(j)).collect()
            }
        }
    }

    pub fn contain(&self, neuron: usize) -> bool {
        match self {
            Targets::All => true,
            Targets::Some(neurons) => neurons.contains(&neuron),
        }
    }

    /// The undecided neurons of a stage in groups, such that bounding each on its cone is at least twice as fast as bounding
    /// all of them on everything; one group of all where there are none such.
    pub fn groups(shape: &Shape, bounds: &Bounds, stage: usize) -> Vec<Targets> {
        let all = vec![Targets::All];
        let Some(groups) = by_support(shape, bounds, stage) else { return all };
        let whole: usize = (0..stage).map(|k| bounds.live(k).count()).sum();
        // A batch of few rows costs as much as one of a panel.
        let cost = |neurons: &Vec<usize>| {
            let cone = Cone::new(shape, bounds, Source::Input, stage, neurons);
            (2 * neurons.len()).next_multiple_of(PANEL) * cone.neurons()
        };
        let sides: usize = groups.iter().map(|neurons| 2 * neurons.len()).sum();
        if 2 * groups.iter().map(cost).sum::<usize>() > sides * whole {
            return all;
        }
        groups.into_iter().map(Targets::Some).collect()
    }
}

/// The undecided neurons of a stage: those that read the same, together with their neighbours until they fill a batch. `None` if
/// one reads more than half of all there is.
fn by_support(shape: &Shape, bounds: &Bounds, stage: usize) -> Option<Vec<Vec<usize>>> {
    let edges = shape.stages[stage].edges;
    let is_live = |from: Source, i: usize| match from {
        Source::Input => true,
        Source::Stage(s) => bounds.upper(s)[i] > 0.0,
    };
    let most: usize = edges.iter().map(|edge| (0..edge.map.cols()).filter(|&i| is_live(edge.from, i)).count()).sum();
    let mut places: HashMap<Vec<(usize, usize)>, usize> = HashMap::new();
    let mut groups: Vec<(usize, Vec<usize>)> = Vec::new();
    for j in bounds.undecided(stage) {
        let reads = |(e, edge): (usize, &pg_core::Edge)| {
            let from = edge.from;
            edge.map.row(j).filter(move |&(i, _)| is_live(from, i)).map(move |(i, _)| (e, i)).collect::<Vec<_>>()
        };
        let support: Vec<(usize, usize)> = edges.iter().enumerate().flat_map(reads).collect();
        if 2 * support.len() > most {
            return None;
        }
        let first = support.first().map_or(0, |&(_, i)| i);
        let place = *places.entry(support).or_insert(groups.len());
        if place == groups.len() {
            groups.push((first, vec![]));
        }
        groups[place].1.push(j);
    }
    groups.sort_by_key(|(first, _)| *first);
    let mut merged: Vec<Vec<usize>> = Vec::new();
    for (_, neurons) in groups {
        match merged.last_mut().filter(|last| 2 * (last.len() + neurons.len()) <= ROWS) {
            Some(last) => last.extend(neurons),
            None => merged.push(neurons),
        }
    }
    Some(merged)
}

/// The live activations that some neurons of a target depend on.
pub struct Cone {
    /// Of the base, and of each stage: whether each is among them.
    pub before: Vec<bool>,
    pub stages: Vec<Vec<bool>>,
}

impl Cone {
    pub fn new(shape: &Shape, bounds: &Bounds, base: Source, target: usize, neurons: &[usize]) -> Cone {
        let mut stages: Vec<Vec<bool>> = shape.stages.iter().map(|stage| vec![false; stage.width()]).collect();
        let mut inputs = vec![false; shape.inputs];
        let first = match base {
            Source::Input => 0,
            Source::Stage(s) => s + 1,
        };
        neurons.iter().for_each(|&j| stages[target][j] = true);
        for k in (first..=target).rev() {
            let (before, rest) = stages.split_at_mut(k);
            for j in (0..rest[0].len()).filter(|&j| rest[0][j]) {
                for edge in shape.stages[k].edges {
                    let row = edge.map.row(j);
                    match edge.from {
                        Source::Input => row.for_each(|(i, _)| inputs[i] = true),
                        Source::Stage(s) => row.for_each(|(i, _)| before[s][i] = bounds.upper(s)[i] > 0.0),
                    }
                }
            }
        }
        stages[target].fill(false);
        let before = match base {
            Source::Input => inputs,
            Source::Stage(s) => std::mem::take(&mut stages[s]),
        };
        Cone { before, stages }
    }

    /// How many hidden neurons it has.
    fn neurons(&self) -> usize {
        self.stages.iter().flatten().filter(|mark| **mark).count()
    }
}
