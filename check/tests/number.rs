//! Numbers against values worked out by hand, and against laws that hold of all of them.

use std::cmp::Ordering;

use pg_check::number::{Dyadic, Ratio};

fn dyadic(mantissa: i128, exponent: i32) -> Dyadic {
    Dyadic::new(mantissa, exponent).expect("it fits")
}

fn ratio(text: &str) -> Ratio {
    Ratio::parse(text).unwrap_or_else(|| panic!("{text} is a decimal"))
}

/// Whether the quotient is at most the error away from `value`: `|dividend - value · divisor| ≤ error · |divisor|`.
fn is_within(value: Dyadic, error: Dyadic, divisor: Dyadic, dividend: Dyadic) -> bool {
    let product = value.mul(divisor).expect("it fits");
    let difference = dividend.add(product.neg()).expect("it fits").abs();
    difference <= error.mul(divisor.abs()).expect("it fits")
}

#[test]
fn floats_of_every_exponent_have_their_value() {
    for field in 0..255u32 {
        let (one, exponent) = if field == 0 { (0, -149) } else { (1 << 23, field as i32 - 150) };
        for fraction in [0u32, 1, 0x40_0000, 0x7f_ffff] {
            for sign in [0u32, 1] {
                let bits = sign << 31 | field << 23 | fraction;
                let magnitude = i128::from(one | fraction);
                let expected = dyadic(if sign == 1 { -magnitude } else { magnitude }, exponent);
                assert_eq!(Dyadic::from_f32_bits(bits), Some(expected), "{bits:08x}");
            }
        }
    }
    assert_eq!(Dyadic::from_f32_bits(0x8000_0000), Some(Dyadic::ZERO));
}

#[test]
fn floats_of_other_widths() {
    assert_eq!(Dyadic::from_f16_bits(0x3c00), Some(Dyadic::ONE));
    assert_eq!(Dyadic::from_f16_bits(0x0001), Some(dyadic(1, -24)));
    assert_eq!(Dyadic::from_f16_bits(0xfbff), Some(dyadic(-65504, 0)));
    assert_eq!(Dyadic::from_bf16_bits(0x3f80), Some(Dyadic::ONE));
    assert_eq!(Dyadic::from_bf16_bits(0xc0a0), Some(dyadic(-5, 0)));
    assert_eq!(Dyadic::from_f64_bits(0x3ff8_0000_0000_0000), Some(dyadic(3, -1)));
    assert_eq!(Dyadic::from_f64_bits(1), Some(dyadic(1, -1074)));
    assert_eq!(Dyadic::from_f64_bits(0x7fef_ffff_ffff_ffff), Some(dyadic((1 << 53) - 1, 971)));
}

#[test]
fn infinities_and_nan_are_refused() {
    for bits in [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffff_ffff] {
        assert_eq!(Dyadic::from_f32_bits(bits), None);
    }
    assert_eq!(Dyadic::from_f16_bits(0x7c00), None);
    assert_eq!(Dyadic::from_bf16_bits(0x7f80), None);
    assert_eq!(Dyadic::from_f64_bits(0x7ff0_0000_0000_0000), None);
}

#[test]
fn dyadic_arithmetic_is_exact_or_fails() {
    assert_eq!(dyadic(12, -2), dyadic(3, 0));
    assert_eq!(dyadic(3, 0).add(dyadic(1, -2)), Some(dyadic(13, -2)));
    assert_eq!(dyadic(3, 4).add(dyadic(-3, 4)), Some(Dyadic::ZERO));
    assert_eq!(dyadic(3, 5).mul(dyadic(-5, -7)), Some(dyadic(-15, -2)));
    assert_eq!(dyadic(1, 0).add(dyadic(1, 127)), None);
    assert_eq!(dyadic(1, 0).add(dyadic(1, 126)).map(|sum| sum.mantissa), Some((1 << 126) + 1));
    assert_eq!(dyadic(i128::MAX, 0).add(dyadic(2, 0)), None);
    assert_eq!(dyadic(i128::MAX, 0).mul(dyadic(3, 0)), None);
    assert_eq!(dyadic(1, i32::MAX).mul(dyadic(1, 1)), None);
    assert_eq!(Dyadic::new(2, i32::MAX), None);
    assert_eq!(Dyadic::new(i128::MIN, 0), Some(Dyadic { mantissa: -1, exponent: 127 }));
}

