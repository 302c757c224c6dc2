//! What a command line asks of a network, without a search for the answer: to look again at answers that were kept.

use super::question::Question;
use super::{Args, Command};
use crate::options::Semantics;
use crate::verdict::Witness;
use clap::Parser;
use pg_core::Network;

/// A question that fits its network.
#[derive(Debug)]
pub struct Asked {
    question: Question,
    semantics: Semantics,
}

impl Asked {
    /// The arguments are those of a verifier: `verify` or `robust` and what follows it.
    pub fn new(arguments: &[String], network: &dyn Network) -> Result<Asked, String> {
        let line = [String::new()].into_iter().chain(arguments.iter().cloned());
        let (question, run) = match Args::try_parse_from(line).map_err(|e| e.to_string())?.command {
            Command::Verify(args) if args.sub.is_none() => (args.question(network)?, args.run),
            Command::Robust(args) => (args.question(network)?, args.run),
            _ => return Err("the command line asks no whole question".into()),
        };
        let semantics = run.options().semantics_of(&question.property);
        Ok(Asked { question, semantics })
    }

    /// Whether an input is a counterexample: replayed as every witness is.
    pub fn is_violated_at(&self, network: &dyn Network, input: &[f32]) -> bool {
        input.len() == network.inputs()
            && Witness::replay(network, &self.question.property, self.semantics, input).is_some()
    }

    /// What is asked about an image, as the VNN-LIB that is written beside its certificate.
    pub fn text(&self) -> Option<&str> {
        self.question.text.as_deref()
    }
}
