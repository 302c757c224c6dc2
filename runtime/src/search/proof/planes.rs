//! Half-spaces of a narrow layer: what two of its neurons can be together.
//!
//! Each neuron's bounds are reached, but hardly ever all at once. For sums and differences of two, scaled to how far each ranges, the
//! least value is bounded like a neuron's own. Boxes of the layer's activations are then clipped to what these allow.

use super::claim::{Claim, prove};
use super::region::Region;
use crate::bounds::{Bounded, Bounds, Compact, Objective32, Side};
use crate::certificate::{Half, PlaneSet};
use crate::report::Activity;
use crate::search::guide::attack::{Found, attack};
use crate::search::{End, Search};
use pg_core::rounding::{EPSILON, TINY};

/// `Σ coefficient·z ≥ least` for two live neurons of a stage, by their place among them.
#[derive(Clone, Debug)]
pub struct Plane {
    terms: [(usize, f64); 2],
    least: f64,
}

/// Half-spaces of a stage, and the number of them all for a certificate.
pub struct Planes {
    pub all: Vec<Plane>,
    pub set: Option<PlaneSet>,
}

/// The sum of a side and so many times another, of another neuron.
pub struct Pair {
    first: usize,
    scale: f32,
    second: usize,
    pub row: Objective32,
}

/// How much farther one neuron may range than another to be summed up with it.
const SCALES: std::ops::RangeInclusive<f32> = 1.0 / 256.0..=256.0;

/// Sums and differences of two neurons: of rows for both sides of each, in turn, and where they were seen lowest.
pub fn pairs(compact: &Compact, bounds: &Bounds, rows: &[Objective32], found: &[Found]) -> Vec<Pair> {
    let width = |neuron: usize| -found[2 * neuron].value - found[2 * neuron + 1].value;
    let mut pairs = Vec::new();
    for second in 2..rows.len() {
        for first in 0..second / 2 * 2 {
            let scale = width(first / 2) / width(second / 2);
            let is_hidden = rows[first].x.is_none() && rows[second].x.is_none();
            if SCALES.contains(&scale) && is_hidden {
                let row = compact.sum_row(&rows[first], scale, &rows[second], bounds);
                pairs.push(Pair { first, scale, second, row });
            }
        }
    }
    pairs
}

impl<'a> Search<'a> {
    /// The half-spaces of every two live neurons of a stage, each with so many nodes.
    pub fn planes(&mut self, region: &Region<'a>, stage: usize, nodes: u64) -> Result<Planes, End> {
        self.control.enter(Activity::Refine);
        let compact = region.compact(stage);
        let sides: Vec<Side> = region.bounds.live(stage).flat_map(Side::both).collect();
        let rows = self.rows(&compact, &region.bounds, stage, &sides);
        let steps = self.tuning.refine.hard_attack_steps;
        let found = attack(&compact, &rows.iter().collect::<Vec<_>>(), steps, None, self.tuning.attack);
        let pairs = pairs(&compact, &region.bounds, &rows, &found);
        let sums: Vec<&Objective32> = pairs.iter().map(|pair| &pair.row).collect();
        let seen = attack(&compact, &sums, steps, None, self.tuning.attack);
        let roots = self.raise(&compact, &sums, self.tuning.refine.at_root);
        let claim = |((row, root), seen): (_, Found)| Claim {
            row: Bounded::Row(row),
            target: self.near(seen.value),
            root,
            part_of: None,
        };
        let claims: Vec<Claim> = sums.iter().copied().zip(roots).zip(seen).map(claim).collect();
        let answers = prove(&compact, &claims, self.effort(stage, nodes, false), self.control);
        self.counters.neuron_nodes += answers.iter().map(|answer| answer.nodes).sum::<u64>();
        self.go_on()?;
        let (mut all, set) = (vec![], self.plane_set());
        for (pair, answer) in pairs.iter().zip(&answers) {
            let half = pair.half(&sides, answer.bound);
            if self.note_plane(region, set, (stage, &compact), &half, answer) {
                all.push(pair.plane(&sides, answer.bound));
            }
        }
        Ok(Planes { all, set })
    }
}

impl Pair {
    fn plane(&self, sides: &[Side], least: f32) -> Plane {
        let sign = |side: usize| f64::from(sides[side].sign);
        let second = sign(self.second) * f64::from(self.scale);
        Plane { terms: [(self.first / 2, sign(self.first)), (self.second / 2, second)], least: least.into() }
    }

    /// The same for a certificate.
    fn half(&self, sides: &[Side], value: f32) -> Half {
        Half { sides: [self.first, self.second].map(|side| sides[side].number()), scale: self.scale, value }
    }
}

