//! Sampling: the cheapest way to find a counterexample.

use super::{End, Search};
use crate::property::Disjunct;
use std::sync::Arc;
use std::time::Instant;

/// Inputs tried in each box.
const SAMPLES: usize = 2000;
/// Inputs evaluated together.
const BATCH: usize = 200;

/// Seeded numbers (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Uniform below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.unit() * n as f64) as usize
    }
}

impl Search<'_> {
    /// Evaluates random inputs of each box, corners among them, and replays those that look like counterexamples.
    pub fn sample(&mut self) -> Result<(), End> {
        let start = Instant::now();
        let result = self.sample_boxes();
        self.times.sampling += start.elapsed().as_secs_f64();
        result
    }

    fn sample_boxes(&mut self) -> Result<(), End> {
        let mut random = Random::new(self.options.seed);
        let disjuncts = &self.property.disjuncts;
        for (d, disjunct) in disjuncts.iter().enumerate() {
            if d > 0 && Arc::ptr_eq(&disjunct.region, &disjuncts[d - 1].region) {
                continue;
            }
            let sides: Vec<(f32, f32)> = disjunct.region.sides().map(|side| side.floats()).collect();
            if sides.iter().any(|(first, last)| first > last) {
                continue;
            }
            for batch in 0..SAMPLES / BATCH {
                self.go_on()?;
                let x: Vec<f32> = (0..BATCH).flat_map(|_| sample(&sides, batch == 0, &mut random)).collect();
                self.try_inputs(&x)?;
            }
        }
        Ok(())
    }

    fn try_inputs(&mut self, x: &[f32]) -> Result<(), End> {
        let (inputs, outputs) = (self.network.inputs(), self.network.outputs());
        let mut y = vec![0.0; x.len() / inputs * outputs];
        self.network.forward(x, &mut y);
        self.counters.samples += (x.len() / inputs) as u64;
        for (x, y) in x.chunks(inputs).zip(y.chunks(outputs)) {
            if self.property.disjuncts.iter().any(|disjunct| looks_violated(disjunct, x, y)) {
                self.try_witness(x)?;
            }
        }
        Ok(())
    }
}

/// A corner, or a uniform point, of the box of floats.
fn sample(sides: &[(f32, f32)], corner: bool, random: &mut Random) -> Vec<f32> {
    let coordinate = |&(l, u): &(f32, f32), random: &mut Random| {
        let t = random.unit();
        if corner {
            return if t < 0.5 { l } else { u };
        }
        ((f64::from(l) * (1.0 - t) + f64::from(u) * t) as f32).clamp(l, u)
    };
    sides.iter().map(|side| coordinate(side, random)).collect()
}

/// Whether the rows hold up to rounding: a filter before the exact replay.
fn looks_violated(disjunct: &Disjunct, x: &[f32], y: &[f32]) -> bool {
    disjunct.rows.iter().all(|row| {
        let term = |t: &crate::property::Term, v: &[f32]| t.coefficient.low * f64::from(v[t.index]);
        let sum: f64 = row.affine.x.iter().map(|t| term(t, x)).chain(row.affine.y.iter().map(|t| term(t, y))).sum();
        sum + row.affine.constant.low <= 1e-9 * row.affine.constant.low.abs()
    })
}
