//! A matrix of few entries: for each row the columns that are not 0, and what is there.

use super::each_multiplier;
use crate::kernel::{AddRow, Scalar, padded};

#[derive(Clone, Copy)]
pub struct Sparse<'a> {
    cols: usize,
    /// Where each row begins among the entries, and at last their number.
    starts: &'a [u32],
    columns: &'a [u32],
    values: &'a [f32],
}

impl core::fmt::Debug for Sparse<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "Sparse {} x {}, {} entries", self.rows(), self.cols, self.values.len())
    }
}

impl AddRow for Sparse<'_> {
    #[inline(always)]
    fn add_row(&self, h: &[f32], z: &mut [f32]) {
        for (neuron, z) in z[..self.rows()].iter_mut().enumerate() {
            let (columns, values) = self.entries_of(neuron);
            for (&col, &w) in columns.iter().zip(values) {
                *z += w * h[col as usize];
            }
        }
    }
}

impl<'a> Sparse<'a> {
    /// Columns ascend within a row.
    pub const fn new(cols: usize, starts: &'a [u32], columns: &'a [u32], values: &'a [f32]) -> Sparse<'a> {
        assert!(columns.len() == values.len(), "a value for each column");
        assert!(starts[starts.len() - 1] as usize == values.len(), "rows of all entries");
        Sparse { cols, starts, columns, values }
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn cols(&self) -> usize {
        self.cols
    }

    pub fn entries(&self) -> usize {
        self.values.len()
    }

    #[inline(always)]
    fn entries_of(&self, neuron: usize) -> (&'a [u32], &'a [f32]) {
        let row = self.starts[neuron] as usize..self.starts[neuron + 1] as usize;
        (&self.columns[row.clone()], &self.values[row])
    }

    pub fn add_forward(&self, h: &[f32], z: &mut [f32]) {
        for (h, z) in h.chunks(padded(self.cols)).zip(z.chunks_mut(padded(self.rows()))) {
            self.add_row(h, z);
        }
    }

    pub fn add_back<T: Scalar>(&self, nu: &[T], mu: &mut [T]) {
        each_multiplier(self.rows(), self.cols, nu, mu, |neuron, nu, mu| {
            let (columns, values) = self.entries_of(neuron);
            for (&col, &w) in columns.iter().zip(values) {
                mu[col as usize] += T::widen(w) * nu;
            }
        });
    }

    pub fn row(self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + 'a {
        let (columns, values) = self.entries_of(neuron);
        columns.iter().zip(values).map(|(&col, &w)| (col as usize, w)).filter(|&(_, w)| w != 0.0)
    }
}
