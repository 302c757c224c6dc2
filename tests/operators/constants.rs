//! Constants and their types: Constant, Cast, and arithmetic of integers.

use super::{agrees, numbers, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, DataType, TensorProto};
use pg_tests::model::*;

#[test]
fn cast() {
    let to = |element: DataType| vec![int("to", element as i64)];
    let nodes = vec![
        with("Cast", &["x"], "d", to(DataType::Double)),
        node("MatMul", &["d", "w"], "z"),
        with("Cast", &["z"], "y", to(DataType::Float)),
    ];
    let wide: Vec<f64> = numbers("w", &[3, 2]).iter().map(|&v| f64::from(v) / 3.0).collect();
    agrees(&model(13, value("x", &[1, 3]), vec![doubles("w", &[3, 2], &wide)], nodes));
    let nodes = vec![with("Cast", &["i"], "c", to(DataType::Float)), node("Mul", &["x", "c"], "y")];
    agrees(&model(9, value("x", &[3]), vec![integers("i", &[3, -4, 5])], nodes));
    let nodes = vec![with("Cast", &["f"], "c", to(DataType::Int64)), node("Reshape", &["x", "c"], "y")];
    agrees(&model(9, value("x", &[4]), vec![floats("f", &[2], &[2.0, 2.0])], nodes));
    refused(&single(13, &[3], with("Cast", &["x"], "y", to(DataType::Int32)), vec![]), "integers");
    refused(&single(13, &[3], with("Cast", &["x"], "y", to(DataType::Float16)), vec![]), "Float16");
}

/// A Cast rounds a constant: 2²⁴ + 1 becomes 2²⁴.
#[test]
fn cast_rounds_constants() {
    let large = (1 << 24) + 1;
    let narrow = vec![int("to", DataType::Float as i64)];
    for wide in [integers("i", &[large]), doubles("i", &[1], &[large as f64])] {
        let constants = vec![wide, floats("c", &[1], &[(1 << 24) as f32])];
        let nodes = vec![
            with("Cast", &["i"], "f", narrow.clone()),
            node("Sub", &["f", "c"], "d"),
            node("Add", &["x", "d"], "y"),
        ];
        agrees(&model(13, value("x", &[2]), constants, nodes));
    }
}

#[test]
fn integers_are_not_divided_like_floats() {
    let constants = vec![integers("a", &[7]), integers("b", &[2])];
    let nodes = vec![
        node("Div", &["a", "b"], "c"),
        with("Cast", &["c"], "f", vec![int("to", DataType::Float as i64)]),
        node("Mul", &["x", "f"], "y"),
    ];
    refused(&model(13, value("x", &[2]), constants, nodes), "integers");
}

#[test]
fn constant_in_its_forms() {
    let constant = |attribute| with("Constant", &[], "c", vec![attribute]);
    let forms = [
        tensor("value", weights("", &[2, 3])),
        float("value_float", 0.75),
        float_list("value_floats", &[0.5, -1.0, 2.0]),
    ];
    for form in forms {
        let nodes = vec![constant(form), node("Mul", &["x", "c"], "y")];
        agrees(&model(13, value("x", &[2, 3]), vec![], nodes));
    }
    let nodes = vec![constant(ints("value_ints", &[3, -1])), node("Reshape", &["x", "c"], "y")];
    agrees(&model(13, value("x", &[2, 3]), vec![], nodes));
    let nodes = vec![constant(int("value_int", 6)), node("Flatten", &["x"], "z"), node("Identity", &["z"], "y")];
    agrees(&model(13, value("x", &[2, 3]), vec![], nodes));
    let raw_data = numbers("raw", &[2, 3]).iter().flat_map(|v| v.to_le_bytes()).collect();
    let raw = TensorProto { float_data: vec![], raw_data, ..weights("", &[2, 3]) };
    agrees(&model(7, value("x", &[2, 3]), vec![], vec![constant(tensor("value", raw)), node("Add", &["x", "c"], "y")]));
    let text = AttributeProto { name: "value_string".into(), ..Default::default() };
    refused(&model(13, value("x", &[2]), vec![], vec![constant(text), node("Add", &["x", "c"], "y")]), "value_string");
}
