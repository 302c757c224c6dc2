//! From a point of the relaxation towards a counterexample.
//!
//! The program's point often sits exactly on the border of the property, where rounding decides. A few steps against the
//! gradient of the network itself move it inside, if there is an inside. Nothing here needs to be sound: what it finds is
//! replayed.

use super::sample::Random;
use super::{End, Search};
use crate::property::{Disjunct, Row};

/// Steps from each point, each shorter than the one before by a constant factor.
const STEPS: usize = 14;
const SHRINK: f64 = 0.7;
/// The first step, as a share of each side of the box.
const FIRST_STEP: f64 = 0.5;

impl Search<'_> {
    /// A descent from a random point of the disjunct's box.
    pub fn descend_anywhere(&mut self, disjunct: &Disjunct, random: &mut Random) -> Result<(), End> {
        let (lower, upper) = disjunct.region.enclosure();
        let start: Vec<f64> = lower.iter().zip(&upper).map(|(l, u)| l + (u - l) * random.unit()).collect();
        self.descend(disjunct, &start)
    }

    /// Replays the point, then the points of a descent of the row that is farthest from holding.
    pub fn descend(&mut self, disjunct: &Disjunct, point: &[f64]) -> Result<(), End> {
        let (lower, upper) = disjunct.region.enclosure();
        let mut x = point.to_vec();
        let mut step = FIRST_STEP;
        for _ in 0..=STEPS {
            if let Some(input) = disjunct.region.nearest_floats(x.iter().map(|&v| v as f32)) {
                self.try_witness(&input)?;
            }
            let Some(gradient) = self.gradient(disjunct, &x) else { return Ok(()) };
            for (i, x) in x.iter_mut().enumerate() {
                let direction = if gradient[i] == 0.0 { 0.0 } else { gradient[i].signum() };
                *x = (*x - direction * step * (upper[i] - lower[i])).max(lower[i]).min(upper[i]);
            }
            step *= SHRINK;
        }
        Ok(())
    }

    /// The gradient at `x` of the row with the largest value there; `None` for a disjunct without rows.
    pub fn gradient(&self, disjunct: &Disjunct, x: &[f64]) -> Option<Vec<f64>> {
        let activations = self.activations(x);
        let y = activations.last()?;
        let row = disjunct.rows.iter().max_by(|a, b| value(a, x, y).total_cmp(&value(b, x, y)))?;
        let mut nu = vec![0.0; self.network.outputs()];
        row.affine.y.iter().for_each(|term| nu[term.index] = term.coefficient.low);
        for k in (0..self.layers.0.len()).rev() {
            let mut mu = vec![0.0; self.layers.0[k].inputs];
            self.network.backward(k, &nu, &mut mu);
            if k > 0 {
                mu.iter_mut().zip(&activations[k - 1]).filter(|(_, h)| **h <= 0.0).for_each(|(mu, _)| *mu = 0.0);
            }
            nu = mu;
        }
        row.affine.x.iter().for_each(|term| nu[term.index] += term.coefficient.low);
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

fn value(row: &Row, x: &[f64], y: &[f32]) -> f64 {
    let x = row.affine.x.iter().map(|term| term.coefficient.low * x[term.index]);
    let y = row.affine.y.iter().map(|term| term.coefficient.low * f64::from(y[term.index]));
    x.chain(y).sum::<f64>() + row.affine.constant.low
}
