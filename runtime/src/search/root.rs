//! Where every engine begins: the regions of the property, their bounds, and the goals that these leave open.

use super::guide::cuts::first_cuts;
use super::proof::{Goal, Reason, Region, Ticket};
use super::{End, Search, timed};
use crate::bounds::{Bounder, Bounds, NOT_EMPTY, Objective, Relaxation};
use crate::certificate::RegionId;
use crate::options::{Engine, Inference};
use crate::property::{Disjunct, InputBox};
use crate::report::Activity;
use crate::tuning::Steps;
use std::sync::Arc;

/// Disjuncts of one box, with their tickets.
type Group<'a> = (&'a Arc<InputBox>, Vec<(usize, Ticket)>);

impl<'a> Search<'a> {
    /// A region for every box of the given disjuncts, with the goals that its bounds do not close: the nearest to a violation first.
    pub fn root_regions(&mut self, tickets: Vec<(usize, Ticket)>) -> Result<Vec<Region<'a>>, End> {
        self.control.enter(Activity::Bounds);
        let property = self.property;
        let mut groups: Vec<Group<'a>> = Vec::new();
        for (number, ticket) in tickets {
            let disjunct = &property.disjuncts[number];
            match groups.last_mut().filter(|(input, _)| Arc::ptr_eq(input, &disjunct.region)) {
                Some((_, members)) => members.push((number, ticket)),
                None => groups.push((&disjunct.region, vec![(number, ticket)])),
            }
        }
        let mut regions = Vec::new();
        for (input, members) in groups {
            self.go_on()?;
            let id = self.begin_region(members.iter().map(|(number, _)| *number).collect(), false);
            let mut region = self.region(id, self.enclosure(input))?;
            for (number, ticket) in members {
                self.go_on()?;
                let goal = self.goal(&region, &property.disjuncts[number], (number, number), ticket);
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
        let (shape, rules, control, coarse) = (self.shape, self.rules(), self.control, self.proves());
        let is_worth = |_, _| control.stop().is_none();
        let bound = || Bounder::new(shape, lower, upper, larger, rules, coarse, &is_worth);
        timed(&mut self.times.bounds, bound).expect(NOT_EMPTY)
    }

    /// The region of a box. Where float64 would take long, hidden neurons are bounded by intervals and then in float32.
    fn region(&mut self, id: RegionId, (lower, upper): (Vec<f64>, Vec<f64>)) -> Result<Region<'a>, End> {
        let (shape, rules, coarse) = (self.shape, self.rules(), self.proves());
        let entries = |stage: usize| shape.stages[..stage].iter().map(|data| data.entries() as u64).sum::<u64>();
        let work = |stage: usize| entries(stage) * shape.stages[stage].width() as u64;
        let is_large = self.raises() && (0..shape.last()).map(work).sum::<u64>() > self.tuning.refine.most_work;
        if !is_large {
            let (bounder, bounds) = self.bound_box(lower, upper, None);
            let region = Region { id, bounder, bounds, goals: vec![], leaf: None };
            self.note_bounds(&region);
            return Ok(region);
        }
        let by_intervals = |larger: Option<&Bounds>| {
            Bounder::new(shape, lower.clone(), upper.clone(), larger, rules, coarse, &|_, _| false).expect(NOT_EMPTY)
        };
        let start = std::time::Instant::now();
        let (bounder, bounds) = by_intervals(None);
        let mut region = Region { id, bounder, bounds, goals: vec![], leaf: None };
        self.note_bounds(&region);
        for stage in 1..=shape.last() {
            self.raise_stage(&mut region, stage, Steps::NONE)?;
        }
        // Tighter bounds leave less to errors.
        region.bounder = by_intervals(Some(&region.bounds)).0;
        self.times.bounds += start.elapsed().as_secs_f64();
        Ok(region)
    }

    /// Whether bounds are raised by slopes of their own; the paper's are the chord's.
    pub fn raises(&self) -> bool {
        self.options.engine != Engine::Peregrinn || self.options.inference != Inference::Symbolic
    }

    /// The slopes that bounds are computed with.
    fn rules(&self) -> &'static [Relaxation] {
        if self.raises() { &[Relaxation::Adaptive, Relaxation::Parallel] } else { &[Relaxation::Parallel] }
    }

    /// A goal of a region; `None` if the region's bounds close it.
    pub fn goal(
        &mut self,
        region: &Region<'a>,
        disjunct: &'a Disjunct,
        (number, tree): (usize, usize),
        ticket: Ticket,
    ) -> Option<Goal<'a>> {
        let rows = self.rows_of(region, disjunct);
        let start = std::time::Instant::now();
        let (margin, reason) = self.margin(region, &region.bounds, &rows);
        self.times.bounds += start.elapsed().as_secs_f64();
        self.counters.bound_rows += region.bounder.rows.take();
        match reason {
            Some(reason) => {
                self.note_close(region.id, number, &reason, None);
                self.close_part(tree, ticket, reason);
                None
            }
            None => Some(Goal { disjunct, number, tree, bounded: rows.len(), rows, margin, ticket }),
        }
    }

    /// A disjunct's rows on a region, then the first tangents of its quadratics.
    pub fn rows_of(&self, region: &Region, disjunct: &Disjunct) -> Vec<Objective> {
        let (inputs, outputs) = (self.shape.inputs, self.shape.outputs());
        let cuts = first_cuts(disjunct, region.input(), &region.bounds, self.tuning.cuts.sweeps);
        let all = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
        all.map(|row| Objective::of_row(row, inputs, outputs)).collect()
    }

    /// The region of a box with bounds that are known; `None` if they contradict it.
    pub fn region_of(&self, (lower, upper): (Vec<f64>, Vec<f64>), bounds: Bounds) -> Option<Region<'a>> {
        let (rules, coarse) = (self.rules(), self.proves());
        let bounder = Bounder::new(self.shape, lower, upper, Some(&bounds), rules, coarse, &|_, _| false);
        Some(Region { id: 0, bounder: bounder.ok()?.0, bounds, goals: vec![], leaf: None })
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
