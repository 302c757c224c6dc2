//! Gemm, MatMul, Add, Sub, Mul, Div, BatchNormalization.

use super::{agrees, computes, numbers, refused, single, weights};
use pg_tests::model::*;

#[test]
fn gemm() {
    let bias_shapes: [Option<&[i64]>; 7] =
        [None, Some(&[]), Some(&[1]), Some(&[4]), Some(&[1, 4]), Some(&[2, 1]), Some(&[2, 4])];
    for (case, bias) in bias_shapes.iter().cycle().take(7 * 24).enumerate() {
        let [trans_a, trans_b, is_left] = [0, 1, 2].map(|bit| case >> bit & 1 == 1);
        let (alpha, beta) = [(1.0, 1.0), (0.5, 2.0), (-1.5, 0.0)][case / 8 % 3];
        let oriented = |rows, cols, transpose| if transpose { vec![cols, rows] } else { vec![rows, cols] };
        let (a, b) = (oriented(2, 3, trans_a), oriented(3, 4, trans_b));
        let (shape, factor, mut inputs) = if is_left { (a, b, vec!["x", "c0"]) } else { (b, a, vec!["c0", "x"]) };
        let mut constants = vec![weights("c0", &factor)];
        let mut opset = [11, 13, 21][case % 3];
        if let Some(bias) = bias {
            inputs.push("c1");
            constants.push(weights("c1", bias));
            opset = [7, 9, 11, 13, 21][case % 5];
        }
        let flags = [int("transA", trans_a.into()), int("transB", trans_b.into())];
        let scales = [float("alpha", alpha), float("beta", beta)];
        let attributes = flags.into_iter().chain(scales).filter(|a| a.f != Some(1.0) && a.i != Some(0)).collect();
        agrees(&single(opset, &shape, with("Gemm", &inputs, "y", attributes), constants));
    }
}

#[test]
fn matmul() {
    let shapes: [(&[i64], &[i64]); 10] = [
        (&[3], &[3, 2]),
        (&[2, 3], &[3]),
        (&[2, 3], &[3, 4]),
        (&[2, 1, 3], &[3, 4]),
        (&[2, 3], &[5, 3, 4]),
        (&[3], &[5, 3, 4]),
        (&[5, 2, 3], &[3]),
        (&[5, 2, 3], &[5, 3, 4]),
        (&[1, 2, 3], &[5, 3, 4]),
        (&[2, 1, 2, 3], &[5, 3, 4]),
    ];
    for (left, right) in shapes {
        for opset in [7, 9, 13] {
            agrees(&single(opset, left, node("MatMul", &["x", "c0"], "y"), vec![weights("c0", right)]));
            agrees(&single(opset, right, node("MatMul", &["c0", "x"], "y"), vec![weights("c0", left)]));
        }
    }
    for inputs in [["x", "c0"], ["c0", "x"]] {
        let dot = |x: &[f32]| vec![x[0] - 2.0 * x[1]];
        computes(&single(13, &[2], node("MatMul", &inputs, "y"), vec![floats("c0", &[2], &[1.0, -2.0])]), &[], dot);
    }
    let product = node("MatMul", &["c0", "c1"], "w");
    let constants = vec![weights("c0", &[3, 5]), weights("c1", &[5, 2])];
    agrees(&model(13, value("x", &[2, 3]), constants, vec![product, node("MatMul", &["x", "w"], "y")]));
}

#[test]
fn elementwise_with_a_constant_on_either_side() {
    let shapes: [&[i64]; 8] = [&[], &[1], &[3], &[1, 3], &[2, 1], &[2, 3], &[4, 2, 3], &[4, 1, 1]];
    for (op, constant) in ["Add", "Sub", "Mul", "Div"].into_iter().flat_map(|op| shapes.map(|shape| (op, shape))) {
        for opset in [7, 13, 14, 21] {
            let constants = vec![weights("c0", constant)];
            agrees(&single(opset, &[2, 3], node(op, &["x", "c0"], "y"), constants.clone()));
            if op != "Div" {
                agrees(&single(opset, &[2, 3], node(op, &["c0", "x"], "y"), constants));
            }
        }
    }
    let quotient = single(13, &[3], node("Div", &["c0", "x"], "y"), vec![weights("c0", &[3])]);
    refused(&quotient, "not affine");
}

