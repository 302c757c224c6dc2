//! What rounding may cost: the one place that knows.
//!
//! Every operation is rounded to nearest, so that with u the unit roundoff and η half the least positive number
//!
//! ```text
//!     fl(a ∘ b) = (a ∘ b)·(1 + δ) + ε,     |δ| ≤ u,   |ε| ≤ η,
//! ```
//!
//! where ε is 0 for sums and differences, and for products unless they underflow. A sum of n computed terms, in any order,
//! fused or not, so differs from the exact one by at most about n·u times the sum of its terms' magnitudes and n·η. The
//! constants below are twice u and twice η: the other half is room for second-order terms and for the rounding of the error
//! bounds themselves, which holds while a sum has fewer than 2⁴⁰ terms (float64) or 2²² (float32). An overflow makes a sum
//! infinite or NaN, and neither is ever a bound.

use crate::kernel::PANEL;

/// Relative error of one float64 operation, with room.
pub const EPSILON: f64 = f64::EPSILON;
/// Absolute error of one float64 product that underflows, with room: the least positive number.
pub const TINY: f64 = f64::from_bits(1);
/// The same of float32. Here the relative room is in the counts.
pub const EPSILON_32: f64 = 1.001 / 16_777_216.0;
pub const TINY_32: f64 = 1.0 / (1u128 << 75) as f64 / (1u128 << 74) as f64;

/// A sum under way: what it came to, the magnitudes of its terms, the roundings it took, and what else it may be off by.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sum {
    value: f64,
    size: f64,
    error: f64,
    roundings: f64,
}

impl Sum {
    /// One number, known up to an error.
    pub fn new(value: f64, error: f64) -> Sum {
        Sum { value, size: value.abs(), error, roundings: 2.0 }
    }

    /// Adds what a loop in float64 has summed: its value, the sum of its terms' magnitudes, and their number. Each term may
    /// have taken three roundings of its own, relative to its magnitude, and one underflow.
    #[inline(always)]
    pub fn add(&mut self, value: f64, size: f64, terms: usize) {
        self.value += value;
        self.size += size;
        self.roundings += terms as f64 + 4.0;
    }

    /// Adds to what the sum may be off by: a number that took at most so many roundings, as many products among them.
    #[inline(always)]
    pub fn charge(&mut self, error: f64, roundings: usize) {
        self.error += error;
        self.roundings += roundings as f64 + 1.0;
    }

    /// Adds lanes that were summed in float32: values, magnitudes and errors, over so many terms in each lane. A term may
    /// have taken three roundings of its own, each of which may underflow.
    #[inline(always)]
    pub fn add_lanes(&mut self, value: &[f32; PANEL], size: &[f32; PANEL], error: &[f32; PANEL], terms: usize) {
        let roundings = lane_roundings(terms);
        let (mut v, mut s, mut e) = (0.0, 0.0, 0.0);
        for lane in 0..PANEL {
            v += f64::from(value[lane]);
            s += f64::from(size[lane]);
            e += f64::from(error[lane]);
        }
        self.add(v, s, PANEL);
        self.charge(roundings * s + e * (1.0 + roundings) + (4 * PANEL * terms) as f64 * TINY_32, PANEL);
    }

    /// An upper bound of the sum of magnitudes that were summed in lanes of float32, over so many terms in each.
    #[inline(always)]
    pub fn of_sizes(size: &[f32; PANEL], terms: usize) -> f64 {
        let sum: f64 = size.iter().map(|&size| f64::from(size)).sum();
        sum * (1.0 + lane_roundings(terms)) + (PANEL * terms) as f64 * TINY_32
    }

    /// A number that the exact sum is not below; −∞ if anything was infinite or NaN.
    #[inline]
    pub fn lower(&self) -> f64 {
        let relative = (self.roundings + 8.0) * EPSILON;
        let absolute = (self.roundings + 8.0) * TINY;
        let error = self.size * relative + self.error * (1.0 + relative) + absolute;
        let bound = (self.value - error).next_down();
        if bound.is_finite() { bound } else { f64::NEG_INFINITY }
    }

    /// The same in float32.
    #[inline]
    pub fn lower_32(&self) -> f32 {
        below(self.lower())
    }
}

/// What lanes of so many terms are off by, relative to their magnitudes: each lane took at most three roundings a term and
/// one an addition, and the magnitudes as many.
#[inline(always)]
fn lane_roundings(terms: usize) -> f64 {
    2.0 * (terms as f64 + 8.0) * EPSILON_32
}

/// What a sum of so many products may be off by, in float64 and in any order, if its terms' magnitudes sum up to this much
/// as computed; each product may underflow.
#[inline]
pub fn sum_error(terms: usize, size: f64) -> f64 {
    let count = terms as f64 + 4.0;
    count * EPSILON * size + count * TINY
}

