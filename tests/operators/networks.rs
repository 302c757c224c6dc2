//! Whole networks: opsets, inputs, element types, and where ReLUs may stand.

use super::{agrees, computes, refused, single, tract, weights};
use pg_codegen::read::onnx::proto::{DataType, ModelProto, NodeProto, ValueInfoProto};
use pg_codegen::read::read;
use pg_tests::model::*;
use pg_tests::values::values;
use pg_tests::{Random, bench, relative_difference};

/// Three layers, `x·w + b` with a ReLU after all but the last.
fn perceptron(opset: i64, input: ValueInfoProto) -> ModelProto {
    let shapes: [(&str, &[i64]); 6] =
        [("w1", &[3, 5]), ("b1", &[5]), ("w2", &[5, 4]), ("b2", &[4]), ("w3", &[4, 2]), ("b3", &[2])];
    let nodes = vec![
        node("MatMul", &["x", "w1"], "p1"),
        node("Add", &["p1", "b1"], "z1"),
        node("Relu", &["z1"], "h1"),
        node("MatMul", &["h1", "w2"], "p2"),
        node("Add", &["p2", "b2"], "z2"),
        node("Relu", &["z2"], "h2"),
        node("MatMul", &["h2", "w3"], "p3"),
        node("Add", &["p3", "b3"], "y"),
    ];
    model(opset, input, shapes.iter().map(|(name, dims)| weights(name, dims)).collect(), nodes)
}

#[test]
fn every_opset() {
    for opset in 7..=25 {
        agrees(&perceptron(opset, value("x", &[1, 3])));
    }
}

#[test]
fn initialisers_may_be_listed_as_inputs() {
    let mut listed = perceptron(8, value("x", &[1, 3]));
    listed.ir_version = 3;
    let graph = listed.graph.as_mut().unwrap();
    let inputs: Vec<_> = graph.initializer.iter().map(|t| value(&t.name, &t.dims)).collect();
    graph.input.extend(inputs);
    agrees(&listed);
}

#[test]
fn an_open_batch_is_one_input() {
    agrees(&perceptron(13, value("x", &[0, 3])));
    refused(&perceptron(13, value("x", &[1, 0])), "dimension 1");
}

#[test]
fn double_tensors() {
    let mut wide = perceptron(13, typed_value("x", &[1, 3], DataType::Double));
    for constant in &mut wide.graph.as_mut().unwrap().initializer {
        let data: Vec<f64> = constant.float_data.iter().map(|&v| f64::from(v) / 3.0).collect();
        *constant = doubles(&constant.name, &constant.dims, &data);
    }
    agrees(&wide);
    let constants = vec![doubles("w", &[2, 1], &[0.5, 0.1]), doubles("b", &[1], &[1.0])];
    let gemm = vec![with("Gemm", &["x", "w", "b"], "y", vec![float("beta", 3.0)])];
    let gemm = model(13, typed_value("x", &[1, 2], DataType::Double), constants, gemm);
    computes(&gemm, &[1, 1], |x| vec![0.5 * x[0] + 0.1 * x[1] + 3.0]);
}

#[test]
fn relu_first_last_and_twice() {
    let relus = |count: usize, from: &str, to: &str| -> Vec<NodeProto> {
        let names: Vec<String> = (1..count).map(|i| format!("{from}{i}")).collect();
        let ends = [&[from], &names.iter().map(String::as_str).collect::<Vec<_>>()[..], &[to]].concat();
        ends.windows(2).map(|pair| node("Relu", &[pair[0]], pair[1])).collect()
    };
    for (before, after) in [(1, 1), (2, 1), (1, 3), (2, 2)] {
        let product = vec![node("MatMul", &["h", "w"], "z")];
        let nodes = [relus(before, "x", "h"), product, relus(after, "z", "y")].concat();
        agrees(&model(13, value("x", &[1, 3]), vec![weights("w", &[3, 2])], nodes));
    }
    agrees(&single(14, &[2, 3], node("Relu", &["x"], "y"), vec![]));
    let nodes = vec![node("Relu", &["c0"], "c"), node("Add", &["x", "c"], "y")];
    agrees(&model(13, value("x", &[2, 3]), vec![weights("c0", &[2, 3])], nodes));
}

/// The public benchmarks with convolutions, pools, residual sums and chains of shapes, as they were read.
#[test]
fn benchmarks_of_any_graph() {
    let Some(bench) = bench() else { return };
    let folders = ["cersyve", "collins_rul_cnn", "linearizenn", "oval21", "sri_resnet_a"];
    for folder in folders.map(|folder| bench.join(folder).join("onnx")) {
        for path in std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let graph = read(&path).unwrap_or_else(|e| panic!("{e}")).graph;
            let bytes = pg_property::files::read(&path).unwrap();
            let shape = &graph.values[graph.input].shape;
            let x = Random::new(5).numbers(shape.iter().product());
            let (_, expected) = tract::run(&bytes, shape, &x).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
            let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            let y: Vec<f32> = values(&graph, &wide).into_iter().map(|v| v as f32).collect();
            let difference = relative_difference(&expected, &y);
            assert!(difference < 1e-4, "{}: {difference:e}", path.display());
        }
    }
}
