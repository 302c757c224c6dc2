//! The kernels that generated code calls, one call per layer. Not a public interface.

#![allow(clippy::needless_range_loop, reason = "loops over the lanes of arrays are what is compiled to vector code")]

mod blob;
mod buffer;
mod dense;
mod packed;
mod simd;
mod spread;

pub use buffer::Buffer;
pub use dense::{Backward, Dense, Lanes, PANEL, Panel, pack, pack_back, pack_bias};
pub use packed::{Matrix, Packed, padded};
pub use simd::{Scalar, Simd, Task, dispatch};
pub use spread::{Reach, Reaches, Sides, Want, roundings};
