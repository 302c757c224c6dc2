//! The network as a DAG of affine maps and ReLUs, from the reader to the normal form.
//!
//! Nodes stand in topological order, each has one output; every value has a known shape. Operators are given their
//! meaning while the graph is built ([`ops`]); a node remembers the operator it came from. Constants are part of the
//! maps, so nodes read computed values only.

mod build;
mod dump;
mod op;
mod ops;

use crate::affine::Affine;
use crate::approx::Approx;
pub use build::{GraphBuilder, Operand};
pub use op::{Op, PadMode, Reduce};
pub use ops::decided_floor;
pub use ops::resize::{Coordinates, Interpolation, Resize, Rounding};
pub use ops::window::{AutoPad, Window};
use pg_core::map::Geometry;

pub type ValueId = usize;

/// A constant; its entries carry the error of the folding that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    pub shape: Vec<usize>,
    pub data: Vec<Approx>,
}

#[derive(Clone, Debug)]
pub struct Value {
    pub name: String,
    pub shape: Vec<usize>,
}

impl Value {
    pub fn entries(&self) -> usize {
        self.shape.iter().product()
    }
}

#[derive(Clone, Debug)]
pub enum Function {
    Affine(Affine),
    Relu,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub name: String,
    /// The operators the node was made from, for people.
    pub origin: String,
    /// The names of the model's nodes that it was made from.
    pub parts: Vec<String>,
    pub function: Function,
    pub inputs: Vec<ValueId>,
    pub output: ValueId,
    /// The convolutions that it was made from: some of its maps may still be one.
    pub windows: Vec<Geometry>,
}

#[derive(Clone, Debug)]
pub struct Graph {
    pub values: Vec<Value>,
    pub nodes: Vec<Node>,
    /// The model's nodes as they were read: the name and the operator of each.
    pub read: Vec<(String, String)>,
    pub input: ValueId,
    pub output: ValueId,
}

impl Graph {
    pub fn fresh_value(&mut self, name: String, shape: Vec<usize>) -> ValueId {
        self.values.push(Value { name, shape });
        self.values.len() - 1
    }

    /// The node that computes each value, by its index; `None` for the input and for values no node computes.
    pub fn producers(&self) -> Vec<Option<usize>> {
        let mut producers = vec![None; self.values.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            producers[node.output] = Some(index);
        }
        producers
    }

    /// Removes the nodes that the output does not depend on.
    pub fn drop_unread(&mut self) {
        let mut needed = vec![false; self.values.len()];
        needed[self.output] = true;
        for node in self.nodes.iter().rev() {
            if needed[node.output] {
                node.inputs.iter().for_each(|&id| needed[id] = true);
            }
        }
        self.nodes.retain(|node| needed[node.output]);
    }

    /// What holds of every graph at every stage: a broken one is our own mistake, so this panics.
    pub fn check(&self) {
        let mut known = vec![false; self.values.len()];
        known[self.input] = true;
        for node in &self.nodes {
            assert!(!node.inputs.is_empty(), "node '{}' reads nothing", node.name);
            assert!(node.inputs.iter().all(|&id| known[id]), "node '{}' reads what is not yet computed", node.name);
            assert!(!known[node.output], "value '{}' is computed twice", self.values[node.output].name);
            self.check_sizes(node);
            known[node.output] = true;
        }
        assert!(known[self.output], "the output is not computed");
    }

    fn check_sizes(&self, node: &Node) {
        let entries = |id: &ValueId| self.values[*id].entries();
        let read: Vec<usize> = node.inputs.iter().map(entries).collect();
        let (cols, rows) = match &node.function {
            Function::Affine(map) => {
                assert!(map.matrices.iter().all(|m| m.rows.len() == map.outputs()), "node '{}' is ragged", node.name);
                (map.matrices.iter().map(|m| m.cols).collect(), map.outputs())
            }
            Function::Relu => (vec![entries(&node.output)], entries(&node.output)),
        };
        assert_eq!((read, entries(&node.output)), (cols, rows), "node '{}' has a wrong size", node.name);
    }
}
