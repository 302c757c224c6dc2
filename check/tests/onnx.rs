//! Small models, written here byte by byte, against rows worked out by hand.

use pg_check::number::Dyadic;
use pg_check::onnx::{Network, Row};

fn varint(mut value: u64, into: &mut Vec<u8>) {
    while value >= 0x80 {
        into.push(value as u8 | 0x80);
        value >>= 7;
    }
    into.push(value as u8);
}

/// A message under construction.
#[derive(Clone, Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn int(mut self, field: u64, value: i64) -> Self {
        varint(field << 3, &mut self.0);
        varint(value as u64, &mut self.0);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        varint(field << 3 | 2, &mut self.0);
        varint(bytes.len() as u64, &mut self.0);
        self.0.extend(bytes);
        self
    }

    fn ints(self, field: u64, values: &[i64]) -> Self {
        values.iter().fold(self, |writer, &value| writer.int(field, value))
    }
}

/// A float32 by its bits, for integers and halves: the numbers of these tests.
fn float(halves: i32) -> u32 {
    let Some(leading) = halves.unsigned_abs().checked_ilog2() else { return 0 };
    let fraction = (halves.unsigned_abs() << (23 - leading)) & 0x7f_ffff;
    u32::from(halves < 0) << 31 | (126 + leading) << 23 | fraction
}

fn tensor(name: &str, shape: &[i64], halves: &[i32]) -> Vec<u8> {
    let raw: Vec<u8> = halves.iter().flat_map(|&halves| float(halves).to_le_bytes()).collect();
    Writer::default().ints(1, shape).int(2, 1).bytes(8, name.as_bytes()).bytes(9, &raw).0
}

fn integers(name: &str, values: &[i64]) -> Vec<u8> {
    Writer::default().int(1, values.len() as i64).int(2, 7).ints(7, values).bytes(8, name.as_bytes()).0
}

/// An attribute of this type.
fn attribute(name: &str, kind: i64) -> Writer {
    Writer::default().bytes(1, name.as_bytes()).int(20, kind)
}

fn node(operator: &str, inputs: &[&str], output: &str, attributes: &[Writer]) -> Vec<u8> {
    let inputs = inputs.iter().fold(Writer::default(), |writer, input| writer.bytes(1, input.as_bytes()));
    let node =
        inputs.bytes(2, output.as_bytes()).bytes(3, format!("the {output}").as_bytes()).bytes(4, operator.as_bytes());
    attributes.iter().fold(node, |writer, attribute| writer.bytes(5, &attribute.0)).0
}

/// A model with the input `x` of this shape, in which 0 stands for a dimension without a size, and the output `y`.
fn model(shape: &[i64], nodes: &[Vec<u8>], tensors: &[Vec<u8>]) -> Vec<u8> {
    let value = |name: &str, shape: &[i64]| {
        let dim =
            |&size: &i64| if size == 0 { Writer::default().bytes(2, b"N") } else { Writer::default().int(1, size) };
        let dims = shape.iter().fold(Writer::default(), |writer, size| writer.bytes(1, &dim(size).0));
        let typed = Writer::default().bytes(1, &Writer::default().int(1, 1).bytes(2, &dims.0).0);
        Writer::default().bytes(1, name.as_bytes()).bytes(2, &typed.0).0
    };
    let graph = nodes.iter().fold(Writer::default(), |writer, node| writer.bytes(1, node));
    let graph = tensors.iter().fold(graph, |writer, tensor| writer.bytes(5, tensor));
    let graph = graph.bytes(11, &value("x", shape)).bytes(12, &value("y", &[1]));
    Writer::default().int(1, 8).bytes(8, &Writer::default().int(2, 13).0).bytes(7, &graph.0).0
}

fn read(shape: &[i64], nodes: &[Vec<u8>], tensors: &[Vec<u8>]) -> Network {
    Network::read(&model(shape, nodes, tensors)).unwrap_or_else(|fault| panic!("{fault}"))
}

