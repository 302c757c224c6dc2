//! Rows to be bounded from below on a compact network: linear functions of what its target reads, in float32.

use super::compact::Compact;
use super::cone::Targets;
use super::objective::Objective;
use super::table::{Bounds, Side};
use pg_core::rounding::{EPSILON_32, TINY_32, at_most, sum_error, sum_error_32};
use pg_core::{Edge, Source, Stage};

/// A linear function of the activations that the target of a compact network reads, and perhaps of the box.
#[derive(Clone, Debug)]
pub struct Objective32 {
    /// A coefficient for each live neuron of the stages that the target reads, padded; stage after stage.
    pub mu: Vec<Vec<f32>>,
    /// Of the box, padded.
    pub x: Option<Vec<f32>>,
    pub constant: f64,
    /// How far this may be from the function meant, anywhere in the region.
    pub error: f64,
}

impl Compact {
    /// The sources that the target reads, as it lists them: their neurons, and the largest that each may be.
    fn read<'c>(&'c self, bounds: &Bounds, from: Source) -> (&'c [usize], Vec<f64>) {
        match from {
            _ if from == self.base => (&self.before.all, self.before.largest.clone()),
            Source::Stage(s) => {
                let stage = self.stages.iter().find(|stage| stage.number == s).expect("what the target reads");
                (&stage.neurons, stage.neurons.iter().map(|&j| bounds.upper(s)[j]).collect())
            }
            Source::Input => panic!("a stage behind a cut reads the inputs"),
        }
    }

    /// A row of parts, each of what the target reads or of the box. `error` took at most so many roundings.
    fn row(
        &self,
        parts: Vec<(Source, Vec<f32>)>,
        constant: f64,
        (error, terms): (f64, usize),
        bounds: &Bounds,
    ) -> Objective32 {
        let mut row = Objective32 { mu: vec![], x: None, constant, error: 0.0 };
        for (from, mut part) in parts {
            if from == self.base {
                part.resize(self.inputs(), 0.0);
                row.x = Some(part);
            } else {
                let stage = &self.stages[self.reads[row.mu.len()]];
                part.resize(stage.width, 0.0);
                row.mu.push(part);
            }
        }
        row.error = at_most(error + self.own_error(&row, bounds), terms + 4 * self.width + 4 * self.inputs());
        row
    }

    /// What the row's own coefficients may be off by on the way back. Stages of the compact network that read the same
    /// source add to them, and each addition is rounded relative to them too.
    fn own_error(&self, row: &Objective32, bounds: &Bounds) -> f64 {
        let error = |(terms, size): (usize, f64)| if terms > 0 { sum_error_32(terms, size) } else { 0.0 };
        let terms = self.reads.iter().map(|&read| self.stages[read].terms).chain([self.before.terms]);
        terms.zip(self.sizes(row, bounds)).map(error).sum()
    }

    /// The magnitudes of a row's coefficients at the largest activations, by what they are of: the stages that the target
    /// reads, then the box.
    pub(super) fn sizes(&self, row: &Objective32, bounds: &Bounds) -> Vec<f64> {
        let size = |(&a, largest): (&f32, f64)| if a == 0.0 { 0.0 } else { f64::from(a).abs() * largest };
        let hidden =
            self.reads.iter().zip(&row.mu).map(|(&read, mu)| mu.iter().zip(self.largest(read, bounds)).map(size).sum());
        let own = row.x.iter().map(|x| x.iter().zip(self.before.largest.iter().copied()).map(size).sum());
        hidden.chain(own).collect()
    }

    /// The largest activations of all that the target reads and of the box together.
    pub(super) fn reach(&self, bounds: &Bounds) -> f64 {
        let hidden = self.reads.iter().flat_map(|&read| self.largest(read, bounds));
        hidden.chain(self.before.largest.iter().copied()).sum()
    }

    /// The largest activations of a stage, each above 0.
    fn largest<'c>(&'c self, stage: usize, bounds: &'c Bounds) -> impl Iterator<Item = f64> + 'c {
        let stage = &self.stages[stage];
        stage.neurons.iter().map(|&j| bounds.upper(stage.number)[j])
    }

    /// A side of a neuron of the target, exact but for the neuron's own error.
    pub fn neuron_row(&self, target: &Stage, side: Side, bounds: &Bounds) -> Objective32 {
        assert!(self.targets.contain(side.neuron), "what the neuron depends on is in the network");
        let (mut parts, mut read, mut terms) = (Vec::with_capacity(target.edges.len()), Read::default(), 4);
        for edge in target.edges {
            let (cols, largest) = self.read(bounds, edge.from);
            let mut part = vec![0.0; cols.len()];
            edge.map.pick(side.neuron, cols, &mut part);
            part.iter_mut().for_each(|w| *w *= side.sign);
            read.add(&part, &largest);
            terms += largest.len();
            parts.push((edge.from, part));
        }
        let error = target.error_of(side.neuron).at(read.size, read.total);
        self.row(parts, f64::from(side.sign * target.bias[side.neuron]), (error, terms), bounds)
    }

    /// A row with so many times another, both of hidden neurons: what the coefficients are rounded by is part of the error.
    pub fn sum_row(&self, row: &Objective32, times: f32, other: &Objective32, bounds: &Bounds) -> Objective32 {
        assert!(row.x.is_none() && other.x.is_none());
        let times_64 = f64::from(times);
        let product = times_64 * other.constant;
        let mut error = row.error + times_64.abs() * other.error;
        error += sum_error(2, row.constant.abs() + product.abs());
        let mut mu = Vec::with_capacity(row.mu.len());
        let mut terms = 8;
        for ((a, b), &read) in row.mu.iter().zip(&other.mu).zip(&self.reads) {
            let stage = &self.stages[read];
            for ((&a, &b), &j) in a.iter().zip(b).zip(&stage.neurons) {
                let size = f64::from(a).abs() + (times_64 * f64::from(b)).abs();
                error += (2.0 * EPSILON_32 * size + 2.0 * TINY_32) * bounds.upper(stage.number)[j];
            }
            terms += 4 * a.len();
            mu.push(a.iter().zip(b).map(|(a, b)| a + times * b).collect());
        }
        let mut sum = Objective32 { mu, x: None, constant: row.constant + product, error: 0.0 };
        sum.error = at_most(error + self.own_error(&sum, bounds), terms + 4 * self.width);
        sum
    }

    /// An objective over the network's outputs, carried over the last stage in float64 and rounded: the distance from what is
    /// rounded is part of the row's error. Coefficients of the network's inputs need a box of these.
    pub fn objective_row(&self, last: &Stage, objective: &Objective, bounds: &Bounds) -> Objective32 {
        let has_inputs = objective.has_inputs();
        assert_eq!(self.targets, Targets::All, "an objective depends on everything");
        assert!(self.base == Source::Input || !has_inputs);
        let (mut error, mut terms) = (objective.constant_error, 4 * objective.y.len() + 16);
        let mut reads = vec![Read::default(); objective.y.len()];
        let mut parts = Vec::with_capacity(last.edges.len() + 1);
        for edge in last.edges {
            let (cols, largest) = self.read(bounds, edge.from);
            let own = (has_inputs && edge.from == self.base).then_some(objective.x.as_slice());
            parts.push((edge.from, carried(edge, cols, &objective.y, own, &largest, &mut reads, &mut error)));
            terms += 4 * cols.len();
        }
        if has_inputs && last.edges.iter().all(|edge| edge.from != self.base) {
            let part = rounded(&objective.x, &vec![0.0; objective.x.len()], 0, &self.before.largest, &mut error);
            terms += 4 * part.len();
            parts.push((self.base, part));
        }
        if has_inputs {
            let sizes = objective.x_error.iter().zip(&self.before.largest);
            error += sizes.map(|(error, size)| error * size).sum::<f64>();
        }
        let (lower, upper) = bounds.outputs();
        let (mut constant, mut size) = (objective.constant, objective.constant.abs());
        for (j, &c) in objective.y.iter().enumerate() {
            let term = c * f64::from(last.bias[j]);
            constant += term;
            size += term.abs();
            if c != 0.0 {
                error += c.abs() * last.error_of(j).at(reads[j].size, reads[j].total);
            }
            if objective.y_error[j] != 0.0 {
                error += objective.y_error[j] * lower[j].abs().max(upper[j].abs());
            }
        }
        self.row(parts, constant, (error + sum_error(objective.y.len(), size), terms), bounds)
    }
}

