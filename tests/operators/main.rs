//! Every operator and every variant of its attributes, against tract.

mod arithmetic;
mod constants;
mod endings;
mod hostile;
mod movement;
mod networks;
mod piecewise;
mod pools;
mod resize;
mod selection;
#[path = "../tract.rs"]
mod tract;
mod transposed;
mod windows;

use pg_codegen::error::Error;
use pg_codegen::graph::Graph;
use pg_codegen::interpret::Interpreter;
use pg_codegen::read::onnx::proto::*;
use pg_codegen::read::read_as;
use pg_tests::model::*;
use pg_tests::values::values;
use pg_tests::{Random, evaluate, relative_difference};
use prost::Message;

const SAMPLES: usize = 8;
const TOLERANCE: f64 = 1e-5;

/// A constant with numbers that depend on its name and size.
fn weights(name: &str, dims: &[i64]) -> TensorProto {
    floats(name, dims, &numbers(name, dims))
}

fn numbers(name: &str, dims: &[i64]) -> Vec<f32> {
    let seed = name.bytes().fold(17, |seed, byte| 31 * seed + u64::from(byte));
    Random::new(seed).numbers(dims.iter().product::<i64>() as usize)
}

/// The shapes of the input and the output as our reader sees them, inputs, and our outputs.
fn ours(model: &ModelProto) -> (Vec<usize>, Vec<usize>, Vec<f32>, Vec<f32>) {
    let graph = graph(model).unwrap_or_else(|e| panic!("{e}: {model:#?}"));
    let [input, output] = [graph.input, graph.output].map(|id| graph.values[id].shape.clone());
    let x = Random::new(3).numbers(SAMPLES * input.iter().product::<usize>());
    let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
    let y: Vec<f32> = wide.chunks(input.iter().product()).flat_map(|x| values(&graph, x)).map(|v| v as f32).collect();
    // The normal form has to mean the same as the graph.
    let net = compile(model).unwrap_or_else(|e| panic!("{e}: {model:#?}"));
    let difference = relative_difference(&y, &evaluate(&Interpreter::new(net), &x));
    assert!(difference < TOLERANCE, "the interpreter, {difference:e}: {model:#?}");
    (input, output, x, y)
}

fn graph(model: &ModelProto) -> Result<Graph, Error> {
    read_as(&model.encode_to_vec(), "test.onnx").map(|model| model.graph)
}

/// Both read the same shapes and compute the same numbers.
fn agrees(model: &ModelProto) {
    agrees_with(model, model);
}

/// The same, where tract reads another model of the same function.
fn agrees_with(model: &ModelProto, reference: &ModelProto) {
    let (input, shape, x, y) = ours(model);
    let bytes = reference.encode_to_vec();
    let (expected_shape, expected) = tract::run(&bytes, &input, &x).unwrap_or_else(|e| panic!("{e:?}: {model:#?}"));
    assert_eq!(shape, expected_shape, "{model:#?}");
    let difference = relative_difference(&expected, &y);
    assert!(difference < TOLERANCE, "{difference:e}: {model:#?}");
}

/// What tract cannot run, against the value of `expected` at each input.
fn computes(model: &ModelProto, shape: &[usize], expected: impl Fn(&[f32]) -> Vec<f32>) {
    let (input, found, x, y) = ours(model);
    assert_eq!(shape, found, "{model:#?}");
    let expected: Vec<f32> = x.chunks(input.iter().product()).flat_map(expected).collect();
    let difference = relative_difference(&expected, &y);
    assert!(difference < TOLERANCE, "{difference:e}: {model:#?}");
}

fn refused(model: &ModelProto, why: &str) {
    let error = graph(model).expect_err("not supported").to_string();
    assert!(error.contains(why), "{error}");
}

/// One node from `x` to `y` with constants `c0`, `c1`, …
fn single(opset: i64, shape: &[i64], op: NodeProto, constants: Vec<TensorProto>) -> ModelProto {
    model(opset, value("x", shape), constants, vec![op])
}
