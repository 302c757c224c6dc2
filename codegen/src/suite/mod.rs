//! `pg-codegen suite`: a list of instances, each decided in a process of its own.
//!
//! [`list`] reads the instances, [`programs`] makes the verifiers, [`child`] runs one process, [`folder`] keeps what came
//! out, and this file is the loop around them.

mod child;
mod expected;
mod folder;
mod list;
mod programs;
mod progress;
mod record;
mod summary;

use crate::build::RuntimeSource;
use crate::error::Error;
use child::Task;
use clap::Args;
use expected::Expected;
use folder::Folder;
pub use folder::read as read_folder;
use list::{Instance, List};
use pg_runtime::cli::{Status, on_interrupt, say};
use pg_runtime::options::Options;
use programs::Programs;
use progress::Progress;
use record::Outcome;
pub use record::{Record, Word};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use summary::Summary;

/// How often the status is drawn.
const TICK: Duration = Duration::from_millis(200);
/// How often the results of instances that ended are written, at most.
const WRITE: Duration = Duration::from_secs(1);

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

  exit code
  0          all instances ran, and none disagrees with --expected
  1          an instance disagrees
  2          interrupted; --resume goes on
  4          bad usage or input";

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
    /// Leave stderr to errors
    #[arg(long)]
    quiet: bool,
    #[command(flatten, next_help_heading = "Search")]
    options: Options,
    #[command(flatten, next_help_heading = "Runtime of the verifiers")]
    runtime: RuntimeSource,
}

/// Runs what is left to run, tells what came out, and returns the exit code.
pub fn run(args: &SuiteArgs) -> Result<u8, Error> {
    let list = list::read(&args.list, args.options.timeout)?;
    let expected = args.expected.as_deref().map(|path| Expected::read(path, &list.instances)).transpose()?;
    let options = shared_threads(&args.options, args.jobs);
    let settings = settings(args, &list, &options);
    let folder = Folder::open(&args.output, args.resume, &settings)?;
    let stop = Arc::new(AtomicBool::new(false));
    let status = Status::bar(args.quiet, list.instances.len());
    on_interrupt(status.clone(), {
        let stop = stop.clone();
        move || stop.store(true, Ordering::Relaxed)
    });
    let mut rows = folder.records(&list.instances);
    let tell = |rows: &[Option<Record>]| {
        let comparison = expected.as_ref().map(|expected| expected.compare(rows.iter().flatten()));
        let summary = Summary::new(&args.list, &list, &settings, rows, comparison);
        folder.write_results(&list, rows)?;
        folder.write_summary(&summary).map(|()| summary)
    };
    tell(&rows)?;
    let suite = Suite { args, list: &list, options, folder: &folder, expected: expected.as_ref(), stop: &stop };
    let ran = suite.run(&mut rows, status, |rows| tell(rows).map(drop));
    folder.tidy();
    let summary = tell(&rows)?;
    ran?;
    println!("{summary}results in {}", folder.results().display());
    Ok(match (rows.iter().all(Option::is_some), summary.disagrees()) {
        (false, _) => {
            say("interrupted; --resume goes on\n");
            INTERRUPTED
        }
        (true, true) => DISAGREES,
        (true, false) => AGREES,
    })
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

/// What a worker tells of an instance, by its index.
enum Event {
    Started(usize),
    Ended(usize, Result<Record, Error>),
}

struct Suite<'a> {
    args: &'a SuiteArgs,
    list: &'a List,
    options: Options,
    folder: &'a Folder,
    expected: Option<&'a Expected>,
    stop: &'a AtomicBool,
}

