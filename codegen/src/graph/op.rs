//! The operators a format may name, before each is given its meaning in [`super::ops`].

use super::ops::resize::Resize;
use super::ops::window::Window;
use crate::approx::Approx;

/// Attributes are resolved to the newest opset's meaning; what its operator reads as an input is an input here. An
/// optional input that is left out before a given one is an empty constant.
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
    ConvTranspose {
        window: Window,
        groups: i64,
        output_padding: Option<Vec<i64>>,
        output_shape: Option<Vec<i64>>,
    },

    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Sum,
    Mean,
    Pow,
    BatchNormalization {
        epsilon: f32,
    },

    AveragePool {
        window: Window,
        include_pad: bool,
    },
    GlobalAveragePool,
    MaxPool {
        window: Window,
    },
    GlobalMaxPool,
    ReduceSum(Reduce),
    ReduceMean(Reduce),
    ReduceMax(Reduce),
    ReduceMin(Reduce),
    Resize(Resize),

    Flatten {
        axis: i64,
    },
    Reshape {
        allow_zero: bool,
    },
    Squeeze,
    Unsqueeze,
    Transpose {
        perm: Option<Vec<i64>>,
    },
    /// Identity, Dropout at inference, Cast between floats.
    Identity,
    Concat {
        axis: i64,
    },
    Slice,
    Gather {
        axis: i64,
    },
    /// One part of several: the sizes are an input, else all are equal but, where `uneven`, the last.
    Split {
        axis: i64,
        parts: usize,
        part: usize,
        uneven: bool,
    },
    Expand,
    Tile,
    DepthToSpace {
        block: i64,
        depth_first: bool,
    },
    SpaceToDepth {
        block: i64,
    },
    Pad {
        mode: PadMode,
    },
    Where,

    Relu,
    Abs,
    LeakyRelu {
        alpha: f32,
    },
    PRelu,
    Clip,
    HardSigmoid {
        alpha: f32,
        beta: f32,
    },
    Max,
    Min,

    Shape {
        start: i64,
        end: Option<i64>,
    },
    Size,
    ConstantOfShape {
        value: Approx,
    },
    Range,
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Not,
    And,
    Or,
    Floor,
    Ceil,
    Sqrt,
    Reciprocal,
    /// Of integers; the sign is that of the dividend if `fmod`, else of the divisor.
    Mod {
        fmod: bool,
    },
    /// The quotient of integers, towards zero.
    IntegerDiv,
}

/// The axes are the second input; without any, all are meant, or none if `noop`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reduce {
    pub keep_dims: bool,
    pub noop: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PadMode {
    Constant,
    Edge,
    Reflect,
    Wrap,
}

impl Op {
    /// The variant's name, which is ONNX's.
    pub fn name(&self) -> String {
        format!("{self:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
    }

    /// The operator that computes the output of the given number; all but Split have one.
    pub fn of_output(&self, index: usize) -> Op {
        match *self {
            Op::Split { axis, parts, uneven, .. } => Op::Split { axis, parts, part: index, uneven },
            ref op => op.clone(),
        }
    }
}
