//! A network run from its matrices, without a build: the oracle of the generated code and its measure.

use crate::net::Net;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Zip};
use pg_runtime::network::{LayerError, Model, Network};

pub struct Interpreter {
    net: Net,
    model: Model,
    widths: Vec<usize>,
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
        Interpreter { net, model, widths }
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
