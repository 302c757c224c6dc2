//! Where an answer goes besides stdout.

use crate::files::{check_writable, remove, write_atomically};
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Args, Clone, Debug, Default)]
pub struct Outputs {
    /// Write the verdict and the witness to FILE, in VNN-COMP's form
    #[arg(long, value_name = "FILE")]
    pub results: Option<PathBuf>,
    /// Write the witness alone to FILE; unless the verdict is sat, FILE is gone afterwards
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write a full report to FILE, in JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a certificate to FILE that pg-check can judge; only then is the verdict unsat
    #[arg(long, value_name = "FILE")]
    pub proof: Option<PathBuf>,
    /// Leave stderr to errors: no progress, no notes, no summary
    #[arg(long)]
    pub quiet: bool,
}

impl Outputs {
    /// Finds out before the work what could not be written after it.
    pub fn check(&self) -> Result<(), String> {
        let given = [
            ("--results", &self.results),
            ("--witness", &self.witness),
            ("--json", &self.json),
            ("--proof", &self.proof),
        ];
        let given: Vec<(&str, &Path)> =
            given.iter().filter_map(|(name, path)| Some((*name, path.as_deref()?))).collect();
        for (k, (name, path)) in given.iter().enumerate() {
            check_writable(path).map_err(|e| format!("{name}: cannot write {}: {e}", path.display()))?;
            if let Some((other, _)) = given[..k].iter().find(|(_, earlier)| is_same_file(earlier, path)) {
                return Err(format!("{other} and {name} both name {}; give each its own file", path.display()));
            }
        }
        Ok(())
    }

    /// Writes what was asked for. One file that cannot be written does not keep the others from it.
    pub fn write(&self, results: &str, witness: Option<&str>, json: impl FnOnce() -> String) -> Result<(), String> {
        let mut troubles = Vec::new();
        let mut put = |path: &Path, text: &str| {
            let result = write_atomically(path, text.as_bytes());
            troubles.extend(result.err().map(|e| format!("cannot write {}: {e}", path.display())));
        };
        if let Some(path) = &self.results {
            put(path, results);
        }
        if let (Some(path), Some(witness)) = (&self.witness, witness) {
            put(path, witness);
        }
        if let Some(path) = &self.json {
            put(path, &json());
        }
        if let (Some(path), None) = (&self.witness, witness) {
            let result = remove(path);
            troubles.extend(result.err().map(|e| format!("cannot remove {}: {e}", path.display())));
        }
        if troubles.is_empty() { Ok(()) } else { Err(troubles.join("\n")) }
    }
}

/// Devices may be named twice: they hold nothing that could be lost.
fn is_same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().or_else(|_| std::path::absolute(path)).ok();
    real(a) == real(b) && (a.is_file() || !a.exists())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn outputs(dir: &Path) -> Outputs {
        Outputs {
            results: Some(dir.join("results")),
            witness: Some(dir.join("witness")),
            json: Some(dir.join("json")),
            ..Outputs::default()
        }
    }

    #[test]
    fn all_files_are_written_and_a_witness_of_an_earlier_run_goes() {
        let dir = tempfile::tempdir().unwrap();
        let outputs = outputs(dir.path());
        outputs.check().unwrap();
        outputs.write("sat\n()\n", Some("()\n"), || "{}\n".into()).unwrap();
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(read("results").as_deref(), Some("sat\n()\n"));
        assert_eq!(read("witness").as_deref(), Some("()\n"));
        assert_eq!(read("json").as_deref(), Some("{}\n"));
        outputs.write("unsat\n", None, || "{}\n".into()).unwrap();
        assert_eq!(read("results").as_deref(), Some("unsat\n"));
        assert_eq!(read("witness"), None);
    }

    #[test]
    fn trouble_with_one_file_spares_the_others() {
        let dir = tempfile::tempdir().unwrap();
        let mut outputs = outputs(dir.path());
        fs::create_dir(dir.path().join("results")).unwrap();
        let error = outputs.write("unsat\n", None, || "{}\n".into()).unwrap_err();
        assert!(error.contains("results"), "{error}");
        assert!(dir.path().join("json").exists());
        assert!(outputs.check().unwrap_err().starts_with("--results: cannot write"));
        outputs.results = None;
        outputs.check().unwrap();
    }

    #[test]
    fn two_outputs_do_not_share_a_file() {
        let dir = tempfile::tempdir().unwrap();
        let twice = |name: &Path| Outputs {
            results: Some(name.to_path_buf()),
            json: Some(name.to_path_buf()),
            ..Outputs::default()
        };
        let error = twice(&dir.path().join("x")).check().unwrap_err();
        assert!(error.starts_with("--results and --json both name"), "{error}");
        twice(Path::new("/dev/null")).check().unwrap();
    }
}
