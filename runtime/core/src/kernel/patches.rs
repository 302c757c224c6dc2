//! The hull of neurons that each reach few inputs of the box: as in [`super::hull`], but with lanes over the rows of a batch.
//!
//! A panel of rows takes a neuron together, and every sum runs over its reaches from first to last. A lane is a row of its
//! own, so a row's result does not depend on the rows beside it. Loops over lanes are one operation each: of several at a time
//! the compiler makes vectors of a few lanes.

use super::hull::{Need, between, same_way};
use super::panels::{Chunk, Lanes, PANEL, padded};
use super::simd::{Simd, Vectorised, dispatch};
use super::sparse::{Columns, Entry, from_lanes, to_lanes};

/// Neurons that may be spread: a column each, of the signed reaches that are not 0.
#[derive(Clone, Copy)]
pub struct Patches<'a> {
    pub reaches: Columns<'a>,
    pub needs: &'a [Need],
}

/// The turns of a neuron in a panel of rows; and what became of them. See [`super::hull::Turn`].
#[derive(Clone, Copy)]
pub struct Turns {
    /// How many times it counts; 0 in rows where it is not to be spread.
    pub times: Lanes,
    /// What was free for it, once: a sum of numbers that are not negative, with at most [`roundings`] roundings each.
    pub found: Lanes,
    /// Its line where the pulls then point, once; 0 if all it needs was free.
    pub line: Lanes,
}

/// Of the sum of what is free in so many reaches.
pub const fn roundings(reaches: usize) -> usize {
    reaches + 8
}

impl Patches<'_> {
    /// Spreads neurons over rows of pulls, at most a panel of them, one neuron after the other. There is a turn for each.
    pub fn spread(&self, turns: &mut [Turns], pulls: &mut [f32], room: &mut [Lanes]) {
        assert_eq!(turns.len(), self.needs.len());
        assert!(pulls.len() <= PANEL * padded(self.reaches.rows()), "a panel of rows");
        dispatch(Spreading { patches: *self, turns, pulls, room });
    }
}

struct Spreading<'a> {
    patches: Patches<'a>,
    turns: &'a mut [Turns],
    pulls: &'a mut [f32],
    room: &'a mut [Lanes],
}

impl Vectorised for Spreading<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Spreading { patches, turns, pulls, room } = self;
        let lanes = &mut room.as_chunks_mut::<1>().0[..padded(patches.reaches.rows())];
        to_lanes(pulls, lanes);
        for (neuron, (turns, &need)) in turns.iter_mut().zip(patches.needs).enumerate() {
            if turns.times.0 == [0.0; PANEL] {
                continue;
            }
            let reaches = patches.reaches.column(neuron);
            let taker = Taker::new(turns.times.0, reaches, need, lanes);
            let along = taker.take::<S>(reaches, lanes);
            let mut line = [0.0; PANEL];
            for lane in 0..PANEL {
                line[lane] = if taker.rest[lane] { need.half - along[lane] } else { 0.0 };
            }
            (turns.found, turns.line) = (Lanes(taker.found), Lanes(line));
        }
        from_lanes(lanes, pulls);
    }
}

/// What is free of an input for a neuron that reaches it so far, once.
#[inline(always)]
fn free(pull: &Chunk, each: &Chunk, reach: f32) -> Chunk {
    let (low, high) = (reach.min(0.0), reach.max(0.0));
    let mut free = [0.0; PANEL];
    for lane in 0..PANEL {
        free[lane] = pull[lane] * each[lane];
    }
    for lane in 0..PANEL {
        free[lane] = between(free[lane], low, high);
    }
    free
}

/// How a neuron takes, in each lane: see [`super::hull::spread`].
struct Taker {
    times: Chunk,
    /// One over it; 1 where it is 0.
    each: Chunk,
    found: Chunk,
    /// Whether what is free is not enough, so that all of it is taken and a part of the rest; else a part of what is free.
    rest: [bool; PANEL],
    part: Chunk,
}

