//! For the tests of a crate that has a network: a property holds, or the test fails and says why.
//!
//! ```no_run
//! # fn network() -> &'static dyn pg_core::Network { unimplemented!() }
//! # let network = network();
//! pg_runtime::testing::assert_holds(network, "spec/robust.vnnlib");
//! ```

use crate::cli::{Question, duration};
use crate::ending::apply;
use crate::options::{Options, Semantics};
use crate::report::Control;
use crate::search::{self, Outcome};
use crate::verdict::{StopReason, Verdict, Witness};
use pg_core::Network;
use pg_property::Decimal;
use std::path::{Path, PathBuf};
use std::thread;

/// The seconds that [`assert_holds`] gives a search.
pub const TIMEOUT: f64 = 60.0;
/// As much as a main thread has; that of a test has less.
const STACK: usize = 8 << 20;
/// Numbers in a line of a witness.
const IN_A_LINE: usize = 8;

/// Panics unless the property holds of the network: with the counterexample, or with the reason why neither was shown. The path is
/// relative to the folder of the crate's manifest. A search has [`TIMEOUT`] seconds.
#[track_caller]
pub fn assert_holds(network: &dyn Network, property: impl AsRef<Path>) {
    assert_holds_with(network, property, Options { timeout: Some(TIMEOUT), ..Options::default() });
}

/// The same with options of the search: its time, its threads, what the verdict is about and all that the command line has.
#[track_caller]
pub fn assert_holds_with(network: &dyn Network, property: impl AsRef<Path>, options: Options) {
    if let Err(why) = holds(network, property.as_ref(), options) {
        panic!("{why}");
    }
}

/// Cargo runs tests with the variable set, and in that folder.
fn located(path: &Path) -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| path.into(), |folder| Path::new(&folder).join(path))
}

/// The error tells everything that there is to tell.
fn holds(network: &dyn Network, path: &Path, options: Options) -> Result<(), String> {
    let question = Question::read(network, &located(path))?;
    let options = Options { semantics: Some(options.semantics_of(&question.property)), ..options.resolved() };
    let outcome = decide(network, &question, &options)?;
    let (name, file) = (network.model().name, path.display());
    let model = format!("{name} (sha256 {:.12})", network.model().sha256);
    let of = match options.semantics {
        Some(Semantics::Float32) => "as its float32 program computes",
        _ => "in real arithmetic",
    };
    match &outcome.verdict {
        Verdict::Holds(_) => Ok(()),
        Verdict::Violated(witness) => {
            Err(format!("sat: {file} does not hold of {model} {of}; a counterexample is\n{}", shown(network, witness)))
        }
        Verdict::Unknown(StopReason::Timeout) => Err(format!(
            "timeout: in {} it was neither shown that {file} holds of {model} {of} nor that it does not; assert_holds_with takes \
             another timeout",
            duration(outcome.times.total)
        )),
        Verdict::Unknown(reason) => Err(format!(
            "unknown: it was neither shown that {file} holds of {model} {of} nor that it does not: {reason}"
        )),
    }
}

/// The search, on a stack that is large enough.
fn decide(network: &dyn Network, question: &Question, options: &Options) -> Result<Outcome, String> {
    let control = Control::new(options.timeout);
    let search = || search::verify(network, &question.property, options, &control);
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("search".into()).stack_size(STACK);
        let search = builder.spawn_scoped(scope, search).map_err(|e| format!("cannot start the search: {e}"))?;
        search.join().map_err(|_| "unknown: the search ended with an internal error, described above".to_string())
    })
}

