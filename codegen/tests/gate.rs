//! `gate`: what passes, what does not, and what is not looked for again. Networks are interpreted.

mod common;

use common::{BAD_INPUT, assert_refused, networks, run, shipped, stderr, stdout};
use pg_property::files::sha256;
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const WRONG: i32 = 1;
const OPEN: i32 = 2;
const LATE: i32 = 3;

/// A repository with a gate and the shipped networks.
struct Repository {
    dir: TempDir,
}

impl Repository {
    fn new(gate: &str) -> Repository {
        let dir = tempfile::tempdir().unwrap();
        for file in fs::read_dir(networks()).unwrap().map(|entry| entry.unwrap().path()) {
            fs::copy(&file, dir.path().join(file.file_name().unwrap())).unwrap();
        }
        fs::write(dir.path().join("gate.toml"), gate).unwrap();
        Repository { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn file(&self) -> String {
        self.path("gate.toml").display().to_string()
    }

    fn gate(&self, more: &[&str]) -> Output {
        run(&[&["gate", &self.file()], more].concat())
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path("target/gate").join(name)).unwrap()
    }

    /// How many verdicts of the last run came from the cache.
    fn cached(&self) -> u64 {
        serde_json::from_str::<Value>(&self.text("results/summary.json")).unwrap()["cached"].as_u64().unwrap()
    }

    /// Changes the record of each entry of the cache, and the bytes behind it, and makes the digest that of the result.
    fn forge(&self, change: impl Fn(&mut Value, &mut Vec<u8>)) {
        for path in fs::read_dir(self.path("target/gate/cache")).unwrap().map(|entry| entry.unwrap().path()) {
            let bytes = fs::read(&path).unwrap();
            let rest = &bytes[65..];
            let end = rest.iter().position(|byte| *byte == b'\n').unwrap();
            let (mut line, mut kept) = (serde_json::from_slice(&rest[..end]).unwrap(), rest[end + 1..].to_vec());
            change(&mut line, &mut kept);
            let rest = [line.to_string().as_bytes(), b"\n", &kept].concat();
            fs::write(&path, [sha256(&rest).as_bytes(), b"\n", &rest].concat()).unwrap();
        }
    }
}

#[track_caller]
fn assert_ended(output: &Output, code: i32, word: &str) {
    assert_eq!((output.status.code(), stdout(output).as_str()), (Some(code), word), "{}", stderr(output));
}

const HOLDS: &str = "proofs = true\n[[network]]\nmodel = 'digits_16.onnx'\nproperties = ['digits_16_robust.vnnlib']\n\
    robust = [{ image = 'digit_3.csv', eps = [0.01, '0.005'], scale = 16, clip = [0, 1] }]\n\
    [[network]]\nmodel = 'control.onnx'\nproperties = 'control_bound.vnnlib'\n";
const VIOLATED: &str = "[[network]]\nmodel = 'digits_16.onnx'\nproperties = ['digits_16_violated.vnnlib']\n";

#[test]
fn what_holds_passes_and_is_not_looked_for_again() {
    let repository = Repository::new(HOLDS);
    let output = repository.gate(&["--jobs", "2"]);
    assert_ended(&output, 0, "pass\n");
    assert!(stderr(&output).contains("4 of 4 passed, 0 failed, 0 allowed\n"), "{}", stderr(&output));
    assert_eq!(repository.cached(), 0);
    assert!(repository.text("junit.xml").contains("tests=\"4\" failures=\"0\" errors=\"0\" skipped=\"0\""));
    assert!(repository.text("report/index.html").contains("digits_16.onnx"));
    let certificate = repository.path("target/gate/certificates/0002_digits_16_digit_3.csv_eps_0.01.pgc");
    let first = fs::read(&certificate).unwrap();

    let output = repository.gate(&[]);
    assert_ended(&output, 0, "pass\n");
    assert!(stderr(&output).contains("4 of 4 passed, 0 failed, 0 allowed, 4 from the cache"), "{}", stderr(&output));
    assert!(repository.text("summary.md").contains("passed, from the cache"));
    let record: Value =
        serde_json::from_str(&repository.text("results/instances/0002_digits_16_digit_3.csv_eps_0.01.json")).unwrap();
    assert_eq!((&record["cached"], &record["certificate"]["judgement"]), (&json!(true), &json!("accepted")));
    assert_eq!(fs::read(&certificate).unwrap(), first, "put back and judged again");

    assert_ended(&repository.gate(&["--no-cache", "--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0);
    fs::copy(repository.path("digits_16_violated.vnnlib"), repository.path("digits_16_robust.vnnlib")).unwrap();
    assert_ended(&repository.gate(&["--quiet"]), WRONG, "fail\n");
    assert_eq!(repository.cached(), 3, "the one that changed was run");
}

#[test]
fn what_is_violated_fails_with_its_witness_from_the_cache_too() {
    let repository = Repository::new(VIOLATED);
    for cached in [0, 1] {
        let output = repository.gate(&[]);
        assert_ended(&output, WRONG, "fail\n");
        assert_eq!(repository.cached(), cached);
        assert!(stderr(&output).contains("sat: digits_16.onnx digits_16_violated.vnnlib: "), "{}", stderr(&output));
        let junit = repository.text("junit.xml");
        assert!(junit.contains("<failure type=\"sat\"") && junit.contains("(X_0 "), "{junit}");
        assert!(repository.text("summary.md").contains("(X_0 "));
        assert!(repository.text("results/witnesses/0001_digits_16_digits_16_violated.txt").starts_with("((X_0 "));
    }
    assert_ended(&repository.gate(&["--allow", "unknown,timeout"]), WRONG, "fail\n");
}

#[test]
fn a_cache_that_is_damaged_or_forged_is_not_believed() {
    let repository = Repository::new(HOLDS);
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    for path in fs::read_dir(repository.path("target/gate/cache")).unwrap().map(|entry| entry.unwrap().path()) {
        fs::write(&path, &fs::read(&path).unwrap()[..99]).unwrap();
    }
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0, "cut files are misses");

    repository.forge(|_, certificate| *certificate.last_mut().unwrap() ^= 1);
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0, "certificates that the judge rejects are misses");

    repository.forge(|line, _| {
        line["record"]["verdict"] = json!("sat");
        line["record"]["report"]["witness"] = json!({ "input": vec![0.5; 64], "output": [], "disjunct": 0 });
    });
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0, "witnesses that are none are misses");

    repository.forge(|line, _| line["key"] = json!("another"));
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0, "entries of other keys are misses");
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_eq!(repository.cached(), 4);
}

