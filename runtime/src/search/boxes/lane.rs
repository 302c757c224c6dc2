//! One cell of a batch that was bounded: which of its goals fall, and what to do with the rest.

use super::cell::{Cell, Clip, Judged, Next};
use super::question::{Question, Root};
use crate::bounds::{BoxBatch, BoxNumber, BoxRow};
use crate::search::proof::forms::{Part, clip, combine, excludes, least};
use crate::tuning::BoxTuning;
use pg_core::boxes::LANES;
use pg_core::kernel::Lanes;
use std::ops::Range;

/// A cell in a batch.
pub struct Lane<'q> {
    pub number: usize,
    cell: Cell,
    question: &'q Question<'q>,
    /// Lower forms of the rows of its open goals, one after the other, as often as these were bounded.
    passes: Vec<Vec<f64>>,
    points: Vec<(usize, Vec<f64>)>,
}

/// What became of a lane's cell, and what its rows were like.
pub struct Verdict {
    pub judged: Judged,
    pub best: Best,
}

/// The combination of a goal's rows that comes nearest to excluding it.
#[derive(Default)]
pub struct Best {
    goal: usize,
    /// Its least value, by how much it varies, and where it is least.
    bound: f64,
    swing: f64,
    pub point: Vec<f64>,
    /// What the relaxation may cost it at most.
    cost: f64,
}