#[test]
fn elementwise_on_constants_and_on_computed_values() {
    for op in ["Add", "Sub", "Mul", "Div"] {
        let constants = vec![weights("c0", &[2, 3]), weights("c1", &[3])];
        let nodes = vec![node(op, &["c0", "c1"], "c"), node("Add", &["x", "c"], "y")];
        agrees(&model(13, value("x", &[2, 3]), constants, nodes));
    }
    for op in ["Add", "Sub"] {
        let constants = vec![weights("c0", &[3, 3]), weights("c1", &[3])];
        let nodes = vec![
            node("MatMul", &["x", "c0"], "a"),
            node("Mul", &["x", "c1"], "b"),
            node(op, &["a", "b"], "c"),
            node("Add", &["c", "c"], "d"),
            node("Relu", &["d"], "h"),
            node("Add", &["h", "h"], "y"),
        ];
        agrees(&model(13, value("x", &[1, 3]), constants, nodes));
    }
    refused(&single(13, &[3], node("Mul", &["x", "x"], "y"), vec![]), "not affine");
}

#[test]
fn batch_normalization() {
    let shapes: [&[i64]; 4] = [&[2, 3], &[2, 3, 4], &[1, 3, 2, 2], &[2, 3, 1, 2]];
    for (shape, opset) in shapes.into_iter().flat_map(|shape| [7, 9, 14, 15].map(|opset| (shape, opset))) {
        for epsilon in [None, Some(0.25)] {
            let variance: Vec<f32> = numbers("variance", &[3]).iter().map(|v| v.abs() + 0.1).collect();
            let mut constants: Vec<_> = ["scale", "bias", "mean"].map(|name| weights(name, &[3])).to_vec();
            constants.push(floats("variance", &[3], &variance));
            let attributes = epsilon.map(|e| float("epsilon", e)).into_iter().chain([float("momentum", 0.8)]);
            let inputs = ["x", "scale", "bias", "mean", "variance"];
            agrees(&single(opset, shape, with("BatchNormalization", &inputs, "y", attributes.collect()), constants));
        }
    }
}

/// A vector is one channel.
#[test]
fn batch_normalization_of_a_vector() {
    let constants = [("scale", 2.0), ("bias", 1.0), ("mean", 0.5), ("variance", 4.0)];
    let constants = constants.map(|(name, v)| floats(name, &[1], &[v])).to_vec();
    let inputs = ["x", "scale", "bias", "mean", "variance"];
    let op = with("BatchNormalization", &inputs, "y", vec![float("epsilon", 0.0)]);
    computes(&single(15, &[3], op, constants), &[3], |x| x.iter().map(|x| x - 0.5 + 1.0).collect());
}

#[test]
fn batch_normalization_in_training_is_refused() {
    let constants: Vec<_> = ["c0", "c1", "c2", "c3"].map(|name| floats(name, &[3], &[1.0; 3])).to_vec();
    let inputs = ["x", "c0", "c1", "c2", "c3"];
    let training = with("BatchNormalization", &inputs, "y", vec![int("training_mode", 1)]);
    refused(&single(15, &[2, 3], training, constants.clone()), "training");
    let mut outputs = node("BatchNormalization", &inputs, "y");
    outputs.output.extend(["m", "v", "sm", "sv"].map(String::from));
    refused(&single(9, &[2, 3], outputs, constants.clone()), "training");
    let per_entry = with("BatchNormalization", &inputs, "y", vec![int("spatial", 0)]);
    refused(&single(7, &[2, 3], per_entry, constants), "spatial");
}
