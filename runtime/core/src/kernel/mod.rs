//! The vector kernels: what generated code calls, and the inner loops of the bounds. Not a public interface.

#![allow(clippy::needless_range_loop, reason = "loops over the lanes of arrays are what is compiled to vector code")]

mod blob;
pub mod conv;
mod declared;
mod geometry;
pub mod hull;
mod layer;
mod panels;
pub mod patches;
pub mod relax;
mod simd;
pub mod sparse;
mod vector;

pub use blob::{Numbers, numbers};
pub use geometry::{Geometry, pack_kernel};
pub use layer::{AddRow, Layer, Linear, Panel, pack, pack_back, relu, relu_batch};
pub use panels::{Chunk, Lanes, PANEL, Panels, ZERO, chunks, chunks_mut, padded};
pub use simd::{Portable, Scalar, Set, Simd, Vectorised, best, dispatch, limit};
pub use vector::{Plain, Vector, VectorOf};
