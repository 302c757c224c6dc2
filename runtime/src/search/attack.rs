//! Attack: how low a row can really get.
//!
//! From the centre of the box, steps towards the corner that the network's own gradient points to; from random points, steps
//! of shrinking length against the gradient's signs. Many rows at a time, in float32, on the live neurons alone. What it
//! finds is a guide, or is replayed; nothing here needs to be sound.

use super::sample::Random;
use crate::bounds::{Front, ROWS, Row};

/// The lowest value of a row that was found, and where.
#[derive(Clone, Debug)]
pub struct Found {
    pub value: f32,
    pub x: Vec<f32>,
}

/// The first steps go all the way to the corner, the others a part of it.
const WHOLE_STEPS: usize = 3;
const PART: f32 = 0.25;
/// The first step against the signs, from a random point and from a given one, as a share of each side of the box, and what each
/// is shorter than the one before.
const FIRST_STEP: f32 = 0.5;
const SHORT_STEP: f32 = 0.1;
const SHRINK: f32 = 0.8;
/// At the first step neurons this little below zero count as on, so that the gradient is not blind to them.
const NEARLY_ON: f32 = -0.3;

/// Attacks each row from the centre of the box, or from a random point of it.
pub fn attack(front: &Front, rows: &[&Row], steps: usize, mut random: Option<&mut Random>) -> Vec<Found> {
    let mut attack = Attack::new(front);
    let mut found = Vec::with_capacity(rows.len());
    for batch in rows.chunks(ROWS) {
        attack.start(batch.len(), random.as_deref_mut());
        found.extend(attack.run(batch, steps, random.is_some().then_some(FIRST_STEP)));
    }
    found
}

/// Attacks each row from a point of its own.
pub fn attack_from(front: &Front, rows: &[(&Row, &Found)], steps: usize) -> Vec<Found> {
    let mut attack = Attack::new(front);
    let mut found = Vec::with_capacity(rows.len());
    for batch in rows.chunks(ROWS) {
        attack.place(batch.iter().map(|(_, start)| *start));
        found.extend(attack.run(&batch.iter().map(|(row, _)| *row).collect::<Vec<_>>(), steps, Some(SHORT_STEP)));
    }
    found
}

/// The values of all rows at each point.
pub fn values(front: &Front, rows: &[Row], points: &[Found]) -> Vec<Vec<f32>> {
    let mut attack = Attack::new(front);
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

struct Attack<'f> {
    front: &'f Front,
    x: Vec<f32>,
    gradient: Vec<f32>,
    /// By layer: activations, and coefficients of the neurons that are on.
    h: Vec<Vec<f32>>,
    nu: Vec<Vec<f32>>,
}

impl<'f> Attack<'f> {
    fn new(front: &'f Front) -> Attack<'f> {
        let room = || front.layers.iter().map(|layer| vec![0.0; ROWS * layer.width]).collect();
        let inputs = vec![0.0; ROWS * front.input_lower.len()];
        Attack { front, x: inputs.clone(), gradient: inputs, h: room(), nu: room() }
    }

    fn start(&mut self, count: usize, mut random: Option<&mut Random>) {
        let width = self.front.input_lower.len();
        for x in self.x.chunks_mut(width).take(count) {
            for (x, (l, u)) in x.iter_mut().zip(self.front.input_lower.iter().zip(&self.front.input_upper)) {
                let share = random.as_deref_mut().map_or(0.5, |random| random.unit() as f32);
                *x = l + share * (u - l);
            }
        }
    }

    fn place<'p>(&mut self, points: impl Iterator<Item = &'p Found>) {
        let width = self.front.input_lower.len();
        self.x.chunks_mut(width).zip(points).for_each(|(x, point)| x.copy_from_slice(&point.x));
    }

