//! Small dense networks as ONNX models, and questions about them that are hard enough to take a search.

use crate::Random;
use crate::model::{compile_bytes, floats, model, node, value};
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use prost::Message;

/// A dense network with these widths, from inputs to outputs.
pub fn dense(random: &mut Random, widths: &[usize]) -> Vec<u8> {
    let layer = |pair: &[usize]| (random.numbers(pair[0] * pair[1]), random.numbers(pair[1]));
    chain(widths, widths.windows(2).map(layer).collect())
}

/// A dense network of these weights, input by input, and biases.
pub fn chain(widths: &[usize], layers: Vec<(Vec<f32>, Vec<f32>)>) -> Vec<u8> {
    let (mut nodes, mut constants, mut from) = (vec![], vec![], "x".to_string());
    for (k, (pair, (weights, bias))) in widths.windows(2).zip(layers).enumerate() {
        let [w, b, z, h] = ["w", "b", "z", "h"].map(|name| format!("{name}{k}"));
        constants.push(floats(&w, &[pair[0] as i64, pair[1] as i64], &weights));
        constants.push(floats(&b, &[pair[1] as i64], &bias));
        nodes.push(node("Gemm", &[&from, &w, &b], &z));
        if k + 2 < widths.len() {
            nodes.push(node("Relu", &[&z], &h));
        }
        from = h;
    }
    let mut model = model(13, value("x", &[1, widths[0] as i64]), constants, nodes);
    let output = &mut model.graph.as_mut().expect("a graph").output[0];
    *output = value(&output.name, &[1, widths[widths.len() - 1] as i64]);
    model.encode_to_vec()
}

/// The outputs at many points of [−r, r]ⁿ, of which some are corners.
fn outputs(network: &Interpreter, random: &mut Random, radius: f32) -> Vec<Vec<f32>> {
    let inputs = network.shape().inputs;
    let mut point = || {
        let is_corner = random.below(2) == 0;
        let x: Vec<f32> = random.numbers(inputs);
        let x: Vec<f32> = x.iter().map(|x| radius * if is_corner { x.signum() } else { *x }).collect();
        let mut y = vec![0.0; network.shape().outputs()];
        network.forward(&x, &mut y);
        y
    };
    (0..2000).map(|_| point()).collect()
}

/// Declarations and the box [−r, r]ⁿ.
pub fn over_box(inputs: usize, outputs: usize, radius: f32) -> String {
    let mut text = String::new();
    (0..inputs).for_each(|i| text += &format!("(declare-const X_{i} Real)\n"));
    (0..outputs).for_each(|j| text += &format!("(declare-const Y_{j} Real)\n"));
    (0..inputs).for_each(|i| text += &format!("(assert (<= X_{i} {radius}))\n(assert (>= X_{i} -{radius}))\n"));
    text
}

/// That the first output stays above the least value seen, less a margin; or that not both of two outputs fall as low.
pub fn question(seed: u64, widths: &[usize], radius: f32, margin: f32, rows: usize) -> (Vec<u8>, String) {
    let mut random = Random::new(seed);
    let model = dense(&mut random, widths);
    let text = near(&model, &mut random, radius, margin, rows);
    (model, text)
}

/// The same of a given model.
pub fn near(model: &[u8], random: &mut Random, radius: f32, margin: f32, rows: usize) -> String {
    let network = Interpreter::new(compile_bytes(model).unwrap());
    let seen = outputs(&network, random, radius);
    let worst = seen.iter().map(|y| y[..rows].iter().copied().fold(f32::NEG_INFINITY, f32::max));
    let least = worst.fold(f32::INFINITY, f32::min) - margin;
    let mut text = over_box(network.shape().inputs, network.shape().outputs(), radius);
    (0..rows).for_each(|row| text += &format!("(assert (<= Y_{row} {least}))\n"));
    text
}
