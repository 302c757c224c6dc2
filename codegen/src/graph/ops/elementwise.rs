//! Sums, products with constants, and BatchNormalization at inference, all with broadcasting.

use super::Reading;
use super::bilinear::row;
use super::shape::{broadcast, broadcast_indices, checked_len};
use crate::affine::{Affine, MAX_ENTRIES, Matrix, too_many_entries};
use crate::approx::Approx;
use crate::graph::{Op, Tensor};

/// Add, Sub, Neg, Sum and Mean: a factor times each operand, added up.
pub fn sum(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let shape = inputs.iter().try_fold(vec![], |shape, input| broadcast(&shape, input.shape))?;
    let len = checked_len(&shape)?;
    if len.saturating_mul(inputs.len()) > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    let mut map = Affine { matrices: vec![], bias: vec![Approx::exact(0.0); len] };
    for (k, input) in inputs.iter().enumerate() {
        let factor = match op {
            Op::Neg => -Approx::ONE,
            Op::Sub if k == 1 => -Approx::ONE,
            Op::Mean => Approx::ONE / Approx::exact(inputs.len() as f64),
            _ => Approx::ONE,
        };
        add_operand(&mut map, input, &broadcast_indices(input.shape, &shape), factor);
    }
    Ok((shape, map))
}

/// Mul, Div, and Pow with the exponent 1, where one operand is constant.
pub fn product(op: &Op, a: &Reading, b: &Reading) -> Result<(Vec<usize>, Affine), String> {
    let shape = broadcast(a.shape, b.shape)?;
    checked_len(&shape)?;
    let (left, right) = (broadcast_indices(a.shape, &shape), broadcast_indices(b.shape, &shape));
    let map = match (op, a.constant, b.constant) {
        (Op::Mul, _, Some(c)) => scaling(a, &left, |i| c.data[right[i]]),
        (Op::Mul, Some(c), None) => scaling(b, &right, |i| c.data[left[i]]),
        (Op::Div, _, Some(c)) => scaling(a, &left, |i| Approx::ONE / c.data[right[i]]),
        (Op::Mul, None, None) => return Err("a product of two computed values is not affine".into()),
        (Op::Pow, _, Some(c)) if c.data.iter().all(|v| *v == Approx::ONE) => scaling(a, &left, |_| Approx::ONE),
        (Op::Pow, ..) => return Err("a power of a computed value is not affine, but for the exponent 1".into()),
        _ => return Err("a division by a computed value is not affine".into()),
    };
    Ok((shape, map))
}

/// Adds `factor` times the operand's entries at `indices`: a matrix if it is computed, bias if it is constant.
pub fn add_operand(map: &mut Affine, operand: &Reading, indices: &[usize], factor: Approx) {
    match operand.constant {
        Some(tensor) => map.bias.iter_mut().zip(indices).for_each(|(b, &i)| *b = plus(*b, factor * tensor.data[i])),
        None => {
            let rows = indices.iter().map(|&i| row([(i, factor)].into_iter())).collect();
            map.matrices.push(Matrix { cols: operand.len(), rows });
        }
    }
}

/// `a + b`, where an absent `a` leaves `b` its sign of zero.
fn plus(a: Approx, b: Approx) -> Approx {
    if a.is_absent() { b } else { a + b }
}

