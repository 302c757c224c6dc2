//! Constants and their types: Constant, Cast, and arithmetic of integers.

use super::{agrees, computes, numbers, refused, single, weights};
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
    refused(&single(13, &[3], with("Cast", &["x"], "y", to(DataType::Bool)), vec![]), "Bool");
}

/// Weights in 16 bits and what is computed with them: real numbers, but a Cast rounds a constant.
#[test]
fn sixteen_bits() {
    let to = |element: DataType| vec![int("to", element as i64)];
    let units = |count: f32, power: i32| count * 2f32.powi(power);
    let cases = [
        (DataType::Float16, 0x3c01, units(1025.0, -10), units(1638.0, -14)),
        (DataType::Bfloat16, 0x3f81, units(129.0, -7), units(205.0, -11)),
    ];
    for (half, bits, factor, tenth) in cases {
        let one_more = TensorProto { int32_data: vec![bits], ..typed("w", &[1], half) };
        let nodes = vec![
            with("Cast", &["x"], "h", to(half)),
            node("Mul", &["h", "w"], "p"),
            with("Cast", &["p"], "f", to(DataType::Float)),
            with("Cast", &["c"], "n", to(half)),
            with("Cast", &["n"], "r", to(DataType::Float)),
            node("Add", &["f", "r"], "y"),
        ];
        let model = model(13, value("x", &[2]), vec![one_more, floats("c", &[1], &[0.1])], nodes);
        computes(&model, &[2], |x| x.iter().map(|x| x * factor + tenth).collect());
    }
}

/// 100 + 100 is −56 in 8 bits.
#[test]
fn narrow_integers_do_not_wrap_unseen() {
    let sum = |number: i32| {
        let constant = TensorProto { int32_data: vec![number], ..typed("a", &[1], DataType::Int8) };
        let nodes = vec![
            node("Add", &["a", "a"], "s"),
            with("Cast", &["s"], "f", vec![int("to", DataType::Float as i64)]),
            node("Mul", &["x", "f"], "y"),
        ];
        model(14, value("x", &[2]), vec![constant], nodes)
    };
    computes(&sum(60), &[2], |x| x.iter().map(|x| x * 120.0).collect());
    refused(&sum(100), "integers");
    let to_byte = |number| {
        let nodes = vec![
            with("Cast", &["i"], "b", vec![int("to", DataType::Uint8 as i64)]),
            with("Cast", &["b"], "f", vec![int("to", DataType::Float as i64)]),
            node("Mul", &["x", "f"], "y"),
        ];
        model(13, value("x", &[2]), vec![integers("i", &[number])], nodes)
    };
    computes(&to_byte(255), &[2], |x| x.iter().map(|x| x * 255.0).collect());
    refused(&to_byte(256), "fit");
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
fn integers_divide_towards_zero() {
    for (a, b) in [(7, 2), (-7, 2), (6, -3), (0, 5)] {
        let constants = vec![integers("a", &[a]), integers("b", &[b])];
        let nodes = vec![
            node("Div", &["a", "b"], "c"),
            with("Cast", &["c"], "f", vec![int("to", DataType::Float as i64)]),
            node("Add", &["x", "f"], "y"),
        ];
        computes(&model(13, value("x", &[2]), constants, nodes), &[2], |x| {
            x.iter().map(|v| v + (a / b) as f32).collect()
        });
    }
    let large = |op| {
        let nodes = vec![node(op, &["a", "a"], "c"), node("Reshape", &["x", "c"], "y")];
        model(13, value("x", &[2]), vec![integers("a", &[1 << 40])], nodes)
    };
    refused(&large("Div"), "small integers");
    refused(&large("Mul"), "small constants");
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
