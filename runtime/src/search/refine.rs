//! Refinement: bounds of hidden neurons proved by branch and bound, stage by stage.
//!
//! Plain bounds leave nearly every deep neuron undecided, but an attack reaches both signs for few: the rest is an artefact
//! of the relaxation. For each neuron seen with one sign only that sign is proved, over the phases of the stages before it;
//! for one that takes both, its bounds are brought near the values seen. Each stage then starts from tight bounds before it,
//! and what was thousands of undecided neurons becomes dozens.

use super::guide::attack::{Found, attack};
use super::proof::claim::{Claim, Effort, prove};
use super::proof::planes::pairs;
use super::proof::{Lemma, Region};
use super::{End, Search};
use crate::bounds::{Bounds, Compact, Emptiness, Node, Objective32, Side, Targets};
use crate::report::Activity;
use crate::tuning::{Round, Steps};
use pg_core::kernel::padded;

/// What a refinement of a stage leaves.
pub struct Refinement {
    /// Whether what is left undecided is not far from what truly takes both signs: else the stages after it are not worth
    /// this effort yet.
    pub is_near: bool,
    /// Where neurons were seen at their lowest and highest.
    pub reached: Vec<Found>,
}

/// A claim about a side, and the lowest value seen there.
struct SideClaim {
    side: Side,
    row: Objective32,
    target: f32,
    root: Node,
    seen: f32,
}

impl SideClaim {
    fn claim(&self) -> Claim<'_> {
        Claim { row: (&self.row).into(), target: self.target, root: self.root.clone(), part_of: None }
    }
}

/// What a stage's groups have come to.
struct StageWork {
    stage: usize,
    round: Round,
    shares: Shares,
    undecided: usize,
    /// How many of these were seen with both signs.
    takes_both: usize,
    reached: Vec<Found>,
}

/// The claims about a stage in turn: signs that need few nodes, those that need more, and bounds.
const FIRST: usize = 0;
const SIGNS: usize = 1;
const BOUNDS: usize = 2;

/// Nodes that the claims of each turn have taken, of all groups together: they may take as many as all before them.
struct Shares {
    before: u64,
    least: u64,
    spent: [u64; 3],
}

impl Shares {
    fn left(&self, turn: usize) -> u64 {
        let earlier: u64 = self.spent[..turn].iter().sum();
        (self.before + earlier).max(self.least).saturating_sub(self.spent[turn])
    }
}

/// A point of a group's box in that of all inputs, the others of which are at their centres.
fn whole(region: &Region, compact: &Compact, found: Found) -> Found {
    let (lower, upper) = region.input();
    let mut x: Vec<f32> = lower.iter().zip(upper).map(|(l, u)| (l + (u - l) / 2.0) as f32).collect();
    x.resize(padded(x.len()), 0.0);
    compact.place(&found.x, &mut x);
    Found { value: found.value, x }
}

impl<'a> Search<'a> {
    /// Tightens the neurons of a hidden stage, then what follows from them in the stages after it.
    pub fn refine_stage(&mut self, region: &mut Region<'a>, stage: usize, round: Round) -> Result<Refinement, End> {
        self.control.enter(Activity::Refine);
        self.control.set_undecided(region.bounds.undecided_counts());
        let mut work = StageWork { stage, round, shares: self.shares(), undecided: 0, takes_both: 0, reached: vec![] };
        for targets in region.groups(stage) {
            self.refine_group(region, targets, &mut work)?;
        }
        self.raise_after(region, stage)?;
        self.control.set_undecided(region.bounds.undecided_counts());
        let (times, some) = self.tuning.refine.far;
        Ok(Refinement { is_near: work.undecided <= times * work.takes_both + some, reached: work.reached })
    }

    /// Tightens neurons of a stage on the network of what they depend on.
    fn refine_group(&mut self, region: &mut Region<'a>, targets: Targets, work: &mut StageWork) -> Result<(), End> {
        let (stage, round) = (work.stage, work.round);
        let compact = region.compact_of(stage, targets);
        let (claims, reached) = self.side_claims(region, stage, &compact);
        work.reached.extend(reached.into_iter().map(|found| whole(region, &compact, found)));
        let (signs, mut both): (Vec<_>, Vec<_>) = claims.into_iter().partition(|open| open.seen > 0.0);
        both.extend(self.prove_signs(region, &compact, signs, work)?);
        both.retain(|open| region.bounds.is_undecided(stage, open.side.neuron));
        let undecided = compact.targets.open_sides(&region.bounds, stage).len() / 2;
        work.undecided += undecided;
        work.takes_both += both.len() - undecided.min(both.len());
        both.iter_mut().for_each(|open| open.target = self.near(open.seen));
        let effort = self.effort_of(stage, round.bound_nodes, false, work.shares.left(BOUNDS));
        work.shares.spent[BOUNDS] += self.prove_sides(region, stage, &compact, both, effort)?.1;
        Ok(())
    }

