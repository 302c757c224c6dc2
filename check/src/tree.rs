//! Trees over phases, in preorder: what is claimed holds at every leaf, by the leaf's multipliers.
//!
//! A region goes with every node. A phase is a bound, and so is a cut of a neuron; what rules and inequalities give under them holds
//! below their node alone. Where bounds contradict each other no input has the phases of the way, and nothing is left to show.

use crate::{Claim, Conditions, Dyadic, Judge, Phase, Reader, Refused, Region, Rule, combined, refuse, require};
use std::rc::Rc;

/// How many nodes may be above one.
const DEEPEST: usize = 10_000;

const NODES: [&str; 7] = ["leaf", "phases", "given", "rules", "cut", "behind", "counterexamples"];

impl<'j> Judge<'j> {
    /// Reads a tree: at every leaf the claim is at least its value.
    pub fn tree(&mut self, region: &Region<'j>, claim: &Claim) -> Result<(), Refused> {
        for neuron in 0..self.node.alpha.len() {
            let (l, u) = region.of(neuron);
            self.node.alpha[neuron] = if u > -l { 255 } else { 0 };
        }
        self.node.phase.fill(Phase::Open);
        self.changes()?;
        self.read(region.clone(), claim, &mut vec![])
    }

    /// Reads a node and what is below it. On the way there phases of these neurons were fixed.
    fn read(&mut self, mut region: Region<'j>, claim: &Claim, way: &mut Vec<usize>) -> Result<(), Refused> {
        region.depth += 1;
        require(region.depth < DEEPEST, "a tree is too deep")?;
        match self.file.kind("node", &NODES)? {
            kind @ ("leaf" | "given") => return self.leaf(&region, claim, way, kind == "given"),
            kind @ ("phases" | "cut") => {
                let (neuron, is_phase) = (self.file.below(self.node.phase.len(), "neuron")?, kind == "phases");
                let at = if is_phase { Dyadic::ZERO } else { self.file.double()? };
                if is_phase {
                    require(self.node.phase[neuron] == Phase::Open, "a neuron is split twice")?;
                    way.push(neuron);
                }
                for (side, phase) in [(1, Phase::Off(Dyadic::ZERO)), (0, Phase::On(Dyadic::ZERO))] {
                    self.node.phase[neuron] = if is_phase { phase } else { self.node.phase[neuron] };
                    let mut part = region.clone();
                    self.cut(&mut part, neuron, side, at)?;
                    self.read(part, claim, way)?;
                }
                if is_phase {
                    self.node.phase[neuron] = Phase::Open;
                    way.pop();
                }
                return Ok(());
            }
            "rules" => {
                let from = self.file.below(self.net.last(), "stage")?;
                self.bound_again(&mut region, from)?;
            }
            "behind" => {
                region.base = Some(self.file.below(self.net.last(), "stage")?);
                region.contract(&mut self.bounder)?;
            }
            _ => {
                let Claim::Combination(disjunct) = claim else { return refuse("a node is for combinations alone") };
                let rows = (0..disjunct.rows.len()).map(|row| self.row(disjunct, row)).collect::<Result<_, _>>()?;
                region.conditions = Some(Rc::new(Conditions::new(&region, &mut self.bounder, rows)?));
                region.contract(&mut self.bounder)?;
            }
        }
        self.read(region, claim, way)
    }

    /// Below a cut of a neuron, for side 1, or above it, for side 0: that, and what follows from it.
    fn cut(&mut self, region: &mut Region, neuron: usize, side: usize, at: Dyadic) -> Result<(), Refused> {
        let stage = self.net.starts.partition_point(|&start| start <= neuron + self.net.inputs) - 1;
        let at = if side == 0 { at } else { Dyadic { mantissa: -at.mantissa, ..at } };
        region.raise(stage, neuron, side, at.floor_scaled(region.grids[stage + 1]))?;
        region.contract(&mut self.bounder)
    }

    /// Moves the bounds of undecided neurons, from a stage on, to what rules say under the bounds so far.
    fn bound_again(&mut self, region: &mut Region, from: usize) -> Result<(), Refused> {
        let from = if region.is_empty() { usize::MAX } else { from };
        for (stage, j, _) in self.net.hidden().filter(|&(stage, ..)| stage >= from) {
            region.refresh(stage)?;
            for rule in [Rule::Adaptive, Rule::Parallel] {
                region.bound(&mut self.bounder, stage, j, rule)?;
            }
        }
        region.refresh(self.net.last())
    }

    /// Reads changes of parts; returns what was there before.
    fn changes(&mut self) -> Result<Vec<(usize, u8)>, Refused> {
        let mut changes = self.file.ascending(self.node.alpha.len(), "neuron", Reader::byte)?;
        for (neuron, part) in &mut changes {
            std::mem::swap(&mut self.node.alpha[*neuron], part);
        }
        Ok(changes)
    }

    fn leaf(&mut self, region: &Region, claim: &Claim, way: &[usize], is_given: bool) -> Result<(), Refused> {
        let combination;
        let (start, least) = match claim {
            Claim::Function(start, least) => (start, *least),
            Claim::Combination(disjunct) => {
                let weights = (0..disjunct.rows.len()).map(|row| Ok((row, self.file.weight()?)));
                let sum = combined(disjunct, &weights.collect::<Result<Vec<_>, _>>()?, self.net.last());
                combination = sum.ok_or_else(Refused::overflow)?;
                (&combination, 1)
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
            for &neuron in way {
                let beta = self.file.weight()?;
                let is_on = matches!(self.node.phase[neuron], Phase::On(_));
                self.node.phase[neuron] = if is_on { Phase::On(beta) } else { Phase::Off(beta) };
            }
        }
        if self.is_mine() && !region.is_empty() {
            let rule = if is_given { Rule::Given(&self.node) } else { Rule::Node(&self.node) };
            require(self.bounder.bound(region, start, rule)? >= least, "the multipliers of a leaf do not show it")?;
        }
        // The same neuron may be listed once only, so the order does not matter.
        before.into_iter().for_each(|(neuron, part)| self.node.alpha[neuron] = part);
        Ok(())
    }
}
