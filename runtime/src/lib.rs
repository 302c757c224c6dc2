//! The part of a generated verifier that does not depend on its network.

pub mod cli;
#[doc(hidden)]
pub mod kernel;
pub mod lp;
pub mod network;
