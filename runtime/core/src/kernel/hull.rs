//! The hull of neurons over the box of inputs: their needs spread over the inputs that they reach.
//!
//! Loops are over blocks of two panels, and a last panel where their number is odd: of one panel the compiler unrolls the lanes
//! and gathers over the panels instead.

use super::panels::PANEL;
use super::simd::{Simd, Vectorised, dispatch};

/// Neurons that may be spread. How far each reaches is a signed number for each input, given by its negative and its positive
/// part: what is free lies between the two.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    /// Of the inputs, in whole panels.
    pub width: usize,
    /// A row of each for every neuron, padded with zeros.
    pub low: &'a [f32],
    pub high: &'a [f32],
    pub needs: &'a [Need],
}

/// What a neuron needs of its reaches, and the sum of their magnitudes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Need {
    pub half: f32,
    pub total: f32,
}

/// The turn of a neuron, counted so many times, to be spread; and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    pub neuron: usize,
    /// Positive.
    pub times: f32,
    /// What was free for it, once: a sum of numbers that are not negative, with at most [`roundings`] roundings each.
    pub found: f32,
    /// Its line where the pulls then point, once; 0 if all it needs was free.
    pub line: f32,
}

/// Of the sum of what is free in rows this wide.
pub const fn roundings(width: usize) -> usize {
    width / PANEL + PANEL + 8
}

/// Spreads neurons over a row of pulls, one after the other. Let what is free of an input be the part of its pull that a reach
/// of the same sign allows, divided by `times`. If what is free of all is as much as the neuron needs, it takes the needed part
/// of each; otherwise all of it and an equal part of each rest. Times what it takes is subtracted from each pull.
pub fn spread(sides: Sides, turns: &mut [Turn], pull: &mut [f32]) {
    assert_eq!(sides.width, pull.len(), "reaches are of the same inputs as pulls, in whole panels");
    dispatch(Spreading { sides, turns, pull });
}

/// The reaches and the need of one neuron.
#[derive(Clone, Copy)]
struct Side<'a> {
    low: &'a [f32],
    high: &'a [f32],
    need: Need,
}

impl<'a> Sides<'a> {
    #[inline(always)]
    fn of(&self, neuron: usize) -> Side<'a> {
        let row = neuron * self.width..(neuron + 1) * self.width;
        Side { low: &self.low[row.clone()], high: &self.high[row], need: self.needs[neuron] }
    }
}

struct Spreading<'a> {
    sides: Sides<'a>,
    turns: &'a mut [Turn],
    pull: &'a mut [f32],
}

impl Vectorised for Spreading<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Spreading { sides, turns, pull } = self;
        let Some(first) = turns.first() else { return };
        let mut found = free(pull, first.times, sides.of(first.neuron));
        for t in 0..turns.len() {
            let next = turns[(t + 1).min(turns.len() - 1)];
            let turn = &mut turns[t];
            let side = sides.of(turn.neuron);
            let Need { half, total } = side.need;
            turn.found = found;
            let taker = Taker { times: turn.times, side, next: next.times, after: sides.of(next.neuron) };
            if found >= half {
                let part = if half > 0.0 { half / found } else { 0.0 };
                (found, _) = taker.take::<S, false>(pull, part);
                turn.line = 0.0;
            } else {
                let (lacking, rest) = (half - found, total - found);
                let part = if lacking < rest { lacking / rest } else { 1.0 };
                let along;
                (found, along) = taker.take::<S, true>(pull, part);
                turn.line = half - along;
            }
        }
    }
}

/// Two panels, which the loops below take together.
const BLOCK: usize = 2 * PANEL;

macro_rules! blocks {
    ($values:expr) => {{
        let (blocks, last) = $values.as_chunks::<BLOCK>();
        (blocks, last.first_chunk::<PANEL>())
    }};
    (mut $values:expr) => {{
        let (blocks, last) = $values.as_chunks_mut::<BLOCK>();
        (blocks, last.first_chunk_mut::<PANEL>())
    }};
}

