//! The kernels that generated code calls, one call per layer. Not a public interface.

mod blob;
mod dense;
mod packed;
mod simd;

pub use dense::{Backward, Dense, Lanes, PANEL, Panel, pack, pack_back, pack_bias};
pub use packed::{Matrix, Packed, padded};
pub use simd::{Scalar, Simd, Task, dispatch};
