//! A verdict as text: VNN-COMP's form for programs, a summary for people.

use super::question::Question;
use crate::ending::apply;
use crate::options::{Options, Semantics};
use crate::search::Outcome;
use crate::verdict::{StopReason, Verdict, Witness};
use pg_core::{Ending, Model};
use pg_property::Decimal;

/// The verdict's word on the first line, then the witness if there is one: what stdout and a results file hold.
pub fn result(verdict: &Verdict, ending: Ending) -> String {
    format!("{}\n{}", verdict.word(), witness_of(verdict, ending).unwrap_or_default())
}

/// The witness alone, with the outputs of the model.
pub fn witness_of(verdict: &Verdict, ending: Ending) -> Option<String> {
    match verdict {
        Verdict::Violated(found) => Some(witness(found, &apply(ending, found.output()))),
        _ => None,
    }
}

/// `((X_0 v)` and so on to `(Y_n v))`, one value a line. Each is the shortest decimal that a reader of doubles takes for
/// exactly the float32 value; a reader of floats gets the same. An input that the property fixes at another number is that.
fn witness(witness: &Witness, output: &[f32]) -> String {
    let value = |(&float, exact): (&f32, &Decimal)| match Decimal::from_f32(float).as_ref() == Some(exact) {
        true => text(float),
        false => exact.to_string(),
    };
    let inputs = witness.input().iter().zip(witness.point()).map(value);
    let inputs = inputs.enumerate().map(|(k, text)| format!("(X_{k} {text})"));
    let outputs = output.iter().enumerate().map(|(k, &v)| format!("(Y_{k} {})", text(v)));
    format!("({})\n", inputs.chain(outputs).collect::<Vec<_>>().join("\n"))
}

fn text(value: f32) -> String {
    format!("{:?}", f64::from(value))
}

/// What came out, why, and what it took.
pub fn summary(model: &Model, question: &Question, options: &Options, outcome: &Outcome) -> String {
    let word = outcome.verdict.word();
    let (of, by) = match options.semantics_of(&question.property) {
        Semantics::Real => ("in real arithmetic", ""),
        Semantics::Float32 => ("for the float32 program", " by the float32 program"),
    };
    let meaning = match &outcome.verdict {
        Verdict::Holds(_) => match &question.part {
            Some(part) => format!("nothing in {part} violates the property {of}"),
            None => format!("the property holds {of}"),
        },
        Verdict::Violated(_) => format!("the property is violated{by}, at the witness on stdout"),
        Verdict::Unknown(StopReason::Timeout) => format!("neither proved {of} nor violated in the given time"),
        Verdict::Unknown(reason) => format!("neither proved {of} nor violated: {reason}"),
    };
    let (counters, total) = (&outcome.counters, outcome.times.total);
    let empty = match question.property.disjuncts.is_empty() {
        true => "note: the input set is empty: no input meets the property's bounds, so it holds of any network\n",
        false => "",
    };
    let certificate = outcome.verdict.certificate().map(|written| format!("{written}\n")).unwrap_or_default();
    format!(
        "{}, {}: {word}, {meaning}\n{total:.3} s by {}, {} nodes, {} leaves, depth {}, {} LP calls, {} samples\n{empty}{certificate}",
        model.name,
        question.file,
        counters.chosen,
        counters.nodes + counters.neuron_nodes + counters.property_nodes,
        counters.leaves,
        counters.max_depth,
        counters.lp_calls,
        counters.samples
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::{proved, question, violated};
    use crate::report::{Counters, Times};

    #[test]
    fn a_witness_has_the_form_of_the_competition() {
        let result = |verdict: &Verdict| super::result(verdict, Ending::None);
        assert_eq!(result(&violated()), "sat\n((X_0 0.10000000149011612)\n(Y_0 2.0)\n(Y_1 3.0))\n");
        assert_eq!(witness_of(&violated(), Ending::ArgMax).unwrap(), "((X_0 0.10000000149011612)\n(Y_0 1.0))\n");
        assert_eq!(result(&Verdict::Unknown(StopReason::Timeout)), "timeout\n");
        assert_eq!(result(&Verdict::Unknown(StopReason::Interrupted)), "unknown\n");
    }

    #[test]
    fn values_read_back_to_the_same_float() {
        let values = [0.0, -0.0, 0.1, -1.0 / 3.0, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), 1e-7, 16777216.0];
        for value in values {
            let number = text(value);
            assert_eq!(number.parse::<f64>().unwrap().to_bits(), f64::from(value).to_bits(), "{number}");
            assert_eq!(number.parse::<f32>().unwrap().to_bits(), value.to_bits(), "{number}");
        }
    }

    #[test]
    fn a_summary_says_what_and_why() {
        let outcome = |verdict| Outcome {
            verdict,
            counters: Counters { nodes: 12, lp_calls: 34, ..Counters::default() },
            times: Times { total: 1.5, ..Times::default() },
            tuning: String::new(),
        };
        let summary_of = |options: &Options, verdict, low: &str| {
            let model = Model { name: "net", format: "", sha256: "", domain: &[], ending: Ending::None };
            summary(&model, &question(low), options, &outcome(verdict))
        };
        let text = |verdict, low: &str| summary_of(&Options::default(), verdict, low);
        let sat = text(violated(), "0");
        assert!(sat.starts_with("net, p.vnnlib: sat, the property is violated"), "{sat}");
        assert!(sat.contains("1.500 s by phases, 12 nodes, 0 leaves, depth 0, 34 LP calls"), "{sat}");
        let gave_up = text(Verdict::Unknown(StopReason::GaveUp("no way on".into())), "0");
        assert!(gave_up.contains("unknown, neither proved in real arithmetic nor violated: no way on"), "{gave_up}");
        assert!(!gave_up.contains("note"));
        let unsat = text(proved(), "0");
        assert!(unsat.ends_with("\ncertificate p.pgc: 27062 bytes, 1035 records, sha256 a hash\n"), "{unsat}");
        assert!(!sat.contains("certificate"));
        let part = Question { part: Some("parts/3".into()), ..question("0") };
        let model = Model { name: "net", format: "", sha256: "", domain: &[], ending: Ending::None };
        let told = summary(&model, &part, &Options::default(), &outcome(proved()));
        assert!(told.contains("unsat, nothing in parts/3 violates the property in real arithmetic"), "{told}");
        let float32 = Options { semantics: Some(Semantics::Float32), ..Options::default() };
        let unsat = summary_of(&float32, proved(), "0");
        assert!(unsat.starts_with("net, p.vnnlib: unsat, the property holds for the float32 program\n"), "{unsat}");
        let empty = text(Verdict::Unknown(StopReason::Timeout), "2");
        assert!(empty.contains("timeout, neither proved in real arithmetic nor violated in the given time"), "{empty}");
        assert!(empty.contains("note: the input set is empty"), "{empty}");
    }
}
