//! Operators whose results are constants: what exporters leave of computations with shapes.

use super::Reading;
use super::shape::{broadcast, broadcast_indices, checked_len};
use crate::approx::Approx;
use crate::graph::{Op, Tensor};
use std::cmp::Ordering;

/// The largest exponent of a power of constants.
const LARGEST_EXPONENT: f64 = 64.0;

/// The operator's constant result, if it is one of those that give no other.
pub fn fold(op: &Op, inputs: &[Reading]) -> Result<Option<Tensor>, String> {
    let tensor = match op {
        Op::Shape { start, end } => shape_of(inputs[0].shape, *start, *end),
        Op::Size => number(Approx::exact(inputs[0].len() as f64)),
        Op::ConstantOfShape { value } => {
            let shape = inputs[0].sizes("shape")?;
            Tensor { data: vec![*value; checked_len(&shape)?], shape }
        }
        Op::Range => range(inputs)?,
        Op::Pow if inputs.iter().any(|input| input.constant.is_none()) => return Ok(None),
        _ if arity(op) == 0 => return Ok(None),
        _ => elementwise(op, inputs)?,
    };
    Ok(Some(tensor))
}

/// How many operands an operator of constants has that works entry by entry; 0 for all others.
fn arity(op: &Op) -> usize {
    match op {
        Op::Floor | Op::Ceil | Op::Sqrt | Op::Reciprocal | Op::Not => 1,
        Op::Equal | Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => 2,
        Op::And | Op::Or | Op::Mod { .. } | Op::IntegerDiv | Op::Pow => 2,
        _ => 0,
    }
}

fn elementwise(op: &Op, inputs: &[Reading]) -> Result<Tensor, String> {
    if inputs.iter().any(|input| input.constant.is_none()) {
        return Err(format!("{} of a computed value is neither affine nor piecewise linear", op.name()));
    }
    let shape = inputs.iter().try_fold(vec![], |shape, input| broadcast(&shape, input.shape))?;
    checked_len(&shape)?;
    let spread = |input: &Reading| -> Result<Vec<Approx>, String> {
        let tensor = input.constant("operand")?;
        Ok(broadcast_indices(input.shape, &shape).into_iter().map(|i| tensor.data[i]).collect())
    };
    let first = spread(&inputs[0])?;
    let second = if arity(op) == 2 { spread(&inputs[1])? } else { first.clone() };
    let data = first.iter().zip(&second).map(|(&a, &b)| entry(op, a, b)).collect::<Result<Vec<_>, _>>()?;
    Ok(Tensor { shape, data })
}

/// One entry; operators of one operand look at the first.
fn entry(op: &Op, a: Approx, b: Approx) -> Result<Approx, String> {
    let truth = |v: bool| Ok(Approx::exact(f64::from(v)));
    let is_true = |v: Approx| v != Approx::exact(0.0);
    match op {
        Op::Floor => decided_floor(a).map(Approx::exact),
        Op::Ceil => decided_ceil(a).map(Approx::exact),
        Op::Sqrt => Ok(a.sqrt()),
        Op::Reciprocal => Ok(Approx::ONE / a),
        Op::Pow => power(a, b),
        Op::Not => truth(!is_true(a)),
        Op::And => truth(is_true(a) && is_true(b)),
        Op::Or => truth(is_true(a) || is_true(b)),
        Op::Mod { fmod } => remainder(a, b, *fmod),
        Op::IntegerDiv => integers(a, b).map(|(a, b)| Approx::exact((a / b).trunc())),
        Op::Equal => truth(compared(a, b)?.is_eq()),
        Op::Less => truth(compared(a, b)?.is_lt()),
        Op::LessOrEqual => truth(compared(a, b)?.is_le()),
        Op::Greater => truth(compared(a, b)?.is_gt()),
        Op::GreaterOrEqual => truth(compared(a, b)?.is_ge()),
        _ => unreachable!("{} is not an operator of constants", op.name()),
    }
}

fn compared(a: Approx, b: Approx) -> Result<Ordering, String> {
    a.compare(b).ok_or_else(|| "which of two constants is larger is lost in their rounding".into())
}

/// The largest whole number that is not larger. The model computes in float32, where a number next to a whole one may
/// have become that one; it is refused, since there the two differ by 1.
pub fn decided_floor(v: Approx) -> Result<f64, String> {
    let floor = v.value.floor();
    if v.radius == 0.0 && floor == v.value {
        return Ok(floor);
    }
    let margin = v.radius + v.value.abs().max(1.0) * f64::from(f32::EPSILON);
    if (v.value - margin).floor() == floor && (v.value + margin).floor() == floor {
        return Ok(floor);
    }
    Err(format!("whether {} is rounded up or down depends on the rounding of the model's arithmetic", v.value))
}

pub fn decided_ceil(v: Approx) -> Result<f64, String> {
    decided_floor(-v).map(|floor| -floor)
}

/// Two whole numbers, the second not 0, whose quotient float64 gets right.
fn integers(a: Approx, b: Approx) -> Result<(f64, f64), String> {
    let is_small = |v: Approx| v.radius == 0.0 && v.value.fract() == 0.0 && v.value.abs() < 2f64.powi(31);
    match () {
        _ if !is_small(a) || !is_small(b) => Err("it is supported for small integers only".into()),
        _ if b.value == 0.0 => Err("it divides by zero".into()),
        _ => Ok((a.value, b.value)),
    }
}

