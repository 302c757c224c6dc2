//! Affine maps between flattened tensors, sparse, with the error of every coefficient.
//!
//! Every operator of a network but ReLU becomes one of these: a reshape is a selection of entries, a matrix product a
//! full map. Sparse rows make the identity, a permutation, a diagonal and a convolution as cheap as they should be.

use crate::approx::Approx;

/// One row: column and coefficient, columns strictly increasing.
pub type Row = Vec<(u32, Approx)>;

/// `x ↦ Σ_t matrices[t]·x_t + bias`, one matrix for each input of the node.
#[derive(Clone, Debug, PartialEq)]
pub struct Affine {
    pub matrices: Vec<Matrix>,
    pub bias: Vec<Approx>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    pub cols: usize,
    pub rows: Vec<Row>,
}

/// The most coefficients that the maps of one network may have together.
pub const MAX_ENTRIES: usize = 1 << 26;
/// The most multiply-adds one composition may take.
const MAX_WORK: usize = 1 << 34;

impl Matrix {
    pub fn zero(rows: usize, cols: usize) -> Matrix {
        Matrix { cols, rows: vec![Row::new(); rows] }
    }

    pub fn identity(n: usize) -> Matrix {
        Matrix { cols: n, rows: (0..n).map(|i| vec![(i as u32, Approx::ONE)]).collect() }
    }

    pub fn entries(&self) -> usize {
        self.rows.iter().map(Vec::len).sum()
    }

    fn work(&self, inner: &Matrix) -> usize {
        self.rows.iter().flatten().map(|&(k, _)| inner.rows[k as usize].len()).sum()
    }

    /// `self · inner`.
    pub fn compose(&self, inner: &Matrix) -> Result<Matrix, String> {
        let work = self.work(inner);
        if work > MAX_WORK {
            return Err(format!("folding two affine layers would take {work} multiply-adds; the limit is {MAX_WORK}"));
        }
        let mut sums = Scatter::new(inner.cols);
        let mut rows = Vec::with_capacity(self.rows.len());
        let mut entries = 0;
        for row in &self.rows {
            for &(k, a) in row {
                for &(j, b) in &inner.rows[k as usize] {
                    sums.add(j, a * b);
                }
            }
            rows.push(sums.take());
            entries += rows.last().map_or(0, Vec::len);
            if entries > MAX_ENTRIES {
                return Err(too_many_entries());
            }
        }
        Ok(Matrix { cols: inner.cols, rows })
    }

    /// `self + other`, of the same shape.
    pub fn plus(&self, other: &Matrix) -> Matrix {
        let mut sums = Scatter::new(self.cols);
        let rows = self.rows.iter().zip(&other.rows).map(|(a, b)| {
            a.iter().chain(b).for_each(|&(j, v)| sums.add(j, v));
            sums.take()
        });
        Matrix { cols: self.cols, rows: rows.collect() }
    }

    /// Adds `self · x` to `y`, leaving out the terms where `x` is exactly 0.
    pub fn accumulate(&self, x: &[Approx], y: &mut [Approx]) {
        for (row, y) in self.rows.iter().zip(y) {
            for &(k, a) in row {
                if !x[k as usize].is_absent() {
                    *y = *y + a * x[k as usize];
                }
            }
        }
    }
}

pub fn too_many_entries() -> String {
    format!("the network's affine maps have more than {MAX_ENTRIES} coefficients")
}

/// A dense accumulator with the list of the columns in use, for sparse row sums.
struct Scatter {
    sums: Vec<Option<Approx>>,
    used: Vec<u32>,
}

impl Scatter {
    fn new(cols: usize) -> Scatter {
        Scatter { sums: vec![None; cols], used: Vec::new() }
    }

    /// The first term of a column is stored, not added to 0, so that −0 keeps its sign.
    fn add(&mut self, col: u32, term: Approx) {
        let sum = &mut self.sums[col as usize];
        match sum {
            Some(value) => *value = *value + term,
            None => {
                *sum = Some(term);
                self.used.push(col);
            }
        }
    }

    fn take(&mut self) -> Row {
        self.used.sort_unstable();
        let sums = &mut self.sums;
        self.used
            .drain(..)
            .filter_map(|j| sums[j as usize].take().map(|v| (j, v)))
            .filter(|(_, v)| !v.is_absent())
            .collect()
    }
}

impl Affine {
    pub fn identity(n: usize) -> Affine {
        Affine { matrices: vec![Matrix::identity(n)], bias: vec![Approx::exact(0.0); n] }
    }

    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    pub fn entries(&self) -> usize {
        self.matrices.iter().map(Matrix::entries).sum()
    }

    /// Whether any coefficient or bias is known only up to an error.
    pub fn is_exact(&self) -> bool {
        let rows = self.matrices.iter().flat_map(|m| &m.rows);
        rows.flatten().map(|(_, v)| v).chain(&self.bias).all(|v| v.radius == 0.0)
    }

    pub fn is_usable(&self) -> bool {
        let rows = self.matrices.iter().flat_map(|m| &m.rows);
        rows.flatten().map(|(_, v)| v).chain(&self.bias).all(|v| v.is_usable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dense(rows: &[&[f64]]) -> Matrix {
        let row = |r: &&[f64]| r.iter().enumerate().map(|(j, &v)| (j as u32, Approx::exact(v))).collect();
        Matrix { cols: rows[0].len(), rows: rows.iter().map(row).collect() }
    }

    #[test]
    fn composing_with_the_identity_is_bit_exact() {
        let m = dense(&[&[0.1, -0.0], &[1e-40, 3.0]]);
        assert_eq!(m.compose(&Matrix::identity(2)).unwrap(), m);
        assert_eq!(Matrix::identity(2).compose(&m).unwrap(), m);
    }

    #[test]
    fn products_are_right_and_inexact_ones_say_so() {
        let product = dense(&[&[1.0, 2.0]]).compose(&dense(&[&[3.0, 4.0], &[5.0, 6.0]])).unwrap();
        assert_eq!(product, dense(&[&[13.0, 16.0]]));
        let rounded = dense(&[&[0.1, 0.7]]).compose(&dense(&[&[0.3], &[0.9]])).unwrap();
        assert!(rounded.rows[0][0].1.radius > 0.0);
    }

    #[test]
    fn sums_merge_columns() {
        let sum = dense(&[&[1.0, 2.0]]).plus(&dense(&[&[0.5, -2.0]]));
        assert_eq!(sum.rows[0], vec![(0, Approx::exact(1.5))]);
    }
}
