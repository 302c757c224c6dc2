//! Questions that are split into parts, solved one by one and merged: the verdict is that of one process, the certificate is accepted,
//! and what is missing, given twice, foreign or damaged is not.

mod refused;

use pg_check::{Question, Slice};
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_property::files;
use pg_runtime::certificate::Heading;
use pg_runtime::options::{Engine, Options, Semantics};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search::{Asked, Outcome, verify};
use pg_runtime::split::gather::OpenPart;
use pg_runtime::split::{About, Folder, work};
use pg_runtime::tuning::Tuning;
use pg_runtime::verdict::{StopReason, Verdict};
use pg_tests::dense::question;
use pg_tests::model::compile_bytes;
use std::path::{Path, PathBuf};

/// A question, and the folder that it is split into.
pub struct Case {
    model: Vec<u8>,
    text: String,
    property: Property,
    network: Interpreter,
    engine: Engine,
    tuning: Tuning,
    dir: tempfile::TempDir,
}

impl Case {
    pub fn new((model, text): (Vec<u8>, String), engine: Engine) -> Case {
        let network = Interpreter::new(compile_bytes(&model).unwrap());
        let property = Property::parse(&text, "a test").unwrap();
        let (tuning, dir) = (Tuning::default(), tempfile::tempdir().unwrap());
        Case { model, text, property, network, engine, tuning, dir }
    }

    /// Few inputs, so that boxes are split.
    pub fn boxes(margin: f32) -> Case {
        Case::new(question(500, &[3, 24, 16, 2], 1.0, margin, 1), Engine::Auto)
    }

    pub fn phases(margin: f32) -> Case {
        Case::new(question(200, &[5, 10, 8, 6, 2], 0.5, margin, 2), Engine::Phases)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("parts").join(name)
    }

    pub fn folder(&self) -> Folder {
        let about = About::new(&self.network, files::sha256(self.text.as_bytes()), Semantics::Real);
        Folder { dir: self.path(""), about }
    }

    fn heading(&self) -> Heading<'_> {
        let widths = self.folder().about.widths;
        let property = files::sha256(self.text.as_bytes());
        Heading {
            model: self.network.model().sha256,
            property,
            generator: "a test",
            widths,
            semantics: Semantics::Real,
        }
    }

    /// Does something with the question and so many seconds.
    pub fn ask<T>(&self, seconds: f64, ask: impl FnOnce(Asked) -> T) -> T {
        let options = Options { engine: self.engine, threads: Some(1), timeout: Some(seconds), ..Options::default() };
        let (control, network) = (Control::new(options.timeout), &self.network as &dyn Network);
        ask(Asked { network, property: &self.property, options: &options, tuning: &self.tuning, control: &control })
    }

    /// Into at most so many parts, after no more work than it takes to have some; how many there are.
    pub fn split(&self, parts: usize) -> usize {
        let about = self.folder().about;
        let (dir, heading) = (self.path(""), self.heading());
        let outcome = self.ask(0.0, |asked| work::split(asked, about, &dir, parts, &heading, None));
        match outcome.unwrap().verdict {
            Verdict::Unknown(StopReason::Split(parts)) => parts,
            verdict => panic!("there is nothing to split: {verdict:?}"),
        }
    }

    /// Solves a part, with a proof beside it.
    pub fn solve(&self, name: &[usize], seconds: f64) -> Result<Outcome, String> {
        let folder = self.folder();
        self.ask(seconds, |asked| work::solve(asked, &folder, name, Some(&folder.path(name, ".proof"))))
    }

    pub fn solve_all(&self, parts: usize) {
        for part in 1..=parts {
            self.solve(&[part], 20.0).unwrap();
        }
    }

    pub fn certificate(&self) -> PathBuf {
        self.dir.path().join("proof.pgc")
    }

    pub fn merge(&self) -> Result<(Verdict, Vec<OpenPart>), String> {
        let (heading, path) = (self.heading(), self.certificate());
        let merged = self.ask(20.0, |asked| work::merge(asked, &self.folder(), Some((&path, &heading))));
        merged.map(|(outcome, open)| (outcome.verdict, open))
    }

    /// What one process says.
    fn alone(&self) -> &'static str {
        self.ask(20.0, |asked| verify(asked.network, asked.property, asked.options, asked.control)).verdict.word()
    }

    fn judge(&self, certificate: &Path) -> Result<(), String> {
        let bytes = std::fs::read(certificate).unwrap();
        let files = (("the model", &self.model[..]), ("the property", self.text.as_bytes()));
        let question = Question::read(files.0, files.1).map_err(|e| e.to_string())?;
        question.judge(&bytes, Slice::ALL, 1, false).map(|_| ()).map_err(|why| why.to_string())
    }
}

