//! The parts of an ONNX model that say what it computes.
//!
//! Descriptions, and the shapes that a model claims for its intermediate values, are not read.

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::number::Dyadic;
use crate::protobuf::{Message, Value};
use crate::{Refused, refuse};

use super::tensor::Tensor;

/// The versions of the operator set whose meaning is known here.
const OPSETS: std::ops::RangeInclusive<i64> = 7..=24;

pub(super) struct Model<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) initialisers: Vec<(&'a str, Tensor)>,
    inputs: Vec<(&'a str, Vec<i64>)>,
    pub(super) output: &'a str,
}

pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    pub(super) operator: &'a str,
    pub(super) inputs: Vec<&'a str>,
    pub(super) outputs: Vec<&'a str>,
    pub(super) attributes: HashMap<&'a str, Attribute<'a>>,
}

/// The value of an attribute, in the field of its type. A number that is zero may be left out of the file.
#[derive(Default)]
pub(super) struct Attribute<'a> {
    /// Which of the fields it is, in the numbers of ONNX: 1, 2, 3, 4 and 7 in the order here.
    pub(super) kind: i64,
    pub(super) float: Dyadic,
    pub(super) int: i64,
    pub(super) text: &'a str,
    pub(super) tensor: Option<Tensor>,
    pub(super) ints: Vec<i64>,
}

impl<'a> Model<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self, Refused> {
        let (mut graph, mut opset) = (None, None);
        for field in Message(bytes) {
            match field? {
                (7, value) if graph.is_none() => graph = Some(value.bytes()?),
                (7, _) => return refuse("the model has two graphs"),
                (8, value) => opset = opset_version(value.bytes()?)?.or(opset),
                _ => {}
            }
        }
        let Some(version) = opset.filter(|version| OPSETS.contains(version)) else {
            return refuse(format!("the model's operator set is {opset:?}, and versions {OPSETS:?} are known"));
        };
        let graph = graph.ok_or_else(|| Refused("the model has no graph; is it an ONNX file?".into()))?;
        Self::graph(graph).map_err(|fault| fault.at(format!("ONNX model of operator set {version}")))
    }

    fn graph(bytes: &'a [u8]) -> Result<Self, Refused> {
        let mut model = Self { nodes: Vec::new(), initialisers: Vec::new(), inputs: Vec::new(), output: "" };
        let mut outputs = Vec::new();
        for field in Message(bytes) {
            match field? {
                (1, value) => model.nodes.push(Node::read(value.bytes()?)?),
                (5, value) => model.initialisers.push(Tensor::read(value.bytes()?)?),
                (11, value) => model.inputs.push(value_info(value.bytes()?)?),
                (12, value) => outputs.push(value_info(value.bytes()?)?.0),
                (15, _) => return refuse("sparse initialisers are not supported"),
                _ => {}
            }
        }
        let [output] = outputs[..] else {
            return refuse(format!("the graph has {} outputs {outputs:?}, and one is supported", outputs.len()));
        };
        Ok(Self { output, ..model })
    }

    /// The input that no initialiser gives a value, and its shape. A leading dimension that is open is that of the batch
    /// and counts as 1.
    pub(super) fn input(&self) -> Result<(&'a str, Vec<usize>), Refused> {
        let given: HashSet<&str> = self.initialisers.iter().map(|(name, _)| *name).collect();
        let free: Vec<_> = self.inputs.iter().filter(|(name, _)| !given.contains(name)).collect();
        let [(name, dims)] = free[..] else {
            let names: Vec<_> = free.iter().map(|(name, _)| name).collect();
            return refuse(format!("the graph has {} inputs {names:?}, and one is supported", names.len()));
        };
        let size = |(axis, &dim): (usize, &i64)| match usize::try_from(dim) {
            Ok(size @ 1..) => Ok(size),
            _ if axis == 0 => Ok(1),
            _ => refuse(format!("the input `{name}` has no fixed size along axis {axis}")),
        };
        Ok((name, dims.iter().enumerate().map(size).collect::<Result<_, _>>()?))
    }
}

