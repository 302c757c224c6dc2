//! The least value over the box, with the undecided neurons that read nothing else spread over the inputs.
//!
//! The chord is the best upper line of max(z, 0) for z in [l, u], but not for inputs of a box. Let x = centre + radius·t with t in
//! [−1, 1]ⁿ, and z = z₀ + Σ cᵢtᵢ ≤ u. Any σ with 0 ≤ σᵢ/cᵢ ≤ 1 and Σ|σᵢ| ≥ u/2 gives
//!
//! ```text
//!     max(z, 0) ≤ Σ |σᵢ| + σᵢtᵢ.
//! ```
//!
//! The right side is never negative, and at a corner it is 2Σ|σᵢ| less 2|σᵢ| for each tᵢ that lowers z, so at least u less 2|cᵢ|
//! for each of those, which is z; the left side is convex, so it holds in between. (These lines are the convex hull of one neuron over
//! a box: Anderson, Huchette, Ma, Tjandraatmadja, Vielma 2020.) If Σ|σᵢ| falls short by δ the line does so by at most 2δ.
//!
//! A neuron with μ < 0 so has a need −μu/2, to be spread over the inputs up to their reaches −μ|cᵢ|. What it takes from an
//! input whose coefficient pulls the other way costs the bound nothing. So each neuron, the one with the largest u first, takes
//! of all that is free in proportion, and if that is not enough the rest of all reaches in proportion: twice what was not free
//! is what it costs.

use super::batch::{Buffers, ROWS};
use super::buffer::Buffer;
use super::compact::Compact;
use super::live::Live;
use super::packed::{Listed, is_sparse};
use pg_core::kernel::hull::{Need, Sides, Turn, roundings, spread};
use pg_core::kernel::patches::{self, Patches, Turns};
use pg_core::kernel::relax::{Centre, Least};
use pg_core::kernel::sparse::Entry;
use pg_core::kernel::{PANEL, ZERO, dispatch};
use pg_core::rounding::{EPSILON_32, Sum, above, sum_error_32, underflow_error_32};

/// The neurons that may be spread, those with the largest need first.
#[derive(Default)]
pub struct Hull {
    neurons: Vec<Neuron>,
    needs: Vec<Need>,
    reaches: Reaches,
    /// The most neurons that reach one input.
    most: usize,
}

/// How far each neuron reaches: the weight times the radius of each input.
enum Reaches {
    /// A row a neuron of its negative reaches, and one of its positive ones.
    Rows { low: Buffer, high: Buffer },
    /// A column a neuron, where most are 0.
    Patches(Listed),
}

impl Default for Reaches {
    fn default() -> Reaches {
        Reaches::Rows { low: Buffer::default(), high: Buffer::default() }
    }
}

struct Neuron {
    /// Its stage and its place there.
    stage: usize,
    index: usize,
    /// Half of what it can be on the box at most, rounded up, and its reaches together.
    half: f64,
    total: f64,
    /// What a unit of it may cost beyond its half.
    error: f64,
}

/// Centre and radius of a box, the radius rounded up, so that the two enclose it.
pub fn middle(lower: &[f32], upper: &[f32]) -> (Buffer, Buffer) {
    let centre: Vec<f32> = lower.iter().zip(upper).map(|(l, u)| l + (u - l) / 2.0).collect();
    let radius = |((&l, &u), &c): ((&f32, &f32), &f32)| match l == c && u == c {
        true => 0.0,
        false => above((f64::from(c) - f64::from(l)).max(f64::from(u) - f64::from(c))).next_up(),
    };
    let radius: Vec<f32> = lower.iter().zip(upper).zip(&centre).map(radius).collect();
    (Buffer::from(&centre), Buffer::from(&radius))
}

impl Hull {
    /// Of the undecided neurons that read nothing but the box.
    pub fn new(live: &Live, compact: &Compact) -> Hull {
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (k, stage) in compact.stages.iter().enumerate().filter(|(_, stage)| stage.is_spread) {
            let is_open = |&index: &usize| stage.cost[index] > 0.0;
            open.extend((0..stage.neurons.len()).filter(is_open).map(|index| (k, index)));
        }
        let map = |(k, index): (usize, usize)| live.maps[compact.stages[k].number][0].column(index);
        let width = compact.inputs();
        let is_sparse = is_sparse(open.iter().map(|&neuron| map(neuron).len()).sum(), open.len(), width);
        let found = |(k, index)| neuron(compact, k, index, map((k, index)), is_sparse);
        // In float64, so that whoever finds the order again, with other roundings, finds the same one.
        let largest = |(k, index): (usize, usize)| {
            let end = |ends: &[f64], &Entry { row, value }: &Entry| f64::from(value) * ends[row as usize];
            let most = |entry| end(&live.input.0, entry).max(end(&live.input.1, entry));
            f64::from(compact.stages[k].bias[index]) + map((k, index)).iter().map(most).sum::<f64>()
        };
        let mut order: Vec<(f64, (usize, usize))> = open.into_iter().map(|place| (largest(place), place)).collect();
        order.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let rows: Vec<(Neuron, Need, Vec<Entry>)> = order.into_iter().map(|(_, place)| found(place)).collect();
        let mut listed = Listed::new(width);
        rows.iter().for_each(|(.., reaches)| listed.push(reaches.iter().copied()));
        let (neurons, needs) = rows.into_iter().map(|(neuron, need, _)| (neuron, need)).unzip();
        let most = listed.longest_row();
        let reaches = if is_sparse { Reaches::Patches(listed) } else { Reaches::rows(&listed, width) };
        Hull { neurons, needs, reaches, most }
    }