    /// Raises both sides of the undecided neurons; returns claims about those that stay so, and what an attack reached.
    fn side_claims(
        &mut self,
        region: &mut Region<'a>,
        stage: usize,
        compact: &Compact,
    ) -> (Vec<SideClaim>, Vec<Found>) {
        let sides = compact.targets.open_sides(&region.bounds, stage);
        let rows = self.rows(compact, &region.bounds, stage, &sides);
        let references: Vec<&Objective32> = rows.iter().collect();
        let roots = self.raise(compact, &references, self.tuning.refine.at_root);
        sides
            .iter()
            .zip(&roots)
            .for_each(|(&side, root)| self.tighten(region, compact, stage, side, Lemma::Raised(root)));
        let reached = attack(compact, &references, self.tuning.refine.attack_steps, None, self.tuning.attack);
        let mut claims = Vec::new();
        for (((side, row), root), found) in sides.into_iter().zip(rows).zip(roots).zip(&reached) {
            if region.bounds.is_undecided(stage, side.neuron) {
                claims.push(SideClaim { side, row, target: 0.0, root, seen: found.value });
            }
        }
        (claims, reached)
    }

    /// Proves what signs it can; returns the claims that a harder attack shows to be wrong.
    fn prove_signs(
        &mut self,
        region: &mut Region<'a>,
        compact: &Compact,
        signs: Vec<SideClaim>,
        work: &mut StageWork,
    ) -> Result<Vec<SideClaim>, End> {
        let (tuning, stage) = (self.tuning.refine, work.stage);
        let effort = self.effort_of(stage, tuning.first_nodes, true, work.shares.left(FIRST));
        let (mut signs, spent) = self.prove_sides(region, stage, compact, signs, effort)?;
        work.shares.spent[FIRST] += spent;
        let rows: Vec<&Objective32> = signs.iter().map(|open| &open.row).collect();
        let found = attack(compact, &rows, tuning.hard_attack_steps, None, self.tuning.attack);
        signs.iter_mut().zip(found).for_each(|(open, found)| open.seen = open.seen.min(found.value));
        let (mut still, wrong): (Vec<SideClaim>, _) = signs.into_iter().partition(|open| open.seen > 0.0);
        still.sort_by(|a, b| b.root.bound.total_cmp(&a.root.bound));
        let effort = self.effort_of(stage, work.round.sign_nodes, true, work.shares.left(SIGNS));
        work.shares.spent[SIGNS] += self.prove_sides(region, stage, compact, still, effort)?.1;
        Ok(wrong)
    }

    /// Brings both bounds of every live neuron of a narrow stage near the values seen, also of one that is on: what is behind
    /// the stage is a function of these neurons, and is swept over their bounds. Returns where they, and sums of them, were
    /// seen at their extremes.
    pub fn enclose(&mut self, region: &mut Region<'a>, stage: usize, nodes: u64) -> Result<Vec<Found>, End> {
        self.control.enter(Activity::Refine);
        let compact = region.compact(stage);
        let sides: Vec<Side> = region.bounds.live(stage).flat_map(Side::both).collect();
        let rows = self.rows(&compact, &region.bounds, stage, &sides);
        let references: Vec<&Objective32> = rows.iter().collect();
        let roots = self.raise(&compact, &references, self.tuning.refine.at_root);
        let steps = self.tuning.refine.hard_attack_steps;
        let mut found = attack(&compact, &references, steps, None, self.tuning.attack);
        let sums: Vec<Objective32> =
            pairs(&compact, &region.bounds, &rows, &found).into_iter().map(|pair| pair.row).collect();
        let mut claims = Vec::with_capacity(sides.len());
        for (((side, row), root), found) in sides.into_iter().zip(rows).zip(roots).zip(&found) {
            claims.push(SideClaim { side, row, target: self.near(found.value), root, seen: found.value });
        }
        let effort = self.effort(stage, nodes, false);
        self.prove_sides(region, stage, &compact, claims, effort)?;
        self.raise_after(region, stage)?;
        found.extend(attack(&compact, &sums.iter().collect::<Vec<_>>(), steps, None, self.tuning.attack));
        Ok(found)
    }

