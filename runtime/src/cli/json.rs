//! The full report of a run, in JSON.

use super::question::{Question, Robustness};
use crate::certificate::Written;
use crate::ending::apply;
use crate::options::Options;
use crate::report::{Counters, Times};
use crate::search::Outcome;
use crate::verdict::{Verdict, Witness};
use pg_core::{Ending, Network};
use pg_property::Decimal;
use serde::Serialize;

#[derive(Serialize)]
struct Report<'a> {
    /// The tool and its version.
    tool: &'static str,
    verdict: &'static str,
    /// Why the verdict is `unknown` or `timeout`.
    reason: Option<String>,
    model: ModelPart<'a>,
    property: PropertyPart<'a>,
    /// With the defaults of the machine filled in.
    options: &'a Options,
    /// A hash of the numbers that steer the search.
    tuning: &'a str,
    counters: &'a Counters,
    /// In seconds.
    times: &'a Times,
    witness: Option<WitnessPart>,
    certificate: Option<&'a Written>,
}

#[derive(Serialize)]
struct ModelPart<'a> {
    name: &'a str,
    format: &'a str,
    sha256: &'a str,
    /// The operator at its end that is cut.
    ending: Option<&'a str>,
}

#[derive(Serialize)]
struct PropertyPart<'a> {
    file: &'a str,
    sha256: &'a str,
    robustness: Option<&'a Robustness>,
    disjuncts: usize,
    empty_disjuncts: usize,
}

/// The float32 values as the doubles that equal them; an input that the property fixes at another number as one beside it.
#[derive(Serialize)]
struct WitnessPart {
    input: Vec<f64>,
    output: Vec<f64>,
    disjunct: usize,
}

impl WitnessPart {
    fn new(witness: &Witness, ending: Ending) -> WitnessPart {
        let doubles = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
        let output = apply(ending, witness.output());
        let input = witness.point().iter().map(Decimal::to_f64_down).collect();
        WitnessPart { input, output: doubles(&output), disjunct: witness.disjunct() }
    }
}

pub fn report(network: &dyn Network, question: &Question, options: &Options, outcome: &Outcome) -> String {
    let (model, property) = (network.model(), &question.property);
    let (reason, witness) = match &outcome.verdict {
        Verdict::Holds(_) => (None, None),
        Verdict::Violated(witness) => (None, Some(WitnessPart::new(witness, model.ending))),
        Verdict::Unknown(reason) => (Some(reason.to_string()), None),
    };
    let report = Report {
        tool: concat!("pg-codegen ", env!("CARGO_PKG_VERSION")),
        verdict: outcome.verdict.word(),
        reason,
        model: ModelPart { name: model.name, format: model.format, sha256: model.sha256, ending: model.ending.name() },
        property: PropertyPart {
            file: &question.file,
            sha256: &question.sha256,
            robustness: question.robustness.as_ref(),
            disjuncts: property.disjuncts.len(),
            empty_disjuncts: property.empty_disjuncts,
        },
        options,
        tuning: &outcome.tuning,
        counters: &outcome.counters,
        times: &outcome.times,
        witness,
        certificate: outcome.verdict.certificate(),
    };
    serde_json::to_string_pretty(&report).expect("a report of plain data") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::{Toy, proved, question, violated};

    fn parsed(verdict: Verdict) -> serde_json::Value {
        let options = Options { threads: None, timeout: Some(2.5), ..Options::default() }.resolved();
        let outcome =
            Outcome { verdict, counters: Counters::default(), times: Times::default(), tuning: "a hash".into() };
        let text = report(&Toy([2.0, 3.0], Ending::Softmax), &question("0"), &options, &outcome);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_report_holds_everything() {
        let json = parsed(violated());
        assert_eq!(json["tool"], concat!("pg-codegen ", env!("CARGO_PKG_VERSION")));
        assert_eq!(json["verdict"], "sat");
        assert!(json["reason"].is_null());
        assert_eq!(json["model"]["sha256"], "model's");
        assert_eq!(json["property"]["sha256"], "property's");
        assert_eq!(json["options"]["timeout"], 2.5);
        assert_eq!(json["options"]["seed"], 0);
        assert_eq!(json["tuning"], "a hash");
        assert_eq!(json["options"]["engine"], "auto");
        assert!(json["options"]["threads"].as_u64().unwrap() >= 1);
        assert_eq!(json["counters"]["lp_calls"], 0);
        assert!(json["times"]["lp"].is_number());
        assert_eq!(json["witness"]["input"][0].as_f64(), Some(f64::from(0.1f32)));
        assert_eq!(json["witness"]["output"][1], f64::from(0.7310586f32), "what the model gives out");
        assert_eq!(json["model"]["ending"], "Softmax");
        assert!(json["certificate"].is_null());
    }

    #[test]
    fn a_proof_shows_its_certificate() {
        let json = parsed(proved());
        let expected = serde_json::json!({ "file": "p.pgc", "bytes": 27062, "records": 1035, "sha256": "a hash" });
        assert_eq!((&json["verdict"], &json["certificate"]), (&"unsat".into(), &expected));
    }
}
