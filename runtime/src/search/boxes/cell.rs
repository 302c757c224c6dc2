//! A part of a root's box, and what its bounds say about it.

use super::question::{Question, Root};
use crate::bounds::{BoxBatch, BoxKernel, BoxNumber, BoxRow};
use crate::search::proof::forms::{Part, clip, combine, excludes, least};
use crate::tuning::BoxTuning;
use pg_core::boxes::LANES;
use pg_core::kernel::Lanes;

/// A box, and the goals of its root that are open there.
#[derive(Clone, Debug)]
pub struct Cell {
    pub root: usize,
    pub depth: u32,
    /// Its number in the log of its root.
    pub node: u32,
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// Their places among the root's, ascending.
    pub open: Vec<usize>,
    /// Hidden neurons that are on, and off, on a box around it: bits, as many words of each.
    pub known: Vec<u64>,
}

/// What became of a cell.
pub struct Judged {
    /// The goals that were open.
    pub before: Vec<usize>,
    /// The goals that are still open, on a box that holds all their counterexamples, with the neurons decided on the cell.
    pub left: Cell,
    pub next: Next,
    /// Points that are worth a try, each for a goal.
    pub points: Vec<(usize, Vec<f64>)>,
    best: Best,
}

/// The combination of a goal's rows that comes nearest to excluding it.
#[derive(Default)]
struct Best {
    goal: usize,
    /// Its least value, by how much it varies, and where it is least.
    bound: f64,
    swing: f64,
    point: Vec<f64>,
    /// What the relaxation may cost it at most.
    cost: f64,
}

/// What to do with what is left.
pub enum Next {
    Closed,
    /// Halve this input; the half that is nearer to a violation last.
    Halve {
        input: usize,
        upper_last: bool,
    },
    /// Boxes say no more about it in these numbers.
    Stubborn,
    /// It touches the border of the property, and few neurons are undecided: for phases.
    Touched,
}

/// Bounds of rows, as often as they were bounded: for each direction a constant and coefficients.
struct Passes<T> {
    /// Where each direction's are, by its number.
    places: Vec<Option<usize>>,
    passes: Vec<Vec<Lanes<T>>>,
    terms: usize,
}

impl<T> Passes<T> {
    fn of<'p>(&'p self, row: &'p BoxRow) -> impl Iterator<Item = Option<&'p [Lanes<T>]>> {
        let place = row.direction.and_then(|n| self.places[n]);
        let count = if place.is_some() { self.passes.len() } else { 1 };
        (0..count).map(move |pass| place.map(|at| &self.passes[pass][at * self.terms..(at + 1) * self.terms]))
    }
}

/// Bounds up to sixteen cells and says what became of each.
pub fn judge<T: BoxNumber>(
    kernel: &mut BoxKernel<T>,
    question: &Question,
    cells: Vec<Cell>,
    tuning: &BoxTuning,
) -> Vec<Judged> {
    let mut batch = kernel.batch();
    load(&mut batch, &cells);
    let is_open = |batch: &BoxBatch<T>, passes: &Passes<T>| {
        (0..cells.len()).any(|lane| !closed_at_once(batch, question, &cells[lane], lane, passes))
    };
    // Of many roots most fall at once.
    let are_roots = cells.len() == LANES && cells.iter().all(|cell| cell.depth == 0);
    let quick = are_roots.then(|| {
        batch.hidden_quickly();
        first_pass(&mut batch, question, &cells)
    });
    let mut passes = match quick.filter(|passes| !is_open(&batch, passes)) {
        Some(passes) => passes,
        None => {
            batch.hidden();
            first_pass(&mut batch, question, &cells)
        }
    };
    let is_open = is_open(&batch, &passes);
    let inputs = cells[0].lower.len();
    let undecided = batch.room.undecided.iter().fold(0, |all, lanes| all | lanes);
    let mut points: Vec<Vec<(usize, Vec<f64>)>> = cells.iter().map(|_| vec![]).collect();
    if is_open && undecided != 0 {
        for (lane, cell) in cells.iter().enumerate() {
            corner(&mut batch, question, cell, lane, &passes);
        }
        batch.points();
        for (lane, cell) in cells.iter().enumerate() {
            points[lane].extend(near(&batch, question, cell, lane, tuning));
        }
        second_pass(&mut batch, &mut passes);
    }
    let smear = if is_open { batch.smear() } else { vec![Lanes([T::default(); LANES]); inputs] };
    let known = decided(&batch, &cells);
    let mut judged = Vec::with_capacity(cells.len());
    for (lane, ((cell, known), points)) in cells.into_iter().zip(known).zip(points).enumerate() {
        let scores: Vec<f64> = smear.iter().map(|score| score.0[lane].to_f64()).collect();
        let is_exact = undecided >> lane & 1 == 0;
        let lane = Lane { batch: &batch, lane, passes: &passes, root: &question.roots[cell.root], tuning };
        judged.push(lane.judge(Cell { known, ..cell }, &scores, is_exact, points));
    }
    try_points(&mut batch, question, &mut judged, tuning);
    judged
}

