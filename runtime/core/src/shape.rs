//! The normal form of a network: stages in topological order, as borrowed data.
//!
//! ```text
//!     z_k = Σ over the edges (s → k) of A_ks·h_s + b_k,     h_k = max(z_k, 0),
//! ```
//!
//! where h_s is what an earlier stage computed or the network's inputs. The last stage has no ReLU: it is the output. A
//! chain has one edge a stage, a residual sum two.

use crate::kernel::padded;
use crate::map::{Conv, Dense, Map, Sparse};
use crate::rounding::Roundoff;

/// What a stage reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The network's inputs.
    Input,
    /// The activations of an earlier stage, counted from 0.
    Stage(usize),
}

#[derive(Clone, Copy, Debug)]
pub struct Edge<'a> {
    pub from: Source,
    pub map: Map<'a>,
}

#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// At least one; no source twice.
    pub edges: &'a [Edge<'a>],
    pub bias: &'a [f32],
    /// `None` if the stage's coefficients are bit for bit the model's.
    pub error: Option<StageError<'a>>,
    /// What a float32 program may be off by that computes the stage; `None` if it is meant in real arithmetic.
    pub roundoff: Option<Roundoff>,
}

/// The model's stage differs from this one by at most `weight[j]` in each coefficient of neuron j that is not 0, and by at most
/// `bias[j]` in its bias; what is 0 here is 0 there. On activations h the difference so is at most `weight[j]·Σ|h_i| + bias[j]`,
/// over those that the neuron reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageError<'a> {
    pub weight: &'a [f64],
    pub bias: &'a [f64],
}

/// What a neuron's z may differ by from the sum of its stored coefficients times what it reads, plus its bias.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NeuronError {
    /// For each unit of what it reads with a coefficient that is not 0.
    pub weight: f64,
    /// For each unit of the magnitudes of its products; the roundings of their sum in float64 are included.
    pub relative: f64,
    /// Whatever it reads.
    pub constant: f64,
}

#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    pub inputs: usize,
    /// In an order in which each reads only earlier ones.
    pub stages: &'a [Stage<'a>],
}

impl<'a> Edge<'a> {
    pub const fn dense(from: Source, map: Dense<'a>) -> Edge<'a> {
        Edge { from, map: Map::Dense(map) }
    }

    pub const fn sparse(from: Source, map: Sparse<'a>) -> Edge<'a> {
        Edge { from, map: Map::Sparse(map) }
    }

    pub const fn conv(from: Source, map: Conv<'a>) -> Edge<'a> {
        Edge { from, map: Map::Conv(map) }
    }
}

impl NeuronError {
    /// What the error costs but for its constant part, if the products' magnitudes add up to `size` and what they read to `read`.
    /// What is exact costs nothing, also where there is no bound to multiply it with.
    pub fn of_reads(&self, size: f64, read: f64) -> f64 {
        let times = |error: f64, what: f64| if error == 0.0 { 0.0 } else { error * what };
        times(self.weight, read) + times(self.relative, size)
    }

    /// All of it.
    pub fn at(&self, size: f64, read: f64) -> f64 {
        self.of_reads(size, read) + self.constant
    }

    pub fn is_none(&self) -> bool {
        *self == NeuronError::default()
    }
}

impl<'a> Stage<'a> {
    /// A stage that is exactly the model's.
    pub const fn exact(edges: &'a [Edge<'a>], bias: &'a [f32]) -> Stage<'a> {
        Stage { edges, bias, error: None, roundoff: None }
    }

    /// A stage that differs from the model's by at most so much.
    pub const fn rounded(edges: &'a [Edge<'a>], bias: &'a [f32], error: StageError<'a>) -> Stage<'a> {
        Stage { edges, bias, error: Some(error), roundoff: None }
    }

    /// The stage as a float32 program computes it: the stored coefficients are the program's, so that folding is no error of it.
    pub fn in_float32(&self) -> Stage<'a> {
        let terms = (0..self.width()).map(|neuron| self.terms(neuron).count()).max().unwrap_or(0);
        Stage { error: None, roundoff: Some(Roundoff::of_sum(terms)), ..*self }
    }

    /// The number of neurons.
    pub fn width(&self) -> usize {
        self.bias.len()
    }

    /// How many entries the products with its maps take, about.
    pub fn entries(&self) -> usize {
        self.edges.iter().map(|edge| edge.map.entries()).sum()
    }

