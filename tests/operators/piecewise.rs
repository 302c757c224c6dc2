//! Max, Min, Abs, LeakyRelu, PRelu, Clip, HardSigmoid, and sums of any number: Neg, Sum, Mean.

use super::{agrees, agrees_with, computes, graph, refused, single, weights};
use pg_codegen::read::onnx::proto::{ModelProto, TensorProto};
use pg_tests::model::*;
use pg_tests::values::relus;

const OPSETS: [i64; 4] = [8, 12, 13, 21];

/// The operator on `x`, on two values made of it, and on constants.
fn several(op: &str, inputs: &[&str]) -> ModelProto {
    let constants = vec![
        weights("m", &[3, 3]),
        weights("s", &[3]),
        weights("c", &[2, 3]),
        weights("d", &[1]),
        weights("e", &[4, 2, 1]),
    ];
    let nodes = vec![node("MatMul", &["x", "m"], "a"), node("Mul", &["x", "s"], "b"), node(op, inputs, "y")];
    model(13, value("x", &[2, 3]), constants, nodes)
}

#[test]
fn any_number_of_operands() {
    let operands: [&[&str]; 9] = [
        &["x"],
        &["a", "b"],
        &["a", "c"],
        &["d", "a"],
        &["e", "a"],
        &["a", "b", "x"],
        &["c", "a", "d", "b", "e"],
        &["a", "b", "x", "c", "a"],
        &["a", "a"],
    ];
    for inputs in operands {
        ["Max", "Min", "Sum"].iter().for_each(|op| agrees(&several(op, inputs)));
        let mut mean = several("Sum", inputs);
        let graph = mean.graph.as_mut().unwrap();
        graph.node[2].output[0] = "sum".into();
        graph.node.push(node("Div", &["sum", "n"], "y"));
        graph.initializer.push(scalar("n", inputs.len() as f32));
        agrees_with(&several("Mean", inputs), &mean);
    }
    for op in ["Max", "Min", "Sum", "Mean"] {
        let nodes = vec![node(op, &["c", "d", "e"], "k"), node("Add", &["x", "k"], "y")];
        let constants = vec![weights("c", &[2, 3]), weights("d", &[1]), weights("e", &[4, 2, 1])];
        agrees(&model(13, value("x", &[3]), constants, nodes));
        refused(&single(13, &[2, 3], node(op, &["x", "c"], "y"), vec![weights("c", &[2])]), "broadcast");
    }
    assert_eq!(relus(&graph(&several("Max", &["c", "a", "d"])).unwrap()), 6, "constants are one candidate");
    assert_eq!(relus(&graph(&several("Min", &["a", "b", "x"])).unwrap()), 12);
}

#[test]
fn of_one_value() {
    for opset in OPSETS {
        for op in ["Abs", "Neg", "Relu", "LeakyRelu", "HardSigmoid"] {
            agrees(&single(opset, &[2, 3], node(op, &["x"], "y"), vec![]));
            let nodes = vec![node(op, &["c"], "k"), node("Add", &["x", "k"], "y")];
            agrees(&model(opset, value("x", &[3]), vec![weights("c", &[2, 3])], nodes));
        }
        for alpha in [0.0, 0.1, 1.0, 2.5, -0.5] {
            agrees(&single(opset, &[2, 3], with("LeakyRelu", &["x"], "y", vec![float("alpha", alpha)]), vec![]));
        }
    }
}

#[test]
fn hard_sigmoid() {
    for (alpha, beta) in [(0.2f32, 0.5f32), (1.0 / 6.0, 0.5), (2.0, 0.0), (-3.0, 0.25)] {
        let op = with("HardSigmoid", &["x"], "y", vec![float("alpha", alpha), float("beta", beta)]);
        let expected = |x: &[f32]| x.iter().map(|x| (alpha * x + beta).clamp(0.0, 1.0)).collect();
        computes(&single(13, &[5], op, vec![]), &[5], expected);
    }
}