/// The version, if it is that of the standard operators.
fn opset_version(bytes: &[u8]) -> Result<Option<i64>, Refused> {
    let (mut domain, mut version) = ("", 0);
    for field in Message(bytes) {
        match field? {
            (1, value) => domain = value.text()?,
            (2, value) => version = value.int()?,
            _ => {}
        }
    }
    Ok(is_standard(domain).then_some(version))
}

fn is_standard(domain: &str) -> bool {
    matches!(domain, "" | "ai.onnx")
}

/// The name and the dimensions of a `ValueInfoProto`, 0 for one that is open.
fn value_info(bytes: &[u8]) -> Result<(&str, Vec<i64>), Refused> {
    let (mut name, mut dims) = ("", None);
    for field in Message(bytes) {
        match field? {
            (1, value) => name = value.text()?,
            (2, value) => dims = dimensions(value.bytes()?)?,
            _ => {}
        }
    }
    dims.map(|dims| (name, dims)).ok_or_else(|| Refused(format!("`{name}` is no tensor, or its shape is not given")))
}

/// The dimensions inside a `TypeProto`: those of the shape of its tensor type.
fn dimensions(bytes: &[u8]) -> Result<Option<Vec<i64>>, Refused> {
    let Some(tensor) = last(bytes, 1)? else { return Ok(None) };
    let Some(shape) = last(tensor.bytes()?, 2)? else { return Ok(None) };
    let size = |field: Result<(u64, Value<'_>), Refused>| match field? {
        (1, dim) => last(dim.bytes()?, 1)?.map_or(Ok(0), Value::int),
        _ => refuse("a shape has an unknown field"),
    };
    Message(shape.bytes()?).map(size).collect::<Result<_, _>>().map(Some)
}

/// The last value of a field.
fn last(bytes: &[u8], number: u64) -> Result<Option<Value<'_>>, Refused> {
    let mut found = None;
    for field in Message(bytes) {
        let (field, value) = field?;
        found = if field == number { Some(value) } else { found };
    }
    Ok(found)
}

impl<'a> Node<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, Refused> {
        let mut node =
            Self { name: "", operator: "", inputs: Vec::new(), outputs: Vec::new(), attributes: HashMap::new() };
        let mut domain = "";
        for field in Message(bytes) {
            match field? {
                (1, value) => node.inputs.push(value.text()?),
                (2, value) => node.outputs.push(value.text()?),
                (3, value) => node.name = value.text()?,
                (4, value) => node.operator = value.text()?,
                (5, value) => {
                    let (name, attribute) = Attribute::read(value.bytes()?)?;
                    if node.attributes.insert(name, attribute).is_some() {
                        return refuse(format!("{node}: the attribute `{name}` is given twice"));
                    }
                }
                (7, value) => domain = value.text()?,
                _ => {}
            }
        }
        if is_standard(domain) { Ok(node) } else { refuse(format!("{node}: the operators of `{domain}` are unknown")) }
    }
}

impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name.is_empty() { self.outputs.first().unwrap_or(&"") } else { &self.name };
        write!(f, "node `{name}` ({})", self.operator)
    }
}

impl<'a> Attribute<'a> {
    fn read(bytes: &'a [u8]) -> Result<(&'a str, Self), Refused> {
        let (mut name, mut attribute) = ("", Self::default());
        for field in Message(bytes) {
            match field? {
                (1, value) => name = value.text()?,
                (2, Value::Fixed32(bits)) => {
                    attribute.float =
                        Dyadic::from_f32_bits(bits).ok_or_else(|| Refused("an attribute is NaN".into()))?;
                }
                (3, value) => attribute.int = value.int()?,
                (4, value) => attribute.text = value.text()?,
                (5, value) => attribute.tensor = Some(Tensor::read(value.bytes()?)?.1),
                (8, value) => value.ints(&mut attribute.ints)?,
                (20, value) => attribute.kind = value.int()?,
                (13, _) => {}
                _ => return refuse(format!("the attribute `{name}` is of an unsupported type")),
            }
        }
        Ok((name, attribute))
    }
}