fn refusal(shape: &[i64], nodes: &[Vec<u8>], tensors: &[Vec<u8>]) -> String {
    Network::read(&model(shape, nodes, tensors)).expect_err("it is refused").0
}

fn halves(value: i32) -> Dyadic {
    Dyadic::new(value.into(), -1).expect("it fits")
}

/// An exact row, its numbers given in halves.
fn row(terms: &[(u32, i32)], bias: i32) -> Row {
    let terms = terms.iter().map(|&(variable, value)| (variable, halves(value))).collect();
    Row { terms, bias: halves(bias), ..Row::default() }
}

#[test]
fn gemm_and_relu_make_stages() {
    let nodes = [
        node("Gemm", &["x", "w", "b"], "z", &[attribute("transB", 2).int(3, 1)]),
        node("Relu", &["z"], "a", &[]),
        node("MatMul", &["a", "v"], "y", &[]),
    ];
    let tensors =
        [tensor("w", &[3, 2], &[2, 4, 0, 1, -3, 0]), tensor("b", &[3], &[1, 0, -5]), tensor("v", &[3, 1], &[2, 0, 6])];
    let network = read(&[0, 2], &nodes, &tensors);
    assert_eq!((network.inputs, network.stages.len()), (2, 2));
    assert_eq!((&*network.stages[0].name, &*network.stages[1].name), ("the a", "y"));
    assert_eq!(network.stages[0].rows, [row(&[(0, 2), (1, 4)], 1), row(&[(1, 1)], 0), row(&[(0, -3)], -5)]);
    assert_eq!(network.stages[1].rows, [row(&[(2, 2), (4, 6)], 0)]);
    assert_eq!(network.read_neurons(0), [0, 2]);
    assert_eq!(network.read_neurons(1), [0usize; 0]);
}

#[test]
fn affine_operators_compose_and_what_cancels_is_dropped() {
    let nodes = [
        node("Mul", &["x", "two"], "a", &[]),
        node("Sub", &["a", "x"], "b", &[]),
        node("Sub", &["b", "x"], "c", &[]),
        node("Neg", &["b"], "d", &[]),
        node("Sum", &["c", "d", "one"], "e", &[]),
        node("Concat", &["e", "c"], "y", &[attribute("axis", 2).int(3, -1)]),
    ];
    let network = read(&[1, 2], &nodes, &[tensor("two", &[], &[4]), tensor("one", &[1, 2], &[2, 1])]);
    assert_eq!(network.stages.len(), 1);
    assert_eq!(network.stages[0].rows, [row(&[(0, -2)], 2), row(&[(1, -2)], 1), row(&[], 0), row(&[], 0)]);
}

#[test]
fn a_relu_at_the_end_is_followed_by_the_identity() {
    let network = read(&[1, 2], &[node("Relu", &["x"], "y", &[])], &[]);
    assert_eq!(network.stages.len(), 2);
    assert_eq!(network.stages[1].rows, [Row::variable(2), Row::variable(3)]);
}

#[test]
fn a_relu_of_constants_makes_no_stage() {
    let nodes = [node("Relu", &["c"], "d", &[]), node("Add", &["x", "d"], "y", &[])];
    let network = read(&[1, 2], &nodes, &[tensor("c", &[2], &[-3, 5])]);
    assert_eq!(network.stages.len(), 1);
    assert_eq!(network.stages[0].rows, [row(&[(0, 2)], 0), row(&[(1, 2)], 5)]);
}

