//! A dense affine layer with constant sizes, as generated code has it: `z = W·h + b`, one input at a time or many.
//!
//! Weights lie in panels of [`PANEL`] neurons: for each input the weights of sixteen neurons are adjacent and aligned,
//! one or two vector registers. A tile of rows and panels is summed in registers over all inputs; the last panel is
//! padded with zero neurons whose results are not stored.
//!
//! Every sum has one term per input and the bias, added in some order, fused or not: the error bounds of the verifier
//! assume no more than that.

use super::panels::{Lanes, PANEL, ZERO};
use super::simd::Simd;
use crate::map::Dense;

/// The weights of sixteen neurons from each of `I` inputs.
pub type Panel<const I: usize> = [Lanes; I];

/// Rearranges a matrix of one row a neuron into panels.
pub const fn pack<const I: usize, const O: usize, const P: usize>(rows: &[[f32; I]; O]) -> [Panel<I>; P] {
    assert!(P == O.div_ceil(PANEL));
    let mut packed = [[ZERO; I]; P];
    let mut o = 0;
    while o < O {
        let mut i = 0;
        while i < I {
            packed[o / PANEL][i].0[o % PANEL] = rows[o][i];
            i += 1;
        }
        o += 1;
    }
    packed
}

/// The same for one number a neuron.
pub const fn pack_bias<const O: usize, const P: usize>(bias: &[f32; O]) -> [Lanes; P] {
    let mut packed = [ZERO; P];
    let mut o = 0;
    while o < O {
        packed[o / PANEL].0[o % PANEL] = bias[o];
        o += 1;
    }
    packed
}

/// The panels of the transposed matrix, for the way back: inputs and neurons change places.
pub const fn pack_back<const I: usize, const O: usize, const P: usize>(rows: &[[f32; I]; O]) -> [Panel<O>; P] {
    assert!(P == I.div_ceil(PANEL));
    let mut packed = [[ZERO; O]; P];
    let mut o = 0;
    while o < O {
        let mut i = 0;
        while i < I {
            packed[i / PANEL][o].0[i % PANEL] = rows[o][i];
            i += 1;
        }
        o += 1;
    }
    packed
}

/// An affine map of constant sizes: `O` rows and `I` columns in `P` panels.
pub struct Layer<const I: usize, const O: usize, const P: usize> {
    weight: &'static [Panel<I>; P],
    bias: &'static [Lanes; P],
}

impl<const I: usize, const O: usize, const P: usize> Layer<I, O, P> {
    pub const fn new(weight: &'static [Panel<I>; P], bias: &'static [Lanes; P]) -> Self {
        Layer { weight, bias }
    }

