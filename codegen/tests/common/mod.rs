//! The program under test, and the shipped files.

use std::path::PathBuf;
use std::process::{Command, Output};

pub const BAD_INPUT: i32 = 4;

pub fn networks() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/networks")
}

/// A shipped network, property or image.
pub fn shipped(name: &str) -> String {
    networks().join(name).display().to_string()
}

pub fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pg-codegen")).args(args).output().unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Each command line is refused with the given words, and without a word on stdout.
pub fn assert_refused(cases: &[(&[&str], &str)]) {
    for (args, expected) in cases {
        let output = run(args);
        assert_eq!(output.status.code(), Some(BAD_INPUT), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{args:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}
