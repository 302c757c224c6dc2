//! The folder of a suite's results. One file an instance is what is known; the other files are made from those, so that a
//! suite that was interrupted at any moment can go on.

use super::list::{Instance, List};
use super::record::Record;
use crate::error::Error;
use pg_property::files::{self, write_atomically};
use serde::Serialize;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const INSTANCES: &str = "instances";
const WITNESSES: &str = "witnesses";
/// What processes write while they run.
const RUNNING: &str = "running";
const RESULTS: &str = "results.csv";
const SUMMARY: &str = "summary.json";

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Starts a folder, or goes on with one that was made with the same settings.
    pub fn open(path: &Path, resume: bool, settings: &Value) -> Result<Folder, Error> {
        let folder = Folder { path: path.to_path_buf() };
        match (fs::read(path.join(SUMMARY)), resume) {
            (Ok(_), false) => {
                let what = "holds the results of a suite; --resume goes on with them, or choose another folder";
                return Err(Error::File(format!("{} {what}", path.display())));
            }
            (Ok(bytes), true) => folder.check_settings(&bytes, settings)?,
            (Err(_), _) if fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) => {
                let what = "is not empty and holds no results of a suite; choose another folder";
                return Err(Error::File(format!("{} {what}", path.display())));
            }
            (Err(_), _) => {}
        }
        for part in [INSTANCES, WITNESSES, RUNNING] {
            let part = path.join(part);
            fs::create_dir_all(&part).map_err(|e| Error::file("create", &part, e))?;
        }
        Ok(folder)
    }

    /// Removes what an earlier suite left in a folder, and nothing else.
    pub fn clear(path: &Path) -> Result<(), Error> {
        let summary: Option<Value> = fs::read(path.join(SUMMARY)).ok().and_then(|b| serde_json::from_slice(&b).ok());
        if !summary.is_some_and(|summary| summary["tool"].is_string() && summary["settings"].is_object()) {
            return Ok(());
        }
        for part in [INSTANCES, WITNESSES, RUNNING, RESULTS, SUMMARY].map(|part| path.join(part)) {
            let removed = if part.is_dir() { fs::remove_dir_all(&part) } else { files::remove(&part) };
            removed.map_err(|e| Error::file("remove", &part, e))?;
        }
        Ok(())
    }

    fn check_settings(&self, summary: &[u8], settings: &Value) -> Result<(), Error> {
        let summary: Value =
            serde_json::from_slice(summary).map_err(|e| Error::file("read", &self.path.join(SUMMARY), e))?;
        let before = &summary["settings"];
        let differs = |(name, value): &(&String, &Value)| before[name.as_str()] != **value;
        match settings.as_object().into_iter().flatten().find(differs) {
            Some((name, value)) => Err(Error::File(format!(
                "{} was begun with other settings: {name} was {}, now it is {value}; choose another folder",
                self.path.display(),
                before[name.as_str()]
            ))),
            None => Ok(()),
        }
    }

    /// The record of each instance that has one.
    pub fn records(&self, instances: &[Instance]) -> Vec<Option<Record>> {
        let read = |instance: &Instance| {
            let bytes = fs::read(self.record(instance)).ok()?;
            serde_json::from_slice(&bytes).ok().filter(|record: &Record| record.is_of(instance))
        };
        instances.iter().map(read).collect()
    }

    pub fn keep(&self, instance: &Instance, record: &Record) -> Result<(), Error> {
        self.write(&self.record(instance), &json(record))
    }

    /// VNN-COMP's columns: category, network, property, prepare time, verdict, run time. Rows are in the list's order.
    pub fn write_results(&self, list: &List, rows: &[Option<Record>]) -> Result<(), Error> {
        let mut table = csv::Writer::from_writer(Vec::new());
        for row in rows.iter().flatten() {
            let (verdict, times) =
                (row.verdict.to_string(), [row.prepare_seconds, row.seconds].map(|s| format!("{s:.4}")));
            let fields = [&list.category, &row.network, &row.property, &times[0], &verdict, &times[1]];
            table.write_record(fields).expect("memory can be written to");
        }
        self.write(&self.path.join(RESULTS), &table.into_inner().expect("memory can be written to"))
    }

    pub fn write_summary(&self, summary: &impl Serialize) -> Result<(), Error> {
        self.write(&self.path.join(SUMMARY), &json(summary))
    }

    /// Called when no process of the suite runs any more.
    pub fn tidy(&self) {
        let _ = fs::remove_dir_all(self.path.join(RUNNING));
    }

    pub fn results(&self) -> PathBuf {
        self.path.join(RESULTS)
    }

    fn record(&self, instance: &Instance) -> PathBuf {
        self.path.join(INSTANCES).join(instance.file_name() + ".json")
    }

    pub fn witness(&self, instance: &Instance) -> PathBuf {
        self.path.join(WITNESSES).join(instance.file_name() + ".txt")
    }

    pub fn running(&self, instance: &Instance, ending: &str) -> PathBuf {
        self.path.join(RUNNING).join(format!("{}.{ending}", instance.file_name()))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), Error> {
        write_atomically(path, bytes).map_err(|e| Error::file("write", path, e))
    }
}

fn json(data: &impl Serialize) -> Vec<u8> {
    let mut text = serde_json::to_vec_pretty(data).expect("plain data");
    text.push(b'\n');
    text
}

/// What a suite left in a folder: its summary, and its records in the list's order.
pub fn read(path: &Path) -> Result<(Value, Vec<Record>), Error> {
    let parse = |path: &Path| fs::read(path).map_err(|e| Error::file("read", path, e));
    let summary = path.join(SUMMARY);
    let summary = serde_json::from_slice(&parse(&summary)?).map_err(|e| Error::file("read", &summary, e))?;
    let folder = path.join(INSTANCES);
    let entries = fs::read_dir(&folder).map_err(|e| Error::file("read", &folder, e))?;
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let read = |file: &PathBuf| serde_json::from_slice(&parse(file)?).map_err(|e| Error::file("read", file, e));
    Ok((summary, files.iter().map(read).collect::<Result<_, _>>()?))
}
