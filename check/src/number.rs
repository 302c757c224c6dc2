//! The two kinds of number of this crate: what files of networks hold, and what properties hold.

// The operations may fail, so they are no implementations of the traits of the same names.
#![allow(clippy::should_implement_trait)]

mod dyadic;
mod ratio;

pub use dyadic::{Dyadic, bits, shift_down};
pub use ratio::{Ratio, gcd};
