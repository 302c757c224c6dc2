//! Removes ReLUs that change nothing: of what another ReLU computed, moved about perhaps, and of what another reads already.

use crate::affine::Affine;
use crate::approx::Approx;
use crate::error::Error;
use crate::graph::{Function, Graph, ValueId};
use std::collections::HashMap;

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    let mut same: Vec<ValueId> = (0..graph.values.len()).collect();
    let mut is_positive = vec![false; graph.values.len()];
    let mut relus: HashMap<ValueId, ValueId> = HashMap::new();
    for mut node in std::mem::take(&mut graph.nodes) {
        node.inputs.iter_mut().for_each(|id| *id = same[*id]);
        match &node.function {
            Function::Affine(map) => is_positive[node.output] = moves(map, &node.inputs, &is_positive),
            Function::Relu => {
                let input = node.inputs[0];
                if is_positive[input] {
                    notes.push(format!("'{}' is a ReLU of what is never negative and was dropped", node.name));
                    same[node.output] = input;
                    continue;
                }
                if let Some(&output) = relus.get(&input) {
                    same[node.output] = output;
                    continue;
                }
                relus.insert(input, node.output);
                is_positive[node.output] = true;
            }
        }
        graph.nodes.push(node);
    }
    graph.output = same[graph.output];
    Ok(graph)
}

/// Whether the map only moves values that are never negative. Others are not looked for: to compose them may round.
fn moves(map: &Affine, inputs: &[ValueId], is_positive: &[bool]) -> bool {
    let mut entries = map.matrices.iter().flat_map(|matrix| &matrix.rows).flatten();
    let is_moved = |v: &Approx| *v == Approx::ONE;
    inputs.iter().all(|&id| is_positive[id])
        && map.entries() <= map.outputs()
        && entries.all(|(_, v)| is_moved(v))
        && map.bias.iter().all(|v| *v == Approx::exact(0.0))
}

pub fn check(graph: &Graph) {
    let mut read = vec![false; graph.values.len()];
    let mut is_relu = vec![false; graph.values.len()];
    for node in graph.nodes.iter().filter(|node| matches!(node.function, Function::Relu)) {
        assert!(!is_relu[node.inputs[0]], "'{}' is a ReLU of a ReLU", node.name);
        assert!(!std::mem::replace(&mut read[node.inputs[0]], true), "'{}' repeats another ReLU", node.name);
        is_relu[node.output] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphBuilder, Op};

    #[test]
    fn repeated_relus_go() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let a = builder.node("a", &Op::Relu, std::slice::from_ref(&x), "a").unwrap();
        let again = builder.node("again", &Op::Relu, &[x], "again").unwrap();
        let flat = builder.node("flat", &Op::Flatten { axis: 0 }, &[a], "flat").unwrap();
        let b = builder.node("b", &Op::Relu, &[flat], "b").unwrap();
        let sum = builder.node("sum", &Op::Add, &[again, b], "sum").unwrap();
        let mut notes = vec![];
        let graph = run(builder.finish(&sum).unwrap(), &mut notes).unwrap();
        graph.check();
        check(&graph);
        let relus = graph.nodes.iter().filter(|node| matches!(node.function, Function::Relu)).count();
        assert_eq!((relus, notes.len()), (1, 1));
    }
}
