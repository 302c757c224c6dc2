//! `pg-check` judges certificates: that no input of a property's region violates it, for the network in an ONNX file.
//!
//! Nothing here is shared with the search that writes certificates, nothing comes from other crates, and no floating point is
//! used: a float in a file is an integer times a power of two, and a decimal is a fraction. Arithmetic is exact, or rounded to the
//! safe side, or fails. Whatever a file holds that is not understood is refused with a message.

#![forbid(unsafe_code)]

pub mod bound;
pub mod cells;
pub mod contract;
pub mod file;
pub mod fixed;
pub mod goal;
pub mod hull;
pub mod judge;
pub mod kept;
pub mod number;
pub mod onnx;
pub mod property;
pub mod protobuf;
pub mod question;
pub mod region;
pub mod sha256;
pub mod tree;
pub mod vnnlib;

use std::fmt;

/// Why a file is not accepted: what was found, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused(pub String);

impl Refused {
    /// The failure of arithmetic whose result has no place in 128 bits.
    pub(crate) fn overflow() -> Self {
        Self("a number is too long for exact arithmetic in 128 bits".into())
    }

    /// The same message with the place in front.
    pub(crate) fn at(self, place: impl fmt::Display) -> Self {
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
pub(crate) fn refuse<T>(message: impl Into<String>) -> Result<T, Refused> {
    Err(refused(message))
}

/// A refusal with this message unless something holds.
pub(crate) fn require(holds: bool, message: impl Into<String>) -> Result<(), Refused> {
    if holds { Ok(()) } else { refuse(message) }
}

pub(crate) fn refused(message: impl Into<String>) -> Refused {
    Refused(message.into())
}
