//! Constants and their types: Constant, Cast, and the operators that exporters leave of computations with shapes.

use super::{agrees, computes, numbers, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, DataType, NodeProto, TensorProto};
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
    refused(&single(13, &[3], with("Cast", &["x"], "y", to(DataType::String)), vec![]), "String");
    refused(&single(13, &[3], with("Cast", &["x"], "y", to(DataType::Bool)), vec![]), "truth");
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
    let mixed = node("Add", &["x", "i"], "y");
    refused(&single(13, &[2], mixed, vec![integers("i", &[1])]), "integers");
    computes(&to_byte(255), &[2], |x| x.iter().map(|x| x * 255.0).collect());
    refused(&to_byte(256), "fit");
    refused(&to_byte(-1), "fit");
}

/// Towards zero to integers; to a truth value, all but 0 is true.
#[test]
fn cast_of_constants_to_integers_and_truth_values() {
    let numbers = || vec![floats("f", &[5], &[2.5, -2.5, 0.0, 3.0, 0.25])];
    for (element, expected) in
        [(DataType::Int64, [2.0, -2.0, 0.0, 3.0, 0.0]), (DataType::Bool, [1.0, 1.0, 0.0, 1.0, 1.0])]
    {
        let nodes = vec![
            with("Cast", &["f"], "i", vec![int("to", element as i64)]),
            with("Cast", &["i"], "c", vec![int("to", DataType::Float as i64)]),
            node("Add", &["x", "c"], "y"),
        ];
        let sum = |x: &[f32]| expected.iter().map(|v| x[0] + v).collect();
        computes(&model(13, value("x", &[1]), numbers(), nodes), &[5], sum);
    }
    let nodes =
        vec![with("Cast", &["f"], "i", vec![int("to", DataType::Int64 as i64)]), node("Gather", &["x", "i"], "y")];
    let close = vec![floats("f", &[1], &[0.999_999_94])];
    refused(&model(13, value("x", &[2]), close, nodes), "rounding");
}

