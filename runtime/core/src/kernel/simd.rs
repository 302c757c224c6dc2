//! One source, several instruction sets: a [`Vectorised`] computation is compiled once per set and the best is chosen at run time.
//!
//! Kernels are plain loops over fixed arrays that the compiler turns into vector code for the set at hand; everything
//! it calls must be `#[inline(always)]` for that, or be handed to [`Simd::call`]. The token [`Simd`] only says what
//! differs: whether a fused multiply-add is one instruction, and how many rows keep the registers full.
//! Evaluation has no fused operation, so that its bits do not depend on the set.

use super::vector::{Plain, Vector};
use core::ops::{Add, AddAssign, Div, Mul, Sub};

/// An instruction set, as far as the kernels need to know it.
pub trait Simd: Copy {
    /// Bytes of a vector register, and how many registers a tile's sums may take.
    const VECTOR: usize;
    const SUMS: usize;

    /// Sixteen float32.
    type Vector32: Vector<f32>;

    fn mul_add<T: Scalar>(a: T, b: T, c: T) -> T;

    /// Runs a part of the work as a function for this set, which is compiled once however many places call it.
    fn call<T: Vectorised>(work: T) -> T::Output;
}

/// The numbers a kernel computes with; weights are float32 either way.
pub trait Scalar:
    Copy
    + Default
    + PartialOrd
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
{
    /// Sixteen of them.
    type Vector<S: Simd>: Vector<Self>;

    fn widen(value: f32) -> Self;

    /// a·b + c, rounded once.
    #[cfg(feature = "std")]
    fn fused(a: Self, b: Self, c: Self) -> Self;
}

impl Scalar for f32 {
    type Vector<S: Simd> = S::Vector32;

    #[inline(always)]
    fn widen(value: f32) -> f32 {
        value
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    fn fused(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

impl Scalar for f64 {
    type Vector<S: Simd> = Plain<f64>;

    #[inline(always)]
    fn widen(value: f32) -> f64 {
        f64::from(value)
    }

    #[cfg(feature = "std")]
    #[inline(always)]
    fn fused(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

/// A computation to be compiled for each instruction set.
pub trait Vectorised {
    type Output;

    fn run<S: Simd>(self) -> Self::Output;
}

#[derive(Clone, Copy)]
pub struct Portable;

impl Simd for Portable {
    const VECTOR: usize = 16;
    const SUMS: usize = 8;

    type Vector32 = Plain<f32>;

    #[inline(always)]
    fn mul_add<T: Scalar>(a: T, b: T, c: T) -> T {
        a * b + c
    }

    fn call<T: Vectorised>(work: T) -> T::Output {
        work.run::<Portable>()
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod x86 {
    use super::{Scalar, Simd, Vectorised};
    use crate::kernel::vector::x86::{Halves, Wide};

    #[derive(Clone, Copy)]
    pub struct Avx2;

    impl Simd for Avx2 {
        const VECTOR: usize = 32;
        const SUMS: usize = 12;

        type Vector32 = Halves;

        #[inline(always)]
        fn mul_add<T: Scalar>(a: T, b: T, c: T) -> T {
            T::fused(a, b, c)
        }

        #[inline(always)]
        fn call<T: Vectorised>(work: T) -> T::Output {
            // SAFETY: only `run_avx2` names this set, and it runs where the features were detected.
            unsafe { run_avx2(work) }
        }
    }

    #[derive(Clone, Copy)]
    pub struct Avx512;

    impl Simd for Avx512 {
        const VECTOR: usize = 64;
        const SUMS: usize = 24;

        type Vector32 = Wide;

        #[inline(always)]
        fn mul_add<T: Scalar>(a: T, b: T, c: T) -> T {
            T::fused(a, b, c)
        }

        #[inline(always)]
        fn call<T: Vectorised>(work: T) -> T::Output {
            // SAFETY: only `run_avx512` names this set, and it runs where the features were detected.
            unsafe { run_avx512(work) }
        }
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn run_avx2<T: Vectorised>(work: T) -> T::Output {
        work.run::<Avx2>()
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")]
    pub fn run_avx512<T: Vectorised>(work: T) -> T::Output {
        work.run::<Avx512>()
    }
}

/// The instruction sets that kernels are compiled for, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Set {
    Portable = 1,
    Avx2 = 2,
    Avx512 = 3,
}

/// The set that [`dispatch`] takes; 0 before it is known.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
static CHOSEN: core::sync::atomic::AtomicU8 = core::sync::atomic::AtomicU8::new(0);

/// The best set of this machine.
pub fn best() -> Set {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512vl") && has!("avx512bw") && has!("avx512dq") && has!("fma") {
            return Set::Avx512;
        }
        if has!("avx2") && has!("fma") {
            return Set::Avx2;
        }
    }
    Set::Portable
}

/// Takes no better set than this from now on, in the whole program, and returns the one that is taken: for tests that compare
/// instruction sets.
pub fn limit(set: Set) -> Set {
    let set = best().min(set);
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    CHOSEN.store(set as u8, core::sync::atomic::Ordering::Relaxed);
    set
}

/// Runs the work with the best instruction set of this machine.
#[inline]
pub fn dispatch<T: Vectorised>(work: T) -> T::Output {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    {
        let mut chosen = CHOSEN.load(core::sync::atomic::Ordering::Relaxed);
        if chosen == 0 {
            chosen = limit(Set::Avx512) as u8;
        }
        if chosen == Set::Avx512 as u8 {
            // SAFETY: only `limit` stores a set, and none that this machine lacks.
            return unsafe { x86::run_avx512(work) };
        }
        if chosen == Set::Avx2 as u8 {
            // SAFETY: as above.
            return unsafe { x86::run_avx2(work) };
        }
    }
    work.run::<Portable>()
}
