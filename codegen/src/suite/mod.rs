//! `pg-codegen suite`: a list of instances, each decided in a process of its own.
//!
//! [`list`] reads the instances, [`programs`] makes the verifiers, [`child`] runs one process, [`certificate`] judges a proof,
//! [`folder`] keeps what came out, [`cache`] knows it the next time, and [`work`] is the loop around them. A list may be run in
//! [`part`]s, by processes that share nothing but the folder, with verifiers that were [`built`] before.

mod built;
mod cache;
mod child;
mod done;
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

use crate::cases::Allowed;
pub use crate::certificate::{self, Certificate, Judgement, size};
use crate::error::Error;
use crate::verifier::{Cargo, RuntimeSource};
use built::Built;
use cache::{Cache, Key, Keys};
use clap::Args;
pub use done::Done;
use expected::Expected;
pub use folder::{Folder, read as read_folder};
pub use list::{Instance, List, check, find};
use part::Part;
use pg_runtime::cli::{Status, on_interrupt, say};
use pg_runtime::options::{Options, Semantics};
pub use record::{Record, Word};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
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
    #[command(flatten)]
    pub spread: Spread,
    #[command(flatten, next_help_heading = "Search")]
    pub options: Options,
    #[command(flatten, next_help_heading = "Runtime of the verifiers")]
    pub runtime: RuntimeSource,
}

/// A list that many processes run into one folder
#[derive(Args, Debug, Default)]
#[command(next_help_heading = "On many machines")]
#[group(multiple = false)]
pub struct Spread {
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
    let list = match args.spread.part {
        Some(part) => part.of(list),
        None => list,
    };
    match args.spread {
        Spread { build_only: true, .. } => build(args, &list),
        Spread { collect: true, .. } => collect(args, &list, expected.as_ref()),
        _ => {
            let done = decide(args, &list, expected.as_ref())?;
            let code = done.tell(args, &list, expected.as_ref());
            if done.rows.iter().any(Option::is_none) {
                say("interrupted; --resume goes on\n");
                return Ok(INCOMPLETE);
            }
            Ok(code)
        }
    }
}

/// Runs what is left to run and writes what came out.
pub fn decide(args: &SuiteArgs, list: &List, expected: Option<&Expected>) -> Result<Done, Error> {
    let settings = settings(args, list);
    let folder = Folder::open(&args.output, &settings)?;
    if !args.resume && args.spread.part.is_none() {
        folder.check_new()?;
    }
    let built = folder.built()?;
    folder.prepare()?;
    let cache = args.cache.as_deref().map(Cache::open).transpose()?;
    let status = Status::bar(args.quiet, list.instances.len());
    let stop = stop_on_interrupt(&status);
    let mut rows = if args.resume { records(args, list, &folder) } else { vec![None; list.instances.len()] };
    let mut done = Done { folder, settings, rows: vec![] };
    done.write(args, list, expected, &rows)?;
    done.report(args, list, &rows)?;
    if let Some(proofs) = &args.proofs {
        std::fs::create_dir_all(proofs).map_err(|e| Error::file("create", proofs, e))?;
    }
    let options = shared_threads(&args.options, args.jobs);
    let keys = keys(cache.as_ref(), &options, args, list)?;
    let (folder, built, cache) = (&done.folder, &built, cache.as_ref());
    let suite = Suite { args, list, options, folder, built, expected, cache, keys, stop: &stop };
    suite.recall(&mut rows)?;
    let ran = suite.run(&mut rows, status, |rows| done.write(args, list, expected, rows));
    done.folder.tidy();
    done.write(args, list, expected, &rows)?;
    done.report(args, list, &rows)?;
    ran?;
    done.rows = rows;
    Ok(done)
}

/// Builds the verifiers, and runs none.
fn build(args: &SuiteArgs, list: &List) -> Result<u8, Error> {
    let folder = Folder::open(&args.output, &settings(args, list))?;
    let stop = stop_on_interrupt(&Status::bar(true, 0));
    let cargo = Cargo { aloud: !args.quiet, jobs: None, stop: Some(&stop) };
    let is_whole = Built::build(list, &folder, &args.runtime, &cargo)?;
    if stop.load(Ordering::Relaxed) {
        say("interrupted\n");
        return Ok(INCOMPLETE);
    }
    Ok(if is_whole { AGREES } else { BAD_INPUT })
}

/// Makes the table of what the parts left, and runs nothing.
fn collect(args: &SuiteArgs, list: &List, expected: Option<&Expected>) -> Result<u8, Error> {
    let settings = settings(args, list);
    let folder = Folder::existing(&args.output, &settings)?;
    let rows = records(args, list, &folder);
    let done = Done { folder, settings, rows };
    done.write(args, list, expected, &done.rows)?;
    done.report(args, list, &done.rows)?;
    let code = done.tell(args, list, expected);
    let missing = || list.instances.iter().zip(&done.rows).filter(|(_, row)| row.is_none());
    for (Instance { number, network, property, .. }, _) in missing() {
        say(&format!("missing: row {number}, {network} {property}\n"));
    }
    match missing().count() {
        0 => Ok(code),
        count => {
            say(&format!("{count} of {} rows are missing; run their parts again with --resume\n", done.rows.len()));
            Ok(INCOMPLETE)
        }
    }
}

/// The records that have all that is asked for.
fn records(args: &SuiteArgs, list: &List, folder: &Folder) -> Vec<Option<Record>> {
    let records = folder.records(&list.instances).into_iter().zip(&list.instances);
    records.map(|(row, instance)| row.filter(|record| args.is_done(instance, record))).collect()
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

fn keys(cache: Option<&Cache>, options: &Options, args: &SuiteArgs, list: &List) -> Result<HashMap<usize, Key>, Error> {
    let Some(_) = cache else { return Ok(HashMap::new()) };
    let mut keys = Keys::new(options, args.interpret)?;
    Ok(list.instances.iter().filter_map(|instance| Some((instance.number, keys.of(instance)?))).collect())
}

/// What a judge has to say that a certificate is about. Properties that declare it are of a VNN-LIB that the judge does not read.
fn arithmetic(options: &Options) -> &'static str {
    match options.semantics {
        Some(Semantics::Float32) => "float32",
        _ => "real",
    }
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
