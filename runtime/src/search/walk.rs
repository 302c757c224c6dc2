//! Hit and run (Smith, 1984): a walk through a convex set that comes near every part of it.
//!
//! From a point inside, each step takes a random direction and then a uniform point of the chord along it. Its limit is the
//! uniform distribution, whatever the shape; no sample is ever thrown away.

use super::body::Body;
use super::sample::Random;

/// Steps from the centre to a point that has little to do with it.
const FAR: usize = 16;

impl Body {
    /// A random point of the set.
    pub fn anywhere(&self, random: &mut Random) -> Vec<f64> {
        let mut x = self.centre.clone();
        for _ in 0..FAR {
            self.step(&mut x, random);
        }
        x
    }

    /// One step of the walk from a point of the set; where there is no way to go the point stays.
    pub fn step(&self, x: &mut [f64], random: &mut Random) {
        let mut direction: Vec<f64> = self.half_sides().iter().map(|half| half * random.normal()).collect();
        self.keep_equations(&mut direction);
        let (low, high) = self.chord(x, &direction);
        let t = low + (high - low) * random.unit();
        x.iter_mut().zip(&direction).for_each(|(x, d)| *x += t * d);
    }
}