#[test]
fn convolution_pads_strides_and_groups() {
    let plain = [node(
        "Conv",
        &["x", "w", "b"],
        "y",
        &[attribute("pads", 7).ints(8, &[1, 0]), attribute("strides", 7).ints(8, &[2])],
    )];
    let network = read(&[1, 1, 4], &plain, &[tensor("w", &[1, 1, 3], &[2, 4, 6]), tensor("b", &[1], &[1])]);
    assert_eq!(network.stages[0].rows, [row(&[(0, 4), (1, 6)], 1), row(&[(1, 2), (2, 4), (3, 6)], 1)]);

    let grouped = [node("Conv", &["x", "w"], "y", &[attribute("group", 2).int(3, 2)])];
    let network = read(&[1, 2, 1, 2], &grouped, &[tensor("w", &[2, 1, 1, 1], &[2, 4])]);
    assert_eq!(network.stages[0].rows, [row(&[(0, 2)], 0), row(&[(1, 2)], 0), row(&[(2, 4)], 0), row(&[(3, 4)], 0)]);

    let dilated = [node("Conv", &["x", "w"], "y", &[attribute("dilations", 7).ints(8, &[2, 1])])];
    let network = read(&[1, 1, 3, 1], &dilated, &[tensor("w", &[1, 1, 2, 1], &[2, 4])]);
    assert_eq!(network.stages[0].rows, [row(&[(0, 2), (2, 4)], 0)]);

    for (padding, first) in [("SAME_UPPER", vec![(0, 2), (1, 4)]), ("SAME_LOWER", vec![(0, 4)])] {
        let same = [node("Conv", &["x", "w"], "y", &[attribute("auto_pad", 3).bytes(4, padding.as_bytes())])];
        let network = read(&[1, 1, 3], &same, &[tensor("w", &[1, 1, 2], &[2, 4])]);
        assert_eq!(network.stages[0].rows.len(), 3);
        assert_eq!(network.stages[0].rows[0], row(&first, 0), "{padding}");
    }
}

#[test]
fn elements_are_moved_where_they_belong() {
    let turned = [
        node("Transpose", &["x"], "t", &[attribute("perm", 7).ints(8, &[0, 2, 1])]),
        node("Reshape", &["t", "s"], "y", &[]),
    ];
    let network = read(&[1, 2, 3], &turned, &[integers("s", &[0, -1])]);
    let order: Vec<u32> = network.stages[0].rows.iter().map(|row| row.terms[0].0).collect();
    assert_eq!(order, [0, 3, 1, 4, 2, 5]);

    let picked = [
        node("Slice", &["x", "from", "to", "axes", "step"], "s", &[]),
        node("Gather", &["s", "which"], "g", &[attribute("axis", 2).int(3, 1)]),
        node("Squeeze", &["g"], "q", &[]),
        node("Unsqueeze", &["q", "zero"], "y", &[]),
    ];
    let tensors = [
        integers("from", &[-5]),
        integers("to", &[i64::MAX]),
        integers("axes", &[1]),
        integers("step", &[2]),
        integers("which", &[-1, 0]),
        integers("zero", &[0]),
    ];
    assert_eq!(read(&[1, 6], &picked, &tensors).stages[0].rows, [Row::variable(5), Row::variable(1)]);
}

#[test]
fn a_shape_that_is_computed_is_constant() {
    let nodes = [
        node("Shape", &["x"], "s", &[]),
        node("Gather", &["s", "zero"], "g", &[]),
        node("Concat", &["g", "rest"], "c", &[attribute("axis", 2).int(3, 0)]),
        node("Reshape", &["x", "c"], "r", &[]),
        node("MatMul", &["r", "w"], "y", &[]),
    ];
    let tensors = [integers("zero", &[0]), integers("rest", &[-1]), tensor("w", &[4, 1], &[2, 2, 2, 2])];
    assert_eq!(read(&[0, 2, 2], &nodes, &tensors).stages[0].rows[0].terms.len(), 4);
}

