//! Narrow stages: bounds of their neurons, harder and harder, and sweeps of what is behind them.

use super::proof::planes::Planes;
use super::proof::sweep::Swept;
use super::proof::{Reason, Region};
use super::{End, Search};
use crate::certificate::PlaneSet;
use crate::tuning::Round;
use std::time::Instant;

impl<'a> Search<'a> {
    /// Where a stage is narrow, bounds its neurons and sweeps what is behind it, with as many nodes as were spent before.
    pub fn close_by_tail(&mut self, region: &mut Region<'a>, stage: usize, round: Round) -> Result<(), End> {
        let tuning = self.tuning.tail;
        let limit = 2 * self.counters.neuron_nodes;
        let mut nodes = round.bound_nodes * tuning.effort;
        while !region.goals.is_empty() {
            let live = region.bounds.live(stage).count() as u64;
            if live == 0 || live > tuning.narrow || stage + 1 >= self.shape.last() || !self.shape.is_cut(stage) {
                return Ok(());
            }
            let before = self.counters.neuron_nodes;
            let known = (region.bounds.lower(stage).to_vec(), region.bounds.upper(stage).to_vec());
            let start = Instant::now();
            let reached = self.enclose(region, stage, nodes);
            self.times.refine += start.elapsed().as_secs_f64();
            self.attack_from_reached(region, &reached?)?;
            self.close_at_root(region);
            let swept = self.sweep(region, stage, &[], round.pieces)?;
            self.close_swept(region, swept, None);
            if !region.goals.is_empty() && live <= tuning.few {
                let start = Instant::now();
                let planes = self.planes(region, stage, nodes);
                self.times.refine += start.elapsed().as_secs_f64();
                let Planes { all, set } = planes?;
                let swept = self.sweep(region, stage, &all, round.pieces)?;
                self.close_swept(region, swept, set);
            }
            let spent = self.counters.neuron_nodes - before;
            let is_tighter = region.bounds.lower(stage) != known.0 || region.bounds.upper(stage) != known.1;
            if !is_tighter || self.counters.neuron_nodes + tuning.growth * spent > limit {
                return Ok(());
            }
            nodes *= tuning.growth;
        }
        Ok(())
    }

    fn close_swept(&mut self, region: &mut Region<'a>, swept: Vec<Option<Swept>>, planes: Option<PlaneSet>) {
        let mut reasons = Vec::with_capacity(swept.len());
        for (goal, swept) in region.goals.iter().zip(swept) {
            if let Some((_, log)) = &swept {
                self.note_tree(region, goal.number, log.as_ref(), planes);
            }
            reasons.push(swept.map(|(settled, _)| Reason::Swept(settled)));
        }
        self.close_goals(region, reasons, None);
    }
}
