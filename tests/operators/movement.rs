//! Operators that move entries: Flatten, Reshape, Squeeze, Unsqueeze, Transpose, Slice, Concat, Identity, Dropout.

use super::{agrees, computes, refused, single, weights};
use pg_codegen::read::onnx::proto::AttributeProto;
use pg_tests::model::*;

#[test]
fn flatten() {
    for axis in 0..=3 {
        agrees(&single(9, &[2, 3, 4], with("Flatten", &["x"], "y", vec![int("axis", axis)]), vec![]));
    }
    for axis in [-3, -2, -1, 0, 1, 3] {
        agrees(&single(13, &[2, 3, 4], with("Flatten", &["x"], "y", vec![int("axis", axis)]), vec![]));
    }
    agrees(&single(11, &[2, 3, 4], node("Flatten", &["x"], "y"), vec![]));
    agrees(&single(11, &[4], with("Flatten", &["x"], "y", vec![int("axis", 0)]), vec![]));
    refused(&single(11, &[2, 3], with("Flatten", &["x"], "y", vec![int("axis", 3)]), vec![]), "axis 3");
    refused(&single(11, &[2, 3], with("Flatten", &["x"], "y", vec![int("axis", -3)]), vec![]), "axis -3");
}

#[test]
fn reshape() {
    let targets: [&[i64]; 8] =
        [&[6, 4], &[-1], &[0, -1], &[0, 0, 2, 2], &[4, 0, 2], &[-1, 3, 4], &[1, 24, 1], &[0, 0, 0]];
    for (target, opset) in targets.into_iter().flat_map(|target| [7, 13, 14, 19].map(|opset| (target, opset))) {
        agrees(&single(opset, &[2, 3, 4], node("Reshape", &["x", "c0"], "y"), vec![integers("c0", target)]));
    }
    let literal = |target: &[i64]| {
        let op = with("Reshape", &["x", "c0"], "y", vec![int("allowzero", 1)]);
        single(14, &[2, 3, 4], op, vec![integers("c0", target)])
    };
    agrees(&literal(&[-1, 6]));
    refused(&literal(&[0, 24]), "cannot become");
    refused(&single(13, &[2, 3], node("Reshape", &["x", "x"], "y"), vec![]), "must be constant");
}

#[test]
fn squeeze_and_unsqueeze() {
    let axes: [&[i64]; 4] = [&[0], &[2], &[0, 2], &[-2]];
    for axes in axes {
        let attribute = |op| single(11, &[1, 3, 1, 2], with(op, &["x"], "y", vec![ints("axes", axes)]), vec![]);
        let input = |op| single(13, &[1, 3, 1, 2], node(op, &["x", "c0"], "y"), vec![integers("c0", axes)]);
        for op in ["Squeeze", "Unsqueeze"] {
            agrees(&attribute(op));
            agrees(&input(op));
        }
    }
    for opset in [13, 21] {
        agrees(&single(opset, &[1, 3, 1, 2], node("Squeeze", &["x"], "y"), vec![]));
    }
    computes(&single(11, &[1, 3, 1, 2], node("Squeeze", &["x"], "y"), vec![]), &[3, 2], <[f32]>::to_vec);
    let wrong = with("Squeeze", &["x"], "y", vec![ints("axes", &[1])]);
    refused(&single(11, &[1, 3], wrong, vec![]), "axis 1");
}

#[test]
fn transpose() {
    for perm in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        for opset in [7, 13, 21] {
            agrees(&single(opset, &[2, 3, 4], with("Transpose", &["x"], "y", vec![ints("perm", &perm)]), vec![]));
        }
    }
    agrees(&single(13, &[2, 3, 4], node("Transpose", &["x"], "y"), vec![]));
    let constants = vec![weights("c0", &[4, 3])];
    let nodes = vec![node("Transpose", &["c0"], "w"), node("MatMul", &["x", "w"], "y")];
    agrees(&model(13, value("x", &[1, 3]), constants, nodes));
}

const TO_THE_END: i64 = i64::MAX;
const TO_THE_START: i64 = i64::MIN + 1;

/// Starts, ends, axes.
type Range<'a> = (&'a [i64], &'a [i64], &'a [i64]);

#[test]
fn slice_by_attribute() {
    let ranges: [Range; 5] = [
        (&[1], &[3], &[1]),
        (&[0, 1], &[1, 3], &[0, 2]),
        (&[-2], &[TO_THE_END], &[2]),
        (&[0, -3], &[100, -1], &[0, 2]),
        (&[1, 0], &[2, 2], &[0, 1]),
    ];
    for (starts, ends, axes) in ranges {
        let attributes = vec![ints("starts", starts), ints("ends", ends), ints("axes", axes)];
        agrees(&single(9, &[2, 3, 4], with("Slice", &["x"], "y", attributes.clone()), vec![]));
        let nodes = vec![with("Slice", &["c0"], "c", attributes), node("Add", &["x", "c"], "y")];
        agrees(&model(9, value("x", &[1]), vec![weights("c0", &[2, 3, 4])], nodes));
    }
    let leading = vec![ints("starts", &[1, 1]), ints("ends", &[2, 3])];
    let last_column = |x: &[f32]| vec![x[4], x[5]];
    computes(&single(7, &[2, 3], with("Slice", &["x"], "y", leading), vec![]), &[1, 2], last_column);
    let no_ends = vec![ints("starts", &[1]), ints("axes", &[0])];
    refused(&single(9, &[2, 3], with("Slice", &["x"], "y", no_ends), vec![]), "ends");
}

