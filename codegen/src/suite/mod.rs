//! `pg-codegen suite`: a list of instances, each decided in a process of its own.
//!
//! [`list`] reads the instances, [`programs`] makes the verifiers, [`child`] runs one process, [`certificate`] judges a proof,
//! [`folder`] keeps what came out, [`cache`] knows it the next time, and [`work`] is the loop around them.

mod cache;
mod child;
mod done;
mod expected;
mod folder;
mod list;
mod programs;
mod progress;
mod queue;
mod record;
mod summary;
mod work;

use crate::cases::Allowed;
pub use crate::certificate::{self, Certificate, Judgement, size};
use crate::error::Error;
use crate::verifier::RuntimeSource;
use cache::{Cache, Key, Keys};
use clap::Args;
pub use done::Done;
use expected::Expected;
pub use folder::{Folder, read as read_folder};
pub use list::{Instance, List, check, find};
use pg_runtime::cli::{Status, on_interrupt, say};
use pg_runtime::options::Options;
pub use record::{Record, Word};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use work::Suite;

const AGREES: u8 = 0;
const DISAGREES: u8 = 1;
const INTERRUPTED: u8 = 2;

pub const HELP: &str = "\
A list is VNN-COMP's: network, property and time limit, one instance a line. A list of images has a header:

  network,image,eps,scale,clip,label,timeout
  net.onnx,images/seven.csv,0.02,255,\"0,1\",,60

of which scale, clip and label are optional and mean what they mean to robust. Paths are relative to the list, and a
file may be compressed (.gz) where the list names it plainly.

OUT holds results.csv (category, network, property, prepare time, verdict, run time), summary.json, a JSON file for each
instance and the witnesses. An instance whose verifier crashes or refuses it has the verdict error and tells why; one
that has to be killed some seconds after its limit has timeout.

With --proofs every unsat has a certificate, which is judged as by pg-check as soon as its verifier has ended; that time is
not the verifier's. summary.json and the JSON files of instances tell its size, the time to judge it, and whether it was
accepted, rejected, or unusable because the judge cannot read the model or the property. What is asked about an image is
written beside its certificate, with .vnnlib added to the name.

Verifiers are built while instances run, on the cores that the jobs leave free (--jobs times --threads are taken); if they
leave none, all are built before the first instance runs, so that no build slows a verifier down.

  exit code
  0          all instances ran, none disagrees with --expected, and no certificate was rejected
  1          an instance disagrees, or its certificate was rejected
  2          interrupted; --resume goes on
  4          bad usage or input";

#[derive(Args, Debug, Default)]
#[command(mut_arg("timeout", |arg| arg.help("The most seconds that any instance gets")))]
#[command(mut_arg("threads", |arg| arg.help("Threads of each verifier [default: the cores, shared among the jobs]")))]
pub struct SuiteArgs {
    /// The list of instances
    #[arg(value_name = "INSTANCES.csv")]
    pub list: PathBuf,
    /// Folder of the results
    #[arg(short, long, value_name = "OUT")]
    pub output: PathBuf,
    /// Instances to run at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: u32,
    /// Interpret the networks instead of building verifiers
    #[arg(long)]
    pub interpret: bool,
    /// Go on with the results in OUT, if there are any: only instances without one are run
    #[arg(long)]
    pub resume: bool,
    /// Compare with known verdicts: network, property and verdict, with a header
    #[arg(long, value_name = "FILE")]
    pub expected: Option<PathBuf>,
    /// Write a certificate of each unsat to DIR and judge it
    #[arg(long, value_name = "DIR")]
    pub proofs: Option<PathBuf>,
    /// Take verdicts of the same content from DIR, and keep new ones there
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Write a summary in Markdown, of less than 1 MB
    #[arg(long, value_name = "FILE")]
    pub summary: Option<PathBuf>,
    /// What is no failure in both of these: unknown, timeout
    #[arg(long, value_name = "WORDS", value_enum, value_delimiter = ',')]
    pub allow: Vec<Allowed>,
    /// Leave stderr to errors
    #[arg(long)]
    pub quiet: bool,
    #[command(flatten, next_help_heading = "Search")]
    pub options: Options,
    #[command(flatten, next_help_heading = "Runtime of the verifiers")]
    pub runtime: RuntimeSource,
}

