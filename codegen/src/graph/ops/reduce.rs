//! Operators that make one entry of many: sums and means over axes and over windows. What is a maximum instead takes
//! the same entries, in `extreme`.

use super::bilinear::row;
use super::shape::{axes, checked_len, strides, walk};
use super::window::{Axis, Window, sliding};
use super::{Reading, given};
use crate::affine::{Affine, Matrix};
use crate::approx::Approx;
use crate::graph::{Op, Reduce};

/// The output's shape and the entries that each of its entries is made of.
pub type Groups = (Vec<usize>, Vec<Vec<usize>>);

/// AveragePool, GlobalAveragePool, ReduceSum and ReduceMean.
pub fn average(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let (shape, groups) = groups(op, inputs)?;
    let mut divisors: Vec<usize> = match op {
        Op::ReduceSum(_) => vec![1; groups.len()],
        _ => groups.iter().map(Vec::len).collect(),
    };
    if let Op::AveragePool { window, include_pad: true } = op {
        let covered = covered(&pool_axes(window, inputs[0].shape)?);
        divisors.iter_mut().enumerate().for_each(|(o, d)| *d = covered[o % covered.len()]);
    }
    let share = |o: usize| Approx::ONE / Approx::exact(divisors[o] as f64);
    let x = &inputs[0];
    let map = match x.constant {
        Some(tensor) => {
            let sum = |group: &Vec<usize>| group.iter().map(|&i| tensor.data[i]).reduce(|a, b| a + b);
            let entry = |(o, group)| sum(group).unwrap_or(Approx::exact(0.0)) * share(o);
            Affine { matrices: vec![], bias: groups.iter().enumerate().map(entry).collect() }
        }
        None => {
            let rows = groups.iter().enumerate().map(|(o, group)| row(group.iter().map(|&i| (i, share(o)))));
            let matrices = vec![Matrix { cols: x.len(), rows: rows.collect() }];
            Affine { matrices, bias: vec![Approx::exact(0.0); groups.len()] }
        }
    };
    Ok((shape, map))
}

/// The groups of an operator that reduces.
pub fn groups(op: &Op, inputs: &[Reading]) -> Result<Groups, String> {
    let shape = inputs[0].shape;
    match op {
        Op::AveragePool { window, .. } | Op::MaxPool { window } => pooled(window, shape),
        Op::GlobalAveragePool | Op::GlobalMaxPool if shape.len() < 2 => {
            Err(format!("its input of shape {shape:?} has no channels"))
        }
        Op::GlobalAveragePool | Op::GlobalMaxPool => Ok(over_axes(shape, &(2..shape.len()).collect::<Vec<_>>(), true)),
        Op::ReduceSum(reduce) | Op::ReduceMean(reduce) | Op::ReduceMax(reduce) | Op::ReduceMin(reduce) => {
            Ok(over_axes(shape, &reduced_axes(reduce, inputs)?, reduce.keep_dims))
        }
        _ => unreachable!("{} does not reduce", op.name()),
    }
}

fn reduced_axes(reduce: &Reduce, inputs: &[Reading]) -> Result<Vec<usize>, String> {
    let rank = inputs[0].shape.len();
    match given(inputs, 1) {
        Some(given) => axes(&given.integers("axes")?, rank),
        None if reduce.noop => Ok(vec![]),
        None => Ok((0..rank).collect()),
    }
}

fn over_axes(shape: &[usize], axes: &[usize], keep_dims: bool) -> Groups {
    let own = strides(shape);
    let part = |is_reduced: bool| -> Vec<usize> {
        let size = |a: usize| if axes.contains(&a) == is_reduced { shape[a] } else { 1 };
        walk(&(0..shape.len()).map(size).collect::<Vec<_>>(), &own)
    };
    let (bases, offsets) = (part(false), part(true));
    let kept = |a: &usize| keep_dims || !axes.contains(a);
    let size = |a: usize| if axes.contains(&a) { 1 } else { shape[a] };
    let new_shape = (0..shape.len()).filter(kept).map(size).collect();
    (new_shape, bases.iter().map(|base| offsets.iter().map(|offset| base + offset).collect()).collect())
}

fn pool_axes(window: &Window, shape: &[usize]) -> Result<Vec<Axis>, String> {
    let [_, _, spatial @ ..] = shape else { return Err(format!("its input of shape {shape:?} has no channels")) };
    window.axes(spatial, &window.own_kernel(spatial.len())?)
}

fn pooled(window: &Window, shape: &[usize]) -> Result<Groups, String> {
    let axes = pool_axes(window, shape)?;
    let mut new_shape = shape[..2].to_vec();
    new_shape.extend(axes.iter().map(|axis| axis.outputs));
    checked_len(&new_shape)?;
    let (planes, plane) = (shape[0] * shape[1], shape[2..].iter().product::<usize>());
    let windows = sliding(&axes, planes)?;
    if windows.iter().any(Vec::is_empty) {
        return Err("one of its windows lies wholly in the padding".into());
    }
    let in_plane = |p: usize| windows.iter().map(move |taps| taps.iter().map(|tap| p * plane + tap.1).collect());
    Ok((new_shape, (0..planes).flat_map(in_plane).collect()))
}

/// How many entries of its padded plane each window covers.
fn covered(axes: &[Axis]) -> Vec<usize> {
    let next = |all: Vec<usize>, axis: &Axis| {
        all.iter().flat_map(|&n| (0..axis.outputs).map(move |o| n * axis.covered(o))).collect()
    };
    axes.iter().fold(vec![1], next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{computed, image, reading, tensor};

    fn over(shape: &[usize], axes: &[f64], keep_dims: bool) -> Groups {
        let axes = tensor(&[axes.len()], axes);
        let reduce = Reduce { keep_dims, noop: false };
        groups(&Op::ReduceSum(reduce), &[computed(shape), reading(&axes)]).unwrap()
    }

    #[test]
    fn axes_are_kept_or_dropped() {
        assert_eq!(over(&[2, 2], &[-1.0], true), (vec![2, 1], vec![vec![0, 1], vec![2, 3]]));
        assert_eq!(over(&[2, 2], &[0.0], false), (vec![2], vec![vec![0, 2], vec![1, 3]]));
        assert_eq!(over(&[2, 1], &[], false), (vec![], vec![vec![0, 1]]));
    }

    #[test]
    fn the_padding_counts_if_asked() {
        let window = Window { kernel: Some(vec![2]), pads: Some(vec![1, 0]), ..Window::plain() };
        for (include_pad, first) in [(true, 2.0), (false, 4.0)] {
            let op = Op::AveragePool { window: window.clone(), include_pad };
            let (shape, map) = average(&op, &[computed(&[1, 1, 2])]).unwrap();
            let y: Vec<f64> = image(&map, &[4.0, 8.0].map(Approx::exact)).iter().map(|v| v.value).collect();
            assert_eq!((shape, y), (vec![1, 1, 2], vec![first, 6.0]));
        }
    }
}
