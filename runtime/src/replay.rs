//! The real-valued network at one input: enclosed in float64, and exactly.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};
use pg_core::sweep::Ball;
use pg_core::{Shape, Source};
use pg_property::Decimal;

/// Lower and upper bounds of each output of the model's real-valued network at an input, which is enclosed itself.
pub fn enclose(shape: &Shape, (lower, upper): (&[f64], &[f64])) -> (Vec<f64>, Vec<f64>) {
    let mut room = vec![Ball::default(); shape.inputs + shape.neurons()];
    for (ball, (&l, &u)) in room.iter_mut().zip(lower.iter().zip(upper)) {
        *ball = Ball { centre: l, radius: if l == u { 0.0 } else { (u - l).next_up() } };
    }
    pg_core::sweep::enclose(shape, &mut room);
    let outputs = &room[room.len() - shape.outputs()..];
    let low = outputs.iter().map(|ball| (ball.centre - ball.radius).next_down()).collect();
    let high = outputs.iter().map(|ball| (ball.centre + ball.radius).next_up()).collect();
    (low, high)
}

/// The outputs at an input, exactly; `None` where the stages are not exactly the model's.
///
/// Floats are integers times powers of two, and so is everything computed from them: all numbers of a stage are kept as
/// integers over one common power.
pub fn evaluate(shape: &Shape, input: &[f32]) -> Option<Vec<Decimal>> {
    if !shape.is_exact() {
        return None;
    }
    let mut values = vec![Dyadics::of(input)?];
    for (k, stage) in shape.stages.iter().enumerate() {
        let bias = Dyadics::of(stage.bias)?;
        let mut sums: Vec<(Vec<BigInt>, i64)> = vec![(bias.numbers, bias.exponent)];
        for edge in stage.edges {
            let read = &values[if let Source::Stage(s) = edge.from { s + 1 } else { 0 }];
            let weights: Vec<Vec<(usize, f32)>> = (0..stage.width()).map(|j| edge.map.row(j).collect()).collect();
            let least = weights.iter().flatten().map(|(_, w)| parts(*w).1).min().unwrap_or(0);
            let dot = |row: &Vec<(usize, f32)>| row.iter().map(|&(i, w)| scaled(w, least) * &read.numbers[i]).sum();
            sums.push((weights.iter().map(dot).collect(), least + read.exponent));
        }
        let mut z = Dyadics::sum(sums);
        if k < shape.last() {
            z.numbers.iter_mut().filter(|z| z.is_negative()).for_each(BigInt::set_zero);
        }
        values.push(z);
    }
    let outputs = values.pop()?;
    Some(outputs.numbers.into_iter().map(|number| Decimal::from_dyadic(number, outputs.exponent)).collect())
}

/// Integers times one power of two.
struct Dyadics {
    numbers: Vec<BigInt>,
    exponent: i64,
}

impl Dyadics {
    /// `None` if one is not finite.
    fn of(floats: &[f32]) -> Option<Dyadics> {
        if !floats.iter().all(|v| v.is_finite()) {
            return None;
        }
        let exponent = floats.iter().filter(|v| **v != 0.0).map(|&v| parts(v).1).min().unwrap_or(0);
        Some(Dyadics { numbers: floats.iter().map(|&v| scaled(v, exponent)).collect(), exponent })
    }

    fn sum(terms: Vec<(Vec<BigInt>, i64)>) -> Dyadics {
        let exponent = terms.iter().map(|(_, exponent)| *exponent).min().unwrap_or(0);
        let mut numbers = vec![BigInt::zero(); terms.first().map_or(0, |(numbers, _)| numbers.len())];
        for (term, from) in terms {
            let shift = usize::try_from(from - exponent).expect("the least exponent");
            numbers.iter_mut().zip(term).for_each(|(sum, term)| *sum += term << shift);
        }
        Dyadics { numbers, exponent }
    }
}

/// A finite float as an integer and an exponent.
fn parts(value: f32) -> (i64, i64) {
    let bits = value.to_bits();
    let (exponent, fraction) = (i64::from(bits >> 23 & 0xff), i64::from(bits & 0x7f_ffff));
    let (mantissa, exponent) = if exponent == 0 { (fraction, -149) } else { (fraction | 1 << 23, exponent - 150) };
    (if value.is_sign_negative() { -mantissa } else { mantissa }, exponent)
}

/// A float as an integer times two to a given exponent, not above its own unless it is 0.
fn scaled(value: f32, exponent: i64) -> BigInt {
    let (mantissa, own) = parts(value);
    if mantissa == 0 { BigInt::zero() } else { BigInt::from(mantissa) << (own - exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_taken_apart_exactly() {
        for value in [1.0, -0.1, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), -f32::from_bits(77), 0.0, -0.0] {
            let exact = Dyadics::of(&[value, f32::from_bits(1)]).expect("finite");
            let decimal = Decimal::from_dyadic(exact.numbers[0].clone(), exact.exponent);
            assert_eq!(Some(decimal), Decimal::from_f32(value), "{value}");
        }
        assert!(Dyadics::of(&[f32::NAN]).is_none());
    }
}
