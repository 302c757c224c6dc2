//! Small models, written here byte by byte, against rows worked out by hand.

use pg_check::{Dyadic, Network, Row};

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

    fn fixed(mut self, field: u64, bits: u32) -> Self {
        varint(field << 3 | 5, &mut self.0);
        self.0.extend(bits.to_le_bytes());
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
    assert_eq!(*network.stages[0], [row(&[(0, 2), (1, 4)], 1), row(&[(1, 1)], 0), row(&[(0, -3)], -5)]);
    assert_eq!(*network.stages[1], [row(&[(2, 2), (4, 6)], 0)]);
}

#[test]
fn affine_operators_compose_and_what_cancels_is_dropped() {
    let nodes = [
        node("Mul", &["x", "two"], "a", &[]),
        node("Sub", &["a", "x"], "b", &[]),
        node("Sub", &["b", "x"], "c", &[]),
        node("Sub", &["c", "b"], "d", &[]),
        node("Add", &["one", "d"], "e", &[]),
        node("Concat", &["e", "c"], "y", &[attribute("axis", 2).int(3, -1)]),
    ];
    let network = read(&[1, 2], &nodes, &[tensor("two", &[], &[4]), tensor("one", &[1, 2], &[2, 1])]);
    assert_eq!(network.stages.len(), 1);
    assert_eq!(*network.stages[0], [row(&[(0, -2)], 2), row(&[(1, -2)], 1), row(&[], 0), row(&[], 0)]);
}

#[test]
fn a_relu_at_the_end_is_followed_by_the_identity() {
    let network = read(&[1, 2], &[node("Relu", &["x"], "y", &[])], &[]);
    assert_eq!(network.stages.len(), 2);
    assert_eq!(*network.stages[1], [Row::variable(2), Row::variable(3)]);
}

#[test]
fn a_constant_matrix_may_stand_before_a_vector() {
    let network = read(&[2], &[node("MatMul", &["w", "x"], "y", &[])], &[tensor("w", &[3, 2], &[1, 2, 3, 4, 5, 6])]);
    assert_eq!(*network.stages[0], [row(&[(0, 1), (1, 2)], 0), row(&[(0, 3), (1, 4)], 0), row(&[(0, 5), (1, 6)], 0)]);
}

#[test]
fn broadcasting_pairs_by_the_last_axes() {
    let weights = [tensor("w", &[2, 1], &[2, 4]), tensor("b", &[3], &[1, 2, 3])];
    let nodes = [node("Mul", &["w", "x"], "z", &[]), node("Sub", &["b", "z"], "y", &[])];
    let expected = [(0, -2, 1), (1, -2, 2), (2, -2, 3), (3, -4, 1), (4, -4, 2), (5, -4, 3)];
    let expected = expected.map(|(variable, weight, bias)| row(&[(variable, weight)], bias));
    assert_eq!(*read(&[1, 2, 3], &nodes, &weights).stages[0], expected);
}

#[test]
fn convolution_pads_and_strides() {
    let plain = [node(
        "Conv",
        &["x", "w", "b"],
        "y",
        &[
            attribute("kernel_shape", 7).ints(8, &[1, 3]),
            attribute("pads", 7).ints(8, &[0, 1, 0, 0]),
            attribute("strides", 7).ints(8, &[1, 2]),
        ],
    )];
    let tensors = [tensor("w", &[1, 1, 1, 3], &[2, 4, 6]), tensor("b", &[1], &[1])];
    let network = read(&[1, 1, 1, 4], &plain, &tensors);
    assert_eq!(*network.stages[0], [row(&[(0, 4), (1, 6)], 1), row(&[(1, 2), (2, 4), (3, 6)], 1)]);

    let deep = [node("Conv", &["x", "w"], "y", &[attribute("pads", 7).ints(8, &[0, 0, 1, 0])])];
    let weights = [tensor("w", &[2, 2, 2, 1], &[1, 2, 3, 4, 5, 6, 7, 8])];
    let network = read(&[1, 2, 2, 1], &deep, &weights);
    let expected = [
        row(&[(0, 1), (1, 2), (2, 3), (3, 4)], 0),
        row(&[(1, 1), (3, 3)], 0),
        row(&[(0, 5), (1, 6), (2, 7), (3, 8)], 0),
        row(&[(1, 5), (3, 7)], 0),
    ];
    assert_eq!(*network.stages[0], expected);

    let refused = [
        (attribute("group", 2).int(3, 2), "groups"),
        (attribute("group", 2).int(3, 0), "groups"),
        (attribute("dilations", 7).ints(8, &[2, 1]), "dilated"),
        (attribute("kernel_shape", 7).ints(8, &[1, 2]), "shapes"),
        (attribute("pads", 7).ints(8, &[1, 1]), "`pads`"),
        (attribute("strides", 7).ints(8, &[0, 1]), "window"),
        (attribute("auto_pad", 3).bytes(4, b"VALID"), "`auto_pad`"),
    ];
    for (attribute, expected) in refused {
        let message = refusal(&[1, 2, 2, 1], &[node("Conv", &["x", "w"], "y", &[attribute])], &weights);
        assert!(message.contains(expected), "{expected}: {message}");
    }
}

