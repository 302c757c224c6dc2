//! Sixteen numbers at a time, one a lane: what the box kernels compute with.
//!
//! Each instruction set has its own type, so that what is meant to stay in registers does. Comparisons with NaN are false,
//! and [`Vector::max`] and [`Vector::min`] then return their second number: callers choose which side a NaN may come from.

use super::panels::{Lanes, PANEL};
use super::simd::Scalar;

/// A number for each lane.
pub trait Vector<T>: Copy {
    fn splat(value: T) -> Self;
    fn load(from: &Lanes<T>) -> Self;
    fn store(self, to: &mut Lanes<T>);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn div(self, other: Self) -> Self;
    /// self·factor + term, rounded once or twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    fn abs(self) -> Self;
    /// The larger; the second if one is NaN.
    fn max(self, other: Self) -> Self;
    /// The smaller; the second if one is NaN.
    fn min(self, other: Self) -> Self;
    /// The lanes in which this is above the other.
    fn above(self, other: Self) -> u16;
    /// In the lanes of the mask the first, in the others the second.
    fn pick(lanes: u16, yes: Self, no: Self) -> Self;
}

/// Plain numbers, for instruction sets without a type of their own and for float64.
#[derive(Clone, Copy)]
pub struct Plain<T>([T; PANEL]);

impl<T: Scalar> Plain<T> {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        let mut out = self.0;
        for lane in 0..PANEL {
            out[lane] = f(self.0[lane], other.0[lane]);
        }
        Plain(out)
    }
}

impl<T: Scalar> Vector<T> for Plain<T> {
    #[inline(always)]
    fn splat(value: T) -> Self {
        Plain([value; PANEL])
    }

    #[inline(always)]
    fn load(from: &Lanes<T>) -> Self {
        Plain(from.0)
    }

    #[inline(always)]
    fn store(self, to: &mut Lanes<T>) {
        to.0 = self.0;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self.mul(factor).add(term)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.zip(self, |a, _| if a > T::default() { a } else { T::default() - a })
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.zip(other, |a, b| if a > b { a } else { b })
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn above(self, other: Self) -> u16 {
        (0..PANEL).fold(0, |lanes, lane| lanes | u16::from(self.0[lane] > other.0[lane]) << lane)
    }

    #[inline(always)]
    fn pick(lanes: u16, yes: Self, no: Self) -> Self {
        let mut out = no.0;
        for lane in 0..PANEL {
            if lanes >> lane & 1 == 1 {
                out[lane] = yes.0[lane];
            }
        }
        Plain(out)
    }
}

/// The vector of an instruction set for numbers of this kind.
pub type VectorOf<S, T> = <T as Scalar>::Vector<S>;

#[cfg(all(target_arch = "x86_64", feature = "std"))]
pub(super) mod x86 {
    use super::{Lanes, Vector};
    use std::arch::x86_64::*;

    // SAFETY, for all of this module: the vectors are only named by the instruction sets of `simd`, whose code runs after the
    // features were detected and inside functions that enable them. Loads and stores are of aligned arrays of sixteen.

    #[derive(Clone, Copy)]
    pub struct Wide(__m512);

    impl Vector<f32> for Wide {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            unsafe { Wide(_mm512_set1_ps(value)) }
        }

        #[inline(always)]
        fn load(from: &Lanes) -> Self {
            unsafe { Wide(_mm512_load_ps(from.0.as_ptr())) }
        }

