//! Undecided neurons that read nothing but the box of inputs, bounded by lines over the inputs instead of chords.
//!
//! Let x = centre + radius·t with t in [−1, 1]ⁿ and z ≤ z₀ + Σ c_i·t_i ≤ u. For any σ with 0 ≤ σ_i/c_i ≤ 1 and Σ|σ_i| ≥ u/2
//! max(z, 0) ≤ Σ (|σ_i| + σ_i·t_i): at a corner the right side is 2Σ|σ_i| less 2|σ_i| for each t_i that lowers z, which is at
//! least u less 2|c_i| for each of those, and no term is negative; between corners the left side is convex. If Σ|σ_i| falls
//! short of u/2 by δ, so does the line, by 2δ at most.
//!
//! A neuron that counts −μ > 0 times is replaced by its line times μ. The line changes the pull of each input, its coefficient
//! times the radius, and costs −μ·Σ|σ_i|. A neuron takes first what makes pulls shorter, since that costs nothing, then the
//! same part of all that is left; those that can be largest take first. Which σ is taken is a choice, and any is sound.

use crate::fixed::Row;
use crate::{Bounder, Refused, Region, Rule, Start, Total, bits, shift_down};

/// A neuron of a stage that counts so many times, more than 0, in units of 2^−exponent.
pub struct Turn {
    pub stage: usize,
    pub j: usize,
    pub times: i64,
    pub exponent: i32,
}

/// How far neurons reach, for one box.
pub struct Hull {
    centre: Vec<i64>,
    radius: Vec<i64>,
    /// The sides of all hidden neurons by intervals.
    sides: Vec<[i64; 2]>,
    /// The least of −z of those that read inputs alone, without what they may be off by, for the order.
    least: Vec<i128>,
}

/// The unit of pulls: 2^−60.
const PULL: i32 = 60;
/// Bits that are cut off a reach, which is a product of 97 bits, so that its own product has room.
const CUT: i32 = 30;
/// Bits of a part.
const PART: u32 = 32;

impl Hull {
    /// Of a region that intervals alone have bounded.
    pub fn new(region: &Region, bounder: &mut Bounder) -> Result<Hull, Refused> {
        let mut exact = region.clone();
        exact.off.fill(0);
        let least = region.net.hidden().map(|(stage, j, _)| match region.net.layers[stage].reads_inputs_alone {
            true => bounder.bound(&exact, &Start::side(stage, j, 1), Rule::Interval),
            false => Ok(0),
        });
        let ends = || region.cube.lower.iter().zip(&region.cube.upper);
        let centre: Vec<i64> = ends().map(|(l, u)| l + (u - l) / 2).collect();
        let radius = centre.iter().zip(ends()).map(|(c, (l, u))| (u - c).max(c - l)).collect();
        Ok(Hull { centre, radius, sides: region.sides.clone(), least: least.collect::<Result<_, _>>()? })
    }

    /// The least over the box of coefficients a of the inputs, in units of 2^−exponent, with the neurons spread.
    pub fn spread(&self, region: &Region, (a, exponent): (&[i128], i32), turns: &mut [Turn]) -> Result<Total, Refused> {
        let (mut total, own) = (Total::default(), exponent + region.cube.grid);
        let neuron = |turn: &Turn| region.net.first(turn.stage) + turn.j;
        let product = |of: &[i64]| a.iter().zip(of).map(|(a, &c)| a * i128::from(c)).collect::<Vec<_>>();
        total.add(product(&self.centre).iter().sum(), own)?;
        turns.sort_by_key(|turn| (self.least[neuron(turn)], neuron(turn)));
        let down = |value: i128, from: i32| pull(value, PULL - from).ok_or_else(Refused::overflow);
        let pulls = product(&self.radius).into_iter().map(|pull| down(pull, own));
        let mut pulls = pulls.collect::<Result<Vec<_>, _>>()?;
        // Every pull was rounded by less than a unit.
        let mut cost = pulls.len() as i128;
        for turn in &*turns {
            let (layer, times) = (&region.net.layers[turn.stage], i128::from(turn.times));
            let from = turn.exponent + region.grids[turn.stage + 1] + 1;
            let need = -down((times * i128::from(self.sides[neuron(turn)][1])).min(0), from)?;
            let by = PULL - turn.exponent - layer.scale - region.cube.grid + CUT;
            cost += self.take(&layer.rows[turn.j], (times, by), need, &mut pulls).ok_or_else(Refused::overflow)?;
        }
        cost += pulls.iter().map(|pull| pull.abs()).sum::<i128>();
        total.add(-cost, PULL)?;
        Ok(total)
    }

    /// Takes what a neuron needs of the pulls, a unit of which is `by` bits finer than one of times a cut reach; returns what
    /// that costs.
    fn take(&self, row: &Row, (times, by): (i128, i32), need: i128, pulls: &mut [i128]) -> Option<i128> {
        let terms = || row.parts.iter().flat_map(|part| &part.terms);
        let (mut found, mut all, mut caps) = (0, 0, vec![]);
        for &(input, weight) in terms() {
            let reach = (i128::from(weight.abs()) * i128::from(self.radius[input as usize])) >> CUT;
            let (cap, pull) = (pull(times * reach, by)?, pulls[input as usize]);
            let free = (pull * i128::from(weight.signum())).clamp(0, cap);
            (found, all) = (found + free, all + cap);
            caps.push((cap, free));
        }
        let is_enough = found >= need;
        let (wanted, there) = if is_enough { (need, found) } else { (need - found, all - found) };
        let part = if there > 0 { ((wanted << PART) / there + 1).min(1 << PART) } else { 0 };
        let mut taken = 0;
        for (&(input, weight), (cap, free)) in terms().zip(caps) {
            let share = |of: i128| (((of * part) >> PART) + 1).min(of);
            let takes = if is_enough { share(free) } else { free + share(cap - free) };
            taken += takes;
            pulls[input as usize] -= takes * i128::from(weight.signum());
        }
        Some(taken + 2 * (need - taken).max(0))
    }
}

/// ⌊value·2^by⌋ of at most 90 bits, so that a part of it has room.
fn pull(value: i128, by: i32) -> Option<i128> {
    shift_down(value, by).filter(|pull| bits(*pull) <= 90)
}
