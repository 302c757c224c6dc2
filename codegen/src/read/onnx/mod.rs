//! ONNX: decode, order the nodes, build the graph.

mod ending;
mod external;
mod interface;
mod known;
mod limits;
mod node;
mod order;
pub mod proto;
mod tensor;

use super::folder::Folder;
use super::{Content, Format};
use crate::error::Error;
use crate::graph::Operand;
use known::Known;
use node::{Meaning, meaning};
pub use node::{OPERATORS, Operator};
use prost::Message;
use proto::{DataType, GraphProto, ModelProto, NodeProto, ValueInfoProto};
use std::collections::{HashMap, HashSet};

/// The opsets whose operators mean what this reader takes them to mean.
pub const OPSETS: std::ops::RangeInclusive<i64> = 7..=25;
/// The newest version of the format, as far as it is known here.
const NEWEST_IR: i64 = 13;

/// The functions that a model defines, by domain and name.
type Functions<'a> = HashSet<(&'a str, &'a str)>;

pub(super) fn read(bytes: &[u8], folder: &mut Folder) -> Result<Content, Error> {
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
    content(proto, Format::Onnx { ir: model.ir_version, opset }, opset, &functions)
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

fn content(proto: &GraphProto, format: Format, opset: i64, functions: &Functions) -> Result<Content, Error> {
    let (inputs, mut notes) = interface::inputs(proto).map_err(Error::Model)?;
    let mut outputs = interface::outputs(proto).map_err(Error::Model)?;
    let cut = if let [only] = outputs[..] { ending::find(proto, only, functions) } else { None };
    outputs.iter_mut().for_each(|name| *name = cut.as_ref().map_or(*name, |cut| cut.scores));
    let mut known = Known::new(proto, initialisers(proto).map_err(Error::Model)?);
    let (mut builder, operands) = interface::begin(&inputs).map_err(Error::Model)?;
    known.operands.extend(inputs.iter().map(|declared| declared.name.as_str()).zip(operands));
    let order = order::topological(proto, &outputs, &known.operands).map_err(Error::Model)?;
    let nodes = meanings(&order, opset, functions)?;
    for (node, meaning) in order.into_iter().zip(nodes) {
        let added = known.add(&mut builder, node, meaning);
        added.map_err(|e| Error::Model(format!("{}: {e}", describe(node, opset))))?;
    }
    let computed: Vec<_> = outputs.iter().map(|&name| (name, known.operands[name].clone())).collect();
    let (graph, outputs) = interface::end(builder, &computed).map_err(Error::Model)?;
    if let Some(cut) = &cut {
        cut.check(&graph.values[graph.output].shape, opset).map_err(Error::Model)?;
        notes.push(cut.note());
    }
    notes.extend(note_of_halves(proto));
    let ending = cut.map(|cut| cut.ending).unwrap_or_default();
    let inputs = if inputs.len() > 1 { inputs } else { vec![] };
    Ok(Content { graph, format, inputs, outputs, ending, domain: None, notes })
}

fn initialisers(proto: &GraphProto) -> Result<HashMap<&str, Operand>, String> {
    let mut initialisers = HashMap::new();
    for init in &proto.initializer {
        let tensor = tensor::tensor(init).map_err(|e| format!("initialiser '{}': {e}", init.name))?;
        if initialisers.insert(init.name.as_str(), Operand::from(tensor)).is_some() {
            return Err(format!("initialiser '{}' is given twice", init.name));
        }
    }
    Ok(initialisers)
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
    format!("node '{}' ({}, opset {opset})", node::name(node), node.op_type)
}
