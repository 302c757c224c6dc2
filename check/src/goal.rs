//! Rows of a property as functions to bound: integers over one denominator, which does not matter since only the sign does.

use crate::{Disjunct, Dyadic, Ratio, Start, UNIT, gcd};
use std::collections::BTreeMap;

/// Bits behind the point of weights.
const WEIGHT: i32 = 24;
/// Bits of coefficients.
const BITS: u32 = 50;

/// Rows times weights, added up, for the stage of the outputs; `None` if coefficients have too many digits. A weight is not negative;
/// any is sound, so it is rounded down.
pub fn combined(disjunct: &Disjunct, weights: &[(usize, Dyadic)], stage: usize) -> Option<Start> {
    let (mut denominator, mut constant) = (1i128, 0i128);
    for (_, term) in weights.iter().flat_map(|(row, _)| &disjunct.rows[*row].terms) {
        denominator = (denominator / gcd(denominator, term.denominator)?).checked_mul(term.denominator)?;
    }
    let mut sums = BTreeMap::new();
    for (row, weight) in weights {
        let (row, weight) = (&disjunct.rows[*row], weight.floor_scaled(WEIGHT)?);
        for (variable, term) in &row.terms {
            let whole = term.numerator.checked_mul(denominator / term.denominator)?.checked_mul(weight)?;
            let sum = sums.entry(*variable).or_insert(0i64);
            *sum = sum.checked_add(i64::try_from(whole).ok()?).filter(|sum| sum.unsigned_abs() >> BITS == 0)?;
        }
        let numerator = row.constant.numerator.checked_mul(weight.checked_mul(denominator)?)?;
        let scaled = Ratio { numerator, denominator: row.constant.denominator }.floor_scaled(UNIT - WEIGHT);
        constant = constant.checked_add(scaled?)?;
    }
    let of = |output: bool| sums.iter().filter(move |((is_output, _), _)| *is_output == output);
    let [x, nu] = [false, true].map(|output| of(output).map(|((_, number), sum)| (*number, *sum)).collect());
    Some(Start { stage, nu, x, constant, exponent: WEIGHT, factor: i64::try_from(denominator).ok()? })
}
