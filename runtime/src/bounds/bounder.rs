//! The one bound in float64 over one box of inputs: what errors cost there, and room for rows.

use super::objective::Objective;
use super::table::{Bounds, Emptiness};
use pg_core::bound::{Known, Relaxation, Rows, interval, slop, underflow};
use pg_core::kernel::padded;
use pg_core::rounding::Sum;
use pg_core::{Shape, Source};
use std::cell::{Cell, RefCell};

/// Bounds of a box of inputs do not contradict each other.
pub const NOT_EMPTY: &str = "a box of inputs is not empty";

/// Whether to bound so many neurons of a stage by more than intervals: a search may be over, or do it otherwise.
pub type Worth<'w> = &'w dyn Fn(usize, usize) -> bool;

/// Neurons bounded together.
const CHUNK: usize = 128;

/// Bounds functions of one network over one input box.
#[derive(Clone)]
pub struct Bounder<'a> {
    pub shape: Shape<'a>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// For each neuron, what a unit of its multiplier may cost by rounding and the neuron's own error.
    slop: Vec<f64>,
    /// What underflow may cost.
    underflow: f64,
    /// Upper bounds of the outputs' magnitudes.
    output_size: Vec<f64>,
    /// How multipliers of undecided neurons are chosen, one rule after the other.
    pub rules: &'static [Relaxation],
    /// Rows bounded so far.
    pub rows: Cell<u64>,
}

