//! Proofs with their certificates, in memory, and what the judge says of them.

use crate::case::{Case, onnx, vnnlib};
use crate::judge::{Answer, answer};
use crate::model::compile_bytes;
use pg_check::{Question, Refused, Slice, Summary};
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

/// The verdict about a model that the compiler reads, and the certificate that is written if it holds.
pub fn prove(
    model: &[u8],
    network: &Interpreter,
    property: &str,
    options: &Options,
    tuning: &Tuning,
) -> (Verdict, Option<Vec<u8>>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("proof.pgc");
    let shape = network.shape();
    let widths = shape.stages[..shape.last()].iter().map(|stage| stage.width()).collect();
    let digests = (files::sha256(model), files::sha256(property.as_bytes()));
    let property = Property::parse(property, "a test").unwrap();
    let semantics = options.semantics_of(&property);
    let heading = Heading { model: &digests.0, property: digests.1, generator: "a test", widths, semantics };
    let control = Control::new(options.timeout);
    let certificate = (Journal::new(&path).unwrap(), &heading);
    let verdict = search::prove(network, &property, options, tuning, &control, certificate).verdict;
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
    prove(model, &Interpreter::new(compile_bytes(model).unwrap()), property, options, tuning).1
}

/// What the judge reads of a question.
pub fn read_question(model: &[u8], property: &str) -> Result<Question, Refused> {
    Question::read(("the model", model), ("the property", property.as_bytes()))
}

/// Asks the engine for a proof that the judge accepts; and a search that closes what it should not, where the oracle has a
/// counterexample, for one. The error says what is wrong, with an answer or with a judge who accepts what is false. A proof that he
/// rejects, in numbers that he has no room for, is none.
pub fn ask_for_proof(case: &Case, options: &Options) -> Result<Answer, String> {
    let (network, property) = match (case.network(), case.property()) {
        (Ok(network), Ok(property)) => (network, property),
        (Err(why), _) | (_, Err(why)) => return Ok(Answer::Refused(why)),
    };
    if let Some(why) = property.differs_with_closed_fractions() {
        return Ok(Answer::Refused(why.into()));
    }
    let (model, text) = (onnx(&case.net).encode_to_vec(), vnnlib::text(case));
    let judge = |certificate: &[u8]| -> Result<Result<Summary, Refused>, Refused> {
        Ok(read_question(&model, &text)?.judge(certificate, Slice::ALL, 1, false))
    };
    let (verdict, certificate) = prove(&model, &network, &text, options, &Tuning::default());
    let answer = answer(case, &network, &property, options, verdict)?;
    if let Some(certificate) = certificate {
        return match judge(&certificate) {
            Err(_) => Ok(Answer::Refused("pg-check cannot read the question, whose numbers are too long".into())),
            Ok(Err(Refused(why))) => {
                Ok(Answer::Refused(format!("rejected: {}", why.rsplit(": ").next().unwrap_or_default())))
            }
            Ok(Ok(_)) => Ok(answer),
        };
    }
    if case.satisfiable {
        let mut tuning = Tuning::default();
        tuning.prove.unsound = UNSOUND;
        let options = Options { engine: Engine::Phases, ..options.clone() };
        let wrong = prove(&model, &network, &text, &options, &tuning).1;
        if wrong.is_some_and(|wrong| matches!(judge(&wrong), Ok(Ok(_)))) {
            return Err("the certificate of a search that is not sound is accepted".into());
        }
    }
    Ok(answer)
}
