//! A network as borrowed data, the kernels over it, and the one bound: all that a proof's arithmetic rests on.
//!
//! There is no heap and no dependency here: everything reads slices and writes slices, so that the same code runs in a
//! verifier and on a device. Numbers are rounded to nearest; what that may cost is bounded in [`rounding`].

#![cfg_attr(not(feature = "std"), no_std)]

pub mod bound;
pub mod boxes;
#[doc(hidden)]
pub mod kernel;
pub mod map;
mod network;
pub mod rounding;
mod shape;
pub mod sweep;

pub use network::{Ending, Model, Network, Tensor};
pub use shape::{Edge, NeuronError, Shape, Source, Stage, StageError};
