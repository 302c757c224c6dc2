//! Numbers known up to an error: the arithmetic of folding.
//!
//! An [`Approx`] stands for some real number within `radius` of `value`. Weights read from a file have radius 0. Each
//! operation computes its own rounding error without error (`fma` and two-sum residuals), so a result that happens to
//! be exact keeps radius 0, and folding that changes nothing is recognised as bit-exact without special cases. The
//! exception is below 1e-280, where a product or quotient of doubles always states an error. What is made from an
//! unusable number is unusable.

use crate::half::Half;
use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Neg, Sub};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approx {
    pub value: f64,
    /// Never negative; infinite or NaN once the error is out of control, which [`Approx::is_usable`] reports.
    pub radius: f64,
}

/// Below this magnitude the residual of a product may itself underflow.
const RESIDUAL_IS_EXACT: f64 = 1e-280;

/// An upper bound of the sum of nonnegative terms, 0 only if all are 0.
///
/// Each of at most a handful of roundings loses less than one part in 2⁵²; eight such parts and one step of the grid
/// cover them all, underflow included.
fn sum_up<const N: usize>(terms: [f64; N]) -> f64 {
    let sum: f64 = terms.iter().sum();
    if sum == 0.0 { 0.0 } else { (sum * (1.0 + 8.0 * f64::EPSILON)).next_up() }
}

/// An upper bound of the product of two nonnegative numbers, 0 only if one of them is 0. Zero times an infinite radius
/// is NaN, not 0: a number without any bound may be none at all.
fn product_up(a: f64, b: f64) -> f64 {
    let product = a * b;
    if product == 0.0 && (a == 0.0 || b == 0.0) { 0.0 } else { product.next_up() }
}

impl Approx {
    pub const ONE: Approx = Approx::exact(1.0);

    pub const fn exact(value: f64) -> Approx {
        Approx { value, radius: 0.0 }
    }

    /// Both parts finite: the number is known.
    pub fn is_usable(self) -> bool {
        self.value.is_finite() && self.radius.is_finite()
    }

    /// The positive zero without error, which may be left out of a sum.
    pub fn is_absent(self) -> bool {
        self.value.to_bits() == 0 && self.radius == 0.0
    }

    /// The larger of two numbers: max moves at most as far as either of them.
    pub fn max(self, other: Approx) -> Approx {
        let radius = if self.is_usable() && other.is_usable() { self.radius.max(other.radius) } else { f64::INFINITY };
        Approx { value: self.value.max(other.value), radius }
    }

    pub fn min(self, other: Approx) -> Approx {
        -(-self).max(-other)
    }

    /// How the two numbers compare; `None` where their errors leave it open.
    pub fn compare(self, other: Approx) -> Option<Ordering> {
        let errors = sum_up([self.radius, other.radius]);
        let distance = (self.value - other.value).abs().next_down();
        if errors == 0.0 || distance > errors { self.value.partial_cmp(&other.value) } else { None }
    }

    /// √a. From √A − s = (A − s²)/(√A + s), the error is at most (|a − s²| + radius)/s.
    ///
    /// A number that may be negative gives an unusable result. Hence s > 0 wherever there is an error to divide by it.
    pub fn sqrt(self) -> Approx {
        let s = self.value.sqrt();
        let residual = (-s).mul_add(s, self.value).abs();
        let radius = match sum_up([residual, self.radius, underflow(self.value)]) {
            _ if self.value < self.radius => f64::INFINITY,
            0.0 => 0.0,
            error => (error / s).next_up(),
        };
        Approx { value: s, radius }
    }

    /// The nearest float32 and a bound of its distance from the number; `None` when there is no finite one of either.
    pub fn to_f32(self) -> Option<(f32, f64)> {
        let nearest = self.value as f32;
        let distance = sum_up([(self.value - f64::from(nearest)).abs(), self.radius]);
        (nearest.is_finite() && distance.is_finite()).then_some((nearest, distance))
    }

    /// The same, but 0 only for what is 0 exactly: a coefficient that is 0 tells that nothing is read there.
    pub fn to_nonzero_f32(self) -> Option<(f32, f64)> {
        match self.to_f32() {
            Some((0.0, distance)) if distance > 0.0 => {
                let least = f32::from_bits(1).copysign(self.value as f32);
                Some((least, sum_up([distance, f64::from(least.abs())])))
            }
            found => found,
        }
    }

    /// The number rounded to float32.
    pub fn rounded_to_f32(self) -> Approx {
        self.rounded(|v| f64::from(v as f32))
    }

    /// The number rounded to a 16-bit float.
    pub fn rounded_to(self, half: Half) -> Approx {
        self.rounded(|v| half.round(v))
    }

    /// Rounding is monotone: the result lies between those of the two ends.
    fn rounded(self, round: impl Fn(f64) -> f64) -> Approx {
        let value = round(self.value);
        if self.radius == 0.0 {
            return Approx::exact(value);
        }
        let low = round((self.value - self.radius).next_down());
        let high = round((self.value + self.radius).next_up());
        Approx { value, radius: sum_up([(value - low).max(high - value)]) }
    }
}

fn underflow(product: f64) -> f64 {
    if product != 0.0 && product.abs() < RESIDUAL_IS_EXACT { f64::MIN_POSITIVE } else { 0.0 }
}

