//! What rigour costs: the bound beside the same formula in plain float64, without error terms.

use super::RULES;
use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::{Network, Source};
use pg_runtime::bounds::{Bounder, Objective, Relaxation};
use pg_tests::{bench, evaluate, shipped};
use std::path::{Path, PathBuf};

/// Of the larger of 1 and the bound's magnitude.
const GAP: f64 = 1e-9;
/// A bound beyond this excludes nothing, and its error is of no interest.
const USEFUL: f64 = 1e4;

/// A layer of a chain, one row a neuron.
struct Layer {
    rows: Vec<Vec<f32>>,
    bias: Vec<f32>,
}

fn layers(network: &dyn Network) -> Vec<Layer> {
    let shape = network.shape();
    let layer = |stage: &pg_core::Stage| {
        let [edge] = stage.edges else { panic!("a chain") };
        let row = |j: usize| {
            let mut row = vec![0.0; shape.width(edge.from)];
            stage.terms(j).for_each(|(_, i, w)| row[i] = w);
            row
        };
        Layer { rows: (0..stage.width()).map(row).collect(), bias: stage.bias.to_vec() }
    };
    assert_eq!(shape.stages[0].edges[0].from, Source::Input);
    shape.stages.iter().map(layer).collect()
}

/// The network over a box, and bounds of its neurons.
struct Plain<'a> {
    layers: &'a [Layer],
    input: (Vec<f64>, Vec<f64>),
    /// By layer: lower and upper.
    neurons: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Plain<'_> {
    fn new(layers: &[Layer], input: (Vec<f64>, Vec<f64>)) -> Plain<'_> {
        let mut plain = Plain { layers, input, neurons: vec![] };
        for (k, layer) in layers.iter().enumerate() {
            let bound = |j: usize, sign: f64, relaxation| {
                let mut row = vec![0.0; layer.bias.len()];
                row[j] = sign;
                plain.bound(k, &row, relaxation)
            };
            let bounds = |j: usize| {
                let (mut lower, mut upper) = plain.interval(k, j);
                for relaxation in RULES {
                    if k + 1 == layers.len() || (lower < 0.0 && upper > 0.0) {
                        lower = lower.max(bound(j, 1.0, relaxation));
                        upper = upper.min(-bound(j, -1.0, relaxation));
                    }
                }
                (lower, upper)
            };
            let bounds = (0..layer.bias.len()).map(bounds).unzip();
            plain.neurons.push(bounds);
        }
        plain
    }

    /// Bounds of a neuron as if what it reads had nothing to do with each other.
    fn interval(&self, layer: usize, neuron: usize) -> (f64, f64) {
        let (low, high): (Vec<f64>, Vec<f64>) = match layer {
            0 => self.input.clone(),
            _ => {
                let (lower, upper) = &self.neurons[layer - 1];
                lower.iter().zip(upper).map(|(l, u)| (l.max(0.0), u.max(0.0))).unzip()
            }
        };
        let bias = f64::from(self.layers[layer].bias[neuron]);
        let (mut least, mut most) = (bias, bias);
        for ((&w, l), u) in self.layers[layer].rows[neuron].iter().zip(&low).zip(&high) {
            let (a, b) = (f64::from(w) * l, f64::from(w) * u);
            (least, most) = (least + a.min(b), most + a.max(b));
        }
        (least, most)
    }

    /// A lower bound of a combination of the neurons of layer `last`, before their ReLU.
    fn bound(&self, last: usize, row: &[f64], relaxation: Relaxation) -> f64 {
        let (mut nu, mut sum) = (row.to_vec(), 0.0);
        for k in (0..=last).rev() {
            let layer = &self.layers[k];
            sum += nu.iter().zip(&layer.bias).map(|(nu, &b)| nu * f64::from(b)).sum::<f64>();
            let mut mu = vec![0.0; layer.rows[0].len()];
            for (j, &nu) in nu.iter().enumerate().filter(|(_, nu)| **nu != 0.0) {
                mu.iter_mut().zip(&layer.rows[j]).for_each(|(mu, &w)| *mu += nu * f64::from(w));
            }
            if k > 0 {
                let (lower, upper) = &self.neurons[k - 1];
                for ((mu, &l), &u) in mu.iter_mut().zip(lower).zip(upper) {
                    let multiplier = multiplier(relaxation, *mu, l, u);
                    sum +=
                        if l < 0.0 && u > 0.0 { (-multiplier * l).min((*mu - multiplier) * u).min(0.0) } else { 0.0 };
                    *mu = multiplier;
                }
            }
            nu = mu;
        }
        let ends = nu.iter().zip(&self.input.0).zip(&self.input.1);
        sum + ends.map(|((&a, &l), &u)| a * if a >= 0.0 { l } else { u }).sum::<f64>()
    }
}

