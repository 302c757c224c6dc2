//! Operators that keep the elements and their order, and constants.

use crate::number::Dyadic;
use crate::onnx::tensor::{Data, Tensor, count};
use crate::{Refused, refuse};

use super::{Call, axis};

pub(super) fn identity(call: &Call<'_>) -> Result<Tensor, Refused> {
    Ok(call.input(0)?.clone())
}

/// The conversion to a wider or equal type, which changes no value: what depends on the input is a real number here, and
/// a constant must be one of the type that it is converted to.
pub(super) fn cast(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let bits = match call.int("to", 0) {
        1 => 24,
        11 => 53,
        other => return refuse(format!("the conversion to the element type {other} is not supported")),
    };
    let fits = |value: Dyadic| value.mantissa.unsigned_abs() < 1 << bits && (-149..=104).contains(&value.exponent);
    match &tensor.data {
        Data::Constants(values) if !values.iter().all(fits) => refuse("the conversion rounds a constant"),
        _ => Ok(tensor.clone()),
    }
}

pub(super) fn constant(call: &Call<'_>) -> Result<Tensor, Refused> {
    let integer = |&value: &i64| Dyadic::new(value.into(), 0).ok_or_else(Refused::overflow);
    let scalar = |value| Tensor::numbers(Vec::new(), vec![value]);
    let mut attributes = call.node.attributes.iter();
    let (Some((name, attribute)), None) = (attributes.next(), attributes.next()) else {
        return refuse("a constant has one value");
    };
    match (*name, &attribute.tensor) {
        ("value", Some(tensor)) => Ok(tensor.clone()),
        ("value_float", _) => Ok(scalar(attribute.float)),
        ("value_int", _) => Ok(scalar(integer(&attribute.int)?)),
        ("value_ints", _) => vector(&attribute.ints),
        _ => refuse("the value of the constant is missing"),
    }
}

fn vector(values: &[i64]) -> Result<Tensor, Refused> {
    let integer = |&value: &i64| Dyadic::new(value.into(), 0).ok_or_else(Refused::overflow);
    Ok(Tensor::numbers(vec![values.len()], values.iter().map(integer).collect::<Result<_, _>>()?))
}

pub(super) fn shape(call: &Call<'_>) -> Result<Tensor, Refused> {
    let size = |&size: &usize| i64::try_from(size).map_err(|_| Refused::overflow());
    vector(&call.input(0)?.shape.iter().map(size).collect::<Result<Vec<_>, _>>()?)
}

/// The axes before the given one become the first of two, the others the second.
pub(super) fn flatten(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let rank = tensor.shape.len();
    let at = match call.int("axis", 1) {
        end if usize::try_from(end) == Ok(rank) => rank,
        other => axis(other, rank)?,
    };
    let (rows, columns) = tensor.shape.split_at(at);
    tensor.reshaped(vec![count(rows)?, count(columns)?])
}

/// In the new shape 0 keeps the size of the same axis, and -1 stands for what is left.
pub(super) fn reshape(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (tensor, wanted) = (call.input(0)?, call.input(1)?.integers()?);
    if call.int("allowzero", 0) != 0 && wanted.contains(&0) {
        return refuse("a dimension of size zero is not supported");
    }
    let mut open = None;
    let mut shape = Vec::new();
    for (place, &size) in wanted.iter().enumerate() {
        shape.push(match (size, tensor.shape.get(place)) {
            (0, Some(&kept)) => kept,
            (-1, _) if open.replace(place).is_none() => 1,
            (1.., _) => usize::try_from(size).map_err(|_| Refused::overflow())?,
            _ => return refuse(format!("{wanted:?} is no shape")),
        });
    }
    if let Some(open) = open {
        shape[open] = count(&tensor.shape)?.checked_div(count(&shape)?).unwrap_or(0);
    }
    tensor.reshaped(shape)
}

pub(super) fn squeeze(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let rank = tensor.shape.len();
    let dropped = match call.ints("axes", 1)? {
        Some(axes) => axes.iter().map(|&place| axis(place, rank)).collect::<Result<Vec<_>, _>>()?,
        None => (0..rank).filter(|&axis| tensor.shape[axis] == 1).collect(),
    };
    let kept = (0..rank).filter(|axis| !dropped.contains(axis));
    tensor.reshaped(kept.map(|axis| tensor.shape[axis]).collect())
}

pub(super) fn unsqueeze(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let axes = call.ints("axes", 1)?.unwrap_or_default();
    let rank = tensor.shape.len().saturating_add(axes.len());
    let mut new = axes.iter().map(|&place| axis(place, rank)).collect::<Result<Vec<_>, _>>()?;
    new.sort_unstable();
    new.dedup();
    let mut old = tensor.shape.iter().copied();
    let size = |axis| if new.binary_search(&axis).is_ok() { Some(1) } else { old.next() };
    match (0..rank).map(size).collect::<Option<Vec<_>>>() {
        Some(shape) => tensor.reshaped(shape),
        None => refuse("an axis is given twice"),
    }
}

/// Tensors one behind the other along an axis: for each index of the axes before it, the block of each tensor in turn.
pub(super) fn concat(call: &Call<'_>) -> Result<Tensor, Refused> {
    let first = call.input(0)?;
    let Some(attribute) = call.attribute("axis") else { return refuse("the axis is missing") };
    let along = axis(attribute.int, first.shape.len())?;
    let outer = count(&first.shape[..along])?;
    let mut parts = Vec::new();
    let mut shape = first.shape.clone();
    shape[along] = 0;
    for number in 0..call.inputs.len() {
        let part = call.input(number)?;
        let size = part.shape.get(along).copied().unwrap_or(0);
        let mut alike = part.shape.clone();
        alike.iter_mut().skip(along).take(1).for_each(|size| *size = first.shape[along]);
        if alike != first.shape {
            return refuse(format!("the shapes {:?} and {:?} do not match", first.shape, part.shape));
        }
        shape[along] = shape[along].saturating_add(size);
        parts.push((part.rows()?, count(&part.shape[along..])?));
    }
    let blocks =
        (0..outer).flat_map(|at| parts.iter().map(move |(rows, size)| rows.iter().skip(at * size).take(*size)));
    Tensor::collect(shape, blocks.flatten().map(|row| Ok(row.clone())))
}
