//! From a point of the relaxation towards a counterexample.
//!
//! The program's point often sits exactly on the border of the property, where rounding decides. A few steps against the
//! gradient of the network itself move it inside, if there is an inside. Nothing here needs to be sound: what it finds is
//! replayed.

use super::sample::Random;
use super::{End, Search};
use crate::property::{Disjunct, Quadratic, Row, Scope};

/// Steps from each point, each shorter than the one before by a constant factor.
const STEPS: usize = 14;
const SHRINK: f64 = 0.7;
/// The first step, as a share of each side of the box.
const FIRST_STEP: f64 = 0.5;

impl Search<'_> {
    /// A descent from a random point of the disjunct's inputs.
    pub fn descend_anywhere(&mut self, disjunct: &Disjunct, random: &mut Random) -> Result<(), End> {
        let start = match self.body(disjunct) {
            Some(body) => body.anywhere(random),
            None => {
                let (lower, upper) = disjunct.region.enclosure();
                lower.iter().zip(&upper).map(|(l, u)| l + (u - l) * random.unit()).collect()
            }
        };
        self.descend(disjunct, &start)
    }

    /// Replays the float input nearest to a point, pulled into the disjunct's inputs if need be.
    pub fn try_near(&mut self, disjunct: &Disjunct, x: &[f64]) -> Result<(), End> {
        let inside = self.body(disjunct).map(|body| body.pull(x));
        let floats = inside.as_deref().unwrap_or(x).iter().map(|&v| v as f32);
        disjunct.region.nearest_floats(floats).map_or(Ok(()), |input| self.try_witness(&input))
    }

    /// Replays the point, then the points of a descent of the constraint that is farthest from holding. All of them are
    /// pulled into the disjunct's inputs, so that its constraints on these alone need no descent.
    pub fn descend(&mut self, disjunct: &Disjunct, point: &[f64]) -> Result<(), End> {
        let body = self.body(disjunct);
        let (lower, upper) = disjunct.region.enclosure();
        let mut x = point.to_vec();
        let mut step = FIRST_STEP;
        for _ in 0..=STEPS {
            if let Some(body) = &body {
                x = body.pull(&x);
            }
            if let Some(input) = disjunct.region.nearest_floats(x.iter().map(|&v| v as f32)) {
                self.try_witness(&input)?;
            }
            let Some(gradient) = self.gradient(disjunct, &x, body.is_some()) else { return Ok(()) };
            for (i, x) in x.iter_mut().enumerate() {
                let direction = if gradient[i] == 0.0 { 0.0 } else { gradient[i].signum() };
                *x = (*x - direction * step * (upper[i] - lower[i])).max(lower[i]).min(upper[i]);
            }
            step *= SHRINK;
        }
        Ok(())
    }

    /// The gradient at `x` of the constraint with the largest value there, if asked without those on the inputs alone;
    /// `None` if there is no constraint.
    pub fn gradient(&self, disjunct: &Disjunct, x: &[f64], is_inside: bool) -> Option<Vec<f64>> {
        let activations = self.activations(x);
        let y: Vec<f64> = activations.last()?.iter().map(|&v| f64::from(v)).collect();
        let wanted = |scope: Scope| !is_inside || scope != Scope::Input;
        let rows = disjunct.rows.iter().filter(|row| wanted(row.scope())).map(|row| Constraint::Row(row));
        let quadratics = disjunct.quadratics.iter().filter(|q| wanted(q.scope())).map(|q| Constraint::Quadratic(q));
        let valued = rows.chain(quadratics).map(|constraint| (constraint.value(x, &y), constraint));
        let (_, worst) = valued.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (direct, mut nu) = worst.gradient(x, &y);
        for k in (0..self.layers.0.len()).rev() {
            let mut mu = vec![0.0; self.layers.0[k].inputs];
            self.network.backward(k, &nu, &mut mu);
            if k > 0 {
                mu.iter_mut().zip(&activations[k - 1]).filter(|(_, h)| **h <= 0.0).for_each(|(mu, _)| *mu = 0.0);
            }
            nu = mu;
        }
        nu.iter_mut().zip(&direct).for_each(|(sum, slope)| *sum += slope);
        Some(nu)
    }

    /// The activations of every hidden layer, and the outputs, in float32.
    fn activations(&self, x: &[f64]) -> Vec<Vec<f32>> {
        let input: Vec<f32> = x.iter().map(|&v| v as f32).collect();
        let mut activations: Vec<Vec<f32>> = Vec::with_capacity(self.layers.0.len());
        for (k, layer) in self.layers.0.iter().enumerate() {
            let h = activations.last().map_or(input.as_slice(), Vec::as_slice);
            let neuron = |j: usize| {
                let z = dot(layer.row(j), h) + layer.bias[j];
                if k < self.layers.hidden() { z.max(0.0) } else { z }
            };
            let next = (0..layer.outputs).map(neuron).collect();
            activations.push(next);
        }
        activations
    }
}

/// In lanes, so that it is compiled to vector code.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// A constraint, as what is to become nonpositive.
enum Constraint<'a> {
    Row(&'a Row),
    Quadratic(&'a Quadratic),
}

impl Constraint<'_> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Constraint::Row(row) => row.affine.value_near(x, y),
            Constraint::Quadratic(quadratic) => quadratic.value(x, y),
        }
    }

    /// By inputs and by outputs.
    fn gradient(&self, x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        match self {
            Constraint::Row(row) => row.affine.slopes_near(x.len(), y.len()),
            Constraint::Quadratic(quadratic) => quadratic.gradient(x, y),
        }
    }
}
