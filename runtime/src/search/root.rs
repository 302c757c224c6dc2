//! Where every engine begins: the regions of the property, their bounds, and the goals that these leave open.

use super::guide::cuts::first_cuts;
use super::proof::{Goal, Reason, Region, Ticket};
use super::{End, Search, timed};
use crate::bounds::{Bounder, Bounds, NOT_EMPTY, Objective, Relaxation};
use crate::options::{Engine, Inference};
use crate::property::{Disjunct, InputBox};
use crate::report::Activity;
use std::sync::Arc;

/// Disjuncts of one box, with their tickets.
type Group<'a> = (&'a Arc<InputBox>, Vec<(usize, Ticket)>);

impl<'a> Search<'a> {
    /// A region for every box of the property, with the goals that its bounds do not close: the nearest to a violation first.
    pub fn root_regions(&mut self, tickets: Vec<Ticket>) -> Result<Vec<Region<'a>>, End> {
        self.control.enter(Activity::Bounds);
        let property = self.property;
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (number, (disjunct, ticket)) in property.disjuncts.iter().zip(tickets).enumerate() {
            match groups.last_mut().filter(|(input, _)| Arc::ptr_eq(input, &disjunct.region)) {
                Some((_, members)) => members.push((number, ticket)),
                None => groups.push((&disjunct.region, vec![(number, ticket)])),
            }
        }
        let mut regions = Vec::new();
        for (input, members) in groups {
            self.go_on()?;
            let (lower, upper) = input.enclosure();
            let (bounder, bounds) = self.bound_box(lower, upper, None);
            let mut region = Region { bounder, bounds, goals: vec![] };
            for (number, ticket) in members {
                self.go_on()?;
                let goal = self.goal(&region, &property.disjuncts[number], number, ticket);
                region.goals.extend(goal);
            }
            region.goals.sort_by(|a, b| a.margin.total_cmp(&b.margin));
            regions.push(region);
        }
        regions.retain(|region| !region.goals.is_empty());
        self.control.set_open(regions.iter().map(|region| region.goals.len()).sum());
        regions.sort_by(|a, b| a.goals[0].margin.total_cmp(&b.goals[0].margin));
        Ok(regions)
    }

    /// Bounds of every neuron on a box, which is not empty: bounds that contradict each other would be a mistake of ours.
    pub fn bound_box(&mut self, lower: Vec<f64>, upper: Vec<f64>, larger: Option<&Bounds>) -> (Bounder<'a>, Bounds) {
        let (shape, rules) = (self.shape, self.rules());
        timed(&mut self.times.bounds, || Bounder::new(shape, lower, upper, larger, rules)).expect(NOT_EMPTY)
    }

    /// The slopes that bounds are computed with: the paper's are the chord's.
    fn rules(&self) -> &'static [Relaxation] {
        let is_paper = self.options.engine == Engine::Peregrinn && self.options.inference == Inference::Symbolic;
        if is_paper { &[Relaxation::Parallel] } else { &[Relaxation::Adaptive, Relaxation::Parallel] }
    }

    /// A goal of a region; `None` if the region's bounds close it.
    pub fn goal(
        &mut self,
        region: &Region<'a>,
        disjunct: &'a Disjunct,
        number: usize,
        ticket: Ticket,
    ) -> Option<Goal<'a>> {
        let (inputs, outputs) = (self.shape.inputs, self.shape.outputs());
        let cuts = first_cuts(disjunct, region.input(), &region.bounds, self.tuning.cuts.sweeps);
        let all = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
        let rows: Vec<Objective> = all.map(|row| Objective::of_row(row, inputs, outputs)).collect();
        let start = std::time::Instant::now();
        let (margin, reason) = self.margin(region, &region.bounds, &rows);
        self.times.bounds += start.elapsed().as_secs_f64();
        self.counters.bound_rows += region.bounder.rows.take();
        match reason {
            Some(reason) => {
                self.close_part(number, ticket, reason);
                None
            }
            None => Some(Goal { disjunct, number, bounded: rows.len(), rows, margin, ticket }),
        }
    }

    /// The best lower bound of any one row, and the reason, if that is positive: then no point satisfies it.
    pub fn margin(&self, region: &Region, bounds: &Bounds, rows: &[Objective]) -> (f64, Option<Reason>) {
        let mut best = f64::NEG_INFINITY;
        for (row, objective) in rows.iter().enumerate() {
            for &rule in region.bounder.rules {
                best = best.max(region.bounder.objective_bound(bounds, objective, rule));
                if best > 0.0 {
                    return (best, Some(Reason::Bounded { row, rule }));
                }
            }
        }
        (best, None)
    }
}
