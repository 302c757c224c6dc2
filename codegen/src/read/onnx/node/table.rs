//! The table of supported operators: the reader looks up nodes in it, and `pg-codegen operators` prints it.

use super::forms::*;
use super::{Element, Meaning, Operator};
use crate::graph::Op;
use crate::read::onnx::proto::DataType;

/// Of any number of inputs.
const MANY: usize = usize::MAX;
/// The type of comparisons.
const TRUTH: Element = Element::Is(DataType::Bool);

const CONSTANTS: &str = "of constants";
const BROADCAST: &str = "with broadcasting";

const RESIZE: &str = "nearest and linear, by constant scales or sizes; asymmetric, half_pixel, pytorch_half_pixel and \
                      align_corners";

/// Each with its name, the number of its inputs, what of it is supported, and its meaning.
macro_rules! operators {
    ($($name:ident $inputs:expr, $about:expr, $meaning:expr;)*) => {
        /// By their names, in order.
        pub const OPERATORS: &[Operator] =
            &[$(Operator { name: stringify!($name), inputs: $inputs, about: $about, meaning: $meaning }),*];
    };
}

operators! {
    Abs 1..=1, "", |_| plain(Op::Abs);
    Add 2..=2, BROADCAST, |_| plain(Op::Add);
    And 2..=2, CONSTANTS, |_| typed(Op::And, TRUTH);
    AveragePool 1..=1, "any number of spatial axes", |a| {
        plain(Op::AveragePool { window: window(a)?, include_pad: a.flag("count_include_pad")? })
    };
    BatchNormalization 5..=5, "at inference, with constant parameters", batch_normalization;
    Cast 1..=1, "between floats, and of constants to integers that hold them and to truth values", cast;
    CastLike 2..=2, "as Cast", |_| Ok(Meaning::Cast(Element::OfInput(1)));
    Ceil 1..=1, CONSTANTS, |_| plain(Op::Ceil);
    Clip 1..=3, "with constant bounds", clip;
    Concat 1..=MANY, "", |a| plain(Op::Concat { axis: a.required_int("axis")? });
    Constant 0..=0, "of numbers", constant;
    ConstantOfShape 1..=1, "of a constant shape", constant_of_shape;
    Conv 2..=3, "any number of spatial axes; input or kernel constant", |a| {
        plain(Op::Conv { window: window(a)?, groups: a.int("group", 1)? })
    };
    ConvTranspose 2..=3, "any number of spatial axes; input or kernel constant", conv_transpose;
    DepthToSpace 1..=1, "", depth_to_space;
    Div 2..=2, "by a constant, with broadcasting", |_| plain(Op::Div);
    Dropout 1..=3, "at inference; no mask", |_| Ok(Meaning::Dropout);
    Equal 2..=2, CONSTANTS, |_| typed(Op::Equal, TRUTH);
    Expand 2..=2, "to a constant shape", |_| plain(Op::Expand);
    Flatten 1..=1, "", |a| plain(Op::Flatten { axis: a.int("axis", 1)? });
    Floor 1..=1, CONSTANTS, |_| plain(Op::Floor);
    Gather 2..=2, "by constant indices", |a| plain(Op::Gather { axis: a.int("axis", 0)? });
    Gemm 2..=3, "one of the factors constant", |a| {
        plain(Op::Gemm {
            alpha: a.float("alpha", 1.0)?,
            beta: a.float("beta", 1.0)?,
            trans_a: a.flag("transA")?,
            trans_b: a.flag("transB")?,
        })
    };
    GlobalAveragePool 1..=1, "", |_| plain(Op::GlobalAveragePool);
    GlobalMaxPool 1..=1, "", |_| plain(Op::GlobalMaxPool);
    Greater 2..=2, CONSTANTS, |_| typed(Op::Greater, TRUTH);
    GreaterOrEqual 2..=2, CONSTANTS, |_| typed(Op::GreaterOrEqual, TRUTH);
    HardSigmoid 1..=1, "", |a| {
        plain(Op::HardSigmoid { alpha: a.float("alpha", 0.2)?, beta: a.float("beta", 0.5)? })
    };
    Identity 1..=1, "", |_| plain(Op::Identity);
    LeakyRelu 1..=1, "", |a| plain(Op::LeakyRelu { alpha: a.float("alpha", 0.01)? });
    Less 2..=2, CONSTANTS, |_| typed(Op::Less, TRUTH);
    LessOrEqual 2..=2, CONSTANTS, |_| typed(Op::LessOrEqual, TRUTH);
    MatMul 2..=2, "one of the factors constant, with broadcasting", |_| plain(Op::MatMul);
    Max 1..=MANY, BROADCAST, |_| plain(Op::Max);
    MaxPool 1..=1, "any number of spatial axes; no indices", |a| plain(Op::MaxPool { window: window(a)? });
    Mean 1..=MANY, BROADCAST, |_| plain(Op::Mean);
    Min 1..=MANY, BROADCAST, |_| plain(Op::Min);
    Mod 2..=2, "of constant integers", |a| plain(Op::Mod { fmod: a.flag("fmod")? });
    Mul 2..=2, "one of the factors constant, with broadcasting", |_| plain(Op::Mul);
    Neg 1..=1, "", |_| plain(Op::Neg);
    Not 1..=1, CONSTANTS, |_| typed(Op::Not, TRUTH);
    Or 2..=2, CONSTANTS, |_| typed(Op::Or, TRUTH);
    PRelu 2..=2, "with constant slopes", |_| plain(Op::PRelu);
    Pad 1..=4, "constant, edge, reflect and wrap; pads of constant size, also negative ones", pad;
    Pow 2..=2, "with the exponent 1; of constants with whole exponents and 0.5", |_| plain(Op::Pow);
    Range 3..=3, CONSTANTS, |_| plain(Op::Range);
    Reciprocal 1..=1, CONSTANTS, |_| plain(Op::Reciprocal);
    ReduceMax 1..=2, "over constant axes", |a| reduce(Op::ReduceMax, a);
    ReduceMean 1..=2, "over constant axes", |a| reduce(Op::ReduceMean, a);
    ReduceMin 1..=2, "over constant axes", |a| reduce(Op::ReduceMin, a);
    ReduceSum 1..=2, "over constant axes", |a| reduce(Op::ReduceSum, a);
    Relu 1..=1, "", |_| plain(Op::Relu);
    Reshape 2..=2, "to a constant shape", |a| plain(Op::Reshape { allow_zero: a.flag("allowzero")? });
    Resize 1..=4, RESIZE, resize;
    Shape 1..=1, "", shape;
    Size 1..=1, "", |_| typed(Op::Size, Element::Is(DataType::Int64));
    Slice 1..=5, "by constants", slice;
    SpaceToDepth 1..=1, "", |a| plain(Op::SpaceToDepth { block: a.required_int("blocksize")? });
    Split 1..=2, "into parts of constant sizes", split;
    Sqrt 1..=1, CONSTANTS, |_| plain(Op::Sqrt);
    Squeeze 1..=2, "of constant axes", |a| with_list(Op::Squeeze, a, "axes");
    Sub 2..=2, BROADCAST, |_| plain(Op::Sub);
    Sum 1..=MANY, BROADCAST, |_| plain(Op::Sum);
    Tile 2..=2, "by constant repeats", |_| plain(Op::Tile);
    Transpose 1..=1, "", |a| plain(Op::Transpose { perm: a.ints("perm") });
    Unsqueeze 1..=2, "by constant axes", unsqueeze;
    Upsample 1..=2, "nearest and linear, by constant scales", resize;
    Where 3..=3, "with a constant condition", |_| typed(Op::Where, Element::OfInput(1));
}
