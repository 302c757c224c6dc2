//! The operators that are read, and how a node calls one.
//!
//! The table names for each operator the attributes and the inputs that its function heeds. A node with any other is
//! refused, so nothing that changes the meaning of a node is passed over.

mod linear;
mod places;
mod shape;
mod window;

use std::rc::Rc;

use crate::number::Dyadic;
use crate::{Refused, refuse};

use super::model::{Attribute, Model, Node};
use super::tensor::Tensor;

type Function = fn(&Call<'_>) -> Result<Tensor, Refused>;

struct Operator {
    name: &'static str,
    attributes: &'static [&'static str],
    most_inputs: usize,
    function: Function,
}

const fn operator(
    name: &'static str,
    attributes: &'static [&'static str],
    most_inputs: usize,
    function: Function,
) -> Operator {
    Operator { name, attributes, most_inputs, function }
}

const WINDOW: &[&str] = &["auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"];

const OPERATORS: &[Operator] = &[
    operator("Add", &[], 2, linear::add),
    operator("Cast", &["to", "saturate"], 1, shape::cast),
    operator("Concat", &["axis"], usize::MAX, shape::concat),
    operator("Constant", &["value", "value_float", "value_int", "value_ints"], 0, shape::constant),
    operator("Conv", WINDOW, 3, window::conv),
    operator("Div", &[], 2, linear::div),
    operator("Dropout", &["ratio", "seed"], 2, shape::identity),
    operator("Flatten", &["axis"], 1, shape::flatten),
    operator("Gather", &["axis"], 2, places::gather),
    operator("Gemm", &["alpha", "beta", "transA", "transB"], 3, linear::gemm),
    operator("Identity", &[], 1, shape::identity),
    operator("MatMul", &[], 2, linear::matmul),
    operator("Mul", &[], 2, linear::mul),
    operator("Neg", &[], 1, linear::neg),
    operator("Relu", &[], 1, shape::identity),
    operator("Reshape", &["allowzero"], 2, shape::reshape),
    operator("Shape", &[], 1, shape::shape),
    operator("Slice", &["starts", "ends", "axes"], 5, places::slice),
    operator("Squeeze", &["axes"], 2, shape::squeeze),
    operator("Sub", &[], 2, linear::sub),
    operator("Sum", &[], usize::MAX, linear::sum),
    operator("Transpose", &["perm"], 1, places::transpose),
    operator("Unsqueeze", &["axes"], 2, shape::unsqueeze),
];

/// Refuses a model with nodes that are not understood, and names all of them.
pub(super) fn check(model: &Model<'_>) -> Result<(), Refused> {
    let faults: Vec<String> =
        model.nodes.iter().filter_map(|node| fault(node).map(|why| format!("{node} {why}"))).collect();
    if faults.is_empty() { Ok(()) } else { refuse(faults.join("; ")) }
}

fn fault(node: &Node<'_>) -> Option<String> {
    let Some(operator) = find(node.operator) else { return Some("is no operator that is supported".into()) };
    if let Some(name) = node.attributes.keys().find(|name| !operator.attributes.contains(name)) {
        return Some(format!("has the attribute `{name}`, which is not supported"));
    }
    if let Some((name, _)) = node.attributes.iter().find(|(name, attribute)| attribute.kind != kind(name)) {
        return Some(format!("has the attribute `{name}` of the wrong type"));
    }
    (node.inputs.len() > operator.most_inputs).then(|| "has more inputs than are supported".into())
}

/// The type of an attribute of this name, as ONNX numbers types: an operator that is read has no other.
fn kind(attribute: &str) -> i64 {
    match attribute {
        "alpha" | "beta" | "ratio" | "value_float" => 1,
        "auto_pad" => 3,
        "value" => 4,
        "axes" | "dilations" | "ends" | "kernel_shape" | "pads" | "perm" | "starts" | "strides" | "value_ints" => 7,
        _ => 2,
    }
}

fn find(name: &str) -> Option<&'static Operator> {
    OPERATORS.iter().find(|operator| operator.name == name)
}

/// The value of a node of an operator that [`check`] has seen; a Relu makes variables and is not among them.
pub(super) fn run(call: &Call<'_>) -> Result<Tensor, Refused> {
    match find(call.node.operator) {
        Some(operator) => (operator.function)(call),
        None => refuse("the operator is not supported"),
    }
}

/// A node with the values of its inputs, `None` for one that is left out.
pub(super) struct Call<'a> {
    pub(super) node: &'a Node<'a>,
    pub(super) inputs: Vec<Option<Rc<Tensor>>>,
}

impl Call<'_> {
    fn input(&self, number: usize) -> Result<&Tensor, Refused> {
        self.optional(number).ok_or_else(|| Refused(format!("input {number} is missing")))
    }

    fn optional(&self, number: usize) -> Option<&Tensor> {
        self.inputs.get(number)?.as_deref()
    }

    fn attribute(&self, name: &str) -> Option<&Attribute<'_>> {
        self.node.attributes.get(name)
    }

    fn int(&self, name: &str, default: i64) -> i64 {
        self.attribute(name).map_or(default, |attribute| attribute.int)
    }

    fn float(&self, name: &str, default: Dyadic) -> Dyadic {
        self.attribute(name).map_or(default, |attribute| attribute.float)
    }

    /// Integers that are an attribute in some versions of the operator set and an input in others.
    fn ints(&self, name: &str, input: usize) -> Result<Option<Vec<i64>>, Refused> {
        match (self.attribute(name), self.optional(input)) {
            (Some(attribute), None) => Ok(Some(attribute.ints.clone())),
            (None, Some(tensor)) => tensor.integers().map(Some),
            (None, None) => Ok(None),
            (Some(_), Some(_)) => refuse(format!("`{name}` is given twice")),
        }
    }
}

/// An axis counted from the front, of a tensor with `rank` axes; a negative one counts from the back.
fn axis(axis: i64, rank: usize) -> Result<usize, Refused> {
    let from_back = usize::try_from(axis.unsigned_abs()).ok().and_then(|back| rank.checked_sub(back));
    let place = if axis < 0 { from_back } else { usize::try_from(axis).ok() };
    place.filter(|&place| place < rank).ok_or_else(|| Refused(format!("there is no axis {axis} among {rank}")))
}
