//! The normal form: stages, each an affine map of earlier ones and the inputs, with a ReLU after all but the last.
//!
//! Weights are float32. Where folding or a wider source type rounded, a stage states how far its coefficients may be
//! from the model's, row by row; zero means bit-exact.

mod map;

use crate::read::Source as File;
pub use map::{Map, Rows};
use pg_core::Source;
use std::fmt;

#[derive(Clone, Debug)]
pub struct Net {
    pub source: File,
    pub domain: Option<Vec<(f64, f64)>>,
    pub inputs: usize,
    pub stages: Vec<Stage>,
    /// What normalisation did that a reader of the model would want to know.
    pub notes: Vec<String>,
    /// The model's nodes as they were read: the name and the operator of each.
    pub read: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct Stage {
    /// The operators of the model that this stage was made from.
    pub origin: String,
    /// The names of the model's nodes that are its affine map, and of the one that is its ReLU.
    pub parts: Vec<String>,
    pub relu: Option<String>,
    pub edges: Vec<Edge>,
    pub bias: Vec<f32>,
    pub error: StageError,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub from: Source,
    pub map: Map,
}

/// The model's stage differs from the stored one by at most `weight[i]` in each coefficient of row i that is not 0, and by
/// at most `bias[i]` in its bias; what is 0 here is 0 there.
#[derive(Clone, Debug, PartialEq)]
pub struct StageError {
    pub weight: Vec<f64>,
    pub bias: Vec<f64>,
}

impl StageError {
    pub fn none(neurons: usize) -> StageError {
        StageError { weight: vec![0.0; neurons], bias: vec![0.0; neurons] }
    }

    pub fn is_zero(&self) -> bool {
        self.weight.iter().chain(&self.bias).all(|&e| e == 0.0)
    }

    pub fn largest(&self) -> (f64, f64) {
        let largest = |errors: &[f64]| errors.iter().fold(0.0, |a: f64, &b| a.max(b));
        (largest(&self.weight), largest(&self.bias))
    }
}

impl Stage {
    pub fn width(&self) -> usize {
        self.bias.len()
    }

    /// Numbers that the stage stores.
    pub fn parameters(&self) -> usize {
        self.edges.iter().map(|edge| edge.map.parameters()).sum::<usize>() + self.bias.len()
    }

    /// What it reads, for people: counted from 1, as everything that is shown is.
    pub fn reads(&self) -> String {
        let name = |edge: &Edge| match edge.from {
            Source::Input => "inputs".to_string(),
            Source::Stage(s) => (s + 1).to_string(),
        };
        self.edges.iter().map(name).collect::<Vec<_>>().join(", ")
    }

    /// The kinds of its maps, for people.
    pub fn kinds(&self) -> String {
        self.edges.iter().map(|edge| edge.map.to_string()).collect::<Vec<_>>().join("; ")
    }
}

impl Net {
    pub fn outputs(&self) -> usize {
        self.stages.last().expect("a network has a stage").width()
    }

    pub fn relus(&self) -> usize {
        let (_, hidden) = self.stages.split_last().expect("a network has a stage");
        hidden.iter().map(Stage::width).sum()
    }

    pub fn parameters(&self) -> usize {
        self.stages.iter().map(Stage::parameters).sum()
    }

    pub fn width(&self, source: Source) -> usize {
        match source {
            Source::Input => self.inputs,
            Source::Stage(s) => self.stages[s].width(),
        }
    }

    /// Whether each stage reads the one before it and nothing else.
    pub fn is_chain(&self) -> bool {
        let before = |k: usize| k.checked_sub(1).map_or(Source::Input, Source::Stage);
        self.stages.iter().enumerate().all(|(k, stage)| stage.edges.len() == 1 && stage.edges[0].from == before(k))
    }
}

impl fmt::Display for Net {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (k, stage) in self.stages.iter().enumerate() {
            let relu = if k + 1 < self.stages.len() { ", ReLU" } else { "" };
            let (weight, bias) = stage.error.largest();
            writeln!(
                f,
                "stage {}: {} neurons{relu}  reads {}  error {weight:e}, {bias:e}  from {}",
                k + 1,
                stage.width(),
                stage.reads(),
                stage.origin
            )?;
            for edge in &stage.edges {
                write!(f, "{}", edge.map.dump())?;
            }
            writeln!(f, "  bias {:?}", stage.bias)?;
        }
        Ok(())
    }
}
