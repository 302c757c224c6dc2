//! Needs of neurons spread over the inputs that they reach: the inner loop of [`crate::bounds`]' first layer.
//!
//! Loops are over blocks of two panels, and a last panel where their number is odd: of one panel the compiler unrolls the lanes
//! and gathers over the panels instead.

use super::buffer::Buffer;
use super::dense::PANEL;
use super::simd::{Simd, Task, dispatch};

/// How far one neuron reaches: for each input a signed number, padded with zeros, and their magnitudes' sum.
#[derive(Clone, Debug)]
pub struct Reach {
    pub reach: Vec<f32>,
    pub total: f32,
    /// What it needs of its reaches.
    pub half: f32,
}

/// That a neuron, counted so many times, be spread; and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Want {
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

/// Neurons that may be spread.
pub trait Reaches: Send + Sync {
    /// Spreads neurons over a row of pulls, one after the other. Let what is free of an input be the part of its pull that a reach
    /// of the same sign allows, divided by `times`. If what is free of all is as much as the neuron needs, it takes the needed
    /// share of each; otherwise all of it and an equal share of each rest. Times what it takes is subtracted from each pull.
    fn spread(&self, wants: &mut [Want], pull: &mut [f32]);
}

/// Reaches by their sides: what is free lies between the two.
pub struct Sides(Vec<Side>);

struct Side {
    low: Buffer,
    high: Buffer,
    total: f32,
    half: f32,
}

impl Sides {
    pub fn new(reaches: Vec<Reach>) -> Sides {
        let side = |Reach { reach, total, half }: Reach| {
            let (mut low, mut high) = (Buffer::from(&reach), Buffer::from(&reach));
            low.iter_mut().for_each(|low| *low = low.min(0.0));
            high.iter_mut().for_each(|high| *high = high.max(0.0));
            Side { low, high, total, half }
        };
        Sides(reaches.into_iter().map(side).collect())
    }
}

impl Reaches for Sides {
    fn spread(&self, wants: &mut [Want], pull: &mut [f32]) {
        dispatch(Spreading { sides: &self.0, wants, pull });
    }
}

struct Spreading<'a> {
    sides: &'a [Side],
    wants: &'a mut [Want],
    pull: &'a mut [f32],
}

