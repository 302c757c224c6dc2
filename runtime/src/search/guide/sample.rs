//! Sampling: the cheapest way to find a counterexample.

use super::random::Random;
use crate::property::Disjunct;
use crate::report::Activity;
use crate::search::{End, Search};
use crate::verdict::Witness;
use std::time::Instant;

impl Search<'_> {
    /// Evaluates random inputs of each disjunct and replays those that look like counterexamples.
    pub fn sample(&mut self) -> Result<(), End> {
        self.control.enter(Activity::Sampling);
        let start = Instant::now();
        let result = self.sample_regions();
        self.times.sampling += start.elapsed().as_secs_f64();
        result
    }

    fn sample_regions(&mut self) -> Result<(), End> {
        let mut random = Random::new(self.options.seed);
        let property = self.property;
        let mut last = vec![];
        for disjunct in &property.disjuncts {
            let id = disjunct.input_set_id();
            if id != last {
                self.sample_region(disjunct, &mut random)?;
            }
            last = id;
        }
        for _ in 0..self.tuning.sampling.descents {
            for disjunct in property
                .disjuncts
                .iter()
                .filter(|disjunct| !disjunct.is_box())
                .take(self.tuning.sampling.most_disjuncts)
            {
                self.go_on()?;
                self.descend_anywhere(disjunct, &mut random)?;
            }
        }
        Ok(())
    }

    /// Corners and uniform points of a box; of another set the points of a walk, or none if it has no inside.
    fn sample_region(&mut self, disjunct: &Disjunct, random: &mut Random) -> Result<(), End> {
        let sides: Vec<(f32, f32)> = disjunct.region.sides().map(|side| side.floats()).collect();
        if sides.iter().any(|(first, last)| first > last) {
            return Ok(());
        }
        let body = self.body(disjunct);
        if body.is_none() && !disjunct.is_box() {
            return Ok(());
        }
        let mut at = body.as_ref().map(|body| body.centre.clone()).unwrap_or_default();
        for batch in 0..self.tuning.sampling.samples / self.tuning.sampling.batch {
            self.go_on()?;
            let sample = |_| match &body {
                None => sample(&sides, batch == 0, random),
                Some(body) => {
                    body.step(&mut at, random);
                    let floats = at.iter().map(|&v| v as f32);
                    disjunct.region.nearest_floats(floats).expect("every side holds a float")
                }
            };
            let x: Vec<f32> = (0..self.tuning.sampling.batch).flat_map(sample).collect();
            self.try_inputs(&x)?;
        }
        Ok(())
    }

    fn try_inputs(&mut self, x: &[f32]) -> Result<(), End> {
        let (inputs, outputs) = (self.network.inputs(), self.network.outputs());
        let mut y = vec![0.0; x.len() / inputs * outputs];
        self.network.forward(x, &mut y);
        self.counters.samples += (x.len() / inputs) as u64;
        for (x, y) in x.chunks(inputs).zip(y.chunks(outputs)) {
            self.try_evaluated(x, y)?;
        }
        Ok(())
    }

    /// Ends the search if the input is a counterexample.
    pub fn try_witness(&self, x: &[f32]) -> Result<(), End> {
        let mut y = vec![0.0; self.network.outputs()];
        self.network.forward(x, &mut y);
        self.try_evaluated(x, &y)
    }

    /// Ends the search if the input is a counterexample, which it is replayed for if it looks like one.
    fn try_evaluated(&self, input: &[f32], output: &[f32]) -> Result<(), End> {
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect::<Vec<_>>();
        let (x, y) = (wide(input), wide(output));
        if !self.property.disjuncts.iter().any(|disjunct| looks_violated(disjunct, &x, &y, self.tuning.sampling.looks))
        {
            return Ok(());
        }
        let semantics = self.options.semantics_of(self.property);
        let witness = Witness::replay(self.network, self.property, semantics, input);
        witness.map_or(Ok(()), |witness| Err(End::Violated(witness)))
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

/// Whether the constraints hold up to rounding, with room to spare: a filter before the exact replay.
fn looks_violated(disjunct: &Disjunct, x: &[f64], y: &[f64], looks: f64) -> bool {
    let holds = |value: f64, constant: f64| value <= looks * (1.0 + constant.abs());
    disjunct.rows.iter().all(|row| holds(row.affine.value_near(x, y), row.affine.constant.low))
        && disjunct.quadratics.iter().all(|q| holds(q.value(x, y), q.affine().constant.low))
}
