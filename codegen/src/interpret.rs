//! A network run from its matrices, without a build: the oracle of the generated code and its measure.

use crate::net::Net;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Zip, s};
use pg_runtime::kernel::{Matrix, padded};
use pg_runtime::network::{LayerError, Model, Network};

pub struct Interpreter {
    net: Net,
    model: Model,
    widths: Vec<usize>,
    /// The weights in float64.
    exact: Vec<Array2<f64>>,
}

impl Interpreter {
    pub fn new(net: Net) -> Interpreter {
        let model = Model {
            name: net.source.stem.clone().into(),
            format: net.source.format.to_string().into(),
            sha256: net.source.sha256.clone().into(),
            domain: net.domain.clone().unwrap_or_default().into(),
        };
        let widths = net.widths();
        let exact = net.layers.iter().map(|layer| layer.weight.mapv(f64::from)).collect();
        Interpreter { net, model, widths, exact }
    }
}

impl Network for Interpreter {
    fn model(&self) -> &Model {
        &self.model
    }

    fn widths(&self) -> &[usize] {
        &self.widths
    }

    fn layer_error(&self, layer: usize) -> Option<LayerError<'_>> {
        let error = &self.net.layers[layer].error;
        (!error.is_zero()).then_some(LayerError { weight: &error.weight, bias: &error.bias })
    }

    fn backward(&self, layer: usize, nu: &[f64], mu: &mut [f64]) {
        let weight = &self.exact[layer];
        let (outputs, inputs) = weight.dim();
        let nu = ArrayView2::from_shape((nu.len() / outputs, outputs), nu).expect("whole rows");
        let mut mu = ArrayViewMut2::from_shape((nu.nrows(), inputs), mu).expect("as many rows");
        general_mat_mul(1.0, &nu, weight, 0.0, &mut mu);
    }

    fn copy_layer(&self, layer: usize, weight: &mut [f32], bias: &mut [f32]) {
        let layer = &self.net.layers[layer];
        weight.iter_mut().zip(&layer.weight).for_each(|(to, from)| *to = *from);
        bias.iter_mut().zip(&layer.bias).for_each(|(to, from)| *to = *from);
    }

    fn matrix(&self, rows: usize, cols: usize, matrix: &[f32]) -> Box<dyn Matrix> {
        Box::new(Plain(Array2::from_shape_vec((rows, cols), matrix.to_vec()).expect("whole rows")))
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        let rows = x.len() / self.inputs();
        let x = ArrayView2::from_shape((rows, self.inputs()), x).expect("whole inputs");
        let mut y = ArrayViewMut2::from_shape((rows, self.outputs()), y).expect("as many outputs");
        let mut h: Option<Array2<f32>> = None;
        for layer in &self.net.layers {
            let z = match h {
                None => x.dot(&layer.weight.t()) + &layer.bias,
                Some(mut h) => {
                    h.mapv_inplace(|z| if z < 0.0 { 0.0 } else { z });
                    h.dot(&layer.weight.t()) + &layer.bias
                }
            };
            h = Some(z);
        }
        let z = h.expect("a network has a layer");
        Zip::from(&mut y).and(&z).for_each(|y, &z| *y = z);
    }
}

/// A matrix as it is.
struct Plain(Array2<f32>);

impl Matrix for Plain {
    fn product(&self, a: &[f32], c: &mut [f32]) {
        let (rows, cols) = self.0.dim();
        let count = a.len() / padded(rows);
        c.fill(0.0);
        let a = ArrayView2::from_shape((count, padded(rows)), a).expect("whole rows");
        let mut c = ArrayViewMut2::from_shape((count, padded(cols)), c).expect("as many rows");
        general_mat_mul(1.0, &a.slice(s![.., ..rows]), &self.0, 0.0, &mut c.slice_mut(s![.., ..cols]));
    }
}
