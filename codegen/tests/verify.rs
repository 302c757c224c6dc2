//! `verify` and `robust`: mistakes, streams, files and exit codes. What the verdicts are is tested with the engine.

mod common;

use common::{BAD_INPUT, assert_refused, run, shipped, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Output;

/// A file in the folder, and its path as an argument.
fn file(dir: &Path, name: &str, text: impl AsRef<[u8]>) -> String {
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Four inputs between the bounds, two outputs, counterexamples where output 0 is large.
fn property(low: &str, high: &str) -> String {
    let names = ["X_0", "X_1", "X_2", "X_3", "Y_0", "Y_1"].map(|name| format!("(declare-const {name} Real)\n"));
    let bound = |k| format!("(assert (>= X_{k} {low}))\n(assert (<= X_{k} {high}))\n");
    names.concat() + &(0..4).map(bound).collect::<String>() + "(assert (>= Y_0 1000))\n"
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// The word on the first line, which the exit code must agree with.
fn verdict(output: &Output) -> String {
    let text = stdout(output);
    let word = text.lines().next().unwrap_or_default();
    let code = ["unsat", "sat", "unknown", "timeout"].iter().position(|known| *known == word);
    assert_eq!(output.status.code(), code.map(|code| code as i32), "{text}{}", stderr(output));
    assert!(word == "sat" || text.lines().count() == 1, "{text}");
    word.to_string()
}

#[test]
fn mistakes_of_verify_are_named_and_exit_with_4() {
    let dir = tempfile::tempdir().unwrap();
    let (net, good) = (shipped("control.onnx"), shipped("control_bound.vnnlib"));
    let (folded, digits) = (shipped("digits_bn.onnx"), shipped("digits_16_robust.vnnlib"));
    let broken = file(dir.path(), "broken.vnnlib", "(declare-const X_0 Real)\n(assert (>= X_0 zero))\n");
    let (other, folder) = (shipped("digits_16_robust.vnnlib"), dir.path().display().to_string());
    let nowhere = dir.path().join("none/results.txt").display().to_string();
    let meeting = property("0", "1") + "(assert (or (and (> X_0 1) (>= Y_0 2)) (>= Y_0 3)))";
    let meeting = file(dir.path(), "meeting.vnnlib", meeting);
    let third = file(dir.path(), "third.vnnlib", property("0", "1") + "(assert (<= (* 3 X_0) 1))");
    let proof = dir.path().join("proof.pgc").display().to_string();
    let results = dir.path().join("results.txt").display().to_string();
    assert_refused(&[
        (&["verify"], "Usage"),
        (&["verify", &net], "<PROP.vnnlib>"),
        (&["verify", &net, "missing.vnnlib"], "missing.vnnlib: the file cannot be read"),
        (&["verify", "missing.onnx", &good], "missing.onnx"),
        (&["verify", &net, &broken], "broken.vnnlib:2:17: "),
        (&["verify", &net, &other], "64 inputs and 10 outputs, the network 4 and 2"),
        (&["verify", &net, &good, "--timeout", "-1"], "not a number of seconds"),
        (&["verify", &net, &good, "--timeout", "soon"], "not a number of seconds"),
        (&["verify", &net, &good, "--threads", "0"], "--threads"),
        (&["verify", &net, &good, "--engine", "steam"], "possible values: auto, phases, peregrinn"),
        (&["verify", &net, &good, "--proof", &nowhere], "--proof: cannot write"),
        (
            &["verify", &net, &meeting, "--proof", &proof],
            "--proof: two ends of an input meet, and one of them is strict",
        ),
        (
            &["verify", &net, &third, "--proof", &proof],
            "--proof: an input is bounded by a number that is no finite decimal",
        ),
        (&["verify", &net, &good, "--semantics", "double"], "possible values: real, float32"),
        (
            &["verify", &folded, &digits, "--semantics", "float32", "--proof", &results],
            "the float32 program has other coefficients",
        ),
        (&["verify", &net, &good, "--results", &nowhere], "--results: cannot write"),
        (&["verify", &net, &good, "--json", &folder], "it is a folder"),
        (&["verify", &net, &good, "--witness", "/proc/witness"], "--witness: cannot write /proc/witness"),
        (&["verify", &net, &good, "--results", &results, "--json", &results], "--results and --json both name"),
        // Outputs are looked at first, before any long work.
        (&["verify", "missing.onnx", &good, "--json", &nowhere], "there is no folder"),
    ]);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3, "nothing is written after a mistake");
}

#[test]
fn mistakes_of_robust_are_named_and_exit_with_4() {
    let dir = tempfile::tempdir().unwrap();
    let (net, image) = (shipped("digits_16.onnx"), shipped("digit_3.csv"));
    let (empty, short) = (file(dir.path(), "empty.csv", " \n"), file(dir.path(), "short.csv", "1,2,3"));
    let words = file(dir.path(), "words.csv", "1,2\n3,four");
    let many = shipped("digits_inputs.csv");
    assert_refused(&[
        (&["robust", &net, &image], "--eps"),
        (&["robust", &net, "missing.csv", "--eps", "0.1"], "missing.csv: the file cannot be read"),
        (&["robust", &net, &empty, "--eps", "0.1"], "empty.csv: there is no number in it"),
        (&["robust", &net, &short, "--eps", "0.1"], "short.csv: 3 numbers, but the network has 64 inputs"),
        (&["robust", &net, &many, "--eps", "0.1"], "640 numbers"),
        (&["robust", &net, &words, "--eps", "0.1"], "words.csv:2:3: `four` is not a decimal number"),
        (&["robust", &net, &image, "--eps", "-0.1"], "the radius -0.1 is negative"),
        (&["robust", &net, &image, "--eps", "nan"], "'nan' is not a decimal number"),
        (&["robust", &net, &image, "--eps", "inf"], "'inf' is not a decimal number"),
        (&["robust", &net, &image, "--eps", "0.1", "--label", "10"], "labels run from 0 to 9"),
        (&["robust", &net, &image, "--eps", "0.1", "--label", "three"], "--label"),
        (&["robust", &net, &image, "--eps", "0.1", "--scale", "0"], "the scale 0 is not positive"),
        (&["robust", &net, &image, "--eps", "0.1", "--scale", "-16"], "the scale -16 is not positive"),
        (&["robust", &net, &image, "--eps", "0.1", "--clip", "1,0"], "the range 1 to 0 to clip to is empty"),
        (&["robust", &net, &image, "--eps", "0.1", "--clip", "1"], "two numbers with a comma"),
        (&["robust", &net, &image, "--eps", "0.1", "--clip", "-1,x"], "'x' is not a decimal number"),
    ]);
}

#[test]
fn every_output_tells_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let argument = |name: &str| path(name).display().to_string();
    fs::write(path("witness"), "of an earlier run").unwrap();
    let (net, prop) = (shipped("control.onnx"), shipped("control_bound.vnnlib"));
    let files = ["--results", &argument("results"), "--witness", &argument("witness"), "--json", &argument("json")];
    let output =
        run(&[&["verify", &net, &prop, "--seed", "7", "--threads", "2", "--timeout", "60"], &files[..]].concat());
    let word = verdict(&output);
    assert_eq!(read(&path("results")), stdout(&output));
    assert_eq!(path("witness").exists(), word == "sat");
    let json: Value = serde_json::from_str(&read(&path("json"))).unwrap();
    assert_eq!(json["verdict"], *word);
    assert_eq!(json["reason"].is_null(), word == "sat" || word == "unsat");
    assert_eq!(json["witness"].is_null(), word != "sat");
    assert_eq!((&json["options"]["seed"], &json["options"]["threads"]), (&Value::from(7), &Value::from(2)));
    assert_eq!(json["property"]["sha256"], pg_runtime::files::sha256(&fs::read(&prop).unwrap()));
    assert_eq!(json["model"]["sha256"], pg_runtime::files::sha256(&fs::read(&net).unwrap()));
    let summary = stderr(&output);
    assert!(summary.contains(&format!("control_bound.vnnlib: {word}, ")), "{summary}");
    assert!(summary.contains("nodes") && summary.contains("LP calls"), "{summary}");
    assert!(!summary.contains('\r'), "progress is for terminals: {summary}");
}

#[test]
fn quiet_is_quiet_except_for_errors() {
    let net = shipped("digits_16.onnx");
    let output = run(&["robust", &net, &shipped("digit_3.csv"), "--eps", "0", "--scale", "16", "--quiet"]);
    verdict(&output);
    assert_eq!(stderr(&output), "");
    let refused = run(&["verify", &net, "missing.vnnlib", "--quiet"]);
    assert!(stderr(&refused).starts_with("error: missing.vnnlib"));
}

#[test]
fn a_compressed_property_is_the_same_property() {
    let dir = tempfile::tempdir().unwrap();
    let text = fs::read(shipped("control_bound.vnnlib")).unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    packed.write_all(&text).unwrap();
    let path = file(dir.path(), "p.vnnlib.gz", packed.finish().unwrap());
    let report = dir.path().join("json");
    verdict(&run(&["verify", &shipped("control.onnx"), &path, "--json", &report.display().to_string()]));
    let json: Value = serde_json::from_str(&read(&report)).unwrap();
    assert_eq!(json["property"]["sha256"], pg_runtime::files::sha256(&text));
}

#[test]
fn the_label_is_the_networks_own_unless_given() {
    let dir = tempfile::tempdir().unwrap();
    let report = dir.path().join("json");
    let ask = |more: &[&str]| {
        let (net, image) = (shipped("digits_16.onnx"), shipped("digit_3.csv"));
        let start = ["robust", &net, &image, "--eps", "1e-2", "--scale", "16", "--clip", "-0.5,1"];
        let output = run(&[&start, more, &["--json", &report.display().to_string()]].concat());
        verdict(&output);
        let json: Value = serde_json::from_str(&read(&report)).unwrap();
        (json["property"]["robustness"].clone(), stderr(&output))
    };
    let (robustness, notes) = ask(&[]);
    let expected = serde_json::json!({"eps": "0.01", "label": 3, "scale": "16", "clip": ["-0.5", "1"]});
    assert_eq!(robustness, expected);
    assert!(notes.contains("note: the label is 3, the network's own at the image"), "{notes}");
    let (robustness, notes) = ask(&["--label", "4"]);
    assert_eq!(robustness["label"], 4);
    assert!(!notes.contains("label is"), "{notes}");
}

#[test]
fn an_empty_input_set_is_said() {
    let (net, image) = (shipped("digits_16.onnx"), shipped("digit_3.csv"));
    let output = run(&["robust", &net, &image, "--eps", "0.1", "--clip", "0,1"]);
    verdict(&output);
    assert!(stderr(&output).contains("note: the input set is empty"), "the pixels go up to 16: {}", stderr(&output));
}

#[test]
fn a_verdict_is_printed_even_if_a_file_fails_at_the_end() {
    let (net, prop) = (shipped("control.onnx"), shipped("control_bound.vnnlib"));
    let output = run(&["verify", &net, &prop, "--results", "/dev/full"]);
    assert_eq!(output.status.code(), Some(BAD_INPUT));
    assert!(!stdout(&output).is_empty());
    assert!(stderr(&output).contains("error: cannot write /dev/full"), "{}", stderr(&output));
}

/// control.nnet declares -2 to 2.8, -2.5 to 3.5, -0.5 to 0.6 and -2 to 2.5, and its own program clips there.
#[test]
fn a_property_stays_inside_the_box_that_the_model_declares() {
    let dir = tempfile::tempdir().unwrap();
    let net = shipped("control.nnet");
    let inside = file(dir.path(), "inside.vnnlib", property("-0.5", "0.6"));
    verdict(&run(&["verify", &net, &inside]));
    let outside = file(dir.path(), "outside.vnnlib", property("-0.5", "0.7"));
    let image = file(dir.path(), "image.csv", "0,0,0.5,0");
    assert_refused(&[
        (&["verify", &net, &outside], "input 2 ranges from -0.5 to 0.7, but the model declares -0.5 to 0.6"),
        (&["robust", &net, &image, "--eps", "0.2"], "image.csv: input 2 ranges from 0.3 to 0.7"),
    ]);
    verdict(&run(&["verify", &shipped("control.onnx"), &outside]));
}

#[test]
fn help_tells_the_exit_codes() {
    for command in ["verify", "robust"] {
        let output = run(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains("--results <FILE>") && stdout(&output).contains("3          timeout"));
    }
}

/// What was chosen, or else what the property declares.
#[test]
fn a_report_and_a_summary_say_what_the_verdict_is_about() {
    let dir = tempfile::tempdir().unwrap();
    let declare = "(declare-network N (declare-input X float32 [4]) (declare-output Y float32 [2]))";
    let bound = |k| format!("(assert (and (>= X[{k}] -1) (<= X[{k}] 1)))");
    let bounds: String = (0..4).map(bound).collect();
    let text = format!("(vnnlib-version <2.0>){declare}{bounds}(assert (>= Y[0] 1000))");
    let declared = file(dir.path(), "declared.vnnlib", text);
    let plain = file(dir.path(), "plain.vnnlib", property("-1", "1"));
    let report = dir.path().join("report.json");
    let (net, json) = (shipped("control.onnx"), report.display().to_string());
    let program = ("float32", "the property holds for the float32 program");
    let network = ("real", "the property holds in real arithmetic");
    let cases: [(&str, &[&str], _); 4] = [
        (&plain, &[], network),
        (&plain, &["--semantics", "float32"], program),
        (&declared, &[], program),
        (&declared, &["--semantics", "real"], network),
    ];
    for (property, given, (semantics, meaning)) in cases {
        let output = run(&[&["verify", &net, property, "--json", &json][..], given].concat());
        assert_eq!(verdict(&output), "unsat");
        assert!(stderr(&output).contains(meaning), "{}", stderr(&output));
        let report: Value = serde_json::from_str(&read(&report)).unwrap();
        assert_eq!(report["options"]["semantics"], semantics);
    }
}