impl<'q> Lane<'q> {
    pub fn new(number: usize, cell: Cell, question: &'q Question<'q>) -> Lane<'q> {
        Lane { number, cell, question, passes: vec![], points: vec![] }
    }

    fn root(&self) -> &'q Root<'q> {
        &self.question.roots[self.cell.root]
    }

    /// The rows of all open goals.
    fn rows(&self) -> impl Iterator<Item = &'q BoxRow> {
        let root = self.root();
        self.cell.open.iter().flat_map(|&goal| &root.goals[goal].rows)
    }

    /// Each open goal, with the places of its rows among all.
    fn goals(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let (root, mut end) = (self.root(), 0);
        self.cell.open.iter().map(move |&goal| {
            let start = end;
            end += root.goals[goal].rows.len();
            (goal, start..end)
        })
    }

    /// Adds the forms that the directions of its rows have reached.
    pub fn add_pass<'r, T: BoxNumber>(
        &mut self,
        batch: &BoxBatch<T>,
        reached: impl Fn(usize) -> Option<&'r [Lanes<T>]>,
    ) {
        let terms = self.cell.lower.len() + 1;
        let mut forms = vec![0.0; self.rows().count() * terms];
        for (row, form) in self.rows().zip(forms.chunks_exact_mut(terms)) {
            batch.form(self.number, row, row.direction.and_then(&reached), form);
        }
        self.passes.push(forms);
    }

    fn forms(&self, rows: Range<usize>) -> impl Iterator<Item = &[f64]> {
        let terms = self.cell.lower.len() + 1;
        rows.flat_map(move |row| self.passes.iter().map(move |forms| &forms[row * terms..(row + 1) * terms]))
    }

    /// Whether every open goal has a row that excludes it.
    pub fn is_closed(&self) -> bool {
        let whole = Part::whole(self.cell.lower.len());
        self.goals().all(|(_, rows)| self.forms(rows).any(|form| excludes(form, &whole)))
    }

    /// The corner where its best row is least.
    pub fn corner(&self) -> Vec<f64> {
        let (whole, mut best, mut bound) = (Part::whole(self.cell.lower.len()), None, f64::NEG_INFINITY);
        for form in self.forms(0..self.rows().count()) {
            let low = least(form, &whole);
            if best.is_none() || low > bound {
                (bound, best) = (low, Some(form));
            }
        }
        let is_low = |i: usize| best.is_some_and(|form| form[1 + i] > 0.0);
        let sides = self.cell.lower.iter().zip(&self.cell.upper).enumerate();
        sides.map(|(i, (&lower, &upper))| if is_low(i) { lower } else { upper }).collect()
    }

    /// Keeps the point that was evaluated for each open goal that it nearly violates.
    pub fn keep_near<T: BoxNumber>(&mut self, batch: &BoxBatch<T>, tuning: &BoxTuning) {
        for &goal in &self.cell.open {
            if self.question.worst(batch, self.number, (self.cell.root, goal)) <= tuning.near {
                let point = (0..self.cell.lower.len()).map(|i| batch.x(self.number, i));
                self.points.push((goal, point.collect()));
            }
        }
    }

    /// What becomes of the cell: with the neurons that are known on it, what each input moves the relaxation by, and whether no
    /// neuron is undecided.
    pub fn judge<T: BoxNumber>(
        mut self,
        batch: &BoxBatch<T>,
        known: Vec<u64>,
        smear: &[f64],
        is_exact: bool,
        tuning: &BoxTuning,
    ) -> Verdict {
        let inputs = self.cell.lower.len();
        let (mut open, mut rest) = (Vec::new(), None::<Part>);
        let (mut best, mut form) = (Best::default(), vec![0.0; inputs + 1]);
        for (goal, rows) in self.goals() {
            let mut part = Part::whole(inputs);
            let Some(combined) = self.exclude(rows, &mut part, tuning) else { continue };
            let bound = least(&combined, &part);
            if open.is_empty() || bound > best.bound {
                let swing = combined[1..].iter().map(|a| a.abs()).sum();
                let point = self.point(batch, &part.lowest(&combined));
                best = Best { goal, bound, swing, point, cost: smear.iter().sum() };
                form = combined;
            }
            match &mut rest {
                None => rest = Some(part),
                Some(all) => all.join(&part),
            }
            open.push(goal);
        }
        let before = std::mem::replace(&mut self.cell.open, open);
        self.cell.known = known;
        let mut clips = Vec::new();
        let next = match rest {
            None => Next::Closed,
            Some(part) => {
                self.clip(batch, &part, tuning.least_clip, &mut clips);
                if is_exact { Next::Stubborn } else { self.next(&part, smear, &form, tuning) }
            }
        };
        Verdict { judged: Judged { before, left: self.cell, clips, next, points: self.points }, best }
    }

    /// Tries to exclude a goal by its rows; if it stays open, their best combination, and the part is what they leave of the box.
    fn exclude(&self, rows: Range<usize>, part: &mut Part, tuning: &BoxTuning) -> Option<Vec<f64>> {
        let forms: Vec<&[f64]> = self.forms(rows).collect();
        if forms.iter().any(|form| excludes(form, part)) || !forms.iter().all(|form| clip(form, part)) {
            return None;
        }
        let low = |form: &[f64]| least(form, part);
        let best = (0..forms.len()).max_by(|&a, &b| low(forms[a]).total_cmp(&low(forms[b])));
        let Some(best) = best else { return Some(vec![0.0; self.cell.lower.len() + 1]) };
        let combined = combine(&forms, best, part, tuning.combinations);
        (!excludes(&combined, part) && clip(&combined, part)).then_some(combined)
    }

    /// The point of a part of the cell.
    fn point<T: BoxNumber>(&self, batch: &BoxBatch<T>, t: &[f64]) -> Vec<f64> {
        let at = |(i, t): (usize, &f64)| {
            let x = batch.middle(self.number, i) + batch.half(self.number, i) * t;
            x.max(self.cell.lower[i]).min(self.cell.upper[i])
        };
        t.iter().enumerate().map(at).collect()
    }

    /// Shrinks the cell to a part of the kernel's box around it, rounded outward. Where cells are logged, each end that moves is a cut
    /// for the judge, who has to close what is beyond: so only those do that move by this part of a side.
    fn clip<T: BoxNumber>(&mut self, batch: &BoxBatch<T>, part: &Part, least: f64, clips: &mut Vec<Clip>) {
        let is_logged = self.question.is_logged;
        for i in 0..self.cell.lower.len() {
            let (middle, half) = (batch.middle(self.number, i), batch.half(self.number, i));
            // Two roundings, of numbers that are at most so large.
            let slack = 4.0 * f64::EPSILON * (middle.abs() + half) + f64::MIN_POSITIVE;
            let (low, high) = (middle + half * part.low[i] - slack, middle + half * part.high[i] + slack);
            let (lower, upper) = (&mut self.cell.lower[i], &mut self.cell.upper[i]);
            let least = if is_logged { least * (*upper - *lower) } else { 0.0 };
            let low = low.min(*upper);
            if low > *lower && low - *lower >= least {
                *lower = low;
                clips.extend(is_logged.then_some(Clip { input: i, at: low, is_upper: false }));
            }
            let high = high.max(*lower);
            if high < *upper && *upper - high >= least {
                *upper = high;
                clips.extend(is_logged.then_some(Clip { input: i, at: high, is_upper: true }));
            }
        }
    }

    /// Which input to halve: the one that moves the relaxation most, of those that can be halved.
    fn next(&self, part: &Part, smear: &[f64], form: &[f64], tuning: &BoxTuning) -> Next {
        let (cell, root) = (&self.cell, self.root());
        if cell.depth >= tuning.deepest {
            return Next::Stubborn;
        }
        let is_splittable = |&i: &usize| {
            let (side, middle) = (cell.upper[i] - cell.lower[i], cell.middle(i));
            let is_large = side > tuning.smallest * (root.upper[i] - root.lower[i]);
            is_large && cell.lower[i] < middle && middle < cell.upper[i]
        };
        let moves = |i: usize| smear[i] * (part.high[i] - part.low[i]);
        let tilts = |i: usize| form[1 + i].abs() * (part.high[i] - part.low[i]);
        let by = |a: &usize, b: &usize| moves(*a).total_cmp(&moves(*b)).then(tilts(*a).total_cmp(&tilts(*b)));
        match (0..cell.lower.len()).filter(is_splittable).max_by(by) {
            Some(input) => Next::Halve { input, upper_last: form[1 + input] <= 0.0 },
            None => Next::Stubborn,
        }
    }
}

