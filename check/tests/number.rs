//! Numbers against values worked out by hand, and against laws that hold of all of them.

use pg_check::{Dyadic, Ratio};

fn dyadic(mantissa: i128, exponent: i32) -> Dyadic {
    Dyadic::new(mantissa, exponent).expect("it fits")
}

fn ratio(text: &str) -> Ratio {
    Ratio::parse(text).unwrap_or_else(|| panic!("{text} is a decimal"))
}

/// Whether one number is at most another, by the sign of the difference.
fn is_at_most(low: Dyadic, high: Dyadic) -> bool {
    negated(low).add(high).expect("it fits").mantissa >= 0
}

fn negated(value: Dyadic) -> Dyadic {
    value.mul(dyadic(-1, 0)).expect("it fits")
}

/// Whether the quotient is at most the error away from `value`: `|dividend - value · divisor| ≤ error · |divisor|`.
fn is_within(value: Dyadic, error: Dyadic, divisor: Dyadic, dividend: Dyadic) -> bool {
    let product = value.mul(divisor).expect("it fits");
    let difference = dividend.add(negated(product)).expect("it fits").abs();
    is_at_most(difference, error.mul(divisor.abs()).expect("it fits"))
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
fn infinities_and_nan_are_refused() {
    for bits in [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0xffff_ffff] {
        assert_eq!(Dyadic::from_f32_bits(bits), None);
    }
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
fn rounded_results_lie_within_their_error() {
    let third = Dyadic::ONE.div(dyadic(3, 0)).expect("it fits");
    assert!(!third.1.is_zero() && is_at_most(third.1, dyadic(1, -64)));
    let mut state = 1u64;
    for _ in 0..2_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let dividend = dyadic(i128::from(state >> 44) - (1 << 19), (state % 7) as i32);
        let divisor = dyadic(i128::from((state >> 20) % 999) - 999, -3);
        let (quotient, error) = dividend.div(divisor).expect("it fits");
        assert!(is_within(quotient, error, divisor, dividend), "{dividend:?} / {divisor:?}");
    }
    assert_eq!(dyadic(21, 3).div(dyadic(-7, 1)), Some((dyadic(-3, 2), Dyadic::ZERO)));
    assert_eq!(dyadic(5, 0).div(dyadic(1, -3)), Some((dyadic(5, 3), Dyadic::ZERO)));
    assert_eq!(Dyadic::ZERO.div(dyadic(3, 0)), Some((Dyadic::ZERO, Dyadic::ZERO)));
    assert_eq!(Dyadic::ONE.div(Dyadic::ZERO), None);
    assert_eq!(Dyadic::ONE.div(dyadic((1 << 63) + 1, 0)), None);
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
    ];
    for (text, numerator, denominator) in expected {
        assert_eq!(ratio(text), Ratio { numerator, denominator }, "{text}");
    }
    for text in [
        "", ".", "-", "e5", "1e", "1e+", "1.2.3", "0x1", "1,5", "--1", "1e1.5", "1.0a", "1.a0", "1e40", "1e-39", "∞",
        ".-5", "1.+5", "1.-5", "0e9999",
    ] {
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
}

#[test]
fn ratios_are_compared_exactly_or_not_at_all() {
    let mut values = Vec::new();
    for numerator in [-355, -7, -1, 0, 1, 2, 22, 355] {
        for denominator in [1, 2, 7, 113, 1 << 60] {
            values.push(Ratio::new(numerator, denominator).expect("not zero"));
        }
    }
    for (left, right) in values.iter().flat_map(|left| values.iter().map(move |right| (left, right))) {
        let products = (left.numerator * right.denominator, right.numerator * left.denominator);
        assert_eq!(left.is_less(*right), Some(products.0 < products.1), "{left:?} {right:?}");
    }
    let (long, longer) = (ratio("0.1234567890123456789012345"), ratio("0.12345678901234567890123451"));
    assert_eq!((long.is_less(longer), longer.is_less(long)), (Some(true), Some(false)));
    let odd = |denominator| Ratio::new(i128::MAX, denominator).expect("not zero");
    assert_eq!(odd(i128::MAX - 1).is_less(odd(i128::MAX - 2)), None);
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
