//! What came of a part.

use super::files::{Folder, OpenedPart};
use super::sealed::{self, Sealed};
use crate::certificate::Kept;
use crate::report::Counters;
use crate::search::Outcome;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// `unsat` says that nothing in the part violates the property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The digest of the part.
    pub part: String,
    pub verdict: String,
    /// Why the verdict is `unknown` or `timeout`.
    pub reason: Option<String>,
    /// The input of a counterexample, each float by its bits.
    pub witness: Option<Vec<u32>>,
    pub counters: Counters,
    pub seconds: f64,
    /// The sub-trees of its leaves, one piece for each.
    pub proof: Option<PartProof>,
}

/// A file of sub-trees.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PartProof {
    /// Seen from the folder of the part.
    pub file: PathBuf,
    pub kept: Kept,
}

impl Answer {
    pub fn new(part: &OpenedPart, outcome: &Outcome, proof: Option<PartProof>) -> Answer {
        let (reason, witness) = match &outcome.verdict {
            Verdict::Holds(_) => (None, None),
            Verdict::Violated(witness) => (None, Some(witness.input().iter().map(|x| x.to_bits()).collect())),
            Verdict::Unknown(reason) => (Some(reason.to_string()), None),
        };
        Answer {
            part: part.digest.clone(),
            verdict: outcome.verdict.word().into(),
            reason,
            witness,
            counters: outcome.counters.clone(),
            seconds: outcome.times.total,
            proof,
        }
    }

    /// Writes it beside its part.
    pub fn write(&self, folder: &Folder, part: &OpenedPart) -> Result<(), String> {
        Sealed::new("result", self).write(&folder.path(&part.name, ".result"))
    }

    /// What came of a part; `None` if it was not solved yet.
    pub fn read(folder: &Folder, part: &OpenedPart) -> Result<Option<Answer>, String> {
        let path = folder.path(&part.name, ".result");
        let Some((answer, _)) = sealed::read::<Answer>(&path, "result")? else { return Ok(None) };
        if answer.part != part.digest {
            return Err(format!("{}: the result of another part than the one in this folder", path.display()));
        }
        Ok(Some(answer))
    }
}
