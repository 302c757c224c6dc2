//! The batched dense kernels, of constant and of run-time sizes, beside the machine's peak: `cargo bench -p pg-core`.
//!
//! Peak is what a loop of independent fused multiply-adds in registers reaches, on the widest vectors the machine has.

use pg_core::kernel::{Lanes, Layer, Panel, Panels, Scalar, Simd, Vectorised, dispatch, padded};
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

struct Batch<'a, const I: usize, const O: usize, const P: usize> {
    layer: &'a Layer<I, O, P>,
    h: &'a [[f32; I]],
    z: &'a mut [[f32; O]],
}

impl<const I: usize, const O: usize, const P: usize> Vectorised for Batch<'_, I, O, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        self.layer.affine_batch::<S>(self.h, self.z);
    }
}

const ROWS: usize = 48;
const CALLS: usize = 200;

fn constant<const I: usize, const O: usize, const P: usize>() -> f64 {
    let weight: &'static [Panel<I>; P] = Box::leak(Box::new([[Lanes([0.01; 16]); I]; P]));
    let bias: &'static [Lanes; P] = Box::leak(Box::new([Lanes([0.1; 16]); P]));
    let layer: Layer<I, O, P> = Layer::new(weight, bias);
    let h = vec![[0.5; I]; ROWS];
    let mut z = vec![[0.0; O]; ROWS];
    best((2 * ROWS * I * O * CALLS) as f64, || {
        for _ in 0..CALLS {
            dispatch(Batch { layer: &layer, h: black_box(&h), z: &mut z });
        }
    })
}

fn at_run_time<T: Scalar>(rows: usize, cols: usize) -> f64 {
    let lanes = vec![Lanes([0.01; 16]); rows * cols.div_ceil(16)];
    let matrix = Panels::new(rows, cols, &lanes);
    let a = vec![T::widen(0.5); ROWS * padded(rows)];
    let mut c = vec![T::default(); ROWS * padded(cols)];
    best((2 * ROWS * rows * cols * CALLS) as f64, || {
        for _ in 0..CALLS {
            matrix.add_product(black_box(&a), &mut c);
        }
    })
}

fn main() {
    let rates = [
        ("constant f32 50 x 50", constant::<50, 50, 4>()),
        ("constant f32 256 x 256", constant::<256, 256, 16>()),
        ("constant f32 784 x 256", constant::<784, 256, 16>()),
        ("run-time f32 50 x 50", at_run_time::<f32>(50, 50)),
        ("run-time f32 256 x 256", at_run_time::<f32>(256, 256)),
        ("run-time f64 256 x 256", at_run_time::<f64>(256, 256)),
    ];
    #[cfg(target_arch = "x86_64")]
    let peak = peak::measure();
    #[cfg(not(target_arch = "x86_64"))]
    let peak: Option<(&str, f64)> = None;
    if let Some((name, rate)) = peak {
        println!("peak {name:<17} {rate:7.1} GFLOP/s");
    }
    for (name, rate) in rates {
        let share = peak.map_or(String::new(), |(_, peak)| format!("  {:3.0} % of peak", 100.0 * rate / peak));
        println!("{name:<22} {rate:7.1} GFLOP/s{share}");
    }
}
