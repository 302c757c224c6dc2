//! Multiplies out chains of affine maps: A(Bx + c) + d becomes (AB)x + (Ac + d).
//!
//! Reshapes, transposes and identities vanish here without a rounding, since their coefficients are ones; other
//! products carry their rounding error along ([`crate::approx`]).

use super::is_affine;
use crate::affine::{Affine, Matrix};
use crate::error::Error;
use crate::graph::{Function, Graph, Node, ValueId};
use pg_core::map::Geometry;

pub fn run(mut graph: Graph, _: &mut Vec<String>) -> Result<Graph, Error> {
    let producers = graph.producers();
    for index in 0..graph.nodes.len() {
        let (before, rest) = graph.nodes.split_at_mut(index);
        let node = &mut rest[0];
        if let Function::Affine(map) = &node.function {
            let composed = substitute(node, map, before, &producers);
            let Composed { function, inputs, origin, parts, windows } =
                composed.map_err(|why| Error::Model(format!("node '{}': {why}", node.name)))?;
            if !function.is_usable() {
                return Err(Error::Model(format!("node '{}': folding it overflows", node.name)));
            }
            (node.function, node.inputs) = (Function::Affine(function), inputs);
            (node.origin, node.parts, node.windows) = (origin, parts, windows);
        }
    }
    graph.drop_unread();
    Ok(graph)
}

/// A map that reads no other, and what it was made from.
struct Composed {
    function: Affine,
    inputs: Vec<ValueId>,
    origin: String,
    parts: Vec<String>,
    windows: Vec<Geometry>,
}

/// The node's map with every affine operand replaced by that operand's own map. Operands before it are composed already.
fn substitute(node: &Node, map: &Affine, before: &[Node], producers: &[Option<usize>]) -> Result<Composed, String> {
    let mut result = Affine { matrices: vec![], bias: map.bias.clone() };
    let mut sources = Vec::new();
    let (mut origins, mut made_from): (Vec<&str>, Vec<String>) = (vec![], vec![]);
    let mut windows = node.windows.clone();
    for (matrix, &id) in map.matrices.iter().zip(&node.inputs) {
        match producers[id].map(|p| &before[p]) {
            Some(Node { function: Function::Affine(inner), inputs, origin, parts, windows: given, .. }) => {
                origins.push(origin);
                made_from.extend(parts.iter().cloned());
                windows.extend(given.iter().filter(|window| !node.windows.contains(window)));
                matrix.accumulate(&inner.bias, &mut result.bias);
                for (inner, &source) in inner.matrices.iter().zip(inputs) {
                    add_term(&mut result, &mut sources, source, matrix.compose(inner)?);
                }
            }
            _ => add_term(&mut result, &mut sources, id, matrix.clone()),
        }
    }
    origins.push(&node.origin);
    made_from.extend(node.parts.iter().cloned());
    let mut seen = std::collections::BTreeSet::new();
    made_from.retain(|part| seen.insert(part.clone()));
    Ok(Composed { function: result, inputs: sources, origin: origins.join(" + "), parts: made_from, windows })
}

fn add_term(result: &mut Affine, sources: &mut Vec<ValueId>, source: ValueId, matrix: Matrix) {
    match sources.iter().position(|&s| s == source) {
        Some(t) => result.matrices[t] = result.matrices[t].plus(&matrix),
        None => {
            sources.push(source);
            result.matrices.push(matrix);
        }
    }
}

pub fn check(graph: &Graph) {
    let producers = graph.producers();
    for node in graph.nodes.iter().filter(|node| is_affine(&node.function)) {
        for &id in &node.inputs {
            let reads_affine = producers[id].is_some_and(|p| is_affine(&graph.nodes[p].function));
            assert!(!reads_affine, "'{}' reads an affine map", node.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approx::Approx;
    use crate::graph::{GraphBuilder, Op, Operand, Tensor};

    fn vector(values: &[f64]) -> Operand {
        Tensor { shape: vec![values.len()], data: values.iter().map(|&v| Approx::exact(v)).collect() }.into()
    }

    #[test]
    fn a_sum_of_two_branches_of_one_source_is_one_map() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let a = builder.node("a", &Op::Mul, &[x.clone(), vector(&[2.0, 3.0])], "a").unwrap();
        let b = builder.node("b", &Op::Add, &[x, vector(&[0.5, 0.25])], "b").unwrap();
        let y = builder.node("y", &Op::Sub, &[a, b], "y").unwrap();
        let graph = run(builder.finish(&y).unwrap(), &mut vec![]).unwrap();
        graph.check();
        check(&graph);
        let Function::Affine(map) = &graph.nodes[0].function else { panic!("not affine") };
        assert_eq!(graph.nodes.len(), 1);
        assert_eq!(map.bias, [Approx::exact(-0.5), Approx::exact(-0.25)]);
        assert_eq!(map.matrices[0].rows, [[(0, Approx::exact(1.0))], [(1, Approx::exact(2.0))]]);
    }
}
