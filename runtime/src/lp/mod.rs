//! Linear programs. HiGHS proposes, the rigorous bound disposes: nothing a solver says is trusted by itself.

mod highs;

pub use highs::{Lp, LpStatus};
