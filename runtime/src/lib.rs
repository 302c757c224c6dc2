//! The part of a generated verifier that does not depend on its network.

pub mod bounds;
pub mod cli;
mod control;
pub mod files;
#[doc(hidden)]
pub mod kernel;
pub mod lp;
pub mod network;
pub mod options;
pub mod property;
pub mod report;
pub mod search;
pub mod verdict;
