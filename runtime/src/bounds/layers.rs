//! A network's weights as the bounds and the linear program read them.

use crate::network::Network;

/// An affine layer, one row a neuron.
#[derive(Clone, Debug)]
pub struct Layer {
    pub inputs: usize,
    pub outputs: usize,
    weight: Vec<f32>,
    pub bias: Vec<f32>,
    /// How far the model's coefficients and biases may be from these, by row.
    pub weight_error: Vec<f64>,
    pub bias_error: Vec<f64>,
}

impl Layer {
    pub fn row(&self, neuron: usize) -> &[f32] {
        &self.weight[neuron * self.inputs..(neuron + 1) * self.inputs]
    }
}

#[derive(Clone, Debug)]
pub struct Layers(pub Vec<Layer>);

impl Layers {
    pub fn of(network: &dyn Network) -> Layers {
        let widths = network.widths();
        let layer = |k: usize| {
            let (inputs, outputs) = (widths[k], widths[k + 1]);
            let (mut weight, mut bias) = (vec![0.0; inputs * outputs], vec![0.0; outputs]);
            network.copy_layer(k, &mut weight, &mut bias);
            let error = network.layer_error(k);
            let errors = |of: Option<&[f64]>| of.map_or(vec![0.0; outputs], <[f64]>::to_vec);
            let weight_error = errors(error.map(|e| e.weight));
            let bias_error = errors(error.map(|e| e.bias));
            Layer { inputs, outputs, weight, bias, weight_error, bias_error }
        };
        Layers((0..widths.len() - 1).map(layer).collect())
    }

    /// The number of layers with a ReLU behind them.
    pub fn hidden(&self) -> usize {
        self.0.len() - 1
    }
}
