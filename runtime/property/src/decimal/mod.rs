//! Exact finite decimals: `mantissa · 10^exponent`.
//!
//! VNN-LIB writes its constants in decimal, and the region of a property is what those decimals say,
//! not what they round to. Sums, differences, products and comparisons are exact, so they need no
//! argument for soundness. Every binary float is a finite decimal too, so a float can be held against
//! a property without rounding. `float` converts from and to floats in a chosen direction,
//! `division` divides where that is possible.

mod division;
mod float;
mod text;

use std::cmp::Ordering;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

pub use text::BadDecimal;

/// An exact finite decimal number. Equality and order are those of the value: `1.50 == 1.5`.
#[derive(Clone, Debug)]
pub struct Decimal {
    mantissa: BigInt,
    /// 0 if the mantissa is 0.
    exponent: i64,
}

impl Decimal {
    fn new(mantissa: BigInt, exponent: i64) -> Self {
        let exponent = if mantissa.is_zero() { 0 } else { exponent };
        Self { mantissa, exponent }
    }

    pub fn zero() -> Self {
        Self::from(0)
    }

    pub fn one() -> Self {
        Self::from(1)
    }

    pub fn is_zero(&self) -> bool {
        self.mantissa.is_zero()
    }

    pub fn is_positive(&self) -> bool {
        self.mantissa.is_positive()
    }

    pub fn is_negative(&self) -> bool {
        self.mantissa.is_negative()
    }

    /// `mantissa · 2^exponent`, which is a finite decimal: 2⁻ᵏ is 5ᵏ·10⁻ᵏ.
    pub fn from_dyadic(mantissa: BigInt, exponent: i64) -> Self {
        let places = usize::try_from(exponent.unsigned_abs()).expect("a power of two that fits the memory");
        if exponent >= 0 {
            Self::new(mantissa << places, 0)
        } else {
            Self::new(mantissa * num_traits::pow(BigInt::from(5), places), exponent)
        }
    }

    pub fn to_rational(&self) -> BigRational {
        let power = power_of_ten(self.exponent.unsigned_abs());
        if self.exponent < 0 {
            BigRational::new(self.mantissa.clone(), power)
        } else {
            BigRational::from_integer(&self.mantissa * power)
        }
    }

    /// Whether the value is at most 0, or below 0 if strict: whether `value ≤ 0` or `value < 0` holds.
    pub(super) fn is_below_zero(&self, strict: bool) -> bool {
        self.is_negative() || (!strict && self.is_zero())
    }

    pub(super) fn is_one(&self) -> bool {
        self.exponent == 0 && self.mantissa.is_one()
    }

    /// Whether the number is small enough to compute with further. A product of many long literals is
    /// refused by this test before its exact value takes the memory of the machine.
    pub(super) fn is_moderate(&self) -> bool {
        self.mantissa.bits() <= 20_000 && self.exponent.abs() <= 6_000
    }

    /// The integer `self · 10^digits`, for `digits` at least as large as [`Self::fraction_digits`].
    pub(super) fn scaled_to_integer(&self, digits: u64) -> BigInt {
        let shift = self.exponent.saturating_add_unsigned(digits);
        assert!(shift >= 0, "a decimal of more fraction digits than the scale");
        &self.mantissa * power_of_ten(shift.unsigned_abs())
    }

    /// An upper bound of how many digits stand after the point.
    pub(super) fn fraction_digits(&self) -> u64 {
        if self.exponent < 0 { self.exponent.unsigned_abs() } else { 0 }
    }
}

fn power_of_ten(exponent: u64) -> BigInt {
    match u32::try_from(exponent).ok().and_then(|e| 10u64.checked_pow(e)) {
        Some(power) => power.into(),
        None => num_traits::pow(BigInt::from(10), usize::try_from(exponent).unwrap_or(usize::MAX)),
    }
}

/// Both mantissas at the smaller of the two exponents, and that exponent.
fn aligned<T>(a: &Decimal, b: &Decimal, then: impl Fn(&BigInt, &BigInt) -> T) -> (T, i64) {
    match a.exponent.cmp(&b.exponent) {
        Ordering::Equal => (then(&a.mantissa, &b.mantissa), a.exponent),
        _ if a.is_zero() => (then(&a.mantissa, &b.mantissa), b.exponent),
        _ if b.is_zero() => (then(&a.mantissa, &b.mantissa), a.exponent),
        Ordering::Greater => {
            let scale = power_of_ten(a.exponent.abs_diff(b.exponent));
            (then(&(&a.mantissa * scale), &b.mantissa), b.exponent)
        }
        Ordering::Less => {
            let scale = power_of_ten(a.exponent.abs_diff(b.exponent));
            (then(&a.mantissa, &(&b.mantissa * scale)), a.exponent)
        }
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        Self::new(value.into(), 0)
    }
}

impl Add for &Decimal {
    type Output = Decimal;
    fn add(self, other: &Decimal) -> Decimal {
        let (mantissa, exponent) = aligned(self, other, |a, b| a + b);
        Decimal::new(mantissa, exponent)
    }
}

impl AddAssign<&Decimal> for Decimal {
    fn add_assign(&mut self, other: &Decimal) {
        *self = &*self + other;
    }
}

impl Sub for &Decimal {
    type Output = Decimal;
    fn sub(self, other: &Decimal) -> Decimal {
        let (mantissa, exponent) = aligned(self, other, |a, b| a - b);
        Decimal::new(mantissa, exponent)
    }
}

impl Mul for &Decimal {
    type Output = Decimal;
    fn mul(self, other: &Decimal) -> Decimal {
        Decimal::new(&self.mantissa * &other.mantissa, self.exponent + other.exponent)
    }
}

impl Neg for Decimal {
    type Output = Decimal;
    fn neg(self) -> Decimal {
        Decimal { mantissa: -self.mantissa, exponent: self.exponent }
    }
}

impl Neg for &Decimal {
    type Output = Decimal;
    fn neg(self) -> Decimal {
        -self.clone()
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match self.mantissa.sign().cmp(&other.mantissa.sign()) {
            Ordering::Equal => aligned(self, other, |a, b| a.cmp(b)).0,
            different => different,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}
