//! A property as a list of disjuncts: boxes of inputs, and rows over inputs and outputs that hold together.
//!
//! A counterexample is a point that lies in the box of some disjunct and meets its rows. Whether an inequality is strict
//! is dropped at the end: that only adds counterexamples, so whoever proves that there are none proves it of the stated
//! property. Disjuncts without a point are dropped first, and there strictness counts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::number::Ratio;
use crate::{Refused, refuse};

/// The most bounds of all boxes together.
const MAX_BOUNDS: usize = 1 << 24;
/// The most references of all disjuncts to rows.
const MAX_ROWS: usize = 1 << 24;

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

/// A comparison of a property.
pub(crate) enum Atom {
    /// It speaks of no variable, and holds everywhere or nowhere.
    Constant(bool),
    Bound(Bound),
    Row(Arc<Linear>),
}

#[derive(Clone, Copy)]
pub(crate) struct Bound {
    input: usize,
    is_upper: bool,
    end: End,
}

/// An end of an interval, which a strict one does not contain.
#[derive(Clone, Copy, PartialEq)]
struct End {
    value: Ratio,
    is_strict: bool,
}

impl Atom {
    /// The atom `linear ≤ 0`, or `< 0` if strict. One over a single input, `a·x + c ≤ 0`, bounds it by `-c/a`.
    pub(crate) fn new(linear: Linear, is_strict: bool) -> Result<Self, Refused> {
        let (input, a) = match (&linear.x[..], &linear.y[..]) {
            ([], []) if is_strict => return Ok(Self::Constant(linear.constant < Ratio::ZERO)),
            ([], []) => return Ok(Self::Constant(linear.constant <= Ratio::ZERO)),
            ([(input, a)], []) => (*input, *a),
            _ => return Ok(Self::Row(Arc::new(linear))),
        };
        let value = linear.constant.neg().and_then(|negated| negated.div(a)).ok_or_else(Refused::overflow)?;
        if !value.is_decimal() {
            return refuse(format!("the bound on input {input} is no finite decimal"));
        }
        Ok(Self::Bound(Bound { input, is_upper: a > Ratio::ZERO, end: End { value, is_strict } }))
    }
}

/// The ends known of one input.
#[derive(Clone, Copy, Default, PartialEq)]
struct Interval {
    lower: Option<End>,
    upper: Option<End>,
}

impl Interval {
    /// Keeps the tighter of two ends; of two with the same value, a strict one.
    fn tighten(&mut self, bound: &Bound) {
        let kept = if bound.is_upper { &mut self.upper } else { &mut self.lower };
        let is_tighter = kept.is_none_or(|kept| {
            let order = bound.end.value.cmp(&kept.value);
            let order = if bound.is_upper { order.reverse() } else { order };
            order.then(bound.end.is_strict.cmp(&kept.is_strict)).is_gt()
        });
        if is_tighter {
            *kept = Some(bound.end);
        }
    }

    fn is_empty(&self) -> bool {
        let (Some(lower), Some(upper)) = (self.lower, self.upper) else { return false };
        lower.value > upper.value || (lower.value == upper.value && (lower.is_strict || upper.is_strict))
    }
}

/// A box, `None` if it is empty.
type Region = Option<(Arc<[Ratio]>, Arc<[Ratio]>)>;

/// The disjuncts of `common ∧ (case ∨ …)`, given by the numbers of their atoms; a case without a point gives none.
pub(crate) fn assemble(
    inputs: usize,
    outputs: usize,
    atoms: &[Atom],
    common: &[u32],
    cases: &[Vec<u32>],
) -> Result<Property, Refused> {
    let common = Sorted::new(atoms, common);
    let mut boxes = Boxes::new(inputs, &common.bounds);
    let (mut disjuncts, mut references) = (Vec::new(), 0usize);
    for case in cases {
        let case = Sorted::new(atoms, case);
        if common.is_refuted || case.is_refuted {
            continue;
        }
        let Some((lower, upper)) = boxes.region(&case.bounds)? else { continue };
        references = references.saturating_add(common.rows.len() + case.rows.len());
        if references > MAX_ROWS {
            return refuse(format!("the disjuncts have more than {MAX_ROWS} rows together"));
        }
        disjuncts.push(Disjunct { lower, upper, rows: [&common.rows[..], &case.rows].concat() });
    }
    Ok(Property { inputs, outputs, disjuncts })
}

/// Atoms by kind, each kind in order.
struct Sorted {
    bounds: Vec<Bound>,
    rows: Vec<Arc<Linear>>,
    is_refuted: bool,
}

impl Sorted {
    fn new(atoms: &[Atom], numbers: &[u32]) -> Self {
        let mut sorted = Self { bounds: Vec::new(), rows: Vec::new(), is_refuted: false };
        for &number in numbers {
            match &atoms[number as usize] {
                Atom::Constant(holds) => sorted.is_refuted |= !holds,
                Atom::Bound(bound) => sorted.bounds.push(*bound),
                Atom::Row(row) => sorted.rows.push(row.clone()),
            }
        }
        sorted
    }
}

/// The boxes of the cases. One that adds nothing to the common bounds, or the same as the case before it, shares.
struct Boxes {
    common: Vec<Interval>,
    is_empty: bool,
    last: Option<(HashMap<usize, Interval>, Region)>,
    bounds: usize,
}

impl Boxes {
    fn new(inputs: usize, bounds: &[Bound]) -> Self {
        let mut common = vec![Interval::default(); inputs];
        for bound in bounds {
            common[bound.input].tighten(bound);
        }
        let is_empty = common.iter().any(Interval::is_empty);
        Self { common, is_empty, last: None, bounds: 0 }
    }

    fn region(&mut self, bounds: &[Bound]) -> Result<Region, Refused> {
        let mut own: HashMap<usize, Interval> = HashMap::new();
        for bound in bounds {
            own.entry(bound.input).or_insert(self.common[bound.input]).tighten(bound);
        }
        if self.is_empty || own.values().any(Interval::is_empty) {
            return Ok(None);
        }
        if let Some((_, region)) = self.last.as_ref().filter(|(last, _)| *last == own) {
            return Ok(region.clone());
        }
        self.bounds = self.bounds.saturating_add(self.common.len().saturating_mul(2));
        if self.bounds > MAX_BOUNDS {
            return refuse(format!("the input boxes have more than {MAX_BOUNDS} bounds together"));
        }
        let side = |is_upper: bool| {
            let end = |(input, common): (usize, &Interval)| {
                let interval = own.get(&input).unwrap_or(common);
                let end = if is_upper { interval.upper } else { interval.lower };
                let missing =
                    || Refused(format!("input {input} has no {} bound", if is_upper { "upper" } else { "lower" }));
                end.map(|end| end.value).ok_or_else(missing)
            };
            self.common.iter().enumerate().map(end).collect::<Result<Arc<[Ratio]>, _>>()
        };
        let region = Some((side(false)?, side(true)?));
        self.last = Some((own, region.clone()));
        Ok(region)
    }
}