        #[inline(always)]
        fn store(self, to: &mut Lanes) {
            unsafe { _mm512_store_ps(to.0.as_mut_ptr(), self.0) }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            unsafe { Wide(_mm512_add_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            unsafe { Wide(_mm512_sub_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            unsafe { Wide(_mm512_mul_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            unsafe { Wide(_mm512_div_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { Wide(_mm512_fmadd_ps(self.0, factor.0, term.0)) }
        }

        #[inline(always)]
        fn abs(self) -> Self {
            unsafe { Wide(_mm512_abs_ps(self.0)) }
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            unsafe { Wide(_mm512_max_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            unsafe { Wide(_mm512_min_ps(self.0, other.0)) }
        }

        #[inline(always)]
        fn above(self, other: Self) -> u16 {
            unsafe { _mm512_cmp_ps_mask::<_CMP_GT_OQ>(self.0, other.0) }
        }

        #[inline(always)]
        fn pick(lanes: u16, yes: Self, no: Self) -> Self {
            unsafe { Wide(_mm512_mask_blend_ps(lanes, no.0, yes.0)) }
        }
    }

    #[derive(Clone, Copy)]
    pub struct Halves(__m256, __m256);

    impl Halves {
        #[inline(always)]
        fn zip(self, other: Self, f: impl Fn(__m256, __m256) -> __m256) -> Self {
            Halves(f(self.0, other.0), f(self.1, other.1))
        }
    }

    /// All bits of the lanes of a mask.
    #[inline(always)]
    unsafe fn spread(lanes: i32) -> __m256 {
        unsafe {
            let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(lanes), bits), bits))
        }
    }

    impl Vector<f32> for Halves {
        #[inline(always)]
        fn splat(value: f32) -> Self {
            unsafe { Halves(_mm256_set1_ps(value), _mm256_set1_ps(value)) }
        }

        #[inline(always)]
        fn load(from: &Lanes) -> Self {
            unsafe { Halves(_mm256_load_ps(from.0.as_ptr()), _mm256_load_ps(from.0[8..].as_ptr())) }
        }

        #[inline(always)]
        fn store(self, to: &mut Lanes) {
            unsafe {
                _mm256_store_ps(to.0.as_mut_ptr(), self.0);
                _mm256_store_ps(to.0[8..].as_mut_ptr(), self.1);
            }
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_add_ps(a, b) })
        }

        #[inline(always)]
        fn sub(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_sub_ps(a, b) })
        }

        #[inline(always)]
        fn mul(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_mul_ps(a, b) })
        }

        #[inline(always)]
        fn div(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_div_ps(a, b) })
        }

        #[inline(always)]
        fn mul_add(self, factor: Self, term: Self) -> Self {
            unsafe { Halves(_mm256_fmadd_ps(self.0, factor.0, term.0), _mm256_fmadd_ps(self.1, factor.1, term.1)) }
        }

        #[inline(always)]
        fn abs(self) -> Self {
            self.zip(self, |a, _| unsafe { _mm256_andnot_ps(_mm256_set1_ps(-0.0), a) })
        }

        #[inline(always)]
        fn max(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_max_ps(a, b) })
        }

        #[inline(always)]
        fn min(self, other: Self) -> Self {
            self.zip(other, |a, b| unsafe { _mm256_min_ps(a, b) })
        }

        #[inline(always)]
        fn above(self, other: Self) -> u16 {
            let half = |a, b| unsafe { _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GT_OQ>(a, b)) };
            (half(self.0, other.0) | half(self.1, other.1) << 8) as u16
        }

        #[inline(always)]
        fn pick(lanes: u16, yes: Self, no: Self) -> Self {
            unsafe {
                let (low, high) = (spread(i32::from(lanes & 0xff)), spread(i32::from(lanes >> 8)));
                Halves(_mm256_blendv_ps(no.0, yes.0, low), _mm256_blendv_ps(no.1, yes.1, high))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::simd::{Portable, Simd, Vectorised, dispatch};

    struct Everything([Lanes; 3]);

    /// Each operation on lanes of all kinds.
    impl Vectorised for Everything {
        type Output = (Vec<[u32; PANEL]>, [u16; 2]);

        fn run<S: Simd>(self) -> Self::Output {
            let [a, b, c] = self.0.map(|lanes| S::Vector32::load(&lanes));
            let all = [
                a.add(b),
                a.sub(b),
                a.mul(b),
                a.div(b),
                a.abs(),
                a.max(b),
                a.min(b),
                S::Vector32::pick(0b1010_0101_1100_0011, b, c),
                S::Vector32::splat(-2.5),
            ];
            let bits = |v: S::Vector32| {
                let mut lanes = Lanes([0.0; PANEL]);
                v.store(&mut lanes);
                // Which NaN it is does not matter.
                lanes.0.map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() })
            };
            (all.map(bits).to_vec(), [a.above(b), b.above(c)])
        }
    }

    #[test]
    fn every_instruction_set_computes_the_same() {
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let a = [0.0, 1.0, -1.5, nan, inf, -inf, 1e-45, 3e38, -0.0, 2.0, nan, 5.0, -7.0, 0.1, -3e38, 1.0];
        let b = [1.0, 0.0, -1.5, 1.0, -inf, inf, 1e-45, 3e38, 0.0, nan, nan, -5.0, 7.5, 0.3, 3e38, 2.0];
        let c = [0.5; PANEL];
        let lanes = || Everything([Lanes(a), Lanes(b), Lanes(c)]);
        assert_eq!(dispatch(lanes()), lanes().run::<Portable>());
    }
}
