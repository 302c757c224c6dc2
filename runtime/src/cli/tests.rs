//! What the tests of the command line share.

use super::question::Question;
use crate::certificate::Written;
use crate::options::{Options, Semantics};
use crate::property::Property;
use crate::report::Control;
use crate::search::verify;
use crate::verdict::{Verdict, Witness};
use pg_core::kernel::ZERO;
use pg_core::map::{Dense, Map};
use pg_core::{Edge, Ending, Model, Network, Shape, Source, Stage};

/// One input and two outputs that are always the same, and what the model does to them; as data they are 2 and 3.
pub struct Toy(pub [f32; 2], pub Ending);

static STAGES: [Stage; 1] = [Stage {
    edges: &[Edge { from: Source::Input, map: Map::Dense(Dense::new(2, 1, &[ZERO], &[ZERO, ZERO])) }],
    bias: &[2.0, 3.0],
    error: None,
    roundoff: None,
}];

impl Network for Toy {
    fn model(&self) -> Model<'_> {
        Model { name: "toy", format: "none", sha256: "model's", domain: &[], ending: self.1 }
    }

    fn shape(&self) -> Shape<'_> {
        Shape { inputs: 1, stages: &STAGES }
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        assert_eq!(2 * x.len(), y.len());
        y.chunks_mut(2).for_each(|y| y.copy_from_slice(&self.0));
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
        part: None,
        text: None,
        notes: Vec::new(),
    }
}

pub fn violated() -> Verdict {
    let witness = Witness::replay(&Toy([2.0, 3.0], Ending::None), &question("0").property, Semantics::Real, &[0.1]);
    Verdict::Violated(witness.expect("every input is one"))
}

/// A proof about no input at all, with a certificate.
pub fn proved() -> Verdict {
    let (network, property) = (Toy([2.0, 3.0], Ending::None), question("2").property);
    let outcome = verify(&network, &property, &Options::default(), &Control::new(None));
    let Verdict::Holds(proved) = outcome.verdict else { panic!("the property is of no input") };
    let written = Written { file: "p.pgc".into(), bytes: 27062, records: 1035, sha256: "a hash".into() };
    Verdict::Holds(proved.with(written))
}
