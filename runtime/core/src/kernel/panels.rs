//! Products with a matrix whose size is known at run time, in panels of [`PANEL`] columns.
//!
//! Every sum runs over the matrix's rows from first to last, whatever the tile, so a row's result does not depend on the
//! rows beside it. Sums are of float32 or float64; the matrix is of float32. Bounds have them in whatever arithmetic is fastest,
//! evaluation in the [declared](super::declared) one.

use super::declared::{add_products, load, store};
use super::simd::{Scalar, Simd, Vectorised, dispatch};

/// Columns of a panel.
pub const PANEL: usize = 16;

/// One number for each column of a panel, or for each box of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub struct Lanes<T = f32>(pub [T; PANEL]);

pub const ZERO: Lanes = Lanes([0.0; PANEL]);

pub type Chunk = [f32; PANEL];

#[inline(always)]
pub fn chunks(values: &[f32]) -> &[Chunk] {
    values.as_chunks().0
}

#[inline(always)]
pub fn chunks_mut(values: &mut [f32]) -> &mut [Chunk] {
    values.as_chunks_mut().0
}

/// The stride of rows of `n` numbers in buffers: whole panels, and one where there is no number.
pub const fn padded(n: usize) -> usize {
    if n == 0 { PANEL } else { n.next_multiple_of(PANEL) }
}

/// A matrix in panels: for each panel of columns, a row of lanes after the other.
#[derive(Clone, Copy)]
pub struct Panels<'a> {
    rows: usize,
    cols: usize,
    lanes: &'a [Lanes],
}

impl<'a> Panels<'a> {
    pub const fn new(rows: usize, cols: usize, lanes: &'a [Lanes]) -> Panels<'a> {
        assert!(lanes.len() == rows * cols.div_ceil(PANEL), "the size of the matrix");
        Panels { rows, cols, lanes }
    }

    pub const fn rows(&self) -> usize {
        self.rows
    }

    pub const fn cols(&self) -> usize {
        self.cols
    }

    pub const fn lanes(&self) -> &'a [Lanes] {
        self.lanes
    }

    /// Adds each row of `a` times the matrix to a row of `c`: as many rows, each as long as its side of the matrix, padded.
    /// Padding of `a` is not read; to that of `c` zeros are added.
    pub fn add_product<T: Scalar>(&self, a: &[T], c: &mut [T]) {
        self.product::<T, true>(a, c);
    }

    /// The same with what was in `c` before taken for zeros.
    pub fn set_product<T: Scalar>(&self, a: &[T], c: &mut [T]) {
        self.product::<T, false>(a, c);
    }

    /// The same as [`Panels::add_product`] in the declared arithmetic.
    pub fn evaluate(&self, h: &[f32], z: &mut [f32]) {
        let (stride, width) = (padded(self.rows), padded(self.cols));
        assert!(h.len().is_multiple_of(stride) && h.len() / stride * width == z.len(), "as many rows");
        if self.rows > 0 && self.cols > 0 {
            dispatch(Evaluation { matrix: *self, h, z });
        }
    }

    fn product<T: Scalar, const ADD: bool>(&self, a: &[T], c: &mut [T]) {
        let (stride, width) = (padded(self.rows), padded(self.cols));
        assert!(a.len().is_multiple_of(stride) && a.len() / stride * width == c.len(), "as many rows");
        if self.rows > 0 && self.cols > 0 {
            dispatch(Product::<T, ADD> { matrix: *self, a, c });
        } else if !ADD {
            c.fill(T::default());
        }
    }
}

struct Product<'a, T, const ADD: bool> {
    matrix: Panels<'a>,
    a: &'a [T],
    c: &'a mut [T],
}

impl<T: Scalar, const ADD: bool> Vectorised for Product<'_, T, ADD> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (stride, width) = (padded(self.matrix.rows), padded(self.matrix.cols));
        let (mut a, mut c) = (self.a, self.c);
        let vectors = (PANEL * size_of::<T>()).div_ceil(S::VECTOR);
        macro_rules! tiles {
            ($rows:literal) => {
                while a.len() >= $rows * stride && ($rows == 1 || $rows * vectors <= S::SUMS) {
                    let (rows, a_rest) = a.split_at($rows * stride);
                    let (out, c_rest) = c.split_at_mut($rows * width);
                    self.matrix.block::<S, T, $rows, ADD>(rows, out);
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

impl Panels<'_> {
    /// The product of `R` rows.
    #[inline(always)]
    fn block<S: Simd, T: Scalar, const R: usize, const ADD: bool>(&self, a: &[T], c: &mut [T]) {
        let (stride, width) = (padded(self.rows), padded(self.cols));
        let mut rows: [&[T]; R] = [&[]; R];
        for r in 0..R {
            rows[r] = &a[r * stride..][..self.rows];
        }
        let two = 2 * R * (PANEL * size_of::<T>()).div_ceil(S::VECTOR) <= S::SUMS;
        let (mut lanes, mut column) = (self.lanes, 0);
        while !lanes.is_empty() {
            let count = if two { (lanes.len() / self.rows).min(2) } else { 1 };
            let (now, later) = lanes.split_at(count * self.rows);
            if count == 2 {
                let (first, second) = now.split_at(self.rows);
                tile::<S, T, R, 2, ADD>(&rows, [first, second], &mut c[column..], width);
            } else {
                tile::<S, T, R, 1, ADD>(&rows, [now], &mut c[column..], width);
            }
            (lanes, column) = (later, column + count * PANEL);
        }
    }
}

struct Evaluation<'a> {
    matrix: Panels<'a>,
    h: &'a [f32],
    z: &'a mut [f32],
}

impl Vectorised for Evaluation<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Evaluation { matrix, mut h, mut z } = self;
        let (stride, width) = (padded(matrix.rows), padded(matrix.cols));
        while h.len() >= 6 * stride {
            let ((rows, h_rest), (out, z_rest)) = (h.split_at(6 * stride), z.split_at_mut(6 * width));
            (0..width / PANEL).for_each(|panel| matrix.evaluate_tile::<S, 6, 1>(rows, panel, out));
            (h, z) = (h_rest, z_rest);
        }
        for (h, z) in h.chunks(stride).zip(z.chunks_mut(width)) {
            let (mut panel, panels) = (0, width / PANEL);
            while panel + 4 <= panels {
                matrix.evaluate_tile::<S, 1, 4>(h, panel, z);
                panel += 4;
            }
            (panel..panels).for_each(|panel| matrix.evaluate_tile::<S, 1, 1>(h, panel, z));
        }
    }
}

