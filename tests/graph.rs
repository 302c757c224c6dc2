//! Random networks of any graph, once as the product's tables and once as a chain of layers that the oracle reads.

use crate::Random;
use crate::oracle::Layer;
use pg_codegen::interpret::Tables;
use pg_codegen::net::{Edge, Map, Net, Rows, Stage, StageError};
use pg_core::{Ending, Model, Network, Shape, Source};
use pg_runtime::property::Property;

/// A stage as rows of coefficients for each source that it reads, and biases.
pub struct GraphStage {
    pub reads: Vec<(Source, Vec<Vec<f32>>)>,
    pub bias: Vec<f32>,
}

impl GraphStage {
    /// With every second map sparse, so that both kinds are tested whatever the compiler would choose for so small ones.
    fn compiled(&self) -> Stage {
        let edge = |(index, (from, matrix)): (usize, &(Source, Vec<Vec<f32>>))| {
            let mut rows = Rows::new(matrix[0].len());
            for row in matrix {
                let entries = row.iter().enumerate().filter(|(_, w)| **w != 0.0);
                rows.push(entries.map(|(col, &w)| (col as u32, w)));
            }
            let is_sparse = (index + self.bias.len()).is_multiple_of(2);
            Edge { from: *from, map: if is_sparse { Map::Sparse(rows) } else { Map::choose(rows, &[]) } }
        };
        let (edges, error) = (self.reads.iter().enumerate().map(edge).collect(), StageError::none(self.bias.len()));
        Stage { origin: "a test".into(), parts: vec![], relu: None, edges, bias: self.bias.clone(), error }
    }
}

pub struct Graph {
    inputs: usize,
    stages: Vec<GraphStage>,
    tables: Tables,
}

impl Graph {
    pub fn new(inputs: usize, stages: Vec<GraphStage>) -> Graph {
        let mut tables = Tables::new(inputs);
        for stage in &stages {
            tables.push(&stage.compiled());
        }
        Graph { inputs, stages, tables }
    }

    /// The stages of a compiled network; what its maps round is left out.
    pub fn of(net: &Net) -> Graph {
        let rows = |edge: &Edge| edge.map.dense().rows().into_iter().map(|row| row.to_vec()).collect();
        let reads = |stage: &Stage| stage.edges.iter().map(|edge| (edge.from, rows(edge))).collect();
        let stage = |stage: &Stage| GraphStage { reads: reads(stage), bias: stage.bias.clone() };
        Graph::new(net.inputs, net.stages.iter().map(stage).collect())
    }

    /// Stages of the given widths, each of which reads the one before and any others; weights as they are drawn.
    pub fn random(inputs: usize, widths: &[usize], random: &mut Random, draw: impl Fn(&mut Random) -> f32) -> Graph {
        let mut stages = Vec::new();
        for (k, &width) in widths.iter().enumerate() {
            let all = std::iter::once((Source::Input, inputs)).chain((0..k).map(|s| (Source::Stage(s), widths[s])));
            let reads = all.enumerate().filter(|(v, _)| *v == k || random.below(2) == 0).map(|(_, read)| read);
            let reads: Vec<_> = reads.collect();
            let mut rows = |count: usize| (0..width).map(|_| (0..count).map(|_| draw(random)).collect()).collect();
            let reads = reads.into_iter().map(|(from, count)| (from, rows(count))).collect();
            stages.push(GraphStage { reads, bias: (0..width).map(|_| draw(random)).collect() });
        }
        Graph::new(inputs, stages)
    }

    /// The first `count` stages, the last without its ReLU, as a chain. Every layer carries along what later ones may read:
    /// activations as they are, which a ReLU leaves alone, and inputs by their positive and their negative parts.
    pub fn chain(&self, count: usize) -> Vec<Layer> {
        let mut layers = Vec::new();
        // What the layer before holds: a source's entry, times a sign.
        let mut held: Vec<(Source, usize, f32)> = (0..self.inputs).map(|i| (Source::Input, i, 1.0)).collect();
        for (k, stage) in self.stages[..count].iter().enumerate() {
            let coefficient = |j: usize, &(from, i, sign): &(Source, usize, f32)| {
                let read = stage.reads.iter().find(|(read, _)| *read == from);
                read.map_or(0.0, |(_, rows)| sign * rows[j][i])
            };
            let new = |j: usize| held.iter().map(|held| coefficient(j, held)).collect();
            let mut weights: Vec<Vec<f32>> = (0..stage.bias.len()).map(new).collect();
            let mut bias = stage.bias.clone();
            let mut next: Vec<_> = (0..stage.bias.len()).map(|j| (Source::Stage(k), j, 1.0)).collect();
            if k + 1 < count {
                for (place, &(from, i, sign)) in held.iter().enumerate() {
                    let is_first = k == 0 && from == Source::Input;
                    for sign in if is_first { vec![1.0, -1.0] } else { vec![sign] } {
                        let unit = if is_first { sign } else { 1.0 };
                        weights.push((0..held.len()).map(|p| if p == place { unit } else { 0.0 }).collect());
                        bias.push(0.0);
                        next.push((from, i, sign));
                    }
                }
            }
            layers.push(Layer { weights, bias });
            held = next;
        }
        layers
    }
}

impl Network for Graph {
    fn model(&self) -> Model<'_> {
        Model { name: "graph", format: "a test", sha256: "", domain: &[], ending: Ending::None }
    }

    fn shape(&self) -> Shape<'_> {
        self.tables.shape()
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.tables.forward(x, y);
    }
}

/// Inputs in [−1, 1], and counterexamples where the output is at most a threshold: with all its decimals, since the shortest ones
/// that mean the same float32 are another number, and a witness may lie between the two.
pub fn property(inputs: usize, threshold: f32) -> Property {
    let input = |i| format!("(declare-const X_{i} Real)(assert (and (>= X_{i} -1) (<= X_{i} 1)))");
    let inputs: String = (0..inputs).map(input).collect();
    let text = format!("{inputs}(declare-const Y_0 Real)(assert (<= Y_0 {threshold:.149}))");
    Property::parse(&text, "a test").expect("a property")
}
