//! `suite`: lists, rows, what goes wrong, and going on after an interruption. Networks are interpreted.

mod common;
#[path = "suite/parts.rs"]
mod parts;

use common::{BAD_INPUT, assert_refused, networks, run, shipped, stderr, stdout};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const INTERRUPTED: i32 = 2;

/// A folder with a list, the shipped files it names, and a place for results.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new(list: &str) -> Bench {
        let dir = tempfile::tempdir().unwrap();
        for file in fs::read_dir(networks()).unwrap().map(|entry| entry.unwrap().path()) {
            fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
        }
        fs::write(dir.path().join("list.csv"), list).unwrap();
        Bench { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn argument(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn arguments(&self, out: &str, more: &[&str]) -> Vec<String> {
        let fixed = ["suite", &self.argument("list.csv"), "-o", &self.argument(out), "--interpret"].map(String::from);
        fixed.into_iter().chain(more.iter().map(|argument| argument.to_string())).collect()
    }

    fn suite(&self, out: &str, more: &[&str]) -> Output {
        run(&self.arguments(out, more).iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn start(&self, out: &str) -> Child {
        self.start_with(out, &["--resume"])
    }

    fn start_with(&self, out: &str, more: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
        command.args(self.arguments(out, more)).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn results(&self, out: &str) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.path(out).join("results.csv")).unwrap();
        text.lines().map(|line| line.split(',').map(String::from).collect()).collect()
    }

    /// The rows without their times: what two runs of the same list have in common.
    fn verdicts(&self, out: &str) -> Vec<[String; 4]> {
        let rows = self.results(out).into_iter();
        rows.map(|row| [0, 1, 2, 4].map(|column: usize| row[column].clone())).collect()
    }

    fn record(&self, out: &str, number: usize) -> Value {
        let folder = fs::read_dir(self.path(out).join("instances")).unwrap();
        let mut files = folder.map(|entry| entry.unwrap().path());
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with(&format!("{number:04}_"));
        serde_json::from_slice(&fs::read(files.find(is_it).unwrap()).unwrap()).unwrap()
    }

    /// A property that no verifier gets to the end of reading.
    fn endless(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }

    /// The process that waits for the endless property.
    fn wait_for_child(&self, suite: &Child) -> u32 {
        wait(|| children(suite.id()).first().copied())
    }
}

/// Waits until there is something.
fn wait<T>(mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "it did not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that the threads of another one started.
fn children(parent: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.collect::<String>().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([format!("-{name}"), process.to_string()]).status().unwrap().success());
}

fn compress(from: &Path, to: &Path) {
    let mut packed = flate2::write::GzEncoder::new(fs::File::create(to).unwrap(), Default::default());
    packed.write_all(&fs::read(from).unwrap()).unwrap();
    packed.finish().unwrap();
    fs::remove_file(from).unwrap();
}

const THREE: &str = "digits_16.onnx,digits_16_violated.vnnlib,60\n\
                     control.onnx,control_bound.vnnlib,60\n\
                     digits_16.onnx,digits_16_robust.vnnlib,60\n";

#[test]
fn the_competitions_list_becomes_rows_in_its_order() {
    let list = "./digits_16.onnx,./digits_16_violated.vnnlib,60\r\ncontrol.onnx,control_bound.vnnlib,59.5\r\n\
                digits_16.onnx,digits_16_robust.vnnlib,1e2\r\n";
    let bench = Bench::new(list);
    compress(&bench.path("digits_16.onnx"), &bench.path("digits_16.onnx.gz"));
    compress(&bench.path("control_bound.vnnlib"), &bench.path("control_bound.vnnlib.gz"));
    let output = bench.suite("out", &["--jobs", "2", "--seed", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let expected = [
        ["list", "digits_16.onnx", "digits_16_violated.vnnlib", "sat"],
        ["list", "control.onnx", "control_bound.vnnlib", "unsat"],
        ["list", "digits_16.onnx", "digits_16_robust.vnnlib", "unsat"],
    ];
    assert_eq!(bench.verdicts("out"), expected.map(|row| row.map(String::from)));
    assert!(bench.results("out").iter().all(|row| row[3] == "0.0000" && row[5].parse::<f64>().unwrap() > 0.0));
    assert_eq!(bench.record("out", 2)["limit"], 59.5);
    assert_eq!(bench.record("out", 3)["report"]["options"]["timeout"], 100.0);
    assert_eq!(bench.record("out", 1)["report"]["options"]["seed"], 3);
    let witnesses: Vec<_> = fs::read_dir(bench.path("out/witnesses")).unwrap().collect();
    assert_eq!(witnesses.len(), 1, "one for the sat row");
    assert!(!bench.path("out/running").exists());
    assert!(stdout(&output).starts_with("3 of 3 instances in "), "{}", stdout(&output));
    assert_eq!(stderr(&output).lines().count(), 3, "a line an instance: {}", stderr(&output));
    let summary: Value = serde_json::from_slice(&fs::read(bench.path("out/summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["finished"], &summary["verdicts"]["sat"]), (&Value::from(3), &Value::from(1)));
    // A few milliseconds on an idle machine; tests share theirs.
    assert!(summary["overhead"]["mean_ms"].as_f64().unwrap() < 500.0, "{summary}");
}

#[test]
fn the_cap_holds_for_every_instance() {
    let bench = Bench::new("digits_16.onnx,digits_16_robust.vnnlib,60\ndigits_16.onnx,digits_16_robust.vnnlib,0.5\n");
    assert_eq!(bench.suite("out", &["--timeout", "7", "--quiet"]).status.code(), Some(0));
    assert_eq!((&bench.record("out", 1)["limit"], &bench.record("out", 2)["limit"]), (&7.0.into(), &0.5.into()));
}

#[test]
fn images_are_asked_by_the_list() {
    let bench = Bench::new(
        "network,image,eps,scale,clip,label,timeout\ndigits_16.onnx,digit_3.csv,0.01,16,\"0,1\",,60\n\
         digits_16.onnx,digit_3.csv,0.3,16,\"0,1\",3,60\ndigits_16.onnx,digit_3.csv,0,16,,4,60\n",
    );
    let output = bench.suite("out", &["--quiet"]);
    assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(0), ""));
    let words: Vec<String> =
        bench.verdicts("out").into_iter().map(|[_, _, property, word]| property + ": " + &word).collect();
    let expected =
        ["digit_3.csv eps 0.01: unsat", "digit_3.csv eps 0.3 label 3: sat", "digit_3.csv eps 0 label 4: sat"];
    assert_eq!(words, expected);
    let robustness = &bench.record("out", 1)["report"]["property"]["robustness"];
    assert_eq!(robustness["clip"], serde_json::json!(["0", "1"]));
}

#[test]
fn what_cannot_be_asked_is_a_row() {
    let bench = Bench::new(
        "digits_16.onnx,broken.vnnlib,60\nbroken.onnx,digits_16_robust.vnnlib,60\ncontrol.onnx,control_bound.vnnlib,60\n",
    );
    fs::write(bench.path("broken.vnnlib"), "(assert").unwrap();
    fs::write(bench.path("broken.onnx"), "no model").unwrap();
    let output = bench.suite("out", &[]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words: Vec<String> = bench.verdicts("out").into_iter().map(|row| row[3].clone()).collect();
    assert_eq!(words, ["error", "error", "unsat"]);
    let trouble = |number| bench.record("out", number)["trouble"].as_str().unwrap().to_string();
    assert!(trouble(1).starts_with("exit code 4: error: ") && trouble(1).contains("broken.vnnlib"), "{}", trouble(1));
    assert!(trouble(2).contains("broken.onnx"), "{}", trouble(2));
    assert!(stderr(&output).contains("broken.vnnlib"));
}

/// Without `--interpret` too: what is wrong with a model is found before anything is built.
#[test]
fn a_model_that_cannot_be_compiled_is_a_row() {
    let bench = Bench::new("broken.onnx,digits_16_robust.vnnlib,60\n");
    fs::write(bench.path("broken.onnx"), "no model").unwrap();
    let output = run(&["suite", &bench.argument("list.csv"), "-o", &bench.argument("out")]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.verdicts("out")[0][3], "error");
    assert!(bench.record("out", 1)["trouble"].as_str().unwrap().contains("broken.onnx"));
}

#[test]
fn a_killed_instance_loses_only_its_row() {
    let bench = Bench::new(&format!("control.onnx,endless.vnnlib,60\n{THREE}"));
    bench.endless("endless.vnnlib");
    let suite = bench.start("out");
    signal("KILL", bench.wait_for_child(&suite));
    let output = suite.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let words: Vec<String> = bench.verdicts("out").into_iter().map(|row| row[3].clone()).collect();
    assert_eq!(words, ["error", "sat", "unsat", "unsat"]);
    assert_eq!(bench.record("out", 1)["trouble"], "ended by signal 9");
}

/// The suite is interrupted in the middle of its list, once in order and once not; in the end the rows are those of a
/// run without interruption, and rows that were there stay as they were.
#[test]
fn an_interrupted_suite_goes_on() {
    for (name, code) in [("INT", Some(INTERRUPTED)), ("TERM", Some(INTERRUPTED)), ("KILL", None)] {
        let bench = Bench::new(&(THREE.to_string() + "control.onnx,late.vnnlib,60\n" + THREE));
        bench.endless("late.vnnlib");
        let suite = bench.start("out");
        wait(|| (fs::read_dir(bench.path("out/instances")).ok()?.count() == 3).then_some(()));
        let child = bench.wait_for_child(&suite);
        signal(name, suite.id());
        let output = suite.wait_with_output().unwrap();
        assert_eq!(output.status.code(), code, "{}", stderr(&output));
        if code.is_some() {
            assert!(!Path::new(&format!("/proc/{child}")).exists(), "the process was stopped");
            assert_eq!(bench.results("out").len(), 3);
        } else {
            signal("KILL", child);
        }
        let before: Vec<Value> = (1..=3).map(|number| bench.record("out", number)).collect();

        fs::remove_file(bench.path("late.vnnlib")).unwrap();
        fs::copy(bench.path("control_bound.vnnlib"), bench.path("late.vnnlib")).unwrap();
        let output = bench.suite("out", &["--resume"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!((1..=3).map(|number| bench.record("out", number)).collect::<Vec<_>>(), before);
        assert_eq!(bench.suite("whole", &[]).status.code(), Some(0));
        assert_eq!(bench.verdicts("out"), bench.verdicts("whole"));

        let results = fs::read(bench.path("out/results.csv")).unwrap();
        assert_eq!(bench.suite("out", &["--resume"]).status.code(), Some(0), "nothing is left to do");
        assert_eq!(fs::read(bench.path("out/results.csv")).unwrap(), results);
    }
}

#[test]
fn expected_verdicts_are_compared() {
    let bench = Bench::new(THREE);
    let header = "network,property,verdict,tools\n";
    let right = "./digits_16.onnx,digits_16_violated.vnnlib,sat,a b\ncontrol.onnx,control_bound.vnnlib,conflict,a\n";
    fs::write(bench.path("right.csv"), format!("{header}{right}")).unwrap();
    fs::write(bench.path("wrong.csv"), format!("{header}{right}digits_16.onnx,digits_16_robust.vnnlib,sat,c\n"))
        .unwrap();
    let agrees = bench.suite("out", &["--expected", &bench.argument("right.csv")]);
    assert_eq!(agrees.status.code(), Some(0), "{}", stderr(&agrees));
    assert!(stdout(&agrees).contains("1 agree, 0 disagree, 0 undecided, 2 not listed"), "{}", stdout(&agrees));
    let differs = bench.suite("out", &["--resume", "--expected", &bench.argument("wrong.csv")]);
    assert_eq!(differs.status.code(), Some(1), "{}", stderr(&differs));
    assert!(stdout(&differs).contains("DISAGREES: digits_16.onnx digits_16_robust.vnnlib: unsat, expected sat"));
}

#[test]
fn mistakes_are_named_and_exit_with_4() {
    let bench = Bench::new(THREE);
    let file = |name: &str, text: &str| {
        fs::write(bench.path(name), text).unwrap();
        bench.argument(name)
    };
    let missing = file("missing.csv", "digits_16.onnx,digits_16_robust.vnnlib,60\r\n\r\nnone.onnx,p.vnnlib,1\r\n");
    let (fields, time) =
        (file("fields.csv", "a,b,1,2\n"), file("time.csv", "control.onnx,control_bound.vnnlib,soon\n"));
    let eps = file("eps.csv", "network,image,eps,timeout\ndigits_16.onnx,digit_3.csv,wide,1\n");
    let (verdict, other) = (file("v.csv", "network,property,verdict\na,b,maybe\n"), file("o.csv", "a,b,sat\n"));
    let (list, out) = (bench.argument("list.csv"), bench.argument("out"));
    let full = shipped("");
    assert_refused(&[
        (&["suite"], "INSTANCES.csv"),
        (&["suite", &list], "--output"),
        (&["suite", "none.csv", "-o", &out], "cannot read none.csv"),
        (&["suite", &missing, "-o", &out], "missing.csv, line 3: there is no "),
        (&["suite", &fields, "-o", &out], "fields.csv, line 1: 4 fields"),
        (&["suite", &time, "-o", &out], "time.csv, line 1: the timeout 'soon' is not a number of seconds"),
        (&["suite", &eps, "-o", &out], "eps.csv, line 2: invalid value 'wide'"),
        (&["suite", &list, "-o", &out, "--jobs", "0"], "--jobs"),
        (&["suite", &list, "-o", &out, "--expected", &verdict], "v.csv, line 2: 'maybe' is no verdict"),
        (&["suite", &list, "-o", &out, "--expected", &other], "o.csv: it tells of no instance of the list"),
        (&["suite", &list, "-o", &full], "is not empty and holds no results of a suite"),
    ]);
    assert!(!bench.path("out").exists(), "nothing is written after a mistake");

    assert_eq!(bench.suite("out", &["--quiet"]).status.code(), Some(0));
    let again = bench.suite("out", &[]);
    assert_eq!(again.status.code(), Some(BAD_INPUT));
    assert!(stderr(&again).contains("--resume goes on with them"), "{}", stderr(&again));
    let other = bench.suite("out", &["--resume", "--engine", "peregrinn"]);
    assert_eq!(other.status.code(), Some(BAD_INPUT));
    assert!(stderr(&other).contains(r#"engine was "auto", now it is "peregrinn""#), "{}", stderr(&other));
}
