//! The part of a generated verifier that does not depend on its network: search, linear programs, command line.

pub mod bounds;
pub mod certificate;
pub mod cli;
mod control;
pub mod ending;
pub mod lp;
pub mod options;
mod program;
pub mod replay;
pub mod report;
pub mod search;
pub mod split;
pub mod testing;
pub mod tuning;
pub mod verdict;

pub use pg_property::{self as property, files};
