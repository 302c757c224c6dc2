//! `pg-codegen suite`: a list of instances, each decided in a process of its own.
//!
//! [`list`] reads the instances, [`programs`] makes the verifiers, [`child`] runs one process, [`certificate`] judges a proof,
//! [`folder`] keeps what came out, and [`work`] is the loop around them. A list may be run in [`part`]s, by processes that share
//! nothing but the folder, with verifiers that were [`built`] before.

mod built;
pub mod certificate;
mod child;
mod expected;
mod folder;
mod list;
mod part;
mod programs;
mod progress;
mod queue;
mod record;
mod summary;
mod work;

use crate::build::{Cargo, RuntimeSource};
use crate::error::Error;
use built::Built;
pub use certificate::{Certificate, Judgement, size};
use clap::Args;
use expected::Expected;
use folder::Folder;
pub use folder::read as read_folder;
use list::{Instance, List};
use part::Part;
use pg_runtime::cli::{Status, on_interrupt, say};
use pg_runtime::options::Options;
pub use record::{Record, Word};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use summary::Summary;
use work::Suite;

const AGREES: u8 = 0;
const DISAGREES: u8 = 1;
const INCOMPLETE: u8 = 2;
const BAD_INPUT: u8 = 4;

pub const HELP: &str = "\
A list is VNN-COMP's: network, property and time limit, one instance a line. A list of images has a header:

  network,image,eps,scale,clip,label,timeout
  net.onnx,images/seven.csv,0.02,255,\"0,1\",,60

of which scale, clip and label are optional and mean what they mean to robust. Paths are relative to the list, and a
file may be compressed (.gz) where the list names it plainly.

OUT holds results.csv (category, network, property, prepare time, verdict, run time), summary.json, a JSON file for each
instance and the witnesses. An instance whose verifier crashes or refuses it has the verdict error and tells why; one
that has to be killed some seconds after its limit has timeout.

A list can be run in parts by processes that share nothing but OUT, on any scheduler: --build-only once, then --part 1/N to
--part N/N at any time and in any order, then --collect; list and options have to be the same. A part that was ended may be
run again, with --resume only for the rows that it did not get to.

With --proofs every unsat has a certificate, which is judged as by pg-check as soon as its verifier has ended; that time is
not the verifier's. summary.json and the JSON files of instances tell its size, the time to judge it, and whether it was
accepted, rejected, or unusable because the judge cannot read the model or the property. What is asked about an image is
written beside its certificate, with .vnnlib added to the name.

Verifiers are built while instances run, on the cores that the jobs leave free (--jobs times --threads are taken); if they
leave none, all are built before the first instance runs, so that no build slows a verifier down.

  exit code
  0          all instances ran, none disagrees with --expected, and no certificate was rejected
  1          an instance disagrees, or its certificate was rejected
  2          interrupted, --resume goes on; or rows are missing to --collect
  4          bad usage or input, also a model that --build-only can build no verifier for";

#[derive(Args, Debug)]
#[command(mut_arg("timeout", |arg| arg.help("The most seconds that any instance gets")))]
#[command(mut_arg("threads", |arg| arg.help("Threads of each verifier [default: the cores, shared among the jobs]")))]
pub struct SuiteArgs {
    /// The list of instances
    #[arg(value_name = "INSTANCES.csv")]
    list: PathBuf,
    /// Folder of the results
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Instances to run at a time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    jobs: u32,
    /// Interpret the networks instead of building verifiers
    #[arg(long)]
    interpret: bool,
    /// Go on with the results in OUT, if there are any: only instances without one are run
    #[arg(long)]
    resume: bool,
    /// Compare with known verdicts: network, property and verdict, with a header
    #[arg(long, value_name = "FILE")]
    expected: Option<PathBuf>,
    /// Write a certificate of each unsat to DIR and judge it
    #[arg(long, value_name = "DIR")]
    proofs: Option<PathBuf>,
    /// Leave stderr to errors
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    spread: Spread,
    #[command(flatten, next_help_heading = "Search")]
    options: Options,
    #[command(flatten, next_help_heading = "Runtime of the verifiers")]
    runtime: RuntimeSource,
}

/// A list that many processes run into one folder
#[derive(Args, Debug)]
#[command(next_help_heading = "On many machines")]
#[group(multiple = false)]
struct Spread {
    /// Build all verifiers and run none; the processes that run the parts use them
    #[arg(long, conflicts_with = "interpret")]
    build_only: bool,
    /// Run part I of N alone: every N-th row, from row I on
    #[arg(long, value_name = "I/N")]
    part: Option<Part>,
    /// Run nothing: make the table of what the parts left in OUT, and name the rows that are missing
    #[arg(long)]
    collect: bool,
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

/// Does what is asked for, tells what came out, and returns the exit code.
pub fn run(args: &SuiteArgs) -> Result<u8, Error> {
    let list = list::read(&args.list, args.options.timeout)?;
    let expected = args.expected.as_deref().map(|path| Expected::read(path, &list.instances)).transpose()?;
    let settings = settings(args, &list);
    let list = match args.spread.part {
        Some(part) => part.of(list),
        None => list,
    };
    let asked = Asked { args, list, expected, settings };
    match args.spread {
        Spread { build_only: true, .. } => asked.build(),
        Spread { collect: true, .. } => asked.collect(),
        _ => asked.run(),
    }
}

/// What is asked for, read and checked.
struct Asked<'a> {
    args: &'a SuiteArgs,
    /// Of a part, its own rows.
    list: List,
    expected: Option<Expected>,
    settings: Value,
}

