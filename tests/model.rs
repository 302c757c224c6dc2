//! Small ONNX models, made by hand.

use pg_codegen::error::Error;
use pg_codegen::net::Net;
use pg_codegen::normalise::normalise;
use pg_codegen::read::onnx::proto::*;
use pg_codegen::read::read_as;
use prost::Message;

pub use pg_codegen::read::onnx::proto::ModelProto;

/// The model's normal form, by way of its bytes.
pub fn compile(model: &ModelProto) -> Result<Net, Error> {
    compile_bytes(&model.encode_to_vec())
}

pub fn compile_bytes(bytes: &[u8]) -> Result<Net, Error> {
    normalise(read_as(bytes, "test.onnx")?, |_, _| {})
}

/// From the input `x` to the last node's output.
pub fn model(opset: i64, input: ValueInfoProto, initializer: Vec<TensorProto>, node: Vec<NodeProto>) -> ModelProto {
    let output = vec![ValueInfoProto { name: node.last().expect("a node").output[0].clone(), r#type: None }];
    let graph =
        GraphProto { node, name: "g".into(), initializer, input: vec![input], output, sparse_initializer: vec![] };
    let opset_import = vec![OperatorSetIdProto { domain: String::new(), version: opset }];
    ModelProto { ir_version: 7, graph: Some(graph), opset_import, functions: vec![] }
}

/// A value of floats; a size of 0 is left open.
pub fn value(name: &str, dims: &[i64]) -> ValueInfoProto {
    typed_value(name, dims, DataType::Float)
}

pub fn typed_value(name: &str, dims: &[i64], element: DataType) -> ValueInfoProto {
    let size = |&d: &i64| match d {
        0 => DimensionProto { dim_value: None, dim_param: Some("batch".into()) },
        d => DimensionProto { dim_value: Some(d), dim_param: None },
    };
    let shape = Some(TensorShapeProto { dim: dims.iter().map(size).collect() });
    let tensor_type = Some(TensorTypeProto { elem_type: element as i32, shape });
    ValueInfoProto { name: name.into(), r#type: Some(TypeProto { tensor_type }) }
}

/// A tensor of a type, without data.
pub fn typed(name: &str, dims: &[i64], element: DataType) -> TensorProto {
    TensorProto { name: name.into(), dims: dims.to_vec(), data_type: element as i32, ..Default::default() }
}

pub fn floats(name: &str, dims: &[i64], data: &[f32]) -> TensorProto {
    TensorProto { float_data: data.to_vec(), ..typed(name, dims, DataType::Float) }
}

pub fn doubles(name: &str, dims: &[i64], data: &[f64]) -> TensorProto {
    TensorProto { double_data: data.to_vec(), ..typed(name, dims, DataType::Double) }
}

/// A tensor of floats whose data lies in another file.
pub fn elsewhere(name: &str, dims: &[i64], location: &str, more: &[(&str, &str)]) -> TensorProto {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto { key: key.into(), value: value.into() };
    let external_data = [("location", location)].iter().chain(more).map(entry).collect();
    TensorProto { data_location: EXTERNAL, external_data, ..typed(name, dims, DataType::Float) }
}

/// A vector of 64-bit integers.
pub fn integers(name: &str, data: &[i64]) -> TensorProto {
    TensorProto { int64_data: data.to_vec(), ..typed(name, &[data.len() as i64], DataType::Int64) }
}

/// One truth value.
pub fn flag(name: &str, value: bool) -> TensorProto {
    TensorProto { int32_data: vec![value.into()], ..typed(name, &[], DataType::Bool) }
}

pub fn node(op: &str, inputs: &[&str], output: &str) -> NodeProto {
    with(op, inputs, output, vec![])
}

pub fn with(op: &str, inputs: &[&str], output: &str, attribute: Vec<AttributeProto>) -> NodeProto {
    NodeProto {
        op_type: op.into(),
        name: format!("{op} to {output}"),
        input: inputs.iter().map(|s| s.to_string()).collect(),
        output: vec![output.into()],
        attribute,
        ..Default::default()
    }
}

fn attribute(name: &str, kind: AttributeType) -> AttributeProto {
    AttributeProto { name: name.into(), r#type: kind as i32, ..Default::default() }
}

pub fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto { i: Some(value), ..attribute(name, AttributeType::Int) }
}

pub fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto { ints: values.to_vec(), ..attribute(name, AttributeType::Ints) }
}

pub fn float(name: &str, value: f32) -> AttributeProto {
    AttributeProto { f: Some(value), ..attribute(name, AttributeType::Float) }
}

pub fn string(name: &str, value: &str) -> AttributeProto {
    AttributeProto { s: Some(value.into()), ..attribute(name, AttributeType::String) }
}

pub fn float_list(name: &str, values: &[f32]) -> AttributeProto {
    AttributeProto { floats: values.to_vec(), ..attribute(name, AttributeType::Floats) }
}

pub fn tensor(name: &str, value: TensorProto) -> AttributeProto {
    AttributeProto { t: Some(value), ..attribute(name, AttributeType::Tensor) }
}
