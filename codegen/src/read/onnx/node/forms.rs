//! The forms that an operator takes in different opsets, brought to the newest one's. The form tells the opset: what is
//! an attribute in one is an input in another.

use super::attributes::Attributes;
use super::{Call, Element, Meaning, inputs};
use crate::approx::Approx;
use crate::graph::{AutoPad, Coordinates, Interpolation, Op, PadMode, Reduce, Resize, Rounding, Tensor, Window};
use crate::read::onnx::proto::DataType;
use crate::read::onnx::tensor::tensor;

/// The most parts of a Split.
const MOST_PARTS: usize = 1 << 12;

/// An operator without further inputs, whose results have the type of its first input.
pub fn plain(op: Op) -> Result<Meaning, String> {
    extended(op, vec![])
}

pub fn extended(op: Op, appended: Vec<Tensor>) -> Result<Meaning, String> {
    Ok(Meaning::Op(Call { op, inputs: appended, element: Element::OfInput(0) }))
}

pub fn typed(op: Op, element: Element) -> Result<Meaning, String> {
    Ok(Meaning::Op(Call { op, inputs: vec![], element }))
}

fn vector(ints: &[i64]) -> Tensor {
    Tensor { shape: vec![ints.len()], data: ints.iter().map(|&i| Approx::exact(i as f64)).collect() }
}

fn number(value: f32) -> Tensor {
    Tensor { shape: vec![], data: vec![Approx::exact(f64::from(value))] }
}

/// What an input is that is left out.
fn left_out() -> Tensor {
    Tensor { shape: vec![0], data: vec![] }
}

/// The operator with an input that may be an attribute of the same meaning.
pub fn with_list(op: Op, attributes: &Attributes, name: &str) -> Result<Meaning, String> {
    extended(op, attributes.ints(name).iter().map(|list| vector(list)).collect())
}

pub fn unsqueeze(attributes: &Attributes) -> Result<Meaning, String> {
    if attributes.find("axes").is_none() && inputs(attributes.0).len() < 2 {
        return Err("it has no axes".into());
    }
    with_list(Op::Unsqueeze, attributes, "axes")
}

/// Training is an attribute since opset 14; before, it shows in outputs beside the first.
pub fn batch_normalization(attributes: &Attributes) -> Result<Meaning, String> {
    if attributes.flag("training_mode")? || attributes.0.output.iter().skip(1).any(|name| !name.is_empty()) {
        return Err("it is in training mode".into());
    }
    if attributes.int("spatial", 1)? == 0 {
        return Err("spatial = 0 is not supported".into());
    }
    plain(Op::BatchNormalization { epsilon: attributes.float("epsilon", 1e-5)? })
}

pub fn window(attributes: &Attributes) -> Result<Window, String> {
    let choices = [
        ("NOTSET", AutoPad::Explicit),
        ("SAME_UPPER", AutoPad::SameUpper),
        ("SAME_LOWER", AutoPad::SameLower),
        ("VALID", AutoPad::Valid),
    ];
    Ok(Window {
        kernel: attributes.ints("kernel_shape"),
        strides: attributes.ints("strides"),
        dilations: attributes.ints("dilations"),
        pads: attributes.ints("pads"),
        auto_pad: attributes.choice("auto_pad", &choices)?,
        ceil_mode: attributes.flag("ceil_mode")?,
    })
}

pub fn conv_transpose(attributes: &Attributes) -> Result<Meaning, String> {
    plain(Op::ConvTranspose {
        window: window(attributes)?,
        groups: attributes.int("group", 1)?,
        output_padding: attributes.ints("output_padding"),
        output_shape: attributes.ints("output_shape"),
    })
}

pub fn reduce(op: fn(Reduce) -> Op, attributes: &Attributes) -> Result<Meaning, String> {
    let keep_dims = attributes.int("keepdims", 1)? != 0;
    with_list(op(Reduce { keep_dims, noop: attributes.flag("noop_with_empty_axes")? }), attributes, "axes")
}

/// Starts, ends and axes are attributes before opset 10.
pub fn slice(attributes: &Attributes) -> Result<Meaning, String> {
    match (attributes.ints("starts"), attributes.ints("ends")) {
        (None, None) if inputs(attributes.0).len() < 3 => Err(format!("it has {} inputs", inputs(attributes.0).len())),
        (None, None) => plain(Op::Slice),
        (Some(starts), Some(ends)) => {
            let given = [Some(starts), Some(ends), attributes.ints("axes")];
            extended(Op::Slice, given.iter().flatten().map(|list| vector(list)).collect())
        }
        _ => Err("it has only one of the attributes 'starts' and 'ends'".into()),
    }
}

/// The bounds are attributes before opset 11.
pub fn clip(attributes: &Attributes) -> Result<Meaning, String> {
    let bound = |name: &str| match attributes.find(name) {
        Some(_) => attributes.float(name, 0.0).map(number),
        None => Ok(left_out()),
    };
    let bounds = vec![bound("min")?, bound("max")?];
    if inputs(attributes.0).len() > 1 { plain(Op::Clip) } else { extended(Op::Clip, bounds) }
}

