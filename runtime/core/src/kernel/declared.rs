//! The declared arithmetic of evaluation, in one place: sums of products whose bits do not depend on the instruction set.
//!
//! A sum begins with what is there and adds products by ascending input, multiplication and addition rounded one by one
//! ([`crate::sweep`] has the whole definition). Lanes are neurons, so a vector instruction does the same to each of them as scalar
//! code would.

use super::panels::{Lanes, PANEL, ZERO};
use super::simd::Simd;
use super::vector::Vector;

/// Adds the products of `R` rows of activations with `Q` panels of neurons, all of one length, to the sums.
#[inline(always)]
pub fn add_products<S: Simd, const R: usize, const Q: usize>(
    h: &[&[f32]; R],
    panels: &[&[Lanes]; Q],
    sums: &mut [[Lanes; Q]; R],
) {
    let length = panels[0].len();
    let mut totals = [[S::Vector32::splat(0.0); Q]; R];
    for r in 0..R {
        assert_eq!(h[r].len(), length);
        for q in 0..Q {
            assert_eq!(panels[q].len(), length);
            totals[r][q] = S::Vector32::load(&sums[r][q]);
        }
    }
    for i in 0..length {
        let mut weights = [S::Vector32::splat(0.0); Q];
        for q in 0..Q {
            weights[q] = S::Vector32::load(&panels[q][i]);
        }
        for r in 0..R {
            let h = S::Vector32::splat(h[r][i]);
            for q in 0..Q {
                totals[r][q] = totals[r][q].add(h.mul(weights[q]));
            }
        }
    }
    for r in 0..R {
        for q in 0..Q {
            totals[r][q].store(&mut sums[r][q]);
        }
    }
}

/// A panel of numbers, or as much of one as there is, and zeros.
#[inline(always)]
pub fn load(z: &[f32]) -> Lanes {
    match z.first_chunk() {
        Some(z) => Lanes(*z),
        None => {
            let mut panel = ZERO;
            panel.0[..z.len()].copy_from_slice(z);
            panel
        }
    }
}

/// Stores a panel, or as much of it as there is room for.
#[inline(always)]
pub fn store(panel: &Lanes, z: &mut [f32]) {
    match z.first_chunk_mut::<PANEL>() {
        Some(z) => *z = panel.0,
        None => z.copy_from_slice(&panel.0[..z.len()]),
    }
}
