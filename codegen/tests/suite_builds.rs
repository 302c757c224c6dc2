//! `suite` with verifiers that are built: beside what runs, and ended with it. Cargo and the verifiers are scripts that say
//! what is wanted and keep what they did in a log.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Notes that a build begins, waits for the file `go` or for the one that lets only this network pass, and names a verifier,
/// which tells of its model as a real one does, notes that it was asked and answers `unsat`.
const CARGO: &str = r#"#!/bin/sh
while [ "$1" != --manifest-path ]; do shift; done
manifest=$2
crate=$(dirname "$manifest")
network=$(basename "$crate" | sed 's/^verifier_//; s/_[0-9a-f]*$//')
echo "build $network $*" | sed 's/--manifest-path .* --target-dir [^ ]* *//' >>"$LOG/log"
while [ ! -e "$LOG/go" ] && [ ! -e "$LOG/$network" ]; do sleep 0.01; done
if [ -e "$LOG/broken" ]; then echo "the disk is full" >&2; exit 101; fi
cat >"$LOG/built_$network" <<END
#!/bin/sh
if [ "\$1" = info ]; then grep sha256 "$manifest"; exit; fi
echo "run $network" >>"$LOG/log"
while [ \$# -gt 0 ]; do if [ "\$1" = --json ]; then echo '{"verdict": "unsat"}' >"\$2"; fi; shift; done
END
chmod +x "$LOG/built_$network"
echo "built $network" >>"$LOG/log"
echo "{\"executable\": \"$LOG/built_$network\"}"
"#;

/// A folder with cargo's stand-in, a list of three instances of two networks, and a runtime whose cache is in the folder too.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Bench {
        let bench = Bench { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(bench.path("bin")).unwrap();
        fs::create_dir_all(bench.path("runtime")).unwrap();
        fs::write(bench.path("runtime/Cargo.toml"), "").unwrap();
        fs::write(bench.path("bin/cargo"), CARGO).unwrap();
        assert!(Command::new("chmod").arg("+x").arg(bench.path("bin/cargo")).status().unwrap().success());
        let line = |network, property| {
            let path = |name: &str| format!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/networks/{}"), name);
            format!("{},{},60\n", path(network), path(property))
        };
        let digits = line("digits_16.onnx", "digits_16_robust.vnnlib");
        fs::write(bench.path("list.csv"), line("control.onnx", "control_bound.vnnlib") + &digits + &digits).unwrap();
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn allow(&self, what: &str) {
        fs::write(self.path(what), "").unwrap();
    }

    fn start(&self, more: &[&str]) -> Child {
        let paths = std::env::var("PATH").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
        command.env("PATH", format!("{}:{paths}", self.path("bin").display())).env("LOG", self.dir.path());
        command.arg("suite").arg(self.path("list.csv")).arg("-o").arg(self.path("out")).arg("--runtime-path");
        command.arg(self.path("runtime")).args(["--threads", "1"]).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    fn log(&self) -> Vec<String> {
        fs::read_to_string(self.path("log")).unwrap_or_default().lines().map(|line| line.trim().into()).collect()
    }

    fn wait_for(&self, line: &str) {
        let start = Instant::now();
        while !self.log().iter().any(|said| said.starts_with(line)) {
            assert!(start.elapsed() < Duration::from_secs(30), "no '{line}' in {:?}", self.log());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn free_cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from) - 1
}

#[test]
fn what_is_built_runs_while_others_are_built() {
    let bench = Bench::new();
    let suite = bench.start(&[]);
    bench.wait_for("build control");
    bench.allow("control");
    if free_cores() > 0 {
        bench.wait_for("run control");
        bench.wait_for(&format!("build digits_16 --quiet --jobs {}", free_cores()));
    }
    bench.allow("go");
    let output = suite.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(bench.log().iter().filter(|line| line.starts_with("build ")).count(), 2, "each once");
    assert_eq!(bench.log().iter().filter(|line| line.starts_with("run digits")).count(), 2);
    assert!(stderr(&output).contains("building 1 of 2: control.onnx\n"), "{}", stderr(&output));
    assert!(stderr(&output).contains("building 2 of 2: digits_16.onnx\n"), "{}", stderr(&output));
    let results = fs::read_to_string(bench.path("out/results.csv")).unwrap();
    assert!(results.lines().all(|line| line.contains(",unsat,")) && results.lines().count() == 3, "{results}");
}

/// As many jobs as there are cores leave none for a build.
#[test]
fn without_a_free_core_all_is_built_before() {
    let bench = Bench::new();
    bench.allow("go");
    let output = bench.start(&["--jobs", &(free_cores() + 1).to_string()]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let log = bench.log();
    let first_run = log.iter().position(|line| line.starts_with("run ")).unwrap();
    assert!(log[..first_run].contains(&"built digits_16".to_string()), "{log:?}");
}

/// What was built before is run without cargo, and its time is in the table; what is gone since is built again.
#[test]
fn parts_run_what_was_built_before() {
    let bench = Bench::new();
    bench.allow("go");
    let built = bench.start(&["--build-only"]).wait_with_output().unwrap();
    assert_eq!(built.status.code(), Some(0), "{}", stderr(&built));
    let places = String::from_utf8(built.stdout).unwrap();
    let places: Vec<(&str, &str)> = places.lines().map(|line| line.split_once('\t').unwrap()).collect();
    assert!(
        places.iter().all(|(network, binary)| network.ends_with(".onnx") && Path::new(binary).is_file()),
        "{places:?}"
    );
    assert_eq!(places.len(), 2, "each network once");
    assert!(!bench.path("out/instances").exists() && !bench.path("out/summary.json").exists());
    bench.allow("broken");
    for part in ["1/2", "2/2"] {
        let output = bench.start(&["--part", part]).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    }
    assert_eq!(bench.log().iter().filter(|line| line.starts_with("build ")).count(), 2, "no part asked cargo");
    let collected = bench.start(&["--collect"]).wait_with_output().unwrap();
    assert_eq!(collected.status.code(), Some(0), "{}", stderr(&collected));
    let results = fs::read_to_string(bench.path("out/results.csv")).unwrap();
    let prepared: Vec<bool> = results.lines().map(|line| line.split(',').nth(3) != Some("0.0000")).collect();
    assert_eq!(prepared, [true, true, false], "{results}");

    fs::remove_file(places[0].1).unwrap();
    let output = bench.start(&["--part", "2/2"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "its network is the other one: {}", stderr(&output));
    let output = bench.start(&["--part", "1/2"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("the disk is full"), "{}", stderr(&output));
}

/// Of processes that need the same verifier one may find what another has begun to write.
#[test]
fn a_crate_that_is_being_written_is_no_obstacle() {
    let bench = Bench::new();
    bench.allow("go");
    assert_eq!(bench.start(&["--build-only"]).wait().unwrap().code(), Some(0));
    for entry in fs::read_dir(bench.path("target/verifiers")).unwrap() {
        fs::remove_file(entry.unwrap().path().join("Cargo.toml")).unwrap();
    }
    let again = bench.start(&["--build-only"]).wait_with_output().unwrap();
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
}

#[test]
fn a_model_without_a_verifier_is_told_when_all_are_built() {
    let bench = Bench::new();
    bench.allow("go");
    fs::write(bench.path("broken.onnx"), "no model").unwrap();
    fs::write(bench.path("p.vnnlib"), "").unwrap();
    let list = fs::read_to_string(bench.path("list.csv")).unwrap();
    fs::write(bench.path("list.csv"), format!("broken.onnx,p.vnnlib,60\n{list}")).unwrap();
    let built = bench.start(&["--build-only"]).wait_with_output().unwrap();
    assert_eq!(built.status.code(), Some(4), "{}", stderr(&built));
    assert!(stderr(&built).contains("error: ") && stderr(&built).contains("broken.onnx"), "{}", stderr(&built));
    assert_eq!(String::from_utf8(built.stdout).unwrap().lines().count(), 2, "the others are built");
}

#[test]
fn an_interrupt_ends_a_build() {
    for (built_first, more) in [(false, &[][..]), (true, &[]), (false, &["--build-only"])] {
        let bench = Bench::new();
        let suite = bench.start(more);
        if built_first {
            bench.allow("control");
            bench.wait_for("build digits_16");
        } else {
            bench.wait_for("build control");
        }
        let start = Instant::now();
        assert!(Command::new("kill").args(["-INT", &suite.id().to_string()]).status().unwrap().success());
        let output = suite.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(start.elapsed() < Duration::from_secs(10), "the build was not waited for");
        assert!(stderr(&output).contains("interrupted"), "{}", stderr(&output));
        bench.allow("go");
        let output = bench.start(&["--resume"]).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(bench.path("out/results.csv")).unwrap().lines().count(), 3);
    }
}

#[test]
fn a_build_that_fails_ends_the_suite_with_its_words() {
    let bench = Bench::new();
    let suite = bench.start(&[]);
    bench.allow("control");
    bench.wait_for("build digits_16");
    bench.allow("broken");
    bench.allow("go");
    let output = suite.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", stderr(&output));
    assert!(stderr(&output).contains("the disk is full"), "{}", stderr(&output));
}
