//! Files that are broken or meant to break something: a clear error each time, never a panic, never much memory.

use pg_codegen::read::Format;
use pg_codegen::read::onnx::proto::*;
use pg_tests::model::{compile_bytes as compile, floats, model, node, value};
use pg_tests::{Random, shipped};
use prost::Message;

fn error(model: &ModelProto) -> String {
    compile(&model.encode_to_vec()).expect_err("a broken model").to_string()
}

/// y = w·relu(x) for two inputs.
fn small() -> ModelProto {
    let nodes = vec![node("Relu", &["x"], "h"), node("MatMul", &["h", "w"], "y")];
    model(13, value("x", &[1, 2]), vec![floats("w", &[2, 1], &[1.0, 2.0])], nodes)
}

fn with(change: impl FnOnce(&mut GraphProto)) -> ModelProto {
    let mut model = small();
    change(model.graph.as_mut().unwrap());
    model
}

#[test]
fn the_base_model_is_sound() {
    let net = compile(&small().encode_to_vec()).unwrap();
    assert_eq!((net.inputs, net.stages[0].width(), net.outputs()), (2, 2, 1));
    assert!(matches!(net.source.format, Format::Onnx { opset: 13, .. }));
}

/// Cutting between two whole fields can leave a smaller valid model; anything else must be refused.
#[test]
fn every_truncation_is_an_error_or_a_model() {
    for name in ["control.onnx", "digits_16.onnx"] {
        let bytes = std::fs::read(shipped(name)).unwrap();
        let accepted = (0..bytes.len()).filter(|&len| compile(&bytes[..len]).is_ok()).count();
        assert_eq!(accepted, 0, "{name}: the graph comes before the opset, so no prefix is whole");
    }
}

#[test]
fn flipped_bits_never_panic() {
    let original = std::fs::read(shipped("control.onnx")).unwrap();
    let mut random = Random::new(7);
    for _ in 0..20_000 {
        let mut bytes = original.clone();
        for _ in 0..=random.bits() % 3 {
            let at = random.bits() as usize % bytes.len();
            bytes[at] = random.bits() as u8;
        }
        let _ = compile(&bytes);
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Random::new(8);
    for _ in 0..20_000 {
        let len = random.bits() as usize % 200;
        let bytes: Vec<u8> = (0..len).map(|_| random.bits() as u8).collect();
        assert!(compile(&bytes).is_err());
    }
}

#[test]
fn nested_groups_do_not_exhaust_the_stack() {
    assert!(compile(&[0x0b].repeat(2_000_000)).is_err(), "two million open groups");
    let mut message = vec![];
    for _ in 0..10_000 {
        let mut outer = vec![0x3a];
        prost::encoding::encode_varint(message.len() as u64, &mut outer);
        outer.extend(message);
        message = outer;
    }
    assert!(compile(&message).is_err(), "ten thousand nested messages");
}

#[test]
fn declared_sizes_are_not_believed() {
    let huge = |dims: &[i64]| with(|g| g.initializer[0].dims = dims.to_vec());
    assert!(error(&huge(&[1 << 40, 1 << 40])).contains("does not fit"));
    assert!(error(&huge(&[-2, 1])).contains("negative"));
    assert!(error(&with(|g| g.input[0] = value("x", &[1, 1 << 40]))).contains("more than"));
    assert!(error(&with(|g| g.input[0] = value("x", &[1 << 62, 1 << 62]))).contains("more than"));
    assert!(error(&with(|g| g.input[0] = value("x", &[1, 0]))).contains("no fixed size"));
    assert!(error(&with(|g| g.input[0] = value("x", &[1, 3]))).contains("do not multiply"));
}

/// Each step multiplies the size by a thousand: the third is refused before it is made.
#[test]
fn broadcasting_cannot_blow_up() {
    let model = with(|g| {
        g.input[0] = value("x", &[4096, 1]);
        g.initializer[0] = floats("w", &[1, 1 << 20], &vec![1.0; 1 << 20]);
        g.node = vec![node("Add", &["x", "w"], "y")];
    });
    assert!(error(&model).contains("more than"));
}

#[test]
fn weights_must_be_finite() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let text = error(&with(|g| g.initializer[0].float_data[1] = bad));
        assert!(text.contains("'w'") && text.contains("entry 1") && text.contains("finite"), "{text}");
    }
    let overflow = with(|g| {
        g.initializer = vec![floats("w", &[2, 1], &[3e38, 3e38]), floats("c", &[1], &[1e38])];
        g.node[1].output[0] = "z".into();
        g.node.push(node("Mul", &["z", "c"], "y"));
    });
    assert!(error(&overflow).contains("float32"));
    let division = with(|g| {
        g.initializer.push(floats("zero", &[1], &[0.0]));
        g.node[1].output[0] = "z".into();
        g.node.push(node("Div", &["z", "zero"], "y"));
    });
    assert!(error(&division).contains("divides by zero"));
}

