//! A network run from its matrices, without a build: the oracle of the generated code and its measure.

use crate::net::Net;
use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, ArrayViewMut2, Zip, aview1, s};
use pg_runtime::kernel::{Matrix, Reach, Reaches, Want, padded};
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

    fn reaches(&self, reaches: Vec<Reach>) -> Box<dyn Reaches> {
        Box::new(PlainReaches(reaches))
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

/// Reaches as they are.
struct PlainReaches(Vec<Reach>);

/// Numbers that are summed apart, which the compiler can do at once.
const LANES: usize = 16;

impl Reaches for PlainReaches {
    fn spread(&self, wants: &mut [Want], pull: &mut [f32]) {
        for want in wants {
            let Reach { reach, total, half } = &self.0[want.neuron];
            assert!(
                reach.len() == pull.len() && pull.len().is_multiple_of(LANES),
                "reaches are of the same inputs as pulls"
            );
            let each = 1.0 / want.times;
            let mut sums = [0.0; LANES];
            for (pull, reach) in pull.as_chunks::<LANES>().0.iter().zip(reach.as_chunks::<LANES>().0) {
                for lane in 0..LANES {
                    sums[lane] += free(pull[lane] * each, reach[lane]).abs();
                }
            }
            want.found = aview1(&sums).sum();
            let (lacking, rest) = (half - want.found, total - want.found);
            let (of_free, of_rest) = match lacking > 0.0 {
                true if lacking < rest => (1.0, lacking / rest),
                true => (1.0, 1.0),
                false if *half > 0.0 => (half / want.found, 0.0),
                false => (0.0, 0.0),
            };
            let mut along = [0.0; LANES];
            for (pull, reach) in pull.as_chunks_mut::<LANES>().0.iter_mut().zip(reach.as_chunks::<LANES>().0) {
                for lane in 0..LANES {
                    let free = free(pull[lane] * each, reach[lane]);
                    let taken = of_free * free + of_rest * (reach[lane] - free);
                    pull[lane] -= want.times * taken;
                    along[lane] += if pull[lane] < 0.0 { -taken } else { taken };
                }
            }
            want.line = if lacking > 0.0 { half - aview1(&along).sum() } else { 0.0 };
        }
    }
}

/// What of a pull a reach of the same sign allows.
fn free(pull: f32, reach: f32) -> f32 {
    let (low, high) = if reach < 0.0 { (reach, 0.0) } else { (0.0, reach) };
    let pull = if pull > low { pull } else { low };
    if pull < high { pull } else { high }
}
