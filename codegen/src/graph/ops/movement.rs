//! Operators that move entries and change none; those of this file keep whole axes, the others are in `select` and
//! `pad`.

use super::shape::{axes, axis, checked_len, grid, strides, walk};
use super::{Reading, given, pad, select};
use crate::affine::{Affine, MAX_ENTRIES, Matrix, too_many_entries};
use crate::approx::Approx;
use crate::graph::Op;

/// An output's shape and, for each of its entries, the operand and flat index it comes from.
pub type Moved = (Vec<usize>, Vec<(usize, usize)>);

pub fn movement(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let shape = inputs[0].shape;
    let (shape, sources) = match op {
        Op::Transpose { perm } => transpose(shape, perm.as_deref())?,
        Op::Concat { axis } => concat(*axis, inputs)?,
        Op::Slice => slice(inputs)?,
        Op::Gather { axis } => select::gather(shape, *axis, &inputs[1])?,
        Op::Split { axis, parts, part, uneven } => {
            select::split(shape, *axis, given(inputs, 1), *parts, *part, *uneven)?
        }
        Op::Expand => select::expand(shape, &inputs[1].sizes("target shape")?)?,
        Op::Tile => select::tile(shape, &inputs[1].sizes("repeats")?)?,
        Op::DepthToSpace { block, depth_first } => select::depth_to_space(shape, *block, *depth_first)?,
        Op::SpaceToDepth { block } => select::space_to_depth(shape, *block)?,
        Op::Where => select::choose(inputs)?,
        Op::Pad { mode } => return pad::pad(*mode, inputs),
        _ => {
            let shape = reshaped(op, inputs)?;
            (shape, (0..inputs[0].len()).map(|i| (0, i)).collect())
        }
    };
    Ok((shape, selection(&sources, inputs)?))
}

/// The map that copies; entries of constant operands go to the bias.
pub fn selection(sources: &[(usize, usize)], inputs: &[Reading]) -> Result<Affine, String> {
    let computed: Vec<usize> = (0..inputs.len()).filter(|&t| inputs[t].constant.is_none()).collect();
    if computed.len().saturating_mul(sources.len()) > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    let mut matrices: Vec<Matrix> = computed.iter().map(|&t| Matrix::zero(sources.len(), inputs[t].len())).collect();
    let mut bias = vec![Approx::exact(0.0); sources.len()];
    for (i, &(t, j)) in sources.iter().enumerate() {
        match inputs[t].constant {
            Some(tensor) => bias[i] = tensor.data[j],
            None => {
                let position = computed.iter().position(|&c| c == t).expect("a computed operand");
                matrices[position].rows[i] = vec![(j as u32, Approx::ONE)];
            }
        }
    }
    Ok(Affine { matrices, bias })
}

/// The new shape of an operator that keeps the row-major order.
fn reshaped(op: &Op, inputs: &[Reading]) -> Result<Vec<usize>, String> {
    let shape = inputs[0].shape;
    match op {
        Op::Identity => Ok(shape.to_vec()),
        Op::Flatten { axis: a } => {
            let split = if *a == shape.len() as i64 { shape.len() } else { axis(*a, shape.len())? };
            Ok(vec![shape[..split].iter().product(), shape[split..].iter().product()])
        }
        Op::Reshape { allow_zero } => reshape(shape, &inputs[1].integers("target shape")?, *allow_zero),
        Op::Squeeze => squeeze(shape, inputs.get(1).map(|axes| axes.integers("axes")).transpose()?),
        Op::Unsqueeze => unsqueeze(shape, &inputs[1].integers("axes")?),
        _ => unreachable!("{} does not keep the order", op.name()),
    }
}

