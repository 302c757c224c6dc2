//! Trees over phases, in preorder: what is claimed holds at every leaf, by the leaf's multipliers.
//!
//! The region is that of the node under way. A phase is a bound, and so is a cut of a neuron; what rules and inequalities give under
//! them holds below their node alone. On the way back everything is as it was. Where bounds contradict each other no input
//! has the phases of the way, and nothing is left to show.

use crate::bound::{Phase, Rule};
use crate::contract::Conditions;
use crate::file::Reader;
use crate::goal::combined;
use crate::judge::{Claim, Judge, unknown};
use crate::number::Dyadic;
use crate::region::Region;
use crate::{Refused, require};
use std::rc::Rc;

/// A node on the way, and the region as it was there.
struct Step<'n> {
    before: Region<'n>,
    /// The neuron that is cut, and where, while what is above is still to come.
    above: Option<(usize, Dyadic)>,
    /// The neuron whose phase is fixed.
    phase: Option<usize>,
}

impl<'j> Judge<'j> {
    /// Reads a tree: at every leaf the claim is at least a value.
    pub fn tree(&mut self, region: &mut Region<'j>, claim: &Claim, least: i128) -> Result<(), Refused> {
        for neuron in 0..self.node.alpha.len() {
            let (l, u) = region.of(neuron);
            self.node.alpha[neuron] = if u > -l { 255 } else { 0 };
        }
        self.node.phase.fill(Phase::Open);
        self.changes()?;
        let mut path: Vec<Step> = Vec::new();
        loop {
            let kind = self.file.byte()?;
            if let 0 | 2 = kind {
                self.leaf(region, claim, least, &path, kind == 2)?;
                if self.turn(region, &mut path)? { continue } else { return Ok(()) }
            }
            let mut step = Step { before: region.clone(), above: None, phase: None };
            match kind {
                1 | 4 => {
                    let neuron = self.file.below(self.node.phase.len(), "neuron")?;
                    if kind == 1 {
                        require(self.node.phase[neuron] == Phase::Open, "a neuron is split twice")?;
                        (self.node.phase[neuron], step.phase) = (Phase::Off, Some(neuron));
                    }
                    let at = if kind == 1 { Dyadic::ZERO } else { self.file.double()? };
                    self.say(|| format!("  split neuron {neuron} at {}·2^{}", at.mantissa, at.exponent));
                    step.above = Some((neuron, at));
                    self.cut(region, neuron, 1, at)?;
                }
                3 => {
                    let from = self.file.below(self.net.last(), "stage")?;
                    self.say(|| format!("  bounds by rules from stage {from} on"));
                    self.bound_again(region, from)?;
                }
                5 => {
                    let stage = self.file.below(self.net.last(), "stage")?;
                    self.say(|| format!("  what is behind stage {stage}"));
                    region.base = Some(stage);
                    self.contract(region)?;
                }
                6 => {
                    self.say(|| "  bounds of counterexamples".into());
                    let Claim::Combination(disjunct) = claim else { return unknown("claim about such a node", 6) };
                    let row = |row| combined(disjunct, &[(row, Dyadic::ONE)], self.net.last());
                    let rows = (0..disjunct.rows.len()).map(row).collect::<Result<_, _>>()?;
                    region.conditions = Some(Rc::new(Conditions::new(region, &mut self.bounder, rows)?));
                    self.contract(region)?;
                }
                _ => return unknown("node", kind),
            }
            path.push(step);
        }
    }

    /// Below a cut of a neuron, for side 1, or above it, for side 0: that, and what follows from it.
    fn cut(&mut self, region: &mut Region, neuron: usize, side: usize, at: Dyadic) -> Result<(), Refused> {
        let stage = self.net.starts.partition_point(|&start| start <= neuron + self.net.inputs) - 1;
        let at = if side == 0 { at } else { Dyadic { mantissa: -at.mantissa, ..at } };
        region.raise(stage, neuron, side, at.floor_scaled(region.grids[stage + 1]))?;
        self.contract(region)
    }

    fn contract(&mut self, region: &mut Region) -> Result<(), Refused> {
        if self.is_text() { Ok(()) } else { region.contract(&mut self.bounder) }
    }

    /// Goes back to the last neuron of which what is above is to come, and goes there; false if there is none.
    fn turn(&mut self, region: &mut Region<'j>, path: &mut Vec<Step<'j>>) -> Result<bool, Refused> {
        while let Some(step) = path.pop() {
            *region = step.before.clone();
            if let Some((neuron, at)) = step.above {
                step.phase.iter().for_each(|&neuron| self.node.phase[neuron] = Phase::On);
                path.push(Step { above: None, ..step });
                self.cut(region, neuron, 0, at)?;
                return Ok(true);
            }
            step.phase.iter().for_each(|&neuron| self.node.phase[neuron] = Phase::Open);
        }
        Ok(false)
    }

    /// Moves the bounds of undecided neurons, from a stage on, to what rules say under the bounds so far.
    fn bound_again(&mut self, region: &mut Region, from: usize) -> Result<(), Refused> {
        let (net, is_over) = (self.net, self.is_text() || region.is_empty());
        let from = if is_over { usize::MAX } else { from };
        for (stage, j, _) in net.hidden().filter(|&(stage, ..)| stage >= from) {
            region.refresh(stage)?;
            for rule in [Rule::Adaptive, Rule::Parallel] {
                region.bound(&mut self.bounder, stage, j, rule)?;
            }
        }
        region.refresh(net.last())
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
            for neuron in path.iter().filter_map(|step| step.phase) {
                self.node.beta[neuron] = self.file.weight()?;
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
