//! Removes ReLUs that change nothing: of what another ReLU computed, and of what another reads already.
//!
//! A ReLU of values that are only moved about is the moved ReLU. So it is taken before a transpose or a reshape, where it may be
//! one that is there already, and where convolutions find their planes as they left them.

use crate::affine::Affine;
use crate::approx::Approx;
use crate::error::Error;
use crate::graph::{Function, Graph, Node, ValueId};
use std::collections::{HashMap, HashSet};

/// A ReLU is taken before at most so many moves, which are made again after it: no real model has more in a row.
const MOST_MOVES: usize = 8;

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    let nodes = std::mem::take(&mut graph.nodes);
    let (same, movers, relus) = ((0..graph.values.len()).collect(), HashMap::new(), HashMap::new());
    let mut sharing = Sharing { graph, same, movers, relus, outputs: HashSet::new() };
    for mut node in nodes {
        node.inputs.iter_mut().for_each(|id| *id = sharing.same[*id]);
        match &node.function {
            Function::Affine(map) => {
                if moves(map) {
                    sharing.movers.insert(node.output, sharing.graph.nodes.len());
                }
                sharing.graph.nodes.push(node);
            }
            Function::Relu => sharing.relu(node, notes),
        }
    }
    let Sharing { mut graph, same, .. } = sharing;
    graph.output = same[graph.output];
    graph.drop_unread();
    Ok(graph)
}

struct Sharing {
    graph: Graph,
    /// The value that stands for each.
    same: Vec<ValueId>,
    /// The nodes that only move a value, by their outputs.
    movers: HashMap<ValueId, usize>,
    /// The ReLU of each value, and all of these.
    relus: HashMap<ValueId, ValueId>,
    outputs: HashSet<ValueId>,
}

impl Sharing {
    fn relu(&mut self, node: Node, notes: &mut Vec<String>) {
        let (mut input, mut moved) = (node.inputs[0], Vec::new());
        while let Some(&index) = self.movers.get(&input).filter(|_| moved.len() < MOST_MOVES) {
            moved.push(index);
            input = self.graph.nodes[index].inputs[0];
        }
        if self.outputs.contains(&input) {
            notes.push(format!("'{}' is a ReLU of a ReLU and was dropped", node.name));
            self.same[node.output] = node.inputs[0];
            return;
        }
        let mut last = match self.relus.get(&input) {
            Some(&relu) => relu,
            None => {
                let output = if moved.is_empty() { node.output } else { self.fresh(&node, input) };
                self.relus.insert(input, output);
                self.outputs.insert(output);
                self.graph.nodes.push(Node { inputs: vec![input], output, ..node.clone() });
                output
            }
        };
        for index in moved.into_iter().rev() {
            let mover = self.graph.nodes[index].clone();
            let output = self.fresh(&node, mover.output);
            self.movers.insert(output, self.graph.nodes.len());
            self.graph.nodes.push(Node { inputs: vec![last], output, ..mover });
            last = output;
        }
        self.same[node.output] = last;
    }

    /// A value of another's shape.
    fn fresh(&mut self, relu: &Node, like: ValueId) -> ValueId {
        let (name, shape) = (self.graph.values[relu.output].name.clone(), self.graph.values[like].shape.clone());
        self.same.push(self.same.len());
        self.graph.fresh_value(format!("{name} (moved)"), shape)
    }
}

/// Whether each output is one of the inputs, or 0.
fn moves(map: &Affine) -> bool {
    let [matrix] = &map.matrices[..] else { return false };
    let is_moved = |row: &Vec<(u32, Approx)>| row.len() <= 1 && row.iter().all(|(_, v)| *v == Approx::ONE);
    matrix.rows.iter().all(is_moved) && map.bias.iter().all(|v| *v == Approx::exact(0.0))
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
    use crate::normalise::compose;

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

    #[test]
    fn a_relu_is_taken_before_a_transpose() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2, 3]).unwrap();
        let turn = |from, to: &str, builder: &mut GraphBuilder| {
            builder.node(to, &Op::Transpose { perm: None }, &[from], to).unwrap()
        };
        let y = turn(x, "y", &mut builder);
        let h = builder.node("h", &Op::Relu, &[y], "h").unwrap();
        let z = turn(h, "z", &mut builder);
        let graph = run(builder.finish(&z).unwrap(), &mut vec![]).unwrap();
        graph.check();
        check(&graph);
        let graph = compose::run(graph, &mut vec![]).unwrap();
        let relu = graph.nodes.iter().find(|node| matches!(node.function, Function::Relu)).unwrap();
        assert_eq!(relu.inputs, [graph.input]);
        let Some(Node { function: Function::Affine(map), .. }) = graph.nodes.last() else { panic!("not affine") };
        assert_eq!(*map, Affine::identity(6));
    }
}