fn reshape(shape: &[usize], target: &[i64], allow_zero: bool) -> Result<Vec<usize>, String> {
    let wrong = || format!("shape {shape:?} cannot become {target:?}");
    let len: usize = shape.iter().product();
    let mut new = Vec::with_capacity(target.len());
    let mut inferred = None;
    for (i, &d) in target.iter().enumerate() {
        match d {
            -1 if inferred.is_none() => {
                inferred = Some(i);
                new.push(1);
            }
            0 if !allow_zero => new.push(*shape.get(i).ok_or_else(wrong)?),
            _ => new.push(usize::try_from(d).map_err(|_| wrong())?),
        }
    }
    let known = checked_len(&new)?;
    if let Some(i) = inferred {
        new[i] = len.checked_div(known).ok_or_else(wrong)?;
    }
    if checked_len(&new)? == len { Ok(new) } else { Err(wrong()) }
}

fn squeeze(shape: &[usize], given: Option<Vec<i64>>) -> Result<Vec<usize>, String> {
    let dropped = match given {
        None => (0..shape.len()).filter(|&i| shape[i] == 1).collect(),
        Some(given) => axes(&given, shape.len())?,
    };
    if let Some(&i) = dropped.iter().find(|&&i| shape[i] != 1) {
        return Err(format!("axis {i} of shape {shape:?} is not 1"));
    }
    Ok((0..shape.len()).filter(|i| !dropped.contains(i)).map(|i| shape[i]).collect())
}

fn unsqueeze(shape: &[usize], given: &[i64]) -> Result<Vec<usize>, String> {
    let rank = shape.len() + given.len();
    let added = axes(given, rank)?;
    let mut old = shape.iter();
    Ok((0..rank).map(|i| if added.contains(&i) { 1 } else { *old.next().expect("as many as before") }).collect())
}

fn transpose(shape: &[usize], perm: Option<&[i64]>) -> Result<Moved, String> {
    let rank = shape.len();
    let perm = perm.map_or_else(|| Ok((0..rank).rev().collect()), |perm| axes(perm, rank))?;
    if perm.len() != rank {
        return Err(format!("{perm:?} is not a permutation of the axes of shape {shape:?}"));
    }
    let (shape, indices) = permuted(shape, &perm);
    Ok((shape, indices.into_iter().map(|i| (0, i)).collect()))
}

/// The shape with its axes in another order, and where each entry was.
pub fn permuted(shape: &[usize], perm: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let own = strides(shape);
    let new_shape: Vec<usize> = perm.iter().map(|&a| shape[a]).collect();
    let step: Vec<usize> = perm.iter().map(|&a| own[a]).collect();
    let indices = walk(&new_shape, &step);
    (new_shape, indices)
}

fn concat(along: i64, inputs: &[Reading]) -> Result<Moved, String> {
    let first = inputs[0].shape;
    let a = axis(along, first.len())?;
    let mut shape = first.to_vec();
    shape[a] = 0;
    for input in inputs {
        let fits = |i: usize| i == a || input.shape[i] == first[i];
        if input.shape.len() != first.len() || !(0..first.len()).all(fits) {
            return Err(format!("shapes {first:?} and {:?} do not join along axis {a}", input.shape));
        }
        shape[a] += input.shape[a];
    }
    checked_len(&shape)?;
    let outer: usize = first[..a].iter().product();
    let mut sources = Vec::new();
    for o in 0..outer {
        for (t, input) in inputs.iter().enumerate() {
            let block: usize = input.shape[a..].iter().product();
            sources.extend((o * block..(o + 1) * block).map(|i| (t, i)));
        }
    }
    Ok((shape, sources))
}

/// Starts, ends, and optionally axes and steps; out-of-range ends are clamped as ONNX says.
fn slice(inputs: &[Reading]) -> Result<Moved, String> {
    let shape = inputs[0].shape;
    let starts = inputs[1].integers("starts")?;
    let ends = inputs[2].integers("ends")?;
    let along = given(inputs, 3).map_or_else(|| Ok((0..starts.len() as i64).collect()), |i| i.integers("axes"))?;
    let steps = given(inputs, 4).map_or_else(|| Ok(vec![1; starts.len()]), |i| i.integers("steps"))?;
    if [ends.len(), along.len(), steps.len()] != [starts.len(); 3] {
        return Err("its starts, ends, axes and steps differ in length".into());
    }
    let mut chosen: Vec<Vec<usize>> = shape.iter().map(|&d| (0..d).collect()).collect();
    for (k, a) in axes(&along, shape.len())?.into_iter().enumerate() {
        chosen[a] = slice_axis(shape[a], starts[k], ends[k], steps[k])?;
    }
    Ok(chosen_entries(&chosen, shape))
}

