//! A network run from run-time data, without a build: the same kernels as generated code calls, on sizes that only the run
//! knows.

use crate::net::{Layer, LayerError, Net};
use pg_core::kernel::{Lanes, ZERO, padded};
use pg_core::map::{Dense, Map, pack, panels};
use pg_core::sweep::forward;
use pg_core::{Edge, Model, Network, Shape, Source, Stage, StageError};

/// Inputs evaluated together.
const BLOCK: usize = 48;

pub struct Interpreter {
    net: Net,
    format: String,
    tables: Tables,
}

impl Interpreter {
    pub fn new(net: Net) -> Interpreter {
        let mut tables = Tables::new(net.inputs());
        for (k, layer) in net.layers.iter().enumerate() {
            let from = k.checked_sub(1).map_or(Source::Input, Source::Stage);
            let Layer { weight, bias, error, .. } = layer;
            let rows: Vec<f32> = weight.iter().copied().collect();
            tables.push(&[(from, rows)], bias.to_vec(), (!error.is_zero()).then(|| error.clone()));
        }
        Interpreter { format: net.source.format.to_string(), net, tables }
    }
}

impl Network for Interpreter {
    fn model(&self) -> Model<'_> {
        let (source, domain) = (&self.net.source, self.net.domain.as_deref().unwrap_or_default());
        Model { name: &source.stem, format: &self.format, sha256: &source.sha256, domain }
    }

    fn shape(&self) -> Shape<'_> {
        self.tables.shape()
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.tables.forward(x, y);
    }
}

/// The data of a network's stages, owned: any graph of dense maps.
pub struct Tables {
    inputs: usize,
    /// Borrow from the data below, which is why nothing hands them out for longer than the tables live.
    stages: Vec<Stage<'static>>,
    _edges: Vec<Box<[Edge<'static>]>>,
    _lanes: Vec<Box<[Lanes]>>,
    _biases: Vec<Box<[f32]>>,
    _errors: Vec<Box<[f64]>>,
}

/// Keeps data in a list that only grows, and refers to it there.
fn keep<T>(kept: &mut Vec<Box<[T]>>, values: Vec<T>) -> &'static [T] {
    kept.push(values.into_boxed_slice());
    let values: &[T] = kept.last().expect("just pushed");
    // SAFETY: boxes of the list are never changed or dropped before the tables are, and a move of the tables does not move what
    // they point to; `Tables` hands the references out for its own lifetime only.
    unsafe { &*std::ptr::from_ref(values) }
}

impl Tables {
    pub fn new(inputs: usize) -> Tables {
        Tables { inputs, stages: vec![], _edges: vec![], _lanes: vec![], _biases: vec![], _errors: vec![] }
    }

    /// Adds a stage: what it reads, each with its matrix, one row a neuron after the other.
    pub fn push(&mut self, reads: &[(Source, Vec<f32>)], bias: Vec<f32>, error: Option<LayerError>) {
        let rows = bias.len();
        let mut edges = Vec::with_capacity(reads.len());
        for (from, matrix) in reads {
            let cols = self.shape().width(*from);
            let transposed = (0..cols).flat_map(|c| (0..rows).map(move |r| matrix[r * cols + c]));
            let (mut forward, mut back) = (vec![ZERO; panels(cols, rows)], vec![ZERO; panels(rows, cols)]);
            pack(cols, rows, &transposed.collect::<Vec<_>>(), &mut forward);
            pack(rows, cols, matrix, &mut back);
            let (forward, back) = (keep(&mut self._lanes, forward), keep(&mut self._lanes, back));
            edges.push(Edge { from: *from, map: Map::Dense(Dense::new(rows, cols, forward, back)) });
        }
        let error = error.map(|LayerError { weight, bias }| StageError {
            weight: keep(&mut self._errors, weight),
            bias: keep(&mut self._errors, bias),
        });
        let (edges, bias) = (keep(&mut self._edges, edges), keep(&mut self._biases, bias));
        self.stages.push(Stage { edges, bias, error });
    }

    pub fn shape(&self) -> Shape<'_> {
        Shape { inputs: self.inputs, stages: &self.stages }
    }

    /// Evaluates inputs, one after the other, in float32.
    pub fn forward(&self, x: &[f32], y: &mut [f32]) {
        let shape = self.shape();
        let (inputs, outputs) = (shape.inputs, shape.outputs());
        let mut room = Vec::new();
        for (x, y) in x.chunks(BLOCK * inputs).zip(y.chunks_mut(BLOCK * outputs)) {
            let rows = x.len() / inputs;
            room.clear();
            room.resize(rows * shape.room(), 0.0);
            for (to, from) in room.chunks_mut(padded(inputs)).zip(x.chunks(inputs)) {
                to[..inputs].copy_from_slice(from);
            }
            forward(&shape, rows, &mut room);
            let last = &room[rows * shape.place(Source::Stage(shape.last()))..];
            for (y, from) in y.chunks_mut(outputs).zip(last.chunks(padded(outputs))) {
                y.copy_from_slice(&from[..outputs]);
            }
        }
    }
}
