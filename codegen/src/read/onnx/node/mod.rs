//! What a node asks for, by the table of supported operators.

mod attributes;
mod forms;
mod table;

use super::proto::{DataType, NodeProto};
use crate::graph::{Op, Tensor};
use attributes::Attributes;
pub use table::OPERATORS;

/// An operator that is supported.
pub struct Operator {
    pub name: &'static str,
    /// How many inputs it may have. Those up to the least number cannot be left out.
    inputs: std::ops::RangeInclusive<usize>,
    /// What of it is supported, for people.
    pub about: &'static str,
    meaning: fn(&Attributes) -> Result<Meaning, String>,
}

/// What a node asks for.
pub enum Meaning {
    Op(Call),
    Dropout,
    Cast(Element),
    Constant(Tensor, DataType),
}

/// An operator of the graph.
pub struct Call {
    pub op: Op,
    /// Inputs behind the node's own: what older opsets pass as attributes. One of no entries is left out.
    pub inputs: Vec<Tensor>,
    /// The type of its results.
    pub element: Element,
}

pub enum Element {
    OfInput(usize),
    Is(DataType),
}

/// Operators that are refused for what they are, not because nobody has added them.
const REFUSED: [(&str, &str); 14] = [
    ("ArgMax", "it is not continuous; only at the end of a model is it cut"),
    ("ThresholdedRelu", "it is not continuous"),
    ("Sign", "it is not continuous"),
    ("HardSwish", "it is quadratic"),
    ("Elu", SMOOTH),
    ("Exp", SMOOTH),
    ("Gelu", SMOOTH),
    ("Selu", SMOOTH),
    ("LogSoftmax", ENDING),
    ("Sigmoid", ENDING),
    ("Softmax", ENDING),
    ("Softplus", SMOOTH),
    ("Swish", SMOOTH),
    ("Tanh", SMOOTH),
];
const SMOOTH: &str = "it is not piecewise linear";
const ENDING: &str = "it is not piecewise linear; only at the end of a model is it cut";

/// The node's meaning, or what about it is not supported.
pub fn meaning(node: &NodeProto) -> Result<Meaning, String> {
    if !matches!(node.domain.as_str(), "" | "ai.onnx") {
        return Err(format!("it belongs to the operator domain '{}'", node.domain));
    }
    let name = node.op_type.as_str();
    let Some(operator) = OPERATORS.iter().find(|operator| operator.name == name) else {
        let why = REFUSED.iter().find(|refused| refused.0 == name).map(|refused| format!(": {}", refused.1));
        return Err(format!("the operator {name} is not supported{}", why.unwrap_or_default()));
    };
    let given = inputs(node).len();
    if !operator.inputs.contains(&given) {
        return Err(format!("it has {given} inputs"));
    }
    if let Some(index) = node.input[..*operator.inputs.start()].iter().position(String::is_empty) {
        return Err(format!("its input {index} is left out"));
    }
    (operator.meaning)(&Attributes(node))
}

/// The inputs up to the last that is not left out.
pub fn inputs(node: &NodeProto) -> &[String] {
    let left_out = node.input.iter().rev().take_while(|input| input.is_empty()).count();
    &node.input[..node.input.len() - left_out]
}

/// The outputs that are made: all parts of a Split, the first of any other. The others (a Dropout's mask, a pool's
/// indices) are not supported, and nothing may read them.
pub fn outputs(node: &NodeProto) -> &[String] {
    let count = if node.op_type == "Split" { node.output.len() } else { node.output.len().min(1) };
    &node.output[..count]
}

/// How messages call a node: by its name, else by its first output.
pub fn name(node: &NodeProto) -> &str {
    let output = || node.output.iter().find(|output| !output.is_empty());
    Some(&node.name).filter(|name| !name.is_empty()).or_else(output).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order_and_consistent() {
        assert!(OPERATORS.is_sorted_by(|a, b| a.name < b.name));
        assert!(REFUSED.iter().all(|refused| OPERATORS.iter().all(|operator| operator.name != refused.0)));
        assert!(OPERATORS.iter().all(|operator| !operator.about.contains('|')), "it is a cell of a table");
    }
}
