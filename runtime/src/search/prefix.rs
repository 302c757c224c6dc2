//! Leaves of goals' trees over phases: regions as the root has left them, and the property's trees from these leaves on.

use super::frontier::{Frontier, grow};
use super::guide::ascent::Ascent;
use super::part::{FOREIGN, Leaves};
use super::proof::claim::{Claim, prove};
use super::proof::record::Record;
use super::proof::{Goal, LeafOf, Positive, Reason, Region, Ticket, Tree};
use super::{End, Search};
use crate::bounds::{Bounds, Compact, Conjunction, Emptiness, Guide, Node, Subproblem};
use crate::report::{Activity, Chosen};
use crate::split::{OpenRegion, Place};
use std::time::Instant;

/// A region with those of a part's leaves that are in it.
struct LeavesHere<'a> {
    /// With its goals, which close nothing.
    region: Region<'a>,
    compact: Compact,
    /// Of each goal: its rows, and what multipliers are told from.
    rows: Vec<Conjunction>,
    roots: Vec<Node>,
    leaves: Vec<PhaseLeaf>,
}

/// A leaf of a goal's tree.
struct PhaseLeaf {
    /// Its number among the part's, and its goal's in the region.
    number: usize,
    goal: usize,
    phases: Vec<(usize, bool)>,
    node: Node,
}

impl<'a> Search<'a> {
    /// Closes the leaves of all regions. The outer error is that they are not of this question.
    pub fn close_phases(
        &mut self,
        leaves: &Leaves,
        regions: &[OpenRegion],
        tickets: Vec<Ticket>,
    ) -> Result<Result<(), End>, String> {
        self.counters.chosen = Chosen::Phases;
        let mut tickets: Vec<Option<Ticket>> = tickets.into_iter().map(Some).collect();
        for here in self.revive(leaves, regions)? {
            if let Err(end) = self.close_here(here, leaves.number, &mut tickets) {
                return Ok(Err(end));
            }
        }
        Ok(Ok(()))
    }

    /// The first nodes of trees in the places of the leaves.
    pub fn split_phases(&mut self, leaves: &Leaves, regions: &[OpenRegion]) -> Result<Frontier, String> {
        let (mut frontier, wanted) = (Frontier::default(), self.wanted());
        for mut here in self.revive(leaves, regions)? {
            self.bound_leaves(&mut here);
            let count = (wanted * here.leaves.len()).div_ceil(leaves.places.len());
            let records = here.records();
            frontier.extend(grow(&here.compact, &here.claims(&records), self.part_effort(true), count));
        }
        Ok(frontier)
    }

