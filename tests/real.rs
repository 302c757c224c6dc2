//! Real numbers between two rationals, which are equal except behind an irrational root.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use std::ops::{Add, Div, Mul, Sub};

/// Some number from `low` to `high`. Roots are computed to this many bits and nothing else widens the interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Real {
    pub low: BigRational,
    pub high: BigRational,
}

const ROOT_BITS: u64 = 256;

/// The rational that `value` denotes, exactly.
pub fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

impl From<BigRational> for Real {
    fn from(value: BigRational) -> Real {
        Real { low: value.clone(), high: value }
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Real {
        rational(value).into()
    }
}

impl Real {
    pub fn zero() -> Real {
        BigRational::zero().into()
    }

    pub fn one() -> Real {
        BigRational::one().into()
    }

    pub fn is_zero(&self) -> bool {
        self.low.is_zero() && self.high.is_zero()
    }

    /// Whether 0 is known not to be the number.
    pub fn is_apart_from_zero(&self) -> bool {
        self.low.is_positive() || self.high.is_negative()
    }

    /// Whether the number is known to lie within `radius` of `centre`.
    pub fn is_within(&self, radius: f64, centre: f64) -> bool {
        let (centre, radius) = (rational(centre), rational(radius));
        &centre - &radius <= self.low && self.high <= centre + radius
    }

    /// The root of a number that is known not to be negative.
    pub fn sqrt(&self) -> Real {
        Real { low: roots(&self.low).0, high: roots(&self.high).1 }
    }
}

/// The neighbours of √`value` on a grid of at least [`ROOT_BITS`] bits; both are the root if that is rational.
fn roots(value: &BigRational) -> (BigRational, BigRational) {
    assert!(!value.is_negative(), "the root of a negative number");
    // √(p/q) = √(p·q)/q: a rational root is found because p and q, being coprime, are then both squares.
    let product = value.numer() * value.denom();
    let shift = ROOT_BITS.saturating_sub(product.bits() / 2);
    let scaled: BigInt = product << (2 * shift);
    let root = scaled.sqrt();
    let above = if &root * &root == scaled { root.clone() } else { &root + 1u8 };
    let unit = value.denom() << shift;
    (BigRational::new(root, unit.clone()), BigRational::new(above, unit))
}

impl Add for &Real {
    type Output = Real;

    fn add(self, other: &Real) -> Real {
        Real { low: &self.low + &other.low, high: &self.high + &other.high }
    }
}

impl Sub for &Real {
    type Output = Real;

    fn sub(self, other: &Real) -> Real {
        Real { low: &self.low - &other.high, high: &self.high - &other.low }
    }
}

impl Mul for &Real {
    type Output = Real;

    fn mul(self, other: &Real) -> Real {
        hull(self, other, |a, b| a * b)
    }
}

impl Div for &Real {
    type Output = Real;

    fn div(self, other: &Real) -> Real {
        assert!(other.is_apart_from_zero(), "a division by what may be 0");
        hull(self, other, |a, b| a / b)
    }
}

/// The range of an operation that is monotone in each operand, from its values at the ends.
fn hull(a: &Real, b: &Real, op: impl Fn(&BigRational, &BigRational) -> BigRational) -> Real {
    if a.low == a.high && b.low == b.high {
        return op(&a.low, &b.low).into();
    }
    let mut ends = [op(&a.low, &b.low), op(&a.low, &b.high), op(&a.high, &b.low), op(&a.high, &b.high)];
    ends.sort();
    let [low, .., high] = ends;
    Real { low, high }
}
