//! What a goal's rows and the phases fixed so far leave of a box and of the neurons' bounds, by intervals.
//!
//! A counterexample satisfies linear conditions: every neuron is its sum, z = Σ w·h + b, and every row of the goal is at most
//! 0. In each of them, what all variables but one can be leaves a range to that one (hull consistency, HC4: Benhamou,
//! Goualard, Granvilliers, Puget 1999). Ranges of neurons follow from what they read, and ranges of what they read follow from
//! theirs: a neuron that is off is a half-space of the inputs. The conditions are gone through until nothing is gained.
//!
//! Intervals forget that neurons depend on the same inputs. So every row is bounded by the one bound too, which is a linear
//! form of the inputs: on the domain row ≥ K + a·x with K + min over the box of a·x ≥ L, the bound that was computed, errors
//! included. Where the row is at most 0, a·x − min a·x ≤ −L; no term of the left side is negative, so that
//!
//! ```text
//!     x_i ≤ l_i − L/a_i   (a_i > 0),        x_i ≥ u_i − L/a_i   (a_i < 0).
//! ```
//!
//! All of it holds for the counterexamples of a domain, and for nothing else: where it leaves nothing, there is none.

use crate::bounds::{Bounder, Bounds, Emptiness, Objective};
use pg_core::rounding::{at_most, sum_error};
use pg_core::{NeuronError, Shape, Source};

/// Ranges of the inputs, then of every neuron's z stage by stage, outputs included.
#[derive(Clone, Debug, PartialEq)]
pub struct Domain {
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
}

impl Domain {
    /// Of a box with bounds of all neurons on it.
    pub fn new(input: (&[f64], &[f64]), bounds: &Bounds) -> Domain {
        let neurons = bounds.all();
        Domain { lower: [input.0, neurons.0].concat(), upper: [input.1, neurons.1].concat() }
    }

    pub fn width(&self, variable: usize) -> f64 {
        self.upper[variable] - self.lower[variable]
    }

    pub fn is_undecided(&self, variable: usize) -> bool {
        self.lower[variable] < 0.0 && self.upper[variable] > 0.0
    }

    /// Intersects a range with `[lower, upper]`; NaN tightens nothing. Returns how much of it is gone.
    pub fn tighten(&mut self, variable: usize, lower: f64, upper: f64) -> Result<f64, Emptiness> {
        let before = self.width(variable);
        if lower > self.lower[variable] {
            self.lower[variable] = lower;
        }
        if upper < self.upper[variable] {
            self.upper[variable] = upper;
        }
        let after = self.width(variable);
        if after < 0.0 { Err(Emptiness) } else { Ok(before - after) }
    }
}

/// A sum of variables, as they are read, that is a neuron or a row.
pub struct Condition {
    /// Where its terms begin and end.
    terms: (usize, usize),
    constant: f64,
    /// What it may be off by.
    error: NeuronError,
    /// The neuron that it is; a row is at most 0.
    neuron: Option<usize>,
}

/// The conditions on a goal's counterexamples.
pub struct Conditions<'r> {
    bounder: &'r Bounder<'r>,
    rows: &'r [Objective],
    /// Neurons in the order of the stages, then rows.
    all: Vec<Condition>,
    /// Variables with their coefficients.
    terms: Vec<(u32, f64)>,
    /// For each variable, 1 over the range that it had first.
    scale: Vec<f64>,
    inputs: usize,
    /// Where the outputs begin: what is between is hidden, and read as max(z, 0).
    outputs: usize,
}

/// The range of a sum, the magnitudes of its terms and of what it reads.
struct Activity {
    least: f64,
    most: f64,
    size: f64,
    read: f64,
}

