//! One search from the clock's start to the answer on stdout and in files.

use super::outputs::Outputs;
use super::progress::Line;
use super::question::Question;
use super::terminal::Status;
use super::{answer, complain, json, say, signals};
use crate::certificate::{Heading, Journal};
use crate::files::{remove, sha256, write_atomically};
use crate::options::{Options, Semantics};
use crate::property::Property;
use crate::report::{Activity, Control, Counters, Times};
use crate::search::{self, Asked, Outcome};
use crate::tuning::Tuning;
use crate::verdict::{StopReason, Verdict};
use clap::Args;
use pg_core::Network;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// What a certificate says that it is from.
const TOOL: &str = concat!("pg-codegen ", env!("CARGO_PKG_VERSION"));
/// Why a certificate about a float32 program is refused.
const NOT_THE_MODELS: &str = "--proof: the float32 program has other coefficients than the model, which were folded, and a \
    certificate starts at the model; give --semantics real, or no --proof";
const NO_FLOATS: &str = "--proof: the property fixes inputs at numbers that are no float32, which the program cannot have as \
    they are; give --semantics real, or no --proof";
/// How often the progress line is drawn.
const TICK: Duration = Duration::from_millis(200);
/// How long after it should have stopped a search is waited for.
pub const GRACE: Duration = Duration::from_secs(3);
/// As much as a main thread has.
const STACK: usize = 8 << 20;

/// Whether a judge understands the property alike; and finds the float32 program, if that is what a certificate is about, in the model,
/// and its inputs in the property.
fn may_certify(network: &dyn Network, property: &Property, semantics: Semantics) -> Result<(), String> {
    if let Some(why) = property.differs_with_closed_fractions() {
        return Err(format!("--proof: {why}, which certificates cannot tell; give no --proof"));
    }
    let is_of_floats = || property.disjuncts.iter().all(|disjunct| disjunct.region.is_of_floats());
    match semantics {
        Semantics::Float32 if !network.shape().is_exact() => Err(NOT_THE_MODELS.into()),
        Semantics::Float32 if !is_of_floats() => Err(NO_FLOATS.into()),
        _ => Ok(()),
    }
}

#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    #[command(flatten, next_help_heading = "Search")]
    options: Options,
    #[command(flatten, next_help_heading = "Output")]
    outputs: Outputs,
}

impl RunArgs {
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Starts the clock. Outputs that could not be written end it here, before any network or property is read.
    pub fn begin(&self) -> Result<Run, String> {
        self.outputs.check()?;
        let options = self.options.clone().resolved();
        let control = Arc::new(Control::new(options.timeout));
        Ok(Run { options, outputs: self.outputs.clone(), control })
    }

    /// The same with a time of its own.
    pub fn begin_within(&self, seconds: f64) -> Result<Run, String> {
        if self.options.timeout.is_some() {
            return Err("--timeout: give --seconds, which is how long the root may take".into());
        }
        RunArgs { options: Options { timeout: Some(seconds), ..self.options.clone() }, ..self.clone() }.begin()
    }
}

/// A search that has its options and its time.
#[derive(Debug)]
pub struct Run {
    pub(super) options: Options,
    pub(super) outputs: Outputs,
    pub(super) control: Arc<Control>,
}

impl Run {
    /// Searches, tells the verdict and returns its exit code.
    pub fn answer(&self, network: &dyn Network, question: &Question) -> Result<u8, String> {
        let options = self.options_of(network, question)?;
        let certificate = self.proof()?.map(|path| self.certificate(path, network, question, &options)).transpose()?;
        self.conduct(network, question, &options, GRACE, |Asked { network, property, options, tuning, control }| {
            Ok(match certificate {
                Some((journal, heading)) => {
                    search::prove(network, property, options, tuning, control, (journal, &heading))
                }
                None => search::verify_tuned(network, property, options, tuning, control),
            })
        })
    }

    /// The options with what the question is about, and whether there can be a certificate of that.
    pub fn options_of(&self, network: &dyn Network, question: &Question) -> Result<Options, String> {
        let semantics = self.options.semantics_of(&question.property);
        if self.outputs.proof.is_some() {
            may_certify(network, &question.property, semantics)?;
        }
        Ok(Options { semantics: Some(semantics), ..self.options.clone() })
    }

    /// Where a certificate goes, if there is to be one. That of an earlier run goes.
    pub fn proof(&self) -> Result<Option<&Path>, String> {
        let Some(path) = self.outputs.proof.as_deref() else { return Ok(None) };
        remove(path).map_err(|e| format!("--proof: cannot write {}: {e}", path.display()))?;
        Ok(Some(path))
    }

