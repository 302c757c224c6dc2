//! The values known so far, by name, and the node that comes next.
//!
//! Constants are numbers without a type in the graph. Where ONNX's element types make a difference, it is made here: a
//! Cast to float rounds a constant, and integers wrap and divide by truncation, so their arithmetic is taken over only
//! where it is that of the numbers.

use super::node::{Call, Element, Meaning, inputs, name, outputs};
use super::proto::{DataType, GraphProto, NodeProto};
use super::tensor::fits;
use crate::approx::Approx;
use crate::graph::{GraphBuilder, Op, Operand, Tensor, decided_floor};
use crate::half::Half;
use std::collections::HashMap;

pub struct Known<'a> {
    pub operands: HashMap<&'a str, Operand>,
    elements: HashMap<&'a str, DataType>,
}

fn is_integer(element: DataType) -> bool {
    !matches!(element, DataType::Float | DataType::Double | DataType::Float16 | DataType::Bfloat16)
}

impl<'a> Known<'a> {
    /// What is known before any node: the types of the graph's inputs and initialisers, and the operands given.
    pub fn new(proto: &'a GraphProto, operands: HashMap<&'a str, Operand>) -> Known<'a> {
        let inputs = proto.input.iter().filter_map(|info| {
            let tensor = info.r#type.as_ref()?.tensor_type.as_ref()?;
            Some((info.name.as_str(), DataType::try_from(tensor.elem_type).ok()?))
        });
        let initialisers = proto.initializer.iter().map(|tensor| (tensor.name.as_str(), tensor.data_type()));
        Known { operands, elements: inputs.chain(initialisers).collect() }
    }

    /// Adds the node to the graph and its outputs to what is known; everything it reads is known already.
    pub fn add(&mut self, builder: &mut GraphBuilder, node: &'a NodeProto, meaning: Meaning) -> Result<(), String> {
        let Call { op, inputs: appended, element } = match meaning {
            Meaning::Op(call) => call,
            Meaning::Dropout => self.dropout(node)?,
            Meaning::Cast(element) => return self.cast(builder, node, element),
            Meaning::Constant(tensor, element) => {
                self.insert(&node.output[0], tensor.into(), element);
                return Ok(());
            }
        };
        let element = self.resolved(node, element);
        let op = if op == Op::Div && is_integer(element) { Op::IntegerDiv } else { op };
        let own = (0..inputs(node).len()).map(|index| self.operand(node, index));
        let operands: Vec<Operand> = own.chain(appended.into_iter().map(Operand::from)).collect();
        for (index, output) in outputs(node).iter().enumerate().filter(|(_, output)| !output.is_empty()) {
            let operand = builder.node(name(node), &op.of_output(index), &operands, output)?;
            if !self.types(node, &op, element).all(|element| all_fit(&operand, element)) {
                return Err("it computes with integers, which is supported for small constants".into());
            }
            self.insert(output, operand, element);
        }
        Ok(())
    }

    fn insert(&mut self, name: &'a str, operand: Operand, element: DataType) {
        self.operands.insert(name, operand);
        self.elements.insert(name, element);
    }

    /// An input; one that is left out before a given one is an empty constant.
    fn operand(&self, node: &NodeProto, index: usize) -> Operand {
        match node.input[index].as_str() {
            "" => Tensor { shape: vec![0], data: vec![] }.into(),
            name => self.operands[name].clone(),
        }
    }

    fn resolved(&self, node: &NodeProto, element: Element) -> DataType {
        match element {
            Element::Is(element) => element,
            Element::OfInput(index) => {
                let name = node.input.get(index).map_or("", String::as_str);
                self.elements.get(name).copied().unwrap_or(DataType::Float)
            }
        }
    }

    /// The integer types that results of the operator have to fit: their own, and those of all that it computes with.
    fn types<'b>(&'b self, node: &'b NodeProto, op: &Op, own: DataType) -> impl Iterator<Item = DataType> + 'b {
        let inputs = if is_of_one_type(op) { node.input.as_slice() } else { &[] };
        let found = inputs.iter().filter_map(|name| self.elements.get(name.as_str()).copied());
        let own = is_arithmetic(op).then_some(own);
        own.into_iter().chain(found).filter(|&element| is_integer(element))
    }

    /// A Dropout that is certainly not in training is the identity of its first input.
    fn dropout(&self, node: &NodeProto) -> Result<Call, String> {
        let mode = node.input.get(2).filter(|name| !name.is_empty()).map(|_| self.operand(node, 2));
        if mode.is_some_and(|mode| !is_false(&mode)) {
            return Err("it is in training mode, or may be".into());
        }
        Ok(Call { op: Op::Identity, inputs: vec![], element: Element::OfInput(0) })
    }

    fn cast(&mut self, builder: &mut GraphBuilder, node: &'a NodeProto, element: Element) -> Result<(), String> {
        let (from, to) = (self.resolved(node, Element::OfInput(0)), self.resolved(node, element));
        let operand = cast(&self.operand(node, 0), from, to)?;
        let operand = builder.node(name(node), &Op::Identity, &[operand], &node.output[0])?;
        self.insert(&node.output[0], operand, to);
        Ok(())
    }
}

