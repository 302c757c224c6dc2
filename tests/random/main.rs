//! `random`: asks every engine about random tiny networks, and holds the answers against exact brute force.
//!
//! Exit code 0 if no answer was wrong, 1 if one was.

use clap::Parser;
use pg_runtime::options::Semantics;
use pg_tests::random::{Asking, Kind, Plan, Tally, Trial, run};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Asks every engine about random tiny networks, and holds the answers against exact brute force.
///
/// The engines, and the variants of the paper's, take turns. A third of the networks have ordinary numbers, a third are
/// degenerate, and a third have weights of every exponent of float32. A wrong verdict, a panic or a search that does
/// not stop is printed with all that is needed to ask again, and makes the exit code 1.
#[derive(Parser)]
struct Arguments {
    /// Cases to try
    #[arg(long, value_name = "N", default_value_t = 3000)]
    count: u64,
    /// The number of the first case
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Seed of the cases
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Ask every engine about this case only, and describe it whatever the answers are
    #[arg(long, value_name = "N", conflicts_with_all = ["count", "from", "kind"])]
    case: Option<u64>,
    /// Try only cases of this kind: ordinary, dyadic, wild, layers, peak, neurons, drifting or coefficients
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Option<Kind>,
    /// Cases tried at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: u32,
    /// Seconds for each question
    #[arg(long, value_name = "S", default_value_t = 5.0, value_parser = seconds)]
    timeout: f64,
    /// Ask about the network in real numbers, or about its float32 program on boxes of a few floats
    #[arg(long, value_enum, default_value_t = Semantics::Real)]
    semantics: Semantics,
    /// Ask for proofs that pg-check accepts. A search that closes what it should not then asks it to accept what is false
    #[arg(long)]
    proofs: bool,
    /// Failed cases that are printed in full
    #[arg(long, value_name = "N", default_value_t = 5)]
    show: usize,
    /// Write each failed case, as a model and a property, to a folder of its own in this one
    #[arg(long, value_name = "DIR")]
    save: Option<PathBuf>,
}

impl Arguments {
    fn asking(&self) -> Asking {
        Asking { seed: self.seed, timeout: self.timeout, semantics: self.semantics, for_proofs: self.proofs }
    }
}

fn kind(word: &str) -> Result<Kind, String> {
    let words = Kind::ALL.map(Kind::word);
    let found = Kind::ALL.into_iter().find(|kind| kind.word() == word);
    found.ok_or_else(|| format!("the kinds are {}", words.join(", ")))
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e6).contains(&value) => Ok(value),
        _ => Err("not a number of seconds between 0 and 1e6".into()),
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let failed = match arguments.case {
        Some(number) => one(&arguments, number),
        None => many(&arguments),
    };
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn one(arguments: &Arguments, number: u64) -> bool {
    let trial = Trial::of_all(&arguments.asking(), number);
    print!("{}", trial.describe());
    save(arguments, &trial);
    trial.has_failed()
}

fn many(arguments: &Arguments) -> bool {
    let plan = Plan {
        asking: arguments.asking(),
        numbers: arguments.from..arguments.from.saturating_add(arguments.count),
        kind: arguments.kind,
        threads: arguments.threads as usize,
    };
    let (shown, progress) = (AtomicUsize::new(0), Progress::new(arguments.count));
    let tally = run(&plan, |trial, tally| {
        progress.tell(trial, tally);
        if trial.has_failed() {
            save(arguments, trial);
            if shown.fetch_add(1, Ordering::Relaxed) < arguments.show {
                println!("{}", trial.describe());
            }
        }
    });
    progress.end();
    println!("{tally}");
    tally.total().failed > 0
}

fn save(arguments: &Arguments, trial: &Trial) {
    if let Some(folder) = &arguments.save
        && let Err(error) = trial.save(folder)
    {
        eprintln!("cannot write to {}: {error}", folder.display());
    }
}

/// A line on stderr: rewritten on a terminal, a new one at longer intervals elsewhere.
struct Progress {
    start: Instant,
    last: Mutex<Instant>,
    count: u64,
    is_terminal: bool,
}

impl Progress {
    fn new(count: u64) -> Progress {
        let now = Instant::now();
        Progress { start: now, last: Mutex::new(now), count, is_terminal: std::io::stderr().is_terminal() }
    }

    fn tell(&self, trial: &Trial, tally: &Tally) {
        let mut last = self.last.lock().expect("no holder panics");
        let interval = if self.is_terminal { Duration::from_millis(200) } else { Duration::from_secs(10) };
        if last.elapsed() < interval {
            return;
        }
        *last = Instant::now();
        let (total, seconds) = (tally.total(), self.start.elapsed().as_secs_f64());
        let line = format!(
            "{} cases of {} numbers, now at {}, {} failed answers, {seconds:.0} s",
            total.cases, self.count, trial.number, total.failed
        );
        let (before, after) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        eprint!("{before}{line}{after}");
        let _ = std::io::stderr().flush();
    }

    fn end(&self) {
        if self.is_terminal {
            eprint!("\r\x1b[K");
        }
        eprintln!("{:.1} s", self.start.elapsed().as_secs_f64());
    }
}
