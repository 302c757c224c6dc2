//! `pg-codegen`: from one fixed ReLU network to a Rust crate that verifies it.
//!
//! A pipeline of stages, each with its own type: [`read`] gives a [`graph::Graph`], [`normalise`] a [`net::Net`],
//! [`lower`] a [`lower::Plan`] with every decision taken, [`emit`] the files. [`interpret`] runs a `Net` directly.
//! [`build`] is all of it for build scripts, and the command line's way to it. With the feature `solver`, [`verifier`] compiles
//! what was generated, [`suite`] runs verifiers over lists of instances, [`report`] shows what came out, and [`gate`] is both for
//! a pipeline, which [`cases`] are written for.

pub mod affine;
pub mod approx;
pub mod build;
#[cfg(feature = "solver")]
pub mod cases;
pub mod certificate;
pub mod embedded;
pub mod emit;
pub mod error;
#[cfg(feature = "solver")]
pub mod gate;
pub mod graph;
pub mod half;
pub mod inspect;
pub mod interpret;
pub mod lower;
pub mod net;
pub mod normalise;
pub mod operators;
pub mod read;
#[cfg(feature = "solver")]
pub mod report;
#[cfg(feature = "solver")]
pub mod suite;
#[cfg(feature = "solver")]
pub mod table;
#[cfg(feature = "solver")]
pub mod verifier;

use error::Error;
use net::Net;
use std::path::Path;

/// A model file to its normal form.
pub fn compile(path: &Path) -> Result<Net, Error> {
    normalise::normalise(read::read(path)?, |_, _| {}).map_err(|error| error.of_file(path))
}
