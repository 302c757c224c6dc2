//! Rigorous bounds: everything a verdict rests on.
//!
//! Numbers are float64 in round-to-nearest. Every computed sum carries the sum of its terms' magnitudes, and the bound on
//! its rounding error is subtracted at the end; no directed rounding, no fast-math. A NaN or an infinity never makes a
//! bound better: comparisons are written so that they then fail.

mod ascent;
mod backward;
mod domain;
mod enclose;
mod front;
mod gains;
mod layers;
mod objective;
mod passes;
mod spread;

pub use ascent::{Ascent, Branch, Node, ROWS, Split, Steps, Work};
pub use backward::{Bounder, Relaxation};
pub use domain::{Domain, Emptiness};
pub use enclose::enclose;
pub use front::{Front, Place, Row};
pub use layers::{Layer, Layers};
pub use objective::Objective;

/// Twice the unit roundoff: what a relative error of one operation is bounded by, with room for second-order terms.
const ROUND: f64 = f64::EPSILON;
/// Larger than all the error that underflow can add to a sum.
const UNDERFLOW: f64 = 1e-290;