impl Asked<'_> {
    /// Runs what is left to run.
    fn run(&self) -> Result<u8, Error> {
        let Asked { args, list, expected, settings } = self;
        let folder = Folder::open(&args.output, settings)?;
        if !args.resume && args.spread.part.is_none() {
            folder.check_new()?;
        }
        let built = folder.built()?;
        folder.prepare()?;
        let status = Status::bar(args.quiet, list.instances.len());
        let stop = stop_on_interrupt(&status);
        let mut rows = if args.resume { self.records(&folder) } else { vec![None; list.instances.len()] };
        self.write(&folder, &rows)?;
        if let Some(proofs) = &args.proofs {
            std::fs::create_dir_all(proofs).map_err(|e| Error::file("create", proofs, e))?;
        }
        let options = shared_threads(&args.options, args.jobs);
        let (folder, built, expected) = (&folder, &built, expected.as_ref());
        let suite = Suite { args, list, options, folder, built, expected, stop: &stop };
        let ran = suite.run(&mut rows, status, |rows| self.write(folder, rows));
        folder.tidy();
        self.write(folder, &rows)?;
        ran?;
        let code = self.tell(folder, &rows);
        if rows.iter().any(Option::is_none) {
            say("interrupted; --resume goes on\n");
            return Ok(INCOMPLETE);
        }
        Ok(code)
    }

    /// Builds the verifiers, and runs none.
    fn build(&self) -> Result<u8, Error> {
        let folder = Folder::open(&self.args.output, &self.settings)?;
        let stop = stop_on_interrupt(&Status::bar(true, 0));
        let cargo = Cargo { aloud: !self.args.quiet, jobs: None, stop: Some(&stop) };
        let is_whole = Built::build(&self.list, &folder, &self.args.runtime, &cargo)?;
        if stop.load(Ordering::Relaxed) {
            say("interrupted\n");
            return Ok(INCOMPLETE);
        }
        Ok(if is_whole { AGREES } else { BAD_INPUT })
    }

    /// Makes the table of what the parts left, and runs nothing.
    fn collect(&self) -> Result<u8, Error> {
        let folder = Folder::existing(&self.args.output, &self.settings)?;
        let rows = self.records(&folder);
        self.write(&folder, &rows)?;
        let code = self.tell(&folder, &rows);
        let missing = || self.list.instances.iter().zip(&rows).filter(|(_, row)| row.is_none());
        for (Instance { number, network, property, .. }, _) in missing() {
            say(&format!("missing: row {number}, {network} {property}\n"));
        }
        match missing().count() {
            0 => Ok(code),
            count => {
                say(&format!("{count} of {} rows are missing; run their parts again with --resume\n", rows.len()));
                Ok(INCOMPLETE)
            }
        }
    }

    /// The records that have all that is asked for.
    fn records(&self, folder: &Folder) -> Vec<Option<Record>> {
        let instances = &self.list.instances;
        let records = folder.records(instances).into_iter().zip(instances);
        records.map(|(row, instance)| row.filter(|record| self.args.is_done(instance, record))).collect()
    }

    fn summary<'s>(&'s self, rows: &[Option<Record>]) -> Summary<'s> {
        let comparison = self.expected.as_ref().map(|expected| expected.compare(rows.iter().flatten()));
        Summary::new(&self.args.list, &self.list, &self.settings, rows, comparison)
    }

    /// Makes the table and the summary. A part makes none: they are of the whole list.
    fn write(&self, folder: &Folder, rows: &[Option<Record>]) -> Result<(), Error> {
        if self.args.spread.part.is_some() {
            return Ok(());
        }
        folder.write_results(&self.list, rows)?;
        folder.write_summary(&self.summary(rows))
    }

    /// Tells what came out, and returns the exit code that it has if nothing is missing.
    fn tell(&self, folder: &Folder, rows: &[Option<Record>]) -> u8 {
        let summary = self.summary(rows);
        match self.args.spread.part {
            Some(part) => {
                println!("{summary}part {part} is in {}; --collect makes the table", folder.instances().display())
            }
            None => println!("{summary}results in {}", folder.results().display()),
        }
        for rejection in summary.rejections() {
            say(&format!("{rejection}\n"));
        }
        if summary.disagrees() || !summary.rejections().is_empty() { DISAGREES } else { AGREES }
    }
}

/// What is raised at Ctrl-C and SIGTERM.
fn stop_on_interrupt(status: &Status) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    on_interrupt(status.clone(), {
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    });
    stop
}

/// Processes that run side by side share the cores, unless the user says otherwise.
fn shared_threads(options: &Options, jobs: u32) -> Options {
    let cores = options.clone().resolved().threads.unwrap_or(1);
    let share = options.threads.unwrap_or((cores / jobs).max(1));
    Options { threads: Some(share), ..options.clone() }
}

/// What the results depend on: a folder is gone on with only if it is the same. Threads count if they are given: of the cores
/// that processes share, machines that work on one folder may have different numbers.
fn settings(args: &SuiteArgs, list: &List) -> Value {
    let mut settings = json!({ "list_sha256": list.sha256, "interpret": args.interpret });
    let options = serde_json::to_value(&args.options).expect("a table of plain data");
    if let (Some(all), Value::Object(options)) = (settings.as_object_mut(), options) {
        all.extend(options);
    }
    settings
}