/// Evaluates the best point of each cell that is left: what it says about halving, and whether it is worth a try.
fn try_points<T: BoxNumber>(batch: &mut BoxBatch<T>, question: &Question, judged: &mut [Judged], tuning: &BoxTuning) {
    if !judged.iter().any(|judged| matches!(judged.next, Next::Halve { .. } | Next::Stubborn)) {
        return;
    }
    for (lane, judged) in judged.iter().enumerate() {
        judged.best.point.iter().enumerate().for_each(|(i, &x)| batch.room.value[i].0[lane] = T::nearest(x));
    }
    batch.points();
    let outputs = batch.room.value.len() - batch.outputs();
    for (lane, judged) in judged.iter_mut().enumerate().filter(|(_, judged)| !judged.left.open.is_empty()) {
        let undecided = batch.room.undecided.iter().filter(|lanes| **lanes >> lane & 1 == 1).count();
        let values = &batch.room.value;
        let (x, y) = (|i: usize| values[i].0[lane].to_f64(), |o: usize| values[outputs + o].0[lane].to_f64());
        let goal = &question.roots[judged.left.root].goals[judged.best.goal];
        let worst = goal.worst(&question.directions, x, y);
        if worst <= tuning.near {
            judged.points.push((judged.best.goal, std::mem::take(&mut judged.best.point)));
        }
        if let Next::Halve { input, upper_last } = judged.next {
            let halve = Next::Halve { input, upper_last };
            let is_only_root = judged.left.depth == 0 && question.roots.len() <= LANES;
            let kind = (judged.left.depth, T::RELATIVE > pg_core::rounding::EPSILON, is_only_root);
            judged.best.advise(worst, undecided, kind, &mut judged.next, tuning);
            // Phases of a cell are nothing that a certificate tells.
            if let (Next::Touched, Some(_)) = (&judged.next, &question.roots[judged.left.root].log) {
                judged.next = halve;
            }
        }
    }
}

impl Best {
    /// Whether halving is the way, by the value of the rows at the best point.
    fn advise(
        &self,
        worst: f64,
        undecided: usize,
        (depth, is_coarse, is_only_root): (u32, bool, bool),
        next: &mut Next,
        tuning: &BoxTuning,
    ) {
        // The bound is farther below than the relaxation explains, or than the rows of a small cell vary: that is rounding, by
        // which neurons may be undecided too.
        let gap = worst - self.bound;
        let is_small = is_coarse && depth >= tuning.deep && self.swing < tuning.small * gap;
        if is_small || self.cost < tuning.rounding * gap {
            *next = Next::Stubborn;
        }
        // A cell at the border of the property: halving it would leave many that are. A root of few phases is done by these at once.
        let is_near = worst <= tuning.touch * gap.max(self.swing);
        if undecided <= tuning.few_phases && (is_near || is_only_root) {
            *next = Next::Touched;
        }
    }
}

/// Boxes and known neurons of the cells; lanes that are left over repeat the last one.
fn load<T: BoxNumber>(batch: &mut BoxBatch<T>, cells: &[Cell]) {
    batch.room.known_on.fill(0);
    batch.room.known_off.fill(0);
    for lane in 0..LANES {
        let cell = &cells[lane.min(cells.len() - 1)];
        batch.load(lane, &cell.lower, &cell.upper);
        let (on, off) = cell.known.split_at(cell.known.len() / 2);
        set(batch.room.known_on, on, lane);
        set(batch.room.known_off, off, lane);
    }
}

fn set(lanes: &mut [u16], words: &[u64], lane: usize) {
    for (w, &word) in words.iter().enumerate() {
        let mut left = word;
        while left != 0 {
            lanes[64 * w + left.trailing_zeros() as usize] |= 1 << lane;
            left &= left - 1;
        }
    }
}

/// The neurons that are decided on each cell, where cells keep that.
fn decided<T: BoxNumber>(batch: &BoxBatch<T>, cells: &[Cell]) -> Vec<Vec<u64>> {
    let mut known: Vec<Vec<u64>> = cells.iter().map(|cell| vec![0; cell.known.len()]).collect();
    let words = known[0].len() / 2;
    if words > 0 {
        for (at, lanes) in [(0, &*batch.room.known_on), (words, &*batch.room.known_off)] {
            for (neuron, &lanes) in lanes.iter().enumerate() {
                for (lane, known) in known.iter_mut().enumerate() {
                    known[at + neuron / 64] |= u64::from(lanes >> lane & 1) << (neuron % 64);
                }
            }
        }
    }
    known
}

