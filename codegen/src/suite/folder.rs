//! The folder of a suite's results. One file an instance is what is known; the other files are made from those, so that a
//! suite that was interrupted at any moment can go on, and that many processes can work on one folder.

use super::built::Built;
use super::list::{Instance, List};
use super::record::{Record, Word};
use crate::error::Error;
use pg_property::files::{remove, unique, write_atomically, write_new};
use serde::Serialize;
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What the results depend on.
const SETTINGS: &str = "settings.json";
/// What was built before.
const VERIFIERS: &str = "verifiers.json";
const INSTANCES: &str = "instances";
const WITNESSES: &str = "witnesses";
/// What processes write while they run.
const RUNNING: &str = "running";
const RESULTS: &str = "results.csv";
const SUMMARY: &str = "summary.json";

#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    /// Of this process alone: others may work on the same folder, and on the same instance if it was given out twice.
    running: PathBuf,
}

impl Folder {
    /// Starts a folder, or goes on with one that was begun with the same settings. The settings are there before anything else
    /// is, so that of several processes that start it at the same moment one does and the others see what it is.
    pub fn open(path: &Path, settings: &Value) -> Result<Folder, Error> {
        let folder = Folder::at(path);
        let begun = path.join(SETTINGS);
        if !begun.exists() && folder.holds_other_things() && !begun.exists() {
            let what = "is not empty and holds no results of a suite; choose another folder";
            return Err(Error::File(format!("{} {what}", path.display())));
        }
        write_new(&begun, &json(settings)).map_err(|e| Error::file("write", &begun, e))?;
        folder.check_settings(settings).map(|()| folder)
    }

    /// Removes what an earlier suite left in a folder, and nothing else.
    pub fn clear(path: &Path) -> Result<(), Error> {
        let settings: Option<Value> = fs::read(path.join(SETTINGS)).ok().and_then(|b| serde_json::from_slice(&b).ok());
        if !settings.is_some_and(|settings| settings["list_sha256"].is_string()) {
            return Ok(());
        }
        let parts = [INSTANCES, WITNESSES, RUNNING, RESULTS, SUMMARY, VERIFIERS, SETTINGS];
        for part in parts.map(|part| path.join(part)) {
            let removed = if part.is_dir() { fs::remove_dir_all(&part) } else { remove(&part) };
            removed.map_err(|e| Error::file("remove", &part, e))?;
        }
        Ok(())
    }

    /// A folder that was begun with the same settings.
    pub fn existing(path: &Path, settings: &Value) -> Result<Folder, Error> {
        let folder = Folder::at(path);
        folder.check_settings(settings).map(|()| folder)
    }

    fn at(path: &Path) -> Folder {
        Folder { path: path.to_path_buf(), running: path.join(RUNNING).join(unique()) }
    }

    fn holds_other_things(&self) -> bool {
        let is_draft = |name: OsString| name.to_string_lossy().starts_with(&format!(".{SETTINGS}."));
        fs::read_dir(&self.path).is_ok_and(|entries| entries.flatten().any(|entry| !is_draft(entry.file_name())))
    }

    fn check_settings(&self, settings: &Value) -> Result<(), Error> {
        let file = self.path.join(SETTINGS);
        let before = fs::read(&file).map_err(|e| match e.kind() {
            ErrorKind::NotFound => Error::File(format!("{} holds no results of a suite", self.path.display())),
            _ => Error::file("read", &file, e),
        })?;
        let before: Value = serde_json::from_slice(&before).map_err(|e| Error::file("read", &file, e))?;
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

    /// That nothing came out yet.
    pub fn check_new(&self) -> Result<(), Error> {
        let has_records = fs::read_dir(self.instances()).is_ok_and(|mut entries| entries.next().is_some());
        if has_records || self.path.join(SUMMARY).exists() {
            let what = "holds the results of a suite; --resume goes on with them, or choose another folder";
            return Err(Error::File(format!("{} {what}", self.path.display())));
        }
        Ok(())
    }

    /// Makes the folders that processes write to.
    pub fn prepare(&self) -> Result<(), Error> {
        for part in [&self.instances(), &self.path.join(WITNESSES), &self.running] {
            fs::create_dir_all(part).map_err(|e| Error::file("create", part, e))?;
        }
        Ok(())
    }

    /// The verifiers that were built for it before.
    pub fn built(&self) -> Result<Built, Error> {
        let file = self.path.join(VERIFIERS);
        match fs::read(&file) {
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(Built::default()),
            Err(e) => Err(Error::file("read", &file, e)),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(|e| Error::file("read", &file, e)),
        }
    }

    pub fn write_built(&self, built: &Built) -> Result<(), Error> {
        self.write(&self.path.join(VERIFIERS), &json(built))
    }

    /// The record of each instance that has one.
    pub fn records(&self, instances: &[Instance]) -> Vec<Option<Record>> {
        let read = |instance: &Instance| {
            let bytes = fs::read(self.record(instance)).ok()?;
            serde_json::from_slice(&bytes).ok().filter(|record: &Record| record.is_of(instance))
        };
        instances.iter().map(read).collect()
    }

    /// Keeps a record, and before it the counterexample that the verifier left in the place that [`Folder::running`] names `txt`.
    /// Both come from where this process alone writes, so that one that is killed leaves nothing half-written among the results.
    pub fn keep(&self, instance: &Instance, record: &Record) -> Result<(), Error> {
        let (found, witness) = (self.running(instance, "txt"), self.witness(instance));
        if record.verdict != Word::Sat {
            remove(&witness).map_err(|e| Error::file("remove", &witness, e))?;
        } else if found.exists() {
            fs::rename(&found, &witness).map_err(|e| Error::file("write", &witness, e))?;
        }
        let (draft, kept) = (self.running(instance, "record"), self.record(instance));
        self.write(&draft, &json(record))?;
        fs::rename(&draft, &kept).map_err(|e| Error::file("write", &kept, e))
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

    /// Called when nothing of this process runs any more. What others run stays.
    pub fn tidy(&self) {
        let _ = fs::remove_dir_all(&self.running);
        let _ = fs::remove_dir(self.path.join(RUNNING));
    }

    pub fn results(&self) -> PathBuf {
        self.path.join(RESULTS)
    }

    pub fn instances(&self) -> PathBuf {
        self.path.join(INSTANCES)
    }

    fn record(&self, instance: &Instance) -> PathBuf {
        self.instances().join(instance.file_name() + ".json")
    }

    pub fn witness(&self, instance: &Instance) -> PathBuf {
        self.path.join(WITNESSES).join(instance.file_name() + ".txt")
    }

    pub fn running(&self, instance: &Instance, ending: &str) -> PathBuf {
        self.running.join(format!("{}.{ending}", instance.file_name()))
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