impl Taker {
    #[inline(always)]
    fn new(times: Chunk, reaches: &[Entry], need: Need, pulls: &[[Lanes; 1]]) -> Taker {
        let mut each = [1.0; PANEL];
        for lane in 0..PANEL {
            each[lane] = if times[lane] > 0.0 { 1.0 / times[lane] } else { 1.0 };
        }
        let mut found = [0.0; PANEL];
        for &Entry { row, value } in reaches {
            let free = free(&pulls[row as usize][0].0, &each, value);
            for lane in 0..PANEL {
                found[lane] += free[lane].abs();
            }
        }
        let Need { half, total } = need;
        let (mut rest, mut part) = ([false; PANEL], [0.0; PANEL]);
        for lane in 0..PANEL {
            let enough = if half > 0.0 { half / found[lane] } else { 0.0 };
            let (lacking, left) = (half - found[lane], total - found[lane]);
            let more = if lacking < left { lacking / left } else { 1.0 };
            rest[lane] = found[lane] < half;
            part[lane] = if rest[lane] { more } else { enough };
        }
        Taker { times, each, found, rest, part }
    }

    /// Takes; returns what is taken along the pulls that are left, less what against them.
    #[inline(always)]
    fn take<S: Simd>(&self, reaches: &[Entry], pulls: &mut [[Lanes; 1]]) -> Chunk {
        let Taker { times, each, rest, part, .. } = self;
        let mut along = [0.0; PANEL];
        for &Entry { row, value } in reaches {
            let Lanes(before) = pulls[row as usize][0];
            let free = free(&before, each, value);
            let (mut taken, mut left) = ([0.0; PANEL], [0.0; PANEL]);
            for lane in 0..PANEL {
                taken[lane] = if rest[lane] { value - free[lane] } else { free[lane] };
            }
            for lane in 0..PANEL {
                let whole = if rest[lane] { free[lane] } else { 0.0 };
                taken[lane] = S::mul_add(part[lane], taken[lane], whole);
            }
            for lane in 0..PANEL {
                left[lane] = S::mul_add(-times[lane], taken[lane], before[lane]);
            }
            for lane in 0..PANEL {
                left[lane] = if times[lane] > 0.0 { left[lane] } else { before[lane] };
            }
            for lane in 0..PANEL {
                along[lane] += same_way(taken[lane], left[lane]);
            }
            pulls[row as usize][0] = Lanes(left);
        }
        along
    }
}

#[cfg(test)]
mod tests {
    use super::super::hull::{Sides, Turn, spread};
    use super::super::panels::ZERO;
    use super::super::simd::Portable;
    use super::*;

    const NEURONS: usize = 9;
    const NONE: Turns = Turns { times: ZERO, found: ZERO, line: ZERO };

