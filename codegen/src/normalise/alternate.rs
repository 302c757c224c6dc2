//! Brings the graph to stages: affine, ReLU, affine, ReLU, ..., affine, where a map reads the input and any earlier ReLUs.
//!
//! A ReLU that reads the input or is the output gets an identity map beside it; an output that a ReLU reads too gets a map of
//! its own.

use super::is_affine;
use crate::affine::Affine;
use crate::error::Error;
use crate::graph::{Function, Graph, Node, ValueId};

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    let nodes = std::mem::take(&mut graph.nodes);
    let producers = Graph { nodes: nodes.clone(), ..graph.clone() }.producers();
    let mut stages = Vec::with_capacity(nodes.len() + 2);
    for relu in nodes.iter().filter(|node| !is_affine(&node.function)) {
        let map = match producers[relu.inputs[0]] {
            Some(index) => nodes[index].clone(),
            None => identity(&mut graph, relu.inputs[0], "before the first ReLU", notes),
        };
        let inputs = vec![map.output];
        stages.extend([map, Node { inputs, ..relu.clone() }]);
    }
    let last = match producers[graph.output].filter(|&index| is_affine(&nodes[index].function)) {
        Some(index) => {
            let name = format!("{} (output)", graph.values[graph.output].name);
            let output = graph.fresh_value(name, graph.values[graph.output].shape.clone());
            Node { output, ..nodes[index].clone() }
        }
        None => {
            let output = graph.output;
            identity(&mut graph, output, "after the last ReLU", notes)
        }
    };
    graph.output = last.output;
    stages.push(last);
    graph.nodes = stages;
    Ok(graph)
}

fn identity(graph: &mut Graph, input: ValueId, place: &str, notes: &mut Vec<String>) -> Node {
    notes.push(format!("an identity layer was added {place}"));
    let n = graph.values[input].entries();
    let output = graph.fresh_value(format!("{} (identity)", graph.values[input].name), vec![n]);
    let function = Function::Affine(Affine::identity(n));
    Node {
        name: "identity".into(),
        origin: "identity layer".into(),
        parts: vec![],
        function,
        inputs: vec![input],
        output,
        windows: vec![],
    }
}

pub fn check(graph: &Graph) {
    assert!(graph.nodes.len() % 2 == 1, "the stages do not begin and end with an affine map");
    let mut is_read = vec![false; graph.values.len()];
    is_read[graph.input] = true;
    for (index, node) in graph.nodes.iter().enumerate() {
        assert_eq!(is_affine(&node.function), index % 2 == 0, "'{}' breaks the alternation", node.name);
        if index % 2 == 0 {
            assert!(node.inputs.iter().all(|&id| is_read[id]), "'{}' reads what is no ReLU", node.name);
        } else {
            assert_eq!(node.inputs, [graph.nodes[index - 1].output], "'{}' is of another map", node.name);
            is_read[node.output] = true;
        }
    }
    assert_eq!(graph.nodes.last().map(|node| node.output), Some(graph.output), "the output is not last");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Op};
    use crate::normalise::compose;

    #[test]
    fn bare_relus_get_identities() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let a = builder.node("a", &Op::Relu, &[x], "a").unwrap();
        let mut notes = vec![];
        let graph = run(builder.finish(&a).unwrap(), &mut notes).unwrap();
        graph.check();
        check(&graph);
        assert_eq!((graph.nodes.len(), notes.len()), (3, 2));
    }

    #[test]
    fn a_sum_of_the_input_and_a_relu_reads_both() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let h = builder.node("h", &Op::Relu, std::slice::from_ref(&x), "h").unwrap();
        let y = builder.node("sum", &Op::Add, &[x, h], "y").unwrap();
        let z = builder.node("z", &Op::Relu, std::slice::from_ref(&y), "z").unwrap();
        let w = builder.node("w", &Op::Sub, &[y, z], "w").unwrap();
        let graph = compose::run(builder.finish(&w).unwrap(), &mut vec![]).unwrap();
        let graph = run(graph, &mut vec![]).unwrap();
        graph.check();
        check(&graph);
        assert_eq!(graph.nodes.len(), 5);
        assert_eq!(graph.nodes[4].inputs.len(), 3);
    }
}
