//! The rigorous bound against exact minima: never above, whatever the multipliers.

mod front;
mod plain;

use num_rational::BigRational;
use pg_codegen::interpret::Interpreter;
use pg_runtime::bounds::{Bounder, Layers, Objective, Relaxation, enclose};
use pg_runtime::network::{LayerError, Model, Network};
use pg_tests::Random;
use pg_tests::model::{compile, floats, int, model, node, value, with};
use pg_tests::oracle::{Layer, Linear, Region, exact, exact_minimum};

const CASES: u64 = 400;

/// A random network of up to three hidden layers, through the compiler.
fn network(random: &mut Random) -> Interpreter {
    let mut widths = vec![1 + random.below(3)];
    widths.extend((0..1 + random.below(3)).map(|_| 1 + random.below(4)));
    widths.push(1 + random.below(2));
    network_of(&widths, random)
}

fn network_of(widths: &[usize], random: &mut Random) -> Interpreter {
    let (mut tensors, mut nodes) = (Vec::new(), Vec::new());
    let mut last = "x".to_string();
    for (k, pair) in widths.windows(2).enumerate() {
        let (weight, bias, z, h) = (format!("w{k}"), format!("b{k}"), format!("z{k}"), format!("h{k}"));
        tensors.push(floats(&weight, &[pair[1] as i64, pair[0] as i64], &random.numbers(pair[0] * pair[1])));
        tensors.push(floats(&bias, &[pair[1] as i64], &random.numbers(pair[1])));
        let is_last = k + 2 == widths.len();
        let output = if is_last { "y" } else { &z };
        nodes.push(with("Gemm", &[&last, &weight, &bias], output, vec![int("transB", 1)]));
        if !is_last {
            nodes.push(node("Relu", &[&z], &h));
        }
        last = h;
    }
    Interpreter::new(compile(&model(13, value("x", &[1, widths[0] as i64]), tensors, nodes)).expect("a network"))
}

/// The network with the kernels of generated code.
struct Tuned<'a>(&'a Interpreter);

impl Network for Tuned<'_> {
    fn model(&self) -> &Model {
        self.0.model()
    }

    fn widths(&self) -> &[usize] {
        self.0.widths()
    }

    fn layer_error(&self, layer: usize) -> Option<LayerError<'_>> {
        self.0.layer_error(layer)
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.0.forward(x, y);
    }

    fn backward(&self, layer: usize, nu: &[f64], mu: &mut [f64]) {
        self.0.backward(layer, nu, mu);
    }

    fn copy_layer(&self, layer: usize, weight: &mut [f32], bias: &mut [f32]) {
        self.0.copy_layer(layer, weight, bias);
    }
}

/// The first `count` layers, as the oracle reads them.
fn oracle(layers: &Layers, count: usize) -> Vec<Layer> {
    let layer = |k: usize| {
        let layer = &layers.0[k];
        let weights = (0..layer.outputs).map(|j| layer.row(j).to_vec()).collect();
        Layer { weights, bias: layer.bias.clone() }
    };
    (0..count).map(layer).collect()
}

fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

fn output(coefficients: &[f32], constant: f32) -> Linear {
    let output = coefficients.iter().map(|&v| exact(v)).collect();
    Linear { input: vec![], output, constant: exact(constant) }
}

#[test]
fn no_bound_is_above_the_exact_minimum() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let network = network(&mut random);
        let layers = Layers::of(&network);
        let inputs = layers.0[0].inputs;
        let (a, b) = (random.numbers(inputs), random.numbers(inputs));
        let lower: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| f64::from(a.min(b))).collect();
        let upper: Vec<f64> = a.iter().zip(&b).map(|(&a, &b)| f64::from(a.max(b))).collect();
        let of = |side: &[f64]| side.iter().map(|&v| rational(v)).collect();
        let region = Region { lower: of(&lower), upper: of(&upper), rows: vec![] };
        let (mut bounder, domain) = Bounder::new(&network, &layers, lower, upper, None).expect("a box is not empty");

        let neuron = seed as usize % layers.0[0].outputs;
        for sign in [1.0, -1.0] {
            let mut unit = vec![0.0; layers.0[0].outputs];
            unit[neuron] = sign;
            let least = exact_minimum(&oracle(&layers, 1), &region, &output(&unit, 0.0)).expect("nonempty");
            let bound = if sign > 0.0 { domain.lower[0][neuron] } else { -domain.upper[0][neuron] };
            assert!(rational(bound) <= least, "seed {seed}: neuron {neuron}");
        }

        let outputs = layers.0[layers.hidden()].outputs;
        let (y, constant) = (random.numbers(outputs), random.number());
        let least = exact_minimum(&oracle(&layers, layers.0.len()), &region, &output(&y, constant)).expect("nonempty");
        let mut objective = Objective::zero(inputs, outputs);
        objective.y = y.iter().map(|&v| f64::from(v)).collect();
        objective.constant = f64::from(constant);
        let mut bounds = vec![
            bounder.objective_bound(&domain, &objective, Relaxation::Adaptive),
            bounder.objective_bound(&domain, &objective, Relaxation::Parallel),
        ];
        for _ in 0..4 {
            let hidden = layers.0[..layers.hidden()].iter();
            let multipliers: Vec<Vec<f64>> =
                hidden.map(|layer| (0..layer.outputs).map(|_| f64::from(random.number())).collect()).collect();
            bounds.push(bounder.certify(&domain, &objective, &multipliers));
        }
        for bound in bounds {
            assert!(bound.is_finite() && rational(bound) <= least, "seed {seed}: {bound}");
        }
    }
}

#[test]
fn an_enclosure_holds_the_exact_output() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let network = network(&mut random);
        let layers = Layers::of(&network);
        let x = random.numbers(layers.0[0].inputs);
        let (low, high) = enclose(&network, &x);
        let point: Vec<BigRational> = x.iter().map(|&v| exact(v)).collect();
        let region = Region { lower: point.clone(), upper: point, rows: vec![] };
        for (j, (&low, &high)) in low.iter().zip(&high).enumerate() {
            let mut unit = vec![0.0; layers.0[layers.hidden()].outputs];
            unit[j] = 1.0;
            let value = exact_minimum(&oracle(&layers, layers.0.len()), &region, &output(&unit, 0.0)).expect("a point");
            assert!(rational(low) <= value && value <= rational(high), "seed {seed}, output {j}");
            assert!(high - low < 1e-12, "seed {seed}: {low} to {high}");
        }
    }
}
