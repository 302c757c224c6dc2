//! From a point of the relaxation towards a counterexample.
//!
//! The program's point often sits exactly on the border of the property, where rounding decides. A few steps against the
//! gradient of the network itself move it inside, if there is an inside. Nothing here needs to be sound: what it finds is
//! replayed.

use super::random::Random;
use crate::property::{Disjunct, Quadratic, Row, Scope};
use crate::search::{End, Search};
use pg_core::Source;
use pg_core::kernel::padded;
use pg_core::sweep::forward;

impl Search<'_> {
    /// A descent from a random point of the disjunct's inputs.
    pub fn descend_anywhere(&mut self, disjunct: &Disjunct, random: &mut Random) -> Result<(), End> {
        let start = match self.body(disjunct) {
            Some(body) => body.anywhere(random),
            None => {
                let (lower, upper) = disjunct.region.enclosure();
                lower.iter().zip(&upper).map(|(l, u)| l + (u - l) * random.unit()).collect()
            }
        };
        self.descend(disjunct, &start)
    }

    /// Replays the float input nearest to a point, pulled into the disjunct's inputs if need be.
    pub fn try_near(&mut self, disjunct: &Disjunct, x: &[f64]) -> Result<(), End> {
        let inside = self.body(disjunct).map(|body| body.pull(x));
        let floats = inside.as_deref().unwrap_or(x).iter().map(|&v| v as f32);
        disjunct.region.nearest_floats(floats).map_or(Ok(()), |input| self.try_witness(&input))
    }

    /// Replays the point, then the points of a descent of the constraint that is farthest from holding. All of them are
    /// pulled into the disjunct's inputs, so that its constraints on these alone need no descent.
    pub fn descend(&mut self, disjunct: &Disjunct, point: &[f64]) -> Result<(), End> {
        let body = self.body(disjunct);
        let (lower, upper) = disjunct.region.enclosure();
        let mut x = point.to_vec();
        let tuning = self.tuning.descent;
        let mut step = tuning.first_step;
        for _ in 0..=tuning.steps {
            if let Some(body) = &body {
                x = body.pull(&x);
            }
            if let Some(input) = disjunct.region.nearest_floats(x.iter().map(|&v| v as f32)) {
                self.try_witness(&input)?;
            }
            let Some(gradient) = self.gradient(disjunct, &x, body.is_some()) else { return Ok(()) };
            for (i, x) in x.iter_mut().enumerate() {
                let direction = if gradient[i] == 0.0 { 0.0 } else { gradient[i].signum() };
                *x = (*x - direction * step * (upper[i] - lower[i])).max(lower[i]).min(upper[i]);
            }
            step *= tuning.shrink;
        }
        Ok(())
    }

    /// The gradient at `x` of the constraint with the largest value there, if asked without those on the inputs alone;
    /// `None` if there is no constraint.
    pub fn gradient(&self, disjunct: &Disjunct, x: &[f64], is_inside: bool) -> Option<Vec<f64>> {
        let (shape, inputs) = (self.shape, self.shape.inputs);
        let mut h = vec![0.0f32; shape.room()];
        h.iter_mut().zip(x).for_each(|(h, &x)| *h = x as f32);
        forward(&shape, 1, &mut h);
        let last = shape.place(Source::Stage(shape.last()));
        let y: Vec<f64> = h[last..last + shape.outputs()].iter().map(|&v| f64::from(v)).collect();
        let wanted = |scope: Scope| !is_inside || scope != Scope::Input;
        let rows = disjunct.rows.iter().filter(|row| wanted(row.scope())).map(|row| Constraint::Row(row));
        let quadratics = disjunct.quadratics.iter().filter(|q| wanted(q.scope())).map(|q| Constraint::Quadratic(q));
        let valued = rows.chain(quadratics).map(|constraint| (constraint.value(x, &y), constraint));
        let (_, worst) = valued.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let (direct, by_outputs) = worst.gradient(x, &y);
        let mut mu = vec![0.0f64; shape.room()];
        mu[..inputs].copy_from_slice(&direct);
        mu[last..last + by_outputs.len()].copy_from_slice(&by_outputs);
        for (k, stage) in shape.stages.iter().enumerate().rev() {
            let place = shape.place(Source::Stage(k));
            let (before, from) = mu.split_at_mut(place);
            let nu = &mut from[..padded(stage.width())];
            if k < shape.last() {
                nu.iter_mut().zip(&h[place..]).filter(|(_, h)| **h <= 0.0).for_each(|(nu, _)| *nu = 0.0);
            }
            for edge in stage.edges {
                let to = shape.place(edge.from);
                edge.map.add_back(nu, &mut before[to..to + padded(edge.map.cols())]);
            }
        }
        mu.truncate(inputs);
        Some(mu)
    }
}

/// A constraint, as what is to become nonpositive.
enum Constraint<'a> {
    Row(&'a Row),
    Quadratic(&'a Quadratic),
}

impl Constraint<'_> {
    fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        match self {
            Constraint::Row(row) => row.affine.value_near(x, y),
            Constraint::Quadratic(quadratic) => quadratic.value(x, y),
        }
    }

    /// By inputs and by outputs.
    fn gradient(&self, x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        match self {
            Constraint::Row(row) => row.affine.slopes_near(x.len(), y.len()),
            Constraint::Quadratic(quadratic) => quadratic.gradient(x, y),
        }
    }
}