/// All that is free for a neuron.
#[inline(always)]
fn free(pull: &[f32], times: f32, side: Side) -> f32 {
    let each = 1.0 / times;
    let (mut sums, mut last) = ([0.0; BLOCK], [0.0; PANEL]);
    let ((pulls, pull), (lows, low), (highs, high)) = (blocks!(pull), blocks!(side.low), blocks!(side.high));
    for ((pull, low), high) in pulls.iter().zip(lows).zip(highs) {
        add_free(&mut sums, pull, each, low, high);
    }
    if let (Some(pull), Some(low), Some(high)) = (pull, low, high) {
        add_free(&mut last, pull, each, low, high);
    }
    total(&sums, last)
}

#[inline(always)]
fn add_free<const N: usize>(sums: &mut [f32; N], pull: &[f32; N], each: f32, low: &[f32; N], high: &[f32; N]) {
    let (pull, low, high) = (*pull, *low, *high);
    for lane in 0..N {
        sums[lane] += between(pull[lane] * each, low[lane], high[lane]).abs();
    }
}

/// A neuron's turn, and who is next: what is free for that one is summed while the row is at hand.
struct Taker<'a> {
    times: f32,
    side: Side<'a>,
    next: f32,
    after: Side<'a>,
}

impl Taker<'_> {
    /// Takes a part of what is free or, with `REST`, all of it and a part of the rest. Returns what is then free for the next,
    /// and with `REST` what is taken along the pulls that are left, less what against them.
    #[inline(always)]
    fn take<S: Simd, const REST: bool>(&self, pull: &mut [f32], part: f32) -> (f32, f32) {
        let Taker { times, side, next, after } = *self;
        let ((lows, low), (highs, high)) = (blocks!(side.low), blocks!(side.high));
        let ((next_lows, next_low), (next_highs, next_high)) = (blocks!(after.low), blocks!(after.high));
        let (pulls, pull) = blocks!(mut pull);
        let (mut found, mut last_found) = ([0.0; BLOCK], [0.0; PANEL]);
        let (mut along, mut last_along) = ([0.0; BLOCK], [0.0; PANEL]);
        let (each, next_each) = (1.0 / times, 1.0 / next);
        let sides = lows.iter().zip(highs).zip(next_lows.iter().zip(next_highs));
        for (pull, ((low, high), (next_low, next_high))) in pulls.iter_mut().zip(sides) {
            take::<S, REST, BLOCK>(&mut along, pull, [times, each, part], low, high);
            add_free(&mut found, pull, next_each, next_low, next_high);
        }
        let sides = low.zip(high).zip(next_low.zip(next_high));
        if let Some((pull, ((low, high), (next_low, next_high)))) = pull.zip(sides) {
            take::<S, REST, PANEL>(&mut last_along, pull, [times, each, part], low, high);
            add_free(&mut last_found, pull, next_each, next_low, next_high);
        }
        (total(&found, last_found), if REST { total(&along, last_along) } else { 0.0 })
    }
}

#[inline(always)]
fn take<S: Simd, const REST: bool, const N: usize>(
    along: &mut [f32; N],
    pull: &mut [f32; N],
    [times, each, part]: [f32; 3],
    low: &[f32; N],
    high: &[f32; N],
) {
    let (mut left, low, high) = (*pull, *low, *high);
    for lane in 0..N {
        let free = between(left[lane] * each, low[lane], high[lane]);
        if REST {
            let taken = S::mul_add(part, low[lane] + high[lane] - free, free);
            left[lane] = S::mul_add(-times, taken, left[lane]);
            along[lane] += same_way(taken, left[lane]);
        } else {
            left[lane] = S::mul_add(-times * part, free, left[lane]);
        }
    }
    *pull = left;
}

/// The nearest number of `[low, high]`; `low` for one that is none.
#[inline(always)]
pub(super) fn between(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}

/// A number with its sign turned where the other is negative.
#[inline(always)]
pub(super) fn same_way(value: f32, other: f32) -> f32 {
    const SIGN: u32 = 1 << 31;
    f32::from_bits(value.to_bits() ^ (other.to_bits() & SIGN))
}

/// The sum of lanes, by halves.
#[inline(always)]
fn total(sums: &[f32; BLOCK], mut lanes: [f32; PANEL]) -> f32 {
    for lane in 0..PANEL {
        lanes[lane] += sums[lane] + sums[lane + PANEL];
    }
    let mut half = PANEL / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] += lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}

#[cfg(test)]
mod tests {
    use super::super::simd::Portable;
    use super::*;

