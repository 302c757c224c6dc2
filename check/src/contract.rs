//! Inequalities that hold together, and what each of them leaves of the ranges of its variables.
//!
//! In Σ weight·variable ≤ limit no term is less than at its variable's lower or upper end. What the least values of all terms
//! together leave up to the limit is how much any one term may exceed its own least value (hull consistency).
//!
//! The counterexamples of a disjunct meet: every neuron is its row, every row of the disjunct is at most 0, and so is every form
//! of the inputs that is nowhere above such a row. Going through these again and again moves ends inward.

use crate::Refused;
use crate::bound::{Bounder, Rule, Start};
use crate::form::Form;
use crate::number::shift_down;
use crate::region::{Region, Total, UNIT};

/// `Σ weight·variable ≤ limit`, the limit in units of 2^−80.
#[derive(Clone)]
pub struct Inequality {
    pub terms: Vec<Term>,
    pub limit: i128,
}

/// A weight in units of 2^−scale, of an input or a hidden neuron: of what is read of it, max(z, 0), or of z itself.
#[derive(Clone)]
pub struct Term {
    pub variable: usize,
    pub is_read: bool,
    pub weight: i64,
    pub scale: i32,
}

/// What the counterexamples of a disjunct meet.
pub struct Conditions {
    all: Vec<Inequality>,
    rows: Vec<Start>,
}

/// How often all conditions are gone through, at most; and the part of what is left of a range that makes it worth to go on.
const TURNS: usize = 100;
const WORTH: i128 = 1 << 6;

impl Conditions {
    pub fn new(region: &Region, bounder: &mut Bounder, rows: Vec<Start>) -> Result<Conditions, Refused> {
        let (net, mut all) = (region.net, Vec::new());
        for (stage, j, neuron) in net.hidden() {
            let (layer, off) = (&net.layers[stage], region.off[neuron]);
            let row = &layer.rows[j];
            for (sign, bias) in [(1, -i128::from(row.bias.1)), (-1, i128::from(row.bias.0))] {
                let read = row.terms().map(|&(column, weight)| (column as usize, true, -sign * weight, layer.scale));
                let terms = read.chain([(net.inputs + neuron, false, sign, 0)]);
                let terms = terms.map(|(variable, is_read, weight, scale)| Term { variable, is_read, weight, scale });
                let mut total = Total(-off);
                total.add(bias, layer.bias_scale)?;
                all.push(Inequality { terms: terms.collect(), limit: -total.0 });
            }
        }
        for row in &rows {
            all.push(bounder.at_most_zero(region, row)?);
        }
        Ok(Conditions { all, rows })
    }
}

impl Region<'_> {
    /// Moves the ends of variables inward by what holds besides the bounds.
    pub fn contract(&mut self, bounder: &mut Bounder) -> Result<(), Refused> {
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
                    self.is_void |= !self.is_empty() && bounder.bound(self, row, rule)? > 0;
                    moves |= self.revise(&Inequality::of(&bounder.form))?;
                }
            }
            if !moves {
                break;
            }
        }
        Ok(())
    }

    /// Moves the ends of an inequality's variables to what it leaves; whether one has moved far. Nothing moves if no point is left.
    fn revise(&mut self, inequality: &Inequality) -> Result<bool, Refused> {
        let mut least = Total::default();
        for term in &inequality.terms {
            let (l, u) = self.ends(term);
            let end = if term.weight > 0 { l } else { u };
            least.add(i128::from(term.weight) * i128::from(end), term.scale + self.grid_of(term.variable))?;
        }
        let slack = inequality.limit.checked_sub(least.0).ok_or_else(Refused::overflow)?;
        self.is_void |= slack < 0;
        let (terms, mut moves) = (if self.is_empty() { &[] } else { &inequality.terms[..] }, false);
        for term in terms.iter().filter(|term| term.weight != 0) {
            let (l, u) = self.ends(term);
            let by = term.scale + self.grid_of(term.variable) - UNIT;
            // How far the variable may be from its end, rounded up; what is too long for a number moves nothing.
            let Some(room) = shift_down(-slack, by) else { continue };
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
        match (term.variable.checked_sub(self.net.inputs), term.weight > 0) {
            (None, true) => self.cube.upper[term.variable] = end,
            (None, false) => self.cube.lower[term.variable] = end,
            (Some(neuron), true) => self.sides[neuron][1] = self.sides[neuron][1].max(-end),
            (Some(neuron), false) => self.sides[neuron][0] = self.sides[neuron][0].max(end),
        }
    }

    fn ends(&self, term: &Term) -> (i64, i64) {
        match term.variable.checked_sub(self.net.inputs) {
            Some(neuron) if !term.is_read => self.of(neuron),
            _ => self.range(term.variable),
        }
    }

    fn grid_of(&self, variable: usize) -> i32 {
        self.grids[self.net.starts.partition_point(|&start| start <= variable)]
    }
}

impl Inequality {
    /// That a form is at most 0.
    fn of(form: &Form) -> Inequality {
        let term = |(variable, &weight)| Term { variable, is_read: false, weight, scale: form.exponent };
        Inequality { terms: form.slopes.iter().enumerate().map(term).collect(), limit: -form.constant }
    }
}