/// The entries at the chosen places of each axis.
pub fn chosen_entries(chosen: &[Vec<usize>], shape: &[usize]) -> Moved {
    let scaled = |(places, step): (&Vec<usize>, usize)| places.iter().map(|i| i * step).collect();
    let offsets: Vec<Vec<usize>> = chosen.iter().zip(strides(shape)).map(scaled).collect();
    (chosen.iter().map(Vec::len).collect(), grid(&offsets).into_iter().map(|i| (0, i)).collect())
}

fn slice_axis(len: usize, start: i64, end: i64, step: i64) -> Result<Vec<usize>, String> {
    let n = len as i64;
    let from_end = |i: i64| if i < 0 { i.saturating_add(n) } else { i };
    match step {
        0 => Err("its step is 0".into()),
        _ if n == 0 => Ok(vec![]),
        1.. => {
            let (start, end) = (from_end(start).clamp(0, n), from_end(end).clamp(0, n));
            Ok((start..end).step_by(step as usize).map(|i| i as usize).collect())
        }
        _ => {
            let (start, end) = (from_end(start).clamp(0, n - 1), from_end(end).clamp(-1, n - 1));
            let back = step.unsigned_abs() as usize;
            Ok((end + 1..=start).rev().step_by(back).map(|i| i as usize).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::computed;

    #[test]
    fn reshape_infers_and_copies_dimensions() {
        assert_eq!(reshape(&[1, 784], &[0, -1, 28], false), Ok(vec![1, 28, 28]));
        assert_eq!(reshape(&[2, 3], &[6], false), Ok(vec![6]));
        assert!(reshape(&[2, 3], &[4, -1], false).is_err());
        assert!(reshape(&[2, 3], &[-1, -1], false).is_err());
        assert!(reshape(&[2, 3], &[0, 0, 0], false).is_err());
        assert!(reshape(&[2, 3], &[i64::MAX, i64::MAX], false).is_err());
    }

    #[test]
    fn transpose_walks_the_old_strides() {
        let (shape, sources) = transpose(&[2, 3], None).unwrap();
        assert_eq!(shape, [3, 2]);
        assert_eq!(sources.iter().map(|s| s.1).collect::<Vec<_>>(), [0, 3, 1, 4, 2, 5]);
        assert!(transpose(&[2, 3], Some(&[0, 0])).is_err());
    }

    #[test]
    fn slices_clamp_and_step_backwards() {
        assert_eq!(slice_axis(5, 1, i64::MAX, 2), Ok(vec![1, 3]));
        assert_eq!(slice_axis(5, -1, i64::MIN, -2), Ok(vec![4, 2, 0]));
        assert_eq!(slice_axis(5, 4, 1, 1), Ok(vec![]));
        assert_eq!(slice_axis(5, -9, i64::MIN, -1), Ok(vec![0]));
        assert_eq!(slice_axis(0, -1, i64::MIN, -1), Ok(vec![]));
        assert!(slice_axis(5, 0, 5, 0).is_err());
    }

    #[test]
    fn axes_are_added_and_removed() {
        assert_eq!(squeeze(&[1, 3, 1], None), Ok(vec![3]));
        assert_eq!(squeeze(&[1, 3, 1], Some(vec![-1])), Ok(vec![1, 3]));
        assert!(squeeze(&[1, 3], Some(vec![1])).is_err());
        assert_eq!(unsqueeze(&[3], &[0, -1]), Ok(vec![1, 3, 1]));
        assert!(unsqueeze(&[3], &[0, 0]).is_err());
    }

    #[test]
    fn concat_interleaves_blocks() {
        let (shape, sources) = concat(1, &[computed(&[2, 1]), computed(&[2, 2])]).unwrap();
        assert_eq!(shape, [2, 3]);
        assert_eq!(sources, [(0, 0), (1, 0), (1, 1), (0, 1), (1, 2), (1, 3)]);
    }
}
