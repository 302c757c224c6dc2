//! Properties: what is to be proved about a network, as the exact set of its counterexamples.
//!
//! A property is a union of disjuncts. Each disjunct is a box of inputs, linear rows over inputs and
//! outputs, and convex quadratic constraints; a counterexample is an input `x` with `(x, N(x))` in
//! one of them. All numbers are exact decimals, as written. Floating views of them are rounded so
//! that they contain the exact set, and whether a float point is a counterexample is decided exactly.
//! Disjuncts without any point are dropped and counted, so that a verdict can say that the input
//! set is empty.
//!
//! `vnnlib` reads VNN-LIB 1.0 and 2.0, `robust` and `image` make robustness properties.

mod affine;
mod assemble;
mod boxes;
mod constraint;
mod convexity;
mod decimal;
mod disjunct;
mod dnf;
mod error;
pub mod files;
mod image;
mod interval;
mod polynomial;
mod quadratic;
mod region;
mod robust;
mod source;
mod tangent;
mod vnnlib;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::Arc;

pub use affine::{Affine, Enclosed, Row, Scope, Term};
pub use decimal::{BadDecimal, Decimal};
pub use disjunct::{Disjunct, Violation};
pub use error::{Place, PropertyError};
pub use image::{parse_image, read_image};
pub use quadratic::{Product, Quadratic, Variable};
pub use region::{Bound, InputBox, Side};
pub use source::Source;

/// The set of counterexamples of a property, in disjunctive normal form.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// The file it was read from, or what else it came from.
    pub origin: String,
    pub inputs: usize,
    pub outputs: usize,
    /// Each has a nonempty input box; its rows may still exclude every point.
    pub disjuncts: Vec<Disjunct>,
    /// How many disjuncts were dropped because no point meets them.
    pub empty_disjuncts: usize,
    /// Whether one may have been dropped where two ends of an input meet of which one is strict.
    pub has_strict_meeting: bool,
    /// Whether it declares all its tensors to be of float32 numbers, as VNN-LIB 2.0 can.
    pub declares_float32: bool,
}

/// The tensors of a network's list of inputs, and of its list of outputs: what the model calls each and how many elements
/// it has. Empty for a list that is one tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tensors {
    pub inputs: Vec<(String, usize)>,
    pub outputs: Vec<(String, usize)>,
}

impl Property {
    /// Why somebody who takes all ends of inputs as their own, and as fractions, may have other disjuncts or other rows.
    pub fn differs_with_closed_fractions(&self) -> Option<&'static str> {
        let is_end = |row: &Arc<Row>| row.affine.y.is_empty() && row.affine.x.len() == 1;
        if self.has_strict_meeting {
            return Some("two ends of an input meet, and one of them is strict");
        }
        let has_ends = self.disjuncts.iter().any(|disjunct| disjunct.rows.iter().any(is_end));
        has_ends.then_some("an input is bounded by a number that is no finite decimal")
    }

    /// Reads a VNN-LIB file of version 1.0 or 2.0, plain or gzip.
    pub fn read(path: &Path) -> Result<Self, PropertyError> {
        let source = Source::read(path)?;
        Self::parse(&source.text, &source.origin)
    }

    /// Reads a VNN-LIB text of version 1.0 or 2.0; `origin` names it in messages.
    pub fn parse(text: &str, origin: &str) -> Result<Self, PropertyError> {
        vnnlib::parse(text, origin, None)
    }

    /// The same for a known network, whose tensors those of the text have to be. Version 1.0 numbers inputs and outputs
    /// through all tensors.
    pub fn parse_for(text: &str, origin: &str, model: &Tensors) -> Result<Self, PropertyError> {
        vnnlib::parse(text, origin, Some(model))
    }

    /// Checks that the property speaks of a network of these sizes.
    pub fn check_shape(&self, inputs: usize, outputs: usize) -> Result<(), PropertyError> {
        if (self.inputs, self.outputs) == (inputs, outputs) {
            return Ok(());
        }
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let what = format!(
            "the property has {} and {}, the network {inputs} and {outputs}",
            count(self.inputs, "input"),
            count(self.outputs, "output"),
        );
        Err(PropertyError::new(&self.origin, what, "check that the two files belong together"))
    }
}
