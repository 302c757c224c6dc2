//! Between decimals and binary floats: exactly from them, with a chosen direction to them.
//!
//! A quotient of integers is first cut to 64 leading bits plus one bit "something was cut off".
//! That is enough to round correctly, in every direction, to any format of at most 62 bits: a
//! directed rounding asks only whether something is cut off, and the nearest one whether it is less,
//! equal or more than one half.

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{ToPrimitive, Zero};

use super::{Decimal, power_of_ten};

/// A magnitude `(significand + θ)·2^exponent` with `0 ≤ θ < 1`, `θ > 0` exactly if `inexact`, and
/// the highest bit of the significand set.
#[derive(Clone, Copy)]
pub(super) struct Leading {
    significand: u64,
    exponent: i64,
    inexact: bool,
}

/// How a magnitude is rounded; signs turn "down" and "up" into one of these.
#[derive(Clone, Copy)]
enum Magnitude {
    TowardZero,
    AwayFromZero,
    Nearest,
}

/// A binary format by its precision and the exponents of the last place of its smallest and largest
/// numbers.
struct Format {
    precision: u32,
    smallest: i64,
    largest: i64,
}

const F64: Format = Format { precision: 53, smallest: -1074, largest: 971 };
const F32: Format = Format { precision: 24, smallest: -149, largest: 104 };

impl Leading {
    /// The leading bits of `numerator / denominator`, both positive. The shift is chosen so that the
    /// integer quotient has 64 or 65 bits.
    pub(super) fn of_quotient(numerator: &BigUint, denominator: &BigUint) -> Self {
        let shift = 64 + denominator.bits() as i64 - numerator.bits() as i64;
        if let Some(leading) = Self::of_short_quotient(numerator, denominator, shift) {
            return leading;
        }
        let places = shift.unsigned_abs();
        let (quotient, rest) = if shift >= 0 {
            (numerator << places).div_rem(denominator)
        } else {
            numerator.div_rem(&(denominator << places))
        };
        Self::of_65_bits(quotient.to_u128().expect("at most 65 bits"), !rest.is_zero(), -shift)
    }

    /// The same in machine integers, for decimals of up to 18 places.
    fn of_short_quotient(numerator: &BigUint, denominator: &BigUint, shift: i64) -> Option<Self> {
        if denominator.bits() > 63 || !(0..128).contains(&shift) {
            return None;
        }
        let (numerator, denominator) = (numerator.to_u128()? << shift, denominator.to_u128()?);
        let quotient = numerator / denominator;
        Some(Self::of_65_bits(quotient, !numerator.is_multiple_of(denominator), -shift))
    }

    fn of_65_bits(quotient: u128, inexact: bool, exponent: i64) -> Self {
        match u64::try_from(quotient) {
            Ok(significand) => Self { significand, exponent, inexact },
            Err(_) => Self {
                significand: (quotient >> 1) as u64,
                exponent: exponent + 1,
                inexact: inexact || quotient & 1 == 1,
            },
        }
    }

    /// The bits of the rounded magnitude in the given format. A significand that rounds up to the
    /// next power of two carries into the exponent field, which is the right result; beyond the
    /// largest number that is infinity.
    fn round(self, format: &Format, mode: Magnitude) -> u64 {
        let last_place = (self.exponent + i64::from(64 - format.precision)).max(format.smallest);
        let cut = u32::try_from(last_place - self.exponent).unwrap_or(u32::MAX);
        let kept = self.significand.checked_shr(cut).unwrap_or(0);
        let cut_off = u128::from(self.significand - kept.checked_shl(cut).unwrap_or(0));
        let half = 1u128 << (cut - 1).min(127);
        let up = match mode {
            Magnitude::TowardZero => false,
            Magnitude::AwayFromZero => cut_off > 0 || self.inexact,
            Magnitude::Nearest if cut_off == half => self.inexact || kept & 1 == 1,
            Magnitude::Nearest => cut_off > half,
        };
        let field = format.precision - 1;
        let infinity = ((format.largest - format.smallest + 2) as u64) << field;
        if last_place > format.largest {
            return if matches!(mode, Magnitude::TowardZero) { infinity - 1 } else { infinity };
        }
        (((last_place - format.smallest) as u64) << field) + kept + u64::from(up)
    }

    /// The nearest `f32`, ties to even.
    pub(super) fn to_f32_nearest(self) -> f32 {
        f32::from_bits(self.round(&F32, Magnitude::Nearest) as u32)
    }
}

impl Decimal {
    /// The exact value of a float; `None` for infinities and NaN.
    pub fn from_f64(value: f64) -> Option<Self> {
        if !value.is_finite() {
            return None;
        }
        let bits = value.to_bits();
        let (biased, fraction) = ((bits >> 52) & 0x7ff, bits & ((1 << 52) - 1));
        let magnitude = if biased == 0 { fraction } else { fraction | (1 << 52) };
        let spare = magnitude.trailing_zeros().min(52);
        let exponent = biased.max(1) as i64 - 1075 + i64::from(spare);
        let mantissa = BigInt::from(magnitude >> spare);
        let mantissa = if value < 0.0 { -mantissa } else { mantissa };
        let power = exponent.unsigned_abs();
        Some(if exponent >= 0 {
            Self::new(mantissa << power, 0)
        } else {
            // m·2^-k = (m·5^k)·10^-k
            Self::new(mantissa * num_traits::pow(BigInt::from(5), power as usize), exponent)
        })
    }

    /// The exact value of a float; `None` for infinities and NaN.
    pub fn from_f32(value: f32) -> Option<Self> {
        Self::from_f64(f64::from(value))
    }

    /// The largest `f64` at most this number: never +∞, and -∞ below `-f64::MAX`.
    pub fn to_f64_down(&self) -> f64 {
        let bits = self.rounded(&F64, self.directed(false));
        self.signed(f64::from_bits(bits))
    }

    /// The smallest `f64` at least this number: never -∞, and +∞ above `f64::MAX`.
    pub fn to_f64_up(&self) -> f64 {
        let bits = self.rounded(&F64, self.directed(true));
        self.signed(f64::from_bits(bits))
    }

    /// The largest `f32` at most this number: never +∞, and -∞ below `-f32::MAX`.
    pub fn to_f32_down(&self) -> f32 {
        let bits = self.rounded(&F32, self.directed(false));
        self.signed(f32::from_bits(bits as u32).into()) as f32
    }

    /// The smallest `f32` at least this number: never -∞, and +∞ above `f32::MAX`.
    pub fn to_f32_up(&self) -> f32 {
        let bits = self.rounded(&F32, self.directed(true));
        self.signed(f32::from_bits(bits as u32).into()) as f32
    }

    fn directed(&self, up: bool) -> Magnitude {
        if self.is_negative() == up { Magnitude::TowardZero } else { Magnitude::AwayFromZero }
    }

    fn rounded(&self, format: &Format, mode: Magnitude) -> u64 {
        if self.is_zero() {
            return 0;
        }
        self.leading().round(format, mode)
    }

    fn leading(&self) -> Leading {
        let scale = power_of_ten(self.exponent.unsigned_abs());
        let magnitude = self.mantissa.magnitude();
        if self.exponent >= 0 {
            Leading::of_quotient(&(magnitude * scale.magnitude()), &BigUint::from(1u8))
        } else {
            Leading::of_quotient(magnitude, scale.magnitude())
        }
    }

    /// The magnitude with this number's sign; a zero is never negative.
    fn signed(&self, magnitude: f64) -> f64 {
        if self.is_negative() { 0.0 - magnitude } else { magnitude }
    }
}
