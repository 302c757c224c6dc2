//! The nodes that the outputs depend on, in an order in which each can be computed.

use super::node::outputs;
use super::proto::{GraphProto, NodeProto};
use crate::graph::Operand;
use std::collections::HashMap;

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    Open,
    Done,
}

/// In the file's own order where that is one, as ONNX demands; else depth-first from the outputs, without recursion; `known` are the inputs and the constants. A cycle, a name nobody computes and a name computed twice are errors.
pub fn topological<'a>(
    proto: &'a GraphProto,
    outputs: &[&str],
    known: &HashMap<&str, Operand>,
) -> Result<Vec<&'a NodeProto>, String> {
    let producers = producers(proto, known)?;
    let given = |name: &str| name.is_empty() || known.contains_key(name);
    let find = |name: &str, reader: &str| {
        producers.get(name).copied().ok_or_else(|| format!("{reader} reads '{name}', which nothing computes"))
    };
    if let Some(output) = outputs.iter().find(|output| given(output)) {
        return Err(format!("the output '{output}' is not computed by any node"));
    }
    let mut state = vec![State::New; proto.node.len()];
    let mut order = Vec::new();
    let mut stack = outputs.iter().rev().map(|name| find(name, "the graph's output")).collect::<Result<Vec<_>, _>>()?;
    while let Some(&index) = stack.last() {
        let node = &proto.node[index];
        match state[index] {
            State::New => {
                state[index] = State::Open;
                for name in node.input.iter().filter(|name| !given(name)) {
                    let source = find(name, &format!("node '{}'", super::node::name(node)))?;
                    match state[source] {
                        State::New => stack.push(source),
                        State::Open => return Err(format!("the graph has a cycle through '{name}'")),
                        State::Done => {}
                    }
                }
            }
            State::Open => {
                state[index] = State::Done;
                order.push(index);
                stack.pop();
            }
            State::Done => {
                stack.pop();
            }
        }
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let reads_before = |&index: &usize| {
        let sources = proto.node[index].input.iter().filter_map(|name| producers.get(name.as_str()));
        sources.copied().all(|source| source < index)
    };
    let order = if sorted.iter().all(reads_before) { sorted } else { order };
    Ok(order.into_iter().map(|index| &proto.node[index]).collect())
}

/// The node that computes each name.
fn producers<'a>(proto: &'a GraphProto, known: &HashMap<&str, Operand>) -> Result<HashMap<&'a str, usize>, String> {
    let mut producers = HashMap::new();
    for (index, node) in proto.node.iter().enumerate() {
        let mut names = outputs(node).iter().filter(|name| !name.is_empty()).peekable();
        names.peek().ok_or_else(|| format!("node {index} ({}) has no output", node.op_type))?;
        for name in names {
            if known.contains_key(name.as_str()) || producers.insert(name.as_str(), index).is_some() {
                return Err(format!("'{name}' is computed twice"));
            }
        }
    }
    Ok(producers)
}
