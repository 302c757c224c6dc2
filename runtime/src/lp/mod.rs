//! Linear programs. HiGHS proposes, the rigorous bound disposes: nothing a solver says is trusted by itself.

pub mod exact;
mod highs;
mod program;
mod relaxation;

pub use highs::{Lp, LpStatus};
pub use program::Program;
pub use relaxation::{Point, Ray, Relaxed, RelaxedNetwork};
