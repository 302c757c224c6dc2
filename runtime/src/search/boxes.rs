//! Input splitting: for networks of few inputs, bounds of small boxes are tight.
//!
//! A box that its bounds do not exclude is halved along the input that matters most at its centre. The halves share their
//! border and cover the box, so closing both closes it. Boxes too small to gain from splitting are handed on to the search
//! over phases.

use super::proof::{Goal, Region};
use super::{End, Search};
use crate::report::Activity;

/// A region of one goal, and how often it was halved.
struct Cell<'a> {
    region: Region<'a>,
    depth: u64,
}

impl<'a> Cell<'a> {
    fn goal(&self) -> &Goal<'a> {
        &self.region.goals[0]
    }

    fn sides(&self) -> Vec<f64> {
        let (lower, upper) = self.region.input();
        lower.iter().zip(upper).map(|(l, u)| u - l).collect()
    }

    fn centre(&self) -> Vec<f64> {
        let (lower, upper) = self.region.input();
        lower.iter().zip(upper).map(|(l, u)| l + (u - l) / 2.0).collect()
    }
}

impl<'a> Search<'a> {
    /// Splits the box of each goal until its parts are closed or small; returns the small ones.
    pub fn split_inputs(&mut self, regions: Vec<Region<'a>>) -> Result<Vec<Region<'a>>, End> {
        self.control.enter(Activity::Boxes);
        self.control.set_undecided(vec![]);
        let mut small = Vec::new();
        for region in regions.into_iter().flat_map(one_goal_each) {
            if region.undecided() <= self.tuning.boxes.few_phases {
                small.push(region);
                continue;
            }
            let whole = Cell { region, depth: 0 };
            let full = whole.sides();
            let mut open = vec![whole];
            while let Some(cell) = open.pop() {
                self.go_on()?;
                self.counters.nodes += 1;
                self.control.add_nodes(1);
                self.control.set_open(open.len());
                self.control.set_depth(cell.depth);
                self.counters.max_depth = self.counters.max_depth.max(cell.depth);
                self.try_centre(&cell)?;
                match self.widest(&cell, &full) {
                    Some(input) if cell.depth < self.tuning.boxes.deepest => self.halve(cell, input, &mut open),
                    _ => small.push(cell.region),
                }
            }
        }
        Ok(small)
    }

    fn try_centre(&mut self, cell: &Cell) -> Result<(), End> {
        let (disjunct, centre) = (cell.goal().disjunct, cell.centre());
        if self.counters.nodes.is_multiple_of(self.tuning.boxes.descend_every) {
            return self.descend(disjunct, &centre);
        }
        self.try_near(disjunct, &centre)
    }

    /// The input with the largest effect on the property across its side, by the gradient at the centre. A part of the
    /// largest gradient is added to all, so that none is forgotten. `None` if the box is small.
    fn widest(&self, cell: &Cell, full: &[f64]) -> Option<usize> {
        let (sides, tuning) = (cell.sides(), self.tuning.boxes);
        let gradient = self.gradient(cell.goal().disjunct, &cell.centre(), false);
        let gradient = gradient.unwrap_or_else(|| vec![1.0; sides.len()]);
        let floor = tuning.floor * gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs())) + f64::MIN_POSITIVE;
        let splittable = |&i: &usize| sides[i] > tuning.smallest * full[i];
        let effect = |i: usize| (gradient[i].abs() + floor) * sides[i];
        (0..sides.len()).filter(splittable).max_by(|&a, &b| effect(a).total_cmp(&effect(b)))
    }

    /// Opens the halves that their bounds do not exclude.
    fn halve(&mut self, cell: Cell<'a>, input: usize, open: &mut Vec<Cell<'a>>) {
        let Cell { mut region, depth } = cell;
        let goal = region.goals.pop().expect("one goal");
        let (lower, upper) = region.input();
        let middle = lower[input] + (upper[input] - lower[input]) / 2.0;
        let (mut below, mut above) = (upper.to_vec(), lower.to_vec());
        (below[input], above[input]) = (middle, middle);
        let halves = [(lower.to_vec(), below), (above, upper.to_vec())];
        let tickets = self.proof.split(goal.number, goal.ticket);
        for ((lower, upper), ticket) in halves.into_iter().zip(tickets) {
            let part = 0.5f64.powi(depth as i32 + 1) / self.property.disjuncts.len() as f64;
            let (bounder, bounds) = self.bound_box(lower, upper, Some(&region.bounds));
            let mut half = Region { bounder, bounds, goals: vec![] };
            match self.goal(&half, goal.disjunct, goal.number, ticket) {
                Some(goal) => {
                    half.goals.push(goal);
                    open.push(Cell { region: half, depth: depth + 1 });
                }
                None => self.control.add_closed(part),
            }
        }
    }
}

/// The region once for each of its goals.
fn one_goal_each<'a>(mut region: Region<'a>) -> Vec<Region<'a>> {
    let goals = std::mem::take(&mut region.goals);
    let of = |goal| Region { bounder: region.bounder.clone(), bounds: region.bounds.clone(), goals: vec![goal] };
    goals.into_iter().map(of).collect()
}
