//! Attack: how low a row can really get.
//!
//! From the centre of the box, steps towards the corner that the network's own gradient points to; from random points, steps
//! of shrinking length against the gradient's signs. Many rows at a time, in float32, on the live neurons alone. What it
//! finds is a guide, or is replayed; nothing here needs to be sound.

use super::random::Random;
use crate::bounds::{Buffer, Compact, Objective32, ROWS};
use crate::tuning::AttackTuning;

/// The lowest value of a row that was found, and where.
#[derive(Clone, Debug)]
pub struct Found {
    pub value: f32,
    pub x: Vec<f32>,
}

/// Attacks each row from the centre of the box, or from a random point of it.
pub fn attack(
    compact: &Compact,
    rows: &[&Objective32],
    steps: usize,
    mut random: Option<&mut Random>,
    tuning: AttackTuning,
) -> Vec<Found> {
    let mut attack = Attack::new(compact, tuning);
    let mut found = Vec::with_capacity(rows.len());
    for batch in rows.chunks(ROWS) {
        attack.start(batch.len(), random.as_deref_mut());
        found.extend(attack.run(batch, steps, random.is_some().then_some(tuning.first_step)));
    }
    found
}

/// Attacks each row from a point of its own.
pub fn attack_from(
    compact: &Compact,
    rows: &[(&Objective32, &Found)],
    steps: usize,
    tuning: AttackTuning,
) -> Vec<Found> {
    let mut attack = Attack::new(compact, tuning);
    let mut found = Vec::with_capacity(rows.len());
    for batch in rows.chunks(ROWS) {
        attack.place(batch.iter().map(|(_, start)| *start));
        let rows: Vec<_> = batch.iter().map(|(row, _)| *row).collect();
        found.extend(attack.run(&rows, steps, Some(tuning.short_step)));
    }
    found
}

/// The values of all rows at each point.
pub fn values(compact: &Compact, rows: &[&Objective32], points: &[Found], tuning: AttackTuning) -> Vec<Vec<f32>> {
    let mut attack = Attack::new(compact, tuning);
    let mut values = Vec::with_capacity(points.len());
    for batch in points.chunks(ROWS) {
        attack.place(batch.iter());
        attack.forward(batch.len(), 0.0);
        for (r, point) in batch.iter().enumerate() {
            values.push(rows.iter().map(|row| attack.value(r, row, &point.x)).collect());
        }
    }
    values
}

struct Attack<'c> {
    compact: &'c Compact,
    tuning: AttackTuning,
    x: Vec<f32>,
    gradient: Vec<f32>,
    /// By stage: activations, whether they count as on, and their coefficients.
    h: Vec<Vec<f32>>,
    on: Vec<Vec<f32>>,
    nu: Vec<Vec<f32>>,
    /// Of products.
    room: Buffer,
}

impl<'c> Attack<'c> {
    fn new(compact: &'c Compact, tuning: AttackTuning) -> Attack<'c> {
        let room = || compact.stages.iter().map(|stage| vec![0.0; ROWS * stage.width]).collect();
        let inputs = vec![0.0; ROWS * compact.inputs()];
        let (x, gradient) = (inputs.clone(), inputs);
        Attack { compact, tuning, x, gradient, h: room(), on: room(), nu: room(), room: Buffer::default() }
    }

    fn start(&mut self, count: usize, mut random: Option<&mut Random>) {
        let width = self.compact.inputs();
        for x in self.x.chunks_mut(width).take(count) {
            for (x, (l, u)) in x.iter_mut().zip(self.compact.input_lower.iter().zip(&*self.compact.input_upper)) {
                let t = random.as_deref_mut().map_or(0.5, |random| random.unit() as f32);
                *x = l + t * (u - l);
            }
        }
    }

    fn place<'p>(&mut self, points: impl Iterator<Item = &'p Found>) {
        let width = self.compact.inputs();
        self.x.chunks_mut(width).zip(points).for_each(|(x, point)| x.copy_from_slice(&point.x));
    }

    fn run(&mut self, rows: &[&Objective32], steps: usize, by_signs: Option<f32>) -> Vec<Found> {
        let width = self.compact.inputs();
        let mut found: Vec<Found> = rows.iter().map(|_| Found { value: f32::INFINITY, x: vec![] }).collect();
        for step in 0..=steps {
            let threshold = if step == 0 { self.tuning.nearly_on } else { 0.0 };
            self.forward(rows.len(), threshold);
            for (r, (row, found)) in rows.iter().zip(&mut found).enumerate() {
                let x = &self.x[r * width..(r + 1) * width];
                let value = self.value(r, row, x);
                if step == 0 || value < found.value {
                    let value = if value.is_nan() { f32::INFINITY } else { value };
                    *found = Found { value, x: x.to_vec() };
                }
            }
            if step < steps {
                self.backward(rows);
                match by_signs {
                    Some(first) => self.step(rows.len(), first * self.tuning.shrink.powi(step as i32)),
                    None => self.walk(rows.len(), if step < self.tuning.whole_steps { 1.0 } else { self.tuning.part }),
                }
            }
        }
        found
    }