/// Bounds the directions of all goals that are open in some cell.
fn first_pass<T: BoxNumber>(batch: &mut BoxBatch<T>, question: &Question, cells: &[Cell]) -> Passes<T> {
    let mut places = vec![None; question.directions.count()];
    let mut numbers = Vec::new();
    for cell in cells {
        let goals = &question.roots[cell.root].goals;
        for direction in cell.open.iter().flat_map(|&g| &goals[g].rows).filter_map(|row| row.direction) {
            if places[direction].is_none() {
                places[direction] = Some(numbers.len());
                numbers.push(direction);
            }
        }
    }
    let passes = vec![batch.rows(&numbers)];
    Passes { places, passes, terms: cells[0].lower.len() + 1 }
}

/// Bounds the same directions again, with the slopes that a point has left.
fn second_pass<T: BoxNumber>(batch: &mut BoxBatch<T>, passes: &mut Passes<T>) {
    let mut numbers: Vec<(usize, usize)> =
        passes.places.iter().enumerate().filter_map(|(n, place)| place.map(|at| (at, n))).collect();
    numbers.sort_unstable();
    let numbers: Vec<usize> = numbers.into_iter().map(|(_, n)| n).collect();
    let reached = batch.rows(&numbers);
    passes.passes.push(reached);
}

/// Whether every open goal of a cell has a row that excludes it.
fn closed_at_once<T: BoxNumber>(
    batch: &BoxBatch<T>,
    question: &Question,
    cell: &Cell,
    lane: usize,
    passes: &Passes<T>,
) -> bool {
    let whole = Part::whole(cell.lower.len());
    let mut form = vec![0.0; passes.terms];
    let mut excluded = |row: &BoxRow| {
        passes.of(row).any(|reached| {
            batch.form(lane, row, reached, &mut form);
            excludes(&form, &whole)
        })
    };
    cell.open.iter().all(|&g| question.roots[cell.root].goals[g].rows.iter().any(&mut excluded))
}

/// Sets the point of a lane to the corner where its best row is least.
fn corner<T: BoxNumber>(batch: &mut BoxBatch<T>, question: &Question, cell: &Cell, lane: usize, passes: &Passes<T>) {
    let whole = Part::whole(cell.lower.len());
    let (mut form, mut best, mut bound) = (vec![0.0; passes.terms], vec![], f64::NEG_INFINITY);
    for row in cell.open.iter().flat_map(|&g| &question.roots[cell.root].goals[g].rows) {
        for reached in passes.of(row) {
            batch.form(lane, row, reached, &mut form);
            let low = least(&form, &whole);
            if best.is_empty() || low > bound {
                (bound, best) = (low, form.clone());
            }
        }
    }
    for i in 0..cell.lower.len() {
        let is_low = best.get(1 + i).is_some_and(|slope| *slope > 0.0);
        batch.room.value[i].0[lane] = T::nearest(if is_low { cell.lower[i] } else { cell.upper[i] });
    }
}

/// The point of a lane, for each open goal that it nearly violates.
fn near<T: BoxNumber>(
    batch: &BoxBatch<T>,
    question: &Question,
    cell: &Cell,
    lane: usize,
    tuning: &BoxTuning,
) -> Vec<(usize, Vec<f64>)> {
    let (values, goals) = (&batch.room.value, &question.roots[cell.root].goals);
    let outputs = values.len() - batch.outputs();
    let x = |i: usize| values[i].0[lane].to_f64();
    let y = |o: usize| values[outputs + o].0[lane].to_f64();
    let is_near = |g: &usize| goals[*g].worst(&question.directions, x, y) <= tuning.near;
    let point = || (0..cell.lower.len()).map(x).collect::<Vec<f64>>();
    cell.open.iter().copied().filter(is_near).map(|g| (g, point())).collect()
}

/// A cell's place in a batch that was bounded.
struct Lane<'l, 'b, 'n, T> {
    batch: &'l BoxBatch<'b, 'n, T>,
    lane: usize,
    passes: &'l Passes<T>,
    root: &'l Root<'l>,
    tuning: &'l BoxTuning,
}

