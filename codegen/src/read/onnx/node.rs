//! The register of supported operators: from a node's type and attributes to an [`Op`].

use super::proto::{AttributeProto, AttributeType, DataType, NodeProto};
use super::tensor::tensor;
use crate::approx::Approx;
use crate::graph::{AutoPad, Op, Tensor, Window};

/// What a node asks for.
pub enum Meaning {
    Op(Op),
    /// A Slice of opset 9 or older: starts, ends, axes as attributes.
    SliceBy(Vec<Tensor>),
    Dropout,
    Cast(DataType),
    Constant(Tensor, DataType),
}

/// The node's meaning, or what about it is not supported.
pub fn meaning(node: &NodeProto) -> Result<Meaning, String> {
    if !matches!(node.domain.as_str(), "" | "ai.onnx") {
        return Err(format!("it belongs to the operator domain '{}'", node.domain));
    }
    let attributes = Attributes(&node.attribute);
    let op = match node.op_type.as_str() {
        "Gemm" => Op::Gemm {
            alpha: attributes.float("alpha", 1.0)?,
            beta: attributes.float("beta", 1.0)?,
            trans_a: attributes.flag("transA")?,
            trans_b: attributes.flag("transB")?,
        },
        "MatMul" => Op::MatMul,
        "Conv" => Op::Conv { window: window(&attributes)?, groups: attributes.int("group", 1)? },
        "Add" => Op::Add,
        "Sub" => Op::Sub,
        "Mul" => Op::Mul,
        "Div" => Op::Div,
        "Relu" => Op::Relu,
        "BatchNormalization" => batch_normalization(&attributes, &node.output)?,
        "Flatten" => Op::Flatten { axis: attributes.int("axis", 1)? },
        "Reshape" => Op::Reshape { allow_zero: attributes.flag("allowzero")? },
        "Squeeze" => Op::Squeeze { axes: attributes.ints("axes") },
        "Unsqueeze" => Op::Unsqueeze { axes: attributes.ints("axes") },
        "Transpose" => Op::Transpose { perm: attributes.ints("perm") },
        "Identity" => Op::Identity,
        "Concat" => Op::Concat { axis: attributes.required_int("axis")? },
        "Slice" => return slice(&attributes),
        "Dropout" => return Ok(Meaning::Dropout),
        "Cast" => return cast(&attributes),
        "Constant" => return constant(&attributes),
        other => return Err(format!("the operator {other} is not supported")),
    };
    Ok(Meaning::Op(op))
}

/// Training is an attribute since opset 14; before, it shows in outputs beside the first.
fn batch_normalization(attributes: &Attributes, outputs: &[String]) -> Result<Op, String> {
    if attributes.flag("training_mode")? || outputs.iter().skip(1).any(|name| !name.is_empty()) {
        return Err("it is in training mode".into());
    }
    if attributes.int("spatial", 1)? == 0 {
        return Err("spatial = 0 is not supported".into());
    }
    Ok(Op::BatchNormalization { epsilon: attributes.float("epsilon", 1e-5)? })
}

fn window(attributes: &Attributes) -> Result<Window, String> {
    let auto_pad = match attributes.string("auto_pad", "NOTSET")? {
        "NOTSET" => AutoPad::Explicit,
        "SAME_UPPER" => AutoPad::SameUpper,
        "SAME_LOWER" => AutoPad::SameLower,
        "VALID" => AutoPad::Valid,
        other => return Err(format!("its auto_pad '{other}' is unknown")),
    };
    Ok(Window {
        kernel: attributes.ints("kernel_shape"),
        strides: attributes.ints("strides"),
        dilations: attributes.ints("dilations"),
        pads: attributes.ints("pads"),
        auto_pad,
        ceil_mode: attributes.flag("ceil_mode")?,
    })
}

