//! The programs that answer: a verifier for each network, or this program itself.

use super::list::Instance;
use crate::compile;
use crate::error::Error;
use crate::verifier::{Cargo, RuntimeSource, build_in_cache};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What is asked about a network.
#[derive(Debug)]
pub enum Program {
    Verifier(PathBuf),
    /// `pg-codegen`, which takes the network as an argument.
    Interpreter(PathBuf),
    /// There is none, for this reason: the model is broken or uses what is not supported.
    None(String),
}

/// A program, and how long it took to make it.
#[derive(Debug)]
pub struct Made {
    pub program: Program,
    pub seconds: f64,
}

/// Generates and builds the verifier of a network, unless it is there. What is wrong with the model is a matter of its
/// instances; what is wrong with the machine is an error.
pub fn make(network: &Path, source: &RuntimeSource, cargo: &Cargo) -> Result<Made, Error> {
    let start = Instant::now();
    let program = match compile(network).and_then(|net| build_in_cache(net, source, cargo)) {
        Ok(binary) => Program::Verifier(binary),
        Err(error @ (Error::Model(_) | Error::Unsupported(_))) => Program::None(error.to_string()),
        Err(error) => return Err(error),
    };
    Ok(Made { program, seconds: start.elapsed().as_secs_f64() })
}

/// The program of each network for which there is one.
#[derive(Debug, Default)]
pub struct Programs {
    by_network: HashMap<PathBuf, Made>,
}

impl Programs {
    /// Nothing to build: all networks are interpreted.
    pub fn interpreted<'a>(instances: impl Iterator<Item = &'a Instance>) -> Result<Programs, Error> {
        let this = std::env::current_exe().map_err(|e| Error::File(format!("cannot find this program: {e}")))?;
        let made = || Made { program: Program::Interpreter(this.clone()), seconds: 0.0 };
        Ok(Programs { by_network: instances.map(|instance| (instance.network_file.clone(), made())).collect() })
    }

    pub fn add(&mut self, network: &Path, made: Made) {
        self.by_network.insert(network.to_path_buf(), made);
    }

    pub fn has(&self, instance: &Instance) -> bool {
        self.by_network.contains_key(&instance.network_file)
    }

    /// What making the instance's program took.
    pub fn seconds(&self, instance: &Instance) -> f64 {
        self.by_network.get(&instance.network_file).map_or(0.0, |made| made.seconds)
    }

    /// The command line that asks the instance's question, or why there is none.
    pub fn command(&self, instance: &Instance) -> Result<Command, String> {
        let (verb, rest) = instance.question.split_first().expect("a question has a verb");
        match self.by_network.get(&instance.network_file).map(|made| &made.program) {
            Some(Program::Verifier(binary)) => {
                let mut command = Command::new(binary);
                command.arg(verb).args(rest);
                Ok(command)
            }
            Some(Program::Interpreter(this)) => {
                let mut command = Command::new(this);
                command.arg(verb).arg(&instance.network_file).args(rest);
                Ok(command)
            }
            Some(Program::None(reason)) => Err(reason.clone()),
            None => Err("no program was made for the network".into()),
        }
    }
}
