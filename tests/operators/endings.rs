//! The operators that end a classifier: Softmax, LogSoftmax, Sigmoid and ArgMax are cut.

use super::{numbers, weights};
use pg_codegen::interpret::Interpreter;
use pg_codegen::net::Net;
use pg_codegen::read::onnx::proto::NodeProto;
use pg_core::Ending;
use pg_tests::model::*;

/// Scores of the given shape, made from two inputs, and the nodes that end the model.
fn ended(opset: i64, shape: &[i64], ends: Vec<NodeProto>) -> ModelProto {
    let classes = shape.iter().product();
    let nodes = vec![node("MatMul", &["x", "w"], "m"), node("Relu", &["m"], "h"), node("Reshape", &["h", "s"], "z")];
    let constants = vec![weights("w", &[2, classes]), integers("s", shape)];
    model(opset, value("x", &[1, 2]), constants, [nodes, ends].concat())
}

fn read(opset: i64, shape: &[i64], ends: Vec<NodeProto>) -> Net {
    compile(&ended(opset, shape, ends)).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn endings_are_cut() {
    let axis = |axis| vec![int("axis", axis)];
    let cases = [
        (13, vec![node("Softmax", &["z"], "y")], Ending::Softmax),
        (9, vec![node("Softmax", &["z"], "y")], Ending::Softmax),
        (13, vec![with("LogSoftmax", &["z"], "y", axis(1))], Ending::LogSoftmax),
        (13, vec![node("Sigmoid", &["z"], "y")], Ending::Sigmoid),
        (13, vec![with("ArgMax", &["z"], "y", axis(-1))], Ending::ArgMax),
        (13, vec![node("Softmax", &["z"], "p"), with("ArgMax", &["p"], "y", axis(1))], Ending::ArgMax),
        (13, vec![node("Softmax", &["z"], "p"), node("Flatten", &["p"], "y")], Ending::Softmax),
        (
            13,
            vec![node("Softmax", &["z"], "p"), node("Squeeze", &["p"], "q"), node("Identity", &["q"], "y")],
            Ending::Softmax,
        ),
        (13, vec![node("Identity", &["z"], "y")], Ending::None),
    ];
    for (opset, ends, ending) in cases {
        let text = format!("{ends:#?}");
        let net = read(opset, &[1, 3], ends);
        assert_eq!((net.source.ending, net.outputs()), (ending, 3), "{text}");
        let noted = net.notes.iter().any(|note| note.contains("which is cut"));
        assert_eq!(noted, ending != Ending::None, "{:?}", net.notes);
        let network = Interpreter::new(net);
        let w = numbers("w", &[2, 3]);
        let scores: Vec<f32> = (0..3).map(|j| (0.5 * w[j] - 0.25 * w[3 + j]).max(0.0)).collect();
        assert!(pg_tests::relative_difference(&scores, &pg_tests::evaluate(&network, &[0.5, -0.25])) < 1e-6);
    }
}

/// Only where it takes all scores as one vector of classes.
#[test]
fn the_axis_has_to_hold_all_classes() {
    let along = |op: &str, axis| with(op, &["z"], "y", vec![int("axis", axis)]);
    for (opset, shape, end) in [
        (13, [1, 3, 1], along("Softmax", 1)),
        (13, [3, 1, 1], along("Softmax", -3)),
        (12, [1, 3, 2], along("Softmax", 1)),
        (12, [1, 1, 6], along("LogSoftmax", -1)),
        (13, [2, 3, 4], node("Sigmoid", &["z"], "y")),
        (13, [6, 1, 1], node("ArgMax", &["z"], "y")),
    ] {
        assert_ne!(read(opset, &shape, vec![end]).source.ending, Ending::None);
    }
    for (opset, shape, end) in [
        (13, [1, 3, 2], along("Softmax", 1)),
        (13, [2, 1, 3], node("Softmax", &["z"], "y")),
        (13, [1, 3, 1], along("Softmax", 3)),
        (12, [2, 3, 1], along("Softmax", 1)),
        (13, [1, 6, 1], node("ArgMax", &["z"], "y")),
    ] {
        let text = compile(&ended(opset, &shape, vec![end])).unwrap_err().to_string();
        assert!(text.contains("to y' (") && text.contains("does not hold all classes"), "{text}");
    }
    let last = with("ArgMax", &["z"], "y", vec![int("axis", 1), int("select_last_index", 1)]);
    let text = compile(&ended(13, &[1, 3], vec![last])).unwrap_err().to_string();
    assert!(text.contains("select_last_index"), "{text}");
}

/// Elsewhere they are operators that are not supported.
#[test]
fn only_the_end_is_cut() {
    let refused = |model: &ModelProto| compile(model).unwrap_err().to_string();
    let inside = ended(13, &[1, 3], vec![node("Softmax", &["z"], "p"), node("Relu", &["p"], "y")]);
    assert!(refused(&inside).contains("(Softmax, opset 13)"));
    let twice = ended(13, &[1, 3], vec![node("Softmax", &["z"], "p"), node("Softmax", &["p"], "y")]);
    assert!(refused(&twice).contains("'Softmax to p' (Softmax, opset 13)"));
    let mut both = ended(13, &[1, 3], vec![node("Softmax", &["z"], "y")]);
    both.graph.as_mut().unwrap().output.push(value("z", &[1, 3]));
    assert!(refused(&both).contains("(Softmax, opset 13)"), "one of two outputs");
    let mut foreign = ended(13, &[1, 3], vec![node("Softmax", &["z"], "y")]);
    foreign.graph.as_mut().unwrap().node.last_mut().unwrap().domain = "mine".into();
    assert!(refused(&foreign).contains("'mine'"));
    let cycle = ended(13, &[1, 3], vec![node("Identity", &["y"], "q"), node("Identity", &["q"], "y")]);
    assert!(refused(&cycle).contains("cycle"));
    let argmax = |from: &str, to: &str| with("ArgMax", &[from], to, vec![int("axis", 1)]);
    let cycle = ended(13, &[1, 3], vec![node("Sigmoid", &["q"], "p"), node("Sigmoid", &["p"], "q"), argmax("q", "y")]);
    assert!(refused(&cycle).contains("cycle"));
}
