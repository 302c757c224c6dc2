//! Operators that choose or repeat entries: Pad, Gather, Split, Expand, Tile, DepthToSpace, SpaceToDepth, Where.

use super::{agrees, computes, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, ModelProto, NodeProto};
use pg_tests::model::*;

/// On `x`, and folded on a constant of the same shape that is then added.
fn on_both(opset: i64, shape: &[i64], op: NodeProto, constants: &[pg_codegen::read::onnx::proto::TensorProto]) {
    agrees(&single(opset, shape, op.clone(), constants.to_vec()));
    let mut folded = op;
    folded.input[0] = "k".into();
    folded.output[0] = "z".into();
    let constants = [constants, &[weights("k", shape)]].concat();
    agrees(&model(opset, value("x", &[1]), constants, vec![folded, node("Add", &["x", "z"], "y")]));
}

#[test]
fn pad_with_a_constant() {
    for pads in [[0, 1, 2, 0], [1, 0, 0, 3], [0, 0, 0, 0], [2, 2, 1, 1]] {
        let old = vec![ints("pads", &pads), float("value", 0.5)];
        on_both(9, &[2, 3], with("Pad", &["x"], "y", old), &[]);
        for opset in [11, 13, 18, 21] {
            let constants = [integers("p", &pads), floats("v", &[], &[0.75])];
            on_both(opset, &[2, 3], node("Pad", &["x", "p", "v"], "y"), &constants);
            on_both(opset, &[2, 3], with("Pad", &["x", "p"], "y", vec![string("mode", "constant")]), &constants);
        }
    }
}

#[test]
fn pad_that_cuts() {
    let cut = |pads: &[i64], mode: &str| {
        single(13, &[2, 3], with("Pad", &["x", "p"], "y", vec![string("mode", mode)]), vec![integers("p", pads)])
    };
    computes(&cut(&[0, -1, 0, 1], "constant"), &[2, 3], |x| vec![x[1], x[2], 0.0, x[4], x[5], 0.0]);
    computes(&cut(&[-1, 0, 0, -2], "edge"), &[1, 1], |x| vec![x[3]]);
    computes(&cut(&[1, 0, -2, 0], "constant"), &[1, 3], |_| vec![0.0; 3]);
    refused(&cut(&[0, -1, 0, 1], "reflect"), "cuts");
    refused(&cut(&[0, -2, 0, -2], "constant"), "cannot be padded");
    refused(&cut(&[-1, 0, -1, 0], "constant"), "empty");
    refused(&cut(&[0, i64::MAX, 0, 1], "constant"), "cannot be padded");
    refused(&cut(&[0, 1 << 40, 0, 1], "constant"), "more than");
    refused(&cut(&[-1, 1 << 40, -1, 1], "constant"), "more than");
    refused(&cut(&[0, 1, 1], "constant"), "two for each");
    refused(&cut(&[0, 0, 0, 0], "mirror"), "mirror");
}

#[test]
fn pad_that_repeats() {
    for (mode, pads) in ["reflect", "edge"].into_iter().flat_map(|m| [[0, 2, 1, 1], [1, 0, 0, 2]].map(|p| (m, p))) {
        let attributes = vec![string("mode", mode)];
        on_both(13, &[3, 4], with("Pad", &["x", "p"], "y", attributes), &[integers("p", &pads)]);
        let attributes = vec![string("mode", mode), ints("pads", &pads)];
        on_both(9, &[3, 4], with("Pad", &["x"], "y", attributes), &[]);
    }
    let wrap = with("Pad", &["x", "p"], "y", vec![string("mode", "wrap")]);
    computes(&single(19, &[3], wrap, vec![integers("p", &[1, 2])]), &[6], |x| vec![x[2], x[0], x[1], x[2], x[0], x[1]]);
    let axes = node("Pad", &["x", "p", "", "a"], "y");
    let constants = vec![integers("p", &[1, 0]), integers("a", &[-1])];
    computes(&single(18, &[2, 2], axes, constants), &[2, 3], |x| vec![0.0, x[0], x[1], 0.0, x[2], x[3]]);
}

