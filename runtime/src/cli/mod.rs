//! The command line of a generated verifier. `pg-codegen` shares its commands.

mod answer;
mod asked;
mod eval;
mod info;
mod json;
mod outputs;
mod progress;
mod question;
mod run;
mod signals;
mod split;
mod terminal;
#[cfg(test)]
pub(crate) mod tests;

pub use asked::Asked;
use clap::{Parser, Subcommand};
pub use eval::eval;
use pg_core::Network;
pub use progress::duration;
pub(crate) use question::Question;
pub use question::{Robust, Verify};
pub use run::{Run, RunArgs};
pub use signals::on_interrupt;
pub use split::{MERGE_HELP, Merge, SPLIT_HELP, Split};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
pub use terminal::{Status, fit};

/// Bad usage or bad input.
const BAD_INPUT: u8 = 4;

/// What the exit code of `verify` and `robust` says; for the end of their help.
pub const EXIT_CODES: &str = "\
Stdout holds the verdict alone on its first line; after sat the witness follows.

  exit code  verdict
  0          unsat    the property holds: no counterexample exists
  1          sat      it is violated by the witness
  2          unknown  neither was shown, for the reason on stderr
  3          timeout  the given time was used up
  4                   bad usage or input; there is no verdict";

#[derive(Parser)]
#[command(about = "Verifies one fixed neural network", long_about = None)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Prove that a property holds, or find a counterexample
    #[command(after_help = EXIT_CODES)]
    Verify(Verify),
    /// Prove that no input near an image is classified otherwise, or find one
    #[command(after_help = EXIT_CODES)]
    Robust(Robust),
    /// Work on a property for a while, and write what is left as parts for many machines
    #[command(after_help = SPLIT_HELP)]
    Split(Split),
    /// Tell what the parts of a property have shown together
    #[command(after_help = MERGE_HELP)]
    Merge(Merge),
    /// Evaluate the network on each line of a file of comma-separated numbers
    Eval {
        /// One input a line, its numbers separated by commas or blanks
        input: PathBuf,
        /// Evaluate everything N times more and tell the time per input on stderr
        #[arg(long, value_name = "N")]
        repeat: Option<usize>,
    },
    /// Tell which network this is
    Info,
}

/// Runs the command line on the network it was built for.
pub fn main(network: &dyn Network) -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return usage(&error),
    };
    let result = match args.command {
        Command::Verify(args) => args.run.begin().and_then(|run| args.decide(network, &run)),
        Command::Robust(args) => args.run.begin().and_then(|run| args.decide(network, &run)),
        Command::Split(args) => args.begin().and_then(|run| args.decide(network, &run)),
        Command::Merge(args) => args.begin().and_then(|run| args.decide(network, &run)),
        Command::Eval { input, repeat } => eval(network, &input, repeat).map(|()| 0),
        Command::Info => info::run(network).map(|()| 0),
    };
    ExitCode::from(result.unwrap_or_else(|message| complain(&message)))
}

/// Prints clap's message; asking for help is no mistake.
pub fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
}

pub fn fail(message: &str) -> ExitCode {
    ExitCode::from(complain(message))
}

/// Says what is wrong; the exit code for it.
fn complain(message: &str) -> u8 {
    say(&format!("error: {message}\n"));
    BAD_INPUT
}

/// To the person, on stderr; nobody may be listening there.
pub fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
