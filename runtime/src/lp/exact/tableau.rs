//! The basic columns in terms of the non-basic variables.
//!
//! Invariant: every solved row d·x = Σ c·v, d > 0, coprime integers, follows from the definitions of the slacks, and
//! its v are non-basic. Only basic *columns* are kept solved; the row of a basic slack is its definition with the
//! basic columns substituted, made when it is needed. So the tableau has never more rows than the system has
//! columns, however many rows the system has.

use super::scaled::Scaled;
use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::collections::BTreeMap;

/// `denominator`·x = Σ `terms`, sorted by variable, none zero.
#[derive(Clone, Debug)]
pub(super) struct Solved {
    pub denominator: BigInt,
    pub terms: Vec<(usize, BigInt)>,
}

pub(super) struct Tableau<'a> {
    scaled: &'a Scaled,
    solved: BTreeMap<usize, Solved>,
}

impl<'a> Tableau<'a> {
    /// Every slack basic, no column.
    pub fn new(scaled: &'a Scaled) -> Self {
        Tableau { scaled, solved: BTreeMap::new() }
    }

    /// The solved columns.
    pub fn solved(&self) -> &BTreeMap<usize, Solved> {
        &self.solved
    }

    /// The row of the basic variable `variable`.
    pub fn row(&self, variable: usize) -> Solved {
        let Some(slack) = variable.checked_sub(self.scaled.columns()) else { return self.solved[&variable].clone() };
        let definition = &self.scaled.rows[slack];
        let basic = definition.iter().filter_map(|(column, _)| self.solved.get(column));
        let denominator = basic.fold(BigInt::one(), |lcm, solved| common(lcm, &solved.denominator));
        let mut terms: BTreeMap<usize, BigInt> = BTreeMap::new();
        for (column, coefficient) in definition {
            match self.solved.get(column) {
                None => *terms.entry(*column).or_default() += coefficient * &denominator,
                Some(solved) => {
                    let factor = coefficient * (&denominator / &solved.denominator);
                    for (variable, term) in &solved.terms {
                        *terms.entry(*variable).or_default() += &factor * term;
                    }
                }
            }
        }
        let terms = terms.into_iter().filter(|(_, term)| !term.is_zero()).collect();
        primitive(Solved { denominator, terms })
    }

    /// Exchanges the basic `leaving`, whose row is `row`, for the non-basic `entering`, which occurs in it.
    pub fn pivot(&mut self, leaving: usize, row: Solved, entering: usize) {
        let entering_row = solve_for(leaving, row, entering);
        self.solved.remove(&leaving);
        for solved in self.solved.values_mut() {
            if let Ok(place) = solved.terms.binary_search_by_key(&entering, |(variable, _)| *variable) {
                *solved = substitute(solved, place, &entering_row);
            }
        }
        if entering < self.scaled.columns() {
            self.solved.insert(entering, entering_row);
        }
    }
}

/// The row of `leaving` as a row of `entering`: from d·l = c·e + Σ t, c·e = d·l − Σ t.
fn solve_for(leaving: usize, row: Solved, entering: usize) -> Solved {
    let mut terms = row.terms;
    let place = terms.binary_search_by_key(&entering, |(variable, _)| *variable).expect("entering is in the row");
    let (_, pivot) = terms.remove(place);
    let negate = pivot.is_positive();
    for (_, term) in terms.iter_mut().filter(|_| negate) {
        *term = -std::mem::take(term);
    }
    let place = terms.partition_point(|(variable, _)| *variable < leaving);
    terms.insert(place, (leaving, if negate { row.denominator } else { -row.denominator }));
    Solved { denominator: pivot.abs(), terms }
}

/// `solved` with the variable of its term number `place` replaced by that variable's own `row`.
fn substitute(solved: &Solved, place: usize, row: &Solved) -> Solved {
    let coefficient = &solved.terms[place].1;
    let gcd = coefficient.gcd(&row.denominator);
    let (own, other) = (&row.denominator / &gcd, coefficient / &gcd);
    let mut terms = Vec::with_capacity(solved.terms.len() + row.terms.len());
    let mut incoming = row.terms.iter().peekable();
    for (variable, term) in solved.terms[..place].iter().chain(&solved.terms[place + 1..]) {
        while let Some((before, extra)) = incoming.next_if(|(other, _)| other < variable) {
            terms.push((*before, &other * extra));
        }
        let mut term = &own * term;
        if let Some((_, extra)) = incoming.next_if(|(other, _)| other == variable) {
            term += &other * extra;
        }
        if !term.is_zero() {
            terms.push((*variable, term));
        }
    }
    terms.extend(incoming.map(|(variable, extra)| (*variable, &other * extra)));
    primitive(Solved { denominator: own * &solved.denominator, terms })
}

/// The row divided by the greatest common divisor of its numbers, a guess at which is divided until it fits.
fn primitive(mut row: Solved) -> Solved {
    let shortest = row.terms.iter().map(|(_, term)| term).min_by_key(|term| term.bits());
    let mut content = shortest.map_or_else(|| row.denominator.clone(), |term| row.denominator.gcd(term));
    while !content.is_one() {
        let mut quotients = Vec::with_capacity(row.terms.len());
        let misfit = row.terms.iter().find_map(|(_, term)| {
            let (quotient, remainder) = term.div_rem(&content);
            quotients.push(quotient);
            (!remainder.is_zero()).then_some(remainder)
        });
        if let Some(remainder) = misfit {
            content = content.gcd(&remainder);
            continue;
        }
        row.denominator /= &content;
        row.terms.iter_mut().zip(quotients).for_each(|((_, term), quotient)| *term = quotient);
        break;
    }
    row
}

/// The least common multiple, cheap where one divides the other.
pub(super) fn common(multiple: BigInt, denominator: &BigInt) -> BigInt {
    if multiple.is_multiple_of(denominator) { multiple } else { multiple.lcm(denominator) }
}
