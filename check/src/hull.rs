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

use crate::fixed::shift_down;
use crate::region::{Region, Total};
use crate::{Refused, refused};

/// A neuron that counts so many times, in units of 2^−exponent.
pub struct Turn {
    pub neuron: usize,
    pub times: i64,
    pub exponent: i32,
}

/// How far neurons reach, for one box.
pub struct Hull {
    /// By stage.
    spread: Vec<bool>,
    /// By hidden neuron, of those that may be spread: its place in the order, largest first.
    order: Vec<Option<u32>>,
    neurons: Vec<Neuron>,
    /// The unit of reaches and needs is 2^−exponent.
    exponent: i32,
    centre: Vec<i64>,
    radius: Vec<i64>,
}

struct Neuron {
    /// |c_i| of the inputs that it reads, rounded down, with their numbers and whether c_i is negative.
    reaches: Vec<(u32, bool, i64)>,
    total: i64,
    /// u/2, rounded up.
    half: i64,
}

/// Bits of reaches together.
const REACH_BITS: u32 = 58;
/// Bits of pulls before anything is taken.
const PULL_BITS: i32 = 56;
/// Bits of a part.
const PART: u32 = 32;

impl Hull {
    /// No neuron is spread.
    pub fn none(stages: usize) -> Hull {
        let (order, neurons, centre, radius) = (vec![], vec![], vec![], vec![]);
        Hull { spread: vec![false; stages], order, neurons, exponent: 0, centre, radius }
    }

    /// Of the undecided neurons of the stages that read inputs alone.
    pub fn new(region: &Region) -> Result<Hull, Refused> {
        let (net, cube) = (region.net, &region.cube);
        let mut hull = Hull::none(net.last());
        for (&l, &u) in cube.lower.iter().zip(&cube.upper) {
            let centre = l + (u - l) / 2;
            hull.centre.push(centre);
            hull.radius.push((u - centre).max(centre - l));
        }
        let mut found: Vec<(usize, Neuron, i32)> = Vec::new();
        for stage in 0..net.last() {
            hull.spread[stage] = net.layers[stage].reads_inputs_alone();
            for j in 0..net.layers[stage].width() {
                let neuron = net.starts[stage] - net.inputs + j;
                let (l, u) = region.of(neuron);
                if hull.spread[stage] && l < 0 && u > 0 {
                    let (made, exponent) = hull.neuron(region, stage, j)?;
                    found.push((neuron, made, exponent));
                }
            }
        }
        hull.exponent = found.iter().map(|(.., exponent)| *exponent).min().unwrap_or(0);
        for (_, made, exponent) in &mut found {
            made.coarsen(*exponent - hull.exponent);
        }
        found.sort_by_key(|(neuron, made, _)| (std::cmp::Reverse(made.half), *neuron));
        hull.order = vec![None; net.hidden()];
        for (place, (neuron, made, _)) in found.into_iter().enumerate() {
            hull.order[neuron] = Some(place as u32);
            hull.neurons.push(made);
        }
        Ok(hull)
    }

    /// Whether the undecided neurons of a stage are spread.
    pub fn spreads(&self, stage: usize) -> bool {
        self.spread[stage]
    }

    /// A neuron's reaches and half of what it can be, and the exponent of their unit.
    fn neuron(&self, region: &Region, stage: usize, j: usize) -> Result<(Neuron, i32), Refused> {
        let layer = &region.net.layers[stage];
        let (columns, weights) = layer.row(j);
        let (mut most, mut total, mut size) = (0i128, 0i128, 0i128);
        for (&column, &weight) in columns.iter().zip(weights) {
            let (centre, radius) = (self.centre[column as usize], self.radius[column as usize]);
            let reach = i128::from(weight.abs()) * i128::from(radius);
            most += i128::from(weight) * i128::from(centre) + reach;
            total += reach;
            size += i128::from(centre.abs()) + i128::from(radius);
        }
        most += i128::from(layer.error[j]) * size;
        let exponent = layer.scale + region.cube.grid;
        let bias = shift_down(-i128::from(layer.bias[j].1), exponent - layer.bias_scale);
        most -= bias.ok_or_else(|| refused("a bias is too large"))?;
        let largest = total.unsigned_abs().max(most.unsigned_abs());
        let excess = (128 - largest.leading_zeros()).saturating_sub(REACH_BITS);
        let reaches = columns.iter().zip(weights).map(|(&column, &weight)| {
            let reach = (i128::from(weight.abs()) * i128::from(self.radius[column as usize])) >> excess;
            (column, weight < 0, reach as i64)
        });
        let reaches: Vec<(u32, bool, i64)> = reaches.filter(|&(.., reach)| reach > 0).collect();
        // u/2 is the least integer that is not below it.
        let half = (-((-most) >> (excess + 1))).max(0) as i64;
        let total = reaches.iter().map(|&(.., reach)| reach).sum();
        Ok((Neuron { reaches, total, half }, exponent - excess as i32))
    }

    /// The least over the box of coefficients a of the inputs, in units of 2^−exponent, with the neurons spread: added to the
    /// total.
    pub fn spread(
        &self,
        region: &Region,
        a: &[i64],
        exponent: i32,
        mut turns: Vec<Turn>,
        total: &mut Total,
    ) -> Result<(), Refused> {
        let too_large = || refused("a pull is too large");
        let own = exponent + region.cube.grid;
        let centre = a.iter().zip(&self.centre).map(|(&a, &c)| i128::from(a) * i128::from(c)).sum();
        total.add(centre, own)?;
        let wide: Vec<i128> = a.iter().zip(&self.radius).map(|(&a, &r)| i128::from(a) * i128::from(r)).collect();
        turns.retain(|turn| turn.times > 0);
        let place = |turn: &Turn| self.order[turn.neuron].ok_or_else(|| refused("a neuron is not undecided"));
        let mut placed = Vec::with_capacity(turns.len());
        for turn in turns {
            placed.push((place(&turn)?, turn));
        }
        placed.sort_by_key(|(place, _)| *place);
        let bits = |value: i128, exponent: i32| 128 - value.unsigned_abs().leading_zeros() as i32 - exponent;
        let mut most = wide.iter().map(|&pull| bits(pull, own)).max().unwrap_or(0);
        for (place, turn) in &placed {
            let neuron = &self.neurons[*place as usize];
            let reach = i128::from(turn.times) * i128::from(neuron.total.max(neuron.half));
            most = most.max(bits(reach, turn.exponent + self.exponent));
        }
        let unit = PULL_BITS - most;
        let mut pulls = Vec::with_capacity(wide.len());
        for pull in wide {
            pulls.push(shift_down(pull, unit - own).ok_or_else(too_large)? as i64);
        }
        // Every pull was rounded by less than a unit.
        let mut cost = pulls.len() as i128;
        for (place, turn) in placed {
            let by = unit - turn.exponent - self.exponent;
            cost += self.neurons[place as usize].take(turn.times, by, &mut pulls).ok_or_else(too_large)?;
        }
        cost += pulls.iter().map(|pull| i128::from(pull.abs())).sum::<i128>();
        total.add(-cost, unit)
    }
}

impl Neuron {
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
