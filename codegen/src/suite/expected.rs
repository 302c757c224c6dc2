//! Verdicts that are known, and where ours contradict them.

use super::list::Instance;
use super::record::{Record, Word};
use crate::error::Error;
use crate::table::{Table, plain_name};
use serde::Serialize;
use std::collections::HashMap;
use std::path::Path;

/// The word for an instance on which other tools contradict each other: nothing is expected of it.
const CONFLICT: &str = "conflict";

#[derive(Debug)]
pub struct Expected {
    file: String,
    verdicts: HashMap<(String, String), Word>,
}

#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    pub file: String,
    pub agree: usize,
    /// Known, but not decided by us.
    pub undecided: usize,
    /// Of these nothing is known.
    pub not_listed: usize,
    pub disagreements: Vec<Disagreement>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Disagreement {
    pub network: String,
    pub property: String,
    pub verdict: Word,
    pub expected: Word,
}

impl Expected {
    /// Reads the columns network, property and verdict. A file that tells of none of the instances is a mistake.
    pub fn read(path: &Path, instances: &[Instance]) -> Result<Expected, Error> {
        let table = Table::read(path, &["network", "property", "verdict"])?;
        table.check_columns(&["network", "property", "verdict"], None)?;
        let mut verdicts = HashMap::new();
        for row in &table.rows {
            let key = (plain_name(table.required(row, "network")?), plain_name(table.required(row, "property")?));
            let word = table.required(row, "verdict")?;
            match Word::parse(word) {
                Some(word) if word.is_decided() => drop(verdicts.insert(key, word)),
                None if word != CONFLICT => return Err(table.error(row, format!("'{word}' is no verdict"))),
                _ => {}
            }
        }
        let expected = Expected { file: path.display().to_string(), verdicts };
        let is_known = |instance: &Instance| expected.of(&instance.network, &instance.property).is_some();
        match instances.iter().any(is_known) {
            true => Ok(expected),
            false => Err(Error::File(format!("{}: it tells of no instance of the list", path.display()))),
        }
    }

    pub fn of(&self, network: &str, property: &str) -> Option<Word> {
        self.verdicts.get(&(network.to_string(), property.to_string())).copied()
    }

    pub fn compare<'a>(&self, records: impl Iterator<Item = &'a Record>) -> Comparison {
        let mut comparison = Comparison { file: self.file.clone(), ..Comparison::default() };
        for record in records {
            let verdict = record.verdict;
            match self.of(&record.network, &record.property) {
                None => comparison.not_listed += 1,
                Some(_) if !verdict.is_decided() => comparison.undecided += 1,
                Some(expected) if !verdict.contradicts(expected) => comparison.agree += 1,
                Some(expected) => comparison.disagreements.push(Disagreement {
                    network: record.network.clone(),
                    property: record.property.clone(),
                    verdict,
                    expected,
                }),
            }
        }
        comparison
    }
}
