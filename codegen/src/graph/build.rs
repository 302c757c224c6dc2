//! Building a graph node by node, in topological order.

use super::ops::{Reading, checked_len, define, geometry};
use super::{Function, Graph, Node, Op, Tensor, Value, ValueId};
use crate::approx::Approx;
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
}

impl GraphBuilder {
    /// A graph with its input and no node yet.
    pub fn new(input: &str, shape: Vec<usize>) -> Result<(GraphBuilder, Operand), String> {
        if checked_len(&shape)? == 0 {
            return Err(format!("the input '{input}' of shape {shape:?} is empty"));
        }
        let values = vec![Value { name: input.into(), shape }];
        Ok((GraphBuilder { graph: Graph { values, nodes: vec![], input: 0, output: 0 } }, Operand::Value(0)))
    }

    /// Adds `output = op(inputs)`; an operator on constants alone is folded and adds no node.
    pub fn node(&mut self, name: &str, op: &Op, inputs: &[Operand], output: &str) -> Result<Operand, String> {
        let reads: Vec<ValueId> = inputs.iter().filter_map(Operand::value).collect();
        let (shape, function, windows) = if *op == Op::Relu {
            let [input] = inputs else { return Err(format!("it has {} inputs", inputs.len())) };
            if let Operand::Constant(tensor) = input {
                return Ok(relu_of_constant(tensor).into());
            }
            (self.graph.values[reads[0]].shape.clone(), Function::Relu, vec![])
        } else {
            let readings: Vec<Reading> = inputs.iter().map(|operand| self.reading(operand)).collect();
            let (shape, map) = define(op, &readings)?;
            if reads.is_empty() {
                return Ok(Tensor { shape, data: map.bias }.into());
            }
            (shape, Function::Affine(map), geometry(op, &readings).into_iter().collect())
        };
        if shape.contains(&0) {
            return Err(format!("its output of shape {shape:?} is empty"));
        }
        let output = self.graph.fresh_value(output.into(), shape);
        let origin = op.name().into();
        self.graph.nodes.push(Node { name: name.into(), origin, function, inputs: reads, output, windows });
        Ok(Operand::Value(output))
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

/// max(·, 0) does not increase a distance, so the radius stays valid.
fn relu_of_constant(tensor: &Tensor) -> Tensor {
    let data = tensor.data.iter().map(|v| Approx { value: v.value.max(0.0), radius: v.radius }).collect();
    Tensor { shape: tensor.shape.clone(), data }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
