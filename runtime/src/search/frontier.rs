//! The root's work for many machines: a search for a while, then what it has left open, as trees with open leaves.
//!
//! With this a search takes only steps that a certificate can hold, so that the parts may be proved with one or without. What is not
//! shown to be closed is open: a step that is lost costs work, and no more.

use super::proof::claim::{Claim, Effort};
use super::proof::parts::Parts;
use super::proof::{Goal, Proof, RaisedGoal, Region};
use super::{Asked, End, Outcome, Search, conduct};
use crate::bounds::{Compact, Conjunction, Guide, Node};
use crate::certificate::{Heading, Journal, Kept, RegionId};
use crate::split::sealed::bits;
use crate::split::{OpenGoal, OpenRegion, Start, Tree};
use crate::verdict::{StopReason, Verdict};
use std::collections::BTreeMap;
use std::path::Path;

/// Leaves for each part: some are closed long before others.
const LEAVES: usize = 8;
/// In seconds.
const MOMENT: f64 = 1.0;

/// That a search is to be split when its time is up.
pub struct Splitting {
    /// Leaves that there should be at least, and that are wanted.
    least: usize,
    wanted: usize,
    /// That there is something to split: cells, or regions with the goals that plain bounds leave.
    pub has_root: bool,
    /// The disjuncts of each box, and what became of it.
    pub cells: Option<Vec<(Vec<usize>, Tree)>>,
}

impl Splitting {
    pub fn new(parts: usize) -> Splitting {
        Splitting { least: parts, wanted: parts * LEAVES, has_root: false, cells: None }
    }
}

/// What a search has left open.
#[derive(Default)]
pub struct Frontier {
    pub trees: Vec<Tree>,
    /// The open leaves of all trees, in their order.
    pub leaves: Vec<OpenLeaf>,
}

pub struct OpenLeaf {
    pub guide: Option<Guide>,
    /// How much there is to do, by what was seen on the way to it.
    pub work: f64,
}

/// What a search over a property has left open, and what it has closed.
pub struct RootFrontier {
    pub settled: Vec<usize>,
    pub records: Kept,
    pub start: Start,
    pub frontier: Frontier,
}

/// Searches until the time is up, then splits what is open into leaves for so many parts. The records go to a file of that name.
pub fn split(
    asked: Asked,
    journal: Journal,
    heading: &Heading,
    records: &Path,
    parts: usize,
    keeps_certificate: bool,
) -> (Outcome, Option<RootFrontier>) {
    let mut frontier = None;
    let (proof, tickets) = Proof::of(asked.property.disjuncts.len());
    let outcome = conduct(asked, Some(journal), proof, |search| {
        search.splitting = Some(Splitting::new(parts));
        let mut regions = vec![];
        match search.run(tickets, &mut regions) {
            Err(End::Stopped(StopReason::Timeout)) => {
                let found = search.root_frontier(regions, records, &heading.widths);
                let why = found.map(|found| frontier = found).err();
                Verdict::Unknown(why.map_or(StopReason::Timeout, StopReason::GaveUp))
            }
            result => search.verdict(result, |search, proved| {
                if keeps_certificate { search.conclude(proved, Some(heading)) } else { Verdict::Holds(proved) }
            }),
        }
    });
    (outcome, frontier)
}

impl<'a> Search<'a> {
    /// That there is something to split from now on.
    pub fn has_root(&mut self) {
        self.splitting.iter_mut().for_each(|splitting| splitting.has_root = true);
    }

    /// Leaves that there should be.
    pub fn wanted(&self) -> usize {
        self.splitting.as_ref().map_or(1, |splitting| splitting.wanted)
    }

    /// Whether to go on with boxes: until there are as many as are wanted, for as long again as was given, or at least a cell
    /// for each part, for a moment more.
    pub fn goes_on(&self, open: usize) -> Result<(), End> {
        let limit = 2.0 * self.control.progress().limit.unwrap_or(0.0);
        let elapsed = self.control.elapsed().as_secs_f64();
        let is_patient = |splitting: &Splitting| {
            open < splitting.wanted && elapsed < limit || open < splitting.least && elapsed < limit + MOMENT
        };
        match (self.control.stop(), &self.splitting) {
            (Some(StopReason::Timeout), Some(splitting)) if is_patient(splitting) => Ok(()),
            (reason, _) => reason.map_or(Ok(()), |reason| Err(End::Stopped(reason))),
        }
    }

    /// What is left of the property; `None` if the time was up before there was something to split.
    fn root_frontier(
        &mut self,
        mut regions: Vec<Region<'a>>,
        records: &Path,
        widths: &[usize],
    ) -> Result<Option<RootFrontier>, String> {
        regions.iter_mut().for_each(|region| self.follow_up(region));
        let settled: Vec<usize> =
            (0..self.property.disjuncts.len()).filter(|&disjunct| self.proof.is_settled(disjunct)).collect();
        let cells = self.splitting.as_mut().and_then(|splitting| splitting.cells.take());
        let goals = regions.iter().map(|region| region.goals.len()).sum::<usize>();
        if cells.is_none() && goals + settled.len() < self.property.disjuncts.len() {
            return Ok(None);
        }
        if self.may_overflow() {
            return Err(
                "that the float32 program overflows cannot be excluded, so that nothing is proved about it".into()
            );
        }
        let keep = |journal: Journal, open: &[RegionId]| {
            let kept = journal.keep_regions(records, widths, open);
            kept.map_err(|e| format!("cannot write {}: {e}", records.display()))
        };
        if let Some(cells) = cells {
            // Of a box that was split all disjuncts are told by the trees of its cells.
            let journal = Journal::new(records).map_err(|e| format!("cannot write {}: {e}", records.display()))?;
            let (records, _) = keep(journal, &[])?;
            let (boxes, trees) = cells.into_iter().unzip();
            let frontier = cells_frontier(trees);
            return Ok(Some(RootFrontier { settled: vec![], records, start: Start::Cells(boxes), frontier }));
        }
        regions.retain(|region| !region.goals.is_empty());
        let open: Vec<RegionId> = regions.iter().map(|region| region.id).collect();
        let (records, places) = keep(self.journal.take().expect("a journal"), &open)?;
        let (regions, frontier) = self.phases_frontier(&mut regions, &places, goals);
        Ok(Some(RootFrontier { settled, records, start: Start::Phases(regions), frontier }))
    }

