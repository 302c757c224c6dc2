//! The cells of a network: for each phase pattern that occurs, the polytope of the inputs that show it and the
//! outputs as affine forms of the input on it.
//!
//! All forms are integral. A layer's weights are multiplied by one positive integer that clears their
//! denominators; since a ReLU commutes with positive factors, the forms of layer k are the true ones times the
//! product of the first k of these integers, and signs, the only thing a phase depends on, are those of the truth.

use super::polytope::Polytope;
use super::{Layer, Linear, exact, integral};
use num_bigint::BigInt;
use num_traits::{One, Zero};
use std::ops::ControlFlow;

/// `numerators` over a positive `denominator`, as coefficients of (1, x₁, …, xₙ).
pub(super) struct Form {
    pub numerators: Vec<BigInt>,
    pub denominator: BigInt,
}

struct IntegralLayer {
    weights: Vec<Vec<BigInt>>,
    /// Already multiplied by the factors of the layers before, as the forms it is added to are.
    bias: Vec<BigInt>,
}

pub(super) struct Phases {
    layers: Vec<IntegralLayer>,
    inputs: usize,
    /// What the output forms are multiplied by.
    scale: BigInt,
}

impl Phases {
    pub fn new(net: &[Layer], inputs: usize) -> Self {
        let (mut scale, mut width) = (BigInt::one(), inputs);
        let mut layers = Vec::new();
        for layer in net {
            assert_eq!(layer.weights.len(), layer.bias.len(), "one bias per row of weights");
            assert!(layer.weights.iter().all(|row| row.len() == width), "one weight per input of the layer");
            let all: Vec<_> = layer.weights.iter().flatten().chain(&layer.bias).map(|&value| exact(value)).collect();
            let (mut weights, unit) = integral(&all);
            let bias = weights.split_off(layer.bias.len() * width).into_iter().map(|b| b * &scale).collect();
            let weights = layer.weights.iter().map(|row| weights.drain(..row.len()).collect()).collect();
            layers.push(IntegralLayer { weights, bias });
            scale *= unit;
            width = layer.bias.len();
        }
        Phases { layers, inputs, scale }
    }

    /// Shows `visit` the cells of `region` one by one, each with its outputs' numerators, until it breaks.
    ///
    /// The cells cover the region and on each the forms are the network: by induction over the neurons, a cut at
    /// z = 0 leaves parts that cover the cell, h = z where z ≥ 0 and h = 0 where z ≤ 0, both being right on z = 0.
    pub fn each_cell<T>(
        &self,
        region: Polytope,
        mut visit: impl FnMut(&Polytope, &[Vec<BigInt>]) -> ControlFlow<T>,
    ) -> Option<T> {
        let unit = |j| (0..=self.inputs).map(|i| BigInt::from(u8::from(i == j))).collect();
        let inputs: Vec<_> = (1..=self.inputs).map(unit).collect();
        self.enter(0, &inputs, &region, &mut visit).break_value()
    }

    /// Goes through layer number `depth`, whose inputs are `inputs`; past the last layer, `inputs` are the outputs.
    fn enter<T>(
        &self,
        depth: usize,
        inputs: &[Vec<BigInt>],
        cell: &Polytope,
        visit: &mut impl FnMut(&Polytope, &[Vec<BigInt>]) -> ControlFlow<T>,
    ) -> ControlFlow<T> {
        let Some(layer) = self.layers.get(depth) else { return visit(cell, inputs) };
        let constant = |bias: &BigInt| {
            let mut form = vec![BigInt::zero(); self.inputs + 1];
            form[0] = bias.clone();
            form
        };
        let rows = layer.weights.iter().zip(&layer.bias);
        let before: Vec<_> = rows.map(|(weights, bias)| combine(constant(bias), weights, inputs)).collect();
        if depth + 1 == self.layers.len() {
            visit(cell, &before)
        } else {
            self.fix(depth, &before, &mut Vec::new(), cell, visit)
        }
    }

    /// Fixes the neurons of layer `depth` from number `after.len()` on; `after` is what those before it give.
    fn fix<T>(
        &self,
        depth: usize,
        before: &[Vec<BigInt>],
        after: &mut Vec<Vec<BigInt>>,
        cell: &Polytope,
        visit: &mut impl FnMut(&Polytope, &[Vec<BigInt>]) -> ControlFlow<T>,
    ) -> ControlFlow<T> {
        let Some(z) = before.get(after.len()) else { return self.enter(depth + 1, after, cell, visit) };
        let (off, on) = cell.split(z);
        for (part, form) in [(off, vec![BigInt::zero(); z.len()]), (on, z.clone())] {
            if let Some(part) = part {
                after.push(form);
                self.fix(depth, before, after, &part, visit)?;
                after.pop();
            }
        }
        ControlFlow::Continue(())
    }

    /// `form` on a cell with these outputs, as a form of the input alone.
    pub fn compose(&self, form: &Linear, outputs: &[Vec<BigInt>]) -> Form {
        assert!(form.input.is_empty() || form.input.len() == self.inputs, "one coefficient per input");
        assert!(form.output.is_empty() || form.output.len() == outputs.len(), "one coefficient per output");
        let all = [std::slice::from_ref(&form.constant), &form.input, &form.output].concat();
        let (mut coefficients, unit) = integral(&all);
        let output = coefficients.split_off(1 + form.input.len());
        let mut own: Vec<_> = coefficients.into_iter().map(|c| c * &self.scale).collect();
        own.resize(self.inputs + 1, BigInt::zero());
        Form { numerators: combine(own, &output, outputs), denominator: unit * &self.scale }
    }
}

/// `start` + Σ `coefficients`·`forms`.
fn combine(mut start: Vec<BigInt>, coefficients: &[BigInt], forms: &[Vec<BigInt>]) -> Vec<BigInt> {
    for (coefficient, form) in coefficients.iter().zip(forms).filter(|(c, _)| !c.is_zero()) {
        for (sum, term) in start.iter_mut().zip(form) {
            *sum += coefficient * term;
        }
    }
    start
}
