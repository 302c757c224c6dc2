//! The judge: walks through the records of a certificate, in order, and accepts or says why not.
//!
//! The state is one table of bounds and the path of one tree, whatever the size of the file. A record may use what the records
//! before it have proved of the same region, and nothing else, so that no proof is circular. Whether trees cover everything is
//! a matter of their form alone, and is checked in every slice; the leaves, each of which is one bound or few, are dealt out.

use crate::bound::{Bounder, Node, Phase, Rule, Start};
use crate::file::Reader;
use crate::fixed::Fixed;
use crate::goal::combined;
use crate::hull::Hull;
use crate::number::Dyadic;
use crate::onnx::Network;
use crate::property::{Disjunct, Property};
use crate::region::{Cube, Region, UNIT};
use crate::{Refused, refuse, refused, require, sha256};
use std::fmt::{self, Write};

pub const MAGIC: &[u8; 4] = b"PGC1";

/// The records' kinds.
const END: u8 = 0;
const REGION: u8 = 1;
const BOUND: u8 = 2;
const CLOSE: u8 = 3;
const CELLS: u8 = 4;
const CLOSED: u8 = 5;

/// How something is proved.
const RULE: u8 = 0;
const TREE: u8 = 1;

/// Which leaves are looked at: those whose number leaves this rest.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub index: usize,
    pub count: usize,
}

impl Slice {
    pub const ALL: Slice = Slice { index: 0, count: 1 };
}

/// What was found.
#[derive(Debug, Default)]
pub struct Summary {
    pub generator: String,
    pub records: usize,
    pub leaves: usize,
    /// Of these, those of the slice.
    pub checked: usize,
    pub text: Option<String>,
}

/// Why a certificate is rejected, and in which record.
#[derive(Debug)]
pub struct Rejected {
    pub record: usize,
    pub at: usize,
    pub why: Refused,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rejected { record, at, why } = self;
        write!(f, "record {record}, at byte {at}: {why}")
    }
}

pub struct Judge<'j> {
    pub net: &'j Fixed,
    pub property: &'j Property,
    pub file: Reader<'j>,
    pub bounder: Bounder<'j>,
    pub node: Node,
    /// By disjunct.
    closed: Vec<bool>,
    slice: Slice,
    pub summary: Summary,
}

/// What a tree is about: a function, or the rows of a disjunct with weights at each leaf.
enum Claim<'c> {
    Function(Start),
    Combination(&'c Disjunct),
}

/// Judges a certificate.
pub fn judge(
    network: &Network,
    property: &Property,
    digests: [[u8; 32]; 2],
    bytes: &[u8],
    slice: Slice,
    as_text: bool,
) -> Result<Summary, Rejected> {
    let mut file = Reader::new(bytes);
    let headed =
        header(&mut file, digests).and_then(|(generator, widths)| Ok((generator, Fixed::new(network, &widths)?)));
    let (generator, net) = headed.map_err(|why| Rejected { record: 0, at: file.at, why })?;
    let (bounder, node) = (Bounder::new(&net), Node::new(net.first(net.last())));
    let closed = vec![false; property.disjuncts.len()];
    let summary = Summary { text: as_text.then(String::new), generator, ..Summary::default() };
    let mut judge = Judge { net: &net, property, file, bounder, node, closed, slice, summary };
    match judge.run(bytes) {
        Ok(()) => Ok(judge.summary),
        Err(why) => Err(Rejected { record: judge.summary.records, at: judge.file.at, why }),
    }
}

/// The generator's name, and the widths of the hidden stages.
fn header(file: &mut Reader, [model, property]: [[u8; 32]; 2]) -> Result<(String, Vec<usize>), Refused> {
    require(file.take(4)? == MAGIC, "this is no certificate")?;
    require(file.take(32)? == model, "the certificate is for another model")?;
    require(file.take(32)? == property, "the certificate is for another property")?;
    let length = file.number()?;
    let generator = std::str::from_utf8(file.take(length)?).map_err(|_| refused("the generator's name is no text"))?;
    require(file.byte()? == 0, "only proofs about real arithmetic are known")?;
    let widths = (0..file.number()?).map(|_| file.number()).collect::<Result<_, _>>()?;
    Ok((generator.to_string(), widths))
}

/// The place of a disjunct among those that are open.
pub fn position(open: &[usize], disjunct: usize) -> Result<usize, Refused> {
    let place = open.iter().position(|&d| d == disjunct);
    place.ok_or_else(|| refused(format!("disjunct {disjunct} is not open here")))
}

/// The refusal of something that no reader knows.
pub fn unknown<T>(what: &str, kind: u8) -> Result<T, Refused> {
    refuse(format!("a {what} of kind {kind} is not known here"))
}

