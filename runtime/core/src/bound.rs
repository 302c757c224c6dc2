//! The one bound, in float64.
//!
//! For any multipliers ν of the equations z = Σ A·h + b, with μ_s = Σ over the stages k that read s of A_ksᵀ·ν_k the
//! coefficients of the activations before them, a linear function of a stage's neurons is at least
//!
//! ```text
//!     Σ_k [ ν_k·b_k + Σ_j m_kj ] + min over the box of μ_inputs·x,     m = min over z in [l, u] of μ·max(z,0) − ν·z,
//! ```
//!
//! since −νz + νz cancels and each neuron's term is at least its minimum. The computed ν are exact multipliers; what is not
//! exact is the computed μ. Its n terms are off by at most n·u·|A|ᵀ|ν| and, where products underflow, by n·η. Times the
//! largest activations the first is |ν|·r with r = n·u·|A|·max h known in advance, one product a stage; the second is known
//! in advance altogether. A stage's stated error enters like the first, and so does the rounding of a float32 program that
//! computes it. All other terms are a [`Sum`].

use crate::kernel::padded;
use crate::rounding::{Sum, at_most, sum_error, underflow_error};
use crate::shape::{Shape, Source, Stage};

/// How the multiplier of an undecided neuron is chosen when μ ≥ 0: any part of μ is sound, and costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relaxation {
    /// All or nothing, whichever leaves the smaller triangle (CROWN's rule).
    Adaptive,
    /// The slope of the chord, so that lower and upper line are parallel (DeepZ's rule).
    Parallel,
}

impl Relaxation {
    #[inline(always)]
    pub fn multiplier(self, mu: f64, l: f64, u: f64) -> f64 {
        if u <= 0.0 {
            0.0
        } else if l >= 0.0 {
            mu
        } else if mu < 0.0 || self == Relaxation::Parallel {
            mu * (u / (u - l))
        } else if u > -l {
            mu
        } else {
            0.0
        }
    }
}

/// What a bound may use: bounds of all neurons before the stage at hand, over a box of inputs.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub shape: Shape<'a>,
    pub input: (&'a [f64], &'a [f64]),
    /// `lower ≤ z ≤ upper`, one a neuron, stage after stage.
    pub lower: &'a [f64],
    pub upper: &'a [f64],
    /// What a unit of each neuron's multiplier may cost: see [`slop`].
    pub slop: &'a [f64],
    /// What underflow may cost altogether: see [`underflow`].
    pub underflow: f64,
}

/// Rows on their way to the inputs.
pub struct Rows<'w> {
    /// Coefficients of all activations, [`Shape::room`] for each row, a block of rows for each source.
    pub mu: &'w mut [f64],
    pub sums: &'w mut [Sum],
}

/// What a unit of each multiplier of a stage's neurons may cost: the rounding of its products with the stage's maps, at the
/// largest activations that they read, and the neuron's own error. `largest` is by source, one number an activation.
pub fn slop<'l>(shape: &Shape, stage: usize, largest: impl Fn(Source) -> &'l [f64], into: &mut [f64]) {
    let data = &shape.stages[stage];
    let terms: usize = data.edges.iter().map(|edge| edge.map.cols()).sum();
    for (j, into) in into.iter_mut().enumerate() {
        let error = data.error_of(j);
        let mut cost = error.constant;
        for edge in data.edges {
            let sizes = largest(edge.from);
            let (mut size, mut read) = (0.0, 0.0);
            edge.map.row(j).for_each(|(i, w)| (size, read) = (size + f64::from(w).abs() * sizes[i], read + sizes[i]));
            cost += sum_error(shape.terms_back(edge.from), size);
            cost += error.of_reads(size, read);
        }
        *into = at_most(cost, 2 * terms + 8);
    }
}

/// What underflow may cost the coefficients of a source's activations, the largest of which are given.
pub fn underflow(shape: &Shape, source: Source, largest: &[f64]) -> f64 {
    let total: f64 = largest.iter().sum();
    at_most(underflow_error(shape.terms_back(source), total), largest.len() + 4)
}

/// Bounds of a neuron from ranges of the activations that it reads, by source: each as if they had nothing to do with each other.
pub fn interval<'r>(stage: &Stage, neuron: usize, range: impl Fn(Source) -> (&'r [f64], &'r [f64])) -> (f64, f64) {
    let error = stage.error_of(neuron);
    let (mut least, mut most, mut size, mut read, mut terms) = (0.0, 0.0, 0.0, 0.0, 0);
    for edge in stage.edges {
        let (lower, upper) = range(edge.from);
        edge.map.row(neuron).for_each(|(i, w)| {
            let (a, b) = (f64::from(w) * lower[i], f64::from(w) * upper[i]);
            least += a.min(b);
            most += a.max(b);
            size += a.abs().max(b.abs());
            read += lower[i].abs().max(upper[i].abs());
            terms += 1;
        });
    }
    let bias = f64::from(stage.bias[neuron]);
    let lower = |bias: f64, value: f64| {
        let mut sum = Sum::new(bias, error.constant);
        sum.add(value, size, terms);
        sum.charge(error.of_reads(size, read), terms + 1);
        sum.lower()
    };
    (lower(bias, least), -lower(-bias, -most))
}

