//! What the tests of the command line share.

use super::question::Question;
use crate::network::{LayerError, Model, Network};
use crate::property::Property;
use crate::verdict::{Verdict, Witness};
use std::borrow::Cow;

/// One input and two outputs that are always the same.
pub struct Toy(pub [f32; 2]);

static MODEL: Model = Model {
    name: Cow::Borrowed("toy"),
    format: Cow::Borrowed("none"),
    sha256: Cow::Borrowed("model's"),
    domain: Cow::Borrowed(&[]),
};

impl Network for Toy {
    fn model(&self) -> &Model {
        &MODEL
    }

    fn widths(&self) -> &[usize] {
        &[1, 2]
    }

    fn layer_error(&self, _: usize) -> Option<LayerError<'_>> {
        None
    }

    fn backward(&self, _: usize, _: &[f64], mu: &mut [f64]) {
        mu.fill(0.0);
    }

    fn copy_layer(&self, _: usize, weight: &mut [f32], bias: &mut [f32]) {
        weight.fill(0.0);
        bias.copy_from_slice(&self.0);
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        assert_eq!(x.len(), 1);
        y.copy_from_slice(&self.0);
    }
}

/// A property of the toy that every input between `low` and 1 violates, whatever the outputs.
pub fn question(low: &str) -> Question {
    let text = format!(
        "(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)\
         (assert (>= X_0 {low}))(assert (<= X_0 1))"
    );
    Question {
        property: Property::parse(&text, "p.vnnlib").unwrap(),
        file: "p.vnnlib".into(),
        sha256: "property's".into(),
        robustness: None,
        notes: Vec::new(),
    }
}

pub fn violated() -> Verdict {
    let witness = Witness::replay(&Toy([2.0, 3.0]), &question("0").property, &[0.1]);
    Verdict::Violated(witness.expect("every input is one"))
}