#[test]
fn dyadic_order_is_that_of_the_values() {
    let ascending = [
        dyadic(-i128::MAX, 9),
        dyadic(-1, 100),
        dyadic(-3, 0),
        dyadic(-1, 0),
        dyadic(-1, -1000),
        Dyadic::ZERO,
        dyadic(1, i32::MIN),
        dyadic(1, -149),
        dyadic(1, 0),
        dyadic((1 << 100) + 1, -100),
        dyadic(3, -1),
        dyadic(1, 1),
        dyadic(1, i32::MAX),
    ];
    for (i, left) in ascending.iter().enumerate() {
        for (j, right) in ascending.iter().enumerate() {
            assert_eq!(left.cmp(right), i.cmp(&j), "{left:?} {right:?}");
        }
    }
}

#[test]
fn rounded_results_lie_within_their_error() {
    let third = Dyadic::ONE.div_near(dyadic(3, 0)).expect("it fits");
    assert!(!third.1.is_zero() && third.1 < dyadic(1, -95));
    let mut state = 1u64;
    for _ in 0..2_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dividend = dyadic(i128::from(state >> 44) - (1 << 19), (state % 7) as i32);
        let divisor = dyadic(i128::from((state >> 20) % 999) - 999, -3);
        let (quotient, error) = dividend.div_near(divisor).expect("it fits");
        assert!(is_within(quotient, error, divisor, dividend), "{dividend:?} / {divisor:?}");
    }
    assert_eq!(dyadic(21, 3).div_near(dyadic(-7, 1)), Some((dyadic(-3, 2), Dyadic::ZERO)));
    assert_eq!(Dyadic::ONE.div_near(Dyadic::ZERO), None);
}

#[test]
fn what_does_not_fit_is_rounded_with_a_bound() {
    let (sum, error) = dyadic(1, 200).add_near(dyadic(-1, 0)).expect("it fits");
    assert!(sum <= dyadic(1, 200) && sum.add(error).is_some_and(|high| high >= dyadic(1, 200)));
    assert!(error <= dyadic(1, 110));
    let factor = dyadic((1 << 100) - 1, -100);
    let (square, error) = factor.mul_near(factor).expect("it fits");
    // The square is 1 - 2^-99 + 2^-200.
    assert!(square < Dyadic::ONE && square.add(error).is_some_and(|high| high >= dyadic((1 << 99) - 1, -99)));
    assert!(error < dyadic(1, -55));
    assert_eq!(dyadic(3, 0).add_near(dyadic(1, -1)), Some((dyadic(7, -1), Dyadic::ZERO)));
}

#[test]
fn bounds_on_errors_are_rounded_up() {
    let long = dyadic((1 << 90) + 1, -90);
    assert!(long.add_up(dyadic(1, -500)).is_some_and(|sum| sum > long && sum < dyadic(1_001, 0)));
    assert!(long.mul_up(long.neg()).is_some_and(|product| product > long && product < dyadic(3, -1)));
    assert_eq!(Dyadic::ZERO.add_up(long.neg()), Some(long));
    assert_eq!(Dyadic::ZERO.mul_up(long), Some(Dyadic::ZERO));
}

