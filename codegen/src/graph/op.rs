//! The operators a format may name, before each is given its meaning in [`super::ops`].

use super::ops::window::Window;

/// Attributes are resolved to the newest opset's meaning; what a format passes as an input stays an input.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Gemm {
        alpha: f32,
        beta: f32,
        trans_a: bool,
        trans_b: bool,
    },
    MatMul,
    Conv {
        window: Window,
        groups: i64,
    },
    Add,
    Sub,
    Mul,
    Div,
    Relu,
    BatchNormalization {
        epsilon: f32,
    },
    Flatten {
        axis: i64,
    },
    Reshape {
        allow_zero: bool,
    },
    /// Axes from the attribute, else from the second input, else all axes of size 1.
    Squeeze {
        axes: Option<Vec<i64>>,
    },
    Unsqueeze {
        axes: Option<Vec<i64>>,
    },
    Transpose {
        perm: Option<Vec<i64>>,
    },
    /// Identity, Dropout at inference, Cast between floats.
    Identity,
    Concat {
        axis: i64,
    },
    /// Starts, ends, axes, steps as inputs; older models pass them as attributes, read into constants.
    Slice,
}

impl Op {
    pub fn name(&self) -> &'static str {
        match self {
            Op::Gemm { .. } => "Gemm",
            Op::MatMul => "MatMul",
            Op::Conv { .. } => "Conv",
            Op::Add => "Add",
            Op::Sub => "Sub",
            Op::Mul => "Mul",
            Op::Div => "Div",
            Op::Relu => "Relu",
            Op::BatchNormalization { .. } => "BatchNormalization",
            Op::Flatten { .. } => "Flatten",
            Op::Reshape { .. } => "Reshape",
            Op::Squeeze { .. } => "Squeeze",
            Op::Unsqueeze { .. } => "Unsqueeze",
            Op::Transpose { .. } => "Transpose",
            Op::Identity => "Identity",
            Op::Concat { .. } => "Concat",
            Op::Slice => "Slice",
        }
    }
}