#[test]
fn prelu() {
    let shapes: [&[i64]; 6] = [&[1], &[4], &[3, 4], &[3, 1], &[2, 3, 4], &[1, 3, 1]];
    for (shape, opset) in shapes.into_iter().flat_map(|shape| OPSETS.map(|opset| (shape, opset))) {
        agrees(&single(opset, &[2, 3, 4], node("PRelu", &["x", "c0"], "y"), vec![weights("c0", shape)]));
    }
    let mixed = floats("c0", &[3], &[0.0, 1.0, 0.25]);
    agrees(&single(13, &[2, 3], node("PRelu", &["x", "c0"], "y"), vec![mixed]));
    let nodes = vec![node("PRelu", &["c", "c0"], "k"), node("Add", &["x", "k"], "y")];
    agrees(&model(13, value("x", &[1]), vec![weights("c", &[2, 3]), weights("c0", &[3])], nodes));
    refused(&single(13, &[3], node("PRelu", &["x", "x"], "y"), vec![]), "constant");
    refused(&single(13, &[3], node("PRelu", &["x", "c0"], "y"), vec![weights("c0", &[2, 3])]), "broadcast");
}

fn scalar(name: &str, value: f32) -> TensorProto {
    floats(name, &[], &[value])
}

#[test]
fn clip_by_inputs() {
    let bounds = || vec![scalar("lo", -0.25), scalar("hi", 0.5)];
    for opset in [11, 12, 13, 21] {
        for inputs in [&["x", "lo", "hi"][..], &["x", "lo"], &["x", "", "hi"], &["x"], &["x", "", ""]] {
            let [has_lower, has_upper] = ["lo", "hi"].map(|name| inputs.contains(&name));
            let expected = |x: &[f32]| {
                let above = |v: f32| if has_lower { v.max(-0.25) } else { v };
                x.iter().map(|&v| if has_upper { above(v).min(0.5) } else { above(v) }).collect()
            };
            computes(&single(opset, &[6], node("Clip", inputs, "y"), bounds()), &[6], expected);
        }
        agrees(&single(opset, &[6], node("Clip", &["x", "lo", "hi"], "y"), bounds()));
    }
    let nodes = vec![node("Clip", &["c", "lo", "hi"], "k"), node("Add", &["x", "k"], "y")];
    let constants = [bounds(), vec![weights("c", &[2, 3])]].concat();
    agrees(&model(13, value("x", &[1]), constants, nodes));
    let wide = vec![scalar("lo", 0.0), scalar("hi", f32::MAX)];
    agrees(&single(13, &[6], node("Clip", &["x", "lo", "hi"], "y"), wide));
    let six = vec![scalar("lo", 0.0), scalar("hi", 6.0)];
    agrees(&single(13, &[6], node("Clip", &["x", "lo", "hi"], "y"), six));
}

#[test]
fn clip_by_attributes() {
    for bounds in [&[("min", -0.25), ("max", 0.5)][..], &[("min", 0.125)], &[("max", 0.125)], &[("min", 0.0)]] {
        let attributes = bounds.iter().map(|(name, value)| float(name, *value)).collect();
        agrees(&single(7, &[6], with("Clip", &["x"], "y", attributes), vec![]));
    }
}

#[test]
fn clip_that_leaves_one_number() {
    let crossed = vec![scalar("lo", 0.5), scalar("hi", 0.25), weights("c", &[3])];
    let nodes = vec![node("Clip", &["x", "lo", "hi"], "z"), node("Add", &["x", "z"], "y")];
    computes(&model(13, value("x", &[3]), crossed.clone(), nodes), &[3], |x| x.iter().map(|v| v + 0.25).collect());
    refused(&single(13, &[3], node("Clip", &["x", "lo", "hi"], "y"), crossed.clone()), "does not depend");
    refused(&single(13, &[3], node("Clip", &["x", "x"], "y"), vec![]), "constant");
    refused(&single(13, &[3], node("Clip", &["x", "c"], "y"), crossed), "not one number");
}

#[test]
fn what_is_not_piecewise_linear_is_refused() {
    for (op, why) in [("ThresholdedRelu", "continuous"), ("HardSwish", "quadratic"), ("Softplus", "piecewise linear")] {
        refused(&single(14, &[3], node(op, &["x"], "y"), vec![]), why);
    }
    refused(&single(14, &[3], node("Sqrt", &["x"], "y"), vec![]), "computed value");
    refused(&single(14, &[3], node("Pow", &["x", "c"], "y"), vec![scalar("c", 2.0)]), "exponent");
    agrees(&single(14, &[3], node("Pow", &["x", "c"], "y"), vec![scalar("c", 1.0)]));
}
