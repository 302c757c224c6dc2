//! The linear maps between stages: a file for each kind, all with the same few methods.

mod conv;
mod dense;
mod sparse;

pub use crate::kernel::Geometry;
use crate::kernel::{Lanes, Scalar, padded};
pub use conv::Conv;
pub use dense::Dense;
pub use sparse::Sparse;

/// A matrix of one row a neuron of the stage that reads, one column an activation of what it reads.
#[derive(Clone, Copy, Debug)]
pub enum Map<'a> {
    Dense(Dense<'a>),
    Sparse(Sparse<'a>),
    Conv(Conv<'a>),
}

impl<'a> Map<'a> {
    pub fn rows(&self) -> usize {
        match self {
            Map::Dense(map) => map.rows(),
            Map::Sparse(map) => map.rows(),
            Map::Conv(map) => map.rows(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Map::Dense(map) => map.cols(),
            Map::Sparse(map) => map.cols(),
            Map::Conv(map) => map.cols(),
        }
    }

    /// How many entries a product takes, about.
    pub fn entries(&self) -> usize {
        match self {
            Map::Dense(map) => map.rows() * map.cols(),
            Map::Sparse(map) => map.entries(),
            Map::Conv(map) => map.rows() * map.geometry().patch(),
        }
    }

    /// Adds A·h to z, for each of the rows of `h`: activations in, neurons out, both padded to whole panels. The arithmetic is the
    /// declared one: see [`crate::sweep`].
    pub fn add_forward(&self, h: &[f32], z: &mut [f32]) {
        match self {
            Map::Dense(map) => map.add_forward(h, z),
            Map::Sparse(map) => map.add_forward(h, z),
            Map::Conv(map) => map.add_forward(h, z),
        }
    }

    /// Adds Aᵀ·ν to μ, for each of the rows of `nu`: neurons in, activations out, both padded to whole panels.
    pub fn add_back<T: Scalar>(&self, nu: &[T], mu: &mut [T]) {
        match self {
            Map::Dense(map) => map.add_back(nu, mu),
            Map::Sparse(map) => map.add_back(nu, mu),
            Map::Conv(map) => map.add_back(nu, mu),
        }
    }

    /// The entries of a row that are not 0, by ascending column.
    pub fn row(self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + 'a {
        match self {
            Map::Dense(map) => Entries::Dense(map.row(neuron)),
            Map::Sparse(map) => Entries::Sparse(map.row(neuron)),
            Map::Conv(map) => Entries::Conv(map.row(neuron)),
        }
    }

    /// The columns of a row that are given, which ascend.
    pub fn pick(&self, neuron: usize, cols: &[usize], into: &mut [f32]) {
        if let Map::Dense(map) = self {
            return map.pick(neuron, cols, into);
        }
        into.fill(0.0);
        let mut at = 0;
        for (col, w) in self.row(neuron) {
            at += cols[at..].partition_point(|&given| given < col);
            if cols.get(at) == Some(&col) {
                into[at] = w;
            }
        }
    }
}

/// The entries of a row of a map of any kind.
enum Entries<D, S, C> {
    Dense(D),
    Sparse(S),
    Conv(C),
}

impl<T, D: Iterator<Item = T>, S: Iterator<Item = T>, C: Iterator<Item = T>> Iterator for Entries<D, S, C> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match self {
            Entries::Dense(entries) => entries.next(),
            Entries::Sparse(entries) => entries.next(),
            Entries::Conv(entries) => entries.next(),
        }
    }

    /// One decision for the whole row: loops over it are as fast as the kind allows.
    #[inline]
    fn fold<A, F: FnMut(A, T) -> A>(self, start: A, add: F) -> A {
        match self {
            Entries::Dense(entries) => entries.fold(start, add),
            Entries::Sparse(entries) => entries.fold(start, add),
            Entries::Conv(entries) => entries.fold(start, add),
        }
    }
}

/// Each multiplier that is not 0, with its neuron, and the row of coefficients that it adds to. Most are 0 where a row reaches a
/// part of the network only; a NaN is not.
fn each_multiplier<T: Scalar>(
    rows: usize,
    cols: usize,
    nu: &[T],
    mu: &mut [T],
    mut add: impl FnMut(usize, T, &mut [T]),
) {
    for (nu, mu) in nu.chunks(padded(rows)).zip(mu.chunks_mut(padded(cols))) {
        for (neuron, &nu) in nu[..rows].iter().enumerate().filter(|(_, nu)| **nu != T::default()) {
            add(neuron, nu, mu);
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