    /// The regions with leaves, which come in the order of their goals.
    fn revive(&mut self, leaves: &Leaves, regions: &[OpenRegion]) -> Result<Vec<LeavesHere<'a>>, String> {
        let (mut here, mut first) = (vec![], 0);
        for open in regions {
            let goals = first..first + open.goals.len();
            first = goals.end;
            let of = |place: &Place| matches!(place, Place::Phases(goal, _) if goals.contains(goal));
            if leaves.places.iter().any(of) {
                here.push(self.revive_region(leaves, open, goals.start).ok_or(FOREIGN)?);
            }
        }
        Ok(here)
    }

    fn revive_region(&mut self, leaves: &Leaves, open: &OpenRegion, first: usize) -> Option<LeavesHere<'a>> {
        let property = self.property;
        let box_of = &property.disjuncts.get(open.goals.first()?.disjunct)?.region;
        let (lower, upper) = open.ends();
        let bounds = Bounds::of_all(&self.shape, lower, upper)?;
        let mut region = self.region_of(self.enclosure(box_of), bounds)?;
        for goal in &open.goals {
            let (number, disjunct) = (goal.disjunct, property.disjuncts.get(goal.disjunct)?);
            let (rows, (_, ticket)) = (self.rows_of(&region, disjunct), Tree::plant());
            let margin = f64::NEG_INFINITY;
            region.goals.push(Goal { disjunct, number, tree: 0, bounded: rows.len(), rows, margin, ticket });
        }
        let compact = region.compact(self.shape.last());
        let mut all: Vec<Vec<_>> = region.goals.iter().map(|_| vec![]).collect();
        region.rows(&compact).into_iter().for_each(|((goal, _), row)| all[goal].push(row));
        let rows: Vec<Conjunction> =
            all.into_iter().map(|rows| Conjunction::new(&compact, rows, &region.bounds)).collect();
        let node = |goal: usize, guide: &Guide, phases: &[(usize, bool)]| {
            Node::revived(&compact, guide, rows.get(goal)?.rows().len(), phases)
        };
        let root = |(number, goal): (usize, &crate::split::OpenGoal)| node(number, &goal.root, &[]);
        let roots = open.goals.iter().enumerate().map(root).collect::<Option<_>>()?;
        let mut found = vec![];
        for (number, (place, guide)) in leaves.places.iter().zip(&leaves.guides).enumerate() {
            let Place::Phases(goal, phases) = place else { return None };
            let Some(goal) = goal.checked_sub(first).filter(|goal| *goal < open.goals.len()) else { continue };
            let node = node(goal, (*guide)?, phases)?;
            found.push(PhaseLeaf { number, goal, phases: phases.clone(), node });
        }
        Some(LeavesHere { region, compact, rows, roots, leaves: found })
    }

    /// Bounds the leaves, whose multipliers come from elsewhere.
    fn bound_leaves(&mut self, here: &mut LeavesHere<'a>) {
        let mut ascent = Ascent::new(&here.compact, self.tuning);
        let problem =
            |leaf: &PhaseLeaf| Subproblem { row: (&here.rows[leaf.goal]).into(), node: leaf.node.clone(), target: 0.0 };
        let mut problems: Vec<Subproblem> = here.leaves.iter().map(problem).collect();
        ascent.raise(&mut problems, self.tuning.phases.at_node);
        let nodes: Vec<Node> = problems.into_iter().map(|problem| problem.node).collect();
        here.leaves.iter_mut().zip(nodes).for_each(|(leaf, node)| leaf.node = node);
    }

    /// Looks for counterexamples, then proves the property from each leaf on; what the bounds cannot close goes to linear programs.
    fn close_here(
        &mut self,
        mut here: LeavesHere<'a>,
        number: usize,
        tickets: &mut [Option<Ticket>],
    ) -> Result<(), End> {
        self.attack(&here.region, self.tuning.phases.attacks, (1 << 32) + number as u64)?;
        self.control.enter(Activity::Prove);
        let start = Instant::now();
        self.bound_leaves(&mut here);
        let records = here.records();
        let answers = prove(&here.compact, &here.claims(&records), self.part_effort(self.proves()), self.control);
        self.times.prove += start.elapsed().as_secs_f64();
        let mut open = vec![];
        for (leaf, answer) in here.leaves.iter().zip(answers) {
            self.counters.property_nodes += answer.nodes;
            self.counters.max_depth = self.counters.max_depth.max(answer.depth);
            let ticket = tickets[leaf.number].take().expect("a leaf is closed once");
            match answer.settled {
                Some(settled) => {
                    self.note_subtree(leaf.number, answer.record.as_ref());
                    let reason = Reason::Tree { what: Positive::Combination, settled, record: None };
                    self.count(&reason);
                    self.proof.close(leaf.number, ticket, &reason);
                }
                None => open.push((leaf, ticket)),
            }
        }
        self.go_on()?;
        let mut regions: Vec<Region> =
            open.into_iter().filter_map(|(leaf, ticket)| self.under(&here, leaf, ticket)).collect();
        self.peregrinn(&mut regions)
    }

    /// The region with the phases of a leaf to begin with, for linear programs; `None` if these contradict its bounds, which closes the leaf.
    fn under(&mut self, here: &LeavesHere<'a>, leaf: &PhaseLeaf, ticket: Ticket) -> Option<Region<'a>> {
        let region = &here.region;
        let (mut bounds, Goal { disjunct, number, bounded, rows, margin, .. }) =
            (region.bounds.clone(), &region.goals[leaf.goal]);
        let fix = |&(neuron, on): &(usize, bool)| {
            let stage =
                (0..self.shape.last()).rfind(|&stage| self.shape.start(stage) <= neuron).expect("a hidden neuron");
            bounds.fix(stage, neuron - self.shape.start(stage), on)
        };
        let tree = leaf.number;
        if leaf.phases.iter().try_for_each(fix) == Err(Emptiness) {
            self.note_empty(tree, disjunct.rows.len());
            self.proof.close(tree, ticket, &Reason::Empty);
            return None;
        }
        let goal =
            Goal { disjunct, number: *number, tree, rows: rows.clone(), bounded: *bounded, margin: *margin, ticket };
        let (id, bounder) = (self.begin_region(vec![], true), region.bounder.clone());
        let leaf = Some(here.leaf_of(leaf, bounds));
        Some(Region { id, bounder, bounds: region.bounds.clone(), goals: vec![goal], leaf })
    }
}

impl LeavesHere<'_> {
    /// What multipliers are told from, of each goal.
    fn records(&self) -> Vec<Record> {
        self.roots.iter().map(|root| Record::new(root.clone(), false)).collect()
    }

    fn claims<'c>(&'c self, records: &'c [Record]) -> Vec<Claim<'c>> {
        let claim = |leaf: &'c PhaseLeaf| Claim {
            row: (&self.rows[leaf.goal]).into(),
            target: 0.0,
            root: leaf.node.clone(),
            part_of: Some(&records[leaf.goal]),
        };
        self.leaves.iter().map(claim).collect()
    }

    /// For the records of a certificate that are parts of the goal's tree.
    fn leaf_of(&self, leaf: &PhaseLeaf, bounds: Bounds) -> LeafOf {
        let hidden = self.region.bounder.shape.start(self.region.bounder.shape.last());
        let (lower, upper) = self.region.bounds.all();
        let ends = lower.iter().zip(upper).take(hidden);
        let mut parts: Vec<u8> = ends.map(|(l, u)| if *u > -l { u8::MAX } else { 0 }).collect();
        for (neuron, part) in self.roots[leaf.goal].open_parts(&self.compact) {
            parts[neuron] = part;
        }
        LeafOf { number: leaf.number, depth: leaf.phases.len(), bounds, parts }
    }
}
