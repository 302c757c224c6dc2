//! Input splitting: for networks of few inputs, bounds of small boxes are tight.
//!
//! A box that its bounds do not exclude is halved along the input that matters most at its centre. The halves share their
//! border and cover the box, so closing both closes it. Boxes too small to gain from splitting are handed on to the search
//! over phases.

use super::peregrinn::Task;
use super::{End, Search};
use crate::report::Stage;

/// A box is too small when every side is below this share of the property's.
const SMALLEST: f64 = 1e-4;
/// Or when it has been halved this often.
const DEEPEST: u64 = 50;
/// With so few undecided neurons their phases are the quicker way from the start.
const FEW_PHASES: usize = 16;
/// A descent for one box in so many; the centre of every box is tried.
const DESCEND_EVERY: u64 = 16;

impl<'a> Search<'a> {
    /// Splits each task's box until its parts are closed or small; returns the small ones as tasks.
    pub fn split_inputs(&mut self, tasks: Vec<Task<'a>>) -> Result<Vec<Task<'a>>, End> {
        self.control.enter(Stage::Boxes);
        self.control.set_undecided(vec![]);
        let mut small = Vec::new();
        let all = tasks.len() as f64;
        for (done, task) in tasks.into_iter().enumerate() {
            if self.undecided(&task) <= FEW_PHASES {
                small.push(task);
                continue;
            }
            let full: Vec<f64> = widths(&task);
            let mut open = vec![(task, 0u64)];
            let mut closed = 0.0;
            while let Some((task, depth)) = open.pop() {
                self.go_on()?;
                self.counters.nodes += 1;
                self.control.add_nodes(1);
                self.try_centre(&task)?;
                match self.widest(&task, &full) {
                    Some(input) if depth < DEEPEST => closed += self.halve(&task, input, depth, &mut open),
                    _ => small.push(task),
                }
                self.counters.max_depth = self.counters.max_depth.max(depth);
                self.control.set_open(open.len());
                self.control.set_depth(depth);
                self.control.set_closed((done as f64 + closed) / all);
            }
        }
        Ok(small)
    }

    fn undecided(&self, task: &Task) -> usize {
        (0..self.layers.hidden()).map(|layer| task.root.undecided(layer).count()).sum()
    }

    fn try_centre(&mut self, task: &Task) -> Result<(), End> {
        let centre = centre(task);
        if self.counters.nodes.is_multiple_of(DESCEND_EVERY) {
            return self.descend(task.disjunct, &centre);
        }
        self.try_near(task.disjunct, &centre)
    }

    /// The input with the largest effect on the property across its side, by the gradient at the centre. A share of the
    /// largest gradient is added to all, so that none is forgotten. `None` if the box is small.
    fn widest(&self, task: &Task, full: &[f64]) -> Option<usize> {
        let sides = widths(task);
        let gradient = self.gradient(task.disjunct, &centre(task), false).unwrap_or_else(|| vec![1.0; sides.len()]);
        let floor = 0.05 * gradient.iter().fold(0.0, |m: f64, g| m.max(g.abs())) + f64::MIN_POSITIVE;
        let splittable = |&i: &usize| sides[i] > SMALLEST * full[i];
        let effect = |i: usize| (gradient[i].abs() + floor) * sides[i];
        (0..sides.len()).filter(splittable).max_by(|&a, &b| effect(a).total_cmp(&effect(b)))
    }

    /// Opens the halves that their bounds do not exclude; returns the share of the space that was closed.
    fn halve(&mut self, task: &Task<'a>, input: usize, depth: u64, open: &mut Vec<(Task<'a>, u64)>) -> f64 {
        let middle = task.lower[input] + (task.upper[input] - task.lower[input]) / 2.0;
        let mut closed = 0.0;
        for half in 0..2 {
            let (mut lower, mut upper) = (task.lower.clone(), task.upper.clone());
            if half == 0 {
                upper[input] = middle;
            } else {
                lower[input] = middle;
            }
            let bounded = self.bound_box(lower, upper, Some(&task.root));
            match bounded.and_then(|(bounder, root)| self.task(task.disjunct, bounder, root)) {
                Some(child) => open.push((child, depth + 1)),
                None => {
                    self.close_leaf();
                    self.control.add_nodes(1);
                    closed += 0.5f64.powi(depth as i32 + 1);
                }
            }
        }
        closed
    }
}

fn widths(task: &Task) -> Vec<f64> {
    task.lower.iter().zip(&task.upper).map(|(l, u)| u - l).collect()
}

fn centre(task: &Task) -> Vec<f64> {
    task.lower.iter().zip(&task.upper).map(|(l, u)| l + (u - l) / 2.0).collect()
}