/// The same for a sum in float32, but for underflow, which is charged from what the sum is multiplied with. The second factor
/// is for second-order terms: n·u/(1 − n·u) is at most n·u·(1 + 2·n·u) while n·u is at most a half.
#[inline]
pub fn sum_error_32(terms: usize, size: f64) -> f64 {
    let relative = (terms as f64 + 4.0) * EPSILON_32;
    relative * (1.0 + 2.0 * relative) * size
}

/// What the products of such a sum that underflow may cost, if the sum is multiplied with this much; in float64 and in float32.
#[inline]
pub fn underflow_error(terms: usize, times: f64) -> f64 {
    (terms as f64 + 4.0) * TINY * times
}

#[inline]
pub fn underflow_error_32(terms: usize, times: f64) -> f64 {
    (terms as f64 + 4.0) * TINY_32 * times
}

/// What a float32 program may be off by where it sums up a bias and products, in any order, fused or not: `relative` times the
/// magnitudes of all of them, and `underflow`, unless it overflows.
///
/// With n products every term takes at most a rounding of its own and n additions, so that it is off by γ = (n+1)·u/(1 − (n+1)·u)
/// of its magnitude; a product that underflows is off by η, and by half as much again after the additions. A product with a
/// coefficient of 0 is exactly 0 and rounds nothing. `relative` exceeds γ by a thousandth, which leaves room for the roundings in
/// float64 of what it is multiplied with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roundoff {
    pub relative: f64,
    pub underflow: f64,
}

impl Roundoff {
    /// Of a sum of a bias and so many products. Of too many nothing is known.
    pub fn of_sum(products: usize) -> Roundoff {
        let is_known = (products as f64 + 4.0) * EPSILON_32 <= 0.25;
        let relative = if is_known { sum_error_32(products, 1.0) } else { f64::INFINITY };
        Roundoff { relative, underflow: underflow_error_32(products, 1.0) }
    }

    /// Whether nothing on the way of such a sum can overflow, if the magnitudes of its terms add up to this much: a partial sum is
    /// at most that, and its roundings.
    pub fn excludes_overflow(&self, size: f64) -> bool {
        size * (1.0 + self.relative) + self.underflow <= f64::from(f32::MAX)
    }
}

/// An upper bound of a number that is not negative and was computed in float64 with at most so many roundings, each relative
/// to it or an underflow.
#[inline]
pub fn at_most(value: f64, roundings: usize) -> f64 {
    let count = roundings as f64 + 4.0;
    value * (1.0 + count * EPSILON) + count * TINY
}

/// Whether the processor rounds as all of this assumes: to nearest, and without taking subnormal numbers for 0. A host
/// program may have set it otherwise.
pub fn is_as_assumed() -> bool {
    let half = core::hint::black_box(0.5);
    let is_gradual = core::hint::black_box(TINY) * half * 2.0 == 0.0
        && core::hint::black_box(f64::MIN_POSITIVE) * half > 0.0
        && core::hint::black_box(f32::MIN_POSITIVE) * half as f32 > 0.0
        && core::hint::black_box(f32::from_bits(1)) * 2.0 > 0.0;
    let one = core::hint::black_box(1.0);
    let is_nearest = one + 0.75 * f64::EPSILON == 1.0 + f64::EPSILON
        && one + 0.25 * f64::EPSILON == 1.0
        && -one - 0.75 * f64::EPSILON == -1.0 - f64::EPSILON
        && -one - 0.25 * f64::EPSILON == -1.0;
    is_gradual && is_nearest
}

/// The largest float32 that is not above; NaN stays NaN.
#[inline]
pub fn below(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) > value { rounded.next_down() } else { rounded }
}

/// The least float32 that is not below; NaN stays NaN.
#[inline]
pub fn above(value: f64) -> f32 {
    -below(-value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_rounds_as_assumed() {
        assert!(is_as_assumed());
    }

    #[test]
    fn what_is_no_number_is_no_bound() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut sum = Sum::new(1.0, 0.0);
            sum.add(bad, bad.abs(), 1);
            assert_eq!(sum.lower(), f64::NEG_INFINITY);
            let mut sum = Sum::new(1.0, 0.0);
            sum.charge(bad.abs(), 1);
            assert_eq!(sum.lower(), f64::NEG_INFINITY);
        }
        assert_eq!(Sum::new(1e300, 0.0).lower_32(), f32::MAX);
        assert_eq!(Sum::new(-1e300, 0.0).lower_32(), f32::NEG_INFINITY);
        assert_eq!(TINY_32, f64::from(f32::from_bits(1)));
        assert!(below(f64::NAN).is_nan() && above(f64::NAN).is_nan());
    }
}
