//! `templates/ci/gate.sh` as runners call it, with the files that a runner names; and the files for runners, as far as they can
//! be read here. What a machine lacks is said and skipped.

mod common;

use common::{BAD_INPUT, assert_refused, networks, run, shipped, stderr, stdout};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Told past the harness, which keeps to itself what a test that passes prints.
fn skip(what: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// A name that breaks what does not take care: markup of XML and Markdown, quotes, a control character, a letter beyond ASCII.
const HOSTILE: &str = "a|<b>&'_*é\u{1}.vnnlib";

/// A user's repository, and the files that a runner hands to a step.
struct Runner {
    dir: TempDir,
}

impl Runner {
    fn new(property: &str) -> Runner {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| dir.path().join(name);
        fs::create_dir(file("repository")).unwrap();
        for name in ["digits_16.onnx", property] {
            fs::copy(networks().join(name), file("repository").join(name)).unwrap();
        }
        fs::copy(networks().join(property), file("repository").join(HOSTILE)).unwrap();
        let hostile = "a|<b>&'_*é\\u0001.vnnlib";
        let gate = format!("[[network]]\nmodel = \"digits_16.onnx\"\nproperties = [\"{property}\", \"{hostile}\"]\n");
        fs::write(file("repository/gate.toml"), gate).unwrap();
        Runner { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn script(&self, arguments: &[&str], settings: &[(&str, &str)]) -> Output {
        let built = Path::new(env!("CARGO_BIN_EXE_pg-codegen")).parent().unwrap();
        let path = format!("{}:{}", built.display(), std::env::var("PATH").unwrap());
        let mut bash = Command::new("bash");
        bash.arg(root().join("templates/ci/gate.sh")).args(arguments).current_dir(self.path("repository"));
        bash.env("PATH", path).env("GITHUB_OUTPUT", self.path("output")).env("RUNNER_OS", "Linux");
        bash.env("GITHUB_STEP_SUMMARY", self.path("summary")).envs(settings.iter().copied());
        bash.output().unwrap()
    }

    fn outputs(&self) -> Vec<(String, String)> {
        let text = fs::read_to_string(self.path("output")).unwrap();
        text.lines().map(|line| line.split_once('=').map(|(k, v)| (k.into(), v.into())).unwrap()).collect()
    }

    fn output(&self, name: &str) -> String {
        let all = self.outputs();
        all.iter().rev().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} in {all:?}")).1.clone()
    }

    fn summary(&self) -> String {
        fs::read_to_string(self.path("summary")).unwrap()
    }
}

#[test]
fn a_gate_that_passes_tells_the_runner() {
    let runner = Runner::new("digits_16_robust.vnnlib");
    let output = runner.script(&[], &[("PG_PROOFS", "true"), ("PG_JOBS", "2")]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "pass\n"), "{}", stderr(&output));
    assert_eq!(runner.output("verdict"), "pass");
    assert!(runner.path("repository").join(runner.output("report")).exists());
    assert!(runner.summary().starts_with("# gate: pass\n"));
    assert_cases(&runner.path("repository").join(runner.output("junit")), [2, 0, 0, 0]);
}

#[test]
fn a_wrong_property_fails_the_step() {
    let runner = Runner::new("digits_16_violated.vnnlib");
    let output = runner.script(&[], &[("PG_ALLOW", "unknown,timeout")]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), "fail\n"), "{}", stderr(&output));
    assert_eq!(runner.output("verdict"), "fail");
    assert!(runner.summary().contains("**sat**: digits_16.onnx: digits_16_violated.vnnlib: "));
    assert_cases(&runner.path("repository").join(runner.output("junit")), [2, 2, 0, 0]);
}

#[test]
fn one_network_is_asked_without_a_file() {
    let runner = Runner::new("digits_16_robust.vnnlib");
    fs::remove_file(runner.path("repository/gate.toml")).unwrap();
    let properties = format!("digits_16_robust.vnnlib\n\n{HOSTILE}\n");
    let settings = [("PG_MODEL", "digits_16.onnx"), ("PG_PROPERTIES", properties.as_str()), ("PG_TIMEOUT", "30")];
    let output = runner.script(&[], &settings);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(0), "pass\n"), "{}", stderr(&output));
    assert_cases(&runner.path("repository").join(runner.output("junit")), [2, 0, 0, 0]);
}

#[test]
fn without_a_runner_there_is_the_exit_code() {
    let runner = Runner::new("digits_16_violated.vnnlib");
    let output = runner.script(&[], &[("GITHUB_OUTPUT", ""), ("GITHUB_STEP_SUMMARY", "")]);
    assert_eq!((output.status.code(), stdout(&output).as_str()), (Some(1), "fail\n"), "{}", stderr(&output));
    assert!(!runner.path("output").exists() && !runner.path("summary").exists());
}

