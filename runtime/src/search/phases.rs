//! The engine over phases, for wide inputs: attack, raise the bounds, refine the hidden neurons, prove the property.
//!
//! All of it is the one bound in float32, many rows at a time. What it cannot close is handed on, with its tighter bounds,
//! to the search with linear programs, which is complete.

use super::guide::ascent::Ascent;
use super::guide::attack::{Found, attack, attack_from, values};
use super::guide::random::Random;
use super::proof::claim::{Claim, Effort, prove};
use super::proof::parts::prove_in_parts;
use super::proof::{Positive, RaisedGoal, Reason, Region};
use super::refine::Refinement;
use super::{End, Search};
use crate::bounds::{Compact, Node, Objective32};
use crate::report::Activity;
use crate::tuning::Steps;
use std::time::Instant;

impl<'a> Search<'a> {
    pub fn threads(&self) -> usize {
        self.options.threads.map_or(1, |threads| threads as usize)
    }

    /// For the paper's engine: the best bounds that slopes alone give.
    pub fn tighten_region(&mut self, region: &mut Region<'a>) -> Result<(), End> {
        if self.shape.last() > 0 {
            self.control.enter(Activity::Bounds);
            self.raise_stages(region)?;
            self.control.set_undecided(region.bounds.undecided_counts());
            self.close_at_root(region);
        }
        Ok(())
    }

    /// Closes what goals it can.
    pub fn close_region(&mut self, region: &mut Region<'a>) -> Result<(), End> {
        if self.shape.last() == 0 {
            return Ok(());
        }
        self.close_at_root(region);
        for number in 0..self.tuning.phases.rounds.len() {
            if region.goals.is_empty() {
                return Ok(());
            }
            if number > 0 {
                self.attack_goals(region, number)?;
            }
            if self.refine_stages(region, number)? {
                self.close_by_phases(region, self.tuning.phases.rounds[number].property_nodes)?;
                self.relax_goals(region)?;
            }
        }
        Ok(())
    }