#[test]
fn groups_of_channels_are_apart() {
    let weights = [tensor("w", &[2, 1, 1, 1], &[2, 6])];
    let groups = attribute("group", 2).int(3, 2);
    let network = read(&[1, 2, 1, 2], &[node("Conv", &["x", "w"], "y", &[groups])], &weights);
    let expected: Vec<Row> = (0..4).map(|i| row(&[(i, if i < 2 { 2 } else { 6 })], 0)).collect();
    assert_eq!(*network.stages[0], expected);
}

/// Windows of three in a row, one step apart: what two of them compare first is compared once.
#[test]
fn the_greatest_of_a_window_takes_rounds() {
    let shape = attribute("kernel_shape", 7).ints(8, &[1, 3]);
    let network = read(&[1, 1, 1, 4], &[node("MaxPool", &["x"], "y", &[shape])], &[]);
    let stages: Vec<&[Row]> = network.stages.iter().map(|stage| &stage[..]).collect();
    assert_eq!(stages[0], [row(&[(0, 2), (1, -2)], 0), row(&[(1, 2), (2, -2)], 0)]);
    // Its pairs: 1 + gain 4, and 2 alone; 2 + gain 5, and 3 alone.
    assert_eq!(stages[1], [row(&[(1, 2), (2, -2), (4, 2)], 0), row(&[(2, 2), (3, -2), (5, 2)], 0)]);
    assert_eq!(stages[2], [row(&[(2, 2), (6, 2)], 0), row(&[(3, 2), (7, 2)], 0)]);
    let whole = attribute("kernel_shape", 7).ints(8, &[1, 5]);
    assert!(refusal(&[1, 1, 1, 4], &[node("MaxPool", &["x"], "y", &[whole])], &[]).contains("window"));
}

#[test]
fn normalisation_carries_the_error_of_its_root() {
    let of = |name: &str, halves: i32| tensor(name, &[1], &[halves]);
    let tensors = [of("s", 6), of("b", 2), of("m", 4), of("v", 8)];
    let zero = attribute("epsilon", 1).fixed(2, 0);
    let network = read(&[1, 1, 1], &[node("BatchNormalization", &["x", "s", "b", "m", "v"], "y", &[zero])], &tensors);
    // 3·(x − 2)/√4 + 1.
    let found = &network.stages[0][0];
    assert_eq!((&found.terms[..], found.bias), (&row(&[(0, 3)], 0).terms[..], halves(-4)));
    assert!(!found.error.is_zero());
    let negative = [of("s", 6), of("b", 2), of("m", 4), of("v", -8)];
    let message = refusal(&[1, 1, 1], &[node("BatchNormalization", &["x", "s", "b", "m", "v"], "y", &[])], &negative);
    assert!(message.contains("variance"), "{message}");
}

#[test]
fn elements_are_moved_where_they_belong() {
    let turned = [
        node("Transpose", &["x"], "t", &[attribute("perm", 7).ints(8, &[0, 2, 1])]),
        node("Reshape", &["t", "s"], "y", &[]),
    ];
    let network = read(&[1, 2, 3], &turned, &[integers("s", &[0, -1])]);
    let order: Vec<u32> = network.stages[0].iter().map(|row| row.terms[0].0).collect();
    assert_eq!(order, [0, 3, 1, 4, 2, 5]);

    let picked = [node("Slice", &["x", "from", "to", "axes", "step"], "y", &[])];
    let bounds = |from, to, step| {
        [integers("from", &[from]), integers("to", &[to]), integers("axes", &[-1]), integers("step", &[step])]
    };
    let network = read(&[2, 3], &picked, &bounds(1, i64::MAX, 1));
    assert_eq!(*network.stages[0], [1, 2, 4, 5].map(Row::variable));
    assert!(refusal(&[2, 3], &picked, &bounds(-1, 3, 1)).contains("from the back"));
    assert!(refusal(&[2, 3], &picked, &bounds(0, 3, 2)).contains("steps of 1"));
    assert!(refusal(&[2, 3], &picked, &bounds(2, 2, 1)).contains("elements"));

    let value = integers("", &[0, 1, -1]);
    let shaped = [
        node("Constant", &[], "s", &[attribute("value", 4).bytes(5, &value)]),
        node("Reshape", &["x", "s"], "r", &[]),
        node("Concat", &["r", "r"], "y", &[attribute("axis", 2).int(3, 1)]),
    ];
    let network = read(&[2, 2], &shaped, &[]);
    assert_eq!(*network.stages[0], [0, 1, 0, 1, 2, 3, 2, 3].map(Row::variable));
}