    /// What follows from a stage in those after it.
    fn raise_after(&mut self, region: &mut Region<'a>, stage: usize) -> Result<(), End> {
        (stage + 1..self.shape.last()).try_for_each(|later| self.raise_stage(region, later, Steps::NONE))
    }

    /// Tightens every hidden stage by the best slopes.
    pub fn raise_stages(&mut self, region: &mut Region<'a>) -> Result<(), End> {
        let steps = self.tuning.refine.at_root;
        (1..self.shape.last()).try_for_each(|stage| self.raise_stage(region, stage, steps))
    }

    pub fn raise_stage(&mut self, region: &mut Region<'a>, stage: usize, steps: Steps) -> Result<(), End> {
        for targets in region.groups(stage) {
            self.go_on()?;
            let compact = region.compact_of(stage, targets);
            let (sides, roots) = self.raise_sides(&compact, &region.bounds, stage, steps);
            for (side, root) in sides.into_iter().zip(&roots) {
                self.tighten(region, &compact, stage, side, Lemma::Raised(root));
            }
        }
        Ok(())
    }

    /// Tightens the undecided neurons of a compact network's target by raised bounds.
    pub fn raise_behind(
        &mut self,
        compact: &Compact,
        bounds: &mut Bounds,
        stage: usize,
        steps: Steps,
    ) -> Result<(), Emptiness> {
        let (sides, roots) = self.raise_sides(compact, bounds, stage, steps);
        sides.iter().zip(&roots).try_for_each(|(&side, root)| bounds.raise(stage, side, Lemma::Raised(root).bound()))
    }

    /// The open sides of a compact network's target, each with the root of its tree, its bound raised.
    fn raise_sides(
        &mut self,
        compact: &Compact,
        bounds: &Bounds,
        stage: usize,
        steps: Steps,
    ) -> (Vec<Side>, Vec<Node>) {
        let sides = compact.targets.open_sides(bounds, stage);
        let rows = self.rows(compact, bounds, stage, &sides);
        let roots = self.raise(compact, &rows.iter().collect::<Vec<_>>(), steps);
        (sides, roots)
    }

    /// Tries to prove the claims and tightens what they bound; returns those that are still of use, and how many nodes it took.
    fn prove_sides(
        &mut self,
        region: &mut Region<'a>,
        stage: usize,
        compact: &Compact,
        claims: Vec<SideClaim>,
        effort: Effort,
    ) -> Result<(Vec<SideClaim>, u64), End> {
        let asked: Vec<Claim> = claims.iter().map(SideClaim::claim).collect();
        let answers = prove(compact, &asked, effort, self.control);
        let spent = answers.iter().map(|answer| answer.nodes).sum::<u64>();
        self.counters.neuron_nodes += spent;
        self.work.refine += spent * effort.steps.passes() * compact.work();
        let proved = claims.iter().zip(&answers);
        proved.for_each(|(open, answer)| self.tighten(region, compact, stage, open.side, Lemma::Tree(answer)));
        self.go_on()?;
        let is_open = |open: &SideClaim| region.bounds.is_undecided(stage, open.side.neuron);
        let left = claims.into_iter().zip(answers).filter(|(open, answer)| !answer.is_proved() && is_open(open));
        Ok((left.map(|(open, _)| open).collect(), spent))
    }

    /// For claims about a stage.
    pub fn effort(&self, stage: usize, nodes: u64, all_or_nothing: bool) -> Effort<'a> {
        self.effort_of(stage, nodes, all_or_nothing, self.shares().left(FIRST))
    }

    fn effort_of(&self, stage: usize, nodes: u64, all_or_nothing: bool, total: u64) -> Effort<'a> {
        let tuning = self.tuning.refine;
        let steps = if stage < tuning.deep { tuning.at_node } else { tuning.at_deep_node };
        let records = self.proves();
        let threads = self.threads();
        Effort { nodes, total, all_or_nothing, steps, threads, records, keeps_all: true, tuning: self.tuning }
    }

    fn shares(&self) -> Shares {
        Shares { before: self.counters.neuron_nodes, least: self.tuning.refine.least_nodes, spent: [0; 3] }
    }

    pub fn rows(&self, compact: &Compact, bounds: &Bounds, stage: usize, sides: &[Side]) -> Vec<Objective32> {
        let target = &self.shape.stages[stage];
        sides.iter().map(|&side| compact.neuron_row(target, side, bounds)).collect()
    }

    /// Near enough to the lowest value seen.
    pub fn near(&self, seen: f32) -> f32 {
        let (part, bit) = self.tuning.refine.near;
        seen - part * seen.abs() - bit
    }
}