#[test]
fn slice_by_input() {
    let ranges: [(Range, Option<&[i64]>); 10] = [
        ((&[1], &[3], &[1]), None),
        ((&[1], &[TO_THE_END], &[2]), Some(&[2])),
        ((&[-1], &[TO_THE_START], &[2]), Some(&[-1])),
        ((&[TO_THE_END], &[TO_THE_START], &[-1]), Some(&[-2])),
        ((&[3], &[0], &[2]), Some(&[-1])),
        ((&[0, 2], &[2, 0], &[0, 1]), Some(&[1, -1])),
        ((&[-3], &[-1], &[-1]), Some(&[1])),
        ((&[-100], &[100], &[1]), Some(&[3])),
        ((&[0], &[1], &[0]), Some(&[7])),
        ((&[0, 0, 0], &[2, 3, 4], &[2, 0, 1]), Some(&[1, 1, 2])),
    ];
    for ((starts, ends, axes), steps) in ranges {
        let mut constants = vec![integers("starts", starts), integers("ends", ends), integers("axes", axes)];
        let mut inputs = vec!["starts", "ends", "axes"];
        if let Some(steps) = steps {
            constants.push(integers("steps", steps));
            inputs.push("steps");
        }
        let slice = |of: &'static str, to: &str| node("Slice", &[&[of], &inputs[..]].concat(), to);
        for opset in [10, 11, 13, 21] {
            agrees(&single(opset, &[2, 3, 4], slice("x", "y"), constants.clone()));
        }
        let nodes = vec![slice("c0", "c"), node("Add", &["x", "c"], "y")];
        constants.push(weights("c0", &[2, 3, 4]));
        agrees(&model(13, value("x", &[1]), constants, nodes));
    }
}

/// The axes may be left out before the steps.
#[test]
fn slice_with_steps_and_without_axes() {
    let constants = vec![integers("starts", &[0, 2]), integers("ends", &[2, -4]), integers("steps", &[1, -1])];
    let op = node("Slice", &["x", "starts", "ends", "", "steps"], "y");
    agrees(&single(13, &[2, 3], op, constants));
}

/// With a negative step a start before the first entry means the first entry.
#[test]
fn slice_backwards_from_before_the_start() {
    let constants =
        vec![integers("s", &[-9]), integers("e", &[TO_THE_START]), integers("a", &[0]), integers("t", &[-1])];
    let op = node("Slice", &["x", "s", "e", "a", "t"], "y");
    computes(&single(13, &[3], op, constants), &[1], |x| vec![x[0]]);
}

#[test]
fn concat() {
    for (axis, joined) in [(0, [4, 3]), (1, [2, 6]), (-1, [2, 6]), (-2, [4, 3])] {
        let join = |inputs: &[&str], to: &str| with("Concat", inputs, to, vec![int("axis", axis)]);
        let constants = vec![weights("c0", &[2, 3]), floats("c1", &[2, 3], &[0.5; 6]), weights("c2", &[3, 3])];
        let nodes = vec![join(&["c0", "c1"], "c"), node("Add", &["x", "c"], "y")];
        agrees(&model(13, value("x", &joined), constants.clone(), nodes));
        let nodes = vec![
            node("MatMul", &["x", "c2"], "a"),
            node("Mul", &["x", "c0"], "b"),
            join(&["a", "x", "c1", "b", "a"], "c"),
            node("Relu", &["c"], "y"),
        ];
        agrees(&model(7, value("x", &[2, 3]), constants, nodes));
    }
    agrees(&single(13, &[2, 3], with("Concat", &["x"], "y", vec![int("axis", 1)]), vec![]));
    refused(&single(13, &[2, 3], node("Concat", &["x", "x"], "y"), vec![]), "axis");
}

#[test]
fn dropout_and_identity_change_nothing() {
    agrees(&single(7, &[2, 3], with("Dropout", &["x"], "y", vec![float("ratio", 0.5)]), vec![]));
    agrees(&single(10, &[2, 3], node("Dropout", &["x"], "y"), vec![]));
    agrees(&single(13, &[2, 3], node("Dropout", &["x", "c0"], "y"), vec![floats("c0", &[], &[0.5])]));
    for opset in [7, 13, 16, 21] {
        agrees(&single(opset, &[2, 3], node("Identity", &["x"], "y"), vec![]));
    }
    let constants = vec![weights("c0", &[2, 3])];
    let nodes = vec![node("Identity", &["c0"], "c"), node("Add", &["x", "c"], "y")];
    agrees(&model(13, value("x", &[2, 3]), constants, nodes));
}

#[test]
fn dropout_in_training_is_refused() {
    for inputs in [["x", "r", "t"], ["x", "", "t"]] {
        let dropout = |training| {
            single(13, &[2, 3], node("Dropout", &inputs, "y"), vec![floats("r", &[], &[0.5]), flag("t", training)])
        };
        computes(&dropout(false), &[2, 3], <[f32]>::to_vec);
        refused(&dropout(true), "training");
    }
}

/// protobuf leaves out a number that is 0; the attribute's type says that it is there.
#[test]
fn an_attribute_of_zero_may_have_no_value() {
    let axis = AttributeProto { i: None, ..int("axis", 0) };
    agrees(&single(13, &[2, 3], with("Flatten", &["x"], "y", vec![axis.clone()]), vec![]));
    let untyped = AttributeProto { r#type: 0, ..axis };
    refused(&single(13, &[2, 3], with("Flatten", &["x"], "y", vec![untyped]), vec![]), "axis");
}
