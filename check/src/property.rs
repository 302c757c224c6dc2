//! A property as a list of disjuncts: boxes of inputs, and rows over inputs and outputs that hold together.
//!
//! A counterexample is a point that lies in the box of some disjunct and meets its rows. Disjuncts with an empty box
//! have none and are dropped.

use crate::{Ratio, Refused, refuse, refused};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Property {
    pub inputs: usize,
    pub outputs: usize,
    pub disjuncts: Vec<Disjunct>,
}

/// `lower ≤ x ≤ upper`, and all rows. Disjuncts share boxes and rows.
#[derive(Clone, Debug)]
pub struct Disjunct {
    pub lower: Arc<[Ratio]>,
    pub upper: Arc<[Ratio]>,
    pub rows: Vec<Arc<Linear>>,
}

/// `Σ coefficient · variable + constant ≤ 0`, the terms ascending and none with the coefficient zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// Whether a variable is an output, its number, and its coefficient.
    pub terms: Vec<((bool, usize), Ratio)>,
    pub constant: Ratio,
}

impl Disjunct {
    /// Of comparisons that hold together, in the order of the text; `None` if its box is empty. What is over a single input,
    /// `a·x + c ≤ 0`, bounds that, or its negative, by `-c/|a|`.
    pub(crate) fn of<'l>(inputs: usize, all: impl Iterator<Item = &'l Arc<Linear>>) -> Result<Option<Self>, Refused> {
        // Of each input: the greatest values of its negative and of itself.
        let (mut ends, mut rows) = (vec![[None::<Ratio>; 2]; inputs], vec![]);
        for linear in all {
            match linear.terms[..] {
                [] => return refuse("a comparison is about no variable"),
                [((false, input), a)] => {
                    let (end, quotient) = (&mut ends[input][usize::from(a.numerator > 0)], linear.constant.div(a));
                    let value = if a.numerator > 0 { quotient.and_then(Ratio::neg) } else { quotient };
                    let value = value.ok_or_else(Refused::overflow)?;
                    if end.map_or(Some(true), |known| value.is_less(known)).ok_or_else(Refused::overflow)? {
                        *end = Some(value);
                    }
                }
                _ => rows.push(linear.clone()),
            }
        }
        let (mut lower, mut upper) = (vec![], vec![]);
        for (input, [negated, high]) in ends.into_iter().enumerate() {
            let missing = || refused(format!("input {input} is not bounded on both sides"));
            let low = negated.ok_or_else(missing)?.neg().ok_or_else(Refused::overflow)?;
            lower.push(low);
            upper.push(high.ok_or_else(missing)?);
            if upper[input].is_less(low).ok_or_else(Refused::overflow)? {
                return Ok(None);
            }
        }
        Ok(Some(Self { lower: lower.into(), upper: upper.into(), rows }))
    }
}