impl Plane {
    /// Clips a box of activations, of neurons with the given lower bounds, to what may satisfy the half-space; false if nothing does.
    ///
    /// An activation above 0 is the neuron's z; one of 0 may be any z from its lower bound on. What one neuron leaves to the other
    /// is rounded outward, and clips nothing if it is not a number, as for a coefficient of 0.
    pub fn clip(&self, lowest: &[f64], lower: &mut [f64], upper: &mut [f64]) -> bool {
        for [(one, c), (other, d)] in [self.terms, [self.terms[1], self.terms[0]]] {
            let least_z = if lower[other] > 0.0 { lower[other] } else { lowest[other] };
            let most = if d > 0.0 { d * upper[other] } else { d * least_z };
            let limit = (self.least - most) / c;
            // A product that underflows is off by less than the least number, and so is the quotient itself.
            let slack = (8.0 * EPSILON * (self.least.abs() + most.abs()) + 2.0 * TINY) / c.abs() * 2.0 + 4.0 * TINY;
            if c > 0.0 && limit - slack > lower[one] {
                // z ≥ limit.
                lower[one] = limit - slack;
            } else if c < 0.0 && limit + slack < upper[one] {
                // z ≤ limit: below 0 the activation is 0.
                upper[one] = (limit + slack).max(0.0);
            }
            if lower[one] > upper[one] {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::guide::random::Random;

    #[test]
    fn boxes_are_clipped_to_the_half_space() {
        let clip = |terms, least, lowest: [f64; 2], mut lower: [f64; 2], mut upper: [f64; 2]| {
            let plane = Plane { terms, least };
            plane.clip(&lowest, &mut lower, &mut upper).then_some((lower, upper))
        };
        let near = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6);
        let upper_limit = [(0, -1.0), (1, -2.0)];
        let (lower, upper) = clip(upper_limit, -10.0, [1.0, 1.0], [1.0, 1.0], [9.0, 9.0]).expect("not empty");
        assert!(near(lower, [1.0, 1.0]) && near(upper, [8.0, 4.5]), "{lower:?} {upper:?}");
        assert_eq!(clip(upper_limit, -10.0, [6.0, 3.0], [6.0, 3.0], [9.0, 9.0]), None);
        let (_, upper) = clip(upper_limit, -10.0, [-4.0, -1.0], [0.0, 0.0], [9.0, 9.0]).expect("not empty");
        assert!(near(upper, [9.0, 7.0]), "what is off may be far below: {upper:?}");
        let (lower, _) = clip([(0, 1.0), (1, 1.0)], 12.0, [-4.0, -1.0], [0.0, 0.0], [9.0, 9.0]).expect("not empty");
        assert!(near(lower, [3.0, 3.0]), "{lower:?}");
    }

    #[test]
    fn what_is_no_number_clips_nothing() {
        let (lower, upper) = ([0.0, 0.5], [3.0, 4.0]);
        for c in [0.0, -0.0, f64::MIN_POSITIVE, -f64::MIN_POSITIVE] {
            for (least, lowest) in
                [(-20.0, [-9.0, 0.5]), (f64::NEG_INFINITY, [-9.0, 0.5]), (-20.0, [f64::NEG_INFINITY; 2])]
            {
                for d in [1.0, -1.0] {
                    let plane = Plane { terms: [(0, d), (1, c)], least };
                    let (mut low, mut high) = (lower, upper);
                    assert!(plane.clip(&lowest, &mut low, &mut high));
                    assert_eq!((low, high), (lower, upper), "{plane:?}");
                }
            }
        }
    }

    /// Of random boxes and half-spaces: what satisfies both is in the clipped box.
    #[test]
    fn nothing_that_is_allowed_is_clipped() {
        let mut random = Random::new(1);
        let mut allowed = 0;
        for _ in 0..2_000 {
            let mut number = || 8.0 * random.unit() - 4.0;
            let plane = Plane { terms: [(0, number()), (1, number())], least: 2.0 * number() };
            let (a, b) = ([number(), number()], [number(), number()]);
            let (lowest, highest) = ([a[0].min(b[0]), a[1].min(b[1])], [a[0].max(b[0]), a[1].max(b[1])]);
            let (mut lower, mut upper) = (lowest.map(|z| z.max(0.0)), highest.map(|z| z.max(0.0)));
            let is_left = plane.clip(&lowest, &mut lower, &mut upper);
            for _ in 0..20 {
                let z = [0, 1].map(|i: usize| lowest[i] + random.unit() * (highest[i] - lowest[i]));
                if plane.terms.iter().map(|&(i, c)| c * z[i]).sum::<f64>() >= plane.least {
                    allowed += 1;
                    let inside = |i: usize| lower[i] <= z[i].max(0.0) && z[i].max(0.0) <= upper[i];
                    assert!(is_left && inside(0) && inside(1), "{plane:?} {z:?} {lower:?} {upper:?}");
                }
            }
        }
        assert!(allowed > 1_000, "{allowed}");
    }
}
