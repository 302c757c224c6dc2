//! What verification comes to for a pipeline: cases that pass or not, as [JUnit](junit) and as [Markdown](markdown).

pub mod junit;
pub mod markdown;

use crate::error::Error;
use crate::suite::{Judgement, Record, Word};
use pg_property::files::write_atomically;
use serde::Deserialize;
use std::fmt;
use std::path::Path;

/// What a pipeline may be told to let pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Allowed {
    /// Neither proved nor violated
    Unknown,
    /// The time was used up
    Timeout,
}

impl Allowed {
    fn fault(self) -> Fault {
        match self {
            Allowed::Unknown => Fault::Unknown,
            Allowed::Timeout => Fault::Timeout,
        }
    }
}

/// Why a case does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The property is violated.
    Sat,
    Unknown,
    Timeout,
    /// The judge rejected a proof.
    Certificate,
    /// Generated text is not what would be generated.
    Stale,
    /// A crate for devices takes more than it may.
    Budget,
    /// The question could not be asked, or its verifier crashed.
    Error,
    /// The run ended before it.
    NotRun,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Fault::Sat => "sat",
            Fault::Unknown => "unknown",
            Fault::Timeout => "timeout",
            Fault::Certificate => "certificate",
            Fault::Stale => "stale",
            Fault::Budget => "budget",
            Fault::Error => "error",
            Fault::NotRun => "not run",
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    Passed,
    /// It would be a failure if it were not allowed by name; with the reason.
    Allowed(Fault, String),
    /// With the reason.
    Failed(Fault, String),
}

/// One thing that was looked at.
#[derive(Clone, Debug)]
pub struct Case {
    pub network: String,
    /// The property, or what else is claimed.
    pub name: String,
    pub standing: Standing,
    /// What this run took for it.
    pub seconds: f64,
    /// The verdict came from a cache.
    pub is_cached: bool,
    /// A counterexample, a number a line.
    pub witness: Option<String>,
    /// SHA-256 of model and property, where they were read.
    pub model: Option<String>,
    pub property: Option<String>,
}

impl Case {
    pub fn new(network: &str, name: &str, standing: Standing, seconds: f64) -> Case {
        let (network, name) = (network.to_string(), name.to_string());
        Case { network, name, standing, seconds, is_cached: false, witness: None, model: None, property: None }
    }

    /// Of an instance whose process has ended. With `is_certified` a proof counts only with a certificate that was accepted.
    pub fn of(record: &Record, is_certified: bool, allowed: &[Allowed], witness: Option<String>) -> Case {
        let standing = match standing(record, is_certified) {
            Standing::Failed(fault, why) if allowed.iter().any(|allowed| allowed.fault() == fault) => {
                Standing::Allowed(fault, why)
            }
            standing => standing,
        };
        let digest = |of: &str| Some(record.report.as_ref()?.get(of)?.get("sha256")?.as_str()?.to_string());
        Case {
            is_cached: record.cached,
            witness: witness.filter(|_| record.verdict == Word::Sat),
            model: digest("model"),
            property: digest("property"),
            ..Case::new(&record.network, &record.property, standing, record.seconds)
        }
    }

    pub fn not_run(network: &str, property: &str) -> Case {
        Case::new(network, property, Standing::Failed(Fault::NotRun, "the run ended before it".into()), 0.0)
    }

    pub fn fault(&self) -> Option<Fault> {
        match self.standing {
            Standing::Failed(fault, _) => Some(fault),
            Standing::Passed | Standing::Allowed(..) => None,
        }
    }
}

fn standing(record: &Record, is_certified: bool) -> Standing {
    let reason = || {
        let told = record.report.as_ref().and_then(|report| report.get("reason")?.as_str().map(String::from));
        record.trouble.clone().or(told).unwrap_or_else(|| "no reason was told".into())
    };
    let failed = |fault, why: &str| Standing::Failed(fault, why.into());
    let judgement = record.certificate.as_ref().map(|certificate| &certificate.judgement);
    match (record.verdict, judgement) {
        (Word::Unsat, Some(Judgement::Accepted)) => Standing::Passed,
        (Word::Unsat, None) if !is_certified => Standing::Passed,
        (Word::Unsat, None) => failed(Fault::Unknown, "proved, but without a certificate"),
        (Word::Unsat, Some(Judgement::Rejected(why))) => {
            failed(Fault::Certificate, &format!("its certificate was rejected: {why}"))
        }
        (Word::Unsat, Some(Judgement::Unusable(why))) => {
            failed(Fault::Unknown, &format!("proved, but the certificate cannot be judged: {why}"))
        }
        (Word::Sat, _) => failed(Fault::Sat, "the property is violated by the witness"),
        (Word::Unknown, _) => failed(Fault::Unknown, &reason()),
        (Word::Timeout, _) => failed(Fault::Timeout, &reason()),
        (Word::Error, _) => failed(Fault::Error, &reason()),
    }
}

