//! The operator that ends a classifier, Softmax, LogSoftmax, Sigmoid or ArgMax, which is cut.
//!
//! None of them is piecewise linear, but in real numbers the first three keep the order of the classes and the last
//! keeps the highest one. So comparisons of classes can be verified on the scores that the operator reads. What may
//! be asked is decided where a property meets the network.

use super::proto::{GraphProto, NodeProto};
use super::{Functions, describe, domain};
use pg_core::Ending;
use std::collections::HashMap;

/// What is cut off at the end of a graph.
pub struct Cut<'a> {
    pub ending: Ending,
    /// The value that the network ends with instead.
    pub scores: &'a str,
    /// The endings from the last one to the first, all on tensors of the scores' shape.
    nodes: Vec<&'a NodeProto>,
}

/// Operators after an ending that leave the numbers and their order as they are.
const RESHAPES: [&str; 5] = ["Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze"];

/// The endings that lead to an output, if any: one of them, or an ArgMax with others right before it.
pub fn find<'a>(proto: &'a GraphProto, output: &str, functions: &Functions) -> Option<Cut<'a>> {
    let producers: HashMap<&str, &NodeProto> =
        proto.node.iter().filter_map(|node| Some((node.output.first()?.as_str(), node))).collect();
    let standard = |node: &&NodeProto| {
        domain(&node.domain).is_empty() && !functions.contains(&(domain(&node.domain), node.op_type.as_str()))
    };
    let producer = |name: &str| producers.get(name).copied().filter(standard);
    let mut last = producer(output)?;
    // A cycle of reshapes is found elsewhere; here it must not be walked for ever.
    for _ in 0..proto.node.len() {
        match RESHAPES.contains(&last.op_type.as_str()) {
            true => last = producer(last.input.first()?)?,
            false => break,
        }
    }
    let ending = kind(last)?;
    let mut nodes = vec![last];
    let mut scores = last.input.first()?;
    if ending == Ending::ArgMax {
        while let Some(before) = producer(scores).filter(|node| is_order(node) && nodes.len() < proto.node.len()) {
            nodes.push(before);
            scores = before.input.first()?;
        }
    }
    Some(Cut { ending, scores, nodes })
}

fn kind(node: &NodeProto) -> Option<Ending> {
    Some(match node.op_type.as_str() {
        "Softmax" => Ending::Softmax,
        "LogSoftmax" => Ending::LogSoftmax,
        "Sigmoid" => Ending::Sigmoid,
        "ArgMax" => Ending::ArgMax,
        _ => return None,
    })
}

fn is_order(node: &NodeProto) -> bool {
    kind(node).is_some_and(|ending| ending != Ending::ArgMax)
}

impl Cut<'_> {
    /// What the person is told about it.
    pub fn note(&self) -> String {
        let names: Vec<&str> = self.nodes.iter().rev().map(|node| node.op_type.as_str()).collect();
        format!("the model ends with {}, which is cut: only comparisons of classes can be verified", names.join(", "))
    }

    /// Whether each ending takes all scores as the classes of one input.
    pub fn check(&self, scores: &[usize], opset: i64) -> Result<(), String> {
        let wrong = |node: &&&NodeProto| !spans(node, scores, opset);
        if let Some(node) = self.nodes.iter().find(wrong) {
            let what = "it ends the model, and its axis does not hold all classes of a single input";
            return Err(format!("{}: {what}; the scores have the shape {scores:?}", describe(node, opset)));
        }
        match self.nodes.iter().find(|node| attribute(node, "select_last_index", 0) != 0) {
            Some(node) => Err(format!("{}: select_last_index is not supported", describe(node, opset))),
            None => Ok(()),
        }
    }
}

/// Whether the node's axis runs through all of a tensor.
fn spans(node: &NodeProto, shape: &[usize], opset: i64) -> bool {
    let rank = shape.len() as i64;
    let all: usize = shape.iter().product();
    let along =
        |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok().filter(|&a| a < shape.len());
    match node.op_type.as_str() {
        "Sigmoid" => true,
        "ArgMax" => along(attribute(node, "axis", 0)).is_some_and(|a| shape[a] == all),
        _ if opset >= 13 => along(attribute(node, "axis", -1)).is_some_and(|a| shape[a] == all),
        // Before, it took all dimensions from the axis on as one.
        _ => along(attribute(node, "axis", 1)).is_some_and(|a| shape[a..].iter().product::<usize>() == all),
    }
}

fn attribute(node: &NodeProto, name: &str, default: i64) -> i64 {
    node.attribute.iter().find(|attribute| attribute.name == name).map_or(default, |a| a.i.unwrap_or(0))
}
