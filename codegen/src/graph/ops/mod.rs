//! What each operator means: the shape of its output and its affine map.
//!
//! There is one definition per operator. Constant folding takes the bias of the same map whose matrices serve computed
//! values, so a constant `Concat` and a computed one cannot differ.

mod bilinear;
mod conv;
mod elementwise;
mod matmul;
mod movement;
pub mod window;

use super::{Op, Tensor};
use crate::affine::{Affine, MAX_ENTRIES, too_many_entries};
use crate::approx::Approx;
use pg_core::map::Geometry;

/// The most entries a tensor may have.
const MAX_LEN: usize = 1 << 24;

/// One operand as an operator sees it: its shape, and its entries if they are constant.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub shape: &'a [usize],
    pub constant: Option<&'a Tensor>,
}

impl Reading<'_> {
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    /// The constant's entries as integers, for shapes and axes.
    fn integers(&self, what: &str) -> Result<Vec<i64>, String> {
        let tensor = self.constant.ok_or_else(|| format!("its {what} must be constant"))?;
        let whole = |v: &Approx| (v.radius == 0.0 && v.value.fract() == 0.0).then_some(v.value as i64);
        tensor.data.iter().map(whole).collect::<Option<_>>().ok_or_else(|| format!("its {what} must be integers"))
    }
}

/// The output's shape and its dependence on those operands that are not constant, in order.
pub fn define(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    expect_operands(op, inputs.len())?;
    let (shape, map) = match op {
        Op::Gemm { alpha, beta, trans_a, trans_b } => matmul::gemm(*alpha, *beta, *trans_a, *trans_b, inputs),
        Op::Conv { window, groups } => conv::conv(window, *groups, inputs),
        Op::MatMul => matmul::matmul(&inputs[0], &inputs[1]),
        Op::Add | Op::Sub | Op::Mul | Op::Div => elementwise::binary(op, &inputs[0], &inputs[1]),
        Op::BatchNormalization { epsilon } => elementwise::batch_normalization(*epsilon, inputs),
        Op::Flatten { .. }
        | Op::Reshape { .. }
        | Op::Squeeze { .. }
        | Op::Unsqueeze { .. }
        | Op::Transpose { .. }
        | Op::Identity
        | Op::Concat { .. }
        | Op::Slice => movement::movement(op, inputs),
        Op::Relu => unreachable!("ReLU is not affine"),
    }?;
    if map.entries() > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    if !map.is_usable() {
        return Err("its coefficients overflow, or it divides by zero".into());
    }
    Ok((shape, map))
}

/// The convolution that an operator is, for the kernels of convolutions.
pub fn geometry(op: &Op, inputs: &[Reading]) -> Option<Geometry> {
    match op {
        Op::Conv { window, groups } => conv::geometry(window, *groups, inputs),
        _ => None,
    }
}

fn expect_operands(op: &Op, found: usize) -> Result<(), String> {
    let (least, most) = match op {
        Op::Gemm { .. } | Op::Conv { .. } => (2, 3),
        Op::BatchNormalization { .. } => (5, 5),
        Op::Concat { .. } => (1, usize::MAX),
        Op::Slice => (3, 5),
        Op::Squeeze { axes: None } => (1, 2),
        Op::Reshape { .. } | Op::Unsqueeze { axes: None } => (2, 2),
        Op::MatMul | Op::Add | Op::Sub | Op::Mul | Op::Div => (2, 2),
        _ => (1, 1),
    };
    if (least..=most).contains(&found) { Ok(()) } else { Err(format!("it has {found} inputs")) }
}

/// The number of entries of a shape, refused when it is beyond reason.
pub fn checked_len(shape: &[usize]) -> Result<usize, String> {
    shape
        .iter()
        .try_fold(1usize, |len, &d| len.checked_mul(d))
        .filter(|&len| len <= MAX_LEN)
        .ok_or_else(|| format!("a tensor of shape {shape:?} has more than {MAX_LEN} entries"))
}

/// ONNX's axis: from −rank to rank − 1.
fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let counted = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(counted)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("its axis {axis} is outside a tensor of rank {rank}"))
}

/// Row-major strides.
fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    strides
}

/// The two shapes' common shape under ONNX's multidirectional broadcasting.
fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let rank = a.len().max(b.len());
    let dim = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    let merged = |i| match (dim(a, i), dim(b, i)) {
        (p, q) if p == q || q == 1 => Some(p),
        (1, q) => Some(q),
        _ => None,
    };
    (0..rank).map(merged).collect::<Option<_>>().ok_or_else(|| format!("shapes {a:?} and {b:?} do not broadcast"))
}

/// For each entry of `full`, in order, the flat index of the entry of `part` that broadcasting reads there.
fn broadcast_indices(part: &[usize], full: &[usize]) -> Vec<usize> {
    let offset = full.len() - part.len();
    let own = strides(part);
    let step: Vec<usize> =
        (0..full.len()).map(|i| if i < offset || part[i - offset] == 1 { 0 } else { own[i - offset] }).collect();
    walk(full, &step, 0)
}

/// The flat indices met by counting through `shape` with the given step along each axis.
fn walk(shape: &[usize], step: &[usize], start: usize) -> Vec<usize> {
    let mut indices = vec![start];
    for (&d, &s) in shape.iter().zip(step) {
        indices = indices.iter().flat_map(|&base| (0..d).map(move |i| base + i * s)).collect();
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The map's value at `x`, its only operand.
    pub fn image(map: &Affine, x: &[Approx]) -> Vec<Approx> {
        let mut y = map.bias.clone();
        map.matrices[0].accumulate(x, &mut y);
        y
    }

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast(&[2, 1, 3], &[4, 1]), Ok(vec![2, 4, 3]));
        assert_eq!(broadcast(&[], &[5]), Ok(vec![5]));
        assert!(broadcast(&[2], &[3]).is_err());
        assert_eq!(broadcast_indices(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(broadcast_indices(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(broadcast_indices(&[], &[2]), [0, 0]);
    }

    #[test]
    fn shapes_beyond_reason_are_refused() {
        assert!(checked_len(&[1 << 40, 1 << 40]).is_err());
        assert!(checked_len(&[1 << 25]).is_err());
        assert_eq!(checked_len(&[3, 0]), Ok(0));
    }
}
