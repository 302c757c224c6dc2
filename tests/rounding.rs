//! What rounding may cost, against exact rationals: terms of every exponent, subnormal ones too.

use num_rational::BigRational;
use num_traits::{Signed, Zero};
use pg_core::kernel::PANEL;
use pg_core::rounding::{Sum, above, at_most, below};
use proptest::collection::vec;
use proptest::prelude::*;

fn exact(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

/// Any finite number, each exponent alike.
fn number() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |v| v.is_finite())
}

fn number_32() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite())
}

/// Pairs whose products are of any size, and many of one size so that roundings add up.
fn pairs() -> impl Strategy<Value = Vec<(f64, f32)>> {
    let narrow = (-1.0..1.0, -1.0f32..1.0);
    let cancelling = (-40i32..40, -1.0f32..1.0).prop_map(|(e, b)| (f64::from(e).exp2() * 3e-300, b * 1e-30));
    prop_oneof![vec((number(), number_32()), 0..20), vec(narrow, 0..200), vec(cancelling, 0..50)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_sum_of_products_is_not_below_its_bound(pairs in pairs(), constant in number(), error in 0.0..1e-3f64) {
        let mut sum = Sum::new(constant, error);
        let (mut value, mut size) = (0.0, 0.0);
        let mut least = exact(constant) - exact(error);
        for &(a, b) in &pairs {
            let term = a * f64::from(b);
            (value, size) = (value + term, size + term.abs());
            least += exact(a) * exact(b.into());
        }
        sum.add(value, size, pairs.len());
        let bound = sum.lower();
        prop_assert!(bound == f64::NEG_INFINITY || exact(bound) <= least, "{bound} above {least}");
        prop_assert!(bound.is_finite() || !size.is_finite() || constant.abs() > 1e300 || size > 1e300);
    }

    #[test]
    fn lanes_are_not_below_their_bound(pairs in vec((number_32(), number_32(), number_32()), 0..100)) {
        let (mut value, mut size, mut error) = ([0.0f32; PANEL], [0.0f32; PANEL], [0.0f32; PANEL]);
        let mut least = BigRational::zero();
        for (k, &(a, b, c)) in pairs.iter().enumerate() {
            let lane = k % PANEL;
            let (first, second) = (a * b, b * c);
            value[lane] += first + second;
            size[lane] += first.abs() + second.abs();
            error[lane] += a.abs() * c.abs();
            let [a, b, c] = [a, b, c].map(|v| exact(v.into()));
            least += &a * &b + &b * &c - (&a * &c).abs();
        }
        let mut sum = Sum::default();
        sum.add_lanes(&value, &size, &error, pairs.len().div_ceil(PANEL));
        let bound = sum.lower_32();
        prop_assert!(bound == f32::NEG_INFINITY || exact(bound.into()) <= least, "{bound} above {least}");
    }

    #[test]
    fn charges_are_not_lost(charges in vec((number(), number()), 0..30)) {
        let mut sum = Sum::new(0.0, 0.0);
        let mut total = BigRational::zero();
        for &(a, b) in &charges {
            sum.charge((a * b).abs(), 1);
            total += (exact(a) * exact(b)).abs();
        }
        let bound = sum.lower();
        prop_assert!(bound == f64::NEG_INFINITY || exact(bound) <= -total);
    }

    #[test]
    fn products_are_at_most_their_bound(factors in vec(number(), 1..6)) {
        let (mut value, mut size) = (1.0, exact(1.0));
        for &factor in &factors {
            // Only products that stay normal, or end as one that underflows, keep their errors relative.
            value *= factor.abs();
            size *= exact(factor).abs();
            if !value.is_normal() {
                break;
            }
        }
        let bound = at_most(value, factors.len());
        prop_assert!(bound == f64::INFINITY || exact(bound) >= size);
    }

    #[test]
    fn floats_below_and_above_are_the_nearest(value in number()) {
        let (low, high) = (below(value), above(value));
        prop_assert!(f64::from(low) <= value && value <= f64::from(high));
        prop_assert!(low == high || low.next_up() == high);
    }
}
