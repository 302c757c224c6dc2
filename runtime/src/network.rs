//! The contract between a network and everything that evaluates or verifies it.
//!
//! Generated code implements [`Network`] with constants and unrolled kernels, the interpreter with run-time matrices;
//! the rest of the runtime knows a network by this trait alone.

use crate::kernel::{Matrix, Packed, Reach, Reaches, Sides};
use std::borrow::Cow;

/// A ReLU network: affine layers with a ReLU between any two.
pub trait Network: Sync {
    fn model(&self) -> &Model;

    /// The number of inputs, then the number of neurons of each layer; the last are the outputs.
    fn widths(&self) -> &[usize];

    /// How far the model's coefficients may be from those of a layer, counted from 0; `None` if it is bit-exact.
    fn layer_error(&self, layer: usize) -> Option<LayerError<'_>>;

    /// Evaluates one or more inputs, one after the other in `x`, to as many outputs in `y`, in float32.
    fn forward(&self, x: &[f32], y: &mut [f32]);

    /// Multiplies each row of `nu`, one multiplier a neuron of the layer, by the layer's matrix: one number a neuron of the
    /// layer before, in `mu`. Sums in float64, in any order.
    fn backward(&self, layer: usize, nu: &[f64], mu: &mut [f64]);

    /// Copies a layer's matrix, one neuron after the other, and its biases.
    fn copy_layer(&self, layer: usize, weight: &mut [f32], bias: &mut [f32]);

    /// A matrix that the bounds have picked from a layer, ready for products: rows one after the other.
    fn matrix(&self, rows: usize, cols: usize, matrix: &[f32]) -> Box<dyn Matrix> {
        Box::new(Packed::new(rows, cols, matrix))
    }

    /// What neurons reach over a box, ready to be spread over its inputs.
    fn reaches(&self, reaches: Vec<Reach>) -> Box<dyn Reaches> {
        Box::new(Sides::new(reaches))
    }

    fn inputs(&self) -> usize {
        self.widths()[0]
    }

    fn outputs(&self) -> usize {
        *self.widths().last().expect("a network has a layer")
    }
}

/// Where a network comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub name: Cow<'static, str>,
    /// The file format and its version.
    pub format: Cow<'static, str>,
    /// Of the model file, after decompression.
    pub sha256: Cow<'static, str>,
    /// The box the model declares its inputs to lie in; empty if it declares none.
    pub domain: Cow<'static, [(f64, f64)]>,
}

/// The model's layer differs from this one by at most `weight[i]` in each coefficient of row i and by at most `bias[i]`
/// in its bias: on an input h, by at most `weight[i]·‖h‖₁ + bias[i]`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LayerError<'a> {
    pub weight: &'a [f64],
    pub bias: &'a [f64],
}
