//! A search that is told to stop does so soon, wherever it is, and leaves whole files and the right words behind.

use clap::Parser;
use pg_core::{Ending, Model, Network, Shape};
use pg_runtime::cli::Verify;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// What a stop may take, on a busy machine.
const SOON: Duration = Duration::from_secs(3);
/// By then the search is in its first linear program, which takes minutes.
const IN_THE_PROGRAM: Duration = Duration::from_secs(8);
/// How long the program waits for a search that does not stop.
const GRACE: Duration = Duration::from_secs(3);

/// Inputs in [−1, 1] and counterexamples where the output is at least `threshold`.
fn property(inputs: usize, threshold: f64) -> String {
    let declared = (0..inputs).map(|i| format!("(declare-const X_{i} Real)\n"));
    let bounds = (0..inputs).map(|i| format!("(assert (and (>= X_{i} -1) (<= X_{i} 1)))\n"));
    let output = format!("(declare-const Y_0 Real)\n(assert (>= Y_0 {threshold}))\n");
    declared.chain(bounds).chain([output]).collect()
}

/// A random network with dense layers, in NNet's text.
fn network(widths: &[usize], scale: f64) -> String {
    let mut state = 1u64;
    let mut unit = move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    let (inputs, layers) = (widths[0], widths.len() - 1);
    let line = |values: Vec<String>| values.join(",") + ",\n";
    let same = |value: &str, count: usize| line(vec![value.to_string(); count]);
    let header = vec![layers, inputs, widths[layers], *widths.iter().max().unwrap()];
    let text = |sizes: &[usize]| line(sizes.iter().map(usize::to_string).collect());
    let mut net = text(&header) + &text(widths) + "0,\n" + &same("-1", inputs) + &same("1", inputs);
    net += &(same("0", inputs + 1) + &same("1", inputs + 1));
    for pair in widths.windows(2) {
        let weight = scale / (pair[0] as f64).sqrt();
        for _ in 0..pair[1] {
            net += &line((0..pair[0]).map(|_| format!("{:.3}", weight * unit())).collect());
        }
        net += &line((0..pair[1]).map(|_| format!("{:.2}", 0.1 * unit())).collect());
    }
    net
}

/// A folder with a question whose linear programs take many seconds each, and the outputs that are asked for.
struct Question {
    dir: tempfile::TempDir,
}

impl Question {
    fn new() -> Question {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("deep.nnet"), network(&[30, 200, 500, 500, 500, 1], 2.4)).unwrap();
        fs::write(dir.path().join("p.vnnlib"), property(30, 50.0)).unwrap();
        Question { dir }
    }

    /// Asks the engine that solves a linear program at once, unless told otherwise.
    fn ask(&self, more: &[&str]) -> Child {
        let more = [more, if more.contains(&"--engine") { &[] } else { &["--engine", "peregrinn"] }].concat();
        let files = ["--results", "results", "--witness", "witness", "--json", "json"];
        let mut command = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
        command.current_dir(self.dir.path()).args(["verify", "deep.nnet", "p.vnnlib"]).args(files).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The report of a run that ended inside a linear program, or between two of them.
    fn assert_ended_in_program(&self, output: &Output, word: &str, code: i32, reason: &str) {
        let json = self.assert_ended(output, word, code, reason);
        assert!(json["counters"]["lp_calls"].as_u64() >= Some(1), "a program was at work: {json}");
        let seconds = |what: &str| json["times"][what].as_f64().unwrap();
        assert!(seconds("lp") > 0.3 * seconds("total"), "{json}");
    }

    /// The report of a run that was ended. Nothing but whole files is left.
    fn assert_ended(&self, output: &Output, word: &str, code: i32, reason: &str) -> Value {
        assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
        assert_eq!(stdout(output), format!("{word}\n"));
        assert!(stderr(output).contains(&format!(": {word}, ")), "{}", stderr(output));
        let mut names: Vec<String> = fs::read_dir(self.dir.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, ["deep.nnet", "json", "p.vnnlib", "results"]);
        assert_eq!(read(self.dir.path(), "results"), format!("{word}\n"));
        let json: Value = serde_json::from_str(&read(self.dir.path(), "json")).unwrap();
        assert_eq!((&json["verdict"], &json["reason"]), (&word.into(), &reason.into()));
        json
    }
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn read(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join(name)).unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_timeout_is_kept_inside_a_linear_program() {
    let question = Question::new();
    let start = Instant::now();
    let timeout = IN_THE_PROGRAM.as_secs().to_string();
    let output = question.ask(&["--timeout", &timeout]).wait_with_output().unwrap();
    let late = start.elapsed().saturating_sub(IN_THE_PROGRAM);
    assert!(late < SOON, "{late:?}");
    question.assert_ended_in_program(&output, "timeout", 3, "the time was used up");
}

#[test]
fn a_timeout_is_kept_by_every_engine() {
    for engine in ["auto", "phases"] {
        let question = Question::new();
        let start = Instant::now();
        let output = question.ask(&["--timeout", "4", "--engine", engine]).wait_with_output().unwrap();
        let late = start.elapsed().saturating_sub(Duration::from_secs(4));
        assert!(late < SOON, "{late:?}");
        let json = question.assert_ended(&output, "timeout", 3, "the time was used up");
        assert_eq!(json["counters"]["lp_calls"], 0, "the phases were at work: {json}");
    }
}

#[test]
fn signals_end_a_linear_program() {
    for name in ["-INT", "-TERM"] {
        let question = Question::new();
        let child = question.ask(&[]);
        std::thread::sleep(IN_THE_PROGRAM);
        let start = Instant::now();
        signal(&child, name);
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < SOON, "{:?}", start.elapsed());
        question.assert_ended_in_program(&output, "unknown", 2, "interrupted");
    }
}