impl Add for Approx {
    type Output = Approx;

    /// The two-sum residual is the exact rounding error of the addition.
    fn add(self, other: Approx) -> Approx {
        let (a, b) = (self.value, other.value);
        let sum = a + b;
        let b_part = sum - a;
        let residual = (a - (sum - b_part)) + (b - b_part);
        Approx { value: sum, radius: sum_up([residual.abs(), self.radius, other.radius]) }
    }
}

impl Neg for Approx {
    type Output = Approx;

    fn neg(self) -> Approx {
        Approx { value: -self.value, radius: self.radius }
    }
}

impl Sub for Approx {
    type Output = Approx;

    fn sub(self, other: Approx) -> Approx {
        self + -other
    }
}

impl Mul for Approx {
    type Output = Approx;

    /// |AB − fl(ab)| ≤ |ab − fl(ab)| + |a|·rb + |b|·ra + ra·rb; the first is an fma residual.
    fn mul(self, other: Approx) -> Approx {
        let (a, b) = (self.value, other.value);
        let product = a * b;
        let residual = a.mul_add(b, -product).abs();
        let lost = if product == 0.0 && a != 0.0 && b != 0.0 { f64::MIN_POSITIVE } else { underflow(product) };
        let radius = sum_up([
            residual,
            lost,
            product_up(a.abs(), other.radius),
            product_up(b.abs(), self.radius),
            product_up(self.radius, other.radius),
        ]);
        Approx { value: product, radius }
    }
}

impl Div for Approx {
    type Output = Approx;

    /// A − qB = (a − qb) + (A − a) − q(B − b), hence |A/B − q| ≤ (|a − qb| + ra + |q|·rb)/(|b| − rb).
    ///
    /// A divisor that may be 0 gives an unusable result.
    fn div(self, other: Approx) -> Approx {
        let q = self.value / other.value;
        let residual = (-q).mul_add(other.value, self.value).abs();
        let error = sum_up([residual, underflow(self.value), self.radius, product_up(q.abs(), other.radius)]);
        let least = other.value.abs() - other.radius;
        let divisor = if other.radius == 0.0 { least } else { least.next_down() };
        let radius = match error {
            _ if divisor <= 0.0 => f64::INFINITY,
            0.0 => 0.0,
            error => (error / divisor).next_up(),
        };
        Approx { value: q, radius }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_results_keep_radius_zero() {
        let (a, b) = (Approx::exact(1.5), Approx::exact(0.25));
        assert_eq!(a + b, Approx::exact(1.75));
        assert_eq!(a * b, Approx::exact(0.375));
        assert_eq!(a / b, Approx::exact(6.0));
        assert_eq!(Approx::exact(2.25).sqrt(), a);
        assert_eq!(Approx::exact(0.1f32 as f64).to_f32(), Some((0.1f32, 0.0)));
    }

    #[test]
    fn rounding_is_bounded() {
        let tenth = Approx::exact(1.0) / Approx::exact(10.0);
        assert!(tenth.radius > 0.0 && tenth.radius < 2e-17);
        let (nearest, error) = tenth.to_f32().unwrap();
        assert_eq!(nearest, 0.1);
        assert!(error >= (0.1f32 as f64 - 0.1).abs() && error < 2e-9);
    }

    #[test]
    fn underflow_is_not_called_exact() {
        let tiny = Approx::exact(1e-200);
        assert!((tiny * tiny).radius > 0.0);
        assert!((tiny / Approx::exact(1e200)).radius > 0.0);
    }

    #[test]
    fn division_by_what_may_be_zero_is_unusable() {
        assert!(!(Approx::ONE / Approx::exact(0.0)).is_usable());
        assert!(!(Approx::ONE / Approx { value: 1e-3, radius: 1e-2 }).is_usable());
        assert!(Approx::exact(1e300).to_f32().is_none());
    }

    #[test]
    fn a_root_of_what_may_be_negative_is_unusable() {
        assert!(!Approx { value: -0.0, radius: 1.0 }.sqrt().is_usable());
        assert!(!Approx { value: 1e-3, radius: 1e-2 }.sqrt().is_usable());
        assert_eq!(Approx::exact(-0.0).sqrt(), Approx::exact(-0.0));
    }

    #[test]
    fn only_what_is_certain_compares() {
        let (a, b) = (Approx { value: 1.0, radius: 0.25 }, Approx::exact(1.5));
        assert_eq!(a.compare(b), Some(Ordering::Less));
        assert_eq!(a.compare(Approx::exact(1.25)), None);
        assert_eq!(b.compare(b), Some(Ordering::Equal));
        assert_eq!(a.compare(Approx { value: 2.0, radius: f64::INFINITY }), None);
        assert_eq!(a.max(b), Approx { value: 1.5, radius: 0.25 });
        assert_eq!(a.min(b), a);
    }

    #[test]
    fn a_lost_number_is_not_found_again() {
        let lost = Approx { value: 1.0, radius: f64::INFINITY };
        assert!(!(Approx::exact(0.0) * lost).is_usable());
        assert!(!lost.max(Approx::exact(2.0)).is_usable());
        assert!(!Approx::ONE.min(Approx { value: 1.0, radius: f64::NAN }).is_usable());
        assert!(!(Approx::exact(0.0) / Approx { value: 1.0, radius: f64::NAN }).is_usable());
    }
}
