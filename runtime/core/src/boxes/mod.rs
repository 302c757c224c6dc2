//! Bounds of sixteen boxes of inputs at once, one a lane.
//!
//! A box is x = m + r·t with t in [−1, 1]. On it every neuron has a lower and an upper *form*, affine in t, and an interval;
//! what the forms leave undecided is bounded by passes back to the inputs, and so are the rows that are asked for:
//! [`Pass::hidden`], [`Pass::rows`]. All of it is the one bound (see [`crate::bound`]) with these multipliers:
//!
//! ```text
//!     on  ν = μ,     off  ν = 0,     undecided  ν = α·max(μ, 0) + λ·min(μ, 0),   λ = u/(u − l),  α in [0, 1].
//! ```
//!
//! # What rounding costs
//!
//! The numbers are float32 or float64, rounded to nearest. Multipliers and coefficients of forms are exact once they are
//! computed; what is charged is the difference to the sums that they stand for, at the largest values of what they multiply:
//!
//! - `size` of an activation is at least its magnitude and that of its forms (the sum of their coefficients' magnitudes);
//! - `slop` of a neuron is what a unit of its multiplier may cost: the roundings of its products with what it reads, at their
//!   sizes, of its bias in the sum, and the neuron's own error. Forms are moved outward by it, and a pass charges |ν|·slop;
//! - the chord of an undecided neuron costs `drop` times −min(μ, 0), which is rounded up and pays for its place in the sum;
//! - products that underflow cost the least number each, times the sizes that come after: `underflow`, once a row.
//!
//! A number that overflowed makes the bounds that depend on it infinite or NaN, and neither decides a neuron or a row.

#![allow(clippy::needless_range_loop, reason = "vectors are kept in registers by plain loops")]

mod back;
mod forward;
mod points;
mod relax;
mod room;

use crate::kernel::{Lanes, PANEL, Portable, Scalar, Simd, Vector, VectorOf, Vectorised, dispatch};
use crate::map::Dense;
use crate::{Shape, Source};
pub use back::Direction;
pub use room::{Places, Room, Rounding};

/// Boxes of a batch.
pub const LANES: usize = PANEL;

/// Rows that go back to the inputs together.
pub const TOGETHER: usize = 4;

/// The passes over a network, for a batch of boxes.
pub struct Pass<'p, 'a, 'r, T> {
    pub shape: &'p Shape<'a>,
    pub room: &'p mut Room<'r, T>,
}

/// A step of the work on a batch.
pub enum Task<'t, T> {
    /// Bounds every hidden neuron, and the outputs by their forms.
    Hidden,
    /// Bounds rows over the outputs: see [`Pass::rows`].
    Rows { rows: &'t [Direction<'t, T>], reached: &'t mut [Lanes<T>] },
    /// Evaluates a point of each lane and fits the slopes to it.
    Points,
    /// Which input moves the relaxation most: a number for each.
    Smear(&'t mut [Lanes<T>]),
}

/// Does a step of the work for a network as data, in float32.
pub fn run_32(shape: &Shape, room: &mut Room<f32>, task: Task<f32>) {
    dispatch(Step { pass: Pass { shape, room }, task });
}

/// The same in float64, which few boxes need: without vectors of its own.
pub fn run_64(shape: &Shape, room: &mut Room<f64>, task: Task<f64>) {
    Step { pass: Pass { shape, room }, task }.run::<Portable>();
}

struct Step<'p, 'a, 'r, 't, T> {
    pass: Pass<'p, 'a, 'r, T>,
    task: Task<'t, T>,
}

impl<T: Rounding> Vectorised for Step<'_, '_, '_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        match self.task {
            Task::Hidden => self.pass.hidden::<S>(),
            Task::Rows { rows, reached } => self.pass.rows::<S>(rows, reached),
            Task::Points => {
                self.pass.evaluate::<S>();
                self.pass.follow_points::<S>();
            }
            Task::Smear(into) => self.pass.smear::<S>(into),
        }
    }
}
