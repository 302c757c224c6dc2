//! The loop of a suite: workers run instances, a builder makes the verifiers that later ones need, and one collects.
//!
//! A build beside a running verifier must not slow it down, or the times would not be the verifier's: builds take the cores
//! that the jobs leave free. Where they leave none, all verifiers are built before the first instance runs.

use super::built::Built;
use super::cache::{Cache, Key};
use super::certificate::Certificate;
use super::child::Task;
use super::expected::Expected;
use super::folder::Folder;
use super::list::{Instance, List};
use super::programs::{Programs, make};
use super::progress::Progress;
use super::queue::Queue;
use super::record::{Outcome, Record, Word};
use super::{SuiteArgs, arithmetic};
use crate::error::Error;
use crate::verifier::Cargo;
use pg_runtime::cli::{Status, say};
use pg_runtime::options::Options;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How often the status is drawn.
const TICK: Duration = Duration::from_millis(200);
/// How often the results of instances that ended are written, at most.
const WRITE: Duration = Duration::from_secs(1);

/// What workers and the builder tell; instances by their index.
enum Event {
    Started(usize),
    Ended(usize, Box<Record>),
    /// What is built now, or that nothing more is.
    Building(Option<String>),
    /// What no other instance would do better with.
    Failed(Error),
}

pub struct Suite<'a> {
    pub args: &'a SuiteArgs,
    pub list: &'a List,
    pub options: Options,
    pub folder: &'a Folder,
    pub built: &'a Built,
    pub expected: Option<&'a Expected>,
    pub cache: Option<&'a Cache>,
    /// By the numbers of instances, if there is a cache.
    pub keys: HashMap<usize, Key>,
    pub stop: &'a AtomicBool,
}