impl Task for Spreading<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Spreading { sides, wants, pull } = self;
        let Some(first) = wants.first() else { return };
        let mut found = free(pull, first.times, &sides[first.neuron]);
        for w in 0..wants.len() {
            let next = wants[(w + 1).min(wants.len() - 1)];
            let want = &mut wants[w];
            let (side, after) = (&sides[want.neuron], &sides[next.neuron]);
            assert_eq!(side.low.len(), pull.len(), "reaches are of the same inputs as pulls, in whole panels");
            want.found = found;
            let turn = Turn { want: *want, side, next: next.times, after };
            if found >= side.half {
                let share = if side.half > 0.0 { side.half / found } else { 0.0 };
                (found, _) = turn.take::<S, false>(pull, share);
                want.line = 0.0;
            } else {
                let (lacking, rest) = (side.half - found, side.total - found);
                let share = if lacking < rest { lacking / rest } else { 1.0 };
                let along;
                (found, along) = turn.take::<S, true>(pull, share);
                want.line = side.half - along;
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
fn free(pull: &[f32], times: f32, side: &Side) -> f32 {
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
struct Turn<'a> {
    want: Want,
    side: &'a Side,
    next: f32,
    after: &'a Side,
}

impl Turn<'_> {
    /// Takes a share of what is free or, with `REST`, all of it and a share of the rest. Returns what is then free for the next,
    /// and with `REST` what is taken along the pulls that are left, less what against them.
    #[inline(always)]
    fn take<S: Simd, const REST: bool>(&self, pull: &mut [f32], share: f32) -> (f32, f32) {
        let Turn { want: Want { times, .. }, side, next, after } = *self;
        let ((lows, low), (highs, high)) = (blocks!(side.low), blocks!(side.high));
        let ((next_lows, next_low), (next_highs, next_high)) = (blocks!(after.low), blocks!(after.high));
        let (pulls, pull) = blocks!(mut pull);
        let (mut found, mut last_found) = ([0.0; BLOCK], [0.0; PANEL]);
        let (mut along, mut last_along) = ([0.0; BLOCK], [0.0; PANEL]);
        let (each, next_each) = (1.0 / times, 1.0 / next);
        let sides = lows.iter().zip(highs).zip(next_lows.iter().zip(next_highs));
        for (pull, ((low, high), (next_low, next_high))) in pulls.iter_mut().zip(sides) {
            take::<S, REST, BLOCK>(&mut along, pull, [times, each, share], low, high);
            add_free(&mut found, pull, next_each, next_low, next_high);
        }
        let sides = low.zip(high).zip(next_low.zip(next_high));
        if let Some((pull, ((low, high), (next_low, next_high)))) = pull.zip(sides) {
            take::<S, REST, PANEL>(&mut last_along, pull, [times, each, share], low, high);
            add_free(&mut last_found, pull, next_each, next_low, next_high);
        }
        (total(&found, last_found), if REST { total(&along, last_along) } else { 0.0 })
    }
}

#[inline(always)]
fn take<S: Simd, const REST: bool, const N: usize>(
    along: &mut [f32; N],
    pull: &mut [f32; N],
    [times, each, share]: [f32; 3],
    low: &[f32; N],
    high: &[f32; N],
) {
    let (mut left, low, high) = (*pull, *low, *high);
    for lane in 0..N {
        let free = between(left[lane] * each, low[lane], high[lane]);
        if REST {
            let taken = S::mul_add(share, low[lane] + high[lane] - free, free);
            left[lane] = S::mul_add(-times, taken, left[lane]);
            along[lane] += same_way(taken, left[lane]);
        } else {
            left[lane] = S::mul_add(-times * share, free, left[lane]);
        }
    }
    *pull = left;
}

/// The nearest number of `[low, high]`; `low` for one that is none.
#[inline(always)]
fn between(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}

/// A number with its sign turned where the other is negative.
#[inline(always)]
fn same_way(value: f32, other: f32) -> f32 {
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

    /// By the definition, in float64: what is free, and the pulls that are left.
    fn expected(want: Want, Reach { reach, total, half }: &Reach, pull: &mut [f64]) -> f64 {
        let times = f64::from(want.times);
        let free = |pull: f64, reach: f64| if pull * reach > 0.0 { (pull / times).abs().min(reach.abs()) } else { 0.0 };
        let found: f64 = pull.iter().zip(reach).map(|(&pull, &reach)| free(pull, reach.into())).sum();
        let (half, total) = (f64::from(*half), f64::from(*total));
        for (pull, &reach) in pull.iter_mut().zip(reach) {
            let (free, all) = (free(*pull, reach.into()), f64::from(reach).abs());
            let lacking = (half - found) / (total - found);
            let taken = if found >= half { free * half / found } else { free + (all - free) * lacking };
            *pull -= times * taken * f64::from(reach).signum();
        }
        found
    }

    #[test]
    fn every_width_agrees_with_the_definition() {
        for width in (PANEL..12 * PANEL).step_by(PANEL) {
            let reach = |neuron: usize| {
                let reach = numbers(width, 31 * neuron);
                let total: f32 = reach.iter().map(|reach| reach.abs()).sum();
                Reach { reach, total, half: total * (0.1 + 0.2 * neuron as f32) }
            };
            let reaches: Vec<Reach> = (0..5).map(reach).collect();
            let want = |neuron: usize| Want { neuron, times: 0.3 + neuron as f32, ..Want::default() };
            let start: Vec<Want> = [3, 0, 1, 4, 2, 0].map(want).to_vec();
            let sides = Sides::new(reaches.clone());
            let run = |portable: bool| {
                let (mut wants, mut pull) = (start.clone(), numbers(width, 777));
                let task = Spreading { sides: &sides.0, wants: &mut wants, pull: &mut pull };
                if portable {
                    task.run::<Portable>()
                } else {
                    dispatch(task)
                }
                (wants, pull)
            };
            for (wants, pull) in [run(false), run(true)] {
                let mut exact: Vec<f64> = numbers(width, 777).into_iter().map(f64::from).collect();
                for want in &wants {
                    let found = expected(*want, &reaches[want.neuron], &mut exact);
                    assert!((found - f64::from(want.found)).abs() < 1e-4 * (1.0 + found), "{found}, not {want:?}");
                }
                for (exact, &pull) in exact.iter().zip(&pull) {
                    assert!((exact - f64::from(pull)).abs() < 1e-4, "{exact}, not {pull}");
                }
            }
        }
    }

    #[test]
    fn numbers_that_are_none_take_no_more_than_the_reach() {
        let reach = Reach { reach: vec![1.0; PANEL], total: 16.0, half: 4.0 };
        let sides = Sides::new(vec![reach]);
        for times in [f32::MIN_POSITIVE / 1e6, 1.0, f32::MAX] {
            let mut wants = [Want { neuron: 0, times, ..Want::default() }];
            let mut pull = [0.0; PANEL];
            pull[0] = f32::NAN;
            sides.spread(&mut wants, &mut pull);
            assert!(pull[0].is_nan() && wants[0].found <= 16.0, "{wants:?}");
            assert!(pull[1..].iter().all(|pull| pull.abs() <= times * 1.001), "{pull:?}");
        }
    }
}
