//! The input boxes of the cases of a property, each built once.
//!
//! A case that adds no bound has the box of the common bounds, the very same `Arc`; so have cases
//! that repeat the bounds of the case before them.

use std::collections::HashMap;
use std::sync::Arc;

use super::constraint::{Constraint, End};
use super::region::{Bound, InputBox, Side};

/// The most sides that all boxes of a property may have together.
const MAX_SIDES: usize = 32_000_000;

/// Why constraints do not make a property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    Unbounded {
        input: usize,
        end: End,
    },
    /// The boxes or the rows of all disjuncts together pass a limit.
    TooLarge,
}

/// The bounds on one input known so far.
#[derive(Clone, Debug, Default)]
struct Ends {
    lower: Option<Bound>,
    upper: Option<Bound>,
}

impl Ends {
    /// Keeps the tighter of two bounds; at the same value the strict one.
    fn tighten(&mut self, end: End, bound: &Bound) {
        let kept = match end {
            End::Lower => &mut self.lower,
            End::Upper => &mut self.upper,
        };
        let tighter = kept.as_ref().is_none_or(|kept| {
            let order = bound.value.cmp(&kept.value);
            let order = if end == End::Lower { order } else { order.reverse() };
            order.then(bound.strict.cmp(&kept.strict)).is_gt()
        });
        if tighter {
            *kept = Some(bound.clone());
        }
    }

    /// Whether no number is left, and one would be if the ends were not strict.
    fn meet_strictly(&self) -> bool {
        let ends = self.lower.as_ref().zip(self.upper.as_ref());
        ends.is_some_and(|(l, u)| l.value == u.value && (l.strict || u.strict))
    }

    /// The interval between the ends, or which end is missing.
    fn interval(&self) -> Interval {
        let lower = self.lower.clone().ok_or(End::Lower)?;
        let upper = self.upper.clone().ok_or(End::Upper)?;
        Ok(Side::new(lower, upper).map(Arc::new))
    }
}

/// A side, `None` if it is empty, or the end that is missing.
type Interval = Result<Option<Arc<Side>>, End>;

/// The boxes built so far, and what they have in common.
pub(super) struct Boxes<'a> {
    inputs: usize,
    constraints: &'a [Constraint],
    common: HashMap<usize, Ends>,
    intervals: HashMap<usize, Interval>,
    common_is_empty: bool,
    built: HashMap<Vec<u32>, Option<Arc<InputBox>>>,
    last: Option<Arc<InputBox>>,
    total_sides: usize,
    /// Whether some box is empty where two ends meet of which one is strict.
    pub(super) has_strict_meeting: bool,
}

impl<'a> Boxes<'a> {
    /// `common` are the numbers of the constraints that bound an input in every case.
    pub(super) fn new(inputs: usize, constraints: &'a [Constraint], common: &[u32]) -> Self {
        let mut boxes = Self {
            inputs,
            constraints,
            common: HashMap::new(),
            intervals: HashMap::new(),
            common_is_empty: false,
            built: HashMap::new(),
            last: None,
            total_sides: 0,
            has_strict_meeting: false,
        };
        boxes.common = boxes.tightened(common);
        boxes.has_strict_meeting = boxes.common.values().any(Ends::meet_strictly);
        boxes.intervals = intervals(&boxes.common);
        boxes.common_is_empty = any_empty(&boxes.intervals);
        boxes
    }

    /// The box of a case that adds these bounds, `None` if it is empty.
    pub(super) fn region(&mut self, bounds: Vec<u32>) -> Result<Option<Arc<InputBox>>, Unusable> {
        if self.common_is_empty {
            return Ok(None);
        }
        if let Some(region) = self.built.get(&bounds) {
            return Ok(region.clone());
        }
        let ends = self.tightened(&bounds);
        self.has_strict_meeting |= ends.values().any(Ends::meet_strictly);
        let own = intervals(&ends);
        let region = if any_empty(&own) { None } else { Some(self.build(&own)?) };
        self.built.insert(bounds, region.clone());
        Ok(region)
    }

    /// The ends of the inputs that these bounds speak of, the common bounds included.
    fn tightened(&self, bounds: &[u32]) -> HashMap<usize, Ends> {
        let mut ends: HashMap<usize, Ends> = HashMap::new();
        for bound in bounds.iter().filter_map(|&atom| self.constraints[atom as usize].bound()) {
            let common = || self.common.get(&bound.input).cloned().unwrap_or_default();
            ends.entry(bound.input).or_insert_with(common).tighten(bound.end, &bound.bound);
        }
        ends
    }

    fn build(&mut self, own: &HashMap<usize, Interval>) -> Result<Arc<InputBox>, Unusable> {
        let mut sides = Vec::new();
        for input in 0..self.inputs {
            let interval = own.get(&input).or_else(|| self.intervals.get(&input));
            match interval.unwrap_or(&Err(End::Lower)) {
                Ok(side) => sides.extend(side.clone()),
                Err(end) => return Err(Unusable::Unbounded { input, end: *end }),
            }
        }
        self.total_sides += sides.len();
        if self.total_sides > MAX_SIDES {
            return Err(Unusable::TooLarge);
        }
        let region = InputBox::new(sides);
        if let Some(last) = self.last.as_ref().filter(|last| ***last == region) {
            return Ok(last.clone());
        }
        Ok(self.last.insert(Arc::new(region)).clone())
    }
}

fn intervals(ends: &HashMap<usize, Ends>) -> HashMap<usize, Interval> {
    ends.iter().map(|(&input, ends)| (input, ends.interval())).collect()
}

fn any_empty(intervals: &HashMap<usize, Interval>) -> bool {
    intervals.values().any(|interval| matches!(interval, Ok(None)))
}