    /// Room for the turns of a batch.
    pub fn room(&self) -> Room {
        let none = Turns { times: ZERO, found: ZERO, line: ZERO };
        let (turns, together) = match self.reaches {
            Reaches::Rows { .. } => (self.neurons.len() + 1, 0),
            Reaches::Patches(_) => (0, self.neurons.len()),
        };
        Room { turns: vec![Turn::default(); turns], together: vec![none; together], lanes: Buffer::default() }
    }
}

/// Room for the turns of each row, or of all rows together.
pub struct Room {
    turns: Vec<Turn>,
    together: Vec<Turns>,
    lanes: Buffer,
}

impl Reaches {
    fn rows(reaches: &Listed, width: usize) -> Reaches {
        let count = reaches.columns().len();
        let (mut low, mut high) = (Buffer::zeros(count * width), Buffer::zeros(count * width));
        for (n, reaches) in reaches.columns().enumerate() {
            for &Entry { row, value } in reaches {
                let at = n * width + row as usize;
                (low[at], high[at]) = (value.min(0.0), value.max(0.0));
            }
        }
        Reaches::Rows { low, high }
    }
}

/// A neuron with its reaches.
///
/// The slop is what it can be beyond its half, by the neuron's own error. By the roundings of what is found, what is spread
/// may differ from the half: that far the line's constant is wrong, and where it falls short the line too, twice as far. What
/// each input takes may exceed its reach by a few roundings, or underflows; an input out of reach takes exactly nothing.
/// Reaches fall short of the half by rounding at most.
fn neuron(
    compact: &Compact,
    stage: usize,
    index: usize,
    weights: &[Entry],
    is_sparse: bool,
) -> (Neuron, Need, Vec<Entry>) {
    let made = &compact.stages[stage];
    let (mut least, mut size, mut total) = (0.0, 0.0, 0.0);
    let mut reaches = Vec::with_capacity(weights.len());
    for &Entry { row, value } in weights {
        let term = f64::from(value) * f64::from(compact.centre[row as usize]);
        let part = f64::from(value) * f64::from(compact.radius[row as usize]);
        (least, size, total) = (least - term - part.abs(), size + term.abs() + part.abs(), total + part.abs());
        if part as f32 != 0.0 {
            reaches.push(Entry { row, value: part as f32 });
        }
    }
    // The least of −z, rounded down, is the most of z, rounded up.
    let mut negated = Sum::new(-f64::from(made.bias[index]), 0.0);
    negated.add(least, size, 2 * weights.len());
    let half = above((-negated.lower() / 2.0).max(0.0));
    let need = Need { half, total: total as f32 };
    let (half, total) = (f64::from(need.half), f64::from(need.total));
    let sums = if is_sparse { patches::roundings(weights.len()) } else { roundings(compact.inputs()) };
    let rounding = EPSILON_32 * (4.0 * sums as f64 * half + 32.0 * total) + underflow_error_32(8 * weights.len(), 1.0);
    let error = f64::from(made.slop[index]) + rounding + 2.0 * (half - total).max(0.0);
    (Neuron { stage, index, half, total, error }, need, reaches)
}

/// A batch of rows over the box, on its way to the corners where they are least.
pub struct Rows<'b> {
    pub stages: &'b mut [Buffers],
    /// Coefficients of the inputs, a row each. They are used up.
    pub a: &'b mut [f32],
    /// Out: the corners.
    pub x: &'b mut [f32],
    pub sums: &'b mut [Sum],
}