#[test]
fn decimals_are_read_exactly() {
    let expected = [
        ("0", 0, 1),
        ("-0.0", 0, 1),
        ("+5.", 5, 1),
        (".5", 1, 2),
        ("-0.034771241830065365", -6_954_248_366_013_073, 200_000_000_000_000_000),
        ("1e-3", 1, 1000),
        ("4.0E2", 400, 1),
        ("1.250000000000000000000000000000000000000000000", 5, 4),
        ("0e9999", 0, 1),
    ];
    for (text, numerator, denominator) in expected {
        assert_eq!(ratio(text), Ratio { numerator, denominator }, "{text}");
    }
    for text in
        ["", ".", "-", "e5", "1e", "1e+", "1.2.3", "0x1", "1,5", "--1", "1e1.5", "1.0a", "1.a0", "1e40", "1e-39", "∞"]
    {
        assert_eq!(Ratio::parse(text), None, "{text}");
    }
}

#[test]
fn ratio_arithmetic_is_exact_or_fails() {
    assert_eq!(ratio("0.1").add(ratio("0.2")), Some(ratio("0.3")));
    assert_eq!(ratio("0.25").mul(ratio("-8")), Some(ratio("-2")));
    assert_eq!(ratio("1").div(ratio("-4")), Some(ratio("-0.25")));
    assert_eq!(ratio("1").div(Ratio::ZERO), None);
    assert_eq!(ratio("1e38").mul(ratio("10")), None);
    assert_eq!(ratio("1e38").mul(ratio("1e-38")), Some(Ratio::ONE));
    assert_eq!(ratio("1e38").add(ratio("1e38")), None);
    assert!(ratio("0.375").is_decimal() && !ratio("1").div(ratio("3")).expect("it fits").is_decimal());
}

#[test]
fn ratios_are_ordered_without_overflow() {
    let mut values = Vec::new();
    for numerator in [-i128::MAX, -7, -1, 0, 1, 2, 22, 355, i128::MAX - 1, i128::MAX] {
        for denominator in [1, 2, 7, 113, i128::MAX - 2, i128::MAX] {
            values.push(Ratio::new(numerator, denominator).expect("not zero"));
        }
    }
    let small = values.iter().filter(|value| value.numerator.abs() < 1 << 60 && value.denominator < 1 << 60);
    let small: Vec<_> = small.collect();
    for (left, right) in small.iter().flat_map(|left| small.iter().map(move |right| (left, right))) {
        let products = (left.numerator * right.denominator, right.numerator * left.denominator);
        assert_eq!(left.cmp(right), products.0.cmp(&products.1), "{left:?} {right:?}");
    }
    values.sort();
    assert!(values.windows(2).all(|pair| pair[0].cmp(&pair[1]) != Ordering::Greater));
    assert!(Ratio::new(i128::MAX - 1, i128::MAX) > Ratio::new(i128::MAX - 2, i128::MAX - 1));
}

#[test]
fn scaling_rounds_down_and_up() {
    assert_eq!(ratio("0.1").floor_scaled(4), Some(1));
    assert_eq!(ratio("0.1").ceil_scaled(4), Some(2));
    assert_eq!(ratio("-0.1").floor_scaled(4), Some(-2));
    assert_eq!(ratio("-0.1").ceil_scaled(4), Some(-1));
    assert_eq!(ratio("0.5").floor_scaled(1), Some(1));
    assert_eq!(ratio("0.5").ceil_scaled(1), Some(1));
    assert_eq!(ratio("13").floor_scaled(-2), Some(3));
    assert_eq!(ratio("-13").ceil_scaled(-2), Some(-3));
    assert_eq!(ratio("13").floor_scaled(-2_000), Some(0));
    assert_eq!(ratio("-13").floor_scaled(i32::MIN), Some(-1));
    assert_eq!(ratio("1e-30").floor_scaled(200), Some(1_606_938_044_258_990_275_541_962_092_341));
    assert_eq!(ratio("1").floor_scaled(127), None);
    assert_eq!(Ratio::ZERO.floor_scaled(i32::MAX), Some(0));
}
