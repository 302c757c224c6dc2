//! Models with wrong numbers: each is read or refused, none panics, and none takes much memory.

use super::{refused, single, weights};
use pg_codegen::read::onnx::proto::*;
use pg_codegen::read::read_as;
use pg_tests::Random;
use pg_tests::model::*;
use prost::Message;

/// One node of each operator that has numbers for its form.
fn models() -> Vec<ModelProto> {
    let planes = [1, 4, 6, 6];
    let window = || {
        vec![
            ints("kernel_shape", &[2, 3]),
            ints("strides", &[2, 1]),
            ints("pads", &[1, 0, 1, 1]),
            ints("dilations", &[1, 1]),
        ]
    };
    let kernel = || vec![weights("w", &[4, 2, 2, 3]), weights("b", &[4])];
    let of = |op: &str, attributes| single(19, &planes, with(op, &["x"], "y", attributes), vec![]);
    let by = |op: &str, list: &[i64], attributes| {
        single(19, &planes, with(op, &["x", "c"], "y", attributes), vec![integers("c", list)])
    };
    let mut split = by("Split", &[1, 3], vec![int("axis", 1)]);
    split.graph.as_mut().unwrap().node[0].output.push("z".into());
    let group = || [window(), vec![int("group", 2)]].concat();
    let transposed = || [group(), vec![ints("output_padding", &[1, 0]), ints("output_shape", &[12, 8])]].concat();
    let slices = [("starts", 1), ("ends", 3), ("axes", 1), ("steps", 1)].map(|(name, i)| integers(name, &[i])).to_vec();
    vec![
        single(19, &planes, with("Conv", &["x", "w", "b"], "y", group()), kernel()),
        single(19, &planes, with("ConvTranspose", &["x", "w", "b"], "y", group()), kernel()),
        single(19, &planes, with("ConvTranspose", &["x", "w", "b"], "y", transposed()), kernel()),
        of("MaxPool", [window(), vec![int("ceil_mode", 1)]].concat()),
        of("AveragePool", [window(), vec![int("count_include_pad", 1)]].concat()),
        of("DepthToSpace", vec![int("blocksize", 2)]),
        of("SpaceToDepth", vec![int("blocksize", 2)]),
        of("Transpose", vec![ints("perm", &[0, 2, 1, 3])]),
        of("Flatten", vec![int("axis", 2)]),
        of("ReduceMax", vec![ints("axes", &[1, 2]), int("keepdims", 0)]),
        of("ReduceMean", vec![ints("axes", &[1, 2])]),
        by("ReduceSum", &[1, 3], vec![]),
        by("Pad", &[0, 0, 1, 2, 0, 0, 0, -1], vec![]),
        by("Pad", &[0, 0, 1, 2, 0, 0, 1, 1], vec![string("mode", "reflect")]),
        by("Gather", &[1, -1], vec![int("axis", 1)]),
        by("Expand", &[2, 1, 1, 1, 1], vec![]),
        by("Tile", &[1, 2, 1, 1], vec![]),
        by("Reshape", &[4, -1, 0], vec![]),
        by("Unsqueeze", &[0, -1], vec![]),
        by("Squeeze", &[0], vec![]),
        single(19, &planes, node("Slice", &["x", "starts", "ends", "axes", "steps"], "y"), slices),
        single(19, &planes, node("Resize", &["x", "", "", "c"], "y"), vec![integers("c", &[1, 4, 12, 3])]),
        split,
    ]
}

/// Every integer of the model, of attributes, constants and shapes, in turn.
fn integers_of(model: &mut ModelProto) -> Vec<&mut i64> {
    let graph = model.graph.as_mut().unwrap();
    let attributes = graph.node[0].attribute.iter_mut().flat_map(|a| a.ints.iter_mut().chain(a.i.as_mut()));
    let constants = graph.initializer.iter_mut().flat_map(|t| t.int64_data.iter_mut().chain(&mut t.dims));
    attributes.chain(constants).collect()
}

const NUMBERS: [i64; 11] = [0, -1, -2, -7, 1, 3, 9, 100, 1 << 40, i64::MAX, i64::MIN];