impl<'j> Judge<'j> {
    fn run(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let (generator, stages) = (self.summary.generator.clone(), self.net.last());
        self.say(|| format!("certificate by {generator}, real arithmetic, {stages} hidden stages"));
        loop {
            match self.file.byte()? {
                END => break,
                REGION => self.region()?,
                kind => return unknown("record", kind),
            }
        }
        require(self.file.number()? == self.summary.records, "the number of records is another")?;
        let digest = sha256::digest(&bytes[..self.file.at]);
        let is_whole = self.file.take(32)? == digest && self.file.is_at_end();
        require(is_whole, "the file is not what its digest says")?;
        match self.closed.iter().position(|closed| !closed) {
            Some(open) => refuse(format!("disjunct {open} is not closed")),
            None => Ok(()),
        }
    }

    /// Disjuncts of one box, and the records that close them, to the region's end.
    fn region(&mut self) -> Result<(), Refused> {
        self.summary.records += 1;
        let property = self.property;
        let mut open = self.disjuncts(|d| d < property.disjuncts.len())?;
        open.iter().for_each(|&d| self.closed[d] = true);
        let box_of = |d: usize| (&property.disjuncts[d].lower, &property.disjuncts[d].upper);
        let (lower, upper) = box_of(*open.first().ok_or_else(|| refused("a region of nothing"))?);
        let is_one = open.iter().all(|&d| box_of(d) == (lower, upper));
        require(is_one, "the disjuncts of a region have different boxes")?;
        let cube = Cube::new(lower, upper)?;
        self.say(|| format!("region of disjuncts {open:?}"));
        let mut region: Option<Region> = None;
        loop {
            let kind = self.file.byte()?;
            self.summary.records += 1;
            if region.is_none() && matches!(kind, BOUND | CLOSE) {
                let made = Region::new(self.net, cube.clone())?;
                region = Some(Region { hull: Some(Hull::new(&made)?), ..made });
            }
            match (kind, &mut region) {
                (BOUND, Some(region)) => self.bound(region)?,
                (CLOSE, Some(region)) => {
                    let disjunct = self.file.number()?;
                    open.remove(position(&open, disjunct)?);
                    self.close(region, disjunct)?;
                }
                (CELLS, _) => {
                    let list = self.disjuncts(|d| open.binary_search(&d).is_ok())?;
                    self.say(|| format!("cells for disjuncts {list:?}"));
                    open.retain(|d| !list.contains(d));
                    self.cells(cube.clone(), list)?;
                }
                (CLOSED, _) => return require(open.is_empty(), format!("disjuncts {open:?} are not closed")),
                _ => return unknown("record", kind),
            }
        }
    }

    /// A list of disjuncts, ascending, each of which is allowed.
    fn disjuncts(&mut self, is_allowed: impl Fn(usize) -> bool) -> Result<Vec<usize>, Refused> {
        let (mut list, mut next) = (Vec::new(), 0);
        for _ in 0..self.file.number()? {
            let disjunct = next + self.file.number()?;
            require(is_allowed(disjunct), format!("disjunct {disjunct} is not open here"))?;
            list.push(disjunct);
            next = disjunct + 1;
        }
        Ok(list)
    }

    /// A bound of a neuron's side, which the table then has.
    fn bound(&mut self, region: &mut Region) -> Result<(), Refused> {
        let stage = self.file.below(self.net.last(), "stage")?;
        let sides = self.file.below(2 * self.net.layers[stage].rows.len(), "side")?;
        let (neuron, side) = (sides / 2, sides % 2);
        let value = self.file.float()?;
        let Dyadic { mantissa, exponent } = value;
        let least = value.ceil_scaled(UNIT).ok_or_else(Refused::overflow)?;
        let start = Start::side(stage, neuron, side);
        let sign = start.nu[0].1;
        self.say(|| format!("bound: stage {stage} neuron {neuron} times {sign} is at least {mantissa}·2^{exponent}"));
        match self.file.byte()? {
            RULE => {
                let is_shown = !self.is_mine()
                    || region.interval(stage, neuron)?[side] >= least
                    || self.by_rule(region, &start, least)?;
                require(is_shown, "the neuron is not bounded so by any rule")?;
            }
            TREE => self.tree(region, &Claim::Function(start), least)?,
            kind => return unknown("proof", kind),
        }
        region.set(stage, neuron, side, value)
    }

    /// Whether one of the two rules shows that a function is at least a value.
    fn by_rule(&mut self, region: &Region, start: &Start, least: i128) -> Result<bool, Refused> {
        Ok(self.bounder.bound(region, start, Rule::Adaptive)? >= least
            || self.bounder.bound(region, start, Rule::Parallel)? >= least)
    }