/// The pads and the value are attributes before opset 11.
pub fn pad(attributes: &Attributes) -> Result<Meaning, String> {
    let choices = [
        ("constant", PadMode::Constant),
        ("edge", PadMode::Edge),
        ("reflect", PadMode::Reflect),
        ("wrap", PadMode::Wrap),
    ];
    let op = Op::Pad { mode: attributes.choice("mode", &choices)? };
    match attributes.ints("pads") {
        Some(pads) => extended(op, vec![vector(&pads), number(attributes.float("value", 0.0)?)]),
        None if inputs(attributes.0).len() < 2 => Err("it has no pads".into()),
        None => plain(op),
    }
}

/// The sizes are an attribute before opset 13; since 18 the number of parts may be, whose last is then smaller.
pub fn split(attributes: &Attributes) -> Result<Meaning, String> {
    let parts = attributes.0.output.len();
    if parts > MOST_PARTS {
        return Err(format!("it has {parts} parts; the limit is {MOST_PARTS}"));
    }
    let uneven = attributes.find("num_outputs").is_some();
    if attributes.int("num_outputs", parts as i64)? != parts as i64 {
        return Err(format!("its num_outputs is not its {parts} outputs"));
    }
    with_list(Op::Split { axis: attributes.int("axis", 0)?, parts, part: 0, uneven }, attributes, "split")
}

/// Opset 10 has the scales as its second input and the meaning of Upsample, whose scales are an attribute before opset
/// 9.
pub fn resize(attributes: &Attributes) -> Result<Meaning, String> {
    let nearest = [
        ("round_prefer_floor", Rounding::HalfDown),
        ("round_prefer_ceil", Rounding::HalfUp),
        ("floor", Rounding::Floor),
        ("ceil", Rounding::Ceil),
    ];
    let places = [
        ("half_pixel", Coordinates::HalfPixel),
        ("asymmetric", Coordinates::Asymmetric),
        ("align_corners", Coordinates::AlignCorners),
        ("pytorch_half_pixel", Coordinates::PytorchHalfPixel),
    ];
    let is_old = attributes.0.op_type == "Upsample" || inputs(attributes.0).len() == 2;
    let (rounding, coordinates) = if is_old {
        (Rounding::Floor, Coordinates::Asymmetric)
    } else {
        let coordinates = attributes.choice("coordinate_transformation_mode", &places)?;
        (attributes.choice("nearest_mode", &nearest)?, coordinates)
    };
    let linear = Interpolation::Linear;
    let modes = [("nearest", Interpolation::Nearest(rounding)), ("linear", linear), ("bilinear", linear)];
    let interpolation = attributes.choice("mode", &modes)?;
    if attributes.flag("antialias")? {
        return Err("antialias is not supported".into());
    }
    attributes.choice("keep_aspect_ratio_policy", &[("stretch", ())])?;
    let op = Op::Resize(Resize { interpolation, coordinates, axes: attributes.ints("axes") });
    let scales = attributes.find("scales").map(|scales| {
        let data: Vec<Approx> = scales.floats.iter().map(|&v| Approx::exact(f64::from(v))).collect();
        Tensor { shape: vec![data.len()], data }
    });
    if scales.is_none() && inputs(attributes.0).len() < 2 {
        return Err("it has neither scales nor sizes".into());
    }
    extended(op, scales.into_iter().collect())
}

pub fn depth_to_space(attributes: &Attributes) -> Result<Meaning, String> {
    let depth_first = attributes.choice("mode", &[("DCR", true), ("CRD", false)])?;
    plain(Op::DepthToSpace { block: attributes.required_int("blocksize")?, depth_first })
}

pub fn shape(attributes: &Attributes) -> Result<Meaning, String> {
    let end = attributes.find("end").map(|_| attributes.int("end", 0)).transpose()?;
    typed(Op::Shape { start: attributes.int("start", 0)?, end }, Element::Is(DataType::Int64))
}

pub fn constant_of_shape(attributes: &Attributes) -> Result<Meaning, String> {
    let (value, element) = match attributes.find("value") {
        None => (Approx::exact(0.0), DataType::Float),
        Some(attribute) => {
            let proto = attribute.t.as_ref().ok_or("its value is not a tensor")?;
            match tensor(proto)?.data[..] {
                [value] => (value, proto.data_type()),
                _ => return Err("its value is not one number".into()),
            }
        }
    };
    typed(Op::ConstantOfShape { value }, Element::Is(element))
}

pub fn cast(attributes: &Attributes) -> Result<Meaning, String> {
    match DataType::try_from(attributes.required_int("to")? as i32) {
        Ok(to @ (DataType::Undefined | DataType::String | DataType::Complex64 | DataType::Complex128)) => {
            Err(format!("a Cast to {to:?} is not supported"))
        }
        Ok(to) => Ok(Meaning::Cast(Element::Is(to))),
        Err(_) => Err("a Cast to an unknown type".into()),
    }
}

pub fn constant(attributes: &Attributes) -> Result<Meaning, String> {
    let exact = |v: f64| if v.is_finite() { Ok(Approx::exact(v)) } else { Err(format!("its value is {v}")) };
    let attribute = attributes.0.attribute.first().ok_or("it has no value")?;
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
