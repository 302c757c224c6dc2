//! Cases as VNN-LIB text, every number an exact decimal.

use super::{Case, Conjunction};
use crate::oracle::{Linear, Row};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

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

/// The number without rounding; its denominator must divide a power of ten.
fn decimal(value: &BigRational) -> String {
    let (mut digits, mut unit) = (0, BigInt::one());
    while !(value * &unit).is_integer() {
        (digits, unit) = (digits + 1, unit * 10);
        assert!(digits <= 60, "{value} has no short decimal expansion");
    }
    let scaled = (value * &unit).to_integer().abs().to_string();
    let padded = format!("{scaled:0>width$}", width = digits + 1);
    let (whole, fraction) = padded.split_at(padded.len() - digits);
    let sign = if value.is_negative() { "-" } else { "" };
    if digits == 0 { format!("{sign}{whole}.0") } else { format!("{sign}{whole}.{fraction}") }
}
