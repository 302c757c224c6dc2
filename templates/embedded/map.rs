//! The linear maps between stages, and the declared arithmetic of evaluation.
//!
//! A map is known by its rows alone: for each neuron the activations that it reads, ascending, and their weights. Everything is
//! written with checked access, so that no panic is reachable whatever the optimiser does; that no access ever fails is what the
//! generator, and constant evaluation, have checked.

#![allow(dead_code, reason = "not every network needs everything here")]

/// A matrix of `O` rows, one a neuron, and `I` columns, one an activation.
pub trait Map<const I: usize, const O: usize> {
    /// Calls `each` with the column and the weight of every entry of a row, by ascending column.
    fn row(&self, neuron: usize, each: impl FnMut(usize, f32));

    /// Adds A·h to z in the declared arithmetic: one product after the other, each product and each sum rounded to nearest.
    #[inline]
    fn add(&self, h: &[f32; I], z: &mut [f32; O]) {
        for (neuron, z) in z.iter_mut().enumerate() {
            let mut sum = *z;
            self.row(neuron, |i, w| {
                if let Some(h) = h.get(i) {
                    sum += w * h;
                }
            });
            *z = sum;
        }
    }

    /// Adds `times` a row to coefficients of the activations.
    #[inline]
    fn add_row(&self, neuron: usize, times: f32, mu: &mut [f32; I]) {
        self.row(neuron, |i, w| {
            if let Some(mu) = mu.get_mut(i) {
                *mu += times * w;
            }
        });
    }

    /// Adds Aᵀ·ν to coefficients of the activations. A row whose multiplier is 0 adds nothing.
    #[inline]
    fn add_back(&self, nu: &[f32; O], mu: &mut [f32; I]) {
        for (neuron, &nu) in nu.iter().enumerate() {
            if nu != 0.0 {
                self.add_row(neuron, nu, mu);
            }
        }
    }
}

/// A weight for every neuron and activation.
pub struct Dense<const I: usize, const O: usize>(pub [[f32; I]; O]);

impl<const I: usize, const O: usize> Map<I, O> for Dense<I, O> {
    #[inline(always)]
    fn row(&self, neuron: usize, mut each: impl FnMut(usize, f32)) {
        if let Some(row) = self.0.get(neuron) {
            for (i, &w) in row.iter().enumerate() {
                each(i, w);
            }
        }
    }
}

/// Few entries: for each row where its entries begin, and at last their number.
pub struct Sparse<const I: usize, const O: usize, const S: usize, const N: usize> {
    pub starts: [u32; S],
    pub columns: [u32; N],
    pub values: [f32; N],
}

impl<const I: usize, const O: usize, const S: usize, const N: usize> Map<I, O> for Sparse<I, O, S, N> {
    #[inline(always)]
    fn row(&self, neuron: usize, mut each: impl FnMut(usize, f32)) {
        let (Some(&first), Some(&end)) = (self.starts.get(neuron), self.starts.get(neuron + 1)) else { return };
        for at in first as usize..end as usize {
            if let (Some(&column), Some(&value)) = (self.columns.get(at), self.values.get(at)) {
                each(column as usize, value);
            }
        }
    }
}

/// A small kernel, applied at every place of its output: `P` taps for each of `C` output channels. Sizes are channels, height and
/// width, the rest is height and width.
pub struct Conv<const I: usize, const O: usize, const P: usize, const C: usize> {
    pub kernel: [[f32; P]; C],
    pub input: [usize; 3],
    pub output: [usize; 3],
    pub size: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    pub pad: [usize; 2],
    /// Input channels that an output channel reads, and how many output channels read the same ones.
    pub group: [usize; 2],
}

impl<const I: usize, const O: usize, const P: usize, const C: usize> Conv<I, O, P, C> {
    /// Calls `each` with the input and the weight of every tap that lies inside.
    #[inline(always)]
    fn taps(&self, channel: usize, line: usize, column: usize, mut each: impl FnMut(usize, f32)) {
        let Some(weights) = self.kernel.get(channel) else { return };
        let first = channel.checked_div(self.group[1]).unwrap_or(0) * self.group[0];
        let mut tap = 0;
        for c in first..first + self.group[0] {
            for ky in 0..self.size[0] {
                let y = (line * self.stride[0] + ky * self.dilation[0]).wrapping_sub(self.pad[0]);
                for kx in 0..self.size[1] {
                    let x = (column * self.stride[1] + kx * self.dilation[1]).wrapping_sub(self.pad[1]);
                    if let (true, Some(&w)) = (y < self.input[1] && x < self.input[2], weights.get(tap)) {
                        each((c * self.input[1] + y) * self.input[2] + x, w);
                    }
                    tap += 1;
                }
            }
        }
    }
}

impl<const I: usize, const O: usize, const P: usize, const C: usize> Map<I, O> for Conv<I, O, P, C> {
    #[inline(always)]
    fn row(&self, neuron: usize, each: impl FnMut(usize, f32)) {
        let [_, height, width] = self.output;
        let line = neuron.checked_div(width).unwrap_or(0);
        let (channel, y) = (line.checked_div(height).unwrap_or(0), line.checked_rem(height).unwrap_or(0));
        self.taps(channel, y, neuron.checked_rem(width).unwrap_or(0), each);
    }
}

/// What is below 0 becomes +0; everything else, −0 and NaN too, stays as it is.
#[inline]
pub fn relu<const N: usize>(z: &mut [f32; N]) {
    for z in z.iter_mut().filter(|z| **z < 0.0) {
        *z = 0.0;
    }
}

/// Numbers from little-endian bytes, at compile time.
pub const fn floats<const N: usize>(bytes: &[u8]) -> [f32; N] {
    assert!(bytes.len() == 4 * N, "the size of the file");
    let mut values = [0.0; N];
    let mut n = 0;
    while n < N {
        values[n] = f32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]]);
        n += 1;
    }
    values
}

/// The same of whole numbers.
pub const fn indices<const N: usize>(bytes: &[u8]) -> [u32; N] {
    assert!(bytes.len() == 4 * N, "the size of the file");
    let mut values = [0; N];
    let mut n = 0;
    while n < N {
        values[n] = u32::from_le_bytes([bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]]);
        n += 1;
    }
    values
}

/// The same of a matrix, row after row.
pub const fn matrix<const I: usize, const O: usize>(bytes: &[u8]) -> [[f32; I]; O] {
    assert!(bytes.len() == 4 * I * O, "the size of the file");
    let mut values = [[0.0; I]; O];
    let mut n = 0;
    while n < I * O {
        let word = [bytes[4 * n], bytes[4 * n + 1], bytes[4 * n + 2], bytes[4 * n + 3]];
        values[n / I][n % I] = f32::from_le_bytes(word);
        n += 1;
    }
    values
}

/// Whether every entry of a sparse map lies in the matrix, for constant evaluation to check.
pub const fn is_within(starts: &[u32], columns: &[u32], inputs: usize) -> bool {
    let mut at = 0;
    while at < columns.len() {
        if columns[at] as usize >= inputs {
            return false;
        }
        at += 1;
    }
    let mut row = 1;
    while row < starts.len() {
        if starts[row - 1] > starts[row] || starts[row] as usize > columns.len() {
            return false;
        }
        row += 1;
    }
    true
}