/// Before there is a result a signal leaves no file, rather than half of one.
#[test]
fn a_kill_leaves_no_half_written_file() {
    let question = Question::new();
    let mut child = question.ask(&[]);
    std::thread::sleep(Duration::from_secs(1));
    signal(&child, "-KILL");
    assert_eq!(child.wait().unwrap().code(), None);
    assert_eq!(fs::read_dir(question.dir.path()).unwrap().count(), 2, "the network and the property");
}

/// A network that never answers when it is asked for its data.
struct Stuck;

impl Network for Stuck {
    fn model(&self) -> Model<'_> {
        Model { name: "stuck", format: "none", sha256: "none", domain: &[], ending: Ending::None }
    }

    fn shape(&self) -> Shape<'_> {
        loop {
            std::thread::park();
        }
    }

    fn forward(&self, _: &[f32], y: &mut [f32]) {
        y.fill(0.0);
    }

    fn inputs(&self) -> usize {
        1
    }

    fn outputs(&self) -> usize {
        1
    }
}

#[derive(Parser)]
struct Args {
    #[command(flatten)]
    verify: Verify,
}

/// What the next test runs as a process of its own, in a folder with the property.
#[test]
#[ignore = "a part of another test: it ends the process"]
fn stuck_verifier() {
    let args = "verify p.vnnlib --timeout 1 --results results --json json".split(' ');
    let verify = Args::try_parse_from(args).unwrap().verify;
    let run = verify.run.begin().unwrap();
    let code = verify.decide(&Stuck, &run);
    panic!("a stuck search returned: {code:?}");
}

#[test]
fn a_search_that_does_not_stop_is_left_behind() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("p.vnnlib"), property(1, 1.0)).unwrap();
    let start = Instant::now();
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "stuck_verifier", "--ignored", "--nocapture"]).current_dir(dir.path());
    let output = child.output().unwrap();
    let elapsed = start.elapsed();
    assert_eq!(output.status.code(), Some(3), "{}{}", stdout(&output), stderr(&output));
    assert!(elapsed > GRACE && elapsed < Duration::from_secs(1) + GRACE + SOON, "{elapsed:?}");
    assert_eq!(read(dir.path(), "results"), "timeout\n");
    let json: Value = serde_json::from_str(&read(dir.path(), "json")).unwrap();
    assert_eq!((&json["verdict"], &json["reason"]), (&"timeout".into(), &"the time was used up".into()));
}
