//! Random descents over the boxes of a property: points that move by chance and keep what is nearer to a counterexample.

use super::question::Question;
use crate::report::Activity;
use crate::search::guide::random::Random;
use crate::search::{End, Search};
use std::time::Instant;

/// A point under way: the goal it is for, where it is, the largest of the goal's rows there, and how far it moves.
struct Walker {
    root: usize,
    goal: usize,
    x: Vec<f64>,
    worst: f64,
    stride: f64,
}

impl<'a> Search<'a> {
    /// A few walkers for the goals in turn, from other points each time.
    pub fn wander(&mut self, question: &Question<'a>, time: u64) -> Result<(), End> {
        self.control.enter(Activity::Attack);
        let (start, tuning) = (Instant::now(), self.tuning.wander);
        let mut random = Random::new(self.options.seed.wrapping_add(time));
        let goals = question.roots.iter().enumerate().flat_map(|(r, root)| (0..root.goals.len()).map(move |g| (r, g)));
        let goals: Vec<(usize, usize)> = goals.collect();
        let rounds = if time == 0 { 1 } else { tuning.rounds };
        for round in 0..rounds {
            self.goes_on(0)?;
            let first = round * tuning.walkers;
            let walker = |n: usize| {
                let (root, goal) = goals[(first + n) % goals.len()];
                Walker { root, goal, x: vec![], worst: f64::INFINITY, stride: tuning.first_stride }
            };
            let mut walkers: Vec<Walker> = (0..tuning.walkers).map(walker).collect();
            for _ in 0..tuning.steps {
                self.walk(question, &mut walkers, &mut random)?;
            }
        }
        self.times.attack += start.elapsed().as_secs_f64();
        self.control.enter(Activity::Boxes);
        Ok(())
    }

    /// A step of all walkers: farther after a success, less far after a failure.
    fn walk(&mut self, question: &Question<'a>, walkers: &mut [Walker], random: &mut Random) -> Result<(), End> {
        let (outputs, tuning) = (self.shape.outputs(), self.tuning.wander);
        let steps: Vec<Vec<f64>> = walkers.iter().map(|walker| walker.step(question, random)).collect();
        let x: Vec<f32> = steps.iter().flatten().map(|&v| v as f32).collect();
        let mut y = vec![0.0; walkers.len() * outputs];
        self.network.forward(&x, &mut y);
        self.counters.samples += walkers.len() as u64;
        for ((walker, step), y) in walkers.iter_mut().zip(steps).zip(y.chunks(outputs)) {
            let goal = &question.roots[walker.root].goals[walker.goal];
            let worst = goal.worst(&question.directions, |i| step[i], |o| f64::from(y[o]));
            if worst < walker.worst {
                (walker.worst, walker.stride) = (worst, (walker.stride * tuning.longer).min(tuning.first_stride));
                if worst <= self.tuning.boxes.near {
                    self.try_near(goal.disjunct, &step)?;
                }
                walker.x = step;
            } else {
                walker.stride *= tuning.shorter;
            }
        }
        Ok(())
    }
}

impl Walker {
    /// Where it tries to go: anywhere in its box at first, then about its stride in every input.
    fn step(&self, question: &Question, random: &mut Random) -> Vec<f64> {
        let root = &question.roots[self.root];
        let sides = root.lower.iter().zip(&root.upper).enumerate();
        let to = |(i, (l, u)): (usize, (&f64, &f64))| match self.x.get(i) {
            None => l + (u - l) * random.unit(),
            Some(x) => {
                (x + (random.unit() + random.unit() + random.unit() - 1.5) * self.stride * (u - l)).clamp(*l, *u)
            }
        };
        sides.map(to).collect()
    }
}
