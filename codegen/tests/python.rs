//! The Python module against the program that was built here. `python/check` does the same with an installed wheel.

use std::env;
use std::path::Path;
use std::process::Command;

#[test]
fn the_module_passes_its_tests() {
    if !Command::new("python3")
        .args(["-c", "import sys; assert sys.version_info >= (3, 9)"])
        .status()
        .is_ok_and(|s| s.success())
    {
        eprintln!("skipped: there is no python3 of version 3.9 or newer");
        return;
    }
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../python");
    let program = Path::new(env!("CARGO_BIN_EXE_pg-codegen"));
    let others = env::var_os("PATH").unwrap_or_default();
    let path = [program.parent().unwrap().to_path_buf()].into_iter().chain(env::split_paths(&others));
    let mut tests = Command::new("python3");
    tests.args(["-B", "-m", "unittest", "discover"]).arg(python.join("tests"));
    tests.env("PYTHONPATH", python.join("src")).env("PATH", env::join_paths(path).unwrap());
    let output = tests.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("\nOK"), "{said}");
}
