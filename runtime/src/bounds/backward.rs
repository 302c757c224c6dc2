//! The one bound.
//!
//! For any multipliers ν of the equations z = Wh + b, with μ = Wᵀν the coefficients of the activations before them, a
//! linear function of the outputs is at least
//!
//! ```text
//!     Σ_k [ ν_k·b_k + Σ_j m_kj ] + min over the box of (W₁ᵀν₁)·x,     m = min over z in [l, u] of μ·max(z,0) − ν·z,
//! ```
//!
//! since −νz + νz cancels and each neuron's term is at least its minimum. The computed ν are exact multipliers; what is
//! not exact is μ̂ = fl(Wᵀν), whose error is at most n·u·|W|ᵀ|ν|. Times the largest activations that is |ν|·r with
//! r = |W|·max|h| known in advance: one product per layer. The layer's stated error enters the same way. All other terms
//! are a sum whose rounding is bounded by its length times the sum of its magnitudes.

use super::domain::{Domain, Emptiness};
use super::objective::Objective;
use super::{Layers, ROUND, UNDERFLOW};
use crate::network::Network;

/// How the multiplier of an undecided neuron is chosen when μ ≥ 0: any share of μ is sound, and costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relaxation {
    /// All or nothing, whichever leaves the smaller triangle.
    Adaptive,
    /// The slope of the chord, so that lower and upper line are parallel.
    Parallel,
}

impl Relaxation {
    #[inline(always)]
    fn multiplier(self, mu: f64, l: f64, u: f64) -> f64 {
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

/// Bounds functions of one network over one input box.
#[derive(Clone)]
pub struct Bounder<'a> {
    network: &'a dyn Network,
    layers: &'a Layers,
    input_lower: Vec<f64>,
    input_upper: Vec<f64>,
    /// For each layer and neuron, what a unit of its multiplier may cost by rounding and stated errors.
    slop: Vec<Vec<f64>>,
    /// Upper bounds of the outputs' magnitudes.
    output_size: Vec<f64>,
    /// The longest sum that a bound adds up.
    terms: f64,
    /// Rows bounded so far.
    pub rows: u64,
}

/// Linear functions of the activations `mu` refers to, one a row, on their way to the input.
struct Rows {
    mu: Vec<f64>,
    /// The constant so far, the magnitude of its terms, and the error that multipliers have cost.
    sum: Vec<f64>,
    magnitude: Vec<f64>,
    slop: Vec<f64>,
}

impl<'a> Bounder<'a> {
    /// Also returns the bounds of every neuron on the whole box. Bounds on a larger box may be given: then only what they
    /// leave undecided is bounded again.
    pub fn new(
        network: &'a dyn Network,
        layers: &'a Layers,
        input_lower: Vec<f64>,
        input_upper: Vec<f64>,
        larger: Option<&Domain>,
    ) -> Result<(Bounder<'a>, Domain), Emptiness> {
        let neurons: usize = network.widths().iter().sum();
        let size = |(l, u): (&f64, &f64)| l.abs().max(u.abs());
        let mut largest: Vec<f64> = input_lower.iter().zip(&input_upper).map(size).collect();
        let terms = 2.0 * neurons as f64 + 64.0;
        let mut bounder =
            Bounder { network, layers, input_lower, input_upper, slop: vec![], output_size: vec![], terms, rows: 0 };
        let mut domain = larger.cloned().unwrap_or_else(|| Domain::unknown(network.widths()));
        let last = layers.hidden();
        for (k, layer) in layers.0.iter().enumerate() {
            bounder.slop.push(slop(layer, &largest));
            let open: Vec<usize> = match larger {
                None => (0..layer.outputs).collect(),
                Some(_) if k == last => vec![],
                Some(_) => domain.undecided(k).collect(),
            };
            bounder.tighten_layer(&mut domain, k, &open, &[Relaxation::Adaptive, Relaxation::Parallel])?;
            largest = domain.upper[k].iter().map(|&u| if u > 0.0 { u } else { 0.0 }).collect();
        }
        bounder.output_size = domain.lower[last].iter().zip(&domain.upper[last]).map(size).collect();
        Ok((bounder, domain))
    }