impl Known<'_> {
    /// Takes rows over the activations before a stage to the inputs, with multipliers by (stage, neuron, μ, l, u), and returns
    /// the lower bounds in `bounds`. `x` is added to the coefficients of the inputs.
    pub fn lower_bounds(
        &self,
        stage: usize,
        rows: Rows,
        x: Option<&[f64]>,
        multiplier: impl Fn(usize, usize, f64, f64, f64) -> f64,
        bounds: &mut [f64],
    ) {
        let count = rows.sums.len();
        assert_eq!(rows.mu.len(), count * self.shape.room());
        for k in (0..stage).rev() {
            let start = self.shape.start(k);
            let (lower, upper) = (&self.lower[start..], &self.upper[start..]);
            let width = self.shape.stages[k].width();
            let (before, from) = rows.mu.split_at_mut(count * self.shape.place(Source::Stage(k)));
            let nu = &mut from[..count * padded(width)];
            for (row, sum) in nu.chunks_mut(padded(width)).zip(rows.sums.iter_mut()) {
                let (mut value, mut size) = (0.0, 0.0);
                for (j, number) in row[..width].iter_mut().enumerate() {
                    let (mu, l, u) = (*number, lower[j], upper[j]);
                    let nu = multiplier(k, j, mu, l, u);
                    let (least, magnitude) = neuron_term(mu, nu, l, u);
                    value += least;
                    size += magnitude + poison(mu, nu, l, u);
                    *number = nu;
                }
                sum.add(value, size, width);
            }
            self.pass_stage(k, nu, before, rows.sums);
        }
        self.close(rows, x, bounds);
    }

    /// Replaces multipliers of a stage's neurons by coefficients of the activations that it reads, in the blocks before.
    pub fn pass_stage(&self, stage: usize, nu: &[f64], before: &mut [f64], sums: &mut [Sum]) {
        let data = &self.shape.stages[stage];
        let (width, slop) = (data.width(), &self.slop[self.shape.start(stage)..]);
        for (nu, sum) in nu.chunks(padded(width)).zip(sums.iter_mut()) {
            let (mut value, mut size, mut cost) = (0.0, 0.0, 0.0);
            for ((&nu, &bias), &slop) in nu.iter().zip(data.bias).zip(slop) {
                let term = nu * f64::from(bias);
                value += term;
                size += term.abs();
                cost += nu.abs() * slop;
            }
            sum.add(value, size, width);
            sum.charge(cost, width);
        }
        if nu.iter().all(|&nu| nu == 0.0) {
            return;
        }
        for edge in data.edges {
            let place = sums.len() * self.shape.place(edge.from);
            let block = sums.len() * padded(edge.map.cols());
            edge.map.add_back(nu, &mut before[place..place + block]);
        }
    }

    /// Minimises over the box and rounds down.
    fn close(&self, rows: Rows, x: Option<&[f64]>, bounds: &mut [f64]) {
        let inputs = self.shape.inputs;
        let (input_lower, input_upper) = self.input;
        for ((row, sum), bound) in rows.mu.chunks(padded(inputs)).zip(rows.sums).zip(bounds) {
            let (mut value, mut size) = (0.0, 0.0);
            for (i, &mu) in row[..inputs].iter().enumerate() {
                let a = mu + x.map_or(0.0, |x| x[i]);
                let term = a * if a >= 0.0 { input_lower[i] } else { input_upper[i] };
                value += term;
                size += term.abs();
            }
            sum.add(value, size, inputs);
            sum.charge(self.underflow, 0);
            *bound = sum.lower();
        }
    }
}

/// 0, or NaN if any number is infinite or NaN: minima would hide it.
#[inline(always)]
fn poison(mu: f64, nu: f64, l: f64, u: f64) -> f64 {
    (mu.abs() + nu.abs() + (u - l)) * 0.0
}

/// The least value of μ·max(z,0) − ν·z for z in [l, u], and the largest magnitude of the pieces compared: each has at most
/// three roundings, so the exact least value is within that part of the largest magnitude.
#[inline(always)]
fn neuron_term(mu: f64, nu: f64, l: f64, u: f64) -> (f64, f64) {
    if l >= 0.0 {
        let slope = mu - nu;
        if slope == 0.0 {
            return (0.0, 0.0);
        }
        let (a, b) = (slope * l, slope * u);
        (a.min(b), a.abs().max(b.abs()))
    } else if u <= 0.0 {
        if nu == 0.0 {
            return (0.0, 0.0);
        }
        let (a, b) = (-nu * l, -nu * u);
        (a.min(b), a.abs().max(b.abs()))
    } else {
        let (a, b) = (-nu * l, (mu - nu) * u);
        (a.min(b).min(0.0), a.abs().max(b.abs()))
    }
}