/// Where multipliers of hidden neurons come from.
#[derive(Clone, Copy)]
pub enum Multipliers<'m> {
    Rule(Relaxation),
    Given(&'m [Vec<f64>]),
    /// Of neurons that are all on or off: β ≥ 0 of their phases.
    Phases(&'m [f64]),
}

impl<'a> Bounder<'a> {
    /// Also returns the bounds of every neuron on the whole box. Bounds on a larger box may be given: then only what they
    /// leave undecided is bounded again. Coarse bounds are float32 numbers, a little below or above what was found.
    pub fn new(
        shape: Shape<'a>,
        lower: Vec<f64>,
        upper: Vec<f64>,
        larger: Option<&Bounds>,
        rules: &'static [Relaxation],
        is_coarse: bool,
        is_worth: Worth,
    ) -> Result<(Bounder<'a>, Bounds), Emptiness> {
        let size = |(l, u): (&f64, &f64)| l.abs().max(u.abs());
        let mut largest: Vec<Vec<f64>> = vec![lower.iter().zip(&upper).map(size).collect()];
        let mut ranges = vec![(lower.clone(), upper.clone())];
        let slop = vec![0.0; shape.neurons()];
        let underflow = underflow(&shape, Source::Input, &largest[0]);
        let mut bounder =
            Bounder { shape, lower, upper, slop, underflow, output_size: vec![], rules, rows: Cell::new(0) };
        let mut bounds = larger.cloned().unwrap_or_else(|| Bounds::unknown(&shape));
        for k in 0..shape.stages.len() {
            bounder.charge(k, &largest);
            bounder.tighten_by_intervals(&mut bounds, k, &ranges)?;
            let open: Vec<usize> = match larger {
                None if k == shape.last() => (0..shape.outputs()).collect(),
                Some(_) if k == shape.last() => vec![],
                _ => bounds.undecided(k).collect(),
            };
            bounder.tighten(&mut bounds, k, &open, is_worth)?;
            if is_coarse {
                bounds.coarsen(k);
            }
            let on = |ends: &[f64]| ends.iter().map(|&end| if end > 0.0 { end } else { 0.0 }).collect::<Vec<_>>();
            largest.push(on(bounds.upper(k)));
            ranges.push((on(bounds.lower(k)), on(bounds.upper(k))));
            bounder.underflow += pg_core::bound::underflow(&shape, Source::Stage(k), &largest[k + 1]);
        }
        let (low, high) = bounds.outputs();
        bounder.output_size = low.iter().zip(high).map(size).collect();
        Ok((bounder, bounds))
    }

    /// What multipliers of a stage cost, from the largest that each source can be: the inputs, then the stages.
    fn charge(&mut self, stage: usize, largest: &[Vec<f64>]) {
        let of = |source: Source| match source {
            Source::Input => largest[0].as_slice(),
            Source::Stage(s) => &largest[s + 1],
        };
        let start = self.shape.start(stage);
        slop(&self.shape, stage, of, &mut self.slop[start..start + self.shape.stages[stage].width()]);
    }

    /// The box.
    pub fn input(&self) -> (&[f64], &[f64]) {
        (&self.lower, &self.upper)
    }

    fn known<'k>(&'k self, bounds: &'k Bounds) -> Known<'k> {
        let (lower, upper) = bounds.all();
        let (slop, underflow) = (&self.slop, self.underflow);
        Known { shape: self.shape, input: self.input(), lower, upper, slop, underflow }
    }

    /// Tightens the undecided neurons of a stage by the ranges of what it reads: the inputs, then the stages. What that decides
    /// needs no better bound.
    fn tighten_by_intervals(
        &self,
        bounds: &mut Bounds,
        stage: usize,
        ranges: &[(Vec<f64>, Vec<f64>)],
    ) -> Result<(), Emptiness> {
        let range = |source: Source| {
            let (lower, upper) = match source {
                Source::Input => &ranges[0],
                Source::Stage(s) => &ranges[s + 1],
            };
            (lower.as_slice(), upper.as_slice())
        };
        for j in 0..self.shape.stages[stage].width() {
            if bounds.is_undecided(stage, j) {
                let (lower, upper) = interval(&self.shape.stages[stage], j, range);
                bounds.tighten(stage, j, lower, upper)?;
            }
        }
        Ok(())
    }

    /// Tightens the given neurons of a stage by both sides of their bounds, with each relaxation in turn while they are
    /// undecided.
    fn tighten(&self, bounds: &mut Bounds, stage: usize, neurons: &[usize], is_worth: Worth) -> Result<(), Emptiness> {
        if !is_worth(stage, neurons.len()) {
            return Ok(());
        }
        let most = 2 * neurons.len().min(CHUNK);
        let mut mu = vec![0.0; most * self.shape.room()];
        for chunk in neurons.chunks(CHUNK) {
            let mut open = chunk.to_vec();
            for &relaxation in self.rules {
                if open.is_empty() || !is_worth(stage, open.len()) {
                    break;
                }
                let found = self.neuron_bounds(bounds, stage, &open, relaxation, &mut mu);
                for (&j, sides) in open.iter().zip(found.chunks(2)) {
                    bounds.tighten(stage, j, sides[0], -sides[1])?;
                }
                open.retain(|&j| stage == self.shape.last() || bounds.is_undecided(stage, j));
            }
        }
        Ok(())
    }

    /// The paper's symbolic inference: tightens what is undecided from a stage on.
    pub fn propagate(&self, bounds: &mut Bounds, from: usize, is_worth: Worth) -> Result<(), Emptiness> {
        for stage in from..self.shape.last() {
            let open: Vec<usize> = bounds.undecided(stage).collect();
            self.tighten(bounds, stage, &open, is_worth)?;
        }
        Ok(())
    }

    /// Lower bounds of z and of −z, for some neurons of a stage. `mu` is room for as many rows.
    fn neuron_bounds(
        &self,
        bounds: &Bounds,
        stage: usize,
        neurons: &[usize],
        relaxation: Relaxation,
        mu: &mut [f64],
    ) -> Vec<f64> {
        let count = 2 * neurons.len();
        let data = &self.shape.stages[stage];
        let slop = &self.slop[self.shape.start(stage)..];
        let mu = &mut mu[..count * self.shape.room()];
        // The stage itself and those after it are not read.
        mu[..count * self.shape.place(Source::Stage(stage))].fill(0.0);
        let mut sums = Vec::with_capacity(count);
        for (pair, &j) in neurons.iter().enumerate() {
            for (row, sign) in [(2 * pair, 1.0), (2 * pair + 1, -1.0)] {
                for edge in data.edges {
                    let block = count * self.shape.place(edge.from) + row * padded(edge.map.cols());
                    edge.map.row(j).for_each(|(i, w)| mu[block + i] = sign * f64::from(w));
                }
                sums.push(Sum::new(sign * f64::from(data.bias[j]), slop[j]));
            }
        }
        self.rows.set(self.rows.get() + count as u64);
        let mut found = vec![0.0; count];
        let rows = Rows { mu, sums: &mut sums };
        let multiplier = |_, _, mu, l, u| relaxation.multiplier(mu, l, u);
        self.known(bounds).lower_bounds(stage, rows, None, multiplier, &mut found);
        found
    }

    /// A lower bound of an objective, by a relaxation.
    pub fn objective_bound(&self, bounds: &Bounds, objective: &Objective, relaxation: Relaxation) -> f64 {
        self.bound(bounds, objective, |_, _, mu, l, u| relaxation.multiplier(mu, l, u))
    }

    /// A lower bound of an objective, by given multipliers of the hidden neurons: `multipliers[k][j]`.
    ///
    /// Any multipliers are sound. An objective of zero that is bounded above zero proves the region empty.
    pub fn certify(&self, bounds: &Bounds, objective: &Objective, multipliers: &[Vec<f64>]) -> f64 {
        self.bound(bounds, objective, |k, j, _, _, _| multipliers[k][j])
    }

    /// The coefficient μ that each hidden neuron is left with, and its multiplier: by a relaxation, or as given.
    pub fn multipliers(&self, bounds: &Bounds, objective: &Objective, by: Multipliers) -> Vec<(f64, f64)> {
        let found = RefCell::new(vec![(0.0, 0.0); self.shape.start(self.shape.last())]);
        self.bound(bounds, objective, |k, j, mu, l, u| {
            let nu = match by {
                Multipliers::Rule(relaxation) => relaxation.multiplier(mu, l, u),
                Multipliers::Given(given) => given[k][j],
                Multipliers::Phases(beta) if u <= 0.0 => beta[self.shape.start(k) + j],
                Multipliers::Phases(beta) => mu - beta[self.shape.start(k) + j],
            };
            found.borrow_mut()[self.shape.start(k) + j] = (mu, nu);
            nu
        });
        found.into_inner()
    }

    fn bound(
        &self,
        bounds: &Bounds,
        objective: &Objective,
        multiplier: impl Fn(usize, usize, f64, f64, f64) -> f64,
    ) -> f64 {
        self.pass(self.known(bounds), objective, multiplier).0
    }

    /// A lower bound of an objective on a part of the box, with bounds of all neurons there, and the coefficients of the inputs
    /// in the linear form that it is the minimum of: on all of the part the objective is at least the bound and what the form
    /// exceeds its minimum by. Errors are those of the whole box, which are larger.
    pub fn form(
        &self,
        input: (&[f64], &[f64]),
        (lower, upper): (&[f64], &[f64]),
        objective: &Objective,
        relaxation: Relaxation,
    ) -> (f64, Vec<f64>) {
        let (slop, underflow) = (&self.slop, self.underflow);
        let known = Known { shape: self.shape, input, lower, upper, slop, underflow };
        let (bound, mut form) = self.pass(known, objective, |_, _, mu, l, u| relaxation.multiplier(mu, l, u));
        form.truncate(self.shape.inputs);
        form.iter_mut().zip(&objective.x).for_each(|(a, own)| *a += own);
        (bound, form)
    }

    /// The bound, and the coefficients of all sources, the objective's own of the inputs left out.
    fn pass(
        &self,
        known: Known,
        objective: &Objective,
        multiplier: impl Fn(usize, usize, f64, f64, f64) -> f64,
    ) -> (f64, Vec<f64>) {
        let (shape, last) = (self.shape, self.shape.last());
        let mut sum = Sum::new(objective.constant, objective.constant_error);
        for (error, size) in objective.y_error.iter().zip(&self.output_size) {
            sum.charge(error * size, 1);
        }
        for ((error, l), u) in objective.x_error.iter().zip(&self.lower).zip(&self.upper) {
            sum.charge(error * l.abs().max(u.abs()), 1);
        }
        let mut mu = vec![0.0; shape.room()];
        let (before, nu) = mu.split_at_mut(shape.place(Source::Stage(last)));
        nu[..objective.y.len()].copy_from_slice(&objective.y);
        let (mut sums, mut found) = ([sum], [0.0]);
        known.pass_stage(last, nu, before, &mut sums);
        let rows = Rows { mu: &mut mu, sums: &mut sums };
        known.lower_bounds(last, rows, Some(&objective.x), multiplier, &mut found);
        self.rows.set(self.rows.get() + 1);
        (found[0], mu)
    }
}
