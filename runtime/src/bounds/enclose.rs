//! The real-valued output at one input, enclosed.

use super::{ROUND, UNDERFLOW};
use crate::network::Network;

/// Lower and upper bounds of each output of the model's real-number network at `input`.
///
/// Each activation is a centre and a radius. A neuron's computed sum of n products is within (n+2)·u of the sum of their
/// magnitudes of the exact one; that, the inputs' radii through |W| and the layer's stated error make its radius. ReLU
/// does not increase distances, so the radius stays and a centre is clamped at 0; of a neuron that is off for certain none is left.
pub fn enclose(network: &dyn Network, input: &[f32]) -> (Vec<f64>, Vec<f64>) {
    let layers = super::Layers::of(network);
    let mut centre: Vec<f64> = input.iter().map(|&x| f64::from(x)).collect();
    let mut radius = vec![0.0; input.len()];
    for (k, layer) in layers.0.iter().enumerate() {
        let size: f64 = centre.iter().zip(&radius).map(|(c, r)| c.abs() + r).sum();
        let inflate = 1.0 + (layer.inputs as f64 + 8.0) * ROUND;
        let neuron = |i: usize| {
            let bias = f64::from(layer.bias[i]);
            let (mut sum, mut magnitude, mut spread) = (bias, bias.abs(), 0.0);
            for ((&w, &c), &r) in layer.row(i).iter().zip(&centre).zip(&radius) {
                let w = f64::from(w);
                sum += w * c;
                magnitude += (w * c).abs();
                spread += w.abs() * r;
            }
            let rounding = (layer.inputs as f64 + 4.0) * ROUND * magnitude;
            let stated = layer.weight_error[i] * size + layer.bias_error[i];
            (sum, (rounding + spread + stated) * inflate + UNDERFLOW)
        };
        (centre, radius) = (0..layer.outputs).map(neuron).unzip();
        if k < layers.hidden() {
            for (c, r) in centre.iter_mut().zip(&mut radius).filter(|(c, _)| **c < 0.0) {
                let is_off = (*c + *r).next_up() < 0.0;
                (*c, *r) = (0.0, if is_off { 0.0 } else { *r });
            }
        }
    }
    let low = centre.iter().zip(&radius).map(|(c, r)| (c - r).next_down()).collect();
    let high = centre.iter().zip(&radius).map(|(c, r)| (c + r).next_up()).collect();
    (low, high)
}