    /// Numbers from −1 to 1 that repeat late.
    fn numbers(count: usize, from: usize) -> Vec<f32> {
        (from..from + count).map(|k| ((k * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0).collect()
    }

    /// Neurons by their reaches and needs.
    struct Neurons {
        reach: Vec<Vec<f32>>,
        low: Vec<f32>,
        high: Vec<f32>,
        needs: Vec<Need>,
    }

    impl Neurons {
        fn new(reach: Vec<Vec<f32>>, half: impl Fn(usize, f32) -> f32) -> Neurons {
            let total = |reach: &Vec<f32>| reach.iter().map(|reach| reach.abs()).sum::<f32>();
            let need = |(n, reach)| Need { half: half(n, total(reach)), total: total(reach) };
            Neurons {
                low: reach.iter().flatten().map(|reach| reach.min(0.0)).collect(),
                high: reach.iter().flatten().map(|reach| reach.max(0.0)).collect(),
                needs: reach.iter().enumerate().map(need).collect(),
                reach,
            }
        }

        fn sides(&self) -> Sides<'_> {
            Sides { width: self.reach[0].len(), low: &self.low, high: &self.high, needs: &self.needs }
        }

        /// By the definition, in float64: what is free, and the pulls that are left.
        fn expected(&self, turn: Turn, pull: &mut [f64]) -> f64 {
            let (times, reach) = (f64::from(turn.times), &self.reach[turn.neuron]);
            let free =
                |pull: f64, reach: f64| if pull * reach > 0.0 { (pull / times).abs().min(reach.abs()) } else { 0.0 };
            let found: f64 = pull.iter().zip(reach).map(|(&pull, &reach)| free(pull, reach.into())).sum();
            let Need { half, total } = self.needs[turn.neuron];
            let (half, total) = (f64::from(half), f64::from(total));
            for (pull, &reach) in pull.iter_mut().zip(reach) {
                let (free, all) = (free(*pull, reach.into()), f64::from(reach).abs());
                let lacking = (half - found) / (total - found);
                let taken = if found >= half { free * half / found } else { free + (all - free) * lacking };
                *pull -= times * taken * f64::from(reach).signum();
            }
            found
        }
    }

    #[test]
    fn every_width_agrees_with_the_definition() {
        for width in (PANEL..12 * PANEL).step_by(PANEL) {
            let reaches = (0..5).map(|neuron| numbers(width, 31 * neuron)).collect();
            let neurons = Neurons::new(reaches, |neuron, total| total * (0.1 + 0.2 * neuron as f32));
            let turn = |neuron: usize| Turn { neuron, times: 0.3 + neuron as f32, ..Turn::default() };
            let start: Vec<Turn> = [3, 0, 1, 4, 2, 0].map(turn).to_vec();
            let run = |portable: bool| {
                let (mut turns, mut pull) = (start.clone(), numbers(width, 777));
                let work = Spreading { sides: neurons.sides(), turns: &mut turns, pull: &mut pull };
                if portable {
                    work.run::<Portable>()
                } else {
                    dispatch(work)
                }
                (turns, pull)
            };
            for (turns, pull) in [run(false), run(true)] {
                let mut exact: Vec<f64> = numbers(width, 777).into_iter().map(f64::from).collect();
                for turn in &turns {
                    let found = neurons.expected(*turn, &mut exact);
                    assert!((found - f64::from(turn.found)).abs() < 1e-4 * (1.0 + found), "{found}, not {turn:?}");
                }
                for (exact, &pull) in exact.iter().zip(&pull) {
                    assert!((exact - f64::from(pull)).abs() < 1e-4, "{exact}, not {pull}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_none_take_no_more_than_the_reach() {
        let neurons = Neurons::new(vec![vec![1.0; PANEL]], |_, _| 4.0);
        for times in [f32::MIN_POSITIVE / 1e6, 1.0, f32::MAX] {
            let mut turns = [Turn { neuron: 0, times, ..Turn::default() }];
            let mut pull = [0.0; PANEL];
            pull[0] = f32::NAN;
            spread(neurons.sides(), &mut turns, &mut pull);
            assert!(pull[0].is_nan() && turns[0].found <= 16.0, "{turns:?}");
            assert!(pull[1..].iter().all(|pull| pull.abs() <= times * 1.001), "{pull:?}");
        }
    }
}
