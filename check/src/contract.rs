//! Inequalities that hold together, and what each of them leaves of the ranges of its variables.
//!
//! In constant + Σ weight·variable ≤ 0 no term is less than at its variable's lower or upper end. What the least values of all
//! terms together leave up to 0 is how much any one term may exceed its own least value (hull consistency).
//!
//! The counterexamples of a disjunct meet: every neuron is its row, every row of the disjunct is at most 0, and so is every function
//! of the inputs that is nowhere above such a row. Going through these again and again moves ends inward.

use crate::{Bounder, Cube, Refused, Region, Rule, Start, Total, UNIT, shift_down};

/// `constant + Σ weight·variable ≤ 0`, the constant in units of 2^−80.
#[derive(Clone)]
pub struct Inequality {
    pub terms: Vec<Term>,
    pub constant: i128,
}

/// A weight in units of 2^−scale. Variables are inputs, then what is read of hidden neurons, max(z, 0), then their z.
#[derive(Clone)]
pub struct Term {
    pub variable: usize,
    pub weight: i64,
    pub scale: i32,
}

/// What the counterexamples of a disjunct meet: inequalities, and rows of which functions of the inputs are taken anew.
pub struct Conditions {
    pub all: Vec<Inequality>,
    pub rows: Vec<Start>,
}

/// How often all conditions are gone through, at most; and the part of what is left of a range that makes it worth to go on.
const TURNS: usize = 1000;
const WORTH: i128 = 1 << 8;

impl Conditions {
    pub fn new(region: &Region, bounder: &mut Bounder, rows: Vec<Start>) -> Result<Conditions, Refused> {
        let (net, mut all) = (region.net, Vec::new());
        for (stage, j, neuron) in net.hidden() {
            for (side, weight) in [(0, -1), (1, 1)] {
                // A side of a neuron is at least what its row says: the row's function less the side is at most 0.
                let mut row = bounder.at_most_zero(region, &Start::side(stage, j, side))?;
                row.terms.push(Term { variable: net.own(neuron), weight, scale: 0 });
                all.push(row);
            }
        }
        for row in &rows {
            all.push(bounder.at_most_zero(region, row)?);
        }
        Ok(Conditions { all, rows })
    }
}

impl Inequality {
    /// A mean with another one, both of all inputs alone, in which one input has next to no coefficient, since the two pull it in
    /// opposite ways. Of all means of two such a one has the greatest least value. Coefficients are rounded by less than three
    /// units, which the constant pays for at the largest inputs.
    pub fn without(&self, input: usize, other: &Inequality, cube: &Cube) -> Option<Inequality> {
        let scale = self.terms[input].scale.min(other.terms[input].scale);
        let weight =
            |all: &Inequality, i: usize| i128::from(all.terms[i].weight >> (all.terms[i].scale - scale).min(63));
        let (own, others) = (weight(self, input), weight(other, input));
        let parts = (others.abs() << 16) / (own - others).abs().max(1);
        let rest = (1 << 16) - parts;
        let sum = |i: usize| ((parts * weight(self, i) + rest * weight(other, i)) >> 16) as i64;
        let mut constant =
            Total(self.constant.checked_mul(parts)?.checked_add(other.constant.checked_mul(rest)?)? >> 16);
        constant.add(-3 * cube.sizes(), scale + cube.grid).ok()?;
        let terms = (0..self.terms.len()).map(|variable| Term { variable, weight: sum(variable), scale }).collect();
        (own.signum() * others.signum() < 0).then_some(Inequality { terms, constant: constant.0 })
    }
}

impl Region<'_> {
    /// Moves the ends of variables inward by what holds besides the bounds.
    pub fn contract(&mut self, bounder: &mut Bounder) -> Result<(), Refused> {
        self.is_void = self.is_empty();
        for (stage, plane) in self.planes.clone().iter() {
            if self.base == Some(*stage) {
                self.revise(plane)?;
            }
        }
        let Some(conditions) = self.conditions.clone() else { return Ok(()) };
        for turn in 0..TURNS {
            let mut moves = false;
            for k in 0..conditions.all.len() {
                let k = if turn % 2 == 0 { conditions.all.len() - 1 - k } else { k };
                moves |= self.revise(&conditions.all[k])?;
            }
            for row in if moves { &[] } else { &conditions.rows[..] } {
                for rule in [Rule::Adaptive, Rule::Parallel] {
                    bounder.bound(self, row, rule)?;
                    moves |= self.revise(&bounder.form(0))?;
                }
            }
            if self.is_void || !moves {
                break;
            }
        }
        Ok(())
    }

    /// Moves the ends of an inequality's variables to what it leaves; whether one has moved far. Nothing moves if no point is left.
    fn revise(&mut self, inequality: &Inequality) -> Result<bool, Refused> {
        let (mut least, mut moves) = (Total(inequality.constant), false);
        for term in &inequality.terms {
            let (l, u, grid) = self.ends(term.variable);
            least.add(i128::from(term.weight) * i128::from(if term.weight > 0 { l } else { u }), term.scale + grid)?;
        }
        self.is_void |= least.0 > 0;
        let terms = if self.is_void { &[] } else { &inequality.terms[..] };
        for term in terms.iter().filter(|term| term.weight != 0) {
            let (l, u, grid) = self.ends(term.variable);
            // How far the variable may be from its end, rounded up; what is too long for a number moves nothing.
            let Some(room) = shift_down(least.0, term.scale + grid - UNIT) else { continue };
            let step = -room / i128::from(term.weight.abs()) + 1;
            let gone = i128::from(u) - i128::from(l) - step;
            if gone > 0 {
                self.move_end(term, if term.weight > 0 { u - gone as i64 } else { l + gone as i64 });
                moves |= gone > step / WORTH;
            }
        }
        Ok(moves)
    }

    /// Moves the upper end of a variable with a positive weight, else the lower one. What is read of a neuron is above 0 only
    /// where z is the same, and nowhere less than z.
    fn move_end(&mut self, term: &Term, end: i64) {
        let neuron = term.variable.checked_sub(self.net.inputs).map(|place| place % self.sides.len());
        match (neuron, term.weight > 0) {
            (None, true) => self.cube.upper[term.variable] = end,
            (None, false) => self.cube.lower[term.variable] = end,
            (Some(neuron), true) => self.sides[neuron][1] = self.sides[neuron][1].max(-end),
            (Some(neuron), false) => self.sides[neuron][0] = self.sides[neuron][0].max(end),
        }
    }

    /// The ends of a variable, and the exponent of their unit.
    pub fn ends(&self, variable: usize) -> (i64, i64, i32) {
        let Some(place) = variable.checked_sub(self.net.inputs) else {
            return (self.cube.lower[variable], self.cube.upper[variable], self.cube.grid);
        };
        let neuron = place % self.sides.len();
        let (l, u) = if place == neuron { self.range(variable) } else { self.of(neuron) };
        (l, u, self.grids[self.net.starts.partition_point(|&start| start <= neuron + self.net.inputs)])
    }
}