    /// What follows from bounds that were refined in the bounds of later stages, and in the goals: a search that was stopped has not
    /// come to that, and all parts would do without.
    fn follow_up(&mut self, region: &mut Region<'a>) {
        if region.goals.is_empty() || self.shape.last() == 0 {
            return;
        }
        let has_root = |search: &mut Self, has: bool| {
            search.splitting.iter_mut().for_each(|splitting| splitting.has_root = has);
        };
        has_root(self, false);
        // An interruption leaves bounds that are not as good.
        let _ = self.raise_stages(region);
        has_root(self, true);
        self.close_at_root(region);
    }

    /// The first nodes of every goal's tree.
    fn phases_frontier(
        &mut self,
        regions: &mut [Region<'a>],
        places: &BTreeMap<RegionId, usize>,
        goals: usize,
    ) -> (Vec<OpenRegion>, Frontier) {
        let wanted = self.wanted();
        let (mut open, mut frontier) = (vec![], Frontier { trees: vec![], leaves: vec![] });
        for region in regions {
            // Tangents of quadratics, as one who knows the bounds alone finds them again.
            for number in 0..region.goals.len() {
                let rows = self.rows_of(region, region.goals[number].disjunct);
                region.goals[number].rows = rows;
            }
            let compact = region.compact(self.shape.last());
            let raised = self.raise_goals(region, &compact);
            let roots: Vec<(&Conjunction, Node)> = raised.iter().map(RaisedGoal::combination).collect();
            let claims: Vec<Claim> = roots.iter().map(claim).collect();
            let count = (wanted * claims.len()).div_ceil(goals);
            frontier.extend(grow(&compact, &claims, self.part_effort(true), count));
            let goal = |(goal, (_, root)): (&Goal, &(&Conjunction, Node))| OpenGoal {
                disjunct: goal.number,
                root: root.guide(),
                changes: root.parts(&compact),
            };
            let goals = region.goals.iter().zip(&roots).map(goal).collect();
            let (lower, upper) = region.bounds.all();

            open.push(OpenRegion { place: places[&region.id], lower: bits(lower), upper: bits(upper), goals });
        }
        (open, frontier)
    }

    /// For the property's trees, which have to be proved.
    pub fn part_effort(&self, records: bool) -> Effort<'a> {
        Effort {
            nodes: u64::MAX,
            total: u64::MAX,
            all_or_nothing: true,
            steps: self.tuning.phases.at_node,
            threads: self.threads(),
            records,
            keeps_all: false,
            tuning: self.tuning,
        }
    }
}

impl Frontier {
    pub fn extend(&mut self, other: Frontier) {
        self.trees.extend(other.trees);
        self.leaves.extend(other.leaves);
    }
}

/// That a combination of rows is positive.
fn claim<'c>((rows, root): &'c (&Conjunction, Node)) -> Claim<'c> {
    Claim { row: (*rows).into(), target: 0.0, root: root.clone(), part_of: None }
}

/// The cells of some trees: they are halved one level after the other, so that all are about as much work.
pub fn cells_frontier(trees: Vec<Tree>) -> Frontier {
    let count = trees.iter().map(Tree::leaves).sum();
    Frontier { trees, leaves: (0..count).map(|_| OpenLeaf { guide: None, work: 1.0 }).collect() }
}

/// The first nodes of some claims' trees, which are recorded.
pub fn grow(compact: &Compact, claims: &[Claim], effort: Effort, count: usize) -> Frontier {
    let parts = Parts::new(compact, claims, effort, count);
    let mut frontier = Frontier::default();
    for (claim, record) in parts.records.iter().enumerate() {
        let (tree, leaves) = record.as_ref().expect("trees are recorded").frontier();
        let open = |number: &u32| parts.open.iter().find(|part| (part.claim, part.node.number) == (claim, *number));
        let root = &claims[claim].root;
        frontier.trees.push(tree);
        frontier.leaves.extend(leaves.iter().map(|number| {
            let node = &open(number).expect("what is neither closed nor split is open").node;
            OpenLeaf { guide: Some(node.guide()), work: work(root, node) }
        }));
    }
    frontier
}

/// About how many nodes a tree below a node takes, if phases go on to gain as much as those on the way to it have.
fn work(root: &Node, node: &Node) -> f64 {
    let depth = (node.splits.len() - root.splits.len()).max(1) as f32;
    let gain = ((node.bound - root.bound) / depth).max(0.05 * root.bound.abs());
    f64::from((-node.bound / gain).clamp(0.0, 40.0)).exp2()
}