    /// The same matrix as data, with its panels for the way back.
    pub const fn map<const B: usize>(&self, back: &'static [Panel<O>; B]) -> Dense<'static> {
        Dense::new(O, I, self.weight.as_flattened(), back.as_flattened())
    }

    /// z = W·h + b.
    #[inline(always)]
    pub fn affine<S: Simd>(&self, h: &[f32; I]) -> [f32; O] {
        let mut z = [[0.0; O]];
        let h = core::array::from_ref(h);
        let mut panel = 0;
        while panel < P {
            panel += match P - panel {
                4.. => self.tile::<S, 1, 4, 2>(h, panel, &mut z),
                2.. => self.tile::<S, 1, 2, 4>(h, panel, &mut z),
                _ => self.tile::<S, 1, 1, 4>(h, panel, &mut z),
            };
        }
        let [z] = z;
        z
    }

    /// max(W·h + b, 0).
    #[inline(always)]
    pub fn relu<S: Simd>(&self, h: &[f32; I]) -> [f32; O] {
        self.affine::<S>(h).map(relu)
    }

    /// z = W·h + b for each row of `h`.
    #[inline(always)]
    pub fn affine_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]) {
        assert_eq!(h.len(), z.len());
        let wide = PANEL * size_of::<f32>() > S::VECTOR;
        let mut panel = 0;
        while panel < P {
            panel += match P - panel {
                2.. if !wide => self.panels::<S, 2>(h, panel, z),
                _ => self.panels::<S, 1>(h, panel, z),
            };
        }
    }

    /// max(W·h + b, 0) for each row of `h`.
    #[inline(always)]
    pub fn relu_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]) {
        self.affine_batch::<S>(h, z);
        z.as_flattened_mut().iter_mut().for_each(|z| *z = relu(*z));
    }

    /// `Q` panels for all rows, as many rows at a time as fill the registers; returns `Q`.
    #[inline(always)]
    fn panels<S: Simd, const Q: usize>(&self, mut h: &[[f32; I]], panel: usize, mut z: &mut [[f32; O]]) -> usize {
        let vectors = Q * (PANEL * size_of::<f32>()).div_ceil(S::VECTOR);
        macro_rules! tiles {
            ($rows:literal) => {
                while let (Some((rows, h_rest)), true) = (h.split_first_chunk::<$rows>(), $rows * vectors <= S::SUMS) {
                    let (out, z_rest) = z.split_first_chunk_mut::<$rows>().expect("as many rows");
                    self.tile::<S, $rows, Q, 1>(rows, panel, out);
                    (h, z) = (h_rest, z_rest);
                }
            };
        }
        tiles!(12);
        tiles!(6);
        tiles!(3);
        tiles!(2);
        while let (Some((rows, h_rest)), Some((out, z_rest))) =
            (h.split_first_chunk::<1>(), z.split_first_chunk_mut::<1>())
        {
            self.tile::<S, 1, Q, 1>(rows, panel, out);
            (h, z) = (h_rest, z_rest);
        }
        Q
    }

    /// `Q` panels for `R` rows; returns `Q`. The inputs are taken `U` at a time into separate sums, so that with few
    /// rows no addition waits for the one before.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const Q: usize, const U: usize>(
        &self,
        h: &[[f32; I]; R],
        panel: usize,
        z: &mut [[f32; O]; R],
    ) -> usize {
        let mut sums = [[[[0.0; PANEL]; Q]; R]; U];
        sums[0] = [from(self.bias, panel); R];
        for step in 0..I / U {
            for (u, sums) in sums.iter_mut().enumerate() {
                self.add::<S, R, Q>(h, panel, step * U + u, sums);
            }
        }
        for i in I / U * U..I {
            self.add::<S, R, Q>(h, panel, i, &mut sums[0]);
        }
        for r in 0..R {
            for q in 0..Q {
                let mut total = sums[0][r][q];
                for part in &sums[1..] {
                    for lane in 0..PANEL {
                        total[lane] += part[r][q][lane];
                    }
                }
                store(&total, &mut z[r][(panel + q) * PANEL..]);
            }
        }
        Q
    }

    /// Adds what input `i` contributes.
    #[inline(always)]
    fn add<S: Simd, const R: usize, const Q: usize>(
        &self,
        h: &[[f32; I]; R],
        panel: usize,
        i: usize,
        sums: &mut [[[f32; PANEL]; Q]; R],
    ) {
        let mut weight = [[0.0; PANEL]; Q];
        for q in 0..Q {
            for lane in 0..PANEL {
                weight[q][lane] = self.weight[panel + q][i].0[lane];
            }
        }
        for r in 0..R {
            for q in 0..Q {
                for lane in 0..PANEL {
                    sums[r][q][lane] = S::mul_add(h[r][i], weight[q][lane], sums[r][q][lane]);
                }
            }
        }
    }
}

/// `Q` panels of numbers from `first` on. A loop: a closure would not be compiled for the instruction set at hand.
#[inline(always)]
fn from<const P: usize, const Q: usize>(panels: &[Lanes; P], first: usize) -> [[f32; PANEL]; Q] {
    let mut taken = [[0.0; PANEL]; Q];
    for q in 0..Q {
        taken[q] = panels[first + q].0;
    }
    taken
}

