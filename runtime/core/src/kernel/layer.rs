//! Linear maps with constant sizes, as generated code has them: `z + W·h`, one input at a time or many; z begins as the bias.
//!
//! Weights lie in panels of [`PANEL`] neurons: for each input the weights of sixteen neurons are adjacent and aligned,
//! one or two vector registers. A tile of rows and panels is summed in registers over all inputs; the last panel is
//! padded with zero neurons whose results are not stored.
//!
//! This is the declared arithmetic of a generated network ([`crate::sweep`]): every sum begins with what is in z and adds the
//! products by ascending input, multiplication and addition rounded one by one. Lanes are neurons, so that the bits are the same
//! whatever the instruction set and however many inputs are evaluated together.

use super::declared::{add_products, load, store};
use super::panels::{Lanes, PANEL, ZERO};
use super::simd::{Simd, Vectorised};
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

/// A linear map of constant sizes.
pub trait Linear<const I: usize, const O: usize> {
    /// z + W·h.
    fn add<S: Simd>(&self, h: &[f32; I], z: [f32; O]) -> [f32; O];

    /// Adds W·h to z, for each row of `h`.
    fn add_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]);
}

/// A dense matrix of constant sizes: `O` rows and `I` columns in `P` panels.
pub struct Layer<const I: usize, const O: usize, const P: usize> {
    weight: &'static [Panel<I>; P],
}

impl<const I: usize, const O: usize, const P: usize> Linear<I, O> for Layer<I, O, P> {
    #[inline(always)]
    fn add<S: Simd>(&self, h: &[f32; I], z: [f32; O]) -> [f32; O] {
        S::call(One { layer: self, h, z })
    }

    #[inline(always)]
    fn add_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]) {
        assert_eq!(h.len(), z.len());
        S::call(Batch { layer: self, h, z });
    }
}

struct One<'a, const I: usize, const O: usize, const P: usize> {
    layer: &'a Layer<I, O, P>,
    h: &'a [f32; I],
    z: [f32; O],
}

impl<const I: usize, const O: usize, const P: usize> Vectorised for One<'_, I, O, P> {
    type Output = [f32; O];

    #[inline(always)]
    fn run<S: Simd>(self) -> [f32; O] {
        let mut z = [self.z];
        let h = core::array::from_ref(self.h);
        let mut panel = 0;
        while panel < P {
            panel += match P - panel {
                8.. if S::SUMS >= 24 => self.layer.tile::<S, 1, 8>(h, panel, &mut z),
                4.. => self.layer.tile::<S, 1, 4>(h, panel, &mut z),
                2.. => self.layer.tile::<S, 1, 2>(h, panel, &mut z),
                _ => self.layer.tile::<S, 1, 1>(h, panel, &mut z),
            };
        }
        let [z] = z;
        z
    }
}

struct Batch<'a, const I: usize, const O: usize, const P: usize> {
    layer: &'a Layer<I, O, P>,
    h: &'a [[f32; I]],
    z: &'a mut [[f32; O]],
}

impl<const I: usize, const O: usize, const P: usize> Vectorised for Batch<'_, I, O, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Batch { layer, h, z } = self;
        let wide = PANEL * size_of::<f32>() > S::VECTOR;
        let mut panel = 0;
        while panel < P {
            panel += match P - panel {
                2.. if !wide => layer.panels::<S, 2>(h, panel, z),
                _ => layer.panels::<S, 1>(h, panel, z),
            };
        }
    }
}

/// A map that adds its product with one row at a time, of any size.
pub trait AddRow {
    /// Adds A·h to z.
    fn add_row(&self, h: &[f32], z: &mut [f32]);
}

impl<M: AddRow, const I: usize, const O: usize> Linear<I, O> for M {
    #[inline(always)]
    fn add<S: Simd>(&self, h: &[f32; I], mut z: [f32; O]) -> [f32; O] {
        self.add_row(h, &mut z);
        z
    }

    #[inline(always)]
    fn add_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]) {
        h.iter().zip(z).for_each(|(h, z)| self.add_row(h, z));
    }
}

impl<const I: usize, const O: usize, const P: usize> Layer<I, O, P> {
    pub const fn new(weight: &'static [Panel<I>; P]) -> Self {
        Layer { weight }
    }

