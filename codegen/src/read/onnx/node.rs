//! The register of supported operators: from a node's type and attributes to an [`Op`].

use super::proto::{AttributeProto, DataType, NodeProto};
use super::tensor::tensor;
use crate::approx::Approx;
use crate::graph::{Op, Tensor};

/// What a node asks for.
pub enum Meaning {
    Op(Op),
    /// A Slice of opset 9 or older: starts, ends, axes as attributes.
    SliceBy(Vec<Tensor>),
    /// A Cast of constants to integers, which must be whole already.
    CastToInteger,
    Constant(Tensor),
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
        "Add" => Op::Add,
        "Sub" => Op::Sub,
        "Mul" => Op::Mul,
        "Div" => Op::Div,
        "Relu" => Op::Relu,
        "BatchNormalization" => batch_normalization(&attributes)?,
        "Flatten" => Op::Flatten { axis: attributes.int("axis", 1)? },
        "Reshape" => Op::Reshape { allow_zero: attributes.flag("allowzero")? },
        "Squeeze" => Op::Squeeze { axes: attributes.ints("axes") },
        "Unsqueeze" => Op::Unsqueeze { axes: attributes.ints("axes") },
        "Transpose" => Op::Transpose { perm: attributes.ints("perm") },
        "Identity" | "Dropout" => Op::Identity,
        "Concat" => Op::Concat { axis: attributes.int("axis", 0)? },
        "Slice" => return Ok(slice(&attributes)),
        "Cast" => return cast(&attributes),
        "Constant" => return constant(&attributes).map(Meaning::Constant),
        other => return Err(format!("the operator {other} is not supported")),
    };
    Ok(Meaning::Op(op))
}

fn batch_normalization(attributes: &Attributes) -> Result<Op, String> {
    if attributes.flag("training_mode")? {
        return Err("it is in training mode".into());
    }
    if attributes.int("spatial", 1)? == 0 {
        return Err("spatial = 0 is not supported".into());
    }
    Ok(Op::BatchNormalization { epsilon: attributes.float("epsilon", 1e-5)? })
}

fn slice(attributes: &Attributes) -> Meaning {
    let vector = |ints: Vec<i64>| Tensor {
        shape: vec![ints.len()],
        data: ints.iter().map(|&i| Approx::exact(i as f64)).collect(),
    };
    let (starts, ends) = (attributes.ints("starts"), attributes.ints("ends"));
    if starts.is_none() && ends.is_none() {
        return Meaning::Op(Op::Slice);
    }
    let given = [starts, ends, attributes.ints("axes")];
    Meaning::SliceBy(given.into_iter().flatten().map(vector).collect())
}

fn cast(attributes: &Attributes) -> Result<Meaning, String> {
    match DataType::try_from(attributes.int("to", 0)? as i32) {
        Ok(DataType::Float | DataType::Double) => Ok(Meaning::Op(Op::Identity)),
        Ok(DataType::Int32 | DataType::Int64) => Ok(Meaning::CastToInteger),
        Ok(other) => Err(format!("a Cast to {other:?} is not supported")),
        Err(_) => Err("a Cast to an unknown type".into()),
    }
}

fn constant(attributes: &Attributes) -> Result<Tensor, String> {
    let exact = |v: f64| if v.is_finite() { Ok(Approx::exact(v)) } else { Err(format!("its value is {v}")) };
    let collect = |values: Vec<f64>| values.into_iter().map(exact).collect::<Result<Vec<_>, _>>();
    let attribute = attributes.0.first().ok_or("it has no value")?;
    let (shape, data) = match (attribute.name.as_str(), &attribute.t, attribute.f, attribute.i) {
        ("value", Some(proto), ..) => return tensor(proto),
        ("value_float", _, Some(f), _) => (vec![], collect(vec![f64::from(f)])?),
        ("value_int", _, _, Some(i)) => (vec![], collect(vec![i as f64])?),
        ("value_floats", ..) => {
            let floats: Vec<f64> = attribute.floats.iter().map(|&f| f64::from(f)).collect();
            (vec![floats.len()], collect(floats)?)
        }
        ("value_ints", ..) => {
            let ints: Vec<f64> = attribute.ints.iter().map(|&i| i as f64).collect();
            (vec![ints.len()], collect(ints)?)
        }
        (other, ..) => return Err(format!("a Constant given by '{other}' is not supported")),
    };
    Ok(Tensor { shape, data })
}

struct Attributes<'a>(&'a [AttributeProto]);

impl Attributes<'_> {
    fn find(&self, name: &str) -> Option<&AttributeProto> {
        self.0.iter().find(|attribute| attribute.name == name)
    }

    fn float(&self, name: &str, default: f32) -> Result<f32, String> {
        let value = self.find(name).map_or(Some(default), |a| a.f);
        value.filter(|v| v.is_finite()).ok_or_else(|| format!("its attribute '{name}' is not a finite number"))
    }

    fn int(&self, name: &str, default: i64) -> Result<i64, String> {
        self.find(name)
            .map_or(Some(default), |a| a.i)
            .ok_or_else(|| format!("its attribute '{name}' is not an integer"))
    }

    fn flag(&self, name: &str) -> Result<bool, String> {
        self.int(name, 0).map(|i| i != 0)
    }

    fn ints(&self, name: &str) -> Option<Vec<i64>> {
        self.find(name).map(|a| a.ints.clone())
    }
}