#[test]
fn mistakes_are_no_verdict() {
    let runner = Runner::new("digits_16_robust.vnnlib");
    let refused = |settings: &[(&str, &str)], what: &str| {
        let output = runner.script(&[], settings);
        assert_eq!(output.status.code(), Some(BAD_INPUT), "{settings:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(what), "{settings:?}: {}", stderr(&output));
    };
    refused(&[("PG_GATE", "none.toml")], "cannot read none.toml");
    assert_eq!(runner.output("verdict"), "error");
    refused(&[("PG_VERSION", "99.0.0")], "version 99.0.0 was asked for");
    refused(&[("PG_PROOFS", "yes")], "PG_PROOFS is yes");
    refused(&[("PG_CODEGEN", "/nowhere/pg-codegen")], "which cannot be run");
    assert_eq!(runner.script(&["keys"], &[]).status.code(), Some(BAD_INPUT));
}

#[test]
fn the_key_of_a_cache_follows_the_content() {
    let runner = Runner::new("digits_16_robust.vnnlib");
    let git = |arguments: &[&str]| {
        let done = Command::new("git").args(arguments).current_dir(runner.path("repository")).output().unwrap();
        assert!(done.status.success(), "{}", stderr(&done));
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    let key = || {
        let output = runner.script(&["key"], &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).trim().to_string()
    };
    let first = key();
    assert!(first.starts_with(concat!("pg-", env!("CARGO_PKG_VERSION"), "-")) && first.contains("-Linux-"), "{first}");
    assert!(first.starts_with(&runner.output("prefix")) && runner.output("key") == first);
    assert_eq!(runner.output("verdicts"), "target/gate/cache");
    assert_eq!(key(), first);
    fs::copy(networks().join("digits_16_violated.vnnlib"), runner.path("repository/digits_16_robust.vnnlib")).unwrap();
    git(&["add", "--all"]);
    let second = key();
    assert!(second != first && second.starts_with(&runner.output("prefix")), "{first} {second}");
}

/// The hook's entry, with the arguments that a user gives it.
#[test]
fn the_hook_compares_generated_text() {
    let dir = tempfile::tempdir().unwrap();
    let (net, out) = (shipped("control.onnx"), dir.path().display().to_string());
    let hooks = fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: pg-codegen ")).unwrap();
    assert_eq!(run(&[&net, "-o", &out]).status.code(), Some(0));
    let hook = || run(&[entry, &net, "-o", &out]).status.code();
    assert_eq!(hook(), Some(0));
    fs::write(dir.path().join("src/lib.rs"), "").unwrap();
    assert_eq!(hook(), Some(1));
    assert_refused(&[(&[entry, &net], "--output")]);
}

#[test]
fn the_script_is_clean() {
    match Command::new("shellcheck").arg(root().join("templates/ci/gate.sh")).output() {
        Ok(checked) => assert!(checked.status.success(), "{}", stdout(&checked)),
        Err(_) => skip("there is no shellcheck"),
    }
}

#[test]
fn files_for_runners_are_yaml_and_name_what_is_there() {
    let program = "import sys, yaml\nfor f in sys.argv[1:]: yaml.safe_load(open(f))";
    let files = ["action.yml", "templates/ci/gitlab.yml", ".pre-commit-hooks.yaml"].map(|file| root().join(file));
    if Command::new("python3").args(["-c", "import yaml"]).output().is_ok_and(|done| done.status.success()) {
        let read = Command::new("python3").args(["-c", program]).args(&files).output().unwrap();
        assert!(read.status.success(), "{}", stderr(&read));
    } else {
        skip("python3 cannot read YAML here");
    }
    let script = fs::read_to_string(root().join("templates/ci/gate.sh")).unwrap();
    for file in &files[..2] {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.contains("templates/ci/gate.sh"), "{}", file.display());
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        for setting in words.filter(|word| word.starts_with("PG_") && !["PG_REPOSITORY", "PG_REF"].contains(word)) {
            assert!(
                script.contains(&format!("{setting}:-")),
                "{setting} of {} means nothing to the script",
                file.display()
            );
        }
    }
}

/// How many tests, failures, errors and skipped ones another parser finds: `junitparser` where it can be had, else Python's own.
fn assert_cases(junit: &Path, expected: [usize; 4]) {
    let (python, program) = match junitparser() {
        Some(python) => (python.as_path(), JUNITPARSER),
        None => (Path::new("python3"), OWN_PARSER),
    };
    let Ok(read) = Command::new(python).args(["-c", program]).arg(junit).output() else {
        return skip("there is no python3");
    };
    assert!(read.status.success(), "{}", stderr(&read));
    let expected = expected.map(|count| count.to_string()).join(" ");
    let told = stdout(&read);
    assert_eq!(told.lines().next(), Some(expected.as_str()), "{told}");
    assert!(told.lines().any(|name| name == "a|<b>&'_*é.vnnlib"), "{told}");
}

/// The Python that has `junitparser`, in an environment of these tests, if it can be had.
fn junitparser() -> Option<&'static PathBuf> {
    static PYTHON: OnceLock<Option<PathBuf>> = OnceLock::new();
    let make = || {
        let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("junitparser");
        let python = venv.join("bin/python");
        let succeeds = |command: &mut Command| command.output().is_ok_and(|done| done.status.success());
        let install = ["-m", "pip", "install", "-q", "--retries", "0", "--timeout", "10", "junitparser"];
        let is_there = succeeds(Command::new(&python).args(["-c", "import junitparser"]))
            || (succeeds(Command::new("python3").args(["-m", "venv"]).arg(&venv))
                && succeeds(Command::new(&python).args(install)));
        if !is_there {
            skip("junitparser cannot be had; Python's own parser reads the file");
        }
        is_there.then_some(python)
    };
    PYTHON.get_or_init(make).as_ref()
}

const JUNITPARSER: &str = "\
import sys
from junitparser import JUnitXml, Failure, Error, Skipped
cases = [case for suite in JUnitXml.fromfile(sys.argv[1]) for case in suite]
count = lambda kind: sum(any(isinstance(r, kind) for r in case.result) for case in cases)
print(len(cases), count(Failure), count(Error), count(Skipped))
print(*[case.name for case in cases], sep='\\n')";

const OWN_PARSER: &str = "\
import sys
import xml.etree.ElementTree as tree
cases = list(tree.parse(sys.argv[1]).getroot().iter('testcase'))
count = lambda kind: sum(case.find(kind) is not None for case in cases)
print(len(cases), count('failure'), count('error'), count('skipped'))
print(*[case.get('name') for case in cases], sep='\\n')";
