//! Verdicts by content: an instance whose model, property, options and tool are the bytes of an earlier one has its verdict.
//!
//! A [key] is the digest of all that a verdict depends on, an [entry] what was found. Only `unsat` and `sat` are kept: they are
//! true whatever the limits were, so that time limits and threads are no part of a key. What is kept is looked at again where
//! that costs little: a witness is replayed, a certificate judged. Whatever is missing, damaged or does not pass is a miss.

mod entry;
mod key;

use super::certificate::{Certificate, Judgement};
use super::folder::Folder;
use super::list::Instance;
use super::record::{Record, Word};
use crate::compile;
use crate::error::Error;
use crate::interpret::Interpreter;
use entry::Entry;
pub use key::{Key, Keys};
use pg_property::files::{remove, write_atomically};
use pg_runtime::cli::{Asked, say};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    /// Two instances that are alike have one entry: it is written by one worker at a time.
    writing: Mutex<()>,
}

impl Cache {
    pub fn open(folder: &Path) -> Result<Cache, Error> {
        fs::create_dir_all(folder).map_err(|e| Error::file("create", folder, e))?;
        Ok(Cache { folder: folder.to_path_buf(), writing: Mutex::new(()) })
    }

    /// What is known of an instance, with its witness or its certificate put in place; `None` if it has to be run.
    pub fn recall(&self, key: &Key, instance: &Instance, folder: &Folder, proof: Option<&Path>) -> Option<Record> {
        let start = Instant::now();
        let entry = Entry::read(&self.path(key), key.digest())?;
        let mut record = match entry.record.verdict {
            Word::Sat => replayed(&entry, key, instance, folder)?,
            Word::Unsat => judged(&entry, key, instance, proof)?,
            Word::Unknown | Word::Timeout | Word::Error => return None,
        };
        record.network.clone_from(&instance.network);
        record.property.clone_from(&instance.property);
        record.eps.clone_from(&instance.eps);
        (record.limit, record.prepare_seconds) = (instance.limit, 0.0);
        (record.seconds, record.cached) = (start.elapsed().as_secs_f64(), true);
        Some(record)
    }

    /// Keeps a verdict that is decided, if it is about what the key is made of. That it cannot be kept is no fault of the verdict.
    pub fn keep(&self, key: &Key, record: &Record, folder: &Folder, instance: &Instance, proof: Option<&Path>) {
        let certificate = record.certificate.as_ref().map(|certificate| &certificate.judgement);
        let is_sound = record.verdict.is_decided() && certificate.is_none_or(|judged| *judged == Judgement::Accepted);
        if !is_sound || !record.report.as_ref().is_some_and(|report| key.is_of(report)) {
            return;
        }
        let bytes = |path: &Path| fs::read(path).ok();
        let kept = match (record.verdict, proof) {
            (Word::Sat, _) => bytes(&folder.witness(instance)),
            (_, Some(proof)) => bytes(proof),
            (_, None) => Some(vec![]),
        };
        let Some(kept) = kept else { return };
        let entry = Entry { record: record.clone(), kept };
        let _writing = self.writing.lock().expect("no holder panics");
        if let Err(e) = write_atomically(&self.path(key), &entry.bytes(key.digest())) {
            say(&format!("warning: cannot keep a verdict in {}: {e}\n", self.folder.display()));
        }
    }

    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(key.digest())
    }
}

/// A counterexample is one if it is replayed as one.
fn replayed(entry: &Entry, key: &Key, instance: &Instance, folder: &Folder) -> Option<Record> {
    let input = entry.record.report.as_ref()?.get("witness")?.get("input")?.as_array()?;
    let input: Vec<f32> = input.iter().map(|value| Some(value.as_f64()? as f32)).collect::<Option<_>>()?;
    let network = Interpreter::new(compile(&instance.network_file).ok()?);
    let asked = Asked::new(&key.question(instance), &network).ok()?;
    let is_one = asked.is_violated_at(&network, &input);
    (is_one && write_atomically(&folder.witness(instance), &entry.kept).is_ok()).then(|| entry.record.clone())
}

/// A proof with a certificate is one if the judge says so. Where none is asked for, the entry is believed.
fn judged(entry: &Entry, key: &Key, instance: &Instance, proof: Option<&Path>) -> Option<Record> {
    let Some(proof) = proof else { return Some(Record { certificate: None, ..entry.record.clone() }) };
    if entry.kept.is_empty() {
        return None;
    }
    let property = instance.property_file(proof);
    if instance.eps.is_some() {
        // What is asked about an image is made from it again: an entry does not say what it is a proof of.
        let network = Interpreter::new(compile(&instance.network_file).ok()?);
        let asked = Asked::new(&key.question(instance), &network).ok()?;
        write_atomically(&property, asked.text()?.as_bytes()).ok()?;
    }
    write_atomically(proof, &entry.kept).ok()?;
    let certificate = Certificate::judge(proof, &instance.network_file, &property).about(key.arithmetic);
    if certificate.judgement != Judgement::Accepted {
        let _ = remove(proof);
        return None;
    }
    Some(Record { certificate: Some(certificate), ..entry.record.clone() })
}
