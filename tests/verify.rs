//! Verdicts on the shipped networks: by the interpreter through the library, and by generated verifiers through their
//! command line. Witnesses are judged from what was printed alone.

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::{Property, Violation};
use pg_runtime::report::Control;
use pg_runtime::search;
use pg_runtime::verdict::Verdict;
use pg_tests::{Random, Verifier, evaluate, relative_difference, shipped};
use std::path::Path;
use std::process::{Command, Output};

/// Network, property, verdict; `tests/networks/README.md` says how each verdict is known.
const CASES: [(&str, &str, &str); 5] = [
    ("digits_16.onnx", "digits_16_robust.vnnlib", "unsat"),
    ("digits_16.onnx", "digits_16_violated.vnnlib", "sat"),
    ("digits_conv.onnx", "digits_conv_robust.vnnlib", "unsat"),
    ("digits_conv.onnx", "digits_conv_violated.vnnlib", "sat"),
    ("control.onnx", "control_bound.vnnlib", "unsat"),
];

fn interpreted(network: &str, property: &str, options: &Options) -> Verdict {
    let network = Interpreter::new(compile(&shipped(network)).unwrap());
    let property = Property::read(&shipped(property)).unwrap();
    search::verify(&network, &property, options, &Control::new(options.timeout)).verdict
}

fn build(network: &str) -> (tempfile::TempDir, Verifier) {
    let dir = tempfile::tempdir().unwrap();
    let verifier = Verifier::build(&shipped(network), &dir.path().join("crate"));
    (dir, verifier)
}

fn run(verifier: &Verifier, args: &[&str]) -> Output {
    Command::new(&verifier.binary).args(args).output().unwrap()
}

/// The exit code and stdout's first line, which must agree.
fn word(output: &Output) -> String {
    let word = String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_string();
    let code = ["unsat", "sat", "unknown", "timeout"].iter().position(|known| *known == word);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), code.map(|code| code as i32), "{word} {message}");
    word
}

/// The values of a printed witness, by the rules of the competition's checker.
fn parse_witness(text: &str) -> (Vec<f32>, Vec<f64>) {
    let inner = text.trim().strip_prefix('(').unwrap().strip_suffix(')').unwrap();
    let (mut x, mut y) = (vec![], vec![]);
    for part in inner.split(')').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, number) = part.strip_prefix('(').unwrap().split_once(' ').unwrap();
        let number: f64 = number.parse().unwrap();
        if name == format!("X_{}", x.len()) {
            assert_eq!(f64::from(number as f32), number, "an input is a float32");
            x.push(number as f32);
        } else {
            assert_eq!(name, format!("Y_{}", y.len()));
            y.push(number);
        }
    }
    (x, y)
}

/// The input lies in the exact region, the printed outputs violate the property, and they are the network's.
fn assert_witness(verifier: &Verifier, property: &Property, text: &str) {
    let (x, y) = parse_witness(text);
    assert_eq!((x.len(), y.len()), (property.inputs, property.outputs));
    let violates = property.disjuncts.iter().any(|d| d.violated_at(&x, &y, &y) == Violation::Certain);
    assert!(violates, "{text}");
    let outputs: Vec<f64> = verifier.eval(&x, x.len()).iter().map(|&v| f64::from(v)).collect();
    assert_eq!(outputs, y);
}

/// The generated code computes what the interpreter does, up to the order of sums.
fn assert_evaluates(verifier: &Verifier, network: &str) {
    let network = Interpreter::new(compile(&shipped(network)).unwrap());
    let x = Random::new(4).numbers(100 * network.inputs());
    let difference = relative_difference(&evaluate(&network, &x), &verifier.eval(&x, network.inputs()));
    assert!(difference < 1e-5, "{difference:e}");
}

#[test]
fn the_interpreter_decides_the_shipped_properties() {
    for engine in [Engine::Auto, Engine::Phases, Engine::Peregrinn] {
        for (network, property, expected) in CASES {
            let verdict =
                interpreted(network, property, &Options { engine, timeout: Some(60.0), ..Options::default() });
            assert_eq!(verdict.word(), expected, "{property}, {engine:?}");
        }
    }
}

/// Whatever the verdicts are, they do not depend on who runs the network.
#[test]
fn generated_and_interpreted_agree() {
    for network in ["digits_16.onnx", "control.onnx"] {
        let (_dir, verifier) = build(network);
        for (_, property, _) in CASES.iter().filter(|case| case.0 == network) {
            let path = shipped(property).display().to_string();
            let output = run(&verifier, &["verify", &path, "--timeout", "60"]);
            let options = Options { timeout: Some(60.0), ..Options::default() };
            assert_eq!(word(&output), interpreted(network, property, &options).word(), "{property}");
        }
        let wrong = run(&verifier, &["verify", &shipped("digits_inputs.csv").display().to_string()]);
        assert_eq!((wrong.status.code(), wrong.stdout.len()), (Some(4), 0));
    }
}

#[test]
fn generated_verifiers_decide_and_their_files_agree() {
    for network in ["digits_16.onnx", "digits_conv.onnx", "control.onnx"] {
        let (dir, verifier) = build(network);
        assert_evaluates(&verifier, network);
        let file = |name: &str| dir.path().join(name).display().to_string();
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        for (_, property, expected) in CASES.iter().filter(|case| case.0 == network) {
            let path = shipped(property).display().to_string();
            let files = ["--results", &file("results"), "--witness", &file("witness")];
            let output = run(&verifier, &[&["verify", &path, "--timeout", "60"], &files[..]].concat());
            assert_eq!(word(&output), *expected, "{property}");
            let text = String::from_utf8(output.stdout).unwrap();
            assert_eq!(read("results").as_deref(), Some(text.as_str()));
            let witness = text.strip_prefix("sat\n");
            assert_eq!(read("witness").as_deref(), witness);
            if let Some(witness) = witness {
                assert_witness(&verifier, &Property::read(Path::new(&path)).unwrap(), witness);
            }
        }
    }
}

#[test]
fn robustness_is_decided() {
    let (_dir, verifier) = build("digits_16.onnx");
    let image = shipped("digit_3.csv").display().to_string();
    let ask = |more: &[&str]| run(&verifier, &[&["robust", &image, "--scale", "16", "--timeout", "60"], more].concat());
    assert_eq!(word(&ask(&["--eps", "0.01"])), "unsat");
    assert_eq!(word(&ask(&["--eps", "0.01", "--label", "3", "--clip", "0,1"])), "unsat");
    assert_eq!(word(&ask(&["--eps", "0.3", "--clip", "0,1"])), "sat");
    assert_eq!(word(&ask(&["--eps", "0", "--label", "4"])), "sat", "the image itself is a counterexample");
    let empty = ask(&["--eps", "0.01", "--clip", "2,3"]);
    assert_eq!(word(&empty), "unsat");
    assert!(String::from_utf8_lossy(&empty.stderr).contains("the input set is empty"));
}

#[test]
fn no_time_is_a_timeout() {
    let options = Options { timeout: Some(0.0), ..Options::default() };
    assert_eq!(interpreted("control.onnx", "control_bound.vnnlib", &options).word(), "timeout");
}