    /// Activations, and which of them count as on.
    fn forward(&mut self, count: usize, threshold: f32) {
        let inputs = self.compact.inputs();
        for (k, stage) in self.compact.stages.iter().enumerate() {
            let (before, rest) = self.h.split_at_mut(k);
            let h = &mut rest[0][..count * stage.width];
            for edge in &stage.edges {
                match edge.from {
                    Some(s) => {
                        let from = &before[s][..count * self.compact.stages[s].width];
                        edge.forward.product(from, h, edge.sets_forward, &mut self.room);
                    }
                    None => {
                        let x = &self.x[..count * inputs];
                        edge.forward.product(x, h, edge.sets_forward, &mut self.room);
                    }
                }
            }
            for (h, on) in h.chunks_mut(stage.width).zip(self.on[k].chunks_mut(stage.width)) {
                for ((h, on), bias) in h.iter_mut().zip(on).zip(&stage.bias) {
                    let z = *h + bias;
                    *on = if z > threshold { 1.0 } else { 0.0 };
                    *h = z.max(0.0);
                }
            }
        }
    }

    fn value(&self, r: usize, row: &Objective32, x: &[f32]) -> f32 {
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        let hidden = self.compact.reads.iter().zip(&row.mu).map(|(&read, mu)| {
            let width = mu.len();
            dot(mu, &self.h[read][r * width..(r + 1) * width])
        });
        hidden.sum::<f32>() + row.x.as_ref().map_or(0.0, |a| dot(a, x)) + row.constant as f32
    }

    /// The gradient of each row at its point, through the neurons that are on.
    fn backward(&mut self, rows: &[&Objective32]) {
        let (count, inputs) = (rows.len(), self.compact.inputs());
        let has_inputs = self.compact.stages.is_empty() || rows.iter().any(|row| row.x.is_some());
        if has_inputs {
            self.gradient[..count * inputs].fill(0.0);
        }
        for (r, row) in rows.iter().enumerate() {
            for (&read, mu) in self.compact.reads.iter().zip(&row.mu) {
                self.nu[read][r * mu.len()..(r + 1) * mu.len()].copy_from_slice(mu);
            }
            if let Some(x) = &row.x {
                self.gradient[r * inputs..(r + 1) * inputs].copy_from_slice(x);
            }
        }
        for (k, stage) in self.compact.stages.iter().enumerate().rev() {
            let (before, rest) = self.nu.split_at_mut(k);
            let nu = &mut rest[0][..count * stage.width];
            nu.iter_mut().zip(&self.on[k]).for_each(|(nu, on)| *nu *= on);
            for edge in &stage.edges {
                match edge.from {
                    Some(s) => {
                        let to = &mut before[s][..count * self.compact.stages[s].width];
                        edge.back.product(nu, to, edge.sets_back, &mut self.room);
                    }
                    None => {
                        let to = &mut self.gradient[..count * inputs];
                        edge.back.product(nu, to, edge.sets_back && !has_inputs, &mut self.room);
                    }
                }
            }
        }
    }

    /// Against the gradient's signs, by a part of each side.
    fn step(&mut self, count: usize, part: f32) {
        let inputs = self.compact.inputs();
        for (x, gradient) in self.x.chunks_mut(inputs).zip(self.gradient.chunks(inputs)).take(count) {
            for (i, (x, &gradient)) in x.iter_mut().zip(gradient).enumerate() {
                let (lower, upper) = (self.compact.input_lower[i], self.compact.input_upper[i]);
                let direction = if gradient == 0.0 { 0.0 } else { gradient.signum() };
                *x = (*x - direction * part * (upper - lower)).max(lower).min(upper);
            }
        }
    }

    /// A part of the way to the corner that the gradient points to.
    fn walk(&mut self, count: usize, part: f32) {
        let inputs = self.compact.inputs();
        for (x, gradient) in self.x.chunks_mut(inputs).zip(self.gradient.chunks(inputs)).take(count) {
            for (i, (x, &gradient)) in x.iter_mut().zip(gradient).enumerate() {
                let corner = if gradient > 0.0 {
                    self.compact.input_lower[i]
                } else if gradient < 0.0 {
                    self.compact.input_upper[i]
                } else {
                    *x
                };
                *x += part * (corner - *x);
            }
        }
    }
}