#[test]
fn cast_like_takes_the_type_of_its_second_input() {
    let nodes = vec![node("CastLike", &["f", "i"], "s"), node("Gather", &["x", "s"], "y")];
    let constants = vec![floats("f", &[2], &[1.75, 0.0]), integers("i", &[7])];
    computes(&model(15, value("x", &[2]), constants, nodes), &[2], |x| vec![x[1], x[0]]);
    let nodes = vec![node("CastLike", &["i", "x"], "f"), node("Mul", &["x", "f"], "y")];
    computes(&model(15, value("x", &[2]), vec![integers("i", &[3])], nodes), &[2], |x| vec![3.0 * x[0], 3.0 * x[1]]);
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

/// The constant that `nodes` name `c`, as an exporter's chain would make it, is added to the input.
fn makes(opset: i64, constants: Vec<TensorProto>, nodes: Vec<NodeProto>, expected: &[f32]) {
    let float = vec![int("to", DataType::Float as i64)];
    let nodes = [nodes, vec![with("Cast", &["c"], "f", float), node("Add", &["x", "f"], "y")]].concat();
    let sum = |x: &[f32]| expected.iter().map(|v| x[0] + v).collect();
    let model = model(opset, value("x", &[1]), constants, nodes);
    let (_, shape, ..) = super::ours(&model);
    computes(&model, &shape, sum);
}

#[test]
fn arithmetic_of_constants() {
    let halves = || vec![floats("a", &[4], &[1.5, -1.5, 2.0, 0.25])];
    makes(13, halves(), vec![node("Floor", &["a"], "c")], &[1.0, -2.0, 2.0, 0.0]);
    makes(13, halves(), vec![node("Ceil", &["a"], "c")], &[2.0, -1.0, 2.0, 1.0]);
    makes(13, halves(), vec![node("Reciprocal", &["a"], "c")], &[1.0 / 1.5, -1.0 / 1.5, 0.5, 4.0]);
    makes(13, vec![floats("a", &[2], &[4.0, 2.0])], vec![node("Sqrt", &["a"], "c")], &[2.0, 2f32.sqrt()]);
    for (exponent, expected) in [(1.0, [3.0, 2.0]), (2.0, [9.0, 4.0]), (-1.0, [1.0 / 3.0, 0.5]), (0.0, [1.0, 1.0])] {
        let constants = vec![floats("a", &[2], &[3.0, 2.0]), floats("e", &[], &[exponent])];
        makes(13, constants, vec![node("Pow", &["a", "e"], "c")], &expected);
    }
    let integers = || vec![integers("a", &[7, -7, 6]), integers("b", &[4])];
    makes(13, integers(), vec![node("Mod", &["a", "b"], "c")], &[3.0, 1.0, 2.0]);
    makes(13, integers(), vec![with("Mod", &["a", "b"], "c", vec![int("fmod", 1)])], &[3.0, -3.0, 2.0]);
    makes(13, integers(), vec![node("Mul", &["a", "b"], "c")], &[28.0, -28.0, 24.0]);
    makes(13, integers(), vec![node("ReduceSum", &["a"], "c")], &[6.0]);
    for (op, why) in [("Floor", "computed value"), ("Reciprocal", "computed value"), ("Not", "computed value")] {
        refused(&single(13, &[2], node(op, &["x"], "y"), vec![]), why);
    }
    let zero = vec![floats("z", &[1], &[0.0])];
    let nodes = vec![node("Reciprocal", &["z"], "c"), node("Add", &["x", "c"], "y")];
    refused(&model(13, value("x", &[1]), zero, nodes), "divides by zero");
}

#[test]
fn comparisons_of_constants() {
    let constants = || vec![floats("a", &[3], &[1.0, 2.0, 3.0]), floats("b", &[], &[2.0])];
    let comparisons = [
        ("Equal", [0.0, 1.0, 0.0]),
        ("Less", [1.0, 0.0, 0.0]),
        ("LessOrEqual", [1.0, 1.0, 0.0]),
        ("Greater", [0.0, 0.0, 1.0]),
        ("GreaterOrEqual", [0.0, 1.0, 1.0]),
    ];
    for (op, expected) in comparisons {
        makes(16, constants(), vec![node(op, &["a", "b"], "c")], &expected);
    }
    let pairs = || vec![node("Less", &["a", "b"], "l"), node("Equal", &["a", "b"], "e")];
    makes(16, constants(), [pairs(), vec![node("Or", &["l", "e"], "c")]].concat(), &[1.0, 1.0, 0.0]);
    makes(16, constants(), [pairs(), vec![node("And", &["l", "e"], "c")]].concat(), &[0.0; 3]);
    makes(16, constants(), [pairs(), vec![node("Not", &["l"], "c")]].concat(), &[0.0, 1.0, 1.0]);
    refused(&single(13, &[2], node("Less", &["x", "x"], "y"), vec![]), "computed value");
}

#[test]
fn shapes_are_constants() {
    let of_input = |attributes: Vec<AttributeProto>, expected: &[f32]| {
        let constants = vec![weights("a", &[2, 3, 4])];
        makes(15, constants, vec![with("Shape", &["a"], "c", attributes)], expected);
    };
    of_input(vec![], &[2.0, 3.0, 4.0]);
    of_input(vec![int("start", 1)], &[3.0, 4.0]);
    of_input(vec![int("start", -3), int("end", -1)], &[2.0, 3.0]);
    makes(13, vec![weights("a", &[2, 3])], vec![node("Size", &["a"], "c")], &[6.0]);
    let seven = tensor("value", integers("", &[7]));
    makes(13, vec![integers("s", &[2])], vec![with("ConstantOfShape", &["s"], "c", vec![seven])], &[7.0, 7.0]);
    makes(13, vec![integers("s", &[2])], vec![node("ConstantOfShape", &["s"], "c")], &[0.0, 0.0]);
    let ends = || [("a", 2), ("b", 9), ("d", 3)].map(|(name, v)| TensorProto { dims: vec![], ..integers(name, &[v]) });
    makes(13, ends().to_vec(), vec![node("Range", &["a", "b", "d"], "c")], &[2.0, 5.0, 8.0]);
}

/// As exporters write `x.view(x.size(0), -1)`, and a shape of halves.
#[test]
fn chains_that_compute_shapes() {
    let nodes = vec![
        node("Shape", &["x"], "s"),
        node("Gather", &["s", "zero"], "n"),
        with("Unsqueeze", &["n"], "u", vec![ints("axes", &[0])]),
        with("Concat", &["u", "rest"], "t", vec![int("axis", 0)]),
        node("Reshape", &["x", "t"], "y"),
    ];
    let zero = TensorProto { dims: vec![], ..integers("zero", &[0]) };
    agrees(&model(11, value("x", &[2, 3, 4]), vec![zero, integers("rest", &[-1])], nodes));
    let nodes = vec![
        node("Shape", &["x"], "s"),
        with("Cast", &["s"], "f", vec![int("to", DataType::Float as i64)]),
        node("Mul", &["f", "half"], "h"),
        node("Floor", &["h"], "l"),
        with("Cast", &["l"], "i", vec![int("to", DataType::Int64 as i64)]),
        node("Slice", &["x", "starts", "i"], "y"),
    ];
    let constants = vec![floats("half", &[1], &[0.5]), integers("starts", &[0, 0])];
    computes(&model(13, value("x", &[2, 5]), constants, nodes), &[1, 2], |x| vec![x[0], x[1]]);
}

#[test]
fn constants_beyond_reason_are_refused() {
    let huge = vec![integers("s", &[1 << 40])];
    let nodes = vec![node("ConstantOfShape", &["s"], "c"), node("Add", &["x", "c"], "y")];
    refused(&model(13, value("x", &[1]), huge, nodes), "more than");
    let ends =
        [("a", 0), ("b", 1 << 40), ("d", 1)].map(|(name, v)| TensorProto { dims: vec![], ..integers(name, &[v]) });
    let nodes = vec![node("Range", &["a", "b", "d"], "c"), node("Add", &["x", "c"], "y")];
    refused(&model(13, value("x", &[1]), ends.to_vec(), nodes), "more than");
}
