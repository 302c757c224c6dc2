//! Brings the graph to one chain: affine, ReLU, affine, ..., affine.
//!
//! A ReLU of a ReLU is dropped; a ReLU that reads the input or is the output gets an identity layer beside it.

use super::is_affine;
use crate::affine::Affine;
use crate::error::Error;
use crate::graph::{Function, Graph, Node, ValueId};

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    let mut chain: Vec<Node> = Vec::new();
    let mut previous = graph.input;
    for node in std::mem::take(&mut graph.nodes) {
        let repeats = matches!(node.function, Function::Relu)
            && chain.last().is_some_and(|last| matches!(last.function, Function::Relu));
        expect_chain(&graph, &chain, &node, previous)?;
        if repeats {
            notes.push(format!("'{}' is a ReLU of a ReLU and was dropped", node.name));
            let last = chain.last_mut().expect("just seen");
            last.output = node.output;
        } else {
            if matches!(node.function, Function::Relu) && chain.is_empty() {
                previous = add_identity(&mut graph, &mut chain, previous, "before the first ReLU", notes);
            }
            chain.push(Node { inputs: vec![previous], ..node });
        }
        previous = chain.last().expect("just pushed").output;
    }
    if chain.last().is_some_and(|last| matches!(last.function, Function::Relu)) {
        graph.output = add_identity(&mut graph, &mut chain, previous, "after the last ReLU", notes);
    }
    graph.nodes = chain;
    Ok(graph)
}

fn add_identity(
    graph: &mut Graph,
    chain: &mut Vec<Node>,
    input: ValueId,
    place: &str,
    notes: &mut Vec<String>,
) -> ValueId {
    notes.push(format!("an identity layer was added {place}"));
    let n = graph.values[input].entries();
    let output = graph.fresh_value(format!("{} (identity)", graph.values[input].name), vec![n]);
    chain.push(Node {
        name: "identity".into(),
        origin: "identity layer".into(),
        function: Function::Affine(Affine::identity(n)),
        inputs: vec![input],
        output,
    });
    output
}

/// Each node must read exactly what the node before it computed; anything else is a skip connection.
fn expect_chain(graph: &Graph, chain: &[Node], node: &Node, previous: ValueId) -> Result<(), Error> {
    if node.inputs == [previous] {
        return Ok(());
    }
    let read: Vec<&str> = node.inputs.iter().map(|&id| graph.values[id].name.as_str()).collect();
    let after = chain.last().map_or("the input", |last| last.name.as_str());
    Err(Error::Unsupported(vec![format!(
        "node '{}' reads {read:?} after '{after}': branches that join across a ReLU (residual sums, concatenations)",
        node.name
    )]))
}

pub fn check(graph: &Graph) {
    assert!(graph.nodes.len() % 2 == 1, "the chain does not begin and end with an affine layer");
    let mut previous = graph.input;
    for (index, node) in graph.nodes.iter().enumerate() {
        assert_eq!(node.inputs, [previous], "'{}' breaks the chain", node.name);
        assert_eq!(is_affine(&node.function), index % 2 == 0, "'{}' breaks the alternation", node.name);
        previous = node.output;
    }
    assert_eq!(graph.output, previous, "the chain does not end at the output");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Op};

    #[test]
    fn bare_relus_get_identities() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let a = builder.node("a", &Op::Relu, &[x], "a").unwrap();
        let b = builder.node("b", &Op::Relu, &[a], "b").unwrap();
        let mut notes = vec![];
        let graph = run(builder.finish(&b).unwrap(), &mut notes).unwrap();
        graph.check();
        check(&graph);
        assert_eq!((graph.nodes.len(), notes.len()), (3, 3));
    }

    #[test]
    fn a_residual_sum_is_named() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let h = builder.node("h", &Op::Relu, std::slice::from_ref(&x), "h").unwrap();
        let y = builder.node("sum", &Op::Add, &[x, h], "y").unwrap();
        let error = run(builder.finish(&y).unwrap(), &mut vec![]).unwrap_err();
        assert!(error.to_string().contains("'sum'"));
    }
}
