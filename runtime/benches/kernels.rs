//! The batched dense kernel beside the machine's peak: `cargo bench -p pg-runtime`.
//!
//! Peak is what a loop of independent fused multiply-adds in registers reaches, on the widest vectors the machine has.

use pg_runtime::kernel::{Dense, Lanes, Panel, Scalar, Simd, Task, dispatch};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 15;

/// The best of several rounds, in billions of floating-point operations a second.
fn best(operations: f64, mut round: impl FnMut()) -> f64 {
    let mut rates = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        round();
        operations / start.elapsed().as_secs_f64() / 1e9
    });
    let first = rates.next().expect("at least one round");
    rates.fold(first, f64::max)
}

#[cfg(target_arch = "x86_64")]
mod peak {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    const STEPS: usize = 1_000_000;
    const SUMS: usize = 12;

    macro_rules! chains {
        ($name:ident, $features:literal, $set:ident, $fma:ident, $add:ident) => {
            #[target_feature(enable = $features)]
            fn $name() {
                let half = $set(black_box(0.5));
                let mut sums = [$set(black_box(1.0)); SUMS];
                for _ in 0..STEPS {
                    sums = sums.map(|sum| $fma(sum, half, half));
                }
                black_box(sums.into_iter().reduce(|a, b| $add(a, b)));
            }
        };
    }
    chains!(avx512, "avx512f", _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps);
    chains!(avx2, "avx2,fma", _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps);

    /// The name and rate of the widest vectors.
    pub fn measure() -> Option<(&'static str, f64)> {
        let operations = (2 * STEPS * SUMS) as f64;
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the feature was just detected.
            Some(("AVX-512", super::best(16.0 * operations, || unsafe { avx512() })))
        } else if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the features were just detected.
            Some(("AVX2", super::best(8.0 * operations, || unsafe { avx2() })))
        } else {
            None
        }
    }
}

struct Batch<'a, T, const I: usize, const O: usize, const P: usize> {
    layer: &'a Dense<I, O, P>,
    h: &'a [[T; I]],
    z: &'a mut [[T; O]],
}

impl<T: Scalar, const I: usize, const O: usize, const P: usize> Task for Batch<'_, T, I, O, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        self.layer.affine_batch::<S, T>(self.h, self.z);
    }
}

fn dense<T: Scalar, const I: usize, const O: usize, const P: usize>() -> f64 {
    const ROWS: usize = 48;
    const CALLS: usize = 200;
    let weight: &'static [Panel<I>; P] = Box::leak(Box::new([[Lanes([0.01; 16]); I]; P]));
    let bias: &'static [Lanes; P] = Box::leak(Box::new([Lanes([0.1; 16]); P]));
    let layer: Dense<I, O, P> = Dense::new(weight, bias);
    let h = vec![[T::widen(0.5); I]; ROWS];
    let mut z = vec![[T::default(); O]; ROWS];
    best((2 * ROWS * I * O * CALLS) as f64, || {
        for _ in 0..CALLS {
            dispatch(Batch { layer: &layer, h: black_box(&h), z: &mut z });
        }
    })
}

fn main() {
    let rates = [
        ("f32 50 x 50", dense::<f32, 50, 50, 4>()),
        ("f32 256 x 256", dense::<f32, 256, 256, 16>()),
        ("f32 784 x 256", dense::<f32, 784, 256, 16>()),
        ("f64 256 x 256", dense::<f64, 256, 256, 16>()),
    ];
    #[cfg(target_arch = "x86_64")]
    let peak = peak::measure();
    #[cfg(not(target_arch = "x86_64"))]
    let peak: Option<(&str, f64)> = None;
    if let Some((name, rate)) = peak {
        println!("peak {name:<9} {rate:7.1} GFLOP/s");
    }
    for (name, rate) in rates {
        let share = peak.map_or(String::new(), |(_, peak)| format!("  {:3.0} % of peak", 100.0 * rate / peak));
        println!("{name:<14} {rate:7.1} GFLOP/s{share}");
    }
}