fn is_false(operand: &Operand) -> bool {
    matches!(operand, Operand::Constant(t) if t.data.iter().all(|v| v.value == 0.0 && v.radius == 0.0))
}

/// A constant as another type; a computed value stays the real number it is.
fn cast(operand: &Operand, from: DataType, to: DataType) -> Result<Operand, String> {
    let each = |tensor: &Tensor, entry: &dyn Fn(Approx) -> Result<Approx, String>| {
        let data = tensor.data.iter().map(|&v| entry(v)).collect::<Result<Vec<_>, _>>()?;
        Ok(Tensor { shape: tensor.shape.clone(), data }.into())
    };
    match (operand, to) {
        (Operand::Constant(tensor), DataType::Float) => each(tensor, &|v| Ok(v.rounded_to_f32())),
        (Operand::Constant(tensor), DataType::Float16) => each(tensor, &|v| Ok(v.rounded_to(Half::Float16))),
        (Operand::Constant(tensor), DataType::Bfloat16) => each(tensor, &|v| Ok(v.rounded_to(Half::Bfloat16))),
        _ if !is_integer(to) => Ok(operand.clone()),
        (Operand::Value(_), _) => Err("a Cast to integers or truth values is supported for constants only".into()),
        (Operand::Constant(tensor), DataType::Bool) => each(tensor, &|v| Ok(Approx::exact(f64::from(!is_zero(v)?)))),
        (Operand::Constant(tensor), _) => {
            let whole = if is_integer(from) { operand.clone() } else { each(tensor, &truncated)? };
            // The widest integers are not looked at: they occur as "to the end" in slices.
            let is_kept = to == DataType::Int64 || all_fit(&whole, to);
            if is_kept { Ok(whole) } else { Err(format!("a Cast to {to:?} is supported for constants that fit only")) }
        }
    }
}

fn is_zero(v: Approx) -> Result<bool, String> {
    let order = v.compare(Approx::exact(0.0));
    order.map(|order| order.is_eq()).ok_or_else(|| "whether it is 0 is lost in its rounding".into())
}

/// Towards zero, as a Cast to integers rounds.
fn truncated(v: Approx) -> Result<Approx, String> {
    let magnitude = if v.value < 0.0 { -v } else { v };
    decided_floor(magnitude).map(|floor| Approx::exact(floor.copysign(v.value)))
}

/// Constants that are integers of a type, also where ONNX would compute them in it.
fn all_fit(operand: &Operand, element: DataType) -> bool {
    matches!(operand, Operand::Constant(t) if t.data.iter().all(|v| v.radius == 0.0 && fits(element, v.value)))
}

/// Whether the results are made of its operands' numbers, not just moved.
fn is_arithmetic(op: &Op) -> bool {
    !matches!(
        op,
        Op::Flatten { .. }
            | Op::Reshape { .. }
            | Op::Squeeze
            | Op::Unsqueeze
            | Op::Transpose { .. }
            | Op::Identity
            | Op::Concat { .. }
            | Op::Slice
            | Op::Gather { .. }
            | Op::Split { .. }
            | Op::Expand
            | Op::Tile
            | Op::Where
            | Op::Max
            | Op::Min
            | Op::Clip
            | Op::ConstantOfShape { .. }
    )
}

/// Whether all inputs have to have the type of the result.
fn is_of_one_type(op: &Op) -> bool {
    matches!(
        op,
        Op::Gemm { .. }
            | Op::MatMul
            | Op::Conv { .. }
            | Op::ConvTranspose { .. }
            | Op::Add
            | Op::Sub
            | Op::Mul
            | Op::Div
            | Op::IntegerDiv
            | Op::Sum
            | Op::Mean
            | Op::PRelu
            | Op::BatchNormalization { .. }
    )
}
