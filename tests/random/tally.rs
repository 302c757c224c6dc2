//! What the engines said, counted by kind of case.

use super::{Kind, Trial};
use crate::judge::Answer;
use pg_runtime::verdict::StopReason;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// The counts of one kind; an answer is one engine's about one case.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub cases: usize,
    pub satisfiable: usize,
    pub holds: usize,
    pub violated: usize,
    pub unknown: usize,
    pub timeouts: usize,
    pub refused: usize,
    pub failed: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Tally {
    pub kinds: BTreeMap<Kind, Counts>,
    /// How often each reason was given for an answer that decides nothing.
    pub reasons: BTreeMap<String, usize>,
    pub slowest: Duration,
}

impl Tally {
    pub fn count(&mut self, trial: &Trial) {
        let counts = self.kinds.entry(trial.kind()).or_default();
        counts.cases += 1;
        counts.satisfiable += usize::from(trial.case.satisfiable);
        for (_, answer) in &trial.answers {
            let (counter, reason) = match answer {
                Ok(Answer::Holds) => (&mut counts.holds, None),
                Ok(Answer::Violated) => (&mut counts.violated, None),
                Ok(Answer::Unknown(StopReason::Timeout)) => (&mut counts.timeouts, None),
                Ok(Answer::Unknown(reason)) => (&mut counts.unknown, Some(reason.to_string())),
                Ok(Answer::Refused(why)) => (&mut counts.refused, Some(why.clone())),
                Err(_) => (&mut counts.failed, None),
            };
            *counter += 1;
            if let Some(reason) = reason {
                *self.reasons.entry(reason).or_default() += 1;
            }
        }
        self.slowest = self.slowest.max(trial.time);
    }

    pub fn total(&self) -> Counts {
        self.kinds.values().fold(Counts::default(), |a, b| Counts {
            cases: a.cases + b.cases,
            satisfiable: a.satisfiable + b.satisfiable,
            holds: a.holds + b.holds,
            violated: a.violated + b.violated,
            unknown: a.unknown + b.unknown,
            timeouts: a.timeouts + b.timeouts,
            refused: a.refused + b.refused,
            failed: a.failed + b.failed,
        })
    }
}

impl Counts {
    /// The share of answers that decide, in percent.
    fn decided(&self) -> f64 {
        let answers = self.holds + self.violated + self.unknown + self.timeouts + self.refused + self.failed;
        100.0 * (self.holds + self.violated) as f64 / answers.max(1) as f64
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(
            f,
            "{:<12} {:>7} {:>11} | {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} | {:>7}",
            "kind", "cases", "satisfiable", "unsat", "sat", "unknown", "timeouts", "refused", "FAILED", "decided"
        )?;
        let kinds = self.kinds.iter().map(|(kind, counts)| (kind.word(), *counts));
        for (name, c) in kinds.chain([("all", self.total())]) {
            writeln!(
                f,
                "{name:<12} {:>7} {:>11} | {:>7} {:>7} {:>7} {:>8} {:>7} {:>7} | {:>6.1}%",
                c.cases,
                c.satisfiable,
                c.holds,
                c.violated,
                c.unknown,
                c.timeouts,
                c.refused,
                c.failed,
                c.decided()
            )?;
        }
        for (reason, count) in &self.reasons {
            writeln!(f, "{count:>7} times: {reason}")?;
        }
        write!(f, "the slowest case took {:.1} s", self.slowest.as_secs_f64())
    }
}