    /// Closes a disjunct on the region: what is positive is at least one unit.
    fn close(&mut self, region: &Region, disjunct: usize) -> Result<(), Refused> {
        let property = self.property;
        let rows = &property.disjuncts[disjunct];
        let what = self.file.below(rows.rows.len() + 1, "row")?;
        let kind = self.file.byte()?;
        self.say(|| match what {
            0 => format!("close: disjunct {disjunct} by combinations of its rows"),
            row => format!("close: disjunct {disjunct} by its row {}", row - 1),
        });
        let claim = match what {
            0 => Claim::Combination(rows),
            row => Claim::Function(combined(rows, &[(row - 1, Dyadic::ONE)], self.net.last())?),
        };
        match (kind, &claim) {
            (RULE, Claim::Function(start)) => {
                let is_shown = !self.is_mine() || self.by_rule(region, start, 1)?;
                require(is_shown, "the row is not positive by any rule")
            }
            (TREE, claim) => self.tree(region, claim, 1),
            _ => unknown("proof", kind),
        }
    }

    /// A tree over phases, in preorder: at every leaf the claim is at least a value, by the leaf's multipliers.
    fn tree(&mut self, region: &Region, claim: &Claim, least: i128) -> Result<(), Refused> {
        for neuron in 0..self.node.alpha.len() {
            let (l, u) = region.of(neuron);
            self.node.alpha[neuron] = if u > -l { 255 } else { 0 };
        }
        self.node.phase.fill(Phase::Open);
        self.changes()?;
        // The neurons that are split on the way; the one that is on has its second child under way.
        let mut path: Vec<usize> = Vec::new();
        loop {
            match self.file.byte()? {
                0 => {
                    self.leaf(region, claim, least, &path)?;
                    while let Some(neuron) = path.pop_if(|neuron| self.node.phase[*neuron] == Phase::On) {
                        self.node.phase[neuron] = Phase::Open;
                    }
                    let Some(&neuron) = path.last() else { return Ok(()) };
                    self.node.phase[neuron] = Phase::On;
                }
                1 => {
                    let neuron = self.file.below(self.node.phase.len(), "neuron")?;
                    let phase = &mut self.node.phase[neuron];
                    require(*phase == Phase::Open, "a neuron is split twice")?;
                    *phase = Phase::Off;
                    path.push(neuron);
                    self.say(|| format!("  split neuron {neuron}"));
                }
                kind => return unknown("node", kind),
            }
        }
    }

    /// Reads changes of parts; returns what was there before.
    fn changes(&mut self) -> Result<Vec<(usize, u8)>, Refused> {
        let (mut before, mut next) = (Vec::new(), 0);
        for _ in 0..self.file.number()? {
            let neuron = next + self.file.number()?;
            let part = self.file.byte()?;
            let alpha = self.node.alpha.get_mut(neuron).ok_or_else(|| refused(format!("no neuron {neuron}")))?;
            before.push((neuron, std::mem::replace(alpha, part)));
            next = neuron + 1;
        }
        Ok(before)
    }

    fn leaf(&mut self, region: &Region, claim: &Claim, least: i128, path: &[usize]) -> Result<(), Refused> {
        let combination;
        let start = match claim {
            Claim::Function(start) => start,
            Claim::Combination(disjunct) => {
                let weights = (0..disjunct.rows.len()).map(|row| Ok((row, self.file.weight()?)));
                combination = combined(disjunct, &weights.collect::<Result<Vec<_>, _>>()?, self.net.last())?;
                &combination
            }
        };
        let before = self.changes()?;
        for neuron in path {
            self.node.beta[*neuron] = self.file.weight()?;
        }
        self.say(|| format!("  leaf at depth {}, {} parts changed", path.len(), before.len()));
        if self.is_mine() {
            let bound = self.bounder.bound(region, start, Rule::Node(&self.node))?;
            require(bound >= least, "the multipliers of a leaf do not show it")?;
        }
        // The same neuron may be listed once only, so the order does not matter.
        before.into_iter().for_each(|(neuron, part)| self.node.alpha[neuron] = part);
        Ok(())
    }

    /// Whether the next leaf is one to look at.
    pub fn is_mine(&mut self) -> bool {
        let mine = self.summary.text.is_none() && self.summary.leaves % self.slice.count == self.slice.index;
        self.summary.leaves += 1;
        self.summary.checked += usize::from(mine);
        mine
    }

    /// A line of text, if text is asked for.
    pub fn say(&mut self, line: impl FnOnce() -> String) {
        if let Some(text) = &mut self.summary.text {
            let _ = writeln!(text, "{}", line());
        }
    }
}
