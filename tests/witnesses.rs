//! Suites with built verifiers, and an independent look at every counterexample: the network is run by tract, and the
//! input has to lie in the property's region exactly.

#[path = "tract.rs"]
mod tract;

use clap::Parser;
use pg_codegen::suite::{self, Record, SuiteArgs, Word};
use pg_runtime::property::{Decimal, Property, Violation, read_image};
use pg_tests::{bench, root};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: SuiteArgs,
}

/// Runs a list; its results go to a folder that is returned.
fn run(list: &Path, out: &Path, more: &[&str]) -> u8 {
    let (list, out) = (list.display().to_string(), out.display().to_string());
    let line = [&["suite", &list, "-o", &out, "--quiet"], more].concat();
    suite::run(&Line::try_parse_from(line).unwrap().args).unwrap()
}

/// A file that a list names, which may be compressed.
fn present(list: &Path, name: &str) -> PathBuf {
    let plain = list.parent().unwrap().join(name);
    if plain.exists() { plain } else { PathBuf::from(format!("{}.gz", plain.display())) }
}

fn bytes(path: &Path) -> Vec<u8> {
    let raw = fs::read(path).unwrap();
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return raw;
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(File::open(path).unwrap()).read_to_end(&mut unpacked).unwrap();
    unpacked
}

/// What was asked, read again from its file.
fn property(list: &Path, record: &Record) -> Property {
    let Some(eps) = &record.eps else { return Property::read(&present(list, &record.property)).unwrap() };
    let robustness = &record.report.as_ref().unwrap()["property"]["robustness"];
    let decimal = |text: &serde_json::Value| text.as_str().unwrap().parse::<Decimal>().unwrap();
    let image =
        read_image(&present(list, record.property.split(" eps ").next().unwrap()), &decimal(&robustness["scale"]));
    let clip = robustness["clip"].as_array().map(|ends| (decimal(&ends[0]), decimal(&ends[1])));
    let label = robustness["label"].as_u64().unwrap() as usize;
    let outputs = record.report.as_ref().unwrap()["witness"]["output"].as_array().unwrap().len();
    Property::robust(&image.unwrap(), &eps.parse().unwrap(), clip, label, outputs).unwrap()
}

/// The inputs of a witness file.
fn inputs(text: &str) -> Vec<f32> {
    let parts = text.split(['(', ')']).filter_map(|part| part.trim().strip_prefix("X_")?.split_once(' '));
    parts.map(|(_, number)| number.parse::<f32>().unwrap()).collect()
}

/// Replays the witness of every sat row through tract; how many there were.
fn replay(list: &Path, out: &Path) -> usize {
    let (_, records) = suite::read_folder(out).unwrap();
    let violated = records.iter().filter(|record| record.verdict == Word::Sat);
    let mut files: Vec<PathBuf> =
        fs::read_dir(out.join("witnesses")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert_eq!(files.len(), violated.clone().count(), "a witness for each");
    for (record, file) in violated.zip(&files) {
        let x = inputs(&fs::read_to_string(file).unwrap());
        let model = bytes(&present(list, &record.network));
        let shape = tract::input_shape(&model).unwrap();
        let y: Vec<f64> = tract::run(&model, &shape, &x).unwrap().1.iter().map(|&v| f64::from(v)).collect();
        let violates = property(list, record)
            .disjuncts
            .iter()
            .any(|disjunct| disjunct.contains_input(&x) && disjunct.violated_at(&x, &y, &y) == Violation::Certain);
        assert!(violates, "{}: tract's outputs are {y:?}", file.display());
    }
    files.len()
}

#[test]
fn built_verifiers_decide_the_shipped_lists() {
    let dir = tempfile::tempdir().unwrap();
    let lists = root().join("tests/suites");
    let expected = lists.join("shipped_expected.csv").display().to_string();
    let (list, out) = (lists.join("shipped.csv"), dir.path().join("properties"));
    assert_eq!(run(&list, &out, &["--expected", &expected, "--jobs", "2"]), 0);
    assert_eq!(replay(&list, &out), 1);
    let (_, records) = suite::read_folder(&out).unwrap();
    let built: Vec<bool> = records.iter().map(|record| record.prepare_seconds > 0.0).collect();
    assert_eq!(built, [true, false, true], "each network is built once");
    let overhead = records.iter().filter_map(Record::overhead).fold(0.0, f64::max);
    assert!(overhead < 0.5, "{overhead} s beyond the verifier's own time");

    let (list, out) = (lists.join("shipped_images.csv"), dir.path().join("images"));
    assert_eq!(run(&list, &out, &[]), 0);
    assert!(replay(&list, &out) >= 1);
}

/// The smoke tests of the competition, where they are at hand.
#[test]
#[ignore = "builds five verifiers"]
fn the_competitions_smoke_tests() {
    let Some(bench) = bench() else { return };
    let (dir, list) = (tempfile::tempdir().unwrap(), bench.join("test/instances.csv"));
    assert_eq!(run(&list, &dir.path().join("out"), &[]), 0);
    assert_eq!(replay(&list, &dir.path().join("out")), 1);
}

/// Results that were made elsewhere: every folder of `target/suites`, whose summary names its list from the repository.
#[test]
#[ignore = "looks at results that other commands made"]
fn witnesses_in_target_suites() {
    let folders = fs::read_dir(root().join("target/suites")).into_iter().flatten().flatten().map(|entry| entry.path());
    for folder in folders.filter(|folder| folder.join("summary.json").exists()) {
        let (summary, _) = suite::read_folder(&folder).unwrap();
        let count = replay(&root().join(summary["list"].as_str().unwrap()), &folder);
        eprintln!("{}: {count} witnesses accepted", folder.display());
    }
}
