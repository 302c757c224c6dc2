//! A classifier that ends with Softmax or ArgMax: what may be asked about it, and what is printed.

mod common;

use common::{assert_refused, networks, run, shipped, stderr, stdout};
use pg_codegen::read::onnx::proto::{AttributeProto, AttributeType, ModelProto, NodeProto};
use prost::Message;
use std::fs;
use std::path::Path;

/// The controller, whose two outputs go through one more operator.
fn ended(dir: &Path, op: &str) -> String {
    let mut model = ModelProto::decode(&fs::read(networks().join("control.onnx")).unwrap()[..]).unwrap();
    let graph = model.graph.as_mut().unwrap();
    let scores = std::mem::replace(&mut graph.output[0].name, "ended".into());
    let axis =
        AttributeProto { name: "axis".into(), i: Some(1), r#type: AttributeType::Int as i32, ..Default::default() };
    graph.node.push(NodeProto {
        op_type: op.into(),
        input: vec![scores],
        output: vec!["ended".into()],
        attribute: vec![axis],
        ..Default::default()
    });
    let path = dir.join(format!("{op}.onnx"));
    fs::write(&path, model.encode_to_vec()).unwrap();
    path.display().to_string()
}

/// Counterexamples in the small box around 0 where the condition holds.
fn property(dir: &Path, condition: &str) -> String {
    let names = ["X_0", "X_1", "X_2", "X_3", "Y_0", "Y_1"].map(|name| format!("(declare-const {name} Real)\n"));
    let bound = |k| format!("(assert (>= X_{k} -0.01))\n(assert (<= X_{k} 0.01))\n");
    let path = dir.join("p.vnnlib");
    let text = names.concat() + &(0..4).map(bound).collect::<String>() + &format!("(assert {condition})\n");
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// The numbers after `Y_` in a witness.
fn outputs(witness: &str) -> Vec<f64> {
    let lines = witness.lines().filter(|line| line.contains("Y_"));
    lines.map(|line| line.split([' ', ')']).nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn comparisons_have_the_verdicts_of_the_scores() {
    let dir = tempfile::tempdir().unwrap();
    let (plain, softmax) = (shipped("control.onnx"), ended(dir.path(), "Softmax"));
    for condition in ["(<= Y_0 Y_1)", "(< Y_1 Y_0)"] {
        let asked = property(dir.path(), condition);
        let [scores, classes] = [&plain, &softmax].map(|net| run(&["verify", net, &asked]));
        assert_eq!(scores.status.code(), classes.status.code(), "{}", stderr(&classes));
        assert!(stderr(&classes).contains("note: the model ends with Softmax, which is cut"), "{}", stderr(&classes));
        if classes.status.code() == Some(1) {
            let found = outputs(&stdout(&classes));
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{found:?}");
        }
    }
}

#[test]
fn what_compares_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (softmax, argmax) = (ended(dir.path(), "Softmax"), ended(dir.path(), "ArgMax"));
    let bound = property(dir.path(), "(<= Y_0 0.5)");
    assert_refused(&[
        (&["verify", &softmax, &bound], "p.vnnlib: the network ends with Softmax, which is cut"),
        (&["verify", &argmax, &bound], "the network ends with ArgMax, which is cut"),
    ]);
}

#[test]
fn robust_asks_about_the_class() {
    let dir = tempfile::tempdir().unwrap();
    let image = dir.path().join("image.csv").display().to_string();
    fs::write(&image, "0.1,0.2,0,0").unwrap();
    let ask = |net: &str, eps: &str| run(&["robust", net, &image, "--eps", eps]);
    for eps in ["0.001", "2"] {
        let expected = ask(&shipped("control.onnx"), eps).status.code();
        for op in ["Softmax", "LogSoftmax", "Sigmoid", "ArgMax"] {
            let output = ask(&ended(dir.path(), op), eps);
            assert_eq!(output.status.code(), expected, "{op}: {}", stderr(&output));
            let count = if op == "ArgMax" { 1 } else { 2 };
            assert!(expected != Some(1) || outputs(&stdout(&output)).len() == count, "{}", stdout(&output));
        }
    }
}

#[test]
fn eval_prints_what_the_model_gives_out() {
    let dir = tempfile::tempdir().unwrap();
    let inputs = shipped("control_inputs.csv");
    let lines = |net: &str| {
        let output = run(&["eval", net, &inputs]);
        let row = |line: &str| line.split(',').map(|v| v.parse().unwrap()).collect();
        stdout(&output).lines().map(row).collect::<Vec<Vec<f64>>>()
    };
    let (softmax, argmax) = (lines(&ended(dir.path(), "Softmax")), lines(&ended(dir.path(), "ArgMax")));
    for ((scores, softmax), class) in lines(&shipped("control.onnx")).iter().zip(&softmax).zip(&argmax) {
        let sum: f64 = scores.iter().map(|z| z.exp()).sum();
        assert!(scores.iter().zip(softmax).all(|(z, y)| (z.exp() / sum - y).abs() < 1e-6), "{scores:?} {softmax:?}");
        assert_eq!(class[..], [if scores[0] >= scores[1] { 0.0 } else { 1.0 }]);
    }
}

#[test]
fn inspect_says_what_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let text = stdout(&run(&["inspect", &ended(dir.path(), "LogSoftmax")]));
    assert!(text.contains("note: the model ends with LogSoftmax, which is cut"), "{text}");
}