#[test]
fn graphs_that_are_no_dag_are_refused() {
    assert!(error(&with(|g| g.node[0].input[0] = "y".into())).contains("cycle"));
    assert!(error(&with(|g| g.node[0].input[0] = "nowhere".into())).contains("'nowhere'"));
    assert!(error(&with(|g| g.node[0].output[0] = "y".into())).contains("computed twice"));
    assert!(error(&with(|g| g.node[0].output.clear())).contains("no output"));
    assert!(error(&with(|g| g.node[1].input[0] = "w".into())).contains("do not multiply"));
    assert!(error(&with(|g| g.output[0].name = "x".into())).contains("not computed"));
    assert!(error(&with(|g| g.output.clear())).contains("no output"));
    assert!(error(&with(|g| g.input.clear())).contains("no input"));
    assert!(error(&with(|g| g.input.push(value("x", &[1, 2])))).contains("the input 'x' is declared twice"));
    assert!(error(&with(|g| g.output.push(value("y", &[1])))).contains("the output 'y' is declared twice"));
    assert!(error(&with(|g| g.initializer.push(floats("w", &[1], &[1.0])))).contains("'w' is given twice"));
    let huge = with(|g| (0..9).for_each(|k| g.input.push(value(&format!("x{k}"), &[1 << 61]))));
    assert!(error(&huge).contains("more than"));
    let constant = with(|g| g.node = vec![node("Relu", &["w"], "y")]);
    assert!(error(&constant).contains("does not depend on the input"));
    let zero = with(|g| g.initializer[0].float_data = vec![0.0, 0.0]);
    assert!(error(&zero).contains("does not depend on the input"));
}

#[test]
fn everything_unsupported_is_reported_at_once() {
    let model = with(|g| {
        g.node = vec![node("Tanh", &["x"], "h"), node("Softmax", &["h"], "z"), node("Sin", &["z"], "y")];
    });
    let text = error(&model);
    for op in ["Tanh", "Softmax", "Sin"] {
        assert!(text.contains(&format!("({op}, opset 13)")), "{text}");
    }
    let mut old = small();
    old.opset_import[0].version = 6;
    assert!(error(&old).contains("opset 6"));
    old.opset_import.clear();
    assert!(error(&old).contains("no opset"));
    assert!(error(&with(|g| g.node[0].domain = "com.example".into())).contains("com.example"));
    assert!(error(&with(|g| g.initializer[0].data_type = DataType::String as i32)).contains("String"));
    assert!(error(&with(|g| g.initializer[0].data_location = EXTERNAL)).contains("another file, which is not named"));
    assert!(error(&with(|g| g.sparse_initializer.push(SparseTensorProto {}))).contains("sparse"));
}

#[test]
fn newer_formats_and_functions_of_a_model_are_refused() {
    let mut newest = small();
    newest.ir_version = 13;
    newest.opset_import[0].version = 25;
    assert!(compile(&newest.encode_to_vec()).is_ok());
    newest.ir_version = 14;
    assert!(error(&newest).contains("IR version 14; up to 13"));
    newest.ir_version = 13;
    newest.functions.push(FunctionProto { name: "Relu".into(), domain: "mine".into() });
    assert!(compile(&newest.encode_to_vec()).is_ok(), "nothing calls it");
    newest.graph.as_mut().unwrap().node[0].domain = "mine".into();
    let text = error(&newest);
    assert!(text.contains("node 'Relu to h' (Relu, opset 25): it calls 'mine.Relu', a function"), "{text}");
    newest.functions[0].domain = "ai.onnx".into();
    newest.graph.as_mut().unwrap().node[0].domain.clear();
    assert!(error(&newest).contains("a function that the model defines"), "the standard operator is overridden");
}

#[test]
fn a_missing_operand_is_an_error() {
    assert!(error(&with(|g| g.node[1].input.truncate(1))).contains("1 inputs"));
    assert!(error(&with(|g| g.node[0].input.clear())).contains("0 inputs"));
    assert!(error(&with(|g| g.node[1].input[0] = String::new())).contains("left out"));
}
