//! `split`, `verify --sub` and `merge`: one question on many machines.

use super::question::Question;
use super::run::{GRACE, Run, RunArgs, heading};
use super::say;
use crate::options::{Engine, Options};
use crate::search::{Asked, Outcome};
use crate::split::files::{About, Folder, part_of};
use crate::split::gather::OpenPart;
use crate::split::work;
use crate::verdict::Verdict;
use clap::Args;
use pg_core::Network;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// How long after its time a search that is to be split may take for that.
const PATIENCE: Duration = Duration::from_secs(120);
/// Parts of a part that has timed out, and how much longer these may take.
const PIECES: usize = 4;
const LONGER: f64 = 1.5;

/// For the end of the help.
pub const SPLIT_HELP: &str = "\
What the time was enough for is told as verify does. Else the verdict is unknown, exit code 2, and the parts are
DIR/1 to DIR/N, each for `verify PROP --sub DIR/K`, on any machine that sees the folder; then `merge PROP DIR`.";

pub const MERGE_HELP: &str = "\
unsat is said if the trees cover everything and every part is answered unsat, sat if the input of some part violates the
whole property. Else the verdict is unknown, exit code 2, and stderr names the parts that are open.";

#[derive(Args, Debug)]
pub struct Split {
    /// The counterexamples to look for: VNN-LIB 1.0 or 2.0, plain or .gz
    #[arg(value_name = "PROP.vnnlib")]
    property: PathBuf,
    /// Where the parts go: a folder that is new or empty
    #[arg(short, long = "output", value_name = "DIR")]
    output: PathBuf,
    /// How long to work on the root, about
    #[arg(long, value_name = "S", default_value_t = 10.0, value_parser = crate::options::seconds, allow_negative_numbers = true)]
    seconds: f64,
    /// How many parts to make at most
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=work::MOST_PARTS as u64))]
    parts: u64,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Args, Debug)]
pub struct Merge {
    /// The property that was split
    #[arg(value_name = "PROP.vnnlib")]
    property: PathBuf,
    /// The folder with its parts
    #[arg(value_name = "DIR")]
    dir: PathBuf,
    /// Make new parts of those that timed out: DIR/3 becomes DIR/3.1 and so on
    #[arg(long)]
    resplit: bool,
    #[command(flatten)]
    run: RunArgs,
}

impl Split {
    /// Starts the clock.
    pub fn begin(&self) -> Result<Run, String> {
        self.run.begin_within(self.seconds)
    }

    /// Works on the root, and returns the exit code.
    pub fn decide(&self, network: &dyn Network, run: &Run) -> Result<u8, String> {
        let question = Question::read(network, &self.property)?;
        let options = run.options_of(network, &question)?;
        refuse_paper(&options)?;
        let (about, proof) = (about(network, &question, &options), run.proof()?);
        let semantics = options.semantics_of(&question.property);
        let heading = heading(network, question.sha256.clone(), semantics);
        let code = run.conduct(network, &question, &options, PATIENCE, |asked| {
            work::split(asked, about, &self.output, self.parts as usize, &heading, proof)
        })?;
        if !run.outputs.quiet && self.output.join("root").exists() {
            say(&format!("the parts are in {}\n", self.output.display()));
        }
        Ok(code)
    }
}

/// Answers for a part of the question alone.
pub fn decide_part(network: &dyn Network, run: &Run, question: &Question, part: &Path) -> Result<u8, String> {
    let options = run.options_of(network, question)?;
    let (dir, name) = part_of(part)?;
    let folder = Folder { dir, about: about(network, question, &options) };
    let proof = run.proof()?;
    run.conduct(network, question, &options, GRACE, |asked| work::solve(asked, &folder, &name, proof))
}

impl Merge {
    pub fn begin(&self) -> Result<Run, String> {
        self.run.begin()
    }

    /// Says what all parts together have shown, and returns the exit code.
    pub fn decide(&self, network: &dyn Network, run: &Run) -> Result<u8, String> {
        let question = Question::read(network, &self.property)?;
        let options = run.options_of(network, &question)?;
        let folder = Folder { dir: self.dir.clone(), about: about(network, &question, &options) };
        let semantics = options.semantics_of(&question.property);
        let heading = heading(network, question.sha256.clone(), semantics);
        let (notes, proof) = (Mutex::new(String::new()), run.proof()?);
        let code = run.conduct(network, &question, &options, PATIENCE, |asked| {
            let proof = proof.map(|path| (path, &heading));
            let (mut outcome, open) = work::merge(asked, &folder, proof)?;
            let mut told = list(&folder, &open);
            if self.resplit {
                told += &split_open(asked, &folder, &open, &mut outcome)?;
            }
            *notes.lock().expect("nobody panics here") = told;
            Ok(outcome)
        })?;
        if !run.outputs.quiet {
            say(&notes.into_inner().expect("nobody panics here"));
        }
        Ok(code)
    }
}

/// The parts that are open, and why.
fn list(folder: &Folder, open: &[OpenPart]) -> String {
    let line = |part: &OpenPart| format!("open: {}: {}\n", folder.path(&part.name, "").display(), part.why);
    open.iter().map(line).collect()
}

/// Makes new parts of those that timed out; what was done, for people.
fn split_open(asked: Asked, folder: &Folder, open: &[OpenPart], outcome: &mut Outcome) -> Result<String, String> {
    let (mut told, mut longest) = (String::new(), 0.0f64);
    for OpenPart { name, part, timed_out, .. } in open {
        let (Some(part), Some(seconds)) = (part, timed_out) else { continue };
        let (found, count) = work::split_again(asked, folder, part, PIECES)?;
        outcome.counters.add(&found.counters);
        let path = folder.path(name, "");
        if let Verdict::Violated(_) = found.verdict {
            outcome.verdict = found.verdict;
            return Ok(told);
        }
        longest = if count > 0 { longest.max(*seconds) } else { longest };
        told += &match count {
            0 => format!("{}: nothing of it is open any more; merge again\n", path.display()),
            _ => format!("{0}: split into {0}.1 to {0}.{count}\n", path.display()),
        };
    }
    if longest > 0.0 {
        told += &format!("for the new parts a limit of {:.0} s may do: --timeout {0:.0}\n", (LONGER * longest).ceil());
    }
    Ok(told)
}

fn about(network: &dyn Network, question: &Question, options: &Options) -> About {
    About::new(network, question.sha256.clone(), options.semantics_of(&question.property))
}

/// The paper's search is one tree with linear programs, which is not split.
fn refuse_paper(options: &Options) -> Result<(), String> {
    match options.engine {
        Engine::Peregrinn => Err("--engine peregrinn: its search is not split; give auto or phases".into()),
        Engine::Auto | Engine::Phases => Ok(()),
    }
}