/// A proof that was kept without a certificate does not do where one is asked for.
#[test]
fn a_verdict_without_a_certificate_is_no_proof() {
    let repository = Repository::new(&HOLDS.replace("proofs = true\n", ""));
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
    assert_ended(&repository.gate(&["--quiet", "--proofs"]), 0, "pass\n");
    assert_eq!(repository.cached(), 0);
    assert_ended(&repository.gate(&["--quiet", "--proofs"]), 0, "pass\n");
    assert_eq!(repository.cached(), 4);
}

#[test]
fn what_is_open_fails_unless_it_is_allowed_by_name() {
    let gate = |allow: &str| {
        format!(
            "{allow}\n[[network]]\nmodel = 'digits_16.onnx'\nproperties = [{{ file = 'digits_16_robust.vnnlib', timeout = 0 }}]\n"
        )
    };
    let repository = Repository::new(&gate("allow = ['unknown']"));
    assert_ended(&repository.gate(&["--quiet"]), LATE, "fail\n");
    assert!(repository.text("junit.xml").contains("<failure type=\"timeout\" message=\"the time was used up\">"));
    assert_ended(&repository.gate(&["--quiet", "--allow", "timeout"]), 0, "pass\n");
    assert!(repository.text("junit.xml").contains("<skipped message=\"timeout is allowed: the time was used up\"/>"));
    assert!(repository.text("summary.md").contains("## What is allowed"));
    let strict = gate("allow = ['timeout']").replace("timeout = 0", "timeout = 0, allow = []");
    fs::write(repository.path("gate.toml"), strict).unwrap();
    assert_ended(&repository.gate(&["--quiet"]), LATE, "fail\n");
    assert_eq!(fs::read_dir(repository.path("target/gate/cache")).unwrap().count(), 0, "no verdict, nothing to keep");
}

