//! Decimals against big integers, and their roundings against exact comparison.

use num_bigint::BigInt;
use proptest::prelude::*;

use crate::Decimal;

fn decimal() -> impl Strategy<Value = Decimal> {
    let digits = prop_oneof![3 => "-?[0-9]{1,9}", 3 => "-?[0-9]{1,20}", 1 => "-?[0-9]{1,120}"];
    let exponent = prop_oneof![3 => -30..30, 1 => -60..60, 1 => -400..400];
    (digits, exponent).prop_map(|(digits, e)| format!("{digits}e{e}").parse().unwrap())
}

/// Decimals on, and a hair beside, floats and midpoints of floats, where rounding is hardest.
fn near_float() -> impl Strategy<Value = Decimal> {
    let float = prop_oneof![
        any::<f32>().prop_map(f64::from),
        any::<f64>(),
        Just(f64::from(f32::MAX)),
        Just(f64::MAX),
        Just(f64::from_bits(1)),
    ];
    let hair = prop_oneof![Just("0"), Just("1e-400"), Just("-1e-400"), Just("1e292"), Just("1e30")];
    (float.prop_filter_map("not finite", Decimal::from_f64), hair, any::<bool>()).prop_map(|(float, hair, half)| {
        let moved = &float + &hair.parse().unwrap();
        if half { &moved * &"0.5".parse().unwrap() } else { moved }
    })
}

/// Checks that `down` and `up` are the floats next to the value on either side.
macro_rules! assert_tight {
    ($from:path, $value:expr, $down:expr, $up:expr) => {
        let (value, down, up) = ($value, $down, $up);
        prop_assert!(down.is_infinite() || $from(down).unwrap() <= *value);
        prop_assert!(up.is_infinite() || $from(up).unwrap() >= *value);
        prop_assert!(down < f64::INFINITY as _ && up > f64::NEG_INFINITY as _);
        if let Some(above) = $from(down.next_up()) {
            prop_assert!(above > *value);
        }
        if let Some(below) = $from(up.next_down()) {
            prop_assert!(below < *value);
        }
    };
}

#[test]
fn bits_beyond_the_64_leading_ones_count() {
    let decimal = |text: &str| text.parse::<Decimal>().unwrap();
    let power = 2f64.powi(64);
    let beyond = decimal("18446744073709551617");
    assert_eq!((beyond.to_f64_down(), beyond.to_f64_up()), (power, power.next_up()));
    let midpoint = decimal("1.000000059604644775390625");
    let one = Decimal::one();
    assert_eq!(midpoint.quotient_to_f32(&one), Some(1.0));
    let hair = decimal("1e-300");
    assert_eq!((&midpoint + &hair).quotient_to_f32(&one), Some(1f32.next_up()));
    assert_eq!((&midpoint - &hair).quotient_to_f32(&one), Some(1.0));
    let smallest = decimal("1e-45");
    assert_eq!(smallest.quotient_to_f32(&one), Some(f32::from_bits(1)));
    assert_eq!(decimal("1e-300").quotient_to_f32(&one), Some(0.0));
}

proptest! {
    #[test]
    fn directed_roundings_are_tight(value in prop_oneof![decimal(), near_float()]) {
        assert_tight!(Decimal::from_f64, &value, value.to_f64_down(), value.to_f64_up());
        assert_tight!(Decimal::from_f32, &value, value.to_f32_down(), value.to_f32_up());
    }

    #[test]
    fn floats_convert_exactly(x in any::<f64>(), y in any::<f32>()) {
        if let Some(exact) = Decimal::from_f64(x) {
            prop_assert_eq!((exact.to_f64_down(), exact.to_f64_up()), (x, x));
        }
        if let Some(exact) = Decimal::from_f32(y) {
            prop_assert_eq!((exact.to_f32_down(), exact.to_f32_up()), (y, y));
        }
    }

    #[test]
    fn floats_order_as_decimals(x in any::<f64>(), y in any::<f64>()) {
        if let (Some(a), Some(b)) = (Decimal::from_f64(x), Decimal::from_f64(y)) {
            prop_assert_eq!(a.partial_cmp(&b), x.partial_cmp(&y));
        }
    }

    #[test]
    fn arithmetic_is_that_of_integers(a in decimal(), b in decimal()) {
        let integer = |value: &Decimal| -> BigInt { value.scaled_to_integer(800) };
        prop_assert_eq!(integer(&(&a + &b)), integer(&a) + integer(&b));
        prop_assert_eq!(integer(&(&a - &b)), integer(&a) - integer(&b));
        prop_assert_eq!(integer(&-&a), -integer(&a));
        prop_assert_eq!((&a * &b).scaled_to_integer(1600), integer(&a) * integer(&b));
        prop_assert_eq!(a.cmp(&b), integer(&a).cmp(&integer(&b)));
        if let Some(quotient) = a.exact_quotient(&b) {
            prop_assert_eq!(&quotient * &b, a.clone());
        }
        if let Some((low, high)) = a.enclosed_quotient(&b) {
            let (low, high) = if b.is_negative() { (high, low) } else { (low, high) };
            prop_assert!(&low * &b <= a && &high * &b >= a);
        }
    }

    #[test]
    fn text_round_trips(value in decimal()) {
        prop_assert_eq!(value.to_string().parse(), Ok(value));
    }

    #[test]
    fn quotients_round_as_float_division(a in any::<f32>(), b in any::<f32>()) {
        if let (Some(exact_a), Some(exact_b)) = (Decimal::from_f32(a), Decimal::from_f32(b)) {
            let expected = Some(a / b).filter(|quotient| quotient.is_finite());
            prop_assert_eq!(exact_a.quotient_to_f32(&exact_b), expected);
        }
    }

    #[test]
    fn small_quotients_round_as_float_division(a in -2000i64..2000, b in 1i64..2000) {
        let quotient = Decimal::from(a).quotient_to_f32(&Decimal::from(b));
        prop_assert_eq!(quotient, Some(a as f32 / b as f32));
    }
}