#[test]
fn gather() {
    for (axis, indices) in [(0, &[1, 0, 1][..]), (1, &[2]), (-1, &[-1, 3]), (2, &[0, 0, -4])] {
        let op = with("Gather", &["x", "i"], "y", vec![int("axis", axis)]);
        for opset in [7, 11, 13] {
            on_both(opset, &[2, 3, 4], op.clone(), &[integers("i", indices)]);
        }
    }
    let mut scalar = integers("i", &[1]);
    scalar.dims.clear();
    on_both(13, &[2, 3, 4], with("Gather", &["x", "i"], "y", vec![int("axis", 1)]), &[scalar]);
    let mut square = integers("i", &[1, 0, 2, 1]);
    square.dims = vec![2, 2];
    on_both(13, &[2, 3, 4], with("Gather", &["x", "i"], "y", vec![int("axis", 1)]), &[square]);
    refused(&single(13, &[3], node("Gather", &["x", "i"], "y"), vec![integers("i", &[3])]), "outside");
    refused(&single(13, &[3], node("Gather", &["x", "i"], "y"), vec![integers("i", &[i64::MIN])]), "outside");
    refused(&single(13, &[3], node("Gather", &["x", "x"], "y"), vec![]), "constant");
}

/// The parts of a Split of `[2, 7]`, with each but the first one's negative, joined again the other way round.
fn split(opset: i64, inputs: &[&str], parts: usize, attributes: Vec<AttributeProto>, sizes: &[i64]) -> ModelProto {
    let mut split = with("Split", inputs, "p0", [attributes, vec![int("axis", 1)]].concat());
    split.output = (0..parts).map(|k| format!("p{k}")).collect();
    let mut nodes = vec![split];
    nodes.extend((1..parts).map(|k| node("Neg", &[&format!("p{k}")], &format!("n{k}"))));
    let names: Vec<String> = (1..parts).rev().map(|k| format!("n{k}")).chain(["p0".into()]).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    nodes.push(with("Concat", &names, "y", vec![int("axis", 1)]));
    model(opset, value("x", &[2, 7]), vec![integers("s", sizes)], nodes)
}

#[test]
fn split_in_its_forms() {
    let expected = |sizes: &'static [usize]| {
        move |x: &[f32]| {
            let row = |row: &[f32]| {
                let mut rest = row;
                let mut parts = vec![];
                for (k, &size) in sizes.iter().enumerate() {
                    let (part, after) = rest.split_at(size);
                    parts.insert(0, part.iter().map(|v| if k == 0 { *v } else { -v }).collect::<Vec<_>>());
                    rest = after;
                }
                parts.concat()
            };
            x.chunks(7).flat_map(row).collect::<Vec<f32>>()
        }
    };
    let sizes = &[3, 1, 3];
    computes(&split(11, &["x"], 3, vec![ints("split", sizes)], &[]), &[2, 7], expected(&[3, 1, 3]));
    computes(&split(13, &["x", "s"], 3, vec![], sizes), &[2, 7], expected(&[3, 1, 3]));
    computes(&split(13, &["x"], 7, vec![], &[]), &[2, 7], expected(&[1; 7]));
    computes(&split(18, &["x"], 3, vec![int("num_outputs", 3)], &[]), &[2, 7], expected(&[3, 3, 1]));
    agrees(&split(13, &["x", "s"], 3, vec![], sizes));
    agrees(&split(11, &["x"], 7, vec![], &[]));
}

