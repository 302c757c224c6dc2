//! Fractions of two integers of 128 bits: the exact values of the decimals of a property.
//!
//! An operation gives `None` rather than a wrong number. Comparison needs no products and always succeeds.

use std::cmp::Ordering;

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
        if denominator == 0 {
            return None;
        }
        let divisor = i128::try_from(gcd(numerator.unsigned_abs(), denominator.unsigned_abs())).ok()?;
        let (numerator, denominator) = (numerator.checked_div(divisor)?, denominator.checked_div(divisor)?);
        if denominator > 0 {
            return Some(Self { numerator, denominator });
        }
        Some(Self { numerator: numerator.checked_neg()?, denominator: denominator.checked_neg()? })
    }

    /// The value of `[+-] digits [. digits] [e [+-] digits]`, as in `-0.5`, `.5`, `5.` or `1e-3`; `None` if the text is
    /// something else or the number too long.
    pub fn parse(text: &str) -> Option<Self> {
        let (is_negative, unsigned) = split_sign(text);
        let (digits, power) = match unsigned.split_once(['e', 'E']) {
            Some((digits, power)) => (digits, power_of_ten(power)?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let fraction_kept = fraction.trim_end_matches('0');
        if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let mut mantissa = 0i128;
        for byte in whole.bytes().chain(fraction_kept.bytes()) {
            let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
            mantissa = mantissa.checked_mul(10)?.checked_add(digit)?;
        }
        let mantissa = if is_negative { -mantissa } else { mantissa };
        let power = power.checked_sub(i32::try_from(fraction_kept.len()).ok()?)?;
        match mantissa {
            0 => Some(Self::ZERO),
            _ if power < 0 => Self::new(mantissa, 10i128.checked_pow(power.unsigned_abs())?),
            _ => Self::new(mantissa.checked_mul(10i128.checked_pow(power.unsigned_abs())?)?, 1),
        }
    }

    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    pub fn neg(self) -> Option<Self> {
        Some(Self { numerator: self.numerator.checked_neg()?, ..self })
    }

    pub fn add(self, other: Self) -> Option<Self> {
        let common = gcd(self.denominator.unsigned_abs(), other.denominator.unsigned_abs());
        let scale = other.denominator.checked_div(i128::try_from(common).ok()?)?;
        let other_scale = self.denominator.checked_div(i128::try_from(common).ok()?)?;
        let left = self.numerator.checked_mul(scale)?;
        let numerator = left.checked_add(other.numerator.checked_mul(other_scale)?)?;
        Self::new(numerator, self.denominator.checked_mul(scale)?)
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

    /// Whether finitely many digits write it: the denominator has no prime factor but 2 and 5.
    pub fn is_decimal(self) -> bool {
        let mut rest = self.denominator >> self.denominator.trailing_zeros().min(127);
        while rest % 5 == 0 && rest != 0 {
            rest /= 5;
        }
        rest == 1
    }

    /// `⌊value · 2^shift⌋`, `None` if that does not fit.
    ///
    /// The remainder of the division yields the further bits one by one, as in division by hand; it stays below the
    /// denominator, so twice it has a place in 128 bits. For a negative shift, `⌊⌊v⌋ / 2^k⌋ = ⌊v / 2^k⌋`.
    pub fn floor_scaled(self, shift: i32) -> Option<i128> {
        let mut floor = self.numerator.div_euclid(self.denominator);
        if shift < 0 {
            return Some(floor >> shift.unsigned_abs().min(127));
        }
        let mut remainder = self.numerator.rem_euclid(self.denominator).unsigned_abs();
        let denominator = self.denominator.unsigned_abs();
        for _ in 0..shift {
            if floor == 0 && remainder == 0 {
                return Some(0);
            }
            remainder = remainder.checked_mul(2)?;
            let bit = remainder >= denominator;
            remainder -= if bit { denominator } else { 0 };
            floor = floor.checked_mul(2)?.checked_add(i128::from(bit))?;
        }
        Some(floor)
    }

    /// `⌈value · 2^shift⌉`, `None` if that does not fit.
    pub fn ceil_scaled(self, shift: i32) -> Option<i128> {
        self.neg()?.floor_scaled(shift)?.checked_neg()
    }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

fn power_of_ten(text: &str) -> Option<i32> {
    let (is_negative, digits) = split_sign(text);
    let power: i32 = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())??;
    Some(if is_negative { -power } else { power })
}

/// The greatest common divisor, by halving and subtracting; that of 0 and `n` is `n`.
fn gcd(mut a: u128, mut b: u128) -> u128 {
    if a == 0 || b == 0 {
        return a.max(b);
    }
    let twos = a.trailing_zeros().min(b.trailing_zeros());
    a >>= a.trailing_zeros();
    while b != 0 {
        b >>= b.trailing_zeros();
        (a, b) = (a.min(b), a.abs_diff(b));
    }
    a << twos
}

impl Ord for Ratio {
    /// By whole parts, then by the order of the fractional parts, which is the reverse of that of their reciprocals: the
    /// algorithm of Euclid on both, whose numbers only become smaller.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut left, mut right) = (*self, *other);
        let mut is_reversed = false;
        loop {
            let split = |value: Ratio| {
                (value.numerator.div_euclid(value.denominator), value.numerator.rem_euclid(value.denominator))
            };
            let ((left_whole, left_rest), (right_whole, right_rest)) = (split(left), split(right));
            let order = left_whole.cmp(&right_whole);
            let order = order.then((left_rest != 0).cmp(&(right_rest != 0)));
            if order.is_ne() || left_rest == 0 {
                return if is_reversed { order.reverse() } else { order };
            }
            left = Self { numerator: left.denominator, denominator: left_rest };
            right = Self { numerator: right.denominator, denominator: right_rest };
            is_reversed = !is_reversed;
        }
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
