//! From constraints in disjunctive normal form to a property: bounds become boxes, empty cases go.
//!
//! Dropping a case is sound because it is dropped only if no point meets it, decided exactly: one of
//! its constraints is constant and false, or an input has no real value left.

use std::sync::Arc;

use super::affine::Row;
use super::boxes::{Boxes, Unusable};
use super::constraint::Constraint;
use super::dnf::Dnf;
use super::quadratic::Quadratic;
use super::region::InputBox;
use super::{Disjunct, Property};

/// The most references from disjuncts to rows that they have in common.
const MAX_SHARED: usize = 32_000_000;

/// `origin` is only passed on.
pub(super) fn assemble(
    origin: &str,
    inputs: usize,
    outputs: usize,
    constraints: &[Constraint],
    formula: Dnf,
) -> Result<Property, Unusable> {
    let (common, cases) = formula.into_cases();
    let common = Sorted::new(constraints, &common);
    let shared = common.rows.len() + common.quadratics.len();
    if shared.saturating_mul(cases.len()) > MAX_SHARED {
        return Err(Unusable::TooLarge);
    }
    let mut boxes = Boxes::new(inputs, constraints, &common.bounds);
    let (mut disjuncts, mut empty_disjuncts) = (Vec::new(), 0);
    for case in &cases {
        let mut own = Sorted::new(constraints, case);
        let bounds = std::mem::take(&mut own.bounds);
        let refuted = common.refuted || own.refuted;
        match if refuted { None } else { boxes.region(bounds)? } {
            Some(region) => disjuncts.push(common.joined(own, region)),
            None => empty_disjuncts += 1,
        }
    }
    let (origin, has_strict_meeting) = (origin.into(), boxes.has_strict_meeting);
    Ok(Property { origin, inputs, outputs, disjuncts, empty_disjuncts, has_strict_meeting, declares_float32: false })
}

/// Constraints by kind.
#[derive(Default)]
struct Sorted {
    /// The numbers of the constraints that bound an input.
    bounds: Vec<u32>,
    rows: Vec<Arc<Row>>,
    quadratics: Vec<Arc<Quadratic>>,
    /// One of them holds nowhere.
    refuted: bool,
}

impl Sorted {
    fn new(constraints: &[Constraint], atoms: &[u32]) -> Self {
        let mut sorted = Self::default();
        for &atom in atoms {
            let constraint = &constraints[atom as usize];
            if constraint.bound().is_some() {
                sorted.bounds.push(atom);
            }
            match constraint {
                Constraint::Constant(holds) => sorted.refuted |= !holds,
                Constraint::Bound(_) => {}
                Constraint::Row(row, _) => sorted.rows.push(row.clone()),
                Constraint::Quadratic(quadratic) => sorted.quadratics.push(quadratic.clone()),
            }
        }
        sorted
    }

    fn joined(&self, case: Sorted, region: Arc<InputBox>) -> Disjunct {
        let rows = self.rows.iter().cloned().chain(case.rows).collect();
        let quadratics = self.quadratics.iter().cloned().chain(case.quadratics).collect();
        Disjunct { region, rows, quadratics }
    }
}
