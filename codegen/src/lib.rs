//! `pg-codegen`: from one fixed ReLU network to a Rust crate that verifies it.
//!
//! A pipeline of stages, each with its own type: [`read`] gives a [`graph::Graph`], [`normalise`] a [`net::Net`],
//! [`lower`] a [`lower::Plan`] with every decision taken, [`emit`] the files. [`interpret`] runs a `Net` directly.

pub mod affine;
pub mod approx;
pub mod error;
pub mod graph;
pub mod net;
pub mod normalise;
pub mod read;
