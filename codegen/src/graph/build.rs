//! Building a graph node by node, in topological order.

use super::ops::{Reading, build, check_shape, checked_len};
use super::{Function, Graph, Node, Op, Tensor, Value, ValueId};
use crate::affine::{Affine, MAX_ENTRIES, too_many_entries};
use crate::approx::Approx;
use pg_core::map::Geometry;
use std::rc::Rc;

/// What a node may read: a value that depends on the network's input, or a constant.
#[derive(Clone, Debug)]
pub enum Operand {
    Value(ValueId),
    Constant(Rc<Tensor>),
}

impl From<Tensor> for Operand {
    fn from(tensor: Tensor) -> Operand {
        Operand::Constant(Rc::new(tensor))
    }
}

pub struct GraphBuilder {
    graph: Graph,
    /// The coefficients and constants made so far: a file must not ask for more than the limit by many small steps.
    made: usize,
}

impl GraphBuilder {
    /// A graph with its input and no node yet.
    pub fn new(input: &str, shape: Vec<usize>) -> Result<(GraphBuilder, Operand), String> {
        if checked_len(&shape)? == 0 {
            return Err(format!("the input '{input}' of shape {shape:?} is empty"));
        }
        let values = vec![Value { name: input.into(), shape }];
        let graph = Graph { values, nodes: vec![], read: vec![], input: 0, output: 0 };
        Ok((GraphBuilder { graph, made: 0 }, Operand::Value(0)))
    }

    /// Adds `output = op(inputs)` as one node or several; an operator on constants alone is folded and adds none.
    pub fn node(&mut self, name: &str, op: &Op, inputs: &[Operand], output: &str) -> Result<Operand, String> {
        self.graph.read.push((name.into(), op.name()));
        let site = &mut Site { builder: self, name, output, origin: op.name(), windows: vec![] };
        inputs.iter().try_for_each(|input| check_shape(site.reading(input).shape))?;
        build(site, op, inputs)
    }

    pub fn shape<'a>(&'a self, operand: &'a Operand) -> &'a [usize] {
        self.reading(operand).shape
    }

    fn reading<'a>(&'a self, operand: &'a Operand) -> Reading<'a> {
        match operand {
            Operand::Value(id) => Reading { shape: &self.graph.values[*id].shape, constant: None },
            Operand::Constant(tensor) => Reading { shape: &tensor.shape, constant: Some(tensor) },
        }
    }

    /// The finished graph; nodes that do not lead to `output` are dropped.
    pub fn finish(mut self, output: &Operand) -> Result<Graph, String> {
        let Operand::Value(id) = *output else {
            return Err("the output does not depend on the input".into());
        };
        self.graph.output = id;
        self.graph.drop_unread();
        self.graph.check();
        Ok(self.graph)
    }
}

impl Operand {
    fn value(&self) -> Option<ValueId> {
        match self {
            Operand::Value(id) => Some(*id),
            Operand::Constant(_) => None,
        }
    }
}

/// The place in a graph where one operator becomes nodes. Each node but the last is a step with a name of its own; the
/// last has none.
pub struct Site<'a> {
    builder: &'a mut GraphBuilder,
    name: &'a str,
    output: &'a str,
    origin: String,
    /// What the next node is a convolution by, if it is one.
    pub windows: Vec<Geometry>,
}