/// Inputs and outputs as arrays that can be copied into a program.
fn shown(network: &dyn Network, witness: &Witness) -> String {
    let number = |value: &f32| format!("{value:?}");
    let output = apply(network.model().ending, witness.output());
    let mut text = array("X", &witness.input().iter().map(number).collect::<Vec<_>>());
    text += &array("Y", &output.iter().map(number).collect::<Vec<_>>());
    // Where the property fixes an input at a number that is no float32.
    for (k, (point, float)) in witness.point().iter().zip(witness.input()).enumerate() {
        if Decimal::from_f32(*float).as_ref() != Some(point) {
            text += &format!("X[{k}] is {point} in the property, and this is the float32 number next to it\n");
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn array(name: &str, values: &[String]) -> String {
    let lines: Vec<String> = values.chunks(IN_A_LINE).map(|line| line.join(", ")).collect();
    format!("{name} = [{}]\n", lines.join(",\n     "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::tests::Toy;
    use pg_core::Ending;
    use std::fs;

    /// One input in [0, 1], and a condition of counterexamples; the toy's outputs are 2 and 3.
    fn asked(condition: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.vnnlib");
        let text = "(declare-const X_0 Real)(declare-const Y_0 Real)(declare-const Y_1 Real)\
                    (assert (>= X_0 0))(assert (<= X_0 1))";
        fs::write(&path, format!("{text}{condition}")).unwrap();
        (folder, path)
    }

    const TOY: Toy = Toy([2.0, 3.0], Ending::None);

    fn failure(network: &Toy, condition: &str, options: Options) -> String {
        let (_folder, path) = asked(condition);
        holds(network, &path, options).unwrap_err()
    }

    #[test]
    fn a_property_that_holds_passes() {
        let (_folder, path) = asked("(assert (<= Y_1 Y_0))");
        assert_holds(&TOY, &path);
        assert_holds_with(
            &TOY,
            &path,
            Options { threads: Some(1), semantics: Some(Semantics::Float32), ..Options::default() },
        );
    }

    #[test]
    #[should_panic(expected = "p.vnnlib does not hold of toy")]
    fn a_violated_one_panics() {
        assert_holds(&TOY, asked("(assert (>= Y_1 Y_0))").1.as_path());
    }

    #[test]
    fn the_witness_is_shown() {
        let message = failure(&TOY, "(assert (>= Y_1 Y_0))(assert (>= X_0 1))", Options::default());
        assert!(message.starts_with("sat: "), "{message}");
        assert!(message.contains("in real arithmetic; a counterexample is\nX = [1.0]\nY = [2.0, 3.0]"), "{message}");
        let softmax = failure(&Toy([2.0, 3.0], Ending::Softmax), "(assert (>= Y_1 Y_0))", Options::default());
        assert!(softmax.contains("Y = [0.26894143, 0.7310586]"), "what the model gives out: {softmax}");
    }

    #[test]
    fn an_input_that_is_fixed_at_another_number_is_told() {
        let message = failure(&TOY, "(assert (= X_0 0.3))(assert (>= Y_1 Y_0))", Options::default());
        assert!(message.contains("X = [0.3]"), "{message}");
        assert!(message.contains("X[0] is 0.3 in the property"), "{message}");
    }

    #[test]
    fn what_is_not_decided_fails() {
        let condition = "(assert (<= Y_1 Y_0))";
        let message = failure(&TOY, condition, Options { timeout: Some(0.0), ..Options::default() });
        assert!(message.starts_with("timeout: ") && message.contains("assert_holds_with"), "{message}");
    }

    #[test]
    fn what_cannot_be_asked_fails() {
        let missing = holds(&TOY, Path::new("nowhere/p.vnnlib"), Options::default()).unwrap_err();
        assert!(missing.contains("nowhere/p.vnnlib: the file cannot be read"), "{missing}");
        let cut = failure(&Toy([2.0, 3.0], Ending::Softmax), "(assert (<= Y_0 0.5))", Options::default());
        assert!(cut.contains("only comparisons"), "{cut}");
    }

    #[test]
    fn long_witnesses_are_broken_into_lines() {
        let numbers: Vec<String> = (0..10).map(|k| k.to_string()).collect();
        assert_eq!(array("X", &numbers), "X = [0, 1, 2, 3, 4, 5, 6, 7,\n     8, 9]\n");
    }
}
