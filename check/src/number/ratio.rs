//! Fractions of two integers of 128 bits: the exact values of the decimals of a property.
//!
//! An operation gives `None` rather than a wrong number.

/// `numerator / denominator` in lowest terms, the denominator positive, so equal values have equal fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    pub numerator: i128,
    pub denominator: i128,
}

impl Ratio {
    pub const ZERO: Self = Self { numerator: 0, denominator: 1 };
    pub const ONE: Self = Self { numerator: 1, denominator: 1 };

    /// The fraction in lowest terms; `None` for a zero denominator.
    pub fn new(numerator: i128, denominator: i128) -> Option<Self> {
        let divisor = gcd(numerator, denominator)?.checked_mul(denominator.signum())?;
        Some(Self { numerator: numerator.checked_div(divisor)?, denominator: denominator.checked_div(divisor)? })
    }

    /// The value of `[+-] digits [. digits] [e [+-] digits]`, as in `-0.5`, `.5`, `5.` or `1e-3`; `None` if the text is
    /// something else or the number too long.
    pub fn parse(text: &str) -> Option<Self> {
        let (digits, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let fraction = fraction.trim_end_matches('0');
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mantissa: i128 = format!("{whole}{fraction}").parse().ok()?;
        let power = power.parse::<i32>().ok()?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
        let scale = 10i128.checked_pow(power.unsigned_abs())?;
        if power < 0 { Self::new(mantissa, scale) } else { Self::new(mantissa.checked_mul(scale)?, 1) }
    }

    pub fn neg(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }

    pub fn add(self, other: Self) -> Option<Self> {
        let common = gcd(self.denominator, other.denominator)?;
        let (own, others) = (other.denominator.checked_div(common)?, self.denominator.checked_div(common)?);
        let sum = self.numerator.checked_mul(own)?.checked_add(other.numerator.checked_mul(others)?)?;
        Self::new(sum, self.denominator.checked_mul(own)?)
    }

    /// The product; common factors go before the terms are multiplied, so it fails only if the result does not fit.
    pub fn mul(self, other: Self) -> Option<Self> {
        let left = Self::new(self.numerator, other.denominator)?;
        let right = Self::new(other.numerator, self.denominator)?;
        let numerator = left.numerator.checked_mul(right.numerator)?;
        Some(Self { numerator, denominator: left.denominator.checked_mul(right.denominator)? })
    }

    pub fn div(self, other: Self) -> Option<Self> {
        self.mul(Self::new(other.denominator, other.numerator)?)
    }

    pub fn is_less(self, other: Self) -> Option<bool> {
        Some(self.add(other.neg()?)?.numerator < 0)
    }

    /// `⌊value · 2^shift⌋`, `None` if that does not fit.
    ///
    /// The remainder of the division yields the further bits one by one, as in division by hand. For a negative shift,
    /// `⌊⌊v⌋ / 2^k⌋ = ⌊v / 2^k⌋`.
    pub fn floor_scaled(self, shift: i32) -> Option<i128> {
        let mut floor = self.numerator.div_euclid(self.denominator) >> shift.saturating_neg().clamp(0, 127);
        let mut remainder = self.numerator.rem_euclid(self.denominator);
        for _ in 0..shift {
            remainder = remainder.checked_mul(2)?;
            let bit = i128::from(remainder >= self.denominator);
            remainder -= bit * self.denominator;
            floor = floor.checked_mul(2)?.checked_add(bit)?;
        }
        Some(floor)
    }

    /// `⌈value · 2^shift⌉`, `None` if that does not fit.
    pub fn ceil_scaled(self, shift: i32) -> Option<i128> {
        self.neg()?.floor_scaled(shift)?.checked_neg()
    }
}

/// The greatest common divisor; that of 0 and `n` is `|n|`.
pub fn gcd(a: i128, b: i128) -> Option<i128> {
    let (mut a, mut b) = (a.unsigned_abs(), b.unsigned_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    i128::try_from(a).ok()
}