/// What a neuron reads at the most: the sums of the largest activations whose coefficients are not 0, each times its
/// coefficient's magnitude, and as they are.
#[derive(Clone, Copy, Default)]
struct Read {
    size: f64,
    total: f64,
}

impl Read {
    fn add(&mut self, part: &[f32], largest: &[f64]) {
        let (mut size, mut total) = (0.0, 0.0);
        for (&w, &largest) in part.iter().zip(largest).filter(|(w, _)| **w != 0.0) {
            size += f64::from(w).abs() * largest;
            total += largest;
        }
        (self.size, self.total) = (self.size + size, self.total + total);
    }
}

/// The coefficients that combinations `y` of a map's rows have of some columns, with those that the columns have themselves.
/// Adds what each row reads.
fn carried(
    edge: &Edge,
    cols: &[usize],
    y: &[f64],
    own: Option<&[f64]>,
    largest: &[f64],
    reads: &mut [Read],
    error: &mut f64,
) -> Vec<f32> {
    let mut sums: Vec<f64> = own.map_or(vec![0.0; cols.len()], <[f64]>::to_vec);
    let mut sizes: Vec<f64> = sums.iter().map(|sum| sum.abs()).collect();
    let mut weights = vec![0.0; cols.len()];
    for (j, &c) in y.iter().enumerate().filter(|(_, c)| **c != 0.0) {
        edge.map.pick(j, cols, &mut weights);
        reads[j].add(&weights, largest);
        for ((sum, size), &w) in sums.iter_mut().zip(&mut sizes).zip(&weights) {
            let term = c * f64::from(w);
            *sum += term;
            *size += term.abs();
        }
    }
    rounded(&sums, &sizes, y.len(), largest, error)
}

/// Sums of so many terms as float32, and what they are off by at the largest activations.
fn rounded(sums: &[f64], sizes: &[f64], terms: usize, largest: &[f64], error: &mut f64) -> Vec<f32> {
    let mut part = Vec::with_capacity(sums.len());
    for ((&sum, &size), &largest) in sums.iter().zip(sizes).zip(largest) {
        let rounded = sum as f32;
        *error += ((sum - f64::from(rounded)).abs() + sum_error(terms, size)) * largest;
        part.push(rounded);
    }
    part
}
