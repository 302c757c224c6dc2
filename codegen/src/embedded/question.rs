//! The domain of an embedded crate, and the property that it can certify: both from one VNN-LIB file.

use crate::error::Error;
use crate::net::Net;
use pg_core::rounding::{above, below};
use pg_property::{Affine, Decimal, InputBox, Property, Row, Scope, Source};
use std::path::Path;

/// What is asked on a domain.
#[derive(Debug)]
pub struct Question {
    /// The float32 numbers of each input.
    pub domain: Vec<(f32, f32)>,
    /// Whether the domain was declared, else it is all finite numbers.
    pub declared: bool,
    /// The rows of each disjunct of the property: a counterexample has all rows of one at most 0.
    pub disjuncts: Vec<Vec<Linear>>,
    /// Of the file, if there was one.
    pub sha256: Option<String>,
}

/// c·y + d in float32: each coefficient is within its error of the property's, the constant is not above.
#[derive(Debug)]
pub struct Linear {
    pub coefficients: Vec<f32>,
    pub errors: Vec<f32>,
    pub constant: f32,
}

pub fn read(net: &Net, path: Option<&Path>) -> Result<Question, Error> {
    let Some(path) = path else {
        let domain = match &net.domain {
            Some(domain) => domain.iter().map(|&(l, u)| (above(l), below(u))).collect(),
            None => vec![(f32::MIN, f32::MAX); net.inputs],
        };
        return Ok(Question { domain, declared: net.domain.is_some(), disjuncts: vec![], sha256: None });
    };
    let source = Source::read(path).map_err(|e| Error::File(e.to_string()))?;
    let property = Property::parse(&source.text, &source.origin).map_err(|e| Error::File(e.to_string()))?;
    property.check_shape(net.inputs, net.outputs()).map_err(|e| Error::File(e.to_string()))?;
    let wrong = |what: &str| Error::File(format!("{}: {what}", path.display()));
    let first = property.disjuncts.first().ok_or_else(|| wrong("its box is empty, so there is no domain"))?;
    if property.disjuncts.iter().any(|disjunct| disjunct.region != first.region) {
        return Err(wrong("its disjuncts have different boxes; a domain is one box"));
    }
    let mut disjuncts = Vec::new();
    for disjunct in &property.disjuncts {
        if !disjunct.quadratics.is_empty() || disjunct.rows.iter().any(|row| row.scope() != Scope::Output) {
            return Err(wrong(
                "a domain is a box of inputs, and a property to certify has linear rows over outputs alone",
            ));
        }
        disjuncts.push(disjunct.rows.iter().map(|row| linear(row, net.outputs())).collect::<Option<Vec<_>>>());
    }
    let disjuncts: Option<Vec<Vec<Linear>>> = disjuncts.into_iter().collect();
    let mut disjuncts = disjuncts.ok_or_else(|| wrong("a coefficient does not fit float32"))?;
    // A box without rows over outputs is a domain and asks nothing.
    if disjuncts.iter().all(Vec::is_empty) {
        disjuncts.clear();
    }
    let domain = floats(&first.region).ok_or_else(|| wrong("some input of its box has no float32 number"))?;
    Ok(Question { domain, declared: true, disjuncts, sha256: Some(source.sha256) })
}

/// The first and the last float32 number of each input.
pub fn floats(region: &InputBox) -> Option<Vec<(f32, f32)>> {
    region.sides().map(|side| Some(side.floats()).filter(|(first, last)| first <= last)).collect()
}

fn linear(row: &Row, outputs: usize) -> Option<Linear> {
    let Affine { y, constant, .. } = &row.affine;
    let mut linear =
        Linear { coefficients: vec![0.0; outputs], errors: vec![0.0; outputs], constant: constant.exact.to_f32_down() };
    for term in y {
        let (low, high) = (term.coefficient.exact.to_f32_down(), term.coefficient.exact.to_f32_up());
        let error = &Decimal::from_f32(high)? - &Decimal::from_f32(low)?;
        linear.coefficients[term.index] = low;
        linear.errors[term.index] = above(error.to_f64_up());
    }
    linear.constant.is_finite().then_some(linear)
}
