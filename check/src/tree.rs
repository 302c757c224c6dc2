//! Trees over phases, in preorder: what is claimed holds at every leaf, by the leaf's multipliers.
//!
//! The table of bounds is that of the node under way. A phase is a bound; bounds that rules give under phases hold below
//! their node alone. On the way back everything is as it was. Where the bounds of a neuron contradict each
//! other no input has the phases of the way, and nothing is left to show.

use crate::bound::{Phase, Rule, Start};
use crate::file::Reader;
use crate::goal::combined;
use crate::judge::{Claim, Judge, unknown};
use crate::region::Region;
use crate::{Refused, require};

/// What is to be undone or done on the way back.
enum Step {
    /// A neuron that is split, and its bounds before; while it is off, its other phase is still to come.
    Split(usize, [i64; 2]),
    /// All bounds and what neurons may be off by, before rules moved them.
    Bounds(Vec<[i64; 2]>, Vec<i128>),
}

impl<'j> Judge<'j> {
    /// Reads a tree: at every leaf the claim is at least a value.
    pub fn tree(&mut self, region: &mut Region, claim: &Claim, least: i128) -> Result<(), Refused> {
        for neuron in 0..self.node.alpha.len() {
            let (l, u) = region.of(neuron);
            self.node.alpha[neuron] = if u > -l { 255 } else { 0 };
        }
        self.node.phase.fill(Phase::Open);
        self.changes()?;
        let mut path = Vec::new();
        loop {
            match self.file.byte()? {
                kind @ (0 | 2) => {
                    self.leaf(region, claim, least, &path, kind == 2)?;
                    if !self.turn(region, &mut path) {
                        return Ok(());
                    }
                }
                1 => path.push(self.split(region)?),
                3 => {
                    let from = self.file.below(self.net.last(), "stage")?;
                    path.push(Step::Bounds(region.sides.clone(), region.off.clone()));
                    self.say(|| format!("  bounds by rules from stage {from} on"));
                    self.bound_again(region, from)?;
                }
                kind => return unknown("node", kind),
            }
        }
    }

    /// Splits a neuron: its first phase, off, is under way.
    fn split(&mut self, region: &mut Region) -> Result<Step, Refused> {
        let neuron = self.file.below(self.node.phase.len(), "neuron")?;
        require(self.node.phase[neuron] == Phase::Open, "a neuron is split twice")?;
        self.say(|| format!("  split neuron {neuron}"));
        let before = region.sides[neuron];
        (region.sides[neuron][1], self.node.phase[neuron]) = (before[1].max(0), Phase::Off);
        Ok(Step::Split(neuron, before))
    }

    /// Goes back to the last neuron that is not on yet, and switches it on; false if there is none.
    fn turn(&mut self, region: &mut Region, path: &mut Vec<Step>) -> bool {
        while let Some(step) = path.pop() {
            match step {
                Step::Bounds(sides, off) => (region.sides, region.off) = (sides, off),
                Step::Split(neuron, before) if self.node.phase[neuron] == Phase::Off => {
                    region.sides[neuron] = [before[0].max(0), before[1]];
                    self.node.phase[neuron] = Phase::On;
                    path.push(step);
                    return true;
                }
                Step::Split(neuron, before) => {
                    (region.sides[neuron], self.node.phase[neuron]) = (before, Phase::Open);
                }
            }
        }
        false
    }

    /// Moves the bounds of undecided neurons, from a stage on, to what rules say under the bounds so far.
    fn bound_again(&mut self, region: &mut Region, from: usize) -> Result<(), Refused> {
        let (net, from) = (self.net, if self.is_text() { usize::MAX } else { from });
        for (stage, j, neuron) in net.hidden().filter(|&(stage, ..)| stage >= from) {
            region.refresh(stage)?;
            for rule in [Rule::Adaptive, Rule::Parallel] {
                self.bound_sides(region, (stage, j, neuron), rule)?;
            }
        }
        region.refresh(net.last())
    }

    /// Moves both sides of a neuron to what a rule says, if it is undecided.
    pub fn bound_sides(&mut self, region: &mut Region, of: (usize, usize, usize), rule: Rule) -> Result<(), Refused> {
        let (stage, j, neuron) = of;
        for side in if region.is_undecided(neuron) { 0..2 } else { 0..0 } {
            let bound = self.bounder.bound(region, &Start::side(stage, j, side), rule)?;
            region.tighten(stage, j, side, bound)?;
        }
        Ok(())
    }

    /// Reads changes of parts; returns what was there before.
    fn changes(&mut self) -> Result<Vec<(usize, u8)>, Refused> {
        let mut changes = self.file.ascending(self.node.alpha.len(), "neuron", Reader::byte)?;
        for (neuron, part) in &mut changes {
            std::mem::swap(&mut self.node.alpha[*neuron], part);
        }
        Ok(changes)
    }

    fn leaf(
        &mut self,
        region: &Region,
        claim: &Claim,
        least: i128,
        path: &[Step],
        is_given: bool,
    ) -> Result<(), Refused> {
        let combination;
        let start = match claim {
            Claim::Function(start) => start,
            Claim::Combination(disjunct) => {
                let weights = (0..disjunct.rows.len()).map(|row| Ok((row, self.file.weight()?)));
                combination = combined(disjunct, &weights.collect::<Result<Vec<_>, _>>()?, self.net.last())?;
                &combination
            }
        };
        let mut before = Vec::new();
        if is_given {
            self.node.given.fill(None);
            for (neuron, multiplier) in self.file.ascending(self.node.given.len(), "neuron", Reader::double)? {
                self.node.given[neuron] = Some(multiplier);
            }
        } else {
            before = self.changes()?;
            for step in path {
                if let Step::Split(neuron, _) = step {
                    self.node.beta[*neuron] = self.file.weight()?;
                }
            }
        }
        let by = if is_given { "given multipliers".into() } else { format!("{} parts changed", before.len()) };
        self.say(|| format!("  leaf at depth {}, {by}", path.len()));
        if self.is_mine() && !region.is_empty() {
            let rule = if is_given { Rule::Given(&self.node) } else { Rule::Node(&self.node) };
            let bound = self.bounder.bound(region, start, rule)?;
            require(bound >= least, "the multipliers of a leaf do not show it")?;
        }
        // The same neuron may be listed once only, so the order does not matter.
        before.into_iter().for_each(|(neuron, part)| self.node.alpha[neuron] = part);
        Ok(())
    }
}