    /// The box.
    pub fn input(&self) -> (Vec<f64>, Vec<f64>) {
        (self.input_lower.clone(), self.input_upper.clone())
    }

    pub fn hidden(&self) -> usize {
        self.layers.hidden()
    }

    /// Lower and upper bounds of some neurons of a layer.
    pub(super) fn neuron_bounds(
        &mut self,
        domain: &Domain,
        layer: usize,
        neurons: &[usize],
        relaxation: Relaxation,
    ) -> Vec<(f64, f64)> {
        let signs = [1.0, -1.0];
        let signed = || neurons.iter().flat_map(|&j| signs.map(|sign| (j, sign)));
        let data = &self.layers.0[layer];
        let rows = Rows {
            mu: signed().flat_map(|(j, sign)| data.row(j).iter().map(move |&w| sign * f64::from(w))).collect(),
            sum: signed().map(|(j, sign)| sign * f64::from(data.bias[j])).collect(),
            magnitude: signed().map(|(j, _)| f64::from(data.bias[j]).abs()).collect(),
            slop: signed().map(|(j, _)| self.slop[layer][j]).collect(),
        };
        let lower = self.lower_bounds(domain, layer, rows, None, |_, _, mu, l, u| relaxation.multiplier(mu, l, u));
        lower.chunks(2).map(|pair| (pair[0], -pair[1])).collect()
    }

    /// A lower bound of an objective over the domain, by a relaxation.
    pub fn objective_bound(&mut self, domain: &Domain, objective: &Objective, relaxation: Relaxation) -> f64 {
        self.bound(domain, objective, |_, _, mu, l, u| relaxation.multiplier(mu, l, u))
    }

    /// A lower bound of an objective over the domain, by given multipliers of the hidden neurons: `multipliers[k][j]`.
    ///
    /// Any multipliers are sound. An objective of zero that is bounded above zero proves the domain empty.
    pub fn certify(&mut self, domain: &Domain, objective: &Objective, multipliers: &[Vec<f64>]) -> f64 {
        self.bound(domain, objective, |k, j, _, _, _| multipliers[k][j])
    }

    fn bound(
        &mut self,
        domain: &Domain,
        objective: &Objective,
        multiplier: impl Fn(usize, usize, f64, f64, f64) -> f64,
    ) -> f64 {
        let last = self.layers.hidden();
        let mut rows = Rows {
            mu: vec![],
            sum: vec![objective.constant],
            magnitude: vec![objective.constant.abs()],
            slop: vec![objective.constant_error],
        };
        for (error, size) in objective.y_error.iter().zip(&self.output_size) {
            rows.slop[0] += error * size;
        }
        for ((error, l), u) in objective.x_error.iter().zip(&self.input_lower).zip(&self.input_upper) {
            rows.slop[0] += error * l.abs().max(u.abs());
        }
        self.pass_layer(last, &objective.y, &mut rows);
        self.lower_bounds(domain, last, rows, Some(&objective.x), multiplier)[0]
    }

    /// Replaces multipliers of a layer's neurons by coefficients of the activations before it.
    fn pass_layer(&mut self, layer: usize, nu: &[f64], rows: &mut Rows) {
        let (data, slop) = (&self.layers.0[layer], &self.slop[layer]);
        for (r, nu) in nu.chunks(data.outputs).enumerate() {
            let (mut sum, mut magnitude, mut cost) = (0.0, 0.0, 0.0);
            for ((&nu, &bias), &slop) in nu.iter().zip(&data.bias).zip(slop) {
                let term = nu * f64::from(bias);
                sum += term;
                magnitude += term.abs();
                cost += nu.abs() * slop;
            }
            rows.sum[r] += sum;
            rows.magnitude[r] += magnitude;
            rows.slop[r] += cost;
        }
        rows.mu.clear();
        rows.mu.resize(rows.sum.len() * data.inputs, 0.0);
        self.network.backward(layer, nu, &mut rows.mu);
        self.rows += rows.sum.len() as u64;
    }