    /// Tells what a search comes to, and returns its exit code.
    ///
    /// The search has a thread of its own, so that one that does not stop in time can be left behind: the process then
    /// ends with what is known.
    pub fn conduct(
        &self,
        network: &dyn Network,
        question: &Question,
        options: &Options,
        grace: Duration,
        search: impl FnOnce(Asked) -> Result<Outcome, String> + Send,
    ) -> Result<u8, String> {
        for note in question.notes.iter().filter(|_| !self.outputs.quiet) {
            say(&format!("note: {note}\n"));
        }
        let status = Status::spinner(self.outputs.quiet);
        signals::catch(self.control.clone(), status.clone());
        let (sender, receiver) = mpsc::channel();
        let search = move || {
            let tuning = Tuning::default();
            let (property, control) = (&question.property, &*self.control);
            let _ = sender.send(search(Asked { network, property, options, tuning: &tuning, control }));
        };
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("search".into()).stack_size(STACK);
            builder.spawn_scoped(scope, search).map_err(|e| format!("cannot start the search: {e}"))?;
            let mut line = Line::new(status);
            match watch(&receiver, &self.control, grace, || line.draw(&self.control)) {
                Ok(outcome) => {
                    drop(line);
                    self.tell(network, question, options, outcome?)
                }
                Err(reason) => {
                    drop(line);
                    let told = self.tell(network, question, options, self.abandoned(reason));
                    std::process::exit(told.unwrap_or_else(|message| complain(&message)).into())
                }
            }
        })
    }

    /// Where the records of a certificate go, and what it is about. A property that came as no text is written beside it.
    fn certificate<'q>(
        &self,
        path: &Path,
        network: &'q dyn Network,
        question: &Question,
        options: &Options,
    ) -> Result<(Journal, Heading<'q>), String> {
        let trouble = |e: io::Error| format!("--proof: cannot write {}: {e}", path.display());
        let property = match &question.text {
            None => question.sha256.clone(),
            Some(text) => {
                let beside = PathBuf::from(format!("{}.vnnlib", path.display()));
                write_atomically(&beside, text.as_bytes()).map_err(trouble)?;
                sha256(text.as_bytes())
            }
        };
        Ok((Journal::new(path).map_err(trouble)?, heading(network, property, options.semantics_of(&question.property))))
    }

    /// What is known of a search that was left behind.
    fn abandoned(&self, reason: StopReason) -> Outcome {
        let progress = self.control.progress();
        let nodes_of = |stage| self.control.nodes_of(stage);
        let counters = Counters {
            nodes: nodes_of(Activity::Boxes) + nodes_of(Activity::Phases),
            neuron_nodes: nodes_of(Activity::Refine),
            property_nodes: nodes_of(Activity::Prove),
            lp_calls: progress.lp_calls,
            max_depth: progress.depth,
            ..Counters::default()
        };
        Outcome {
            verdict: Verdict::Unknown(reason),
            counters,
            times: Times::default(),
            tuning: Tuning::default().hash(),
        }
    }

    /// The verdict goes to stdout before anything else can go wrong.
    fn tell(
        &self,
        network: &dyn Network,
        question: &Question,
        options: &Options,
        mut outcome: Outcome,
    ) -> Result<u8, String> {
        outcome.times.total = self.control.elapsed().as_secs_f64();
        let ending = network.model().ending;
        let result = answer::result(&outcome.verdict, ending);
        let printed = print(&result);
        let witness = answer::witness_of(&outcome.verdict, ending);
        let report = || json::report(network, question, options, &outcome);
        let written = self.outputs.write(&result, witness.as_deref(), report);
        if !self.outputs.quiet {
            say(&answer::summary(&network.model(), question, options, &outcome));
        }
        printed.and(written).map(|()| outcome.verdict.exit_code())
    }
}

/// What a certificate is about.
pub fn heading(network: &dyn Network, property: String, semantics: Semantics) -> Heading<'_> {
    let (model, shape) = (network.model(), network.shape());
    let widths = shape.stages[..shape.last()].iter().map(|stage| stage.width()).collect();
    Heading { model: model.sha256, property, generator: TOOL, widths, semantics }
}

/// A reader that has seen enough, such as `head -1`, is no mistake.
fn print(text: &str) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(format!("cannot write the verdict: {e}")),
        _ => Ok(()),
    }
}

/// Waits for the search's outcome, with a tick now and then.
///
/// A search that has not stopped some time after it was told to is given up for that reason; one that panicked has
/// decided nothing.
fn watch<T>(
    outcome: &Receiver<T>,
    control: &Control,
    grace: Duration,
    mut tick: impl FnMut(),
) -> Result<T, StopReason> {
    let mut told = None;
    loop {
        match outcome.recv_timeout(TICK) {
            Ok(outcome) => return Ok(outcome),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(StopReason::GaveUp("an internal error, described on stderr".into()));
            }
            Err(RecvTimeoutError::Timeout) => tick(),
        }
        if let Some(reason) = control.stop() {
            let told: Instant = *told.get_or_insert_with(Instant::now);
            if told.elapsed() >= grace {
                return Err(reason);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unknown(reason: StopReason) -> Outcome {
        Outcome {
            verdict: Verdict::Unknown(reason),
            counters: Counters::default(),
            times: Times::default(),
            tuning: String::new(),
        }
    }

    #[test]
    fn an_outcome_is_handed_on_at_once() {
        let (sender, receiver) = mpsc::channel();
        sender.send(unknown(StopReason::Timeout)).unwrap();
        let outcome = watch(&receiver, &Control::new(None), GRACE, || panic!("no tick is due")).unwrap();
        assert_eq!(outcome.verdict.exit_code(), 3);
    }

    #[test]
    fn a_search_that_misses_its_deadline_is_left_behind() {
        let (_sender, receiver) = mpsc::channel::<Outcome>();
        let mut ticks = 0;
        let reason = watch(&receiver, &Control::new(Some(0.0)), Duration::from_millis(300), || ticks += 1);
        assert_eq!(reason.unwrap_err(), StopReason::Timeout);
        assert!((2..=4).contains(&ticks), "{ticks}");
    }

    #[test]
    fn a_search_that_ignores_an_interrupt_is_left_behind() {
        let (_sender, receiver) = mpsc::channel::<Outcome>();
        let control = Control::new(None);
        control.interrupt();
        let reason = watch(&receiver, &control, Duration::ZERO, || ());
        assert_eq!(reason.unwrap_err(), StopReason::Interrupted);
    }

    #[test]
    fn a_search_that_panicked_decides_nothing() {
        let (sender, receiver) = mpsc::channel::<Outcome>();
        drop(sender);
        let reason = watch(&receiver, &Control::new(None), GRACE, || ()).unwrap_err();
        assert!(matches!(reason, StopReason::GaveUp(_)));
    }
}
