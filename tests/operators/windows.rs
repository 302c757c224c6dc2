//! Operators with windows that slide over spatial axes: Conv.

use super::{agrees, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, ModelProto};
use pg_tests::model::*;

/// Attributes by their lists of numbers.
fn lists(attributes: &[(&str, &[i64])]) -> Vec<AttributeProto> {
    attributes.iter().map(|(name, values)| ints(name, values)).collect()
}

fn conv(opset: i64, shape: &[i64], kernel: &[i64], bias: bool, attributes: Vec<AttributeProto>) -> ModelProto {
    let (mut inputs, mut constants) = (vec!["x", "w"], vec![weights("w", kernel)]);
    if bias {
        inputs.push("b");
        constants.push(weights("b", &kernel[..1]));
    }
    single(opset, shape, with("Conv", &inputs, "y", attributes), constants)
}

#[test]
fn conv_in_one_dimension() {
    let cases: [&[(&str, &[i64])]; 6] = [
        &[],
        &[("strides", &[2])],
        &[("pads", &[2, 1])],
        &[("dilations", &[3]), ("pads", &[0, 4])],
        &[("strides", &[3]), ("pads", &[1, 1]), ("kernel_shape", &[3])],
        &[("dilations", &[2]), ("strides", &[2]), ("pads", &[3, 2])],
    ];
    for (case, attributes) in cases.into_iter().enumerate() {
        agrees(&conv([7, 11, 22][case % 3], &[1, 2, 9], &[4, 2, 3], case % 2 == 0, lists(attributes)));
        agrees(&conv(13, &[2, 2, 9], &[3, 2, 1], case % 2 == 1, lists(&attributes[..attributes.len().min(1)])));
    }
}

#[test]
fn conv_in_two_dimensions() {
    let cases: [&[(&str, &[i64])]; 7] = [
        &[],
        &[("strides", &[2, 1])],
        &[("pads", &[1, 0, 2, 1])],
        &[("dilations", &[1, 2])],
        &[("strides", &[2, 3]), ("pads", &[1, 1, 1, 1]), ("kernel_shape", &[3, 2])],
        &[("dilations", &[2, 2]), ("strides", &[1, 2]), ("pads", &[2, 0, 0, 3])],
        &[("pads", &[3, 3, 3, 3])],
    ];
    for (case, attributes) in cases.into_iter().enumerate() {
        agrees(&conv(11, &[1, 3, 7, 5], &[2, 3, 3, 2], case % 2 == 0, lists(attributes)));
    }
    agrees(&conv(13, &[2, 1, 4, 4], &[3, 1, 4, 4], true, vec![]));
}

#[test]
fn conv_in_groups() {
    for (groups, outputs) in [(2, 2), (2, 6), (4, 4), (4, 8)] {
        let attributes = || vec![int("group", groups), ints("pads", &[1, 1, 0, 1])];
        agrees(&conv(13, &[1, 4, 5, 4], &[outputs, 4 / groups, 2, 3], true, attributes()));
        agrees(&conv(13, &[2, 4, 3, 3], &[outputs, 4 / groups, 2, 3], false, attributes()));
    }
}

#[test]
fn conv_with_automatic_padding() {
    for auto_pad in ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"] {
        for strides in [[1, 1], [2, 3]] {
            let attributes = vec![string("auto_pad", auto_pad), ints("strides", &strides)];
            agrees(&conv(11, &[1, 2, 6, 7], &[2, 2, 3, 4], true, attributes));
        }
    }
}

#[test]
fn conv_of_constants_and_between_relus() {
    let nodes = vec![with("Conv", &["c", "w"], "k", vec![]), node("Add", &["x", "k"], "y")];
    agrees(&model(13, value("x", &[1]), vec![weights("c", &[1, 2, 4, 4]), weights("w", &[3, 2, 2, 2])], nodes));
    let nodes = vec![
        with("Conv", &["x", "w", "b"], "z", vec![ints("pads", &[1, 1, 1, 1])]),
        node("Relu", &["z"], "h"),
        with("Conv", &["h", "v"], "o", vec![ints("strides", &[2, 2])]),
        node("Relu", &["o"], "r"),
        node("Flatten", &["r"], "f"),
        node("MatMul", &["f", "m"], "y"),
    ];
    let constants =
        vec![weights("w", &[3, 1, 3, 3]), weights("b", &[3]), weights("v", &[2, 3, 3, 2]), weights("m", &[8, 3])];
    agrees(&model(13, value("x", &[1, 1, 5, 5]), constants, nodes));
    let computed = node("Conv", &["c", "x"], "y");
    agrees(&single(13, &[2, 1, 2, 2], computed, vec![weights("c", &[1, 1, 3, 4])]));
}

#[test]
fn convolutions_that_make_no_sense_are_refused() {
    let refuse = |attributes, why| refused(&conv(13, &[1, 2, 5, 5], &[2, 2, 3, 3], true, attributes), why);
    refuse(vec![ints("strides", &[0, 1])], "strides");
    refuse(vec![ints("dilations", &[1, 0])], "dilations");
    refuse(vec![ints("dilations", &[1 << 62, 1])], "dilations");
    refuse(vec![ints("pads", &[0, 0, -1, 0])], "pads");
    refuse(vec![ints("pads", &[1 << 30, 0, 1 << 30, 0])], "more than");
    refuse(vec![ints("strides", &[1])], "2 numbers");
    refuse(vec![ints("kernel_shape", &[2, 3])], "kernel_shape");
    refuse(vec![int("group", 3)], "groups");
    refuse(vec![int("group", -1)], "groups");
    refuse(vec![int("group", 2)], "channels");
    refuse(vec![string("auto_pad", "SOMEHOW")], "SOMEHOW");
    refused(&conv(13, &[1, 2, 2, 5], &[2, 2, 3, 3], true, vec![]), "does not fit");
    refused(&conv(13, &[2, 5], &[2, 5], false, vec![]), "convolve");
    refused(&single(13, &[1, 1, 2], node("Conv", &["x", "x"], "y"), vec![]), "not affine");
    let wrong = vec![weights("w", &[2, 2, 3, 3]), weights("b", &[3])];
    refused(&single(13, &[1, 2, 5, 5], node("Conv", &["x", "w", "b"], "y"), wrong), "bias");
}
