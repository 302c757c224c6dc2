//! The linear maps between stages: a file for each kind, all with the same few methods.

mod dense;

use crate::kernel::{Lanes, Scalar};
pub use dense::Dense;

/// A matrix of one row a neuron of the stage that reads, one column an activation of what it reads.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    Dense(Dense<'a>),
}

impl<'a> Map<'a> {
    pub fn rows(&self) -> usize {
        match self {
            Map::Dense(map) => map.rows(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Map::Dense(map) => map.cols(),
        }
    }

    /// Adds A·h to z, for each of the rows of `h`: activations in, neurons out, both padded to whole panels.
    pub fn add_forward(&self, h: &[f32], z: &mut [f32]) {
        match self {
            Map::Dense(map) => map.add_forward(h, z),
        }
    }

    /// Adds Aᵀ·ν to μ, for each of the rows of `nu`: neurons in, activations out, both padded to whole panels.
    pub fn add_back<T: Scalar>(&self, nu: &[T], mu: &mut [T]) {
        match self {
            Map::Dense(map) => map.add_back(nu, mu),
        }
    }

    /// The entries of a row that are not 0, by ascending column.
    pub fn row(self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + 'a {
        match self {
            Map::Dense(map) => map.row(neuron),
        }
    }

    /// The columns of a row that are given, in that order.
    pub fn pick(&self, neuron: usize, cols: &[usize], into: &mut [f32]) {
        match self {
            Map::Dense(map) => map.pick(neuron, cols, into),
        }
    }
}

/// How many [`Lanes`] a matrix takes in panels.
pub const fn panels(rows: usize, cols: usize) -> usize {
    rows * cols.div_ceil(crate::kernel::PANEL)
}

/// Arranges a matrix, row by row, in panels of columns.
pub fn pack(rows: usize, cols: usize, matrix: &[f32], into: &mut [Lanes]) {
    use crate::kernel::PANEL;
    assert_eq!((matrix.len(), into.len()), (rows * cols, panels(rows, cols)));
    for (r, row) in matrix.chunks_exact(cols.max(1)).enumerate() {
        for (c, &value) in row.iter().enumerate() {
            into[c / PANEL * rows + r].0[c % PANEL] = value;
        }
    }
}