impl Panels<'_> {
    /// Adds the products of `R` rows to `Q` panels of sums from one on.
    #[inline(always)]
    fn evaluate_tile<S: Simd, const R: usize, const Q: usize>(&self, h: &[f32], panel: usize, z: &mut [f32]) {
        let (stride, width) = (padded(self.rows), padded(self.cols));
        let mut rows: [&[f32]; R] = [&[]; R];
        let mut panels: [&[Lanes]; Q] = [&[]; Q];
        let mut sums = [[ZERO; Q]; R];
        for q in 0..Q {
            panels[q] = &self.lanes[(panel + q) * self.rows..][..self.rows];
        }
        for r in 0..R {
            rows[r] = &h[r * stride..][..self.rows];
            for q in 0..Q {
                sums[r][q] = load(&z[r * width + (panel + q) * PANEL..]);
            }
        }
        add_products::<S, R, Q>(&rows, &panels, &mut sums);
        for r in 0..R {
            for q in 0..Q {
                store(&sums[r][q], &mut z[r * width + (panel + q) * PANEL..]);
            }
        }
    }
}

/// Adds or sets the sums of `R` rows and `Q` panels, all of one length.
#[inline(always)]
fn tile<S: Simd, T: Scalar, const R: usize, const Q: usize, const ADD: bool>(
    a: &[&[T]; R],
    panels: [&[Lanes]; Q],
    c: &mut [T],
    width: usize,
) {
    let mut sums = [[[T::default(); PANEL]; Q]; R];
    let length = panels[0].len();
    for r in 0..R {
        assert_eq!(a[r].len(), length);
    }
    for q in 0..Q {
        assert_eq!(panels[q].len(), length);
    }
    for k in 0..length {
        let mut weight = [[T::default(); PANEL]; Q];
        for q in 0..Q {
            for lane in 0..PANEL {
                weight[q][lane] = T::widen(panels[q][k].0[lane]);
            }
        }
        for r in 0..R {
            for q in 0..Q {
                for lane in 0..PANEL {
                    sums[r][q][lane] = S::mul_add(a[r][k], weight[q][lane], sums[r][q][lane]);
                }
            }
        }
    }
    for r in 0..R {
        for q in 0..Q {
            let c: &mut [T; PANEL] = c[r * width + q * PANEL..].first_chunk_mut().expect("whole panels");
            let mut total = sums[r][q];
            if ADD {
                let before = *c;
                for lane in 0..PANEL {
                    total[lane] += before[lane];
                }
            }
            *c = total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{pack, panels};

    fn agrees<T: Scalar + core::fmt::Debug>(number: fn(f32) -> T) {
        for (rows, cols) in [(1, 1), (3, 16), (17, 5), (40, 33), (9, 70), (0, 4), (4, 0)] {
            let matrix: Vec<f32> = (0..rows * cols).map(|k| (k % 13) as f32 - 6.0).collect();
            let mut lanes = vec![ZERO; panels(rows, cols)];
            pack(rows, cols, &matrix, &mut lanes);
            let matrix_in_panels = Panels::new(rows, cols, &lanes);
            for count in 0..30 {
                let a: Vec<T> = (0..count * padded(rows)).map(|k| number((k % 7) as f32 - 3.0)).collect();
                let mut c = vec![number(7.0); count * padded(cols)];
                matrix_in_panels.add_product(&a, &mut c);
                let mut set = vec![number(9.0); c.len()];
                matrix_in_panels.set_product(&a, &mut set);
                assert!(c.iter().zip(&set).all(|(&added, &set)| added == number(7.0) + set));
                for (a, c) in a.chunks(padded(rows)).zip(c.chunks(padded(cols))) {
                    for (j, &value) in c.iter().enumerate() {
                        let mut sum = number(0.0);
                        for i in (0..rows).filter(|_| j < cols) {
                            sum += a[i] * number(matrix[i * cols + j]);
                        }
                        assert!(value == number(7.0) + sum, "{value:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn every_size_agrees_with_the_definition() {
        agrees::<f32>(|v| v);
        agrees::<f64>(f64::from);
    }
}
