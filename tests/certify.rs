//! Proofs with their certificates, in memory, and what the judge says of them.

use crate::case::{Case, onnx, vnnlib};
use crate::judge::{Answer, answer, read};
use crate::model::compile_bytes;
use pg_check::{Question, Refused, Slice};
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_property::files;
use pg_runtime::certificate::{Heading, Journal};
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search;
use pg_runtime::tuning::Tuning;
use pg_runtime::verdict::Verdict;
use prost::Message;

/// How much too early the search that is not sound closes leaves.
const UNSOUND: f32 = 0.5;

/// The verdict about a property, with its text, and the certificate that is written if it holds.
fn prove(
    network: &Interpreter,
    (property, text): (&Property, &str),
    options: &Options,
    tuning: &Tuning,
) -> (Verdict, Option<Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("proof.pgc");
    let shape = network.shape();
    let widths = shape.stages[..shape.last()].iter().map(|stage| stage.width()).collect();
    let (model, semantics) = (network.model().sha256, options.semantics_of(property));
    let heading = Heading { model, property: files::sha256(text.as_bytes()), generator: "a test", widths, semantics };
    let control = Control::new(options.timeout);
    let certificate = (Journal::new(&path).unwrap(), &heading);
    let verdict = search::prove(network, property, options, tuning, &control, certificate).verdict;
    let Verdict::Holds(proved) = &verdict else {
        assert!(!path.exists(), "what is not proved has no certificate");
        return (verdict, None);
    };
    let bytes = std::fs::read(&path).unwrap();
    let written = proved.certificate().expect("a proof with a certificate");
    assert_eq!((written.bytes, &written.sha256), (bytes.len() as u64, &files::sha256(&bytes)));
    (verdict, Some(bytes))
}

/// The certificate that a search writes, if it proves the property.
pub fn certify(model: &[u8], property: &str, options: &Options, tuning: &Tuning) -> Option<Vec<u8>> {
    let (network, read) = (compile_bytes(model).unwrap(), Property::parse(property, "a test").unwrap());
    prove(&Interpreter::new(network), (&read, property), options, tuning).1
}

/// What the judge reads of a question.
pub fn read_question(model: &[u8], property: &str) -> Result<Question, Refused> {
    Question::read(("the model", model), ("the property", property.as_bytes()))
}

/// Asks the engine for a proof that the judge accepts; and a search that closes what it should not, where the oracle has a
/// counterexample, for one. The error says what is wrong, with an answer or with a judge who accepts what is false. A proof that he
/// rejects, in numbers that he has no room for, is none.
pub fn ask_for_proof(case: &Case, options: &Options) -> Result<Answer, String> {
    let (network, property) = match read(case) {
        Ok(question) => question,
        Err(refused) => return Ok(refused),
    };
    if let Some(why) = property.differs_with_closed_fractions() {
        return Ok(Answer::Refused(why.into()));
    }
    let (model, text) = (onnx(&case.net).encode_to_vec(), vnnlib::text(case));
    let (verdict, certificate) = prove(&network, (&property, &text), options, &Tuning::default());
    let answer = answer(case, &network, &property, options, verdict)?;
    let Ok(question) = read_question(&model, &text) else {
        let unread = "pg-check cannot read the question, whose numbers are too long";
        return Ok(if certificate.is_some() { Answer::Refused(unread.into()) } else { answer });
    };
    let judge = |certificate: &[u8]| question.judge(certificate, Slice::ALL, 1, false);
    if let Some(certificate) = certificate {
        return Ok(match judge(&certificate) {
            Err(Refused(why)) => Answer::Refused(format!("rejected: {}", why.rsplit(": ").next().unwrap_or_default())),
            Ok(_) => answer,
        });
    }
    if case.satisfiable {
        let mut tuning = Tuning::default();
        tuning.prove.unsound = UNSOUND;
        let options = Options { engine: Engine::Phases, ..options.clone() };
        let wrong = prove(&network, (&property, &text), &options, &tuning).1;
        if wrong.is_some_and(|wrong| judge(&wrong).is_ok()) {
            return Err("the certificate of a search that is not sound is accepted".into());
        }
    }
    Ok(answer)
}
