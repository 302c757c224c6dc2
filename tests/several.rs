//! Models with several inputs and outputs: one list each, in the order of declaration.

use pg_codegen::interpret::Interpreter;
use pg_codegen::normalise::normalise;
use pg_codegen::read::onnx::proto::*;
use pg_codegen::read::read_as;
use pg_core::{Network, Tensor};
use pg_tests::model::{compile, floats, model, node, value};
use pg_tests::{Verifier, evaluate};
use prost::Message;
use std::fs;
use std::process::Command;

/// From `a` of shape [batch, 2] and `b` of shape [2, 1] with h = relu(a − bᵀ) to `twice` = h + h of shape [1, 2] and
/// `sum` = 10·h₀ + h₁.
fn two_by_two() -> ModelProto {
    let nodes = vec![
        node("Transpose", &["b"], "t"),
        node("Sub", &["a", "t"], "d"),
        node("Relu", &["d"], "h"),
        node("Add", &["h", "h"], "twice"),
        node("MatMul", &["h", "w"], "sum"),
    ];
    let constants = vec![floats("w", &[2, 1], &[10.0, 1.0])];
    let mut model = model(13, value("a", &[0, 2]), constants, nodes);
    let graph = model.graph.as_mut().unwrap();
    graph.input.push(value("b", &[2, 1]));
    graph.output = ["twice", "sum"].map(|name| ValueInfoProto { name: name.into(), r#type: None }).into();
    model
}

const X: [f32; 4] = [1.0, -2.0, 3.0, -4.0];
const Y: [f32; 3] = [0.0, 4.0, 2.0];

#[test]
fn the_lists_are_in_the_order_of_declaration() {
    let network = Interpreter::new(compile(&two_by_two()).unwrap());
    assert_eq!(evaluate(&network, &X), Y);
    let inputs: Vec<Tensor> = (0..).map_while(|k| network.input_tensor(k)).collect();
    assert_eq!(inputs, [Tensor { name: "a", shape: &[1, 2] }, Tensor { name: "b", shape: &[2, 1] }]);
    let outputs: Vec<Tensor> = (0..).map_while(|k| network.output_tensor(k)).collect();
    assert_eq!(outputs, [Tensor { name: "twice", shape: &[1, 2] }, Tensor { name: "sum", shape: &[1, 1] }]);
}

#[test]
fn the_order_of_outputs_is_not_that_of_nodes() {
    let mut model = two_by_two();
    model.graph.as_mut().unwrap().output.reverse();
    let network = Interpreter::new(compile(&model).unwrap());
    assert_eq!(evaluate(&network, &X), [2.0, 0.0, 4.0]);
}

/// An input that no output reads is still in the list, and an output may be constant.
#[test]
fn unread_inputs_and_constant_outputs_keep_their_places() {
    let mut model = two_by_two();
    let graph = model.graph.as_mut().unwrap();
    graph.input.insert(0, value("unread", &[1]));
    graph.node.push(node("Relu", &["w"], "constant"));
    graph.output.insert(1, ValueInfoProto { name: "constant".into(), r#type: None });
    let network = Interpreter::new(compile(&model).unwrap());
    assert_eq!(evaluate(&network, &[&[7.0], &X[..]].concat()), [0.0, 4.0, 10.0, 1.0, 2.0]);
}

#[test]
fn leading_dimensions_without_a_size_are_a_batch() {
    let relu = |dims: &[i64]| model(13, value("x", dims), vec![], vec![node("Relu", &["x"], "y")]);
    let read = |dims: &[i64]| read_as(&relu(dims).encode_to_vec(), "test.onnx");
    let shape = |dims: &[i64]| read(dims).map(|model| model.graph.values[model.graph.input].shape.clone());
    assert_eq!(shape(&[0, 3]).unwrap(), [1, 3]);
    assert_eq!(shape(&[0, 0, 3]).unwrap(), [1, 1, 3]);
    assert_eq!(shape(&[0]).unwrap(), [1]);
    for (dims, open) in [(&[3, 0][..], 1), (&[0, 3, 0], 2), (&[0, 0], 1)] {
        let text = shape(dims).unwrap_err().to_string();
        assert!(text.contains(&format!("no fixed size in dimension {open}")), "{dims:?}: {text}");
    }
    assert!(read(&[0, 3]).unwrap().notes.is_empty());
    let net = normalise(read(&[0, 0, 3]).unwrap(), |_, _| {}).unwrap();
    assert!(net.notes[0].contains("2 leading dimensions without a size"), "{:?}", net.notes);
}

/// The same model declared in two orders, and a property that names its tensors: the verdict is the same.
#[test]
fn a_generated_verifier_knows_the_names() {
    let dir = tempfile::tempdir().unwrap();
    let property = |names: [&str; 4]| {
        let [a, b, twice, sum] = names;
        format!(
            "(vnnlib-version <2.0>)
            (declare-network N (declare-input B Real [2,1] {b}) (declare-input A Real [1,2] {a})
                (declare-output S Real [1,1] {sum}) (declare-output T Real [1,2] {twice}))
            (assert (and (== B[0,0] 3) (== B[1,0] -4) (== A[0,0] 1) (== A[0,1] -2)))
            (assert (and (<= T[0,0] 0) (>= T[0,1] 4) (== S[0,0] 2)))"
        )
    };
    fs::write(dir.path().join("two.onnx"), two_by_two().encode_to_vec()).unwrap();
    let verifier = Verifier::build(&dir.path().join("two.onnx"), &dir.path().join("crate"));
    let ask = |text: String| {
        let path = dir.path().join("p.vnnlib");
        fs::write(&path, text).unwrap();
        let output = Command::new(&verifier.binary).arg("verify").arg(path).output().unwrap();
        let lines = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        (output.status.code(), lines)
    };
    let (code, [witness, _]) = ask(property(["\"a\"", "\"b\"", "\"twice\"", "\"sum\""]));
    assert_eq!(code, Some(1));
    assert_eq!(witness, "sat\n((X_0 1.0)\n(X_1 -2.0)\n(X_2 3.0)\n(X_3 -4.0)\n(Y_0 0.0)\n(Y_1 4.0)\n(Y_2 2.0))\n");
    let (code, [_, message]) = ask(property([""; 4]));
    assert_eq!(code, Some(4), "in the order of the model the shapes do not fit");
    assert!(message.contains("S has 1 elements, and the network's output `twice` has 2"), "{message}");
    assert_eq!(verifier.eval(&X, 4), Y);
}
