//! What a user may choose about a verification, in one table.

use crate::property::Property;
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Debug, Serialize)]
pub struct Options {
    /// Give up after this many seconds
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<f64>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// How to search
    #[arg(long, value_enum, default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// What the linear program minimises (engine peregrinn)
    #[arg(long, value_enum, default_value_t = Penalty::Weighted)]
    pub penalty: Penalty,
    /// How bounds are inferred at a node (engine peregrinn)
    #[arg(long, value_enum, default_value_t = Inference::Raised)]
    pub inference: Inference,
    /// Which neuron to condition (engine peregrinn)
    #[arg(long, value_enum, default_value_t = Priority::MaxSlack)]
    pub priority: Priority,
    /// What a verdict is about [default: real, or float32 if the property declares its tensors so]
    #[arg(long, value_enum)]
    pub semantics: Option<Semantics>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            timeout: None,
            threads: None,
            engine: Engine::Auto,
            penalty: Penalty::Weighted,
            inference: Inference::Raised,
            priority: Priority::MaxSlack,
            semantics: None,
            seed: 0,
        }
    }
}

impl Options {
    /// With every default of this machine filled in.
    pub fn resolved(self) -> Options {
        let cores = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        Options { threads: Some(self.threads.unwrap_or_else(cores)), ..self }
    }

    /// What a verdict about a property is about: what was chosen, or else what the property declares.
    pub fn semantics_of(&self, property: &Property) -> Semantics {
        let declared = if property.declares_float32 { Semantics::Float32 } else { Semantics::Real };
        self.semantics.unwrap_or(declared)
    }

    /// The arguments that make another process choose the same: every field is an option of its own name.
    pub fn arguments(&self) -> Vec<String> {
        let table = serde_json::to_value(self).expect("a table of plain data");
        let mut arguments = Vec::new();
        for (name, value) in table.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            arguments.push(format!("--{}", name.replace('_', "-")));
            arguments.push(value.as_str().map_or_else(|| value.to_string(), String::from));
        }
        arguments
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Splits of the inputs where there are few, else branch and bound on phases
    Auto,
    /// Branch and bound on phases, however few inputs there are
    Phases,
    /// The algorithm of the PEREGRiNN paper
    Peregrinn,
}

/// The weights of the slack penalty, by layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Penalty {
    /// Growing with depth: slack is pushed to the layers nearest the input
    Weighted,
    /// The same for all layers
    Uniform,
    /// None: any feasible point
    Feasibility,
    /// Growing towards the input
    Inverted,
}

/// What the paper's engine knows of hidden neurons at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Inference {
    /// Attacks, and bounds with slopes raised by gradient steps, which the paper does not have
    Raised,
    /// Sampling and symbolic intervals alone, as published
    Symbolic,
}

/// Which of the neurons in the undecided layer nearest the input is conditioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Priority {
    /// The one whose relaxation is furthest from the ReLU
    MaxSlack,
    /// The one whose relaxation is nearest to it
    MinSlack,
    /// Any, by the seed
    Random,
}

/// What a network is to a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Semantics {
    /// The model's function in real numbers
    Real,
    /// The program that evaluates it in float32
    Float32,
}

pub fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1e9).contains(&value) => Ok(value),
        _ => Err("not a number of seconds between 0 and 1e9".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    #[test]
    fn arguments_read_back_to_the_same_options() {
        let chosen = Options {
            timeout: Some(0.25),
            threads: Some(3),
            engine: Engine::Peregrinn,
            penalty: Penalty::Inverted,
            inference: Inference::Symbolic,
            priority: Priority::MinSlack,
            semantics: Some(Semantics::Float32),
            seed: u64::MAX,
        };
        for options in [Options::default(), chosen] {
            let read = Line::try_parse_from([vec![String::new()], options.arguments()].concat()).unwrap().options;
            assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&options).unwrap());
        }
    }
}
