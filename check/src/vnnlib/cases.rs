//! Formulas in disjunctive normal form over atoms given by number, in a fixed order.
//!
//! A formula is `common ∧ (case ∨ case ∨ …)`, the common part kept apart so that a box stated once is stored once. The
//! order is part of the meaning, since proofs refer to disjuncts by number: a conjunction runs through the cases of its
//! right side for each of its left side, a disjunction lists those of its left side first, and a case has the atoms of
//! the left side first.

use crate::{Refused, refuse};

/// The most cases of a formula.
const MAX_CASES: usize = 1_000_000;
/// The most atoms of all cases together.
const MAX_ATOMS: usize = 16_000_000;

#[derive(Default)]
pub(super) struct Cases {
    common: Vec<u32>,
    /// `None` if there is the common part only.
    cases: Option<Vec<Vec<u32>>>,
    /// The atoms of all cases together.
    atoms: usize,
}

impl Cases {
    pub(super) fn atom(number: u32) -> Self {
        Self { common: vec![number], ..Self::default() }
    }

    pub(super) fn and(mut self, mut other: Self) -> Result<Self, Refused> {
        self.common.append(&mut other.common);
        let (left, right) = match (self.cases, other.cases) {
            (Some(left), Some(right)) => (left, right),
            (cases, None) => return Ok(Self { cases, ..self }),
            (None, cases) => return Ok(Self { common: self.common, cases, atoms: other.atoms }),
        };
        let atoms = self.atoms.saturating_mul(right.len()).saturating_add(other.atoms.saturating_mul(left.len()));
        limit(left.len().saturating_mul(right.len()), atoms)?;
        let pairs = left.iter().flat_map(|first| right.iter().map(move |second| [&first[..], second].concat()));
        Ok(Self { common: self.common, cases: Some(pairs.collect()), atoms })
    }

    pub(super) fn or(self, other: Self) -> Result<Self, Refused> {
        let ((mut cases, atoms), (mut others, other_atoms)) = (self.distributed()?, other.distributed()?);
        let atoms = atoms.saturating_add(other_atoms);
        limit(cases.len().saturating_add(others.len()), atoms)?;
        cases.append(&mut others);
        Ok(Self { common: Vec::new(), cases: Some(cases), atoms })
    }

    /// The cases with the common part in front of each, and the number of their atoms.
    fn distributed(self) -> Result<(Vec<Vec<u32>>, usize), Refused> {
        let Some(mut cases) = self.cases else {
            let atoms = self.common.len();
            return Ok((vec![self.common], atoms));
        };
        let atoms = self.atoms.saturating_add(self.common.len().saturating_mul(cases.len()));
        limit(cases.len(), atoms)?;
        if !self.common.is_empty() {
            cases.iter_mut().for_each(|case| *case = [&self.common[..], case].concat());
        }
        Ok((cases, atoms))
    }

    /// The common part, and what each case adds to it.
    pub(super) fn into_parts(self) -> (Vec<u32>, Vec<Vec<u32>>) {
        (self.common, self.cases.unwrap_or_else(|| vec![Vec::new()]))
    }
}

fn limit(cases: usize, atoms: usize) -> Result<(), Refused> {
    if cases > MAX_CASES || atoms > MAX_ATOMS {
        return refuse(format!("written out, the formula has more than {MAX_CASES} cases or {MAX_ATOMS} atoms"));
    }
    Ok(())
}
