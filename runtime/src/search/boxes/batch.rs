//! Sixteen cells at a time: what their bounds say.

use super::cell::{Cell, Judged, Next};
use super::lane::{Lane, Verdict};
use super::question::Question;
use crate::bounds::{BoxBatch, BoxKernel, BoxNumber};
use crate::search::proof::forms::{Part, excludes};
use crate::tuning::BoxTuning;
use pg_core::boxes::LANES;
use pg_core::kernel::Lanes;

/// Closes the goals of up to sixteen cells that forms alone exclude.
pub fn look<T: BoxNumber>(kernel: &mut BoxKernel<T>, question: &Question, cells: Vec<Cell>) -> Vec<Judged> {
    let mut batch = kernel.batch();
    load(&mut batch, &cells);
    batch.forms();
    let inputs = cells[0].lower.len();
    let (whole, mut form) = (Part::whole(inputs), vec![0.0; inputs + 1]);
    let mut look_at = |(lane, mut cell): (usize, Cell)| {
        let before = cell.open.clone();
        let goals = &question.roots[cell.root].goals;
        cell.open.retain(|&goal| {
            !goals[goal].rows.iter().any(|row| {
                batch.form_of_outputs(lane, row, &mut form);
                excludes(&form, &whole)
            })
        });
        let next = if cell.open.is_empty() { Next::Closed } else { Next::Judge };
        Judged { before, left: cell, clips: vec![], next, points: vec![] }
    };
    cells.into_iter().enumerate().map(&mut look_at).collect()
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
    batch.hidden();
    let known = decided(&batch, cells.len(), question.known_words);
    let directions = Asked::of(question, &cells);
    let mut lanes: Vec<Lane> =
        (cells.into_iter().enumerate()).map(|(number, cell)| Lane::new(number, cell, question)).collect();
    directions.bound(&mut batch, &mut lanes);
    let is_open = lanes.iter().any(|lane| !lane.is_closed());
    let undecided = batch.room.undecided.iter().fold(0, |all, lanes| all | lanes);
    if is_open && undecided != 0 {
        for lane in &lanes {
            batch.set_point(lane.number, &lane.corner());
        }
        batch.points();
        lanes.iter_mut().for_each(|lane| lane.keep_near(&batch, tuning));
        directions.bound(&mut batch, &mut lanes);
    }
    let inputs = batch.room.middle.len();
    let smear = if is_open { batch.smear() } else { vec![Lanes([T::default(); LANES]); inputs] };
    let judge_lane = |(lane, known): (Lane, Vec<u64>)| {
        let smear: Vec<f64> = smear.iter().map(|score| score.0[lane.number].to_f64()).collect();
        let is_exact = undecided >> lane.number & 1 == 0;
        lane.judge(&batch, known, &smear, is_exact, tuning)
    };
    let mut verdicts: Vec<Verdict> = lanes.into_iter().zip(known).map(judge_lane).collect();
    try_points(&mut batch, question, &mut verdicts, tuning);
    verdicts.into_iter().map(|verdict| verdict.judged).collect()
}

/// Evaluates the best point of each cell that is left: what it says about halving, and whether it is worth a try.
fn try_points<T: BoxNumber>(
    batch: &mut BoxBatch<T>,
    question: &Question,
    verdicts: &mut [Verdict],
    tuning: &BoxTuning,
) {
    if !verdicts.iter().any(|verdict| matches!(verdict.judged.next, Next::Halve { .. } | Next::Stubborn)) {
        return;
    }
    for (lane, verdict) in verdicts.iter().enumerate() {
        batch.set_point(lane, &verdict.best.point);
    }
    batch.points();
    for (lane, verdict) in verdicts.iter_mut().enumerate().filter(|(_, verdict)| !verdict.judged.left.open.is_empty()) {
        verdict.hear(batch, lane, question, tuning);
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

/// The neurons that are decided in each of some lanes, in so many words of bits.
fn decided<T: BoxNumber>(batch: &BoxBatch<T>, lanes: usize, words: usize) -> Vec<Vec<u64>> {
    let mut known = vec![vec![0; words]; lanes];
    if words > 0 {
        for (at, neurons) in [(0, &*batch.room.known_on), (words / 2, &*batch.room.known_off)] {
            for (neuron, &lanes) in neurons.iter().enumerate() {
                for (lane, known) in known.iter_mut().enumerate() {
                    known[at + neuron / 64] |= u64::from(lanes >> lane & 1) << (neuron % 64);
                }
            }
        }
    }
    known
}

/// The directions of all goals that are open in some cell.
struct Asked {
    numbers: Vec<usize>,
    /// Where each is among them, by its number.
    places: Vec<Option<usize>>,
}

impl Asked {
    fn of(question: &Question, cells: &[Cell]) -> Asked {
        let mut asked = Asked { numbers: vec![], places: vec![None; question.directions.count()] };
        for cell in cells {
            let goals = &question.roots[cell.root].goals;
            for direction in cell.open.iter().flat_map(|&g| &goals[g].rows).filter_map(|row| row.direction) {
                if asked.places[direction].is_none() {
                    asked.places[direction] = Some(asked.numbers.len());
                    asked.numbers.push(direction);
                }
            }
        }
        asked
    }

    /// Bounds them, and gives each lane the forms of its rows.
    fn bound<T: BoxNumber>(&self, batch: &mut BoxBatch<T>, lanes: &mut [Lane]) {
        let reached = batch.rows(&self.numbers);
        let terms = batch.room.middle.len() + 1;
        let of = |direction: usize| self.places[direction].map(|at| &reached[at * terms..(at + 1) * terms]);
        lanes.iter_mut().for_each(|lane| lane.add_pass(batch, of));
    }
}