#[test]
fn generated_text_has_to_be_current() {
    let repository = Repository::new(
        "[[network]]\nmodel = 'digits_16.onnx'\ngenerated = ['host', { folder = 'device', embedded = true, \
         domain = 'digits_domain.vnnlib' }]\n",
    );
    let path = |name: &str| repository.path(name).display().to_string();
    let (net, host, device, domain) =
        (path("digits_16.onnx"), path("host"), path("device"), path("digits_domain.vnnlib"));
    assert_ended(&repository.gate(&["--quiet"]), WRONG, "fail\n");
    assert_eq!(run(&[&net, "-o", &host]).status.code(), Some(0));
    assert_eq!(run(&[&net, "-o", &device, "--embedded", "--domain", &domain]).status.code(), Some(0));
    assert_ended(&repository.gate(&[]), 0, "pass\n");
    for (folder, file) in [("host", "src/network.rs"), ("device", "src/certify.rs")] {
        let file = repository.path(folder).join(file);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, text.clone() + "\n").unwrap();
        let output = repository.gate(&[]);
        assert_ended(&output, WRONG, "fail\n");
        assert!(
            stderr(&output).contains(&format!("stale: digits_16.onnx {folder} is current: ")),
            "{}",
            stderr(&output)
        );
        assert!(repository.text("junit.xml").contains("<failure type=\"stale\""));
        fs::write(&file, text).unwrap();
    }
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");

    let gate = fs::read_to_string(repository.path("gate.toml")).unwrap();
    fs::write(repository.path("gate.toml"), format!("runtime = {{ version = '0.1' }}\n{gate}")).unwrap();
    assert_ended(&repository.gate(&["--quiet"]), WRONG, "fail\n");
    assert_eq!(run(&[&net, "-o", &host, "--runtime-version", "0.1"]).status.code(), Some(0));
    assert_ended(&repository.gate(&["--quiet"]), 0, "pass\n");
}

#[test]
fn what_could_not_be_asked_is_an_error_and_the_rest_is_answered() {
    let repository = Repository::new(&format!(
        "{HOLDS}{VIOLATED}[[network]]\nmodel = 'broken.onnx'\nproperties = 'control_bound.vnnlib'\n"
    ));
    fs::write(repository.path("broken.onnx"), "no model").unwrap();
    assert_ended(&repository.gate(&["--quiet"]), BAD_INPUT, "fail\n");
    let junit = repository.text("junit.xml");
    assert!(
        junit.contains("tests=\"6\" failures=\"1\" errors=\"1\" skipped=\"0\"")
            && junit.contains("<error type=\"error\"")
    );
    assert!(repository.text("summary.md").contains("4 of 6 cases passed, 2 failed"));
}

