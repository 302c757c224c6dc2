//! Random chains of dense layers with one output, and the question whether it falls near a point.

use crate::model::{compile, floats, int, model, node, value, with};
use crate::{Random, evaluate};
use pg_codegen::interpret::Interpreter;
use pg_runtime::property::Property;
use std::fmt::Write;

/// A chain of these widths, the inputs' first; inputs from this one on hardly matter.
pub fn network(random: &mut Random, widths: &[usize], hardly: usize) -> Interpreter {
    let (mut tensors, mut nodes, mut last) = (vec![], vec![], "x".to_string());
    for (k, pair) in widths.windows(2).enumerate() {
        let (weight, bias, z, h) = (format!("w{k}"), format!("b{k}"), format!("z{k}"), format!("h{k}"));
        let scale = |i: usize| (3.0 / pair[0] as f32).sqrt() * if k == 0 && i % pair[0] >= hardly { 1e-3 } else { 1.0 };
        let weights = random.numbers(pair[0] * pair[1]);
        let weights: Vec<f32> = weights.iter().enumerate().map(|(i, w)| w * scale(i)).collect();
        tensors.push(floats(&weight, &[pair[1] as i64, pair[0] as i64], &weights));
        tensors.push(floats(&bias, &[pair[1] as i64], &random.numbers(pair[1])));
        let is_last = k + 2 == widths.len();
        nodes.push(with("Gemm", &[&last, &weight, &bias], if is_last { "y" } else { &z }, vec![int("transB", 1)]));
        if !is_last {
            nodes.push(node("Relu", &[&z], &h));
        }
        last = h;
    }
    Interpreter::new(compile(&model(13, value("x", &[1, widths[0] as i64]), tensors, nodes)).expect("a network"))
}

/// That the output falls to `least` or below somewhere near `centre`.
pub fn property(centre: &[f32], radius: f32, least: f32) -> Property {
    let mut text = String::new();
    (0..centre.len()).for_each(|i| writeln!(text, "(declare-const X_{i} Real)").unwrap());
    writeln!(text, "(declare-const Y_0 Real)").unwrap();
    for (i, x) in centre.iter().enumerate() {
        writeln!(text, "(assert (>= X_{i} {:?}))(assert (<= X_{i} {:?}))", x - radius, x + radius).unwrap();
    }
    writeln!(text, "(assert (<= Y_0 {least:?}))").unwrap();
    Property::parse(&text, "a fall").unwrap()
}

/// The least output that samples near `centre` show.
pub fn least_seen(network: &Interpreter, random: &mut Random, centre: &[f32], radius: f32) -> f32 {
    let mut near = || centre.iter().map(|x| x + radius * random.number().clamp(-1.0, 1.0)).collect::<Vec<f32>>();
    (0..2_000).map(|_| evaluate(network, &near())[0]).fold(f32::INFINITY, f32::min)
}
