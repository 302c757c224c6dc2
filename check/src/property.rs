//! A property as a list of disjuncts: boxes of inputs, and rows over inputs and outputs that hold together.
//!
//! A counterexample is a point that lies in the box of some disjunct and meets its rows. Disjuncts with an empty box
//! have none and are dropped.

use std::sync::Arc;

use crate::number::Ratio;
use crate::{Refused, refuse, refused, require};

/// The most bounds and references to rows of all disjuncts together.
const MAX_SIZE: usize = 1 << 24;

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

/// `Σ x + Σ y + constant ≤ 0`, the terms ascending and none with the coefficient zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    pub x: Vec<(usize, Ratio)>,
    pub y: Vec<(usize, Ratio)>,
    pub constant: Ratio,
}

/// Comparisons that hold together, in the order of the text.
#[derive(Clone, Default)]
pub(crate) struct Conjunction {
    bounds: Vec<Bound>,
    rows: Vec<Arc<Linear>>,
}

#[derive(Clone, PartialEq)]
struct Bound {
    input: usize,
    is_upper: bool,
    value: Ratio,
}

impl Conjunction {
    /// Adds `linear ≤ 0`. If it is over a single input, `a·x + c ≤ 0`, it bounds that by `-c/a`.
    pub(crate) fn push(&mut self, linear: Linear) -> Result<(), Refused> {
        match (&linear.x[..], &linear.y[..]) {
            ([], []) => return refuse("a comparison is about no variable"),
            (&[(input, a)], []) => {
                let value = linear.constant.neg().and_then(|negated| negated.div(a)).ok_or_else(Refused::overflow)?;
                self.bounds.push(Bound { input, is_upper: a.numerator > 0, value });
            }
            _ => self.rows.push(Arc::new(linear)),
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, mut other: Self) {
        self.bounds.append(&mut other.bounds);
        self.rows.append(&mut other.rows);
    }

    pub(crate) fn len(&self) -> usize {
        self.bounds.len() + self.rows.len()
    }
}

/// A box, `None` if it is empty.
type Region = Option<(Arc<[Ratio]>, Arc<[Ratio]>)>;

/// The disjuncts of `common ∧ (case ∨ …)`. A case with the same bounds as the one before shares its box.
pub(crate) fn assemble(counts: [usize; 2], common: &Conjunction, cases: &[Conjunction]) -> Result<Property, Refused> {
    let [inputs, outputs] = counts;
    let size = cases.len().saturating_mul(common.rows.len() + 2 * inputs);
    require(size <= MAX_SIZE, format!("the disjuncts have more than {MAX_SIZE} bounds and rows together"))?;
    let mut ends = [vec![None; inputs], vec![None; inputs]];
    tighten(&mut ends, &common.bounds)?;
    let (mut disjuncts, mut last) = (Vec::new(), None::<(&[Bound], Region)>);
    for case in cases {
        let region = match last {
            Some((bounds, region)) if bounds == case.bounds => region,
            _ => within(ends.clone(), &case.bounds)?,
        };
        if let Some((lower, upper)) = region.clone() {
            disjuncts.push(Disjunct { lower, upper, rows: [&common.rows[..], &case.rows].concat() });
        }
        last = Some((&case.bounds, region));
    }
    Ok(Property { inputs, outputs, disjuncts })
}

/// The lower and the upper ends known of every input.
type Ends = [Vec<Option<Ratio>>; 2];

fn tighten(ends: &mut Ends, bounds: &[Bound]) -> Result<(), Refused> {
    for &Bound { input, is_upper, value } in bounds {
        let end = &mut ends[usize::from(is_upper)][input];
        let is_tighter = match *end {
            None => Some(true),
            Some(known) if is_upper => value.is_less(known),
            Some(known) => known.is_less(value),
        };
        if is_tighter.ok_or_else(Refused::overflow)? {
            *end = Some(value);
        }
    }
    Ok(())
}

/// The box within further bounds.
fn within(mut ends: Ends, bounds: &[Bound]) -> Result<Region, Refused> {
    tighten(&mut ends, bounds)?;
    let [lowers, uppers] = ends;
    for (lower, upper) in lowers.iter().zip(&uppers) {
        let is_empty = lower.zip(*upper).map_or(Some(false), |(lower, upper)| upper.is_less(lower));
        if is_empty.ok_or_else(Refused::overflow)? {
            return Ok(None);
        }
    }
    let side = |ends: Vec<Option<Ratio>>, name: &str| {
        let missing = |input: usize| refused(format!("input {input} has no {name} bound"));
        let ends = ends.into_iter().enumerate().map(|(input, end)| end.ok_or_else(|| missing(input)));
        ends.collect::<Result<Arc<[Ratio]>, _>>()
    };
    Ok(Some((side(lowers, "lower")?, side(uppers, "upper")?)))
}
