//! `pg-check` judges certificates: that no input of a property's region violates it, for the network in an ONNX file.
//!
//! Nothing here is shared with the search that writes certificates, nothing comes from other crates, and no floating point is
//! used: a float in a file is an integer times a power of two, and a decimal is a fraction. Arithmetic is exact, or rounded to the
//! safe side, or fails. Whatever a file holds that is not understood is refused with a message.

#![forbid(unsafe_code)]

mod bound;
mod cells;
mod contract;
mod file;
mod fixed;
mod goal;
mod hull;
mod judge;
mod kept;
mod number;
mod onnx;
mod property;
mod protobuf;
mod question;
mod region;
mod sha256;
mod tree;
mod vnnlib;

use bound::{Bounder, Node, Phase, Rule, Start};
use contract::{Conditions, Inequality, Term};
use file::Reader;
use fixed::{Fixed, ROUNDING, small};
use goal::combined;
use hull::{Hull, Turn};
use judge::{Claim, Judge, position};
use kept::kept;
pub use number::{Dyadic, Ratio};
use number::{bits, gcd, shift_down};
pub use onnx::{Network, Row};
pub use property::{Disjunct, Linear, Property};
use protobuf::{Message, Value};
pub use question::{Question, Slice, Summary};
use region::{Cube, Region, Total, UNIT};
pub use sha256::digest;
use std::fmt;

/// Why a file is not accepted: what was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl Refused {
    /// The failure of arithmetic whose result has no place in 128 bits.
    fn overflow() -> Self {
        Self("a number is too long for exact arithmetic in 128 bits".into())
    }

    /// The same message with the place in front.
    fn at(self, place: impl fmt::Display) -> Self {
        Self(format!("{place}: {}", self.0))
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Refused {}

/// A refusal with this message.
fn refuse<T>(message: impl Into<String>) -> Result<T, Refused> {
    Err(refused(message))
}

/// A refusal with this message unless something holds.
fn require(holds: bool, message: impl Into<String>) -> Result<(), Refused> {
    if holds { Ok(()) } else { refuse(message) }
}

fn refused(message: impl Into<String>) -> Refused {
    Refused(message.into())
}