impl<'r> Conditions<'r> {
    /// The network's own conditions, with the ranges that its variables have first.
    pub fn new(bounder: &'r Bounder<'r>, domain: &Domain) -> Conditions<'r> {
        let shape = &bounder.shape;
        let (inputs, outputs) = (shape.inputs, shape.inputs + shape.start(shape.last()));
        let scale = (0..domain.lower.len()).map(|variable| 1.0 / domain.width(variable)).collect();
        let mut conditions = Conditions { bounder, rows: &[], all: vec![], terms: vec![], scale, inputs, outputs };
        (0..shape.stages.len()).for_each(|stage| conditions.add_stage(shape, stage));
        conditions
    }

    /// The same with other rows.
    pub fn set_rows(&mut self, rows: &'r [Objective]) {
        self.all.truncate(self.bounder.shape.neurons());
        self.terms.truncate(self.all.last().map_or(0, |condition| condition.terms.1));
        self.rows = rows;
        rows.iter().for_each(|row| self.add_row(row));
    }

    fn add_stage(&mut self, shape: &Shape, stage: usize) {
        let data = &shape.stages[stage];
        for j in 0..data.width() {
            let first = self.terms.len();
            for (from, i, weight) in data.terms(j).filter(|(_, _, weight)| *weight != 0.0) {
                let variable = match from {
                    Source::Input => i,
                    Source::Stage(s) => self.inputs + shape.start(s) + i,
                };
                self.terms.push((variable as u32, f64::from(weight)));
            }
            let error = data.error_of(j);
            let (terms, constant) = ((first, self.terms.len()), f64::from(data.bias[j]));
            let neuron = Some(self.inputs + shape.start(stage) + j);
            self.all.push(Condition { terms, constant, error, neuron });
        }
    }

    /// The errors of a row's coefficients are charged at the largest that inputs and outputs can be.
    fn add_row(&mut self, row: &Objective) {
        let first = self.terms.len();
        let (mut error, outputs) =
            (NeuronError { constant: row.constant_error, ..NeuronError::default() }, self.outputs);
        let inputs = row.x.iter().zip(&row.x_error).enumerate();
        let all = inputs.chain(row.y.iter().zip(&row.y_error).enumerate().map(|(j, pair)| (outputs + j, pair)));
        for (variable, (&coefficient, &off)) in all {
            if (coefficient, off) != (0.0, 0.0) {
                self.terms.push((variable as u32, coefficient));
                error.weight = error.weight.max(off);
            }
        }
        let (terms, constant) = ((first, self.terms.len()), row.constant);
        self.all.push(Condition { terms, constant, error, neuron: None });
    }

    /// The hidden neurons, as variables.
    pub fn hidden(&self) -> std::ops::Range<usize> {
        self.inputs..self.outputs
    }

    /// How many terms all conditions have.
    pub fn work(&self) -> usize {
        self.terms.len()
    }

    pub fn all(&self) -> &[Condition] {
        &self.all
    }

    pub fn terms(&self, condition: &Condition) -> &[(u32, f64)] {
        &self.terms[condition.terms.0..condition.terms.1]
    }

    /// The condition that makes a hidden neuron what it is.
    pub fn of_neuron(&self, variable: usize) -> &Condition {
        &self.all[variable - self.inputs]
    }

    /// What a variable can be where it is read.
    pub fn read(&self, domain: &Domain, variable: usize) -> (f64, f64) {
        let (lower, upper) = (domain.lower[variable], domain.upper[variable]);
        if self.hidden().contains(&variable) { (lower.max(0.0), upper.max(0.0)) } else { (lower, upper) }
    }

    /// Tightens a variable. Returns the part of its first range that is gone, or nothing where that is no number.
    fn tighten(&self, domain: &mut Domain, variable: usize, lower: f64, upper: f64) -> Result<f64, Emptiness> {
        Ok((domain.tighten(variable, lower, upper)? * self.scale[variable]).max(0.0))
    }

    /// Tightens a variable by what it can be where it is read. An activation is never negative; above 0 it is z, and whatever it
    /// is, z is not above it.
    fn tighten_read(&self, domain: &mut Domain, variable: usize, lower: f64, upper: f64) -> Result<f64, Emptiness> {
        if !self.hidden().contains(&variable) {
            return self.tighten(domain, variable, lower, upper);
        }
        if upper < 0.0 {
            return Err(Emptiness);
        }
        self.tighten(domain, variable, if lower > 0.0 { lower } else { f64::NEG_INFINITY }, upper)
    }

    fn activity(&self, domain: &Domain, condition: &Condition) -> Activity {
        let mut activity = Activity { least: 0.0, most: 0.0, size: condition.constant.abs(), read: 0.0 };
        for &(variable, weight) in self.terms(condition) {
            let (lower, upper) = self.read(domain, variable as usize);
            let (a, b) = (weight * lower, weight * upper);
            activity.least += a.min(b);
            activity.most += a.max(b);
            activity.size += a.abs().max(b.abs());
            activity.read += lower.abs().max(upper.abs());
        }
        activity
    }

    /// The range of a condition's sum, as far as float64 goes, and what it may be at most and at least.
    pub fn ranges(&self, domain: &Domain, condition: &Condition) -> [(f64, f64); 2] {
        let Activity { least, most, .. } = self.activity(domain, condition);
        let limits = match condition.neuron {
            Some(neuron) => (domain.lower[neuron], domain.upper[neuron]),
            None => (f64::NEG_INFINITY, 0.0),
        };
        [(least + condition.constant, most + condition.constant), limits]
    }

    /// Tightens a neuron by what it reads, then everything that a condition reads by the rest of it. Returns the largest part of
    /// a first range that is gone.
    ///
    /// A limit of a term is a difference of sums of the same terms, each off by at most its roundings relative to the
    /// magnitudes and to the limit itself; the quotient is moved outward by one float.
    fn revise(&self, domain: &mut Domain, condition: &Condition) -> Result<f64, Emptiness> {
        let Activity { least, most, size, read } = self.activity(domain, condition);
        let terms = self.terms(condition);
        let count = 2 * terms.len() + 8;
        let stated = at_most(condition.error.at(size, read), count);
        let error = |limit: f64| at_most(stated + sum_error(count, size + limit.abs()), 8);
        let constant = condition.constant;
        let (mut gone, mut limits) = (0.0, (f64::NEG_INFINITY, 0.0));
        if let Some(neuron) = condition.neuron {
            let room = error(0.0);
            gone = self.tighten(domain, neuron, least + constant - room, most + constant + room)?;
            limits = (domain.lower[neuron], domain.upper[neuron]);
        }
        if least + constant >= limits.0 && most + constant <= limits.1 {
            return Ok(gone);
        }
        let (above, below) = (limits.1 + error(limits.1), limits.0 - error(limits.0));
        for &(variable, weight) in terms.iter().filter(|(_, weight)| *weight != 0.0) {
            let (lower, upper) = self.read(domain, variable as usize);
            let (a, b) = (weight * lower, weight * upper);
            let (low, high) = (a.min(b), a.max(b));
            let (high, low) = (above - constant - (least - low), below - constant - (most - high));
            let (one, other) = (low / weight, high / weight);
            let (lower, upper) = if weight > 0.0 { (one, other) } else { (other, one) };
            let part = self.tighten_read(domain, variable as usize, lower.next_down(), upper.next_up())?;
            gone = part.max(gone);
        }
        Ok(gone)
    }

    /// Clips the inputs by the linear forms of the rows.
    fn clip(&self, domain: &mut Domain) -> Result<f64, Emptiness> {
        let mut gone: f64 = 0.0;
        for row in self.rows {
            for &rule in self.bounder.rules {
                let (lower, upper) = (domain.lower.split_at(self.inputs), domain.upper.split_at(self.inputs));
                let (bound, form) = self.bounder.form((lower.0, upper.0), (lower.1, upper.1), row, rule);
                if bound > 0.0 {
                    return Err(Emptiness);
                }
                for (i, &a) in form.iter().enumerate().filter(|(_, a)| **a != 0.0) {
                    // Two roundings, of the quotient and of the difference.
                    let reach = (-bound / a.abs()).next_up();
                    let (lower, upper) = (domain.lower[i], domain.upper[i]);
                    let part = match a > 0.0 {
                        true => self.tighten(domain, i, f64::NEG_INFINITY, (lower + reach).next_up()),
                        false => self.tighten(domain, i, (upper - reach).next_down(), f64::INFINITY),
                    };
                    gone = gone.max(part?);
                }
            }
        }
        Ok(gone)
    }

    /// Contracts a domain until a turn takes less than the given part of every first range, or so many turns are over.
    pub fn contract(&self, domain: &mut Domain, turns: usize, worth: f64) -> Result<(), Emptiness> {
        for turn in 0..turns {
            let mut gone: f64 = 0.0;
            for k in 0..self.all.len() {
                let k = if turn % 2 == 0 { self.all.len() - 1 - k } else { k };
                gone = gone.max(self.revise(domain, &self.all[k])?);
            }
            if gone < worth && self.clip(domain)? < worth {
                break;
            }
        }
        Ok(())
    }
}
