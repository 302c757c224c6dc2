//! What is known of an instance once it has run: the verifier's own report, and what was seen from outside.

use super::list::Instance;
use crate::certificate::{Certificate, Judgement};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A verdict in VNN-COMP's words, or that there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    Unsat,
    Sat,
    Unknown,
    Timeout,
    Error,
}

impl Word {
    pub const ALL: [Word; 5] = [Word::Unsat, Word::Sat, Word::Unknown, Word::Timeout, Word::Error];

    pub fn parse(text: &str) -> Option<Word> {
        Word::ALL.into_iter().find(|word| word.to_string() == text)
    }

    pub fn is_decided(self) -> bool {
        matches!(self, Word::Unsat | Word::Sat)
    }

    /// Whether both cannot be right.
    pub fn contradicts(self, other: Word) -> bool {
        self.is_decided() && other.is_decided() && self != other
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Word::Unsat => "unsat",
            Word::Sat => "sat",
            Word::Unknown => "unknown",
            Word::Timeout => "timeout",
            Word::Error => "error",
        })
    }
}

/// One row of the results, as `instances/*.json` holds it. Times are in seconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub network: String,
    pub property: String,
    pub eps: Option<String>,
    pub limit: f64,
    /// What generating and building the verifier took, in the row of the first instance that needed it.
    pub prepare_seconds: f64,
    pub verdict: Word,
    /// From the start of the process to its end.
    pub seconds: f64,
    /// Why there is no verdict of the verifier: it crashed, was killed, or refused the instance.
    pub trouble: Option<String>,
    /// The verifier's own.
    pub report: Option<Value>,
    /// Of a proof, if one was asked for.
    pub certificate: Option<Certificate>,
    /// The verdict and the report are those of an earlier run; `seconds` is what looking them up and checking them took.
    #[serde(default)]
    pub cached: bool,
}

impl Record {
    pub fn new(
        instance: &Instance,
        prepare_seconds: f64,
        outcome: Outcome,
        certificate: Option<Certificate>,
    ) -> Record {
        Record {
            network: instance.network.clone(),
            property: instance.property.clone(),
            eps: instance.eps.clone(),
            limit: instance.limit,
            prepare_seconds,
            verdict: outcome.verdict,
            seconds: outcome.seconds,
            trouble: outcome.trouble,
            report: outcome.report,
            certificate,
            cached: false,
        }
    }

    /// Whether it is the record of this instance and not of what had its number before.
    pub fn is_of(&self, instance: &Instance) -> bool {
        (&self.network, &self.property, self.limit) == (&instance.network, &instance.property, instance.limit)
    }

    /// What went wrong, with the verifier or with its certificate.
    pub fn complaint(&self) -> Option<String> {
        let judgement = self.certificate.as_ref().map(|certificate| &certificate.judgement);
        let objection = judgement.filter(|judgement| **judgement != Judgement::Accepted);
        self.trouble.clone().or_else(|| objection.map(|why| format!("certificate {why}")))
    }

    /// The time that the verifier did not account for: to start and to end a process, and to see that.
    pub fn overhead(&self) -> Option<f64> {
        if self.cached {
            return None;
        }
        let own = self.report.as_ref()?.get("times")?.get("total")?.as_f64()?;
        Some(self.seconds - own)
    }

    /// The convex calls.
    pub fn lp_calls(&self) -> Option<u64> {
        self.report.as_ref()?.get("counters")?.get("lp_calls")?.as_u64()
    }
}

/// What became of an instance's process.
#[derive(Debug)]
pub struct Outcome {
    pub verdict: Word,
    pub seconds: f64,
    pub trouble: Option<String>,
    pub report: Option<Value>,
}

impl Outcome {
    /// Of an instance that could not be asked.
    pub fn refused(trouble: String) -> Outcome {
        Outcome { verdict: Word::Error, seconds: 0.0, trouble: Some(trouble), report: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_read_back() {
        for word in Word::ALL {
            assert_eq!(Word::parse(&word.to_string()), Some(word));
            assert_eq!(serde_json::to_value(word).unwrap(), word.to_string());
        }
        assert_eq!(Word::parse("holds"), None);
    }

    #[test]
    fn only_decided_verdicts_contradict() {
        assert!(Word::Sat.contradicts(Word::Unsat));
        for other in [Word::Sat, Word::Unknown, Word::Timeout, Word::Error] {
            assert!(!Word::Sat.contradicts(other) && !other.contradicts(Word::Sat));
        }
    }
}
