//! The machine's peak, and the best of several rounds.

use std::time::Instant;

const ROUNDS: usize = 15;

/// The best of several rounds, in billions of floating-point operations a second.
pub fn best(operations: f64, mut round: impl FnMut()) -> f64 {
    let mut rates = (0..ROUNDS).map(|_| {
        let start = Instant::now();
        round();
        operations / start.elapsed().as_secs_f64() / 1e9
    });
    let first = rates.next().expect("at least one round");
    rates.fold(first, f64::max)
}

#[cfg(target_arch = "x86_64")]
mod vectors {
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
                    // A loop: a closure would not be compiled for these vectors, and be called for each.
                    for sum in &mut sums {
                        *sum = $fma(*sum, half, half);
                    }
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

#[cfg(target_arch = "x86_64")]
pub use vectors::measure;
