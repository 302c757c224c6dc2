//! What each operator means: the shape of its output, and its affine map or the few maps and ReLUs it is made of.
//!
//! There is one definition per operator. Constant folding takes the bias of the same map whose matrices serve computed
//! values, so a constant `Concat` and a computed one cannot differ.

mod bilinear;
mod constant;
mod conv;
mod elementwise;
mod extreme;
mod matmul;
mod movement;
mod pad;
mod piecewise;
mod reduce;
pub mod resize;
mod select;
mod shape;
mod transposed;
pub mod window;

use super::build::Site;
use super::{Op, Operand, Tensor};
use crate::affine::Affine;
use crate::approx::Approx;
pub use constant::decided_floor;
use pg_core::map::Geometry;
pub use shape::{check_shape, checked_len};

/// One operand as an operator sees it: its shape, and its entries if they are constant.
#[derive(Clone, Copy)]
pub struct Reading<'a> {
    pub shape: &'a [usize],
    pub constant: Option<&'a Tensor>,
}

impl<'a> Reading<'a> {
    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    fn constant(&self, what: &str) -> Result<&'a Tensor, String> {
        self.constant.ok_or_else(|| format!("its {what} must be constant"))
    }

    /// The constant's entries as integers, for shapes and axes.
    fn integers(&self, what: &str) -> Result<Vec<i64>, String> {
        let whole = |v: &Approx| (v.radius == 0.0 && v.value.fract() == 0.0).then_some(v.value as i64);
        let tensor = self.constant(what)?;
        tensor.data.iter().map(whole).collect::<Option<_>>().ok_or_else(|| format!("its {what} must be integers"))
    }

    /// The constant's entries as sizes.
    fn sizes(&self, what: &str) -> Result<Vec<usize>, String> {
        let integers = self.integers(what)?;
        let sizes = integers.iter().map(|&d| usize::try_from(d)).collect::<Result<_, _>>();
        sizes.map_err(|_| format!("its {what} {integers:?} is negative"))
    }

    /// The only entry of a constant.
    fn number(&self, what: &str) -> Result<Approx, String> {
        match self.constant(what)?.data[..] {
            [number] => Ok(number),
            _ => Err(format!("its {what} of shape {:?} is not one number", self.shape)),
        }
    }
}

/// An optional input, unless it is left out.
fn given<'a>(inputs: &'a [Reading<'a>], index: usize) -> Option<&'a Reading<'a>> {
    inputs.get(index).filter(|input| !input.shape.contains(&0))
}

/// Adds the nodes of an operator.
pub fn build(site: &mut Site, op: &Op, inputs: &[Operand]) -> Result<Operand, String> {
    match op {
        Op::Relu => site.relu("", &inputs[0]),
        Op::Abs | Op::LeakyRelu { .. } | Op::PRelu | Op::Clip | Op::HardSigmoid { .. } => {
            piecewise::build(site, op, inputs)
        }
        Op::Max | Op::Min | Op::MaxPool { .. } | Op::GlobalMaxPool | Op::ReduceMax(_) | Op::ReduceMin(_) => {
            extreme::build(site, op, inputs)
        }
        _ => {
            let readings: Vec<Reading> = inputs.iter().map(|operand| site.reading(operand)).collect();
            if let Some(Tensor { shape, data }) = constant::fold(op, &readings)? {
                return site.constant(shape, data);
            }
            let (shape, map) = define(op, &readings)?;
            site.windows = geometry(op, &readings).into_iter().collect();
            site.affine("", inputs, shape, map)
        }
    }
}

/// The output's shape and its dependence on those operands that are not constant, in order.
fn define(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    match op {
        Op::Gemm { alpha, beta, trans_a, trans_b } => matmul::gemm(*alpha, *beta, *trans_a, *trans_b, inputs),
        Op::MatMul => matmul::matmul(&inputs[0], &inputs[1]),
        Op::Conv { window, groups } => conv::conv(window, *groups, inputs),
        Op::ConvTranspose { .. } => transposed::conv_transpose(op, inputs),
        Op::Add | Op::Sub | Op::Neg | Op::Sum | Op::Mean => elementwise::sum(op, inputs),
        Op::Mul | Op::Div | Op::Pow => elementwise::product(op, &inputs[0], &inputs[1]),
        Op::BatchNormalization { epsilon } => elementwise::batch_normalization(*epsilon, inputs),
        Op::AveragePool { .. } | Op::GlobalAveragePool | Op::ReduceSum(_) | Op::ReduceMean(_) => {
            reduce::average(op, inputs)
        }
        Op::Resize(resize) => resize::resize(resize, inputs),
        _ => movement::movement(op, inputs),
    }
}

/// The convolution that an operator is, for the kernels of convolutions.
fn geometry(op: &Op, inputs: &[Reading]) -> Option<Geometry> {
    match op {
        Op::Conv { window, groups } => conv::geometry(window, *groups, inputs),
        _ => None,
    }
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

    pub fn tensor(shape: &[usize], data: &[f64]) -> Tensor {
        Tensor { shape: shape.to_vec(), data: data.iter().map(|&v| Approx::exact(v)).collect() }
    }

    pub fn reading(tensor: &Tensor) -> Reading<'_> {
        Reading { shape: &tensor.shape, constant: Some(tensor) }
    }

    pub fn computed(shape: &[usize]) -> Reading<'_> {
        Reading { shape, constant: None }
    }
}