    fn run(&mut self, rows: &[&Row], steps: usize, by_signs: Option<f32>) -> Vec<Found> {
        let width = self.front.input_lower.len();
        let mut found: Vec<Found> = rows.iter().map(|_| Found { value: f32::INFINITY, x: vec![] }).collect();
        for step in 0..=steps {
            let threshold = if step == 0 { NEARLY_ON } else { 0.0 };
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
                    Some(first) => self.step(rows.len(), first * SHRINK.powi(step as i32)),
                    None => self.walk(rows.len(), if step < WHOLE_STEPS { 1.0 } else { PART }),
                }
            }
        }
        found
    }

    /// Activations; `nu` becomes 1 where a neuron counts as on.
    fn forward(&mut self, count: usize, threshold: f32) {
        for (k, layer) in self.front.layers.iter().enumerate() {
            let (before, rest) = self.h.split_at_mut(k);
            let h = &mut rest[0][..count * layer.width];
            match before.last() {
                Some(before) => layer.forward.product(&before[..count * self.front.layers[k - 1].width], h),
                None => layer.forward.product(&self.x[..count * self.front.input_lower.len()], h),
            }
            for (h, nu) in h.chunks_mut(layer.width).zip(self.nu[k].chunks_mut(layer.width)) {
                for ((h, nu), bias) in h.iter_mut().zip(nu).zip(&layer.bias) {
                    let z = *h + bias;
                    *nu = if z > threshold { 1.0 } else { 0.0 };
                    *h = z.max(0.0);
                }
            }
        }
    }

    fn value(&self, r: usize, row: &Row, x: &[f32]) -> f32 {
        let width = self.front.layers.last().map_or(0, |layer| layer.width);
        let h = self.h.last().map_or(&[][..], |h| &h[r * width..(r + 1) * width]);
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
        dot(&row.mu, h) + row.x.as_ref().map_or(0.0, |a| dot(a, x)) + row.constant as f32
    }

    /// The gradient of each row at its point, through the neurons that are on.
    fn backward(&mut self, rows: &[&Row]) {
        let (count, last) = (rows.len(), self.front.layers.len() - 1);
        let width = self.front.layers[last].width;
        for (nu, row) in self.nu[last].chunks_mut(width).zip(rows) {
            nu.iter_mut().zip(&row.mu).for_each(|(nu, mu)| *nu *= mu);
        }
        for k in (0..=last).rev() {
            let layer = &self.front.layers[k];
            let (before, rest) = self.nu.split_at_mut(k);
            let nu = &rest[0][..count * layer.width];
            match before.last_mut() {
                Some(before) => {
                    let width = self.front.layers[k - 1].width;
                    let mut mu = vec![0.0; count * width];
                    layer.back.product(nu, &mut mu);
                    before.iter_mut().zip(&mu).for_each(|(on, mu)| *on *= mu);
                }
                None => layer.back.product(nu, &mut self.gradient[..count * self.front.input_lower.len()]),
            }
        }
        let inputs = self.front.input_lower.len();
        for (gradient, row) in self.gradient.chunks_mut(inputs).zip(rows) {
            let x = row.x.iter().flatten();
            gradient.iter_mut().zip(x).for_each(|(gradient, x)| *gradient += x);
        }
    }

    /// Against the gradient's signs, by a share of each side.
    fn step(&mut self, count: usize, share: f32) {
        let inputs = self.front.input_lower.len();
        for (x, gradient) in self.x.chunks_mut(inputs).zip(self.gradient.chunks(inputs)).take(count) {
            for (i, (x, &gradient)) in x.iter_mut().zip(gradient).enumerate() {
                let (lower, upper) = (self.front.input_lower[i], self.front.input_upper[i]);
                let direction = if gradient == 0.0 { 0.0 } else { gradient.signum() };
                *x = (*x - direction * share * (upper - lower)).max(lower).min(upper);
            }
        }
    }

    /// A part of the way to the corner that the gradient points to.
    fn walk(&mut self, count: usize, part: f32) {
        let inputs = self.front.input_lower.len();
        for (x, gradient) in self.x.chunks_mut(inputs).zip(self.gradient.chunks(inputs)).take(count) {
            for (i, (x, &gradient)) in x.iter_mut().zip(gradient).enumerate() {
                let corner = if gradient > 0.0 {
                    self.front.input_lower[i]
                } else if gradient < 0.0 {
                    self.front.input_upper[i]
                } else {
                    *x
                };
                *x += part * (corner - *x);
            }
        }
    }
}
