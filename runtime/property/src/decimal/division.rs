//! Division, which leaves the finite decimals unless the reduced divisor has no prime factors but 2
//! and 5.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use super::float::Leading;
use super::{Decimal, power_of_ten};

/// Significant digits, at least, of a quotient that is rounded.
const QUOTIENT_DIGITS: u64 = 40;

impl Decimal {
    /// `self / divisor`, if that is a finite decimal of moderate length; `None` otherwise, and for a
    /// divisor of zero.
    pub fn exact_quotient(&self, divisor: &Decimal) -> Option<Decimal> {
        if divisor.is_zero() {
            return None;
        }
        let exponent = self.exponent - divisor.exponent;
        if divisor.mantissa.magnitude().is_one() {
            return Some(Decimal::new(&self.mantissa * &divisor.mantissa, exponent));
        }
        let common = self.mantissa.gcd(&divisor.mantissa);
        let (numerator, denominator) = (&self.mantissa / &common, &divisor.mantissa / &common);
        let twos = denominator.trailing_zeros().unwrap_or(0);
        let (odd, fives) = without_fives(denominator.abs() >> twos);
        if !odd.is_one() {
            return None;
        }
        // n / (2^i·5^j) = n · 10^m/(2^i·5^j) · 10^-m with m = max(i, j)
        let places = twos.max(fives);
        let mantissa = numerator * (power_of_ten(places) / denominator);
        let quotient = Decimal::new(mantissa, exponent - places as i64);
        quotient.is_moderate().then_some(quotient)
    }

    /// Decimals `low ≤ self / divisor ≤ high`, close together; `None` for a divisor of zero.
    pub fn enclosed_quotient(&self, divisor: &Decimal) -> Option<(Decimal, Decimal)> {
        if divisor.is_zero() {
            return None;
        }
        let bits_missing = divisor.mantissa.bits().saturating_sub(self.mantissa.bits());
        let places = QUOTIENT_DIGITS + bits_missing.div_ceil(3);
        let (floor, rest) = (&self.mantissa * power_of_ten(places)).div_mod_floor(&divisor.mantissa);
        let ceiling = if rest.is_zero() { floor.clone() } else { &floor + 1 };
        let exponent = self.exponent - divisor.exponent - places as i64;
        Some((Decimal::new(floor, exponent), Decimal::new(ceiling, exponent)))
    }

    /// The `f32` nearest to the exact `self / divisor`, ties to even; `None` for a divisor of zero,
    /// and where that is beyond the finite floats. If both numbers are floats this is what `f32`
    /// division gives.
    pub fn quotient_to_f32(&self, divisor: &Decimal) -> Option<f32> {
        if divisor.is_zero() {
            return None;
        }
        if self.is_zero() {
            return Some(0.0);
        }
        let exponent = self.exponent - divisor.exponent;
        let scale = power_of_ten(exponent.unsigned_abs());
        let (mut numerator, mut denominator) = (self.mantissa.abs(), divisor.mantissa.abs());
        if exponent >= 0 {
            numerator *= scale
        } else {
            denominator *= scale
        }
        let leading = Leading::of_quotient(numerator.magnitude(), denominator.magnitude());
        let nearest = leading.to_f32_nearest();
        let negative = self.is_negative() != divisor.is_negative();
        nearest.is_finite().then_some(if negative { -nearest } else { nearest })
    }
}

/// A positive integer without its factors 5, and how many there were.
fn without_fives(mut value: BigInt) -> (BigInt, u64) {
    let five = BigInt::from(5);
    let mut fives = 0;
    loop {
        let (quotient, rest) = value.div_rem(&five);
        if !rest.is_zero() {
            return (value, fives);
        }
        value = quotient;
        fives += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn exact_quotients_are_found_exactly_where_they_exist() {
        for (a, b, quotient) in [
            ("2", "2", Some("1")),
            ("1", "-8", Some("-0.125")),
            ("3e5", "1.2e-2", Some("2.5e7")),
            ("-9", "-3", Some("3")),
            ("0", "7", Some("0")),
            ("1", "3", None),
            ("1", "0", None),
            ("1", "35", None),
        ] {
            let found = decimal(a).exact_quotient(&decimal(b));
            assert_eq!(found, quotient.map(decimal), "{a} / {b}");
        }
    }

    #[test]
    fn an_enclosed_quotient_contains_the_true_one() {
        for (a, b) in [("1", "3"), ("-1", "3"), ("1", "-3"), ("2e-9", "7e5"), ("1", "123456789e99")] {
            let (a, b) = (decimal(a), decimal(b));
            let (low, high) = a.enclosed_quotient(&b).unwrap();
            let back = [&low * &b, &high * &b];
            assert!(back.iter().min().unwrap() <= &a && &a <= back.iter().max().unwrap());
            assert!(low < high);
        }
    }

    #[test]
    fn pixels_divide_as_floats_do() {
        for pixel in 0..=255i64 {
            let quotient = Decimal::from(pixel).quotient_to_f32(&Decimal::from(255));
            assert_eq!(quotient, Some(pixel as f32 / 255.0));
        }
        assert_eq!(decimal("1e300").quotient_to_f32(&decimal("1e-300")), None);
        assert_eq!(decimal("1").quotient_to_f32(&decimal("0")), None);
        assert_eq!(decimal("-1e-300").quotient_to_f32(&decimal("7")), Some(0.0));
    }
}