impl Verdict {
    /// Hears what the rows are at the best point, which was evaluated: whether it is worth a try, and whether halving is the way.
    pub fn hear<T: BoxNumber>(&mut self, batch: &BoxBatch<T>, lane: usize, question: &Question, tuning: &BoxTuning) {
        let (left, best) = (&self.judged.left, &mut self.best);
        let worst = question.worst(batch, lane, (left.root, best.goal));
        if worst <= tuning.near {
            self.judged.points.push((best.goal, std::mem::take(&mut best.point)));
        }
        if !matches!(self.judged.next, Next::Halve { .. }) {
            return;
        }
        // The bound is farther below than the relaxation explains, or than the rows of a small cell vary: that is rounding, by
        // which neurons may be undecided too.
        let gap = worst - best.bound;
        let is_coarse = T::RELATIVE > pg_core::rounding::EPSILON;
        let is_small = is_coarse && left.depth >= tuning.deep && best.swing < tuning.small * gap;
        if is_small || best.cost < tuning.rounding * gap {
            self.judged.next = Next::Stubborn;
        }
        // A cell at the border of the property: halving it would leave many that are. A root of few phases is done by these at once.
        let is_near = worst <= tuning.touch * gap.max(best.swing);
        let is_only_root = left.depth == 0 && question.roots.len() <= LANES;
        let undecided = batch.room.undecided.iter().filter(|lanes| **lanes >> lane & 1 == 1).count();
        if undecided <= tuning.few_phases && (is_near || is_only_root) {
            self.judged.next = Next::Touched;
        }
    }
}
