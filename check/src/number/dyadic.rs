//! Integers times powers of two: the exact values of floats, their sums and products.
//!
//! An operation gives `None` rather than a wrong number. Those named `near` round where the exact result does not fit and
//! give a bound on the error along with it; those named `up` round away from zero and serve to reckon with such bounds.

use std::cmp::Ordering;

/// `mantissa · 2^exponent`. The mantissa is odd, or zero with the exponent zero, so equal values have equal fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dyadic {
    pub mantissa: i128,
    pub exponent: i32,
}

/// The bits that a rounded sum or quotient keeps.
const KEPT: i64 = 100;
/// The bits that a factor keeps in a rounded product.
const KEPT_OF_FACTOR: i64 = 62;
/// The bits that a bound on an error keeps.
const KEPT_OF_ERROR: i64 = 16;

impl Dyadic {
    pub const ZERO: Self = Self { mantissa: 0, exponent: 0 };
    pub const ONE: Self = Self { mantissa: 1, exponent: 0 };

    /// `mantissa · 2^exponent`, brought to its normal form.
    pub fn new(mantissa: i128, exponent: i32) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        let zeros = mantissa.trailing_zeros();
        let exponent = exponent.checked_add(i32::try_from(zeros).ok()?)?;
        Some(Self { mantissa: mantissa >> zeros, exponent })
    }

    pub fn from_f16_bits(bits: u16) -> Option<Self> {
        Self::from_bits(bits.into(), 5, 10)
    }

    pub fn from_bf16_bits(bits: u16) -> Option<Self> {
        Self::from_bits(bits.into(), 8, 7)
    }

    pub fn from_f32_bits(bits: u32) -> Option<Self> {
        Self::from_bits(bits.into(), 8, 23)
    }

    pub fn from_f64_bits(bits: u64) -> Option<Self> {
        Self::from_bits(bits, 11, 52)
    }

    /// The value of a float of IEEE 754 with fields of these widths; `None` if it is NaN or infinite.
    fn from_bits(bits: u64, exponent_width: u32, fraction_width: u32) -> Option<Self> {
        let fraction = i128::from(bits & ((1 << fraction_width) - 1));
        let top = (1u64 << exponent_width) - 1;
        let field = (bits >> fraction_width) & top;
        let is_negative = (bits >> (exponent_width + fraction_width)) & 1 == 1;
        let bias = i32::try_from(top >> 1).ok()? + i32::try_from(fraction_width).ok()?;
        let (magnitude, exponent) = match field {
            0 => (fraction, 1 - bias),
            normal if normal < top => (fraction | (1 << fraction_width), i32::try_from(normal).ok()? - bias),
            _ => return None,
        };
        Self::new(if is_negative { -magnitude } else { magnitude }, exponent)
    }

    pub fn is_zero(self) -> bool {
        self.mantissa == 0
    }

    /// The sign of the normal form changes without overflow: an odd mantissa is not the least integer.
    pub fn neg(self) -> Self {
        Self { mantissa: self.mantissa.wrapping_neg(), ..self }
    }

    pub fn abs(self) -> Self {
        if self.mantissa < 0 { self.neg() } else { self }
    }

    pub fn add(self, other: Self) -> Option<Self> {
        if self.is_zero() || other.is_zero() {
            return Some(if self.is_zero() { other } else { self });
        }
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let distance = u32::try_from(high.exponent.checked_sub(low.exponent)?).ok()?;
        let unit = if distance < 127 { 1i128 << distance } else { return None };
        Self::new(high.mantissa.checked_mul(unit)?.checked_add(low.mantissa)?, low.exponent)
    }

    pub fn mul(self, other: Self) -> Option<Self> {
        Self::new(self.mantissa.checked_mul(other.mantissa)?, self.exponent.checked_add(other.exponent)?)
    }

    /// The value as an integer, if it is one that fits.
    pub fn to_i64(self) -> Option<i64> {
        let shift = u32::try_from(self.exponent).ok().filter(|&shift| shift < 64)?;
        i64::try_from(self.mantissa.checked_mul(1 << shift)?).ok()
    }

    /// The place just above the leading bit: the magnitude is below 2 to this power, and at least half of that.
    fn top(self) -> i64 {
        i64::from(self.exponent) + i64::from(128 - self.mantissa.unsigned_abs().leading_zeros())
    }

    /// The greatest multiple of `2^exponent` that is not above the value, and the distance which that stays within.
    fn floor_to(self, exponent: i64) -> Option<(Self, Self)> {
        let dropped = exponent - i64::from(self.exponent);
        if self.is_zero() || dropped <= 0 {
            return Some((self, Self::ZERO));
        }
        let exponent = i32::try_from(exponent).ok()?;
        let shift = u32::try_from(dropped.min(127)).ok()?;
        Some((Self::new(self.mantissa >> shift, exponent)?, Self { mantissa: 1, exponent }))
    }

    /// The sum and a bound on its error, which is zero unless the exact sum does not fit.
    ///
    /// If it does not fit, both are rounded down to multiples of one unit far below the greater, each by less than a
    /// unit.
    pub fn add_near(self, other: Self) -> Option<(Self, Self)> {
        if let Some(sum) = self.add(other) {
            return Some((sum, Self::ZERO));
        }
        let unit = self.top().max(other.top()) - KEPT;
        let ((left, left_error), (right, right_error)) = (self.floor_to(unit)?, other.floor_to(unit)?);
        Some((left.add(right)?, left_error.add(right_error)?))
    }

    /// The product and a bound on its error, which is zero unless the exact product does not fit.
    ///
    /// If it does not fit, the factors `a` and `b` are rounded to `a - d` and `b - e`, and
    /// `ab - (a - d)(b - e) = a·e + b·d - d·e`.
    pub fn mul_near(self, other: Self) -> Option<(Self, Self)> {
        if let Some(product) = self.mul(other) {
            return Some((product, Self::ZERO));
        }
        let (left, d) = self.floor_to(self.top() - KEPT_OF_FACTOR)?;
        let (right, e) = other.floor_to(other.top() - KEPT_OF_FACTOR)?;
        let error = self.mul_up(e)?.add_up(other.mul_up(d)?)?.add_up(d.mul_up(e)?)?;
        Some((left.mul(right)?, error))
    }

    /// The quotient and a bound on its error, which is zero if the quotient is a dyadic number of few bits.
    pub fn div_near(self, divisor: Self) -> Option<(Self, Self)> {
        if divisor.is_zero() || self.is_zero() {
            return (!divisor.is_zero()).then_some((Self::ZERO, Self::ZERO));
        }
        let exponent = self.exponent.checked_sub(divisor.exponent)?;
        if self.mantissa.checked_rem(divisor.mantissa)? == 0 {
            return Some((Self::new(self.mantissa / divisor.mantissa, exponent)?, Self::ZERO));
        }
        let room = self.mantissa.unsigned_abs().leading_zeros().saturating_sub(2);
        let scaled = self.mantissa.checked_mul(1i128 << room)?;
        let exponent = exponent.checked_sub(i32::try_from(room).ok()?)?;
        let quotient = Self::new(scaled / divisor.mantissa, exponent)?;
        let (rounded, error) = quotient.floor_to(quotient.top() - KEPT)?;
        Some((rounded, error.add_up(Self { mantissa: 1, exponent })?))
    }

    /// At least the magnitude, with few bits.
    fn ceil_to(self, exponent: i64) -> Option<Self> {
        let (floor, error) = self.abs().floor_to(exponent)?;
        floor.add(error)
    }

    /// At least the sum of the magnitudes.
    pub fn add_up(self, other: Self) -> Option<Self> {
        if self.is_zero() || other.is_zero() {
            return Some(if self.is_zero() { other.abs() } else { self.abs() });
        }
        let unit = self.top().max(other.top()) - KEPT_OF_ERROR;
        self.ceil_to(unit)?.add(other.ceil_to(unit)?)
    }

    /// At least the product of the magnitudes.
    pub fn mul_up(self, other: Self) -> Option<Self> {
        if self.is_zero() || other.is_zero() {
            return Some(Self::ZERO);
        }
        self.ceil_to(self.top() - KEPT_OF_ERROR)?.mul(other.ceil_to(other.top() - KEPT_OF_ERROR)?)
    }

    /// The order of magnitudes: by the leading bit, then by the digits written from the same place on. That fits, since
    /// the one that is shifted becomes as long as the other.
    fn cmp_magnitude(self, other: Self) -> Ordering {
        let aligned = |own: Self, exponent: i32| {
            let shift = i64::from(own.exponent) - i64::from(exponent);
            own.mantissa.unsigned_abs() << u32::try_from(shift).unwrap_or(0).min(127)
        };
        let by_digits = || aligned(self, other.exponent).cmp(&aligned(other, self.exponent));
        self.top().cmp(&other.top()).then_with(by_digits)
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_sign = self.mantissa.signum().cmp(&other.mantissa.signum());
        by_sign.then_with(|| match self.mantissa.signum() {
            0 => Ordering::Equal,
            1 => self.cmp_magnitude(*other),
            _ => other.cmp_magnitude(*self),
        })
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