impl Suite<'_> {
    /// Runs the instances that have no record yet, some at a time. `write` is called now and then.
    fn run(
        &self,
        rows: &mut [Option<Record>],
        status: Status,
        write: impl Fn(&[Option<Record>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let pending: Vec<usize> = (0..rows.len()).filter(|&k| rows[k].is_none()).collect();
        let programs = self.programs(&pending)?;
        let mut progress = Progress::new(status, self.args.quiet, &self.list.instances, rows.iter().flatten());
        let next = AtomicUsize::new(0);
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..self.args.jobs {
                let (sender, pending, programs, next) = (sender.clone(), &pending, &programs, &next);
                scope.spawn(move || self.work(pending, programs, next, &sender));
            }
            drop(sender);
            let collected = self.collect(&receiver, rows, &mut progress, write);
            if collected.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
            collected
        })
    }

    /// Takes what the workers find, until they are done.
    fn collect(
        &self,
        receiver: &Receiver<Event>,
        rows: &mut [Option<Record>],
        progress: &mut Progress,
        write: impl Fn(&[Option<Record>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut written = Instant::now();
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(Event::Started(k)) => progress.started(k),
                Ok(Event::Ended(k, record)) => {
                    let record = record?;
                    let expected = self.expected.and_then(|known| known.of(&record.network, &record.property));
                    progress.ended(k, &record, expected);
                    rows[k] = Some(record);
                }
                Err(RecvTimeoutError::Timeout) => progress.draw(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if written.elapsed() >= WRITE {
                write(rows)?;
                written = Instant::now();
            }
        }
    }

    /// The programs of the pending instances; some are missing if the suite was stopped meanwhile.
    fn programs(&self, pending: &[usize]) -> Result<Programs, Error> {
        let instances = || pending.iter().map(|&k| &self.list.instances[k]);
        if self.args.interpret {
            return Programs::interpreted(instances());
        }
        let mut seen = HashSet::new();
        let networks: Vec<_> = instances().map(|i| &i.network_file).filter(|file| seen.insert(*file)).collect();
        let mut programs = Programs::default();
        for (k, network) in networks.iter().enumerate() {
            if !self.args.quiet {
                say(&format!("building {} of {}: {}\n", k + 1, networks.len(), network.display()));
            }
            let built = programs.build(network, &self.args.runtime, self.args.quiet);
            // A terminal's Ctrl-C ends cargo too, which is no mistake then.
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            built?;
        }
        Ok(programs)
    }

    /// One worker: takes the next instance until there is none or the suite is stopped.
    fn work(&self, pending: &[usize], programs: &Programs, next: &AtomicUsize, sender: &Sender<Event>) {
        while !self.stop.load(Ordering::Relaxed) {
            let Some(&k) = pending.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
            let _ = sender.send(Event::Started(k));
            match self.decide(&self.list.instances[k], programs) {
                Ok(Some(record)) => drop(sender.send(Event::Ended(k, Ok(record)))),
                Ok(None) => return,
                Err(error) => return drop(sender.send(Event::Ended(k, Err(error)))),
            }
        }
    }

    /// Runs one instance and keeps its record; `None` if the suite was stopped meanwhile.
    fn decide(&self, instance: &Instance, programs: &Programs) -> Result<Option<Record>, Error> {
        let outcome = match programs.command(instance) {
            Err(reason) => Some(Outcome::refused(reason)),
            Ok(mut command) => {
                let (report, stderr) = (self.folder.running(instance, "json"), self.folder.running(instance, "stderr"));
                let options = Options { timeout: Some(instance.limit), ..self.options.clone() };
                command.args(options.arguments()).arg("--quiet");
                command.arg("--json").arg(&report).arg("--witness").arg(self.folder.witness(instance));
                let task = Task { command, limit: instance.limit, report, stderr };
                task.run(self.stop).map_err(|e| Error::File(format!("cannot run {}: {e}", instance.file_name())))?
            }
        };
        let Some(outcome) = outcome else { return Ok(None) };
        let first = self.list.instances.iter().find(|other| other.network_file == instance.network_file);
        let is_first = first.is_some_and(|first| first.number == instance.number);
        let prepare_seconds = if is_first { programs.seconds(instance) } else { 0.0 };
        let record = Record::new(instance, prepare_seconds, outcome);
        self.folder.keep(instance, &record)?;
        Ok(Some(record))
    }
}
