//! Operators that pick elements: each says for every axis which places of the input the output takes.

use crate::onnx::tensor::{MAX_COMPUTED, Tensor};
use crate::{Refused, refuse};

use super::{Call, axis};

/// The distance in row-major order between neighbours along each axis, for a shape whose product is in range.
pub(super) fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1usize; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(shape[axis]);
    }
    strides
}

/// The places of all elements in row-major order, from what each index along each axis adds. `None` is outside of the
/// input, and so is every sum with it.
pub(super) fn places(axes: &[Vec<Option<usize>>]) -> Result<Vec<Option<usize>>, Refused> {
    let number = axes.iter().try_fold(1usize, |number, axis| number.checked_mul(axis.len()));
    if number.is_none_or(|number| number > MAX_COMPUTED) {
        return refuse(format!("a tensor of more than {MAX_COMPUTED} elements is computed"));
    }
    let mut places = vec![Some(0usize)];
    for axis in axes {
        let sum = |start: Option<usize>, step: Option<usize>| start?.checked_add(step?);
        places = places.iter().flat_map(|&start| axis.iter().map(move |&step| sum(start, step))).collect();
    }
    Ok(places)
}

/// The whole of every axis.
fn whole(shape: &[usize]) -> Vec<Vec<Option<usize>>> {
    let axis = |(&size, &stride): (&usize, &usize)| (0..size).map(|index| Some(index * stride)).collect();
    shape.iter().zip(&strides(shape)).map(axis).collect()
}

fn taken(tensor: &Tensor, axes: &[Vec<Option<usize>>]) -> Result<Tensor, Refused> {
    tensor.select(axes.iter().map(Vec::len).collect(), &places(axes)?)
}

pub(super) fn transpose(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let rank = tensor.shape.len();
    let order = match call.attribute("perm") {
        Some(order) => order.ints.iter().map(|&place| axis(place, rank)).collect::<Result<Vec<_>, _>>()?,
        None => (0..rank).rev().collect(),
    };
    if order.len() != rank || (0..rank).any(|axis| !order.contains(&axis)) {
        return refuse(format!("{order:?} is no order of {rank} axes"));
    }
    let axes = whole(&tensor.shape);
    taken(tensor, &order.iter().map(|&axis| axes[axis].clone()).collect::<Vec<_>>())
}

/// Only forward steps are read. A bound beyond an end is that end, and a negative one counts from the back.
pub(super) fn slice(call: &Call<'_>) -> Result<Tensor, Refused> {
    let tensor = call.input(0)?;
    let given = |name, input| call.ints(name, input)?.ok_or_else(|| Refused(format!("`{name}` is missing")));
    let (starts, ends) = (given("starts", 1)?, given("ends", 2)?);
    let all = || (0i64..).take(starts.len()).collect();
    let sliced = call.ints("axes", 3)?.unwrap_or_else(all);
    let steps = call.ints("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), sliced.len(), steps.len()] != [starts.len(); 3] {
        return refuse("starts, ends, axes and steps differ in length");
    }
    let mut axes = whole(&tensor.shape);
    for (((&start, &end), &along), &step) in starts.iter().zip(&ends).zip(&sliced).zip(&steps) {
        let along = axis(along, axes.len())?;
        let size = i64::try_from(tensor.shape[along]).unwrap_or(i64::MAX);
        let bound =
            |bound: i64| usize::try_from((if bound < 0 { bound.saturating_add(size) } else { bound }).clamp(0, size));
        let (Ok(start), Ok(end), Ok(step @ 1..)) = (bound(start), bound(end), usize::try_from(step)) else {
            return refuse("only slices with positive steps are supported");
        };
        if axes[along].len() != tensor.shape[along] {
            return refuse("an axis is sliced twice");
        }
        axes[along] = axes[along].get(start..end).unwrap_or(&[]).iter().copied().step_by(step).collect();
    }
    taken(tensor, &axes)
}

pub(super) fn gather(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (tensor, indices) = (call.input(0)?, call.input(1)?);
    let along = axis(call.int("axis", 0), tensor.shape.len())?;
    let mut axes = whole(&tensor.shape);
    let place = |&index: &i64| Ok(axes[along][axis(index, axes[along].len())?]);
    axes[along] = indices.integers()?.iter().map(place).collect::<Result<_, Refused>>()?;
    let shape = [&tensor.shape[..along], &indices.shape, &tensor.shape[along + 1..]].concat();
    tensor.select(shape, &places(&axes)?)
}