impl<T: BoxNumber> Lane<'_, '_, '_, T> {
    fn judge(&self, cell: Cell, smear: &[f64], is_exact: bool, points: Vec<(usize, Vec<f64>)>) -> Judged {
        let (inputs, before) = (cell.lower.len(), cell.open.clone());
        let (mut open, mut rest) = (Vec::new(), None::<Part>);
        let (mut best, mut form) = (Best::default(), vec![0.0; inputs + 1]);
        for &goal in &before {
            let mut part = Part::whole(inputs);
            let Some(combined) = self.exclude(goal, &mut part) else { continue };
            let bound = least(&combined, &part);
            if open.is_empty() || bound > best.bound {
                let swing = combined[1..].iter().map(|a| a.abs()).sum();
                let point = self.point(&cell, &part.lowest(&combined));
                best = Best { goal, bound, swing, point, cost: smear.iter().sum() };
                form = combined;
            }
            match &mut rest {
                None => rest = Some(part),
                Some(all) => all.join(&part),
            }
            open.push(goal);
        }
        let Some(part) = rest else {
            return Judged { before, left: Cell { open, ..cell }, next: Next::Closed, points, best };
        };
        let left = self.clipped(Cell { open, ..cell }, &part);
        let next = if is_exact { Next::Stubborn } else { self.next(&left, &part, smear, &form) };
        Judged { before, left, next, points, best }
    }

    /// Tries to exclude a goal; if it stays open, the best combination of its rows, and the part is what they leave of the box.
    fn exclude(&self, goal: usize, part: &mut Part) -> Option<Vec<f64>> {
        let is_logged = self.root.log.is_some();
        let terms = self.passes.terms;
        let mut forms: Vec<f64> = Vec::with_capacity(8 * terms);
        for row in &self.root.goals[goal].rows {
            for reached in self.passes.of(row) {
                let at = forms.len();
                forms.resize(at + terms, 0.0);
                self.batch.form(self.lane, row, reached, &mut forms[at..]);
                if excludes(&forms[at..], part) {
                    return None;
                }
            }
        }
        let forms: Vec<&[f64]> = forms.chunks_exact(terms).collect();
        // A certificate says nothing of clipping: there cells are halved as they are.
        if !is_logged && !forms.iter().all(|form| clip(form, part)) {
            return None;
        }
        let low = |form: &[f64]| least(form, part);
        let best = (0..forms.len()).max_by(|&a, &b| low(forms[a]).total_cmp(&low(forms[b])));
        let Some(best) = best else { return Some(vec![0.0; terms]) };
        let combined = combine(&forms, best, part, self.tuning.combinations);
        if excludes(&combined, part) || !is_logged && !clip(&combined, part) {
            return None;
        }
        Some(combined)
    }

    /// The point of a part of the cell.
    fn point(&self, cell: &Cell, t: &[f64]) -> Vec<f64> {
        let at = |(i, t): (usize, &f64)| {
            let (middle, half) = (self.batch.room.middle[i].0[self.lane], self.batch.room.half[i].0[self.lane]);
            (middle.to_f64() + half.to_f64() * t).max(cell.lower[i]).min(cell.upper[i])
        };
        t.iter().enumerate().map(at).collect()
    }

    /// The cell, shrunk to a part of the kernel's box around it, rounded outward.
    fn clipped(&self, mut cell: Cell, part: &Part) -> Cell {
        for i in 0..cell.lower.len() {
            let middle = self.batch.room.middle[i].0[self.lane].to_f64();
            let half = self.batch.room.half[i].0[self.lane].to_f64();
            // Two roundings, of numbers that are at most so large.
            let slack = 4.0 * f64::EPSILON * (middle.abs() + half) + f64::MIN_POSITIVE;
            let (low, high) = (middle + half * part.low[i] - slack, middle + half * part.high[i] + slack);
            cell.lower[i] = cell.lower[i].max(low.min(cell.upper[i]));
            cell.upper[i] = cell.upper[i].min(high.max(cell.lower[i]));
        }
        cell
    }

    /// Which input to halve: the one that moves the relaxation most, of those that can be halved.
    fn next(&self, cell: &Cell, part: &Part, smear: &[f64], form: &[f64]) -> Next {
        if cell.depth >= self.tuning.deepest {
            return Next::Stubborn;
        }
        let is_splittable = |&i: &usize| {
            let (side, middle) = (cell.upper[i] - cell.lower[i], middle(cell, i));
            side > self.tuning.smallest * (self.root.upper[i] - self.root.lower[i])
                && cell.lower[i] < middle
                && middle < cell.upper[i]
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

/// Where a side is halved.
pub fn middle(cell: &Cell, input: usize) -> f64 {
    cell.lower[input] + (cell.upper[input] - cell.lower[input]) / 2.0
}
