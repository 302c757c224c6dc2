//! Undecided neurons that read nothing but the box of inputs, bounded by lines over the inputs instead of chords.
//!
//! Let x = centre + radius·t with t in [−1, 1]ⁿ and z = z₀ + Σ c_i·t_i ≤ u. For any σ with 0 ≤ σ_i/c_i ≤ 1 and Σ|σ_i| ≥ u/2
//! max(z, 0) ≤ Σ (|σ_i| + σ_i·t_i): at a corner the right side is 2Σ|σ_i| less 2|σ_i| for each t_i that lowers z, which is at
//! least u less 2|c_i| for each of those, and no term is negative; between corners the left side is convex. If Σ|σ_i| falls
//! short of u/2 by δ, so does the line, by 2δ at most.
//!
//! A neuron that counts −μ > 0 times is replaced by its line times μ. The line changes the pull of each input, its coefficient
//! times the radius, and costs −μ·Σ|σ_i|. A neuron takes first what makes pulls shorter, since that costs nothing, then the
//! same part of all that is left; those that can be largest take first. Which σ is taken is a choice, and any is sound.

use crate::number::{bits, shift_down};
use crate::region::{Region, Total, UNIT};
use crate::{Refused, refused};

/// A neuron, by its place in the order, that counts so many times, more than 0, in units of 2^−exponent.
pub struct Turn {
    place: usize,
    times: i64,
    exponent: i32,
}

/// How far neurons reach, for one box.
pub struct Hull {
    /// Whether the undecided neurons of a stage are spread.
    pub spread: Vec<bool>,
    /// By hidden neuron, of those that may be spread: its place in the order, largest first.
    order: Vec<Option<usize>>,
    neurons: Vec<Neuron>,
    /// The unit of reaches and needs is 2^−exponent.
    exponent: i32,
    /// The unit of the box is 2^−grid.
    grid: i32,
    centre: Vec<i64>,
    radius: Vec<i64>,
}

struct Neuron {
    /// |c_i| of the inputs that it reads, rounded down, with their numbers and whether c_i is negative.
    reaches: Vec<(u32, bool, i64)>,
    /// Of all reaches.
    total: i64,
    /// u/2, rounded up.
    half: i64,
    /// What z may exceed its row by, and so the line, in units of 2^−80.
    off: i128,
}

/// Bits of reaches together.
const REACH_BITS: u32 = 58;
/// Bits of pulls before anything is taken.
const PULL_BITS: i32 = 56;
/// Bits of a part.
const PART: u32 = 32;

impl Hull {
    /// Of the stages that read inputs alone.
    pub fn new(region: &Region) -> Result<Hull, Refused> {
        let (net, cube) = (region.net, &region.cube);
        let spread = (0..net.last()).map(|stage| net.layers[stage].reads_inputs_alone()).collect();
        let (order, neurons, centre, radius) = (vec![None; net.first(net.last())], vec![], vec![], vec![]);
        let mut hull = Hull { spread, order, neurons, exponent: 0, grid: cube.grid, centre, radius };
        for (&l, &u) in cube.lower.iter().zip(&cube.upper) {
            let centre = l + (u - l) / 2;
            hull.centre.push(centre);
            hull.radius.push((u - centre).max(centre - l));
        }
        let mut found: Vec<(usize, Neuron, i32)> = Vec::new();
        for (stage, j, neuron) in net.hidden() {
            // One that is decided may have a looser bound later.
            if hull.spread[stage] {
                let (made, exponent) = hull.neuron(region, stage, j)?;
                found.push((neuron, made, exponent));
            }
        }
        hull.exponent = found.iter().map(|(.., exponent)| *exponent).min().unwrap_or(0);
        for (_, made, exponent) in &mut found {
            made.coarsen(*exponent - hull.exponent);
        }
        found.sort_by_key(|(neuron, made, _)| (std::cmp::Reverse(made.half), *neuron));
        for (place, (neuron, made, _)) in found.into_iter().enumerate() {
            hull.order[neuron] = Some(place);
            hull.neurons.push(made);
        }
        Ok(hull)
    }

    /// A neuron that counts so many times.
    pub fn turn(&self, neuron: usize, times: i64, exponent: i32) -> Result<Turn, Refused> {
        let place = self.order[neuron].ok_or_else(|| refused("a neuron that reads more than inputs is spread"))?;
        Ok(Turn { place, times, exponent })
    }

