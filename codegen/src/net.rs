//! The normal form: affine layers with a ReLU between any two.
//!
//! Weights are float32. Where folding or a wider source type rounded, a layer states how far its coefficients may be
//! from the model's, row by row; zero means bit-exact.

use crate::read::Source;
use ndarray::{Array1, Array2};
use std::fmt;

#[derive(Clone, Debug)]
pub struct Net {
    pub source: Source,
    pub domain: Option<Vec<(f64, f64)>>,
    pub layers: Vec<Layer>,
    /// What normalisation did that a reader of the model would want to know.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Layer {
    /// The operators of the model that this layer was made from.
    pub origin: String,
    /// One row a neuron.
    pub weight: Array2<f32>,
    pub bias: Array1<f32>,
    pub error: LayerError,
}

/// The model's layer differs from the stored one by at most `weight[i]` in each coefficient of row i, and by at most
/// `bias[i]` in its bias: on an input h, by at most `weight[i]·‖h‖₁ + bias[i]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerError {
    pub weight: Vec<f64>,
    pub bias: Vec<f64>,
}

impl LayerError {
    pub fn is_zero(&self) -> bool {
        self.weight.iter().chain(&self.bias).all(|&e| e == 0.0)
    }

    pub fn largest(&self) -> (f64, f64) {
        let largest = |errors: &[f64]| errors.iter().fold(0.0, |a: f64, &b| a.max(b));
        (largest(&self.weight), largest(&self.bias))
    }
}

impl Net {
    pub fn inputs(&self) -> usize {
        self.layers[0].weight.ncols()
    }

    pub fn outputs(&self) -> usize {
        self.layers.last().expect("a network has a layer").bias.len()
    }

    pub fn relus(&self) -> usize {
        let (_, hidden) = self.layers.split_last().expect("a network has a layer");
        hidden.iter().map(|layer| layer.bias.len()).sum()
    }

    pub fn parameters(&self) -> usize {
        self.layers.iter().map(|layer| layer.weight.len() + layer.bias.len()).sum()
    }

    pub fn widths(&self) -> Vec<usize> {
        std::iter::once(self.inputs()).chain(self.layers.iter().map(|layer| layer.bias.len())).collect()
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (k, layer) in self.layers.iter().enumerate() {
            let relu = if k + 1 < self.layers.len() { ", ReLU" } else { "" };
            let (weight, bias) = layer.error.largest();
            writeln!(
                f,
                "layer {}: {} -> {}{relu}  error {weight:e}, {bias:e}  from {}",
                k + 1,
                layer.weight.ncols(),
                layer.weight.nrows(),
                layer.origin
            )?;
            for (row, bias) in layer.weight.rows().into_iter().zip(&layer.bias) {
                let row: Vec<String> = row.iter().map(|w| format!("{w:?}")).collect();
                writeln!(f, "  [{}] + {bias:?}", row.join(", "))?;
            }
        }
        Ok(())
    }
}
