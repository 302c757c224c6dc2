//! Cases as VNN-LIB text, every number an exact decimal.

use super::{Case, Conjunction};
use crate::oracle::{Linear, Row};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// Numbers of at most this many decimals, and of about as many digits before the point, are written plainly.
const PLAIN: u32 = 60;
/// No exponent of a larger magnitude is written.
const LARGEST_EXPONENT: i64 = 400;

pub fn text(case: &Case) -> String {
    let (inputs, outputs) = (case.net[0].weights[0].len(), case.net[case.net.len() - 1].bias.len());
    let names = (0..inputs).map(|i| format!("X_{i}")).chain((0..outputs).map(|j| format!("Y_{j}")));
    let mut text: String = names.map(|name| format!("(declare-const {name} Real)\n")).collect();
    let mut assert = |condition: &str| text += &format!("(assert {condition})\n");
    if let [only] = case.disjuncts.as_slice() {
        conditions(only).iter().for_each(|condition| assert(condition));
        return text;
    }
    for i in 0..inputs {
        let least = case.disjuncts.iter().map(|d| &d.region.lower[i]).min().expect("a disjunct");
        let largest = case.disjuncts.iter().map(|d| &d.region.upper[i]).max().expect("a disjunct");
        assert(&format!("(and (>= X_{i} {}) (<= X_{i} {}))", decimal(least), decimal(largest)));
    }
    let disjuncts: Vec<_> = case.disjuncts.iter().map(|d| format!("(and {})", conditions(d).join(" "))).collect();
    assert(&format!("(or\n  {})", disjuncts.join("\n  ")));
    text
}

fn conditions(conjunction: &Conjunction) -> Vec<String> {
    let region = &conjunction.region;
    let ends = region.lower.iter().zip(&region.upper).enumerate();
    let bounds =
        ends.flat_map(|(i, (l, u))| [format!("(>= X_{i} {})", decimal(l)), format!("(>= {} X_{i})", decimal(u))]);
    let closed = region.rows.iter().map(|form| condition(form, false));
    let rows = conjunction.rows.iter().map(|Row { form, strict }| condition(form, *strict));
    bounds.chain(closed).chain(rows).collect()
}

/// `form` ≤ 0, written either way round depending on its constant.
fn condition(form: &Linear, strict: bool) -> String {
    let named = |coefficients: &[BigRational], letter: &str| -> Vec<String> {
        let terms = coefficients.iter().enumerate().filter(|(_, c)| !c.is_zero());
        terms.map(|(i, c)| term(c, &format!("{letter}_{i}"))).collect()
    };
    let terms = [named(&form.input, "X"), named(&form.output, "Y")].concat();
    let sum = match terms.as_slice() {
        [] => "0.0".into(),
        [only] => only.clone(),
        _ => format!("(+ {})", terms.join(" ")),
    };
    let (limit, equal) = (decimal(&-&form.constant), if strict { "" } else { "=" });
    if form.constant.is_negative() { format!("(<{equal} {sum} {limit})") } else { format!("(>{equal} {limit} {sum})") }
}

fn term(coefficient: &BigRational, variable: &str) -> String {
    if coefficient.is_one() { variable.into() } else { format!("(* {} {variable})", decimal(coefficient)) }
}

/// The number without rounding, in plain notation if that is short and as `d.ddde-ddd` otherwise. Its denominator must
/// divide a power of ten.
pub fn decimal(value: &BigRational) -> String {
    let digits = decimals(value).unwrap_or_else(|| panic!("{value} has no decimal expansion"));
    let scaled = (value * power_of_ten(digits)).to_integer().abs().to_string();
    let sign = if value.is_negative() { "-" } else { "" };
    let exponent = scaled.len() as i64 - 1 - i64::from(digits);
    let is_short = digits <= PLAIN && exponent <= i64::from(PLAIN);
    if !is_short && exponent.abs() <= LARGEST_EXPONENT {
        let (first, rest) = scaled.split_at(1);
        let rest = rest.trim_end_matches('0');
        return format!("{sign}{first}.{}e{exponent}", if rest.is_empty() { "0" } else { rest });
    }
    let padded = format!("{scaled:0>width$}", width = digits as usize + 1);
    let (whole, fraction) = padded.split_at(padded.len() - digits as usize);
    if digits == 0 { format!("{sign}{whole}.0") } else { format!("{sign}{whole}.{fraction}") }
}

/// The number of decimals of the expansion, or `None` if it is infinite.
///
/// With a denominator 2^a·5^b that is max(a, b): one decimal supplies one factor of each.
pub fn decimals(value: &BigRational) -> Option<u32> {
    let twos = value.denom().trailing_zeros().unwrap_or(0) as u32;
    let mut rest = value.denom() >> twos;
    let mut fives = 0;
    while (&rest % 5u8).is_zero() {
        (rest, fives) = (rest / 5u8, fives + 1);
    }
    rest.is_one().then_some(twos.max(fives))
}

pub fn power_of_ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_without_rounding() {
        let ratio = |numerator: i64, denominator: BigInt| BigRational::new(numerator.into(), denominator);
        assert_eq!(decimal(&ratio(0, BigInt::one())), "0.0");
        assert_eq!(decimal(&ratio(-3, BigInt::from(8))), "-0.375");
        assert_eq!(decimal(&ratio(1200, BigInt::one())), "1200.0");
        assert_eq!(decimal(&(ratio(-25, BigInt::one()) * power_of_ten(299))), "-2.5e300");
        assert_eq!(decimal(&ratio(7, power_of_ten(100))), "7.0e-100");
        assert_eq!(decimal(&ratio(1, BigInt::from(1u128 << 70))).parse(), Ok(2f64.powi(-70)));
        assert_eq!(decimal(&ratio(1, BigInt::one() << 1000)).parse(), Ok(2f64.powi(-1000)));
        assert_eq!(decimal(&ratio(3, power_of_ten(500))), format!("0.{}3", "0".repeat(499)));
        assert_eq!(decimals(&ratio(1, BigInt::from(3))), None);
    }
}