    /// A neuron's reaches and half of what it can be, and the exponent of their unit.
    fn neuron(&self, region: &Region, stage: usize, j: usize) -> Result<(Neuron, i32), Refused> {
        let (layer, row) = (&region.net.layers[stage], &region.net.layers[stage].rows[j]);
        let (mut most, mut total) = (0i128, 0i128);
        for &(column, weight) in row.terms() {
            let (centre, radius) = (self.centre[column as usize], self.radius[column as usize]);
            let reach = i128::from(weight.abs()) * i128::from(radius);
            most += i128::from(weight) * i128::from(centre) + reach;
            total += reach;
        }
        let exponent = layer.scale + self.grid;
        let bias = shift_down(-i128::from(row.bias.1), exponent - layer.bias_scale);
        most -= bias.ok_or_else(Refused::overflow)?;
        let excess = bits(total).max(bits(most)).saturating_sub(REACH_BITS);
        let reaches = row.terms().map(|&(column, weight)| {
            let reach = (i128::from(weight.abs()) * i128::from(self.radius[column as usize])) >> excess;
            (column, weight < 0, reach as i64)
        });
        let reaches = reaches.collect();
        // u/2 is the least integer that is not below it.
        let half = (-((-most) >> (excess + 1))).max(0) as i64;
        let off = region.off[region.net.first(stage) + j];
        Ok((Neuron { reaches, total: 0, half, off }, exponent - excess as i32))
    }

    /// The least over the box of coefficients a of the inputs, in units of 2^−exponent, with the neurons spread: added to the
    /// total.
    pub fn spread(&self, a: &[i64], exponent: i32, turns: &mut [Turn], total: &mut Total) -> Result<(), Refused> {
        let own = exponent + self.grid;
        let centre = a.iter().zip(&self.centre).map(|(&a, &c)| i128::from(a) * i128::from(c)).sum();
        total.add(centre, own)?;
        let wide: Vec<i128> = a.iter().zip(&self.radius).map(|(&a, &r)| i128::from(a) * i128::from(r)).collect();
        turns.sort_by_key(|turn| turn.place);
        let mut most = wide.iter().map(|&pull| bits(pull) as i32 - own).max().unwrap_or(0);
        for turn in &*turns {
            let neuron = &self.neurons[turn.place];
            let reach = i128::from(turn.times) * i128::from(neuron.total.max(neuron.half));
            most = most.max(bits(reach) as i32 - turn.exponent - self.exponent);
        }
        let unit = PULL_BITS - most;
        let mut pulls = Vec::with_capacity(wide.len());
        for pull in wide {
            pulls.push(shift_down(pull, unit - own).ok_or_else(Refused::overflow)? as i64);
        }
        // Every pull was rounded by less than a unit.
        let mut cost = pulls.len() as i128;
        for turn in turns {
            let (neuron, by) = (&self.neurons[turn.place], unit - turn.exponent - self.exponent);
            cost += neuron.take(turn.times, by, &mut pulls).ok_or_else(Refused::overflow)?;
            total.take(turn.times.into(), neuron.off, turn.exponent + UNIT)?;
        }
        cost += pulls.iter().map(|pull| i128::from(pull.abs())).sum::<i128>();
        total.add(-cost, unit)
    }
}

impl Neuron {
    /// Brings it to a unit that is so many bits larger, and adds up its reaches.
    fn coarsen(&mut self, by: i32) {
        let by = by.clamp(0, 63);
        self.reaches.iter_mut().for_each(|(.., reach)| *reach >>= by);
        self.reaches.retain(|&(.., reach)| reach > 0);
        self.total = self.reaches.iter().map(|&(.., reach)| reach).sum();
        self.half = -((-self.half) >> by);
    }

    /// Takes what it needs of the pulls, `by` bits finer than times the reach; returns what that costs, in units of pulls.
    fn take(&self, times: i64, by: i32, pulls: &mut [i64]) -> Option<i128> {
        let cap = |reach: i64| shift_down(i128::from(times) * i128::from(reach), by).map(|cap| cap as i64);
        let need = -shift_down(-(i128::from(times) * i128::from(self.half)), by)?;
        let (mut found, mut all) = (0i128, 0i128);
        let mut caps = Vec::with_capacity(self.reaches.len());
        for &(input, is_negative, reach) in &self.reaches {
            let (cap, pull) = (cap(reach)?, pulls[input as usize]);
            let along = if is_negative { -pull } else { pull };
            let free = along.clamp(0, cap);
            found += i128::from(free);
            all += i128::from(cap);
            caps.push((cap, free));
        }
        let is_enough = found >= need;
        let (wanted, there) = if is_enough { (need, found) } else { (need - found, all - found) };
        let part = if there > 0 { ((wanted << PART) / there + 1).min(1 << PART) } else { 0 };
        let mut taken = 0i128;
        for (&(input, is_negative, _), (cap, free)) in self.reaches.iter().zip(caps) {
            let share = |of: i64| (((i128::from(of) * part) >> PART) as i64 + 1).min(of);
            let takes = if is_enough { share(free) } else { free + share(cap - free) };
            let takes = if need > 0 { takes } else { 0 };
            taken += i128::from(takes);
            let pull = &mut pulls[input as usize];
            *pull = pull.checked_sub(if is_negative { -takes } else { takes })?;
        }
        Some(taken + 2 * (need - taken).max(0))
    }
}