/// Entry i of the output is `factor(i)` times the operand's entry that broadcasting reads there.
pub fn scaling(operand: &Reading, indices: &[usize], factor: impl Fn(usize) -> Approx) -> Affine {
    let mut map = Affine { matrices: vec![], bias: vec![Approx::exact(0.0); indices.len()] };
    match operand.constant {
        Some(tensor) => map.bias = indices.iter().enumerate().map(|(i, &j)| tensor.data[j] * factor(i)).collect(),
        None => {
            let rows = indices.iter().enumerate().map(|(i, &j)| row([(j, factor(i))].into_iter())).collect();
            map.matrices.push(Matrix { cols: operand.len(), rows });
        }
    }
    map
}
/// `scale·(x − mean)/√(var + ε) + bias`, per channel: axis 1, or all of a vector.
pub fn batch_normalization(epsilon: f32, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let x = &inputs[0];
    let (channels, inner) = match x.shape {
        [] => return Err("its input is a scalar".into()),
        [n] => (1, *n),
        [_, channels, inner @ ..] => (*channels, inner.iter().product()),
    };
    let parameter = |i: usize, what: &str| -> Result<&Tensor, String> {
        let tensor = inputs[i].constant.ok_or_else(|| format!("its {what} must be constant"))?;
        if tensor.data.len() == channels {
            Ok(tensor)
        } else {
            Err(format!("its {what} has {} entries for {channels} channels", tensor.data.len()))
        }
    };
    let (scale, bias) = (parameter(1, "scale")?, parameter(2, "bias")?);
    let (mean, var) = (parameter(3, "mean")?, parameter(4, "variance")?);
    let epsilon = Approx::exact(f64::from(epsilon));
    let factors: Vec<Approx> = (0..channels).map(|c| scale.data[c] / (var.data[c] + epsilon).sqrt()).collect();
    let channel = |i: usize| i / inner % channels;
    let indices: Vec<usize> = (0..x.len()).collect();
    let mut map = scaling(x, &indices, |i| factors[channel(i)]);
    for (i, b) in map.bias.iter_mut().enumerate() {
        let c = channel(i);
        *b = plus(*b, bias.data[c] - mean.data[c] * factors[c]);
    }
    Ok((x.shape.to_vec(), map))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{computed, image, reading, tensor};

    fn run(op: Op, a: &Reading, b: &Reading, x: &[f64]) -> Result<Vec<f64>, String> {
        let x: Vec<Approx> = x.iter().map(|&v| Approx::exact(v)).collect();
        let map = if op == Op::Sub { sum(&op, &[*a, *b]) } else { product(&op, a, b) };
        map.map(|(_, map)| image(&map, &x).iter().map(|v| v.value).collect())
    }

    #[test]
    fn constants_on_either_side() {
        let c = tensor(&[2], &[2.0, 4.0]);
        let (constant, computed) = (reading(&c), computed(&[1, 2]));
        assert_eq!(run(Op::Sub, &computed, &constant, &[5.0, 5.0]), Ok(vec![3.0, 1.0]));
        assert_eq!(run(Op::Sub, &constant, &computed, &[5.0, 5.0]), Ok(vec![-3.0, -1.0]));
        assert_eq!(run(Op::Mul, &constant, &computed, &[5.0, 5.0]), Ok(vec![10.0, 20.0]));
        assert_eq!(run(Op::Div, &computed, &constant, &[5.0, 5.0]), Ok(vec![2.5, 1.25]));
        assert!(run(Op::Div, &constant, &computed, &[5.0, 5.0]).is_err());
        assert!(run(Op::Mul, &computed, &computed, &[5.0, 5.0]).is_err());
        assert!(run(Op::Pow, &computed, &constant, &[5.0, 5.0]).is_err());
    }

    #[test]
    fn batch_normalization_is_per_channel() {
        let parameters: Vec<Tensor> =
            [[2.0, 3.0], [1.0, 0.0], [10.0, 0.0], [4.0, 1.0]].iter().map(|p| tensor(&[2], p)).collect();
        let mut inputs = vec![computed(&[1, 2, 2])];
        inputs.extend(parameters.iter().map(reading));
        let (shape, map) = batch_normalization(0.0, &inputs).unwrap();
        let x: Vec<Approx> = [10.0, 14.0, 1.0, 2.0].map(Approx::exact).to_vec();
        let y: Vec<f64> = image(&map, &x).iter().map(|v| v.value).collect();
        assert_eq!((shape, y), (vec![1, 2, 2], vec![1.0, 5.0, 3.0, 6.0]));
    }
}
