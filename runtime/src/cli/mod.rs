//! The command line of a generated verifier.

mod eval;
mod info;

use crate::network::Network;
use clap::{Parser, Subcommand};
pub use eval::eval;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bad usage or bad input.
const BAD_INPUT: u8 = 4;

#[derive(Parser)]
#[command(about = "Verifies one fixed neural network", long_about = None)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Evaluate the network on each line of a file of comma-separated numbers
    Eval {
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
        Command::Eval { input, repeat } => eval(network, &input, repeat),
        Command::Info => info::run(network),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

/// Prints clap's message; asking for help is no mistake.
pub fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    if error.use_stderr() { ExitCode::from(BAD_INPUT) } else { ExitCode::SUCCESS }
}

pub fn fail(message: &str) -> ExitCode {
    eprintln!("error: {message}");
    ExitCode::from(BAD_INPUT)
}
