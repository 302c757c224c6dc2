//! Formulas in disjunctive normal form, over constraints given by number.
//!
//! A formula is `common ∧ (case ∨ case ∨ …)`. Keeping the common part apart is what makes a
//! property with a box of thousands of inputs and thousands of output cases linear: the box is
//! stated once.
//! Negation never gets here; the reader pushes it to the atoms.

/// The most cases of a formula.
const MAX_CASES: usize = 1_000_000;
/// The most constraints of all cases together.
const MAX_SIZE: usize = 16_000_000;

type Case = Vec<u32>;

#[derive(Clone, Debug, Default)]
pub(super) struct Dnf {
    common: Case,
    /// `None` if nothing is added to the common part.
    cases: Option<Vec<Case>>,
    /// The total length of the cases.
    size: usize,
}

/// The formula has more cases than the limits allow.
#[derive(Clone, Copy, Debug)]
pub(super) struct TooManyCases;

impl TooManyCases {
    pub(super) fn text() -> String {
        format!(
            "written out as separate cases, the property has more than {MAX_CASES} of them \
             or {MAX_SIZE} constraints in total"
        )
    }
}

impl Dnf {
    pub(super) fn atom(constraint: u32) -> Self {
        Self { common: vec![constraint], ..Self::default() }
    }

    /// `self ∧ other`: the cases are multiplied out.
    pub(super) fn and(mut self, mut other: Dnf) -> Result<Dnf, TooManyCases> {
        self.common.append(&mut other.common);
        let (Some(left), Some(right)) = (&self.cases, &other.cases) else {
            self.size += other.size;
            self.cases = self.cases.or(other.cases);
            return Ok(self);
        };
        let size = self.size.saturating_mul(right.len());
        self.size = size.saturating_add(other.size.saturating_mul(left.len()));
        within_limits(left.len().saturating_mul(right.len()), self.size)?;
        let pairs = left.iter().flat_map(|a| right.iter().map(move |b| (a, b)));
        self.cases = Some(pairs.map(|(a, b)| [&a[..], &b[..]].concat()).collect());
        Ok(self)
    }

    /// `self ∨ other`: the common parts move into the cases.
    pub(super) fn or(self, other: Dnf) -> Result<Dnf, TooManyCases> {
        let (mut left, right) = (self.distributed()?, other.distributed()?);
        left.size += right.size;
        let cases = left.cases.get_or_insert_default();
        within_limits(cases.len() + right.cases.as_ref().map_or(0, Vec::len), left.size)?;
        cases.extend(right.cases.unwrap_or_default());
        Ok(left)
    }

    /// The same formula with an empty common part.
    fn distributed(self) -> Result<Dnf, TooManyCases> {
        let Self { common, cases, size } = self;
        let Some(mut cases) = cases else {
            return Ok(Self { size: common.len(), cases: Some(vec![common]), common: Vec::new() });
        };
        let size = size.saturating_add(common.len().saturating_mul(cases.len()));
        within_limits(cases.len(), size)?;
        if !common.is_empty() {
            for case in &mut cases {
                *case = [&common[..], &case[..]].concat();
            }
        }
        Ok(Self { common: Vec::new(), cases: Some(cases), size })
    }

    /// The common part, and what each case adds to it.
    pub(super) fn into_cases(self) -> (Case, Vec<Case>) {
        (self.common, self.cases.unwrap_or_else(|| vec![Vec::new()]))
    }
}

fn within_limits(cases: usize, size: usize) -> Result<(), TooManyCases> {
    if cases > MAX_CASES || size > MAX_SIZE { Err(TooManyCases) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(atoms: std::ops::Range<u32>) -> Dnf {
        atoms.map(Dnf::atom).reduce(|a, b| a.or(b).unwrap()).unwrap()
    }

    #[test]
    fn conjunction_multiplies_cases_out_and_keeps_the_common_part_apart() {
        let formula = Dnf::atom(9).and(any(0..2)).unwrap().and(any(2..4)).unwrap();
        let (common, cases) = formula.and(Dnf::atom(8)).unwrap().into_cases();
        assert_eq!(common, [9, 8]);
        assert_eq!(cases, [[0, 2], [0, 3], [1, 2], [1, 3]]);
    }

    #[test]
    fn disjunction_moves_the_common_part_into_its_cases() {
        let left = Dnf::atom(9).and(any(0..2)).unwrap();
        let (common, cases) = left.or(Dnf::atom(7)).unwrap().into_cases();
        assert!(common.is_empty());
        assert_eq!(cases, [vec![9, 0], vec![9, 1], vec![7]]);
    }

    #[test]
    fn blow_up_is_refused_before_it_happens() {
        let mut clauses = std::iter::repeat_with(|| any(0..2)).take(64);
        assert!(clauses.try_fold(Dnf::default(), Dnf::and).is_err());
    }
}