/// Stores a panel, or as much of it as there are neurons.
#[inline(always)]
fn store(panel: &[f32; PANEL], z: &mut [f32]) {
    match z.first_chunk_mut() {
        Some(z) => *z = *panel,
        None => z.copy_from_slice(&panel[..z.len()]),
    }
}

/// max(z, 0), where a NaN stays one: an overflow must not come out as a number.
#[inline(always)]
fn relu(z: f32) -> f32 {
    if z < 0.0 { 0.0 } else { z }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Vectorised, dispatch};

    const I: usize = 5;
    const O: usize = 37;
    static ROWS: [[f32; I]; O] = {
        let mut rows = [[0.0; I]; O];
        let mut o = 0;
        while o < O {
            let mut i = 0;
            while i < I {
                rows[o][i] = (o * 7 + i * 3) as f32 - 100.0;
                i += 1;
            }
            o += 1;
        }
        rows
    };
    static BIAS: [f32; O] = [0.5; O];
    static WEIGHT: [Panel<I>; 3] = pack(&ROWS);
    static PACKED_BIAS: [Lanes; 3] = pack_bias(&BIAS);
    static LAYER: Layer<I, O, 3> = Layer::new(&WEIGHT, &PACKED_BIAS);

    /// Small integers: every order of summation is exact.
    fn expected(h: &[f32; I]) -> [f32; O] {
        std::array::from_fn(|o| 0.5 + (0..I).map(|i| ROWS[o][i] * h[i]).sum::<f32>())
    }

    struct All<'a>(&'a [[f32; I]]);

    impl Vectorised for All<'_> {
        type Output = Vec<[f32; O]>;

        #[inline(always)]
        fn run<S: Simd>(self) -> Self::Output {
            let mut z = vec![[0.0; O]; self.0.len()];
            LAYER.affine_batch::<S>(self.0, &mut z);
            for (h, z) in self.0.iter().zip(&z) {
                assert_eq!(LAYER.affine::<S>(h), *z);
                assert_eq!(LAYER.relu::<S>(h), z.map(|z| z.max(0.0)));
            }
            z
        }
    }

    #[test]
    fn every_batch_size_agrees_with_the_definition() {
        for rows in 0..40 {
            let h: Vec<[f32; I]> = (0..rows).map(|r| std::array::from_fn(|i| (r * 5 + i) as f32 - 9.0)).collect();
            let z: Vec<[f32; O]> = h.iter().map(expected).collect();
            assert_eq!(dispatch(All(&h)), z);
            assert_eq!(All(&h).run::<crate::kernel::simd::Portable>(), z);
        }
    }

    #[test]
    fn the_way_back_is_the_transposed_product() {
        use crate::kernel::padded;
        static BACK: [Panel<O>; 1] = pack_back(&ROWS);
        let map = LAYER.map(&BACK);
        for rows in 0..40 {
            let (wide, narrow) = (padded(O), padded(I));
            let nu: Vec<f64> = (0..rows * wide).map(|k| (k % 11) as f64 - 5.0).collect();
            let mut mu = vec![0.0; rows * narrow];
            map.add_back(&nu, &mut mu);
            for r in 0..rows {
                for i in 0..I {
                    let sum: f64 = (0..O).map(|o| nu[r * wide + o] * f64::from(ROWS[o][i])).sum();
                    assert_eq!(mu[r * narrow + i], sum);
                }
            }
        }
        assert_eq!(map.row(3).map(|(_, w)| w).collect::<Vec<_>>(), ROWS[3]);
    }

    #[test]
    fn an_overflow_stays_visible() {
        assert!(relu(f32::NAN).is_nan());
        assert_eq!(relu(-1.0), 0.0);
    }
}