impl Suite<'_> {
    /// Runs the instances that have no record yet, some at a time. `write` is called now and then.
    pub fn run(
        &self,
        rows: &mut [Option<Record>],
        status: Status,
        write: impl Fn(&[Option<Record>]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let pending: Vec<usize> = (0..rows.len()).filter(|&k| rows[k].is_none()).collect();
        let (programs, networks) = self.programs(&pending)?;
        let queue = Queue::new(&self.list.instances, pending, programs);
        let free = self.free_cores();
        let before = if free == 0 { networks.len() } else { networks.len().min(1) };
        let aloud = Cargo { aloud: !self.args.quiet, jobs: None, stop: Some(self.stop) };
        let tell = |what: &str| {
            if aloud.aloud {
                say(&format!("{what}\n"))
            }
        };
        self.build(&networks, 0..before, &queue, aloud, tell)?;
        let mut progress = Progress::new(status, self.args.quiet, &self.list.instances, rows.iter().flatten());
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            let (queue, networks) = (&queue, &networks);
            for _ in 0..self.args.jobs {
                let sender = sender.clone();
                scope.spawn(move || self.work(queue, &sender));
            }
            scope.spawn(move || {
                let beside = Cargo { aloud: false, jobs: Some(free), stop: Some(self.stop) };
                let tell = |what: &str| drop(sender.send(Event::Building(Some(what.into()))));
                let built = self.build(networks, before..networks.len(), queue, beside, tell);
                let _ = sender.send(built.map_or_else(Event::Failed, |()| Event::Building(None)));
                queue.close();
            });
            let collected = self.collect(&receiver, rows, &mut progress, write);
            if collected.is_err() {
                self.stop.store(true, Ordering::Relaxed);
            }
            collected
        })
    }

    /// The cores that are idle while all jobs run.
    fn free_cores(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let taken = self.args.jobs.saturating_mul(self.options.threads.unwrap_or(1));
        cores.saturating_sub(taken as usize)
    }

    /// The programs that need not be built, and the networks that need one, in the order of their first instances.
    fn programs(&self, pending: &[usize]) -> Result<(Programs, Vec<&Path>), Error> {
        let instances = || pending.iter().map(|&k| &self.list.instances[k]);
        if self.args.interpret {
            return Ok((Programs::interpreted(instances())?, vec![]));
        }
        let (mut seen, mut programs) = (HashSet::new(), Programs::default());
        let mut networks: Vec<&Path> = instances().map(|instance| instance.network_file.as_path()).collect();
        networks.retain(|network| {
            let mut found = || self.built.find(network).map(|made| programs.add(network, made));
            seen.insert(*network) && found().is_none()
        });
        Ok((programs, networks))
    }

    /// Builds some of the networks' verifiers, one after the other, until the suite is stopped.
    fn build(
        &self,
        networks: &[&Path],
        which: std::ops::Range<usize>,
        queue: &Queue,
        cargo: Cargo,
        tell: impl Fn(&str),
    ) -> Result<(), Error> {
        for k in which {
            let network = networks[k];
            let name = network.file_name().unwrap_or_default().to_string_lossy();
            tell(&format!("building {} of {}: {name}", k + 1, networks.len()));
            let made = make(network, &self.args.runtime, &cargo);
            // A build that was ended by the same signal is no mistake.
            if self.stop.load(Ordering::Relaxed) {
                break;
            }
            queue.add(network, made?);
        }
        Ok(())
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
                    let expected = self.expected.and_then(|known| known.of(&record.network, &record.property));
                    progress.ended(k, &record, expected);
                    rows[k] = Some(*record);
                }
                Ok(Event::Building(what)) => progress.building(what),
                Ok(Event::Failed(error)) => return Err(error),
                Err(RecvTimeoutError::Timeout) => progress.draw(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if written.elapsed() >= WRITE {
                write(rows)?;
                written = Instant::now();
            }
        }
    }

    /// One worker: takes an instance that can run until there is none or the suite is stopped.
    fn work(&self, queue: &Queue, sender: &Sender<Event>) {
        while let Some(k) = queue.take(self.stop) {
            let _ = sender.send(Event::Started(k));
            match self.decide(&self.list.instances[k], queue) {
                Ok(Some(record)) => drop(sender.send(Event::Ended(k, Box::new(record)))),
                Ok(None) => return,
                Err(error) => return drop(sender.send(Event::Failed(error))),
            }
        }
    }

    /// Runs one instance and keeps its record; `None` if the suite was stopped meanwhile.
    fn decide(&self, instance: &Instance, queue: &Queue) -> Result<Option<Record>, Error> {
        let (command, seconds) = queue.command(instance);
        let proof = self.args.proof(instance);
        let outcome = match command {
            Err(reason) => Some(Outcome::refused(reason)),
            Ok(mut command) => {
                let (report, stderr) = (self.folder.running(instance, "json"), self.folder.running(instance, "stderr"));
                let options = Options { timeout: Some(instance.limit), ..self.options.clone() };
                command.args(options.arguments()).arg("--quiet");
                command.arg("--json").arg(&report).arg("--witness").arg(self.folder.running(instance, "txt"));
                command.args(proof.iter().flat_map(|file| [OsStr::new("--proof"), file.as_os_str()]));
                let task = Task { command, limit: instance.limit, report, stderr };
                task.run(self.stop).map_err(|e| Error::File(format!("cannot run {}: {e}", instance.file_name())))?
            }
        };
        let Some(outcome) = outcome else { return Ok(None) };
        let judged = proof.as_ref().filter(|_| outcome.verdict == Word::Unsat).map(|file| {
            Certificate::judge(file, &instance.network_file, &instance.property_file(file))
                .about(arithmetic(&self.options))
        });
        let record = Record::new(instance, if instance.is_first { seconds } else { 0.0 }, outcome, judged);
        self.folder.keep(instance, &record)?;
        if let (Some(cache), Some(key)) = (self.cache, self.key(instance)) {
            cache.keep(key, &record, self.folder, instance, proof.as_deref());
        }
        Ok(Some(record))
    }

    fn key(&self, instance: &Instance) -> Option<&Key> {
        self.keys.get(&instance.number)
    }

    /// Looks up what the cache knows of instances that have no record, some at a time.
    pub fn recall(&self, rows: &mut [Option<Record>]) -> Result<(), Error> {
        let Some(cache) = self.cache else { return Ok(()) };
        let waiting = self.list.instances.iter().zip(rows).filter(|(_, row)| row.is_none());
        let waiting = Mutex::new(waiting);
        let look_up = || {
            while !self.stop.load(Ordering::Relaxed) {
                let Some((instance, row)) = waiting.lock().expect("no holder panics").next() else { break };
                let proof = self.args.proof(instance);
                *row = self.key(instance).and_then(|key| cache.recall(key, instance, self.folder, proof.as_deref()));
                row.iter().try_for_each(|record| self.folder.keep(instance, record))?;
            }
            Ok(())
        };
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.args.jobs).map(|_| scope.spawn(look_up)).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("a worker that does not panic"))
        })
    }
}