#[test]
fn a_gate_that_is_interrupted_tells_what_is_known() {
    let repository =
        Repository::new(&HOLDS.replace("'control_bound.vnnlib'", "['control_bound.vnnlib', 'endless.vnnlib']"));
    assert!(Command::new("mkfifo").arg(repository.path("endless.vnnlib")).status().unwrap().success());
    let mut command = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
    command.args(["gate", &repository.file()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let gate = command.spawn().unwrap();
    let instances = repository.path("target/gate/results/instances");
    let start = Instant::now();
    while !fs::read_dir(&instances).is_ok_and(|entries| entries.count() == 4) {
        assert!(start.elapsed() < Duration::from_secs(60), "four of five end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args(["-INT", &gate.id().to_string()]).status().unwrap().success());
    assert_ended(&gate.wait_with_output().unwrap(), OPEN, "fail\n");
    let junit = repository.text("junit.xml");
    assert!(
        junit.contains("tests=\"5\" failures=\"0\" errors=\"1\"") && junit.contains("<error type=\"not run\""),
        "{junit}"
    );
    assert!(repository.text("summary.md").contains("4 of 5 cases passed, 1 failed"));
}

#[test]
fn one_network_needs_no_file() {
    let repository = Repository::new("");
    let path = |name: &str| repository.path(name).display().to_string();
    let (net, out) = (shipped("digits_16.onnx"), path("out"));
    let (robust, violated) = (path("digits_16_robust.vnnlib"), path("digits_16_violated.vnnlib"));
    let fixed = ["gate", "--model", &net, "-o", &out, "--quiet", "--timeout", "30"];
    assert_ended(&run(&[&fixed[..], &["--property", &robust]].concat()), 0, "pass\n");
    assert_ended(&run(&[&fixed[..], &["--property", &robust, &violated]].concat()), WRONG, "fail\n");
    assert!(Path::new(&out).join("junit.xml").exists());
}

#[test]
fn a_gate_to_begin_with_is_written_once() {
    let repository = Repository::new("mine");
    let (mine, new) = (repository.file(), repository.path("new.toml").display().to_string());
    assert_refused(&[(&["gate", &mine, "--init"], "is there already; it is not written over")]);
    assert_ended(&run(&["gate", &new, "--init"]), 0, &format!("{new}\n"));
    assert_refused(&[(&["gate", &new], "new.toml, line 16: there is no ")]);
}

#[test]
fn mistakes_are_named_before_anything_is_written() {
    let repository = Repository::new("");
    let file = |name: &str, text: &str| {
        fs::write(repository.path(name), text).unwrap();
        repository.path(name).display().to_string()
    };
    let network = "[[network]]\nmodel = 'digits_16.onnx'\n";
    let nothing = file("nothing.toml", network);
    let stranger = file("stranger.toml", &format!("{network}property = 'p'\n"));
    let missing =
        file("missing.toml", &format!("{network}properties = ['digits_16_robust.vnnlib',\n  'none.vnnlib']\n"));
    let wide = file("wide.toml", &format!("{network}robust = [{{ image = 'digit_3.csv', eps = 'wide' }}]\n"));
    let host = file("host.toml", &format!("{network}generated = {{ folder = 'x', budget = 'flash=1K' }}\n"));
    let float = file(
        "float.toml",
        &format!("proofs = true\nsemantics = 'float32'\n{network}properties = 'digits_domain.vnnlib'\n"),
    );
    let syntax = file("syntax.toml", "timeout = \n");
    assert_refused(&[
        (
            &["gate", "none.toml"],
            "cannot read none.toml: No such file or directory (os error 2); pg-codegen gate --init writes",
        ),
        (&["gate", &nothing], "nothing.toml: it asks nothing"),
        (
            &["gate", &stranger],
            "stranger.toml, line 3: unknown field `property`, expected one of `model`, `properties`",
        ),
        (&["gate", &missing], "missing.toml, line 4: there is no "),
        (&["gate", &wide], "wide.toml, line 3: invalid value 'wide'"),
        (&["gate", &host], "host.toml, line 3: domain, regions, budget and target are for crates with embedded = true"),
        (&["gate", &float], "certificates are about real arithmetic"),
        (&["gate", &syntax], "syntax.toml, line 1: "),
        (&["gate", "--model", "net.onnx"], "--property"),
        (&["gate", &nothing, "--allow", "sat"], "--allow"),
    ]);
    assert!(!repository.path("target").exists());
}

/// What lies where results go and is not of a gate stays.
#[test]
fn nothing_of_others_is_removed() {
    let repository = Repository::new(HOLDS);
    let results = repository.path("target/gate/results");
    fs::create_dir_all(results.join("instances")).unwrap();
    fs::write(results.join("summary.json"), "{\"mine\": 1}").unwrap();
    let output = repository.gate(&["--quiet"]);
    assert_eq!(output.status.code(), Some(BAD_INPUT), "{}", stderr(&output));
    assert_eq!(fs::read_to_string(results.join("summary.json")).unwrap(), "{\"mine\": 1}");
}

#[test]
fn suites_write_for_pipelines_and_keep_verdicts_too() {
    let repository = Repository::new("");
    fs::write(
        repository.path("list.csv"),
        "digits_16.onnx,digits_16_robust.vnnlib,60\ndigits_16.onnx,digits_16_violated.vnnlib,60\ncontrol.onnx,control_bound.vnnlib,0\n",
    )
    .unwrap();
    let path = |name: &str| repository.path(name).display().to_string();
    let suite = |out: &str| {
        run(&[
            &["suite", &path("list.csv"), "-o", &path(out), "--interpret", "--quiet", "--cache", &path("cache")][..],
            &["--junit", &path("junit.xml"), "--summary", &path("summary.md"), "--allow", "timeout"],
        ]
        .concat())
    };
    let output = suite("first");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let junit = fs::read_to_string(repository.path("junit.xml")).unwrap();
    assert!(
        junit.contains("<testsuites name=\"list\" tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""),
        "{junit}"
    );
    assert!(fs::read_to_string(repository.path("summary.md")).unwrap().starts_with("# list: fail\n"));
    let output = suite("second");
    assert!(stdout(&output).contains("\n2 of them from the cache\n"), "{}", stdout(&output));
    let verdicts = |out: &str| {
        let text = fs::read_to_string(repository.path(out).join("results.csv")).unwrap();
        text.lines().map(|line| line.split(',').nth(4).unwrap().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(verdicts("first"), ["unsat", "sat", "timeout"]);
    assert_eq!(verdicts("second"), verdicts("first"));
}
