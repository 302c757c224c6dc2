//! What a suite knows of its instances, and the files that are made from it.

use super::expected::Expected;
use super::folder::Folder;
use super::list::{Instance, List};
use super::record::{Record, Word};
use super::summary::Summary;
use super::{AGREES, DISAGREES, SuiteArgs};
use crate::cases::{Allowed, Case, Sheet};
use crate::error::Error;
use pg_runtime::cli::say;
use serde_json::Value;

pub struct Done {
    pub folder: Folder,
    pub settings: Value,
    /// In the list's order; none of an instance that has not run.
    pub rows: Vec<Option<Record>>,
}

impl Done {
    pub fn summary<'a>(
        &'a self,
        args: &SuiteArgs,
        list: &'a List,
        expected: Option<&Expected>,
        rows: &[Option<Record>],
    ) -> Summary<'a> {
        let comparison = expected.map(|expected| expected.compare(rows.iter().flatten()));
        Summary::new(&args.list, list, &self.settings, rows, comparison)
    }

    /// Makes the table and the summary of the rows that there are. A part makes none: they are of the whole list.
    pub fn write(
        &self,
        args: &SuiteArgs,
        list: &List,
        expected: Option<&Expected>,
        rows: &[Option<Record>],
    ) -> Result<(), Error> {
        if args.spread.part.is_some() {
            return Ok(());
        }
        self.folder.write_results(list, rows)?;
        self.folder.write_summary(&self.summary(args, list, expected, rows))
    }

    /// The same for pipelines, where that is asked for.
    pub fn report(&self, args: &SuiteArgs, list: &List, rows: &[Option<Record>]) -> Result<(), Error> {
        if args.spread.part.is_some() || args.junit.is_none() && args.summary.is_none() {
            return Ok(());
        }
        let cases = list.instances.iter().zip(rows);
        let cases = cases.map(|(instance, row)| self.case(args, instance, row.as_ref(), &args.allow)).collect();
        let sheet = Sheet { title: list.category.clone(), facts: self.facts(), cases };
        sheet.write(args.junit.as_deref(), args.summary.as_deref())
    }

    /// Tells what came out, and returns the exit code that it has if nothing is missing.
    pub fn tell(&self, args: &SuiteArgs, list: &List, expected: Option<&Expected>) -> u8 {
        let summary = self.summary(args, list, expected, &self.rows);
        match args.spread.part {
            Some(part) => {
                println!("{summary}part {part} is in {}; --collect makes the table", self.folder.instances().display())
            }
            None => println!("{summary}results in {}", self.folder.results().display()),
        }
        for rejection in summary.rejections() {
            say(&format!("{rejection}\n"));
        }
        if summary.disagrees() || !summary.rejections().is_empty() { DISAGREES } else { AGREES }
    }

    /// What an instance comes to for a pipeline.
    pub fn case(&self, args: &SuiteArgs, instance: &Instance, row: Option<&Record>, allowed: &[Allowed]) -> Case {
        let Some(record) = row else { return Case::not_run(&instance.network, &instance.property) };
        let is_violated = record.verdict == Word::Sat;
        let witness = is_violated.then(|| std::fs::read_to_string(self.folder.witness(instance)).ok()).flatten();
        Case::of(record, args.proofs.is_some(), allowed, witness)
    }

    /// The settings, as names and values.
    pub fn facts(&self) -> Vec<(String, String)> {
        let settings = self.settings.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null());
        settings.map(|(name, value)| (name.clone(), value.as_str().map_or(value.to_string(), String::from))).collect()
    }
}
