//! Rows of a property as functions to bound: integers over one denominator, which does not matter since only the sign does.

use crate::bound::{Given, Start};
use crate::fixed::shift_down;
use crate::number::Ratio;
use crate::property::Disjunct;
use crate::region::UNIT;
use crate::{Refused, refused};

/// Bits behind the point of weights.
const WEIGHT: i32 = 24;

/// Rows times weights, added up, for the stage of the outputs. A weight is not negative; any is sound, so it is rounded down.
pub fn combined(disjunct: &Disjunct, weights: &[(usize, Given)], stage: usize) -> Result<Start, Refused> {
    let too_large = || refused("the coefficients of a row have too many digits");
    let mut start = Start { stage, nu: vec![], x: vec![], constant: 0, exponent: WEIGHT, factor: 1 };
    let mut denominator = 1i128;
    for (row, _) in weights {
        for (_, Ratio { denominator: other, .. }) in disjunct.rows[*row].x.iter().chain(&disjunct.rows[*row].y) {
            denominator = (denominator / gcd(denominator, *other)).checked_mul(*other).ok_or_else(too_large)?;
        }
    }
    for (row, weight) in weights {
        if weight.mantissa < 0 {
            return Err(refused("a weight is negative"));
        }
        let weight = shift_down(weight.mantissa.into(), weight.exponent + WEIGHT).ok_or_else(too_large)?;
        let row = &disjunct.rows[*row];
        for (terms, into) in [(&row.x, &mut start.x), (&row.y, &mut start.nu)] {
            for (index, Ratio { numerator, denominator: own }) in terms {
                let whole = numerator.checked_mul(denominator / own).and_then(|whole| whole.checked_mul(weight));
                let whole = whole.and_then(|whole| i64::try_from(whole).ok()).ok_or_else(too_large)?;
                add(into, *index, whole).ok_or_else(too_large)?;
            }
        }
        let factor = weight.checked_mul(denominator).ok_or_else(too_large)?;
        let numerator = row.constant.numerator.checked_mul(factor).ok_or_else(too_large)?;
        let constant = Ratio { numerator, denominator: row.constant.denominator }.floor_scaled(UNIT - WEIGHT);
        let sum = constant.and_then(|constant| start.constant.checked_add(constant));
        start.constant = sum.ok_or_else(too_large)?;
    }
    start.factor = i64::try_from(denominator).map_err(|_| too_large())?;
    let is_small = |&(_, a): &(usize, i64)| a.unsigned_abs() >> 50 == 0;
    if start.nu.iter().chain(&start.x).all(is_small) { Ok(start) } else { Err(too_large()) }
}

fn add(terms: &mut Vec<(usize, i64)>, index: usize, value: i64) -> Option<()> {
    match terms.iter_mut().find(|(known, _)| *known == index) {
        Some((_, sum)) => *sum = sum.checked_add(value)?,
        None => terms.push((index, value)),
    }
    Some(())
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