impl SuiteArgs {
    /// The place of an instance's certificate, if there is to be one.
    fn proof(&self, instance: &Instance) -> Option<PathBuf> {
        self.proofs.as_ref().map(|folder| folder.join(instance.file_name() + ".pgc"))
    }

    /// Whether a record has all that is asked for: one of a proof also the certificate, in its place and judged.
    fn is_done(&self, instance: &Instance, record: &Record) -> bool {
        let has = |proof: PathBuf| record.certificate.is_some() && proof.exists();
        record.verdict != Word::Unsat || self.proof(instance).is_none_or(has)
    }
}

/// Runs what is left to run, tells what came out, and returns the exit code.
pub fn run(args: &SuiteArgs) -> Result<u8, Error> {
    let list = list::read(&args.list, args.options.timeout)?;
    let expected = args.expected.as_deref().map(|path| Expected::read(path, &list.instances)).transpose()?;
    let done = decide(args, &list, expected.as_ref())?;
    let summary = done.summary(args, &list, expected.as_ref(), &done.rows);
    println!("{summary}results in {}", done.folder.results().display());
    for rejection in summary.rejections() {
        say(&format!("{rejection}\n"));
    }
    let is_refuted = summary.disagrees() || !summary.rejections().is_empty();
    Ok(match (done.rows.iter().all(Option::is_some), is_refuted) {
        (false, _) => {
            say("interrupted; --resume goes on\n");
            INTERRUPTED
        }
        (true, true) => DISAGREES,
        (true, false) => AGREES,
    })
}

/// Runs what is left to run and writes what came out.
pub fn decide(args: &SuiteArgs, list: &List, expected: Option<&Expected>) -> Result<Done, Error> {
    let options = shared_threads(&args.options, args.jobs);
    let settings = settings(args, list, &options);
    let folder = Folder::open(&args.output, args.resume, &settings)?;
    let cache = args.cache.as_deref().map(Cache::open).transpose()?;
    let stop = Arc::new(AtomicBool::new(false));
    let status = Status::bar(args.quiet, list.instances.len());
    on_interrupt(status.clone(), {
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    });
    let mut rows = folder.records(&list.instances);
    for (instance, row) in list.instances.iter().zip(&mut rows) {
        row.take_if(|record| !args.is_done(instance, record));
    }
    let mut done = Done { folder, settings, rows: vec![] };
    done.tell(args, list, expected, &rows)?;
    done.report(args, list, &rows)?;
    if let Some(proofs) = &args.proofs {
        std::fs::create_dir_all(proofs).map_err(|e| Error::file("create", proofs, e))?;
    }
    let keys = keys(cache.as_ref(), &options, args, list)?;
    let suite = Suite { args, list, options, folder: &done.folder, expected, cache: cache.as_ref(), keys, stop: &stop };
    suite.recall(&mut rows)?;
    let ran = suite.run(&mut rows, status, |rows| done.tell(args, list, expected, rows));
    done.folder.tidy();
    done.tell(args, list, expected, &rows)?;
    done.report(args, list, &rows)?;
    ran?;
    done.rows = rows;
    Ok(done)
}

fn keys(cache: Option<&Cache>, options: &Options, args: &SuiteArgs, list: &List) -> Result<Vec<Option<Key>>, Error> {
    let Some(_) = cache else { return Ok(vec![]) };
    let mut keys = Keys::new(options, args.interpret)?;
    Ok(list.instances.iter().map(|instance| keys.of(instance)).collect())
}

/// Processes that run side by side share the cores, unless the user says otherwise.
fn shared_threads(options: &Options, jobs: u32) -> Options {
    let cores = options.clone().resolved().threads.unwrap_or(1);
    let share = options.threads.unwrap_or((cores / jobs).max(1));
    Options { threads: Some(share), ..options.clone() }
}

/// What the results depend on: a folder is gone on with only if it is the same.
fn settings(args: &SuiteArgs, list: &List, options: &Options) -> Value {
    let mut settings = json!({ "list_sha256": list.sha256, "interpret": args.interpret });
    let options = serde_json::to_value(options).expect("a table of plain data");
    if let (Some(all), Value::Object(options)) = (settings.as_object_mut(), options) {
        all.extend(options);
    }
    settings
}
