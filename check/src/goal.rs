//! Rows of a property as functions to bound: integers over one denominator, which does not matter since only the sign does.

use crate::bound::Start;
use crate::number::{Dyadic, Ratio, gcd};
use crate::property::Disjunct;
use crate::region::UNIT;
use crate::{Refused, refused};
use std::collections::BTreeMap;

/// Bits behind the point of weights.
const WEIGHT: i32 = 24;
/// Bits of coefficients.
const BITS: u32 = 50;

/// Rows times weights, added up, for the stage of the outputs. A weight is not negative; any is sound, so it is rounded down.
pub fn combined(disjunct: &Disjunct, weights: &[(usize, Dyadic)], stage: usize) -> Result<Start, Refused> {
    sum(disjunct, weights, stage).ok_or_else(|| refused("the coefficients of a row have too many digits"))
}

fn sum(disjunct: &Disjunct, weights: &[(usize, Dyadic)], stage: usize) -> Option<Start> {
    let (mut denominator, mut constant) = (1i128, 0i128);
    for (row, _) in weights {
        for (_, term) in disjunct.rows[*row].x.iter().chain(&disjunct.rows[*row].y) {
            let other = term.denominator;
            denominator = (denominator / gcd(denominator, other)?).checked_mul(other)?;
        }
    }
    let (mut x, mut nu) = (BTreeMap::new(), BTreeMap::new());
    for (row, weight) in weights {
        let (row, weight) = (&disjunct.rows[*row], weight.floor_scaled(WEIGHT)?);
        for (terms, into) in [(&row.x, &mut x), (&row.y, &mut nu)] {
            for (index, term) in terms {
                let whole = term.numerator.checked_mul(denominator / term.denominator)?.checked_mul(weight)?;
                let sum = into.entry(*index).or_insert(0i64);
                *sum = sum.checked_add(i64::try_from(whole).ok()?)?;
            }
        }
        let numerator = row.constant.numerator.checked_mul(weight.checked_mul(denominator)?)?;
        let scaled = Ratio { numerator, denominator: row.constant.denominator }.floor_scaled(UNIT - WEIGHT);
        constant = constant.checked_add(scaled?)?;
    }
    let is_small = x.values().chain(nu.values()).all(|sum| sum.unsigned_abs() >> BITS == 0);
    let (x, nu, factor) = (x.into_iter().collect(), nu.into_iter().collect(), i64::try_from(denominator).ok()?);
    is_small.then_some(Start { stage, nu, x, constant, exponent: WEIGHT, factor })
}
