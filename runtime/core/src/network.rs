//! The contract between a network and everything that evaluates or verifies it.

use crate::boxes::{Room, Task};
use crate::shape::Shape;

/// A ReLU network: its weights as borrowed data, and how it is evaluated.
///
/// Generated code implements it with constants and unrolled kernels, the interpreter with run-time matrices; everything
/// else knows a network by this trait alone.
pub trait Network: Sync {
    fn model(&self) -> Model<'_>;

    /// The network as data: all that bounds, linear programs and exact arithmetic need.
    fn shape(&self) -> Shape<'_>;

    /// Evaluates one or more inputs, one after the other in `x`, to as many outputs in `y`, in float32.
    fn forward(&self, x: &[f32], y: &mut [f32]);

    /// Does a step of the work on a batch of boxes of inputs, in float32.
    fn bound_boxes(&self, room: &mut Room<f32>, task: Task<f32>) {
        crate::boxes::run_32(&self.shape(), room, task);
    }

    /// The model's tensors, in order, where it declares several as its inputs: then the inputs are their entries, one after
    /// the other.
    fn input_tensor(&self, _number: usize) -> Option<Tensor<'_>> {
        None
    }

    /// The same of the outputs.
    fn output_tensor(&self, _number: usize) -> Option<Tensor<'_>> {
        None
    }

    fn inputs(&self) -> usize {
        self.shape().inputs
    }

    fn outputs(&self) -> usize {
        self.shape().outputs()
    }
}

/// Where a network comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model<'a> {
    pub name: &'a str,
    /// The file format and its version.
    pub format: &'a str,
    /// Of the model file, after decompression.
    pub sha256: &'a str,
    /// The box the model declares its inputs to lie in; empty if it declares none.
    pub domain: &'a [(f64, f64)],
    /// What the model does to the network's outputs.
    pub ending: Ending,
}

/// An operator at the end of a model that is not part of the network, since it only keeps the order of the outputs, or of
/// ArgMax, the highest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// The network's outputs are the model's.
    #[default]
    None,
    Softmax,
    LogSoftmax,
    Sigmoid,
    ArgMax,
}

impl Ending {
    /// As ONNX names it.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Ending::None => None,
            Ending::Softmax => Some("Softmax"),
            Ending::LogSoftmax => Some("LogSoftmax"),
            Ending::Sigmoid => Some("Sigmoid"),
            Ending::ArgMax => Some("ArgMax"),
        }
    }
}

/// A tensor that a model declares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tensor<'a> {
    pub name: &'a str,
    pub shape: &'a [usize],
}
