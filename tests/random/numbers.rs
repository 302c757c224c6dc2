//! Numbers of every size: float32 over its whole range, decimals far beyond it, and small dyadic ones.

use crate::Random;
use crate::case::vnnlib::{decimals, power_of_ten};
use crate::oracle::exact;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// The exponents of the smallest and of the largest float32.
const EXPONENTS: (i32, i32) = (-149, 127);
/// A number of more decimals is not used as it is, but rounded.
const MOST_DECIMALS: u32 = 1200;
/// How many thousandths of a margin rounding may take away from it, as a power of ten.
const GUARD_DIGITS: i64 = 3;

/// A whole number from `least` to `most`.
pub fn between(random: &mut Random, least: i32, most: i32) -> i32 {
    least + random.below((most - least + 1) as usize) as i32
}

pub fn sign(random: &mut Random) -> f32 {
    random.pick(&[1.0, -1.0])
}

/// A float32 of any exponent and mantissa, subnormal ones included; zero in one of twelve.
pub fn wild(random: &mut Random) -> f32 {
    if random.below(12) == 0 {
        return 0.0;
    }
    let mantissa = 1.0 + random.below(1 << 23) as f32 / (1 << 23) as f32;
    let exponent = between(random, EXPONENTS.0, EXPONENTS.1);
    sign(random) * times_power(mantissa, exponent)
}

/// A small multiple of 1/4, most often 0, 1 or −1, so that sums often meet exactly.
pub fn dyadic(random: &mut Random) -> f32 {
    let quarters = random.pick(&[0u8, 0, 4, 4, 4, 2, 8, 1, 3, 6]);
    sign(random) * f32::from(quarters) / 4.0
}

/// The float32 nearest to `value`·2^`exponent`, and the largest one instead of an infinity.
pub fn times_power(value: f32, exponent: i32) -> f32 {
    let product = f64::from(value) * 2f64.powi(exponent);
    (product as f32).clamp(-f32::MAX, f32::MAX)
}

/// 2^`exponent`, exactly.
pub fn power(exponent: i32) -> BigRational {
    let power = BigRational::from_integer(BigInt::one() << exponent.unsigned_abs());
    if exponent < 0 { power.recip() } else { power }
}

/// The float32 nearest to a rational of any size, and the largest one instead of an infinity.
pub fn nearest(value: &BigRational) -> f32 {
    // A quotient of this many bits, its exponent set aside, is rounded to float64 once and to float32 once.
    let shift = log2(value).map_or(0, |exponent| 60 - exponent);
    let scaled = (value * power(shift as i32)).to_integer();
    let scaled: f64 = scaled.to_string().parse().expect("a number");
    // Two factors, since 2^−shift alone may be no float64.
    let half = -(shift as i32) / 2;
    let product = scaled * 2f64.powi(half) * 2f64.powi(-(shift as i32) - half);
    (product as f32).clamp(-f32::MAX, f32::MAX)
}

/// A positive factor from about 2^−1000 to 1e300: a power of two, most often near the low end, or a decimal of few
/// digits.
pub fn wild_factor(random: &mut Random) -> BigRational {
    match random.below(4) {
        0 => return power(between(random, -1000, 996)),
        1 | 2 => return power(between(random, -1000, -880)),
        _ => {}
    }
    let digits = BigRational::from_integer(between(random, 1, 999).into());
    let exponent = between(random, -301, 297);
    let power = BigRational::from_integer(power_of_ten(exponent.unsigned_abs()));
    digits * if exponent < 0 { power.recip() } else { power }
}

/// The exponent of about the largest power of two that is not above the magnitude; `None` for zero.
pub fn log2(value: &BigRational) -> Option<i64> {
    (!value.is_zero()).then(|| value.numer().bits() as i64 - value.denom().bits() as i64)
}

/// The value itself if it has a finite expansion of not too many decimals.
pub fn is_short(value: &BigRational) -> bool {
    decimals(value).is_some_and(|decimals| decimals <= MOST_DECIMALS)
}

/// `value` rounded down to a decimal, by less than a thousandth of `margin`, which is not zero.
pub fn rounded(value: &BigRational, margin: &BigRational) -> BigRational {
    let exponent = log2(margin).expect("a margin is not zero");
    // A decimal digit is more than 3.3 bits.
    let digits = ((1 - exponent) * 10).div_euclid(33) + 1 + GUARD_DIGITS;
    let unit = BigRational::from_integer(power_of_ten(digits.max(0) as u32));
    (value * &unit).floor() / unit
}

/// A point of the box on a grid of five points a side, so a corner in a good part of the cases.
pub fn grid_point(random: &mut Random, lower: &[BigRational], upper: &[BigRational]) -> Vec<BigRational> {
    let mut at = |(l, u): (&BigRational, &BigRational)| l + (u - l) * exact(random.below(5) as f32 / 4.0);
    lower.iter().zip(upper).map(&mut at).collect()
}

/// The larger magnitude.
pub fn larger(a: &BigRational, b: &BigRational) -> BigRational {
    a.abs().max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_keeps_to_its_margin() {
        let third = BigRational::new(1.into(), 3.into());
        for exponent in [-1400, -150, -3, 0, 7, 900] {
            let (value, margin) = (&third * power(exponent + 40), power(exponent));
            let below = &value - rounded(&value, &margin);
            assert!(!below.is_negative() && below * BigInt::from(1000) < margin, "2^{exponent}");
            assert!(is_short(&rounded(&value, &margin)) || exponent < -1000);
        }
    }

    #[test]
    fn floats_are_nearest_to_themselves() {
        let mut random = Random::new(1);
        for _ in 0..2000 {
            let value = wild(&mut random);
            assert_eq!(nearest(&exact(value)), value);
        }
        assert_eq!(nearest(&power(-1400)), 0.0);
        assert_eq!(nearest(&-power(900)), -f32::MAX);
    }
}