#[test]
fn division_is_exact_or_carries_its_error() {
    let network = read(&[1, 2], &[node("Div", &["x", "d"], "y", &[])], &[tensor("d", &[2], &[8, 6])]);
    let [exact, rounded] = &network.stages[0][..] else { panic!("two rows") };
    assert_eq!(*exact, Row { terms: vec![(0, Dyadic { mantissa: 1, exponent: -2 })], ..Row::default() });
    // The distance of three times the quotient from one is at most three times the error.
    let (three, minus_one) = (halves(6), halves(-2));
    let distance = rounded.terms[0].1.mul(three).and_then(|one| one.add(minus_one)).expect("it fits").abs();
    let room = rounded.error.mul(three).and_then(|error| error.add(distance.mul(minus_one)?)).expect("it fits");
    assert!(!distance.is_zero() && room.mantissa >= 0);
    assert!(rounded.error.exponent < -60 && rounded.error.mantissa == 1);

    let nodes = [node("Div", &["x", "d"], "a", &[]), node("MatMul", &["a", "w"], "y", &[])];
    let network = read(&[1, 2], &nodes, &[tensor("d", &[1], &[6]), tensor("w", &[2, 1], &[-6, 20])]);
    assert_eq!(network.stages[0][0].error, rounded.error.mul(halves(26)).expect("it fits"));
    let vanishing = [node("Div", &["x", "d"], "a", &[]), node("Sub", &["a", "a"], "y", &[])];
    assert!(refusal(&[1, 2], &vanishing, &[tensor("d", &[1], &[6])]).contains("vanishes"));
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = [
        (node("Softmax", &["x"], "y", &[]), "`the y` (Softmax)"),
        (node("MatMul", &["x", "x"], "y", &[]), "`the y` (MatMul)"),
        (node("Mul", &["x", "x"], "y", &[]), "a constant was expected"),
        (node("Div", &["one", "x"], "y", &[]), "a constant was expected"),
        (node("Div", &["x", "zero"], "y", &[]), "divides by zero"),
        (node("Add", &["x", "missing"], "y", &[]), "`missing` is read before"),
        (node("Add", &["x", "three"], "y", &[]), "does not match"),
        (node("Relu", &["x"], "x", &[]), "defined twice"),
        (node("Relu", &["x"], "z", &[]), "the graph's output"),
        (node("Relu", &["one"], "y", &[]), "constant"),
        (node("Add", &["x", "shape"], "y", &[]), "integers"),
        (node("Gemm", &["x", "square"], "y", &[attribute("beta", 1)]), "`beta`"),
        (node("Gemm", &["x", "square"], "y", &[attribute("transA", 2).int(3, 1)]), "`transA`"),
        (node("Gemm", &["x", "square", "square"], "y", &[]), "what is added is larger"),
        (node("Relu", &["x"], "y", &[attribute("alpha", 2).int(3, 1)]), "`alpha`"),
        (node("Flatten", &["x"], "y", &[attribute("axis", 1)]), "wrong type"),
        (node("Flatten", &["x"], "y", &[attribute("axis", 2).int(3, 9)]), "`axis` is 9"),
        (node("Flatten", &["x"], "y", &[attribute("axis", 2).int(3, 1).bytes(21, b"r")]), "field 21"),
        (node("Dropout", &["x", "one", "one"], "y", &[]), "3 inputs"),
        (node("Concat", &["x", "x"], "y", &[attribute("axis", 2).int(3, 2)]), "no axis 2"),
        (node("Reshape", &["x", "shape"], "y", &[]), "cannot become"),
    ];
    let tensors = [
        tensor("one", &[1], &[2]),
        tensor("zero", &[1], &[0]),
        tensor("three", &[3], &[1, 1, 1]),
        tensor("square", &[2, 2], &[1, 1, 1, 1]),
        integers("shape", &[3, 1]),
    ];
    for (node, expected) in refused {
        let message = refusal(&[1, 2], &[node], &tensors);
        assert!(message.contains(expected), "{expected}: {message}");
    }
    assert!(refusal(&[1, 0], &[], &[]).contains("axis 1"));
    assert!(refusal(&[], &[], &[]).contains("no shape"));
    assert!(refusal(&[1, 2], &[], &[tensor("t", &[3], &[1])]).contains("`t`"));
    assert!(refusal(&[1, i64::MAX, 9], &[], &[]).contains("elements"));
    let external = Writer::default().int(1, 1).int(2, 1).bytes(8, b"far").int(14, 1).0;
    assert!(refusal(&[1, 2], &[], &[external]).contains("field 14"));
    let infinite = Writer::default().int(1, 1).int(2, 1).bytes(8, b"inf").bytes(9, &0x7f80_0000u32.to_le_bytes()).0;
    assert!(refusal(&[1, 2], &[], &[infinite]).contains("`inf`"));
}

#[test]
fn damaged_models_are_read_or_refused() {
    let nodes = [
        node("Conv", &["x", "w"], "z", &[attribute("pads", 7).ints(8, &[0, 1, 0, 1])]),
        node("Relu", &["z"], "y", &[]),
    ];
    let whole = model(&[1, 1, 1, 4], &nodes, &[tensor("w", &[1, 1, 1, 3], &[2, 4, 6])]);
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
