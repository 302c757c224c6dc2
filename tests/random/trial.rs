//! One case, and what the engines say of it.

use super::{Kind, draw_for};
use crate::case::Case;
use crate::certify::ask_for_proof;
use crate::judge::{Answer, ask, combinations, everything};
use pg_runtime::options::{Options, Semantics};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A search that has not answered this long after its time was up counts as a failure.
const GRACE: Duration = Duration::from_secs(20);

/// What is asked about every case.
#[derive(Clone, Copy)]
pub struct Asking {
    pub seed: u64,
    /// Seconds for each question.
    pub timeout: f64,
    /// What the questions are about.
    pub semantics: Semantics,
    /// Whether they are for proofs that the judge accepts.
    pub for_proofs: bool,
}

/// A case, and what each engine said of it.
pub struct Trial {
    pub asking: Asking,
    pub number: u64,
    pub case: Arc<Case>,
    pub answers: Vec<(Options, Result<Answer, Failure>)>,
    /// What the answers took.
    pub time: Duration,
}

/// In what way an engine failed.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The answer contradicts the oracle's.
    Wrong(String),
    Panicked(String),
    /// It did not stop when its time was up.
    Stuck,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Wrong(what) => write!(f, "wrong: {what}"),
            Failure::Panicked(message) => write!(f, "panicked: {message}"),
            Failure::Stuck => write!(f, "no answer {} seconds after its time was up", GRACE.as_secs()),
        }
    }
}

impl Trial {
    /// Asks the engine whose turn it is.
    pub fn in_turn(asking: &Asking, number: u64) -> Trial {
        let all = everything(asking.timeout);
        let turn = (number / Kind::TURNS) as usize % all.len();
        Trial::of(asking, number, vec![all[turn].clone()])
    }

    /// Asks every engine, and each combination of the paper's.
    pub fn of_all(asking: &Asking, number: u64) -> Trial {
        let all = everything(asking.timeout);
        let ours = all[..2].to_vec();
        Trial::of(asking, number, [ours, combinations(asking.timeout)].concat())
    }

    fn of(asking: &Asking, number: u64, engines: Vec<Options>) -> Trial {
        let case = Arc::new(draw_for(asking.semantics, asking.seed, number));
        let start = Instant::now();
        let answer = |options: Options| {
            let options = Options { semantics: Some(asking.semantics), ..options };
            let answer = guarded(&case, &options, asking.for_proofs);
            (options, answer)
        };
        let answers = engines.into_iter().map(answer).collect();
        Trial { asking: *asking, number, case, answers, time: start.elapsed() }
    }

    pub fn kind(&self) -> Kind {
        Kind::of(self.number)
    }

    pub fn has_failed(&self) -> bool {
        self.answers.iter().any(|(_, answer)| answer.is_err())
    }
}

/// Asks in a thread of its own, which is left behind if it does not stop.
fn guarded(case: &Arc<Case>, options: &Options, for_proofs: bool) -> Result<Answer, Failure> {
    let (sender, receiver) = channel();
    let (asked, chosen) = (case.clone(), options.clone());
    let thread = std::thread::spawn(move || {
        let ask = if for_proofs { ask_for_proof } else { ask };
        sender.send(ask(&asked, &chosen))
    });
    let patience = Duration::from_secs_f64(options.timeout.unwrap_or(0.0)) + GRACE;
    match receiver.recv_timeout(patience) {
        Ok(answer) => answer.map_err(Failure::Wrong),
        Err(RecvTimeoutError::Timeout) => Err(Failure::Stuck),
        Err(RecvTimeoutError::Disconnected) => {
            let panic = thread.join().expect_err("a thread that sends nothing has panicked");
            Err(Failure::Panicked(message(&*panic)))
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").into()
}
