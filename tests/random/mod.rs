//! Random verdicts against exact brute force: numbered cases of many kinds, asked of every engine.
//!
//! A case is a function of a seed and a number, so each can be asked again by itself. A third of them have ordinary
//! numbers, a third are degenerate, and a third have numbers of every exponent of float32 and beyond. Questions about the
//! float32 program are about boxes of few points, at all of which it is evaluated.

mod describe;
mod gate;
mod networks;
mod numbers;
mod quantised;
mod questions;
mod run;
mod tally;
mod trial;

use crate::Random;
use crate::case::{Case, border, ignores_its_input};
use crate::oracle::Linear;
use pg_runtime::options::Semantics;
use questions::Subject;

pub use numbers::nearest;
pub use run::{Plan, run};
pub use tally::{Counts, Tally};
pub use trial::{Asking, Failure, Trial};

/// The most ReLUs of a network.
const RELUS: usize = 8;

/// What kind of numbers a case has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Weights around 1, and decimals of few digits.
    Ordinary,
    /// Small dyadic numbers: neurons with common kinks, thresholds that are met with equality at corners.
    Dyadic,
    /// Weights, biases and ends of boxes of every exponent.
    Wild,
    /// An ordinary network whose layers are far apart in size and nearly cancel.
    Layers,
    /// An ordinary network whose last hidden layer is as large as can be, and the weights after it as small.
    Peak,
    /// An ordinary network whose inputs and neurons have each a size of their own, divided out by the next layer.
    Neurons,
    /// Layers that all shrink, or all grow, what they are given.
    Drifting,
    /// A network that is ordinary, scaled by layers or with a peak, and a property with coefficients far beyond
    /// float32.
    Coefficients,
}

impl Kind {
    pub const ALL: [Kind; 8] = [
        Kind::Ordinary,
        Kind::Dyadic,
        Kind::Wild,
        Kind::Layers,
        Kind::Peak,
        Kind::Neurons,
        Kind::Drifting,
        Kind::Coefficients,
    ];

    /// After so many cases, each kind has had its turn.
    pub const TURNS: u64 = 18;

    /// The kind of a case: the thirds and the extreme kinds take turns.
    pub fn of(number: u64) -> Kind {
        let extreme = &Kind::ALL[2..];
        match number % 3 {
            0 => Kind::Ordinary,
            1 => Kind::Dyadic,
            _ => extreme[(number / 3) as usize % extreme.len()],
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Kind::Ordinary => "ordinary",
            Kind::Dyadic => "dyadic",
            Kind::Wild => "wild",
            Kind::Layers => "layers",
            Kind::Peak => "peak",
            Kind::Neurons => "neurons",
            Kind::Drifting => "drifting",
            Kind::Coefficients => "coefficients",
        }
    }
}

/// The case of this number: about a network, or about its program.
pub fn draw_for(semantics: Semantics, seed: u64, number: u64) -> Case {
    match semantics {
        Semantics::Real => draw(seed, number),
        Semantics::Float32 => quantised::draw(seed, number),
    }
}

/// The case of this number.
pub fn draw(seed: u64, number: u64) -> Case {
    let random = &mut Random::new(Random::new(seed).bits().wrapping_add(number));
    let kind = Kind::of(number);
    if kind == Kind::Ordinary {
        return match random.below(2) {
            0 => border::single_row(random, RELUS, 1).remove(0),
            _ => border::several_rows(random, RELUS),
        };
    }
    let sizes = (1 + random.below(3), 1 + random.below(2));
    let wants_gate = random.below(6) < if kind == Kind::Dyadic { 2 } else { 5 };
    let mut subject = loop {
        let subject = subject(random, kind, sizes);
        if !ignores_its_input(&subject.net) && (!wants_gate || gate::fits(&subject.net)) {
            break subject;
        }
    };
    let gate = wants_gate.then(|| gate::gated(random, &subject.net, &subject.region));
    if let Some((net, region, row)) = gate {
        subject = Subject { net, region, rows: vec![row] };
    }
    questions::case(random, subject, &|random| {
        let mut form = form(random, kind, sizes);
        if wants_gate {
            gate::widen(&mut form);
        }
        form
    })
}

/// A network of the kind, and the region that questions about it are about.
fn subject(random: &mut Random, kind: Kind, sizes: (usize, usize)) -> Subject {
    let mut region = match kind {
        Kind::Dyadic => questions::dyadic_region(random, sizes.0),
        Kind::Wild if random.below(2) == 0 => questions::wild_region(random, sizes.0),
        _ => border::region(random, sizes.0),
    };
    let relus = random.pick(&[3, 4, RELUS]);
    let mut net = match kind {
        Kind::Dyadic => networks::degenerate(random, sizes, relus),
        Kind::Wild => networks::anything(random, sizes, relus),
        Kind::Drifting => networks::drifting(random, sizes),
        _ => border::network(random, sizes.0, sizes.1, relus),
    };
    let scaling = match kind {
        Kind::Coefficients => random.pick(&[None, Some(Kind::Layers), Some(Kind::Peak), Some(Kind::Peak)]),
        _ => Some(kind),
    };
    let exponents = match scaling {
        Some(Kind::Layers) => Some(networks::by_layer(random, &net)),
        Some(Kind::Peak) => Some(networks::with_peak(random, &net)),
        Some(Kind::Neurons) => Some(networks::by_neuron(random, &net)),
        _ => None,
    };
    if let Some(exponents) = exponents {
        networks::switch_on(random, &mut net, &region);
        net = networks::rescaled(&net, &exponents);
        region = networks::rescaled_region(&region, &exponents[0]);
    }
    if matches!(kind, Kind::Wild | Kind::Drifting) {
        networks::bend_inside(random, &mut net, &region);
    }
    Subject { net, region, rows: vec![] }
}

/// Of the extreme kinds, every fourth row has coefficients of any size.
fn form(random: &mut Random, kind: Kind, sizes: (usize, usize)) -> Linear {
    match kind {
        Kind::Dyadic => questions::dyadic_form(random, sizes),
        Kind::Coefficients => questions::wild_form(random, sizes),
        _ if random.below(4) == 0 => questions::wild_form(random, sizes),
        _ => border::form(random, sizes.0, sizes.1),
    }
}