    /// What a neuron may be off by: the model's coefficients may differ, and a program's sum is rounded.
    pub fn error_of(&self, neuron: usize) -> NeuronError {
        let mut of = NeuronError::default();
        if let Some(error) = self.error {
            (of.weight, of.constant) = (error.weight[neuron], error.bias[neuron]);
        }
        if let Some(Roundoff { relative, underflow }) = self.roundoff {
            of.relative = relative;
            of.constant += relative * f64::from(self.bias[neuron]).abs() + underflow;
        }
        of
    }

    /// The coefficients of a neuron that are not 0: what they multiply, and its place there.
    pub fn terms(&self, neuron: usize) -> impl Iterator<Item = (Source, usize, f32)> + 'a {
        self.edges.iter().flat_map(move |edge| edge.map.row(neuron).map(move |(i, w)| (edge.from, i, w)))
    }
}

impl<'a> Shape<'a> {
    /// Panics unless every stage reads earlier ones by maps of the right sizes: what everything else relies on.
    pub fn check(&self) {
        assert!(!self.stages.is_empty(), "a network has a stage");
        for (k, stage) in self.stages.iter().enumerate() {
            assert!(!stage.edges.is_empty(), "a stage reads something");
            for (e, edge) in stage.edges.iter().enumerate() {
                let is_earlier = match edge.from {
                    Source::Input => true,
                    Source::Stage(s) => s < k,
                };
                assert!(is_earlier, "a stage reads earlier ones");
                assert!(stage.edges[..e].iter().all(|other| other.from != edge.from), "a source is read once");
                assert_eq!(edge.map.rows(), stage.width(), "a row for each neuron");
                assert_eq!(edge.map.cols(), self.width(edge.from), "a column for each activation");
            }
            if let Some(error) = stage.error {
                assert_eq!((error.weight.len(), error.bias.len()), (stage.width(), stage.width()));
            }
        }
    }

    /// The number of the last stage: the stages before it have a ReLU.
    pub fn last(&self) -> usize {
        self.stages.len() - 1
    }

    pub fn outputs(&self) -> usize {
        self.stages[self.last()].width()
    }

    pub fn width(&self, source: Source) -> usize {
        match source {
            Source::Input => self.inputs,
            Source::Stage(s) => self.stages[s].width(),
        }
    }

    /// The number of neurons of all stages, outputs included.
    pub fn neurons(&self) -> usize {
        self.stages.iter().map(Stage::width).sum()
    }

    /// The number of neurons before a stage: where its numbers begin in an array of one a neuron.
    pub fn start(&self, stage: usize) -> usize {
        self.stages[..stage].iter().map(Stage::width).sum()
    }

    /// How many terms a coefficient of the source has on the way back: a neuron each of the stages that read it, and one.
    pub fn terms_back(&self, source: Source) -> usize {
        let reads = |stage: &&Stage| stage.edges.iter().any(|edge| edge.from == source);
        1 + self.stages.iter().filter(reads).map(Stage::width).sum::<usize>()
    }

    /// Marks the stages that a stage depends on, directly or through others, and itself.
    pub fn mark_cone(&self, stage: usize, marks: &mut [bool]) {
        marks.fill(false);
        marks[stage] = true;
        for k in (0..=stage).rev() {
            for edge in self.stages[k].edges {
                if let Source::Stage(s) = edge.from {
                    marks[s] |= marks[k];
                }
            }
        }
    }

    /// The length of an array with a block for the inputs and for each stage, of one row of padded numbers.
    pub fn room(&self) -> usize {
        self.place(Source::Stage(self.stages.len()))
    }

    /// Where the block of a source begins in such an array; in one of several rows, so many times as far.
    pub fn place(&self, source: Source) -> usize {
        match source {
            Source::Input => 0,
            Source::Stage(s) => {
                padded(self.inputs) + self.stages[..s].iter().map(|stage| padded(stage.width())).sum::<usize>()
            }
        }
    }

    /// Whether everything after a stage reads nothing before it: then the rest of the network is a function of it alone.
    pub fn is_cut(&self, stage: usize) -> bool {
        let is_after = |edge: &Edge| matches!(edge.from, Source::Stage(s) if s >= stage);
        self.stages[stage + 1..].iter().all(|later| later.edges.iter().all(is_after))
    }

    /// Whether every coefficient is the model's, bit for bit, and nothing is rounded.
    pub fn is_exact(&self) -> bool {
        self.stages.iter().all(|stage| stage.error.is_none() && stage.roundoff.is_none())
    }
}
