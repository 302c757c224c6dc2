//! What goes into a model and what comes out of it.
//!
//! A network has one list of inputs and one of outputs. Where a model declares several tensors the list is that of their
//! entries, one tensor after the other in the order of declaration: each input is a slice of it, and the outputs are
//! flattened and joined.

use super::proto::{DataType, DimensionProto, GraphProto, ValueInfoProto};
use crate::approx::Approx;
use crate::graph::{Graph, GraphBuilder, Op, Operand, Tensor};
use crate::read::Declared;
use std::collections::HashSet;

/// The inputs that are not initialisers, and what has to be said about their shapes.
pub fn inputs(proto: &GraphProto) -> Result<(Vec<Declared>, Vec<String>), String> {
    let initialisers: HashSet<&str> = proto.initializer.iter().map(|t| t.name.as_str()).collect();
    let inputs: Vec<_> = proto.input.iter().filter(|i| !initialisers.contains(i.name.as_str())).collect();
    check_names(inputs.iter().map(|i| i.name.as_str()), "input")?;
    let declared = |info: &&ValueInfoProto| Ok(Declared { name: info.name.clone(), shape: shape(info)? });
    let notes = inputs.iter().filter_map(|info| note_of_batch(info)).collect();
    Ok((inputs.iter().map(declared).collect::<Result<_, String>>()?, notes))
}

/// The names of the outputs.
pub fn outputs(proto: &GraphProto) -> Result<Vec<&str>, String> {
    let names = || proto.output.iter().map(|o| o.name.as_str());
    check_names(names(), "output")?;
    Ok(names().collect())
}

fn check_names<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Result<(), String> {
    let mut seen = HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(format!("the {what} '{name}' is declared twice"));
        }
    }
    if seen.is_empty() { Err(format!("it has no {what}")) } else { Ok(()) }
}

/// The declared shape. An unknown leading dimension is a batch of one, and so are those after it if a known one follows.
fn shape(info: &ValueInfoProto) -> Result<Vec<usize>, String> {
    let named = |what: &str| format!("the input '{}' {what}", info.name);
    let tensor = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref()).ok_or_else(|| named("is not a tensor"))?;
    match DataType::try_from(tensor.elem_type) {
        Ok(DataType::Float | DataType::Double | DataType::Float16 | DataType::Bfloat16) => {}
        Ok(other) => return Err(named(&format!("has element type {other:?}; inputs have to be floats"))),
        Err(_) => return Err(named(&format!("has the unknown element type {}", tensor.elem_type))),
    }
    let shape = tensor.shape.as_ref().ok_or_else(|| named("has no shape"))?;
    let batch = batch(&shape.dim);
    let size = |(i, dim): (usize, &DimensionProto)| match dim.dim_value {
        Some(d) if d > 0 => Ok(d as usize),
        Some(d) if d < -1 => Err(named(&format!("has the size {d} in dimension {i}"))),
        _ if i < batch => Ok(1),
        _ => Err(named(&format!("has no fixed size in dimension {i}"))),
    };
    shape.dim.iter().enumerate().map(size).collect()
}

/// How many dimensions lead that have no fixed size. Where all are open, none but the first can be meant for a batch.
fn batch(dims: &[DimensionProto]) -> usize {
    let leading = dims.iter().take_while(|dim| dim.dim_value.is_none_or(|d| d <= 0)).count();
    if leading < dims.len() { leading } else { leading.min(1) }
}

fn note_of_batch(info: &ValueInfoProto) -> Option<String> {
    let batch = batch(&info.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref()?.dim);
    let note = format!("the input '{}' has {batch} leading dimensions without a size: each is taken as 1", info.name);
    (batch > 1).then_some(note)
}

/// A graph whose input is the list of all inputs, and each of them in it.
pub fn begin(inputs: &[Declared]) -> Result<(GraphBuilder, Vec<Operand>), String> {
    if let [only] = inputs {
        let (builder, x) = GraphBuilder::new(&only.name, only.shape.clone())?;
        return Ok((builder, vec![x]));
    }
    let entries = |declared: &Declared| declared.shape.iter().fold(1, |len: usize, &d| len.saturating_mul(d));
    let total = inputs.iter().fold(0, |sum: usize, declared| sum.saturating_add(entries(declared)));
    let (mut builder, all) = GraphBuilder::new("inputs", vec![total])?;
    let (mut start, mut operands) = (0, Vec::with_capacity(inputs.len()));
    for declared in inputs {
        let end = start + entries(declared);
        let ends = [vector(&[start]), vector(&[end])];
        let slice = builder.node(&declared.name, &Op::Slice, &[&[all.clone()][..], &ends].concat(), &declared.name)?;
        let reshape = Op::Reshape { allow_zero: false };
        operands.push(builder.node(&declared.name, &reshape, &[slice, vector(&declared.shape)], &declared.name)?);
        start = end;
    }
    Ok((builder, operands))
}

/// The graph whose output is the list of all outputs; if there are several, also their shapes.
pub fn end(mut builder: GraphBuilder, outputs: &[(&str, Operand)]) -> Result<(Graph, Vec<Declared>), String> {
    if let [(_, only)] = outputs {
        return Ok((builder.finish(only)?, vec![]));
    }
    let (mut declared, mut flat) = (vec![], vec![]);
    for (name, operand) in outputs {
        let shape = builder.shape(operand).to_vec();
        let target = vector(&[shape.iter().product()]);
        flat.push(builder.node(name, &Op::Reshape { allow_zero: false }, &[operand.clone(), target], name)?);
        declared.push(Declared { name: name.to_string(), shape });
    }
    let all = builder.node("outputs", &Op::Concat { axis: 0 }, &flat, "outputs")?;
    Ok((builder.finish(&all)?, declared))
}

fn vector(sizes: &[usize]) -> Operand {
    Tensor { shape: vec![sizes.len()], data: sizes.iter().map(|&d| Approx::exact(d as f64)).collect() }.into()
}
