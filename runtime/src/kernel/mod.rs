//! The kernels that generated code calls, one call per layer. Not a public interface.

mod blob;
mod dense;
mod simd;

pub use dense::{Backward, Dense, Lanes, PANEL, Panel, pack, pack_back, pack_bias};
pub use simd::{Scalar, Simd, Task, dispatch};