fn remainder(a: Approx, b: Approx, fmod: bool) -> Result<Approx, String> {
    let (a, b) = integers(a, b)?;
    let rest = a % b;
    let other_sign = rest != 0.0 && (rest < 0.0) != (b < 0.0);
    Ok(Approx::exact(if other_sign && !fmod { rest + b } else { rest }))
}

/// Whole exponents by multiplication, and the square root.
fn power(a: Approx, exponent: Approx) -> Result<Approx, String> {
    let e = exponent.value;
    if exponent == Approx::exact(0.5) {
        return Ok(a.sqrt());
    }
    if exponent.radius != 0.0 || e.fract() != 0.0 || e.abs() > LARGEST_EXPONENT {
        return Err(format!("a power with the exponent {e} is not supported"));
    }
    let product = (0..e.abs() as usize).fold(Approx::ONE, |product, _| product * a);
    Ok(if e < 0.0 { Approx::ONE / product } else { product })
}

fn number(value: Approx) -> Tensor {
    Tensor { shape: vec![], data: vec![value] }
}

/// The sizes of the axes from `start` to `end`, counted from either end and cut to the axes there are.
fn shape_of(shape: &[usize], start: i64, end: Option<i64>) -> Tensor {
    let rank = shape.len() as i64;
    let place = |i: i64| (if i < 0 { i.saturating_add(rank) } else { i }).clamp(0, rank) as usize;
    let (start, end) = (place(start), end.map_or(shape.len(), place));
    let data: Vec<Approx> = shape.iter().take(end).skip(start).map(|&d| Approx::exact(d as f64)).collect();
    Tensor { shape: vec![data.len()], data }
}

/// `start`, `start + delta`, … before `limit`.
fn range(inputs: &[Reading]) -> Result<Tensor, String> {
    let (start, limit) = (inputs[0].number("start")?, inputs[1].number("limit")?);
    let delta = inputs[2].number("delta")?;
    let steps = (limit - start) / delta;
    if !steps.is_usable() {
        return Err(format!("its delta is {}", delta.value));
    }
    let count = decided_ceil(steps)?.max(0.0);
    let len = checked_len(&[if count < u32::MAX.into() { count as usize } else { usize::MAX }])?;
    Ok(Tensor { shape: vec![len], data: (0..len).map(|i| start + Approx::exact(i as f64) * delta).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{computed, reading, tensor};

    fn folded(op: Op, a: &[f64], b: &[f64]) -> Result<Vec<f64>, String> {
        let (a, b) = (tensor(&[a.len()], a), tensor(&[b.len()], b));
        let constant = fold(&op, &[reading(&a), reading(&b)])?.expect("a constant");
        Ok(constant.data.iter().map(|v| v.value).collect())
    }

    #[test]
    fn integers_divide_as_in_onnx() {
        assert_eq!(folded(Op::IntegerDiv, &[7.0, -7.0], &[2.0]), Ok(vec![3.0, -3.0]));
        assert_eq!(folded(Op::Mod { fmod: false }, &[7.0, -7.0], &[3.0]), Ok(vec![1.0, 2.0]));
        assert_eq!(folded(Op::Mod { fmod: true }, &[7.0, -7.0], &[3.0]), Ok(vec![1.0, -1.0]));
        assert!(folded(Op::IntegerDiv, &[1.0], &[0.0]).is_err());
    }

    #[test]
    fn only_certain_roundings_are_taken() {
        assert_eq!(decided_floor(Approx::exact(-2.5)), Ok(-3.0));
        assert_eq!(decided_ceil(Approx::exact(3.0)), Ok(3.0));
        assert!(decided_floor(Approx::exact(4.999_999_9)).is_err());
        assert!(decided_floor(Approx { value: 3.0, radius: 1e-9 }).is_err());
    }

    #[test]
    fn powers_are_whole_or_roots() {
        assert_eq!(folded(Op::Pow, &[2.0, 3.0], &[3.0]), Ok(vec![8.0, 27.0]));
        assert_eq!(folded(Op::Pow, &[4.0], &[0.5, -1.0]), Ok(vec![2.0, 0.25]));
        assert!(folded(Op::Pow, &[2.0], &[0.3]).is_err());
    }

    #[test]
    fn shapes_are_cut_to_their_axes() {
        let shape = |start, end| shape_of(&[2, 3, 4], start, end).data.iter().map(|v| v.value).collect::<Vec<_>>();
        assert_eq!(shape(0, None), [2.0, 3.0, 4.0]);
        assert_eq!(shape(-2, Some(-1)), [3.0]);
        assert_eq!(shape(2, Some(1)), [0.0; 0]);
        assert_eq!(shape(-9, Some(9)), [2.0, 3.0, 4.0]);
        assert!(fold(&Op::Floor, &[computed(&[1])]).is_err());
    }

    #[test]
    fn ranges_are_bounded() {
        let range = |numbers: [f64; 3]| {
            let tensors = numbers.map(|v| tensor(&[], &[v]));
            range(&tensors.each_ref().map(reading)).map(|t| t.data.iter().map(|v| v.value).collect::<Vec<_>>())
        };
        assert_eq!(range([1.0, 8.0, 3.0]), Ok(vec![1.0, 4.0, 7.0]));
        assert_eq!(range([3.0, 0.0, -2.0]), Ok(vec![3.0, 1.0]));
        assert_eq!(range([3.0, 0.0, 1.0]), Ok(vec![]));
        assert!(range([0.0, 1.0, 0.0]).is_err());
        assert!(range([0.0, 1e30, 1.0]).is_err());
    }
}