    /// Refines stage after stage; false if one is left far above what truly takes both signs, so that the rest of the round is
    /// not worth its effort.
    fn refine_stages(&mut self, region: &mut Region<'a>, number: usize) -> Result<bool, End> {
        let tuning = &self.tuning.phases;
        let (rounds, last) = (&tuning.rounds, tuning.rounds.len() - 1);
        for stage in 1..self.shape.last() {
            if region.goals.is_empty() {
                return Ok(false);
            }
            let start = Instant::now();
            let is_ahead = number > 0 && stage <= tuning.ahead;
            let result =
                self.refine_stage(region, stage, rounds[if is_ahead { (number + 1).min(last) } else { number }]);
            self.times.refine += start.elapsed().as_secs_f64();
            let Refinement { is_near, reached } = result?;
            self.attack_from_reached(region, &reached)?;
            self.close_at_root(region);
            self.close_by_tail(region, stage, rounds[number])?;
            if self.work.refine >= self.tuning.phases.again * self.work.tried {
                self.close_by_phases(region, rounds[number].property_nodes)?;
            }
            if !is_near && number < last {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Looks for a counterexample of each goal: each time twice as hard for boxes, and from other points.
    pub fn attack_goals(&mut self, region: &Region<'a>, time: usize) -> Result<(), End> {
        let most = self.tuning.phases.attacks;
        // To pull a point into a set that is no box takes long.
        let attacks = if region.are_boxes() { most << time } else { most >> (2 * time) };
        self.attack(region, attacks, time as u64)
    }

    /// So many attacks on each row: of the first time, with number 0, the first is from the centre, all others from random points.
    pub fn attack(&mut self, region: &Region<'a>, attacks: usize, time: u64) -> Result<(), End> {
        self.control.enter(Activity::Attack);
        let (start, tuning) = (Instant::now(), &self.tuning.phases);
        let compact = region.compact(self.shape.last());
        let mut random = Random::new(self.options.seed.wrapping_add(time));
        let rows = region.rows(&compact);
        let references: Vec<&Objective32> = rows.iter().map(|(_, row)| row).collect();
        let owners: Vec<usize> = rows.iter().map(|((goal, _), _)| *goal).collect();
        for number in 0..attacks {
            self.go_on()?;
            let from_centre = time == 0 && number == 0;
            let random = (!from_centre).then_some(&mut random);
            let found = attack(&compact, &references, tuning.attack_steps, random, self.tuning.attack);
            self.follow(region, &owners, &found)?;
        }
        self.times.attack += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Attacks each row from those of the given points where it is lowest. Where hidden neurons are at their extremes, gradients
    /// are alive that vanish elsewhere.
    pub fn attack_from_reached(&mut self, region: &Region<'a>, reached: &[Found]) -> Result<(), End> {
        self.control.enter(Activity::Attack);
        let (start, tuning) = (Instant::now(), &self.tuning.phases);
        let compact = region.compact(self.shape.last());
        let rows = region.rows(&compact);
        let references: Vec<&Objective32> = rows.iter().map(|(_, row)| row).collect();
        let values = values(&compact, &references, reached, self.tuning.attack);
        let mut points: Vec<usize> = (0..reached.len()).collect();
        let (mut attacked, mut starts) = (Vec::new(), Vec::new());
        for (r, ((owner, _), row)) in rows.iter().enumerate() {
            points.sort_by(|&a, &b| values[a][r].total_cmp(&values[b][r]));
            for &point in points.iter().take(tuning.starts) {
                attacked.push(*owner);
                starts.push((row, &reached[point]));
            }
        }
        let found = attack_from(&compact, &starts, tuning.attack_steps, self.tuning.attack);
        self.follow(region, &attacked, &found)?;
        self.times.attack += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Tries the points that attacks on goals have found.
    fn follow(&mut self, region: &Region<'a>, owners: &[usize], found: &[Found]) -> Result<(), End> {
        let are_boxes = region.are_boxes();
        for (&goal, found) in owners.iter().zip(found) {
            let point: Vec<f64> = found.x[..self.shape.inputs].iter().map(|&x| f64::from(x)).collect();
            let disjunct = region.goals[goal].disjunct;
            if found.value <= self.tuning.phases.nearly_violated {
                self.descend(disjunct, &point)?;
            } else if are_boxes {
                // Where one row is low, another goal may be violated.
                self.try_near(disjunct, &point)?;
            }
        }
        Ok(())
    }

    /// Solves the linear program of each goal once: its point is often near a counterexample that gradients miss.
    fn relax_goals(&mut self, region: &mut Region<'a>) -> Result<(), End> {
        if region.undecided() > self.tuning.phases.small_program {
            return Ok(());
        }
        self.control.enter(Activity::Lp);
        let (mut kept, mut result) = (Vec::new(), Ok(()));
        for goal in std::mem::take(&mut region.goals) {
            result = result.and_then(|()| self.go_on());
            if result.is_err() {
                kept.push(goal);
                continue;
            }
            match self.visit_root(region, goal) {
                (goal, Ok(Some(settled))) => self.close(goal, Reason::Phases(settled)),
                (goal, visited) => {
                    result = visited.map(|_| ());
                    kept.push(goal);
                }
            }
        }
        region.goals = kept;
        result
    }

    /// Closes the goals that a raised bound of one of their rows, or of a combination, excludes.
    pub fn close_at_root(&mut self, region: &mut Region<'a>) {
        let compact = region.compact(self.shape.last());
        let goals = self.raise_goals(region, &compact);
        let farthest = goals.iter().map(RaisedGoal::bound).filter(|bound| *bound <= 0.0).fold(f32::NAN, f32::min);
        self.control.set_bound(farthest.into());
        self.close_goals(region, goals.into_iter().map(RaisedGoal::reason).collect(), Some(&compact));
    }

    /// Branch and bound on the row of each goal, or on a combination of its rows: with so many nodes, or with a share of the
    /// work that has gone into hidden neurons.
    fn close_by_phases(&mut self, region: &mut Region<'a>, nodes: u64) -> Result<(), End> {
        if region.goals.is_empty() {
            return Ok(());
        }
        self.control.enter(Activity::Prove);
        let start = Instant::now();
        let compact = region.compact(self.shape.last());
        let goals = self.raise_goals(region, &compact);
        let (whats, claims): (Vec<Positive>, Vec<Claim>) = goals.iter().map(RaisedGoal::claim).unzip();
        let (steps, threads) = (self.tuning.phases.at_node, self.threads());
        let as_much = self.work.refine / self.tuning.phases.share / (steps.passes() * compact.work());
        self.work.tried = self.work.refine;
        let (total, nodes) = (as_much.max(nodes.saturating_mul(claims.len() as u64)), nodes.max(as_much));
        let (records, all_or_nothing, keeps_all) = (self.proves(), true, false);
        let effort = Effort { nodes, total, all_or_nothing, steps, threads, records, keeps_all, tuning: self.tuning };
        let answers = match &claims[..] {
            [claim] if threads > 1 => vec![prove_in_parts(&compact, claim, effort, self.control)],
            _ => prove(&compact, &claims, effort, self.control),
        };
        let mut reasons = Vec::with_capacity(claims.len());
        for (what, answer) in whats.into_iter().zip(answers) {
            self.counters.property_nodes += answer.nodes;
            self.counters.max_depth = self.counters.max_depth.max(answer.depth);
            let record = answer.record;
            reasons.push(answer.settled.map(|settled| Reason::Tree { what, settled, record }));
        }
        self.times.prove += start.elapsed().as_secs_f64();
        self.close_goals(region, reasons, Some(&compact));
        self.go_on()
    }

    /// The root of each row's tree, its bound raised.
    pub fn raise(&mut self, compact: &Compact, rows: &[&Objective32], steps: Steps) -> Vec<Node> {
        let (nodes, passes) = Ascent::roots(compact, rows, steps, self.tuning);
        self.counters.bound_rows += passes;
        nodes
    }
}