#[test]
fn any_number_may_be_wrong() {
    let mut accepted = 0;
    for model in models() {
        read_as(&model.encode_to_vec(), "test.onnx").unwrap_or_else(|e| panic!("{e}"));
        for (place, number) in (0..integers_of(&mut model.clone()).len()).flat_map(|p| NUMBERS.map(|n| (p, n))) {
            let mut wrong = model.clone();
            *integers_of(&mut wrong)[place] = number;
            accepted += usize::from(read_as(&wrong.encode_to_vec(), "test.onnx").is_ok());
        }
    }
    assert!(accepted > 100, "{accepted}: most reach the operator");
}

#[test]
fn several_numbers_may_be_wrong_and_bytes_too() {
    let mut random = Random::new(11);
    for model in models() {
        for _ in 0..200 {
            let mut wrong = model.clone();
            for number in integers_of(&mut wrong) {
                if random.below(3) == 0 {
                    *number = random.pick(&NUMBERS);
                }
            }
            let _ = read_as(&wrong.encode_to_vec(), "test.onnx");
            let mut bytes = model.encode_to_vec();
            let at = random.below(bytes.len());
            bytes[at] = random.bits() as u8;
            let _ = read_as(&bytes, "test.onnx");
        }
    }
}

#[test]
fn outputs_beside_the_first_are_known_only_of_split() {
    let reads_mask = |op: &str, attributes: Vec<AttributeProto>| {
        let mut first = with(op, &["x"], "z", attributes);
        first.output.push("mask".into());
        model(13, value("x", &[1, 1, 4]), vec![], vec![first, node("Add", &["z", "mask"], "y")])
    };
    refused(&reads_mask("Dropout", vec![]), "'mask', which nothing computes");
    refused(&reads_mask("MaxPool", vec![ints("kernel_shape", &[1])]), "'mask', which nothing computes");
    let split = |outputs: [&str; 2], reads: &str| {
        let mut first = with("Split", &[reads], outputs[0], vec![int("axis", 2)]);
        first.output.push(outputs[1].into());
        let mut all = model(13, value("x", &[1, 1, 4]), vec![], vec![first, node("Neg", &["b"], "y")]);
        all.graph.as_mut().unwrap().output[0].name = "y".into();
        all
    };
    assert!(super::graph(&split(["a", "b"], "x")).is_ok());
    refused(&split(["b", "b"], "x"), "computed twice");
    refused(&split(["x", "b"], "x"), "computed twice");
    refused(&split(["", ""], "x"), "no output");
    refused(&split(["a", "b"], "b"), "cycle");
    refused(&split(["a", "b"], "y"), "cycle");
}

/// Many inputs, outputs or axes are cheap in a file.
#[test]
fn lists_cannot_be_long() {
    let many = vec!["x"; 100_000];
    for op in ["Sum", "Max", "Mean"] {
        refused(&single(13, &[1000], node(op, &many, "y"), vec![]), "more than");
    }
    refused(&single(13, &[10], with("Concat", &many, "y", vec![int("axis", 0)]), vec![]), "more than");
    let axes: Vec<i64> = (0..100_000).collect();
    refused(&single(13, &[2], node("Unsqueeze", &["x", "a"], "y"), vec![integers("a", &axes)]), "axes");
    refused(&single(13, &[2], node("Reshape", &["x", "a"], "y"), vec![integers("a", &[1; 100_000])]), "axes");
    let repeated = ["s", "e", "a"].map(|name| integers(name, &[0; 100_000])).to_vec();
    refused(&single(13, &[2], node("Slice", &["x", "s", "e", "a"], "y"), repeated), "axes");
    let mut split = single(13, &[2], node("Split", &["x"], "y"), vec![]);
    split.graph.as_mut().unwrap().node[0].output.extend((0..10_000).map(|k| format!("y{k}")));
    refused(&split, "parts");
}

#[test]
fn constants_of_no_entries_may_have_any_sizes() {
    for dims in [[0, 1 << 40, 1 << 40], [1 << 40, 0, 1 << 20]] {
        for op in ["Concat", "ReduceSum", "Relu", "Transpose", "Neg", "Abs", "GlobalMaxPool"] {
            let attributes = if op == "Concat" { vec![int("axis", 1)] } else { vec![] };
            let nodes = vec![with(op, &["c"], "k", attributes), node("Add", &["x", "k"], "y")];
            let model = model(13, value("x", &[1]), vec![floats("c", &dims, &[])], nodes);
            refused(&model, "entries");
        }
    }
}