/// All cases of a run, and what is true of all of them.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub title: String,
    /// Names and values: the seed, the options.
    pub facts: Vec<(String, String)>,
    pub cases: Vec<Case>,
}

/// How many cases of some there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub all: usize,
    pub passed: usize,
    pub failed: usize,
    /// Of those that failed, the ones about which nothing was found out.
    pub errors: usize,
    pub allowed: usize,
    pub cached: usize,
}

impl Counts {
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Counts {
        let mut counts = Counts::default();
        for case in cases {
            counts.all += 1;
            counts.cached += usize::from(case.is_cached);
            match case.standing {
                Standing::Passed => counts.passed += 1,
                Standing::Allowed(..) => counts.allowed += 1,
                Standing::Failed(fault, _) => {
                    counts.failed += 1;
                    counts.errors += usize::from(is_error(fault));
                }
            }
        }
        counts
    }
}

/// Whether nothing was found out about the case.
fn is_error(fault: Fault) -> bool {
    matches!(fault, Fault::Error | Fault::NotRun)
}

impl Sheet {
    /// The networks in the order in which they appear, each with its cases.
    pub fn networks(&self) -> Vec<(&str, Vec<&Case>)> {
        let mut networks: Vec<(&str, Vec<&Case>)> = Vec::new();
        for case in &self.cases {
            match networks.iter_mut().find(|(network, _)| *network == case.network) {
                Some((_, cases)) => cases.push(case),
                None => networks.push((&case.network, vec![case])),
            }
        }
        networks
    }

    /// Writes what a pipeline reads, each file atomically.
    pub fn write(&self, junit: Option<&Path>, markdown: Option<&Path>) -> Result<(), Error> {
        let write = |path: &Path, text: String| {
            write_atomically(path, text.as_bytes()).map_err(|e| Error::file("write", path, e))
        };
        junit.map_or(Ok(()), |path| write(path, junit::junit(self)))?;
        markdown.map_or(Ok(()), |path| write(path, markdown::markdown(self)))
    }

    pub fn counts(&self) -> Counts {
        Counts::of(self.cases.iter())
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::suite::Certificate;
    use serde_json::json;

    pub fn record(verdict: Word, certificate: Option<Judgement>) -> Record {
        let certificate =
            certificate.map(|judgement| Certificate { bytes: 9, seconds: 0.1, judgement, arithmetic: None });
        let report = json!({ "reason": "too hard", "model": { "sha256": "m" }, "property": { "sha256": "p" } });
        let record = json!({
            "network": "a.onnx", "property": "p", "eps": null, "limit": 1.0, "prepare_seconds": 0.0, "verdict": verdict,
            "seconds": 0.5, "trouble": null, "report": report, "certificate": certificate,
        });
        serde_json::from_value(record).unwrap()
    }

    fn fault(verdict: Word, certificate: Option<Judgement>, is_certified: bool) -> Option<Fault> {
        Case::of(&record(verdict, certificate), is_certified, &[], None).fault()
    }

    #[test]
    fn only_what_was_proved_passes() {
        assert_eq!(fault(Word::Unsat, None, false), None);
        assert_eq!(fault(Word::Sat, None, false), Some(Fault::Sat));
        assert_eq!(fault(Word::Unknown, None, false), Some(Fault::Unknown));
        assert_eq!(fault(Word::Timeout, None, false), Some(Fault::Timeout));
        assert_eq!(fault(Word::Error, None, false), Some(Fault::Error));
        assert_eq!(Case::not_run("a", "p").fault(), Some(Fault::NotRun));
    }

    #[test]
    fn a_proof_counts_with_its_certificate() {
        assert_eq!(fault(Word::Unsat, None, true), Some(Fault::Unknown), "there is none");
        assert_eq!(fault(Word::Unsat, Some(Judgement::Accepted), true), None);
        assert_eq!(fault(Word::Unsat, Some(Judgement::Unusable("x".into())), true), Some(Fault::Unknown));
        assert_eq!(fault(Word::Unsat, Some(Judgement::Rejected("x".into())), false), Some(Fault::Certificate));
    }

    #[test]
    fn what_is_open_passes_only_by_name() {
        let standing = |verdict, allowed: &[Allowed]| Case::of(&record(verdict, None), false, allowed, None).standing;
        assert_eq!(standing(Word::Unknown, &[Allowed::Unknown]), Standing::Allowed(Fault::Unknown, "too hard".into()));
        assert_eq!(standing(Word::Unknown, &[Allowed::Timeout]), Standing::Failed(Fault::Unknown, "too hard".into()));
        for word in [Word::Sat, Word::Error] {
            assert!(matches!(standing(word, &[Allowed::Unknown, Allowed::Timeout]), Standing::Failed(..)), "{word}");
        }
    }
}
