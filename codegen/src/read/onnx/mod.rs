//! ONNX: decode, order the nodes, build the graph.

mod external;
mod known;
mod limits;
mod node;
mod order;
pub mod proto;
mod tensor;

use super::Format;
use super::folder::Folder;
use crate::error::Error;
use crate::graph::{Graph, GraphBuilder, Operand};
use known::{Known, is_integer};
use node::{Meaning, meaning};
use prost::Message;
use proto::{DataType, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use std::collections::{HashMap, HashSet};

/// The opsets whose operators mean what this reader takes them to mean.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=25;
/// The newest version of the format, as far as it is known here.
const NEWEST_IR: i64 = 13;

/// The functions that a model defines, by domain and name.
type Functions<'a> = HashSet<(&'a str, &'a str)>;

pub fn read(bytes: &[u8], folder: &mut Folder) -> Result<(Graph, Format, Vec<String>), Error> {
    limits::check(bytes).map_err(Error::Model)?;
    let mut model = ModelProto::decode(bytes).map_err(|e| Error::Model(format!("not an ONNX model: {e}")))?;
    if model.ir_version > NEWEST_IR {
        let what = format!("it has IR version {}; up to {NEWEST_IR} is supported", model.ir_version);
        return Err(Error::Model(what));
    }
    let opset = opset(&model).map_err(Error::Model)?;
    let functions: Functions = model.functions.iter().map(|f| (domain(&f.domain), f.name.as_str())).collect();
    let proto = model.graph.as_mut().ok_or_else(|| Error::Model("not an ONNX model: it has no graph".into()))?;
    if !proto.sparse_initializer.is_empty() {
        return Err(Error::Unsupported(vec!["sparse initialisers".into()]));
    }
    external::load(proto, folder).map_err(Error::Model)?;
    let notes = note_of_halves(proto).into_iter().collect();
    let graph = graph(proto, opset, &functions)?;
    Ok((graph, Format::Onnx { ir: model.ir_version, opset }, notes))
}

/// A model of 16-bit floats is read as any other: as a function of real numbers. Its own program rounds much.
fn note_of_halves(proto: &GraphProto) -> Option<String> {
    let is_half = |element: i32| matches!(DataType::try_from(element), Ok(DataType::Float16 | DataType::Bfloat16));
    let declared = |info: &ValueInfoProto| Some(info.r#type.as_ref()?.tensor_type.as_ref()?.elem_type);
    let inputs = proto.input.iter().filter_map(declared);
    let mut elements = proto.initializer.iter().map(|t| t.data_type).chain(inputs);
    let note =
        "the model has 16-bit floats: it is verified as a function of real numbers, without the rounding to 16 bits";
    elements.any(is_half).then(|| note.into())
}

/// The standard operators' domain has two names.
fn domain(name: &str) -> &str {
    if name == "ai.onnx" { "" } else { name }
}

fn opset(model: &ModelProto) -> Result<i64, String> {
    let version =
        model.opset_import.iter().find(|import| domain(&import.domain).is_empty()).map(|import| import.version);
    match version {
        Some(version) if OPSETS.contains(&version) => Ok(version),
        Some(version) => {
            Err(format!("it uses opset {version}; opsets {} to {} are supported", OPSETS.start(), OPSETS.end()))
        }
        None => Err("it names no opset of the standard operators".into()),
    }
}

fn graph(proto: &GraphProto, opset: i64, functions: &Functions) -> Result<Graph, Error> {
    let (input, output) = (only_input(proto)?, only_output(proto)?);
    let mut constants = HashMap::new();
    for init in &proto.initializer {
        let tensor = tensor::tensor(init).map_err(|e| Error::Model(format!("initialiser '{}': {e}", init.name)))?;
        constants.insert(init.name.as_str(), Operand::from(tensor));
    }
    let order = order::topological(proto, &input.name, &output.name, &constants).map_err(Error::Model)?;
    let nodes = meanings(&order, opset, functions)?;
    let shape = input_shape(input).map_err(Error::Model)?;
    let (mut builder, x) = GraphBuilder::new(&input.name, shape).map_err(Error::Model)?;
    let mut known = Known { operands: constants, integers: integer_initialisers(proto) };
    known.operands.insert(&input.name, x);
    for (node, meaning) in order.into_iter().zip(nodes) {
        let added = known.add(&mut builder, node, meaning);
        added.map_err(|e| Error::Model(format!("{}: {e}", describe(node, opset))))?;
    }
    builder.finish(&known.operands[output.name.as_str()]).map_err(Error::Model)
}

fn integer_initialisers(proto: &GraphProto) -> HashMap<&str, DataType> {
    proto.initializer.iter().filter(|t| is_integer(t.data_type())).map(|t| (t.name.as_str(), t.data_type())).collect()
}

/// The meanings of all nodes, or everything about them that is not supported.
fn meanings(order: &[&NodeProto], opset: i64, functions: &Functions) -> Result<Vec<Meaning>, Error> {
    let mut unsupported = Vec::new();
    let mut found = Vec::new();
    for node in order {
        let called = (domain(&node.domain), node.op_type.as_str());
        let defined = || {
            Err(format!("it calls '{}.{}', a function that the model defines; inline those first", called.0, called.1))
        };
        match if functions.contains(&called) { defined() } else { meaning(node) } {
            Ok(meaning) => found.push(meaning),
            Err(why) => unsupported.push(format!("{}: {why}", describe(node, opset))),
        }
    }
    if unsupported.is_empty() { Ok(found) } else { Err(Error::Unsupported(unsupported)) }
}

fn describe(node: &NodeProto, opset: i64) -> String {
    let name = if node.name.is_empty() { node.output.first().map_or("", |o| o) } else { &node.name };
    format!("node '{name}' ({}, opset {opset})", node.op_type)
}

/// The one input that is not an initialiser.
fn only_input(proto: &GraphProto) -> Result<&ValueInfoProto, Error> {
    let initialisers: HashSet<&str> = proto.initializer.iter().map(|t| t.name.as_str()).collect();
    let inputs: Vec<_> = proto.input.iter().filter(|i| !initialisers.contains(i.name.as_str())).collect();
    one(&inputs, "input")
}

fn only_output(proto: &GraphProto) -> Result<&ValueInfoProto, Error> {
    one(&proto.output.iter().collect::<Vec<_>>(), "output")
}

fn one<'a>(values: &[&'a ValueInfoProto], what: &str) -> Result<&'a ValueInfoProto, Error> {
    match values {
        [value] => Ok(value),
        _ => {
            let names: Vec<&str> = values.iter().map(|v| v.name.as_str()).take(8).collect();
            Err(Error::Model(format!("it has {} {what}s {names:?}; exactly one is supported", values.len())))
        }
    }
}

/// The declared shape; an unknown leading dimension is a batch of one.
fn input_shape(info: &ValueInfoProto) -> Result<Vec<usize>, String> {
    let named = |what: &str| format!("the input '{}' {what}", info.name);
    let tensor = info.r#type.as_ref().and_then(|t| t.tensor_type.as_ref()).ok_or_else(|| named("is not a tensor"))?;
    match DataType::try_from(tensor.elem_type) {
        Ok(DataType::Float | DataType::Double | DataType::Float16 | DataType::Bfloat16) => {}
        Ok(other) => return Err(named(&format!("has element type {other:?}; inputs have to be floats"))),
        Err(_) => return Err(named(&format!("has the unknown element type {}", tensor.elem_type))),
    }
    let shape = tensor.shape.as_ref().ok_or_else(|| named("has no shape"))?;
    let size = |(i, dim): (usize, &proto::DimensionProto)| match dim.dim_value {
        Some(d) if d > 0 => Ok(d as usize),
        Some(d) if d < -1 => Err(named(&format!("has the size {d} in dimension {i}"))),
        _ if i == 0 => Ok(1),
        _ => Err(named(&format!("has no fixed size in dimension {i}"))),
    };
    shape.dim.iter().enumerate().map(size).collect()
}
