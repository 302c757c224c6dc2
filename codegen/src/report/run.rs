//! The results to compare, from folders of suites and from tables of other tools.

use crate::error::Error;
use crate::suite::{Certificate, Word, read_folder};
use crate::table::{Table, plain_name};
use serde_json::Value;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// One tool, with one choice of options, over a list.
#[derive(Debug)]
pub struct Run {
    pub name: String,
    /// How it was made, if known: the settings of a suite.
    pub settings: Option<Value>,
    pub outcomes: Vec<Outcome>,
}

#[derive(Clone, Debug)]
pub struct Outcome {
    pub network: String,
    pub property: String,
    pub eps: Option<String>,
    pub verdict: Word,
    pub seconds: Option<f64>,
    pub limit: Option<f64>,
    pub lp_calls: Option<u64>,
    pub certificate: Option<Certificate>,
    /// Why there is no verdict, or no certificate that was accepted.
    pub trouble: Option<String>,
}

impl Outcome {
    pub fn key(&self) -> (&str, &str) {
        (&self.network, &self.property)
    }

    /// The time to a decision.
    pub fn decided_in(&self) -> Option<f64> {
        self.seconds.filter(|_| self.verdict.is_decided())
    }
}

impl Run {
    pub fn find(&self, key: (&str, &str)) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.key() == key)
    }

    pub fn is_timed(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.seconds.is_some())
    }
}

/// All runs, the further ones on the instances of the first.
pub fn read(paths: &[PathBuf]) -> Result<Vec<Run>, Error> {
    let mut runs: Vec<Run> = Vec::new();
    for path in paths {
        let mut found = if path.is_dir() { vec![folder(path)?] } else { table(path)? };
        if let Some(first) = runs.first() {
            let keys: HashSet<_> = first.outcomes.iter().map(Outcome::key).collect();
            for run in &mut found {
                run.outcomes.retain(|outcome| keys.contains(&outcome.key()));
            }
        }
        found.retain(|run| !run.outcomes.is_empty());
        if found.is_empty() {
            let what =
                if runs.is_empty() { "there is no result in it" } else { "it shares no instance with the first" };
            return Err(Error::File(format!("{}: {what}", path.display())));
        }
        for run in &found {
            if runs.iter().any(|other| other.name == run.name) {
                let what = "is also the name of another run; rename the folder or the tool";
                return Err(Error::File(format!("{}: '{}' {what}", path.display(), run.name)));
            }
        }
        runs.extend(found);
    }
    Ok(runs)
}

/// The run takes the folder's name.
fn folder(path: &Path) -> Result<Run, Error> {
    let (summary, records) = read_folder(path)?;
    let real = path.canonicalize().map_err(|e| Error::file("find", path, e))?;
    let outcomes = records.into_iter().map(|record| Outcome {
        lp_calls: record.lp_calls(),
        trouble: record.complaint(),
        network: record.network,
        property: record.property,
        eps: record.eps,
        verdict: record.verdict,
        seconds: Some(record.seconds),
        limit: Some(record.limit),
        certificate: record.certificate,
    });
    Ok(Run {
        name: real.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        settings: summary.get("settings").cloned(),
        outcomes: outcomes.collect(),
    })
}

/// A run for each tool that the table names; if it names none, one with the file's name. Verdicts that are none of the
/// competition's, such as `conflict`, are no results.
fn table(path: &Path) -> Result<Vec<Run>, Error> {
    let table = Table::read(path, &[])?;
    table.check_columns(&["network", "property", "verdict"], None)?;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut runs: Vec<Run> = Vec::new();
    for row in &table.rows {
        let Some(verdict) = Word::parse(table.required(row, "verdict")?) else { continue };
        let outcome = Outcome {
            network: plain_name(table.required(row, "network")?),
            property: plain_name(table.required(row, "property")?),
            eps: None,
            verdict,
            seconds: table.seconds(row, "seconds")?,
            limit: table.seconds(row, "limit")?,
            lp_calls: None,
            certificate: None,
            trouble: None,
        };
        let name = if table.has("tool") { table.required(row, "tool")? } else { &stem };
        match runs.iter_mut().find(|run| run.name == name) {
            Some(run) => run.outcomes.push(outcome),
            None => runs.push(Run { name: name.into(), settings: None, outcomes: vec![outcome] }),
        }
    }
    Ok(runs)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs;

    /// A run from verdicts and times, on instances `n0 p`, `n1 p` and so on.
    pub fn sample(name: &str, outcomes: &[(Word, f64)]) -> Run {
        let outcome = |(k, &(verdict, seconds)): (usize, &(Word, f64))| Outcome {
            network: format!("n{k}"),
            property: "p".into(),
            eps: None,
            verdict,
            seconds: Some(seconds),
            limit: Some(60.0),
            lp_calls: Some(k as u64),
            certificate: None,
            trouble: None,
        };
        Run { name: name.into(), settings: None, outcomes: outcomes.iter().enumerate().map(outcome).collect() }
    }

    #[test]
    fn a_table_is_a_run_for_each_tool() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::write(&path, text).unwrap();
            path
        };
        let known = file("known.csv", "network,property,verdict\n./a.onnx,p,unsat\nb.onnx,p,conflict\nc.onnx,p,sat\n");
        let peers = file(
            "peers.csv",
            "tool,benchmark,network,property,limit,verdict,seconds\nx,m,a.onnx,p,60,unsat,1.5\ny,m,a.onnx.gz,p,60,timeout,60\n\
             x,m,z.onnx,p,60,sat,2\n",
        );
        let runs = read(&[known.clone(), peers]).unwrap();
        let names: Vec<_> = runs.iter().map(|run| (run.name.as_str(), run.outcomes.len())).collect();
        assert_eq!(names, [("known", 2), ("x", 1), ("y", 1)], "only instances of the first");
        assert!(!runs[0].is_timed() && runs[1].is_timed());
        assert_eq!(runs[1].find(("a.onnx", "p")).unwrap().decided_in(), Some(1.5));
        assert_eq!(runs[2].find(("a.onnx", "p")).unwrap().decided_in(), None);
        let message = |paths: &[PathBuf]| read(paths).unwrap_err().to_string();
        assert!(message(&[known.clone(), known.clone()]).contains("'known' is also the name of another run"));
        let strange = file("strange.csv", "network,property,verdict\nq.onnx,p,sat\n");
        assert!(message(&[known, strange]).ends_with("it shares no instance with the first"));
    }
}
