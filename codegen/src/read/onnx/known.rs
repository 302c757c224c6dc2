//! The values known so far, by name, and the node that comes next.
//!
//! Constants are numbers without a type in the graph. Where ONNX's element types make a difference, it is made here: a
//! Cast to float rounds a constant, and integers wrap and divide by truncation, so their arithmetic is taken over only
//! where it is that of the numbers.

use super::node::Meaning;
use super::proto::{DataType, NodeProto};
use super::tensor::fits;
use crate::approx::Approx;
use crate::graph::{GraphBuilder, Op, Operand, Tensor};
use crate::half::Half;
use std::collections::HashMap;

pub struct Known<'a> {
    pub operands: HashMap<&'a str, Operand>,
    /// The names of integers and truth values, with their types.
    pub integers: HashMap<&'a str, DataType>,
}

pub fn is_integer(element: DataType) -> bool {
    !matches!(element, DataType::Float | DataType::Double | DataType::Float16 | DataType::Bfloat16)
}

impl<'a> Known<'a> {
    /// Adds the node to the graph and its output to what is known; everything it reads is known already.
    pub fn add(&mut self, builder: &mut GraphBuilder, node: &'a NodeProto, meaning: Meaning) -> Result<(), String> {
        let output = node.output[0].as_str();
        let integer = match &meaning {
            Meaning::Constant(_, element) | Meaning::Cast(element) => is_integer(*element).then_some(*element),
            _ => node.input.first().and_then(|name| self.integers.get(name.as_str()).copied()),
        };
        let operand = self.operand(builder, node, meaning)?;
        self.operands.insert(output, operand);
        if let Some(element) = integer {
            self.integers.insert(output, element);
        }
        Ok(())
    }

    fn operand(&self, builder: &mut GraphBuilder, node: &NodeProto, meaning: Meaning) -> Result<Operand, String> {
        // `None` is an optional input that is left out.
        let input = |name: &String| (!name.is_empty()).then(|| self.operands[name.as_str()].clone());
        let mut inputs = node.input.iter().map(input).collect();
        let op = match meaning {
            Meaning::Constant(tensor, _) => return Ok(tensor.into()),
            meaning => resolve(meaning, &mut inputs)?,
        };
        while inputs.last().is_some_and(Option::is_none) {
            inputs.pop();
        }
        let inputs: Option<Vec<Operand>> = inputs.into_iter().collect();
        let inputs = inputs.ok_or("an optional input is left out before a given one, which is not supported")?;
        let name = if node.name.is_empty() { &node.output[0] } else { &node.name };
        let operand = builder.node(name, &op, &inputs, &node.output[0])?;
        let mut integers = node.input.iter().filter_map(|name| self.integers.get(name.as_str()));
        if is_arithmetic(&op) && integers.any(|&element| !all_fit(&operand, element)) {
            return Err("it computes with integers, which is supported for small constants without a remainder".into());
        }
        Ok(operand)
    }
}

/// The operator, and its inputs as it wants them.
fn resolve(meaning: Meaning, inputs: &mut Vec<Option<Operand>>) -> Result<Op, String> {
    let op = match meaning {
        Meaning::Op(op) => op,
        Meaning::SliceBy(tensors) => {
            inputs.extend(tensors.into_iter().map(|tensor| Some(tensor.into())));
            Op::Slice
        }
        Meaning::Dropout => {
            let mode = inputs.get(2).cloned().flatten();
            if mode.is_some_and(|mode| !is_false(&mode)) {
                return Err("it is in training mode, or may be".into());
            }
            inputs.truncate(1);
            Op::Identity
        }
        Meaning::Cast(to) => {
            for input in inputs.iter_mut().flatten() {
                *input = cast(input, to)?;
            }
            Op::Identity
        }
        Meaning::Constant(..) => unreachable!("a constant has no operator"),
    };
    if let (Op::Slice, [_, Some(starts), _, axes @ None, _]) = (&op, inputs.as_mut_slice()) {
        *axes = leading_axes(starts);
    }
    Ok(op)
}

/// The first axes, which a Slice means when it gives none.
fn leading_axes(starts: &Operand) -> Option<Operand> {
    let Operand::Constant(starts) = starts else { return None };
    let data = (0..starts.data.len()).map(|axis| Approx::exact(axis as f64)).collect();
    Some(Tensor { shape: vec![starts.data.len()], data }.into())
}

fn is_false(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(t) if t.data.iter().all(|v| v.value == 0.0 && v.radius == 0.0))
}

/// A constant as another type; a computed value stays the real number it is.
fn cast(operand: &Operand, to: DataType) -> Result<Operand, String> {
    let rounded = |tensor: &Tensor, round: fn(Approx) -> Approx| {
        let data = tensor.data.iter().map(|&v| round(v)).collect();
        Ok(Tensor { shape: tensor.shape.clone(), data }.into())
    };
    match (operand, to) {
        (Operand::Constant(tensor), DataType::Float) => rounded(tensor, Approx::rounded_to_f32),
        (Operand::Constant(tensor), DataType::Float16) => rounded(tensor, |v| v.rounded_to(Half::Float16)),
        (Operand::Constant(tensor), DataType::Bfloat16) => rounded(tensor, |v| v.rounded_to(Half::Bfloat16)),
        _ if !is_integer(to) => Ok(operand.clone()),
        (Operand::Constant(tensor), DataType::Int32 | DataType::Int64) if tensor.data.iter().all(is_whole) => {
            Ok(operand.clone())
        }
        _ if all_fit(operand, to) => Ok(operand.clone()),
        _ => Err("a Cast to integers is supported for whole constants that fit only".into()),
    }
}

fn is_whole(v: &Approx) -> bool {
    v.radius == 0.0 && v.value.fract() == 0.0
}

/// Constants that are integers of a type, also where ONNX would compute them in it.
fn all_fit(operand: &Operand, element: DataType) -> bool {
    matches!(operand, Operand::Constant(t) if t.data.iter().all(|v| v.radius == 0.0 && fits(element, v.value)))
}

fn is_arithmetic(op: &Op) -> bool {
    matches!(
        op,
        Op::Gemm { .. }
            | Op::MatMul
            | Op::Conv { .. }
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::BatchNormalization { .. }
    )
}
