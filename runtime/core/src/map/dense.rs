//! A dense matrix, in panels of its rows for the way forward and of its columns for the way back.

use crate::kernel::{Lanes, PANEL, Panels, Scalar};

#[derive(Clone, Copy)]
pub struct Dense<'a> {
    /// Lanes over the neurons, one row of them for each activation.
    forward: Panels<'a>,
    /// Lanes over the activations, one row of them for each neuron.
    back: Panels<'a>,
}

impl core::fmt::Debug for Dense<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "Dense {} x {}", self.rows(), self.cols())
    }
}

impl<'a> Dense<'a> {
    pub const fn new(rows: usize, cols: usize, forward: &'a [Lanes], back: &'a [Lanes]) -> Dense<'a> {
        Dense { forward: Panels::new(cols, rows, forward), back: Panels::new(rows, cols, back) }
    }

    pub fn rows(&self) -> usize {
        self.back.rows()
    }

    pub fn cols(&self) -> usize {
        self.back.cols()
    }

    pub fn add_forward(&self, h: &[f32], z: &mut [f32]) {
        self.forward.evaluate(h, z);
    }

    pub fn add_back<T: Scalar>(&self, nu: &[T], mu: &mut [T]) {
        self.back.add_product(nu, mu);
    }

    /// A neuron's weights, one a column: the lanes that they are among, and which one.
    #[inline(always)]
    pub fn column(&self, neuron: usize) -> (&'a [Lanes], usize) {
        (&self.forward.lanes()[neuron / PANEL * self.cols()..][..self.cols()], neuron % PANEL)
    }

    /// The lanes that an activation's weights are among, one row a neuron.
    #[inline(always)]
    pub fn rows_of(&self, col: usize) -> &'a [Lanes] {
        &self.back.lanes()[col / PANEL * self.rows()..][..self.rows()]
    }

    #[inline]
    fn at(&self, row: usize, col: usize) -> f32 {
        self.back.lanes()[col / PANEL * self.rows() + row].0[col % PANEL]
    }

    pub fn row(self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + 'a {
        (0..self.cols()).map(move |col| (col, self.at(neuron, col))).filter(|&(_, w)| w != 0.0)
    }

    pub fn pick(&self, neuron: usize, cols: &[usize], into: &mut [f32]) {
        for (to, &col) in into.iter_mut().zip(cols) {
            *to = self.at(neuron, col);
        }
    }
}