impl Rows<'_> {
    /// Minimises each row over the box, and keeps where. For each neuron that was spread the buffers of its stage are told its
    /// loss and, as its lift, its line's value.
    pub fn minimise(&mut self, compact: &Compact, room: &mut Room) {
        let (hull, width) = (&compact.hull, compact.inputs());
        let mut sizes = [0.0; ROWS];
        for (slot, sum) in self.sums.iter_mut().enumerate() {
            let a = &mut self.a[slot * width..(slot + 1) * width];
            sizes[slot] = dispatch(Centre { input: compact.input(), a, sum });
        }
        match &hull.reaches {
            Reaches::Rows { low, high } => {
                let sides = Sides { width, low, high, needs: &hull.needs };
                (0..self.sums.len()).for_each(|slot| self.spread_row(compact, slot, sides, sizes[slot], room));
            }
            Reaches::Patches(reaches) => {
                let patches = Patches { reaches: reaches.as_columns(), needs: &hull.needs };
                for first in (0..self.sums.len()).step_by(PANEL) {
                    self.spread_panel(compact, first, patches, &sizes, room);
                }
            }
        }
        for (slot, sum) in self.sums.iter_mut().enumerate() {
            let row = slot * width..(slot + 1) * width;
            dispatch(Least { input: compact.input(), pull: &self.a[row.clone()], x: &mut self.x[row], sum });
        }
    }

    fn spread_row(&mut self, compact: &Compact, slot: usize, sides: Sides, size: f64, room: &mut Room) {
        let mut count = 0;
        for (neuron, times) in self.times(compact, slot).enumerate() {
            room.turns[count] = Turn { neuron, times, ..Turn::default() };
            count += usize::from(times > 0.0);
        }
        let turns = &mut room.turns[..count];
        spread(sides, turns, &mut self.a[slot * sides.width..(slot + 1) * sides.width]);
        self.settle(compact, slot, size, turns.iter().copied());
    }

    /// A panel of rows together, from the given one on.
    fn spread_panel(&mut self, compact: &Compact, first: usize, patches: Patches, sizes: &[f64], room: &mut Room) {
        let width = compact.inputs();
        let rows = first..(first + PANEL).min(self.sums.len());
        room.together.iter_mut().for_each(|turns| turns.times = ZERO);
        for slot in rows.clone() {
            let turns = self.times(compact, slot).zip(&mut room.together);
            turns.for_each(|(times, turns)| turns.times.0[slot - first] = times);
        }
        let pulls = &mut self.a[rows.start * width..rows.end * width];
        patches.spread(&mut room.together, pulls, room.lanes.lanes(width));
        for slot in rows {
            let turn = |(neuron, turns): (usize, &Turns)| {
                let [times, found, line] = [turns.times, turns.found, turns.line].map(|lanes| lanes.0[slot - first]);
                Turn { neuron, times, found, line }
            };
            let turns = room.together.iter().enumerate().map(turn).filter(|turn| turn.times > 0.0);
            self.settle(compact, slot, sizes[slot], turns);
        }
    }

    /// How many times each neuron counts in a row: −μ where it is to be spread, else 0. If μ is NaN the sum already is, so
    /// skipping it is safe.
    fn times<'t>(&'t self, compact: &'t Compact, slot: usize) -> impl Iterator<Item = f32> + 't {
        compact.hull.neurons.iter().map(move |&Neuron { stage, index, .. }| {
            let at = slot * compact.stages[stage].width + index;
            let times = -self.stages[stage].mu[at];
            if times > 0.0 && self.stages[stage].cost[at] > 0.0 { times } else { 0.0 }
        })
    }

    /// What the turns of a row cost, whose pulls were this large before.
    fn settle(&mut self, compact: &Compact, slot: usize, mut size: f64, turns: impl Iterator<Item = Turn>) {
        let (hull, width) = (&compact.hull, compact.inputs());
        let (mut count, mut needs, mut error) = (0, 0.0, 0.0);
        for turn in turns {
            let neuron = &hull.neurons[turn.neuron];
            let (times, found) = (f64::from(turn.times), f64::from(turn.found));
            count += 1;
            needs += times * neuron.half;
            // A product with `times` that underflows is off by less than a rounding of the least normal number.
            error += (times + f64::from(f32::MIN_POSITIVE)) * neuron.error;
            size += times * neuron.total;
            // Of an infinite sum nothing was taken.
            error += if found == f64::INFINITY { f64::INFINITY } else { 0.0 };
            let lacking = (neuron.half - found).max(0.0);
            let at = slot * compact.stages[neuron.stage].width + neuron.index;
            let buffers = &mut self.stages[neuron.stage];
            (buffers.loss[at], buffers.lift[at]) = ((2.0 * times * lacking) as f32, turn.line);
        }
        let sum = &mut self.sums[slot];
        sum.add(-needs, needs, count);
        // Every subtraction from a pull is rounded once, and what is subtracted twice.
        let subtractions = count.min(hull.most);
        let underflow = (subtractions as f64 + 4.0) * underflow_error_32(2 * width, 1.0);
        sum.charge(error + sum_error_32(subtractions, size) + underflow, 2 * count + 4);
    }
}
