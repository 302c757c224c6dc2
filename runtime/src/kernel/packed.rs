//! Products with a matrix whose size is known at run time: what is left of a layer when its dead neurons are dropped.
//!
//! The layout is that of the constant layers: panels of [`PANEL`] columns. Every sum runs over the matrix's rows from first to
//! last, whatever the tile, so a row's result does not depend on the rows beside it.

use super::dense::{Lanes, PANEL, ZERO};
use super::simd::{Simd, Task, dispatch};

/// The stride of rows of `n` numbers in buffers: whole panels, and one where there is no number.
pub const fn padded(n: usize) -> usize {
    if n == 0 { PANEL } else { n.next_multiple_of(PANEL) }
}

/// A matrix that rows are multiplied with.
pub trait Matrix: Send + Sync {
    /// Each row of `a` times the matrix, in `c`: as many rows, each as long as its side of the matrix, padded. Padding of
    /// `a` is not read; that of `c` is set to zero.
    fn product(&self, a: &[f32], c: &mut [f32]);
}

/// A matrix in panels.
pub struct Packed {
    rows: usize,
    cols: usize,
    panels: Vec<Lanes>,
}

impl Packed {
    /// From its rows, one after the other.
    pub fn new(rows: usize, cols: usize, matrix: &[f32]) -> Packed {
        assert_eq!(matrix.len(), rows * cols);
        let mut panels = vec![ZERO; rows * cols.div_ceil(PANEL)];
        for (r, row) in matrix.chunks_exact(cols.max(1)).enumerate() {
            for (c, &value) in row.iter().enumerate() {
                panels[c / PANEL * rows + r].0[c % PANEL] = value;
            }
        }
        Packed { rows, cols, panels }
    }
}

impl Matrix for Packed {
    fn product(&self, a: &[f32], c: &mut [f32]) {
        if self.rows == 0 || self.cols == 0 {
            c.fill(0.0);
            return;
        }
        dispatch(Product { matrix: self, a, c });
    }
}

struct Product<'a> {
    matrix: &'a Packed,
    a: &'a [f32],
    c: &'a mut [f32],
}

impl Task for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (stride, width) = (padded(self.matrix.rows), padded(self.matrix.cols));
        assert_eq!(self.a.len() / stride, self.c.len() / width);
        let (mut a, mut c) = (self.a, self.c);
        let vectors = (PANEL * size_of::<f32>()).div_ceil(S::VECTOR);
        macro_rules! tiles {
            ($rows:literal) => {
                while a.len() >= $rows * stride && $rows * vectors <= S::SUMS {
                    let (rows, a_rest) = a.split_at($rows * stride);
                    let (out, c_rest) = c.split_at_mut($rows * width);
                    self.matrix.block::<S, $rows>(rows, out);
                    (a, c) = (a_rest, c_rest);
                }
            };
        }
        tiles!(12);
        tiles!(6);
        tiles!(3);
        tiles!(1);
    }
}

impl Packed {
    /// The product of `R` rows.
    #[inline(always)]
    fn block<S: Simd, const R: usize>(&self, a: &[f32], c: &mut [f32]) {
        let (stride, width) = (padded(self.rows), padded(self.cols));
        let mut rows: [&[f32]; R] = [&[]; R];
        for r in 0..R {
            rows[r] = &a[r * stride..][..self.rows];
        }
        let two = 2 * R * (PANEL * size_of::<f32>()).div_ceil(S::VECTOR) <= S::SUMS;
        let mut column = 0;
        let mut panels = self.panels.as_slice();
        while column < width {
            let count = if two && width - column >= 2 * PANEL { 2 } else { 1 };
            let (now, later) = panels.split_at(count * self.rows);
            match count {
                2 => {
                    let (first, second) = now.split_at(self.rows);
                    let sums = tile::<S, R, 2>(&rows, [first, second]);
                    store(&sums, &mut c[column..], width);
                }
                _ => {
                    let sums = tile::<S, R, 1>(&rows, [now]);
                    store(&sums, &mut c[column..], width);
                }
            }
            (panels, column) = (later, column + count * PANEL);
        }
    }
}

/// The sums of `R` rows and `Q` panels, all of one length.
#[inline(always)]
fn tile<S: Simd, const R: usize, const Q: usize>(a: &[&[f32]; R], panels: [&[Lanes]; Q]) -> [[[f32; PANEL]; Q]; R] {
    let mut sums = [[[0.0; PANEL]; Q]; R];
    let length = panels[0].len();
    for r in 0..R {
        assert_eq!(a[r].len(), length);
    }
    for q in 0..Q {
        assert_eq!(panels[q].len(), length);
    }
    for k in 0..length {
        let mut weight = [[0.0; PANEL]; Q];
        for q in 0..Q {
            weight[q] = panels[q][k].0;
        }
        for r in 0..R {
            for q in 0..Q {
                for lane in 0..PANEL {
                    sums[r][q][lane] = S::mul_add(a[r][k], weight[q][lane], sums[r][q][lane]);
                }
            }
        }
    }
    sums
}

#[inline(always)]
fn store<const R: usize, const Q: usize>(sums: &[[[f32; PANEL]; Q]; R], c: &mut [f32], width: usize) {
    for r in 0..R {
        for q in 0..Q {
            c[r * width + q * PANEL..][..PANEL].copy_from_slice(&sums[r][q]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_agrees_with_the_definition() {
        for (rows, cols) in [(1, 1), (3, 16), (17, 5), (40, 33), (9, 70), (0, 4), (4, 0)] {
            let matrix: Vec<f32> = (0..rows * cols).map(|k| (k % 13) as f32 - 6.0).collect();
            let packed = Packed::new(rows, cols, &matrix);
            for count in 0..30 {
                let a: Vec<f32> = (0..count * padded(rows)).map(|k| (k % 7) as f32 - 3.0).collect();
                let mut c = vec![7.0; count * padded(cols)];
                packed.product(&a, &mut c);
                for (a, c) in a.chunks(padded(rows).max(1)).zip(c.chunks(padded(cols).max(1))) {
                    for (j, &value) in c.iter().enumerate() {
                        let sum: f32 =
                            (0..rows).map(|i| a[i] * if j < cols { matrix[i * cols + j] } else { 0.0 }).sum();
                        assert_eq!(value, sum);
                    }
                }
            }
        }
    }
}
