//! Exact closed intervals of decimals.
//!
//! Sum and multiple are the exact ranges. A sum of products over-approximates when a variable
//! occurs twice; it always contains every value, which is what a decision needs.

use super::Decimal;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Interval {
    pub(super) low: Decimal,
    pub(super) high: Decimal,
}

impl Interval {
    pub(super) fn point(value: Decimal) -> Self {
        Self { low: value.clone(), high: value }
    }

    /// The interval between two finite floats in order; `None` for anything else.
    pub(super) fn between(low: f64, high: f64) -> Option<Self> {
        let (low, high) = (Decimal::from_f64(low)?, Decimal::from_f64(high)?);
        (low <= high).then_some(Self { low, high })
    }

    pub(super) fn add(&mut self, other: &Interval) {
        self.low += &other.low;
        self.high += &other.high;
    }

    pub(super) fn scaled(&self, factor: &Decimal) -> Self {
        let (low, high) = (&self.low * factor, &self.high * factor);
        if factor.is_negative() { Self { low: high, high: low } } else { Self { low, high } }
    }

    /// All `a·b`: the extremes are at corners.
    pub(super) fn product(&self, other: &Interval) -> Self {
        let ends = [self.scaled(&other.low), self.scaled(&other.high)];
        let [a, b] = ends;
        Self { low: a.low.min(b.low), high: a.high.max(b.high) }
    }

    /// All `a·a`, never negative.
    pub(super) fn square(&self) -> Self {
        let (low, high) = (&self.low * &self.low, &self.high * &self.high);
        if self.low.is_negative() && self.high.is_positive() {
            return Self { low: Decimal::zero(), high: low.max(high) };
        }
        if low <= high { Self { low, high } } else { Self { low: high, high: low } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(low: i64, high: i64) -> Interval {
        Interval { low: low.into(), high: high.into() }
    }

    #[test]
    fn operations_give_the_range() {
        assert_eq!(interval(-1, 2).scaled(&Decimal::from(-3)), interval(-6, 3));
        assert_eq!(interval(-1, 2).product(&interval(-5, 3)), interval(-10, 6));
        assert_eq!(interval(-3, 2).square(), interval(0, 9));
        assert_eq!(interval(-3, -2).square(), interval(4, 9));
        assert_eq!(interval(2, 3).square(), interval(4, 9));
    }

    #[test]
    fn only_finite_floats_in_order_make_an_interval() {
        assert_eq!(Interval::between(-1.0, 2.0), Some(interval(-1, 2)));
        assert_eq!(Interval::between(2.0, 1.0), None);
        assert_eq!(Interval::between(f64::NEG_INFINITY, 1.0), None);
        assert_eq!(Interval::between(0.0, f64::NAN), None);
    }
}