    /// Numbers from −1 to 1 that repeat late.
    fn numbers(count: usize, from: usize) -> Vec<f32> {
        (from..from + count).map(|k| ((k * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0).collect()
    }

    /// Neurons that reach every third input or so, by their entries and row by row.
    struct Neurons {
        inputs: usize,
        ends: Vec<usize>,
        entries: Vec<Entry>,
        all: Vec<f32>,
        needs: Vec<Need>,
    }

    impl Neurons {
        fn new(inputs: usize) -> Neurons {
            let mut neurons = Neurons { inputs, ends: vec![], entries: vec![], all: vec![], needs: vec![] };
            for n in 0..NEURONS {
                let mut row = numbers(padded(inputs), 31 * n);
                row.iter_mut()
                    .enumerate()
                    .for_each(|(i, v)| *v = if (i + n) % 3 == 0 && i < inputs { *v } else { 0.0 });
                let reaches = row.iter().enumerate().filter(|(_, v)| **v != 0.0);
                neurons.entries.extend(reaches.map(|(i, &value)| Entry { row: i as u32, value }));
                neurons.ends.push(neurons.entries.len());
                let total: f32 = row.iter().map(|v| v.abs()).sum();
                neurons.needs.push(Need { half: total * 0.11 * n as f32, total });
                neurons.all.extend(row);
            }
            neurons
        }

        fn patches(&self) -> Patches<'_> {
            Patches { reaches: Columns::new(self.inputs, &self.ends, &self.entries), needs: &self.needs }
        }

        /// The turns of rows that spread every neuron but some.
        fn turns(&self, rows: core::ops::Range<usize>) -> Vec<Turns> {
            let mut turns = vec![NONE; NEURONS];
            for (n, turns) in turns.iter_mut().enumerate() {
                for (place, row) in rows.clone().enumerate() {
                    let times = if (n + row) % 4 == 0 { 0.0 } else { 0.2 + n as f32 + row as f32 / 50.0 };
                    turns.times.0[place] = times;
                }
            }
            turns
        }

        fn run(&self, rows: core::ops::Range<usize>, is_portable: bool) -> (Vec<Turns>, Vec<f32>) {
            let width = padded(self.inputs);
            let (mut turns, mut room) = (self.turns(rows.clone()), vec![ZERO; Columns::room(self.inputs)]);
            let mut pulls: Vec<f32> = rows.flat_map(|row| numbers(width, 1000 * row)).collect();
            let work = Spreading { patches: self.patches(), turns: &mut turns, pulls: &mut pulls, room: &mut room };
            if is_portable {
                work.run::<Portable>();
            } else {
                dispatch(work);
            }
            (turns, pulls)
        }
    }

    #[test]
    fn every_size_agrees_with_the_dense_one() {
        for (inputs, rows) in [(1, 1), (16, 3), (40, 16), (45, 15), (70, 9), (64, 16)] {
            let neurons = Neurons::new(inputs);
            let width = padded(inputs);
            let low: Vec<f32> = neurons.all.iter().map(|v| v.min(0.0)).collect();
            let high: Vec<f32> = neurons.all.iter().map(|v| v.max(0.0)).collect();
            for is_portable in [false, true] {
                let (turns, pulls) = neurons.run(0..rows, is_portable);
                for row in 0..rows {
                    let of = |lanes: &Lanes| lanes.0[row];
                    let of_neuron = |n: usize| Turn { neuron: n, times: of(&turns[n].times), ..Turn::default() };
                    let mut expected: Vec<Turn> = (0..NEURONS).map(of_neuron).filter(|t| t.times > 0.0).collect();
                    let mut left = numbers(width, 1000 * row);
                    spread(Sides { width, low: &low, high: &high, needs: &neurons.needs }, &mut expected, &mut left);
                    for turn in &expected {
                        let (found, line) = (of(&turns[turn.neuron].found), of(&turns[turn.neuron].line));
                        assert!((found - turn.found).abs() < 1e-4 && (line - turn.line).abs() < 1e-3, "{turn:?}");
                    }
                    let found = &pulls[row * width..(row + 1) * width];
                    assert!(left.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-4));
                }
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_those_beside_it() {
        let neurons = Neurons::new(50);
        let (_, together) = neurons.run(0..PANEL, false);
        for (row, expected) in together.chunks(padded(50)).enumerate() {
            assert_eq!(neurons.run(row..row + 1, false).1, expected);
        }
    }

    #[test]
    fn numbers_that_are_none_take_no_more_than_the_reach() {
        let entries: Vec<Entry> = (0..16).map(|row| Entry { row, value: 1.0 }).collect();
        let patches = Patches { reaches: Columns::new(16, &[16], &entries), needs: &[Need { half: 4.0, total: 16.0 }] };
        for times in [f32::MIN_POSITIVE / 1e6, 1.0, f32::MAX] {
            let mut turns = [NONE];
            turns[0].times.0[0] = times;
            let mut pulls = [0.0; 2 * PANEL];
            (pulls[0], pulls[PANEL]) = (f32::NAN, f32::NAN);
            patches.spread(&mut turns, &mut pulls, &mut vec![ZERO; Columns::room(16)]);
            assert!(pulls[0].is_nan() && turns[0].found.0[0] <= 16.0);
            assert!(pulls[1..PANEL].iter().all(|pull| pull.abs() <= times * 1.001), "{pulls:?}");
            assert!(pulls[PANEL].is_nan() && pulls[PANEL + 1..].iter().all(|&pull| pull == 0.0), "{pulls:?}");
        }
    }
}