    /// Takes rows over the activations before layer `layer` to the input; `x` is added to the coefficients there.
    fn lower_bounds(
        &mut self,
        domain: &Domain,
        layer: usize,
        mut rows: Rows,
        x: Option<&[f64]>,
        multiplier: impl Fn(usize, usize, f64, f64, f64) -> f64,
    ) -> Vec<f64> {
        for k in (0..layer).rev() {
            let (lower, upper) = (&domain.lower[k], &domain.upper[k]);
            let mut nu = std::mem::take(&mut rows.mu);
            for (r, row) in nu.chunks_mut(lower.len()).enumerate() {
                let (mut sum, mut magnitude) = (0.0, 0.0);
                for (j, value) in row.iter_mut().enumerate() {
                    let mu = *value;
                    let (l, u) = (lower[j], upper[j]);
                    let nu = multiplier(k, j, mu, l, u);
                    let (least, size) = neuron_term(mu, nu, l, u);
                    sum += least;
                    magnitude += size + poison(mu, nu, l, u);
                    *value = nu;
                }
                rows.sum[r] += sum;
                rows.magnitude[r] += magnitude;
            }
            self.pass_layer(k, &nu, &mut rows);
        }
        self.close(rows, x)
    }

    /// Minimises over the box and subtracts what rounding may have added.
    fn close(&self, rows: Rows, x: Option<&[f64]>) -> Vec<f64> {
        let inputs = self.input_lower.len();
        let finish = |(r, row): (usize, &[f64])| {
            let (mut sum, mut magnitude) = (rows.sum[r], rows.magnitude[r]);
            for (i, &mu) in row.iter().enumerate() {
                let a = mu + x.map_or(0.0, |x| x[i]);
                let term = a * if a >= 0.0 { self.input_lower[i] } else { self.input_upper[i] };
                sum += term;
                magnitude += term.abs();
            }
            let error = self.terms * ROUND * magnitude + rows.slop[r] * (1.0 + self.terms * ROUND) + UNDERFLOW;
            let bound = (sum - error).next_down();
            if bound.is_nan() { f64::NEG_INFINITY } else { bound }
        };
        rows.mu.chunks(inputs).enumerate().map(finish).collect()
    }
}

/// 0, or NaN if any number is infinite or NaN: minima would hide it.
#[inline(always)]
fn poison(mu: f64, nu: f64, l: f64, u: f64) -> f64 {
    (mu.abs() + nu.abs() + (u - l)) * 0.0
}

/// The least value of μ·max(z,0) − ν·z for z in [l, u], and the largest magnitude of the pieces compared: each has at most
/// three roundings, so the exact least value is within that share of the largest magnitude.
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

/// What a unit of each neuron's multiplier may cost: the rounding of the product with the matrix, at the largest
/// activations, and the layer's stated error.
fn slop(layer: &super::Layer, largest: &[f64]) -> Vec<f64> {
    let inflate = 1.0 + (layer.inputs as f64 + 8.0) * ROUND;
    let total: f64 = largest.iter().sum::<f64>() * inflate;
    let rounding = (layer.outputs as f64 + 4.0) * ROUND;
    let neuron = |i: usize| {
        let size: f64 = layer.row(i).iter().zip(largest).map(|(&w, &h)| f64::from(w).abs() * h).sum();
        (rounding * size + layer.weight_error[i] * total + layer.bias_error[i]) * inflate * inflate + UNDERFLOW
    };
    (0..layer.outputs).map(neuron).collect()
}