#[test]
fn splits_that_do_not_add_up_are_refused() {
    refused(&split(13, &["x", "s"], 3, vec![], &[3, 1, 4]), "no parts");
    refused(&split(13, &["x", "s"], 3, vec![], &[3, 4]), "no parts");
    refused(&split(13, &["x", "s"], 3, vec![], &[9, -1, -1]), "negative");
    refused(&split(13, &["x", "s"], 3, vec![], &[i64::MAX, i64::MAX, 9]), "no parts");
    refused(&split(13, &["x", "s"], 3, vec![], &[7, 0, 0]), "empty");
    refused(&split(13, &["x"], 3, vec![], &[]), "equal parts");
    refused(&split(18, &["x"], 3, vec![int("num_outputs", 4)], &[]), "num_outputs");
    refused(&split(18, &["x"], 6, vec![int("num_outputs", 6)], &[]), "equal parts");
}

#[test]
fn only_the_parts_that_are_read_matter() {
    let mut split = with("Split", &["x", "s"], "", vec![]);
    split.output = vec![String::new(), "b".into()];
    let nodes = vec![split, node("Neg", &["b"], "y")];
    computes(&model(13, value("x", &[3]), vec![integers("s", &[2, 1])], nodes), &[1], |x| vec![-x[2]]);
}

#[test]
fn expand_and_tile() {
    for target in [&[2, 3][..], &[4, 1, 1], &[1], &[4, 2, 3], &[]] {
        on_both(13, &[2, 1], node("Expand", &["x", "s"], "y"), &[integers("s", target)]);
    }
    for repeats in [[1, 1], [2, 1], [3, 2]] {
        on_both(13, &[2, 3], node("Tile", &["x", "r"], "y"), &[integers("r", &repeats)]);
    }
    refused(&single(13, &[2, 1], node("Expand", &["x", "s"], "y"), vec![integers("s", &[1 << 40])]), "more than");
    refused(&single(13, &[2, 1], node("Expand", &["x", "s"], "y"), vec![integers("s", &[-1])]), "negative");
    refused(&single(13, &[2, 3], node("Tile", &["x", "s"], "y"), vec![integers("s", &[1 << 62, 4])]), "more than");
    refused(&single(13, &[2, 3], node("Tile", &["x", "s"], "y"), vec![integers("s", &[0, 1])]), "empty");
}

#[test]
fn blocks_of_channels() {
    for mode in ["DCR", "CRD"] {
        let attributes = vec![int("blocksize", 2), string("mode", mode)];
        on_both(13, &[2, 8, 2, 3], with("DepthToSpace", &["x"], "y", attributes), &[]);
    }
    on_both(7, &[1, 9, 1, 2], with("DepthToSpace", &["x"], "y", vec![int("blocksize", 3)]), &[]);
    on_both(13, &[2, 2, 4, 6], with("SpaceToDepth", &["x"], "y", vec![int("blocksize", 2)]), &[]);
    let refuse = |op, shape: &[i64], block| {
        refused(&single(13, shape, with(op, &["x"], "y", vec![int("blocksize", block)]), vec![]), "block");
    };
    refuse("DepthToSpace", &[1, 6, 1, 1], 2);
    refuse("DepthToSpace", &[1, 4, 1, 1], 0);
    refuse("DepthToSpace", &[1, 4, 1, 1], 1 << 40);
    refuse("SpaceToDepth", &[1, 4, 3, 2], 2);
    refused(&single(13, &[4, 4], with("SpaceToDepth", &["x"], "y", vec![int("blocksize", 2)]), vec![]), "planes");
}

#[test]
fn where_with_a_constant_condition() {
    let condition = vec![node("Less", &["c", "d"], "m")];
    let constants = || vec![weights("c", &[2, 3]), weights("d", &[1]), weights("e", &[3])];
    for (yes, no) in [("x", "e"), ("e", "x"), ("x", "x"), ("d", "x")] {
        let nodes = [condition.clone(), vec![node("Where", &["m", yes, no], "y")]].concat();
        agrees(&model(13, value("x", &[2, 3]), constants(), nodes));
    }
    refused(&single(13, &[3], node("Where", &["x", "x", "x"], "y"), vec![]), "condition");
}
