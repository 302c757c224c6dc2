//! A list that many processes run into one folder: parts at the same time, again, ended in the middle, and the table of them.

use super::common::{BAD_INPUT, assert_refused, run, shipped, stderr, stdout};
use super::{Bench, INTERRUPTED, THREE, signal, wait};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

/// Twelve rows of two networks and three properties.
fn twelve() -> Bench {
    Bench::new(&THREE.repeat(4))
}

/// Runs these parts at the same time, and waits for all.
fn run_parts(bench: &Bench, out: &str, parts: &[&str], more: &[&str]) -> Vec<Output> {
    let started: Vec<_> = parts.iter().map(|part| bench.start_with(out, &[&["--part", part], more].concat())).collect();
    started.into_iter().map(|child| child.wait_with_output().unwrap()).collect()
}

fn assert_all(outputs: &[Output]) {
    assert!(
        outputs.iter().all(|output| output.status.code() == Some(0)),
        "{}",
        outputs.iter().map(stderr).collect::<String>()
    );
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn parts_that_start_at_once_make_one_table() {
    let bench = twelve();
    let parts = ["1/5", "2/5", "3/5", "4/5"];
    let outputs = run_parts(&bench, "out", &parts, &["--quiet"]);
    assert_all(&outputs);
    assert!(stdout(&outputs[0]).starts_with("3 of 3 instances in "), "{}", stdout(&outputs[0]));
    assert!(stdout(&outputs[3]).starts_with("2 of 2 instances in "), "{}", stdout(&outputs[3]));
    assert_eq!(names(&bench.path("out")), ["instances", "settings.json", "witnesses"], "no part writes a table");
    assert_eq!(names(&bench.path("out/instances")).len(), 10);

    let missing = bench.suite("out", &["--collect"]);
    assert_eq!(missing.status.code(), Some(INTERRUPTED), "{}", stderr(&missing));
    let told = "missing: row 5, control.onnx control_bound.vnnlib\nmissing: row 10, digits_16.onnx digits_16_violated.vnnlib\n\
                2 of 12 rows are missing; run their parts again with --resume\n";
    assert_eq!(stderr(&missing), told);
    assert_eq!(bench.results("out").len(), 10);

    assert_all(&run_parts(&bench, "out", &["5/5"], &["--resume"]));
    let collected = bench.suite("out", &["--collect"]);
    assert_eq!((collected.status.code(), stderr(&collected).as_str()), (Some(0), ""));
    assert!(stdout(&collected).starts_with("12 of 12 instances in "), "{}", stdout(&collected));
    assert_eq!(bench.suite("whole", &["--quiet"]).status.code(), Some(0));
    assert_eq!(bench.verdicts("out"), bench.verdicts("whole"));
    assert_eq!(names(&bench.path("out/witnesses")), names(&bench.path("whole/witnesses")));
    assert_eq!(names(&bench.path("out")), names(&bench.path("whole")));
}

#[test]
fn a_part_that_runs_twice_leaves_the_same() {
    let bench = twelve();
    assert_all(&run_parts(&bench, "out", &["1/2", "1/2", "2/2", "1/2"], &["--quiet"]));
    assert_eq!(bench.suite("out", &["--collect"]).status.code(), Some(0));
    let before: Vec<Value> = (1..=12).map(|number| bench.record("out", number)).collect();
    let records = || (1..=12).map(|number| bench.record("out", number)).collect::<Vec<Value>>();
    assert_all(&run_parts(&bench, "out", &["1/2"], &["--resume"]));
    assert_eq!(records(), before, "--resume leaves what is there");
    assert_all(&run_parts(&bench, "out", &["1/2"], &[]));
    let again = records();
    assert!(
        (0..12).all(|k| (again[k]["seconds"] != before[k]["seconds"]) == (k % 2 == 0)),
        "without, its rows are new"
    );
    assert!(!bench.path("out/running").exists());
    assert!(names(&bench.path("out/instances")).iter().all(|name| name.ends_with(".json")));
}

#[test]
fn more_parts_than_rows_are_no_mistake() {
    let bench = Bench::new(THREE);
    let outputs = run_parts(&bench, "out", &["4/4"], &[]);
    assert_all(&outputs);
    assert!(stdout(&outputs[0]).starts_with("0 of 0 instances in "), "{}", stdout(&outputs[0]));
    assert_eq!(bench.suite("out", &["--collect"]).status.code(), Some(INTERRUPTED));
}

#[test]
fn results_of_another_list_or_of_other_options_are_not_mixed_in() {
    let bench = Bench::new(THREE);
    assert_all(&run_parts(&bench, "out", &["1/3"], &["--quiet"]));
    let refused = |more: &[&str], told: &str| {
        let output = bench.suite("out", more);
        assert_eq!(output.status.code(), Some(BAD_INPUT), "{more:?}");
        assert!(stderr(&output).contains(told), "{more:?}: {}", stderr(&output));
    };
    for mode in [&["--collect"][..], &["--part", "2/3"], &["--part", "2/3", "--resume"]] {
        refused(&[mode, &["--seed", "7"]].concat(), "was begun with other settings: seed was 0, now it is 7");
        refused(&[mode, &["--threads", "1"]].concat(), "threads was null, now it is 1");
    }
    fs::write(bench.path("list.csv"), THREE.repeat(2)).unwrap();
    for mode in [&["--collect"][..], &["--part", "2/3"]] {
        refused(mode, "was begun with other settings: list_sha256 was ");
    }
    assert_eq!(names(&bench.path("out/instances")).len(), 1);
    assert!(!bench.path("out/results.csv").exists());
    fs::write(bench.path("list.csv"), THREE).unwrap();
    assert_eq!(bench.suite("out", &[]).status.code(), Some(BAD_INPUT), "a whole suite takes no results for new");
    assert_eq!(bench.suite("out", &["--resume"]).status.code(), Some(0), "but goes on where parts have been");
    assert_eq!(bench.results("out").len(), 3);
}

/// A scheduler ends a part: by SIGTERM to the suite, or to all its processes at once, verifiers first; or it kills it.
#[test]
fn a_part_that_is_ended_loses_only_what_ran() {
    for (to_child, name) in [(None, "TERM"), (Some("KILL"), "TERM"), (Some("KILL"), "KILL")] {
        let bench = Bench::new(&(THREE.to_string() + "control.onnx,late.vnnlib,60\n" + THREE));
        bench.endless("late.vnnlib");
        let part = bench.start_with("out", &["--part", "1/1"]);
        wait(|| (fs::read_dir(bench.path("out/instances")).ok()?.count() == 3).then_some(()));
        let child = bench.wait_for_child(&part);
        if let Some(name) = to_child {
            signal(name, child);
            std::thread::sleep(Duration::from_millis(200));
        }
        signal(name, part.id());
        let output = part.wait_with_output().unwrap();
        let code = (name == "TERM").then_some(INTERRUPTED);
        assert_eq!(output.status.code(), code, "{}", stderr(&output));
        assert!(!Path::new(&format!("/proc/{child}")).exists(), "the process was stopped");
        assert_eq!(names(&bench.path("out/instances")).len(), 3, "{name}: what was ended from outside has no verdict");
        let collected = bench.suite("out", &["--collect"]);
        assert_eq!(collected.status.code(), Some(INTERRUPTED));
        assert!(stderr(&collected).contains("missing: row 4, control.onnx late.vnnlib\n"), "{}", stderr(&collected));

        fs::remove_file(bench.path("late.vnnlib")).unwrap();
        fs::copy(bench.path("control_bound.vnnlib"), bench.path("late.vnnlib")).unwrap();
        assert_all(&run_parts(&bench, "out", &["1/1"], &["--resume"]));
        assert_eq!(bench.suite("out", &["--collect"]).status.code(), Some(0));
        let words: Vec<String> = bench.verdicts("out").into_iter().map(|row| row[3].clone()).collect();
        assert_eq!(words, ["sat", "unsat", "unsat", "unsat", "sat", "unsat", "unsat"]);
    }
}

#[test]
fn parts_leave_certificates_that_collect_asks_for() {
    let bench = Bench::new(THREE);
    let proofs = bench.argument("proofs");
    assert_all(&run_parts(&bench, "out", &["1/2", "2/2"], &["--proofs", &proofs]));
    let collected = bench.suite("out", &["--collect", "--proofs", &proofs]);
    assert_eq!(collected.status.code(), Some(0), "{}", stderr(&collected));
    assert!(
        stdout(&collected).contains("certificates: 2 accepted, 0 rejected, 0 unusable; "),
        "{}",
        stdout(&collected)
    );
    fs::remove_file(bench.path("proofs/0002_control_control_bound.pgc")).unwrap();
    let collected = bench.suite("out", &["--collect", "--proofs", &proofs]);
    assert_eq!(collected.status.code(), Some(INTERRUPTED));
    assert!(stderr(&collected).starts_with("missing: row 2, "), "{}", stderr(&collected));
}

#[test]
fn the_table_is_compared_with_what_is_expected() {
    let bench = Bench::new(THREE);
    fs::write(bench.path("wrong.csv"), "network,property,verdict\ndigits_16.onnx,digits_16_robust.vnnlib,sat\n")
        .unwrap();
    let wrong = ["--expected", &bench.argument("wrong.csv")];
    let codes: Vec<_> =
        run_parts(&bench, "out", &["1/3", "2/3", "3/3"], &wrong).iter().map(|output| output.status.code()).collect();
    assert_eq!(codes, [Some(0), Some(0), Some(1)], "each for its own rows");
    let collected = bench.suite("out", &[&["--collect"][..], &wrong].concat());
    assert_eq!(collected.status.code(), Some(1), "{}", stderr(&collected));
    assert!(stdout(&collected).contains("DISAGREES: digits_16.onnx digits_16_robust.vnnlib"), "{}", stdout(&collected));
}

#[test]
fn mistakes_with_parts_are_named() {
    let bench = Bench::new(THREE);
    let (list, out) = (bench.argument("list.csv"), bench.argument("out"));
    let full = shipped("");
    assert_refused(&[
        (&["suite", &list, "-o", &out, "--part", "0/4"], "there is no part 0: the first is 1/4, the last 4/4"),
        (&["suite", &list, "-o", &out, "--part", "5/4"], "there is no part 5"),
        (&["suite", &list, "-o", &out, "--part", "a/b"], "such as 3/20"),
        (&["suite", &list, "-o", &out, "--part", "1/2", "--collect"], "cannot be used with"),
        (&["suite", &list, "-o", &out, "--build-only", "--interpret"], "cannot be used with"),
        (&["suite", &list, "-o", &out, "--collect"], "out holds no results of a suite"),
        (&["suite", &list, "-o", &full, "--collect"], "holds no results of a suite"),
        (&["suite", &list, "-o", &full, "--part", "1/2"], "is not empty and holds no results of a suite"),
    ]);
    assert!(!bench.path("out").exists(), "nothing is written after a mistake");
    let whole = run(&["suite", &list, "-o", &out, "--interpret", "--quiet"]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
}