#[test]
fn division_is_exact_or_carries_its_error() {
    let network = read(&[1, 2], &[node("Div", &["x", "d"], "y", &[])], &[tensor("d", &[2], &[8, 6])]);
    let [exact, rounded] = &network.stages[0].rows[..] else { panic!("two rows") };
    assert_eq!(*exact, Row { terms: vec![(0, Dyadic { mantissa: 1, exponent: -2 })], ..Row::default() });
    let third = rounded.terms[0].1;
    let three = halves(6);
    let distance = third.mul(three).and_then(|one| one.add(Dyadic::ONE.neg())).expect("it fits").abs();
    assert!(!distance.is_zero() && distance <= rounded.term_error.mul(three).expect("it fits"));
    assert!(rounded.term_error < Dyadic { mantissa: 1, exponent: -95 } && rounded.bias_error.is_zero());

    let nodes = [node("Div", &["x", "d"], "a", &[]), node("MatMul", &["a", "w"], "y", &[])];
    let network = read(&[1, 2], &nodes, &[tensor("d", &[1], &[6]), tensor("w", &[2, 1], &[-6, 20])]);
    let row = &network.stages[0].rows[0];
    assert!(row.term_error >= rounded.term_error && row.term_error < Dyadic { mantissa: 1, exponent: -90 });
    let vanishing = [node("Div", &["x", "d"], "a", &[]), node("Sub", &["a", "a"], "y", &[])];
    assert!(refusal(&[1, 2], &vanishing, &[tensor("d", &[1], &[6])]).contains("vanishes"));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let both = [node("Softmax", &["x"], "a", &[]), node("Erf", &["a"], "y", &[])];
    let message = refusal(&[1, 2], &both, &[]);
    assert!(message.contains("`the a` (Softmax)") && message.contains("`the y` (Erf)"), "{message}");
    let refused = [
        (node("MatMul", &["x", "x"], "y", &[]), "`the y` (MatMul)"),
        (node("Mul", &["x", "x"], "y", &[]), "a constant was expected"),
        (node("Div", &["one", "x"], "y", &[]), "a constant was expected"),
        (node("Div", &["x", "zero"], "y", &[]), "divides by zero"),
        (node("Add", &["x", "missing"], "y", &[]), "`missing` is read before"),
        (node("Add", &["x", "three"], "y", &[]), "do not match"),
        (node("Relu", &["x"], "x", &[]), "defined twice"),
        (node("Relu", &["x"], "z", &[]), "the graph's output"),
        (node("Relu", &["x"], "y", &[attribute("alpha", 2).int(3, 1)]), "`alpha`"),
        (node("Flatten", &["x"], "y", &[attribute("axis", 1)]), "wrong type"),
        (node("Cast", &["x"], "y", &[attribute("to", 2).int(3, 7)]), "element type 7"),
        (node("Dropout", &["x", "one", "one"], "y", &[]), "more inputs"),
        (node("Flatten", &["x"], "y", &[attribute("axis", 2).int(3, 9)]), "no axis 9"),
        (node("Reshape", &["x", "shape"], "y", &[]), "cannot become"),
    ];
    let tensors = [
        tensor("one", &[1], &[2]),
        tensor("zero", &[1], &[0]),
        tensor("three", &[3], &[1, 1, 1]),
        integers("shape", &[3, -1]),
    ];
    for (node, expected) in refused {
        let message = refusal(&[1, 2], &[node], &tensors);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    assert!(refusal(&[1, 0], &[], &[]).contains("axis 1"));
    assert!(refusal(&[1, 2], &[], &[tensor("t", &[3], &[1])]).contains("`t`"));
    assert!(refusal(&[1, i64::MAX, 9], &[], &[]).contains("elements"));
    let external = Writer::default().int(1, 1).int(2, 1).bytes(8, b"far").int(14, 1).0;
    assert!(refusal(&[1, 2], &[], &[external]).contains("another file"));
    let infinite = Writer::default().int(1, 1).int(2, 1).bytes(8, b"inf").bytes(9, &0x7f80_0000u32.to_le_bytes()).0;
    assert!(refusal(&[1, 2], &[], &[infinite]).contains("`inf`"));
}

#[test]
fn damaged_models_are_read_or_refused() {
    let nodes =
        [node("Conv", &["x", "w"], "z", &[attribute("pads", 7).ints(8, &[1, 1])]), node("Relu", &["z"], "y", &[])];
    let whole = model(&[1, 1, 4], &nodes, &[tensor("w", &[1, 1, 3], &[2, 4, 6])]);
    for end in 0..whole.len() {
        assert!(Network::read(&whole[..end]).is_err());
    }
    for place in 0..whole.len() {
        for change in [0x01, 0x08, 0x7f, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[place] ^= change;
            let _ = Network::read(&damaged);
        }
    }
}