impl Site<'_> {
    pub fn reading<'a>(&'a self, operand: &'a Operand) -> Reading<'a> {
        self.builder.reading(operand)
    }

    /// Adds an affine map of those inputs that are computed. If none is, its bias is the result.
    pub fn affine(
        &mut self,
        step: &str,
        inputs: &[Operand],
        shape: Vec<usize>,
        map: Affine,
    ) -> Result<Operand, String> {
        let reads: Vec<ValueId> = inputs.iter().filter_map(Operand::value).collect();
        if reads.len() != map.matrices.len() {
            return Err("one of its inputs is computed that must be constant".into());
        }
        if reads.is_empty() {
            return self.constant(shape, map.bias);
        }
        if !map.is_usable() {
            return Err(overflow());
        }
        self.count(map.entries() + map.outputs())?;
        if shape.contains(&0) {
            return Err(format!("its output of shape {shape:?} is empty"));
        }
        Ok(self.add(step, Function::Affine(map), reads, shape))
    }

    pub fn relu(&mut self, step: &str, input: &Operand) -> Result<Operand, String> {
        match input {
            Operand::Constant(tensor) => {
                let data = tensor.data.iter().map(|v| v.max(Approx::exact(0.0))).collect();
                self.constant(tensor.shape.clone(), data)
            }
            Operand::Value(id) => {
                let shape = self.builder.graph.values[*id].shape.clone();
                Ok(self.add(step, Function::Relu, vec![*id], shape))
            }
        }
    }

    /// A result that is constant, and adds no node.
    pub fn constant(&mut self, shape: Vec<usize>, data: Vec<Approx>) -> Result<Operand, String> {
        if data.iter().any(|v| !v.is_usable()) {
            return Err(overflow());
        }
        self.count(data.len())?;
        Ok(Tensor { shape, data }.into())
    }

    fn count(&mut self, numbers: usize) -> Result<(), String> {
        self.builder.made += numbers;
        if self.builder.made > MAX_ENTRIES { Err(too_many_entries()) } else { Ok(()) }
    }

    fn add(&mut self, step: &str, function: Function, inputs: Vec<ValueId>, shape: Vec<usize>) -> Operand {
        let named = |name: &str| if step.is_empty() { name.to_string() } else { format!("{name} ({step})") };
        let (name, value) = (named(self.name), named(self.output));
        let output = self.builder.graph.fresh_value(value, shape);
        let (origin, windows) = (self.origin.clone(), std::mem::take(&mut self.windows));
        let parts = vec![self.name.to_string()];
        self.builder.graph.nodes.push(Node { name, origin, parts, function, inputs, output, windows });
        Operand::Value(output)
    }
}

fn overflow() -> String {
    "its numbers overflow, or it divides by zero".into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Window;

    fn vector(values: &[f64]) -> Operand {
        Tensor { shape: vec![values.len()], data: values.iter().map(|&v| Approx::exact(v)).collect() }.into()
    }

    #[test]
    fn constants_fold_and_dead_nodes_go() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let c = builder.node("sum", &Op::Add, &[vector(&[1.0, 2.0]), vector(&[10.0, 20.0])], "c").unwrap();
        let Operand::Constant(folded) = &c else { panic!("not folded") };
        assert_eq!(folded.data[1], Approx::exact(22.0));
        let y = builder.node("shift", &Op::Add, &[x.clone(), c], "y").unwrap();
        builder.node("dead", &Op::Relu, &[x], "z").unwrap();
        let graph = builder.finish(&y).unwrap();
        assert_eq!(graph.nodes.len(), 1);
    }

    #[test]
    fn a_constant_output_is_refused() {
        let (builder, _) = GraphBuilder::new("x", vec![2]).unwrap();
        assert!(builder.finish(&vector(&[1.0])).is_err());
        assert!(GraphBuilder::new("x", vec![0]).is_err());
    }

    #[test]
    fn only_convolutions_have_windows() {
        let (mut builder, x) = GraphBuilder::new("x", vec![1, 1, 4, 4]).unwrap();
        let kernel = Tensor { shape: vec![1, 1, 2, 2], data: vec![Approx::ONE; 4] };
        let conv = Op::Conv { window: Window::plain(), groups: 1 };
        let z = builder.node("z", &conv, &[x, kernel.into()], "z").unwrap();
        let a = builder.node("a", &Op::Abs, &[z], "a").unwrap();
        let y = builder.node("y", &Op::GlobalMaxPool, &[a], "y").unwrap();
        let graph = builder.finish(&y).unwrap();
        let windows: Vec<usize> = graph.nodes.iter().map(|node| node.windows.len()).collect();
        assert_eq!(windows[0], 1);
        assert!(windows[1..].iter().all(|&count| count == 0) && windows.len() > 3);
    }

    #[test]
    fn many_steps_are_bounded_together() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        builder.made = MAX_ENTRIES - 4;
        let first = builder.node("n", &Op::Neg, &[x], "n").unwrap();
        assert!(builder.node("n", &Op::Neg, &[first], "n").unwrap_err().contains("more than"));
    }
}