fn multiplier(relaxation: Relaxation, mu: f64, l: f64, u: f64) -> f64 {
    match () {
        _ if u <= 0.0 => 0.0,
        _ if l >= 0.0 => mu,
        _ if mu < 0.0 || relaxation == Relaxation::Parallel => mu * (u / (u - l)),
        _ if u > -l => mu,
        _ => 0.0,
    }
}

/// The largest relative gap between the two, over the differences of the largest output to all others, and the number of
/// bounds compared. The plain one may lie on either side of the truth, the rigorous one only below.
fn largest_gap(path: &Path, centre: &[f64], eps: f64) -> (f64, usize) {
    let network = Interpreter::new(compile(path).unwrap());
    let layers = layers(&network);
    let (lower, upper): (Vec<f64>, Vec<f64>) = centre.iter().map(|c| (c - eps, c + eps)).unzip();
    let (bounder, bounds) =
        Bounder::new(network.shape(), lower.clone(), upper.clone(), None, &RULES, false, &|_, _| true).unwrap();
    let plain = Plain::new(&layers, (lower, upper));
    let y = evaluate(&network, &centre.iter().map(|&v| v as f32).collect::<Vec<_>>());
    let largest = (0..y.len()).max_by(|&a, &b| y[a].total_cmp(&y[b])).unwrap();
    let (mut gap, mut count) = (0.0f64, 0);
    for other in (0..y.len()).filter(|&other| other != largest) {
        let mut objective = Objective::zero(network.inputs(), network.outputs());
        (objective.y[largest], objective.y[other]) = (1.0, -1.0);
        for relaxation in RULES {
            let rigorous = bounder.objective_bound(&bounds, &objective, relaxation);
            let expected = plain.bound(layers.len() - 1, &objective.y, relaxation);
            if expected.abs() < USEFUL {
                gap = gap.max((rigorous - expected).abs() / expected.abs().max(1.0));
                count += 1;
            }
        }
    }
    (gap, count)
}

/// The numbers of each line, divided by a scale.
fn points(path: &Path, scale: f64) -> Vec<Vec<f64>> {
    let number = |text: &str| text.trim().parse::<f64>().unwrap() / scale;
    let line = |line: &str| line.split(',').filter(|t| !t.trim().is_empty()).map(number).collect();
    std::fs::read_to_string(path).unwrap().lines().map(line).collect()
}

fn assert_small(path: &Path, points: &[Vec<f64>], radii: &[f64]) {
    let gaps = points.iter().flat_map(|point| radii.iter().map(move |&eps| largest_gap(path, point, eps)));
    let (gap, count) = gaps.fold((0.0f64, 0), |(gap, count), (g, c)| (gap.max(g), count + c));
    eprintln!("{}: largest gap {gap:.1e} of {count} bounds", path.file_name().unwrap().display());
    assert!(count > 0 && gap <= GAP, "{}: {gap:e} of {count} bounds", path.display());
}

/// Of the networks whose layers are exact: an error that folding states is no price of the bound.
#[test]
fn rigour_costs_little_on_the_shipped_networks() {
    let (digits, control) = (points(&shipped("digits_inputs.csv"), 16.0), points(&shipped("control_inputs.csv"), 1.0));
    for network in ["digits_16.onnx", "digits_32x3.onnx"] {
        assert_small(&shipped(network), &digits, &[0.0, 0.01, 0.05, 0.2]);
    }
    assert_small(&shipped("control.onnx"), &control, &[0.0, 0.01, 0.1]);
}

#[test]
fn rigour_costs_little_on_wide_and_deep_networks() {
    let Some(bench) = bench() else { return };
    let image = |n: usize| -> PathBuf { bench.join(format!("cav21/images/image{n}")) };
    let images: Vec<Vec<f64>> = (1..=3).map(|n| points(&image(n), 255.0).concat()).collect();
    for size in ["256x2", "256x4", "256x6"] {
        assert_small(&bench.join(format!("mnist_fc/onnx/mnist-net_{size}.onnx.gz")), &images, &[0.02]);
    }
}
