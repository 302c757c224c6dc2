//! A network run from run-time data, without a build: the same kernels as generated code calls, on sizes that only the run
//! knows.

use crate::net::{self, Net};
use crate::read::Declared;
use ndarray::Array2;
use pg_core::kernel::{Lanes, ZERO, padded};
use pg_core::map::{Conv, Dense, Geometry, Map, Sparse, pack, panels};
use pg_core::sweep::forward;
use pg_core::{Edge, Model, Network, Shape, Source, Stage, StageError, Tensor};

/// Inputs evaluated together.
const BLOCK: usize = 48;

pub struct Interpreter {
    net: Net,
    format: String,
    tables: Tables,
}

impl Interpreter {
    pub fn new(net: Net) -> Interpreter {
        let mut tables = Tables::new(net.inputs);
        net.stages.iter().for_each(|stage| tables.push(stage));
        Interpreter { format: net.source.format.to_string(), net, tables }
    }
}

impl Network for Interpreter {
    fn model(&self) -> Model<'_> {
        let (source, domain) = (&self.net.source, self.net.domain.as_deref().unwrap_or_default());
        Model { name: &source.stem, format: &self.format, sha256: &source.sha256, domain, ending: source.ending }
    }

    fn shape(&self) -> Shape<'_> {
        self.tables.shape()
    }

    fn input_tensor(&self, number: usize) -> Option<Tensor<'_>> {
        self.net.source.inputs.get(number).map(Declared::tensor)
    }

    fn output_tensor(&self, number: usize) -> Option<Tensor<'_>> {
        self.net.source.outputs.get(number).map(Declared::tensor)
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.tables.forward(x, y);
    }
}

/// The data of a network's stages, owned: any graph.
pub struct Tables {
    inputs: usize,
    /// Borrow from the data below, which is why nothing hands them out for longer than the tables live.
    stages: Vec<Stage<'static>>,
    _edges: Vec<Box<[Edge<'static>]>>,
    _lanes: Vec<Box<[Lanes]>>,
    _numbers: Vec<Box<[f32]>>,
    _errors: Vec<Box<[f64]>>,
    _indices: Vec<Box<[u32]>>,
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
        let (_edges, _lanes, _numbers, _errors, _indices) = (vec![], vec![], vec![], vec![], vec![]);
        Tables { inputs, stages: vec![], _edges, _lanes, _numbers, _errors, _indices }
    }

    pub fn push(&mut self, stage: &net::Stage) {
        let edges = stage.edges.iter().map(|edge| Edge { from: edge.from, map: self.map(&edge.map) }).collect();
        let error = (!stage.error.is_zero()).then(|| StageError {
            weight: keep(&mut self._errors, stage.error.weight.clone()),
            bias: keep(&mut self._errors, stage.error.bias.clone()),
        });
        let (edges, bias) = (keep(&mut self._edges, edges), keep(&mut self._numbers, stage.bias.clone()));
        self.stages.push(Stage { error, ..Stage::exact(edges, bias) });
    }

    fn map(&mut self, map: &net::Map) -> Map<'static> {
        match map {
            net::Map::Dense(matrix) => {
                let (rows, cols) = matrix.dim();
                let (mut forward, mut back) = (vec![ZERO; panels(cols, rows)], vec![ZERO; panels(rows, cols)]);
                pack(cols, rows, &matrix.t().iter().copied().collect::<Vec<_>>(), &mut forward);
                pack(rows, cols, &matrix.iter().copied().collect::<Vec<_>>(), &mut back);
                let (forward, back) = (keep(&mut self._lanes, forward), keep(&mut self._lanes, back));
                Map::Dense(Dense::new(rows, cols, forward, back))
            }
            net::Map::Sparse(rows) => {
                let (starts, columns) = (rows.starts.clone(), rows.columns.clone());
                let (starts, columns) = (keep(&mut self._indices, starts), keep(&mut self._indices, columns));
                Map::Sparse(Sparse::new(rows.cols, starts, columns, keep(&mut self._numbers, rows.values.clone())))
            }
            net::Map::Conv { geometry, kernel } => {
                Map::Conv(Conv::new(*geometry, keep(&mut self._lanes, kernel_lanes(geometry, kernel))))
            }
        }
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

/// A kernel in the panels that convolutions read.
pub fn kernel_lanes(geometry: &Geometry, kernel: &Array2<f32>) -> Vec<Lanes> {
    let mut lanes = vec![ZERO; geometry.lanes()];
    for (channel, row) in kernel.rows().into_iter().enumerate() {
        let at = geometry.panel_of(channel);
        row.iter().enumerate().for_each(|(tap, &w)| lanes[at.0 * geometry.patch() + tap].0[at.1] = w);
    }
    lanes
}
