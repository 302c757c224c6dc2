//! Rigorous bounds: everything a verdict rests on, in float64 for whole networks and in float32 for what is left of them.
//!
//! Multipliers are proposed by whoever likes to; what is computed from them here is a lower bound whatever they are. How
//! rounding is accounted for is in [`pg_core::rounding`].

mod batch;
mod bounder;
mod boxes;
mod buffer;
mod combination;
mod compact;
mod cone;
mod hull;
mod live;
mod objective;
mod packed;
mod rows;
mod table;

pub use batch::{Batch, Buffers, Guide, Node, ROWS, Split, Subproblem};
pub use bounder::{Bounder, Multipliers, NOT_EMPTY, Worth};
pub use boxes::{BoxBatch, BoxKernel, BoxNumber, BoxRow, Directions};
pub use buffer::Buffer;
pub use combination::{Bounded, Conjunction};
pub use compact::{Compact, CompactStage, Slot};
pub use cone::Targets;
pub use objective::Objective;
pub use pg_core::bound::Relaxation;
pub use rows::Objective32;
pub use table::{Bounds, Emptiness, Side};