fn slice(attributes: &Attributes) -> Result<Meaning, String> {
    let vector = |ints: Vec<i64>| Tensor {
        shape: vec![ints.len()],
        data: ints.iter().map(|&i| Approx::exact(i as f64)).collect(),
    };
    match (attributes.ints("starts"), attributes.ints("ends")) {
        (None, None) => Ok(Meaning::Op(Op::Slice)),
        (Some(starts), Some(ends)) => {
            let given = [Some(starts), Some(ends), attributes.ints("axes")];
            Ok(Meaning::SliceBy(given.into_iter().flatten().map(vector).collect()))
        }
        _ => Err("it has only one of the attributes 'starts' and 'ends'".into()),
    }
}

fn cast(attributes: &Attributes) -> Result<Meaning, String> {
    match DataType::try_from(attributes.required_int("to")? as i32) {
        Ok(
            to @ (DataType::Undefined | DataType::Bool | DataType::String | DataType::Complex64 | DataType::Complex128),
        ) => Err(format!("a Cast to {to:?} is not supported")),
        Ok(to) => Ok(Meaning::Cast(to)),
        Err(_) => Err("a Cast to an unknown type".into()),
    }
}

fn constant(attributes: &Attributes) -> Result<Meaning, String> {
    let exact = |v: f64| if v.is_finite() { Ok(Approx::exact(v)) } else { Err(format!("its value is {v}")) };
    let attribute = attributes.0.first().ok_or("it has no value")?;
    let (shape, data, element) = match attribute.name.as_str() {
        "value" => {
            let proto = attribute.t.as_ref().ok_or("its value is not a tensor")?;
            return Ok(Meaning::Constant(tensor(proto)?, proto.data_type()));
        }
        "value_float" => (vec![], vec![f64::from(attributes.float("value_float", 0.0)?)], DataType::Float),
        "value_int" => (vec![], vec![attributes.required_int("value_int")? as f64], DataType::Int64),
        "value_floats" => {
            let floats: Vec<f64> = attribute.floats.iter().map(|&f| f64::from(f)).collect();
            (vec![floats.len()], floats, DataType::Float)
        }
        "value_ints" => {
            let ints: Vec<f64> = attribute.ints.iter().map(|&i| i as f64).collect();
            (vec![ints.len()], ints, DataType::Int64)
        }
        other => return Err(format!("a Constant given by '{other}' is not supported")),
    };
    let data = data.into_iter().map(exact).collect::<Result<Vec<_>, _>>()?;
    Ok(Meaning::Constant(Tensor { shape, data }, element))
}

struct Attributes<'a>(&'a [AttributeProto]);

impl Attributes<'_> {
    fn find(&self, name: &str) -> Option<&AttributeProto> {
        self.0.iter().find(|attribute| attribute.name == name)
    }

    fn float(&self, name: &str, default: f32) -> Result<f32, String> {
        let value = self.find(name).map_or(Some(default), |a| a.f.or_else(|| omitted(a, AttributeType::Float)));
        value.filter(|v| v.is_finite()).ok_or_else(|| format!("its attribute '{name}' is not a finite number"))
    }

    fn int(&self, name: &str, default: i64) -> Result<i64, String> {
        let value = self.find(name).map_or(Some(default), |a| a.i.or_else(|| omitted(a, AttributeType::Int)));
        value.ok_or_else(|| format!("its attribute '{name}' is not an integer"))
    }

    fn required_int(&self, name: &str) -> Result<i64, String> {
        self.find(name).ok_or_else(|| format!("it has no attribute '{name}'"))?;
        self.int(name, 0)
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        self.int(name, 0).map(|i| i != 0)
    }

    fn string<'a>(&'a self, name: &str, default: &'a str) -> Result<&'a str, String> {
        let value = self.find(name).map_or(Some(default), |a| std::str::from_utf8(a.s.as_deref().unwrap_or(&[])).ok());
        value.ok_or_else(|| format!("its attribute '{name}' is not text"))
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.find(name).map(|a| a.ints.clone())
    }
}

/// Protobuf may leave out a value of 0: then only the attribute's type tells that it is there.
fn omitted<T: Default>(attribute: &AttributeProto, kind: AttributeType) -> Option<T> {
    (attribute.r#type() == kind).then(T::default)
}
