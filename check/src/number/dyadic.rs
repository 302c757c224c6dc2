//! Integers times powers of two: the exact values of floats, their sums and products.
//!
//! An operation gives `None` rather than a wrong number. Only a quotient is rounded, and it comes with its error.

/// `mantissa · 2^exponent`. The mantissa is odd, or zero with the exponent zero, so equal values have equal fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dyadic {
    pub mantissa: i128,
    pub exponent: i32,
}

/// The bits of a quotient that does not come out even: enough for any use of it, and few enough that products of it
/// with weights can be added up exactly.
const QUOTIENT_BITS: u32 = 64;

impl Dyadic {
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    pub const ONE: Self = Self { mantissa: 1, exponent: 0 };
    pub const MINUS_ONE: Self = Self { mantissa: -1, exponent: 0 };

    /// `mantissa · 2^exponent`, brought to its normal form.
    pub fn new(mantissa: i128, exponent: i32) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        let zeros = mantissa.trailing_zeros();
        let exponent = exponent.checked_add(i32::try_from(zeros).ok()?)?;
        Some(Self { mantissa: mantissa >> zeros, exponent })
    }

    /// The value of a float32 of IEEE 754; `None` if it is NaN or infinite.
    pub fn from_f32_bits(bits: u32) -> Option<Self> {
        let field = (bits >> 23) & 0xff;
        Self::from_fields(bits >> 31 == 1, (field, 0xff), (u64::from(bits) & 0x7f_ffff, 23))
    }

    /// The value of a float64, likewise.
    pub fn from_f64_bits(bits: u64) -> Option<Self> {
        let field = (bits >> 52) as u32 & 0x7ff;
        Self::from_fields(bits >> 63 == 1, (field, 0x7ff), (bits & ((1 << 52) - 1), 52))
    }

    /// By the fields of a float: the exponent's with the largest that it can be, the fraction's with its bits.
    fn from_fields(is_negative: bool, (field, last): (u32, u32), (fraction, bits): (u64, i32)) -> Option<Self> {
        let leading = u64::from(field > 0) << bits;
        let magnitude = i128::from(fraction | leading);
        let exponent = field.max(1) as i32 - (last / 2) as i32 - bits;
        let value = Self::new(if is_negative { -magnitude } else { magnitude }, exponent);
        value.filter(|_| field < last)
    }

    /// `⌊value · 2^shift⌋`, `None` if that does not fit.
    pub fn floor_scaled(self, shift: i32) -> Option<i128> {
        shift_down(self.mantissa, self.exponent.saturating_add(shift))
    }

    /// `⌈value · 2^shift⌉`, `None` if that does not fit.
    pub fn ceil_scaled(self, shift: i32) -> Option<i128> {
        shift_down(self.mantissa.checked_neg()?, self.exponent.saturating_add(shift))?.checked_neg()
    }

    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The sign of the normal form changes without overflow: an odd mantissa is not the least integer.
    pub fn abs(self) -> Self {
        Self { mantissa: self.mantissa.wrapping_abs(), ..self }
    }

    pub fn add(self, other: Self) -> Option<Self> {
        if self.is_zero() || other.is_zero() {
            return Some(if self.is_zero() { other } else { self });
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let distance = high.exponent.checked_sub(low.exponent)?;
        Self::new(shift_down(high.mantissa, distance)?.checked_add(low.mantissa)?, low.exponent)
    }

    pub fn mul(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.exponent.checked_add(other.exponent)?)
    }

    /// The quotient and a bound on its error, which is zero if the quotient is a dyadic number of few bits.
    ///
    /// Integer division rounds toward zero and is off by less than one unit of the last place.
    pub fn div(self, divisor: Self) -> Option<(Self, Self)> {
        let shift = (QUOTIENT_BITS + bits(divisor.mantissa)).saturating_sub(bits(self.mantissa)) as i32;
        let dividend = shift_down(self.mantissa, shift)?;
        let exponent = self.exponent.checked_sub(divisor.exponent)?.checked_sub(shift)?;
        let is_rounded = dividend.checked_rem(divisor.mantissa)? != 0;
        let quotient = Self::new(dividend.checked_div(divisor.mantissa)?, exponent)?;
        Some((quotient, Self::new(is_rounded.into(), exponent)?))
    }

    /// The square root of a number above zero, rounded down by less than its 2^-62nd part: brought to 125 or 126 bits, with
    /// an even exponent, the number has a root of 63 bits.
    pub fn root(self) -> Option<Self> {
        let shift = (126u32.checked_sub(bits(self.mantissa))?) as i32;
        let shift = shift - (self.exponent - shift).rem_euclid(2);
        let mantissa = shift_down(self.mantissa, shift).filter(|&mantissa| mantissa > 0)?;
        Self::new(mantissa.isqrt(), (self.exponent - shift) / 2)
    }
}

/// The least b with `|value| < 2^b`.
pub fn bits(value: i128) -> u32 {
    128 - value.unsigned_abs().leading_zeros()
}

/// `⌊value · 2^by⌋`, `None` if that does not fit.
pub fn shift_down(value: i128, by: i32) -> Option<i128> {
    let distance = by.unsigned_abs();
    if by <= 0 {
        return Some(value >> distance.min(127));
    }
    let has_room = value == 0 || bits(value).saturating_add(distance) <= 127;
    has_room.then(|| value << distance.min(127))
}