    /// The same matrix as data, with its panels for the way back.
    pub const fn map<const B: usize>(&self, back: &'static [Panel<O>; B]) -> Dense<'static> {
        Dense::new(O, I, self.weight.as_flattened(), back.as_flattened())
    }

    /// `Q` panels for all rows, as many rows at a time as fill the registers; returns `Q`.
    #[inline(always)]
    fn panels<S: Simd, const Q: usize>(&self, mut h: &[[f32; I]], panel: usize, mut z: &mut [[f32; O]]) -> usize {
        let vectors = Q * (PANEL * size_of::<f32>()).div_ceil(S::VECTOR);
        macro_rules! tiles {
            ($rows:literal) => {
                while let (Some((rows, h_rest)), true) = (h.split_first_chunk::<$rows>(), $rows * vectors <= S::SUMS) {
                    let (out, z_rest) = z.split_first_chunk_mut::<$rows>().expect("as many rows");
                    self.tile::<S, $rows, Q>(rows, panel, out);
                    (h, z) = (h_rest, z_rest);
                }
            };
        }
        tiles!(12);
        tiles!(6);
        tiles!(2);
        while let (Some((rows, h_rest)), Some((out, z_rest))) =
            (h.split_first_chunk::<1>(), z.split_first_chunk_mut::<1>())
        {
            self.tile::<S, 1, Q>(rows, panel, out);
            (h, z) = (h_rest, z_rest);
        }
        Q
    }

    /// `Q` panels for `R` rows; returns `Q`.
    #[inline(always)]
    fn tile<S: Simd, const R: usize, const Q: usize>(
        &self,
        h: &[[f32; I]; R],
        panel: usize,
        z: &mut [[f32; O]; R],
    ) -> usize {
        let mut rows: [&[f32]; R] = [&[]; R];
        let mut panels: [&[Lanes]; Q] = [&[]; Q];
        let mut sums = [[ZERO; Q]; R];
        for q in 0..Q {
            panels[q] = &self.weight[panel + q];
        }
        for r in 0..R {
            rows[r] = &h[r];
            for q in 0..Q {
                sums[r][q] = load(&z[r][(panel + q) * PANEL..]);
            }
        }
        add_products::<S, R, Q>(&rows, &panels, &mut sums);
        for r in 0..R {
            for q in 0..Q {
                store(&sums[r][q], &mut z[r][(panel + q) * PANEL..]);
            }
        }
        Q
    }
}

/// max(z, 0), where a NaN stays one: an overflow must not come out as a number.
#[inline(always)]
pub fn relu<const N: usize>(mut z: [f32; N]) -> [f32; N] {
    z.iter_mut().for_each(|z| *z = if *z < 0.0 { 0.0 } else { *z });
    z
}

/// The same for each row.
#[inline(always)]
pub fn relu_batch<const N: usize>(z: &mut [[f32; N]]) {
    z.as_flattened_mut().iter_mut().for_each(|z| *z = if *z < 0.0 { 0.0 } else { *z });
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
    static LAYER: Layer<I, O, 3> = Layer::new(&WEIGHT);

    /// Small integers: every order of summation is exact.
    fn expected(h: &[f32; I]) -> [f32; O] {
        std::array::from_fn(|o| 0.5 + (0..I).map(|i| ROWS[o][i] * h[i]).sum::<f32>())
    }

    struct All<'a>(&'a [[f32; I]]);

    impl Vectorised for All<'_> {
        type Output = Vec<[f32; O]>;

        #[inline(always)]
        fn run<S: Simd>(self) -> Self::Output {
            let mut z = vec![BIAS; self.0.len()];
            LAYER.add_batch::<S>(self.0, &mut z);
            for (h, z) in self.0.iter().zip(&z) {
                assert_eq!(LAYER.add::<S>(h, BIAS), *z);
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
        assert!(relu([f32::NAN])[0].is_nan());
        assert_eq!(relu([-1.0, 2.0]), [0.0, 2.0]);
        let mut rows = [[f32::NAN, -1.0], [3.0, -0.5]];
        relu_batch(&mut rows);
        assert!(rows[0][0].is_nan() && rows[0][1] == 0.0 && rows[1] == [3.0, 0.0]);
    }
}