fn assert_as_one_process(case: &Case, expected: &str) {
    let parts = case.split(4);
    assert_eq!(parts, 4);
    case.solve_all(parts);
    let (verdict, open) = case.merge().unwrap();
    let why: Vec<&String> = open.iter().map(|part| &part.why).collect();
    assert_eq!((verdict.word(), case.alone()), (expected, expected), "{why:?} {verdict:?}");
    if expected == "unsat" {
        case.judge(&case.certificate()).unwrap();
    }
}

#[test]
fn parts_of_boxes_come_to_what_one_process_does() {
    assert_as_one_process(&Case::boxes(0.1), "unsat");
    assert_as_one_process(&Case::new(question(503, &[3, 24, 16, 2], 1.0, 0.1, 1), Engine::Auto), "sat");
}

#[test]
fn parts_of_phases_come_to_what_one_process_does() {
    assert_as_one_process(&Case::phases(0.1), "unsat");
    assert_as_one_process(&Case::new(question(200, &[6, 16, 12, 2], 0.7, 0.1, 1), Engine::Phases), "unsat");
    assert_as_one_process(&Case::new(question(201, &[3, 6, 6, 2], 0.9, 0.03, 1), Engine::Phases), "sat");
}

/// Where no neuron is left to split, linear programs close the leaves, and their multipliers are in the certificate.
#[test]
fn leaves_without_a_neuron_to_split_are_closed_by_linear_programs() {
    let mut calls = 0;
    for (seed, margin, rows) in [(200, 0.03, 1), (200, 0.01, 2), (202, 0.03, 2), (204, 0.01, 1)] {
        let case = Case::new(question(seed, &[3, 6, 6, 2], 0.9, margin, rows), Engine::Phases);
        assert_as_one_process(&case, "unsat");
        calls += (1..=4).filter(|part| !read(&case, *part).contains("\"lp_calls\":0,")).count();
    }
    assert!(calls > 0, "no part needed a linear program");
}

fn read(case: &Case, part: usize) -> String {
    std::fs::read_to_string(case.path(&format!("{part}.result"))).unwrap()
}

#[test]
fn what_timed_out_is_split_again() {
    for (case, least) in [(Case::boxes(0.1), 0), (Case::phases(0.1), 2)] {
        let parts = case.split(3);
        for part in 1..=parts {
            let verdict = case.solve(&[part], if part == 2 { 0.0 } else { 20.0 }).unwrap().verdict;
            assert_eq!(verdict.word(), if part == 2 { "timeout" } else { "unsat" });
        }
        let (verdict, open) = case.merge().unwrap();
        assert_eq!((verdict.word(), open.len()), ("unknown", 1));
        let part = open[0].part.as_ref().expect("its file is there");
        let (_, pieces) = case.ask(0.0, |asked| work::split_again(asked, &case.folder(), part, 3)).unwrap();
        // A few more cells may close all of it.
        assert!(pieces >= least, "{pieces}");
        assert_eq!(case.merge().unwrap().1.len(), pieces);
        for piece in 1..=pieces {
            assert_eq!(case.solve(&[2, piece], 20.0).unwrap().verdict.word(), "unsat");
        }
        assert_eq!(case.merge().unwrap().0.word(), "unsat");
        case.judge(&case.certificate()).unwrap();
    }
}
