//! The judge: walks through the records of a certificate, in order, and accepts or says why not.
//!
//! The state is one table of bounds and the path of one tree, whatever the size of the file. A record may use what the records
//! before it have proved of the same region, and nothing else, so that no proof is circular. Whether trees cover everything is
//! a matter of their form alone, and is checked in every slice; the leaves, each of which is one bound or few, are dealt out.

use crate::bound::{Bounder, Given, Node, Phase, Rule, Start};
use crate::cells::Cells;
use crate::file::Reader;
use crate::fixed::{Fixed, shift_down};
use crate::goal::combined;
use crate::hull::Hull;
use crate::number::Dyadic;
use crate::onnx::Network;
use crate::property::{Disjunct, Property};
use crate::region::{Cube, Region, UNIT};
use crate::{Refused, refused, sha256};
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

/// Which leaves are looked at: those whose number leaves this rest; and whether the records are written out as text.
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

/// What a tree is about: its function, or the rows of a disjunct with weights at each leaf; and what is to be shown: that it is
/// at least a value, or positive.
enum Claim<'c> {
    Side { start: Start, least: i128 },
    Row(Start),
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
    let summary = Summary { text: as_text.then(String::new), generator, ..Summary::default() };
    let mut judge = Judge {
        net: &net,
        property,
        file,
        bounder: Bounder::new(&net),
        node: Node::new(net.hidden()),
        closed: vec![false; property.disjuncts.len()],
        slice,
        summary,
    };
    match judge.run(bytes) {
        Ok(()) => Ok(judge.summary),
        Err(why) => Err(Rejected { record: judge.summary.records, at: judge.file.at, why }),
    }
}

/// The generator's name, and the widths of the hidden stages.
fn header(file: &mut Reader, [model, property]: [[u8; 32]; 2]) -> Result<(String, Vec<usize>), Refused> {
    if file.take(4)? != MAGIC {
        return Err(refused("this is no certificate"));
    }
    if file.take(32)? != model {
        return Err(refused("the certificate is for another model"));
    }
    if file.take(32)? != property {
        return Err(refused("the certificate is for another property"));
    }
    let length = file.number()?;
    let generator = std::str::from_utf8(file.take(length)?).map_err(|_| refused("the generator's name is no text"))?;
    if file.byte()? != 0 {
        return Err(refused("only proofs about real arithmetic are known"));
    }
    let stages = file.number()?;
    let mut widths = Vec::new();
    for _ in 0..stages {
        widths.push(file.number()?);
    }
    Ok((generator.to_string(), widths))
}

impl<'j> Judge<'j> {
    fn run(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let (generator, stages) = (self.summary.generator.clone(), self.net.last());
        self.say(|| format!("certificate by {generator}, real arithmetic, {stages} hidden stages"));
        loop {
            match self.file.byte()? {
                END => break,
                REGION => self.top_region()?,
                kind => return Err(refused(format!("a record of kind {kind} is not known here"))),
            }
        }
        if self.file.number()? != self.summary.records {
            return Err(refused("the number of records is another"));
        }
        let digest = sha256::digest(&bytes[..self.file.at]);
        if self.file.take(32)? != digest || self.file.at != bytes.len() {
            return Err(refused("the file is not what its digest says"));
        }
        match self.closed.iter().position(|closed| !closed) {
            Some(open) => Err(refused(format!("disjunct {open} is not closed"))),
            None => Ok(()),
        }
    }

    /// Disjuncts of one box.
    fn top_region(&mut self) -> Result<(), Refused> {
        self.summary.records += 1;
        let open = self.disjuncts(&vec![true; self.property.disjuncts.len()])?;
        let first = *open.first().ok_or_else(|| refused("a region of nothing"))?;
        let box_of = |d: usize| (&self.property.disjuncts[d].lower, &self.property.disjuncts[d].upper);
        if open.iter().any(|&d| box_of(d) != box_of(first)) {
            return Err(refused("the disjuncts of a region have different boxes"));
        }
        let (lower, upper) = box_of(first);
        let cube = Cube::new(lower, upper)?;
        self.say(|| format!("region of disjuncts {open:?}"));
        self.region(cube, open.clone())?;
        open.iter().for_each(|&d| self.closed[d] = true);
        Ok(())
    }

    /// A list of disjuncts, ascending, each of which is allowed.
    fn disjuncts(&mut self, allowed: &[bool]) -> Result<Vec<usize>, Refused> {
        let count = self.file.number()?;
        let (mut list, mut next) = (Vec::new(), 0);
        for _ in 0..count {
            let disjunct = next + self.file.number()?;
            if !allowed.get(disjunct).is_some_and(|allowed| *allowed) {
                return Err(refused(format!("disjunct {disjunct} is not open here")));
            }
            list.push(disjunct);
            next = disjunct + 1;
        }
        Ok(list)
    }

    /// The records of a region, to its end: closes all the given disjuncts on a box.
    fn region(&mut self, cube: Cube, mut open: Vec<usize>) -> Result<(), Refused> {
        let mut region: Option<Region> = None;
        let mut hull: Option<Hull> = None;
        loop {
            let kind = self.file.byte()?;
            self.summary.records += 1;
            if region.is_none() && matches!(kind, BOUND | CLOSE) {
                let made = Region::new(self.net, cube.clone())?;
                hull = Some(Hull::new(&made)?);
                region = Some(made);
            }
            match (kind, &mut region, &hull) {
                (BOUND, Some(region), Some(hull)) => self.bound(region, hull)?,
                (CLOSE, Some(region), Some(hull)) => {
                    let disjunct = self.file.number()?;
                    let place = open.iter().position(|&d| d == disjunct);
                    let place = place.ok_or_else(|| refused(format!("disjunct {disjunct} is not open here")))?;
                    self.close(region, hull, disjunct)?;
                    open.remove(place);
                }
                (CELLS, ..) => {
                    let mut allowed = vec![false; self.property.disjuncts.len()];
                    open.iter().for_each(|&d| allowed[d] = true);
                    let list = self.disjuncts(&allowed)?;
                    self.say(|| format!("cells for disjuncts {list:?}"));
                    Cells::new(self)?.run(cube.clone(), list.clone())?;
                    open.retain(|d| !list.contains(d));
                }
                (CLOSED, ..) if open.is_empty() => return Ok(()),
                (CLOSED, ..) => return Err(refused(format!("disjunct {} is not closed", open[0]))),
                _ => return Err(refused(format!("a record of kind {kind} is not known here"))),
            }
        }
    }

    /// A bound of a neuron's side, which the table then has.
    fn bound(&mut self, region: &mut Region, hull: &Hull) -> Result<(), Refused> {
        let stage = self.file.below(self.net.last(), "stage")?;
        let side = self.file.below(2 * self.net.layers[stage].width(), "side")?;
        let (neuron, is_upper) = (side / 2, side % 2 == 1);
        let Given { mantissa, exponent } = self.file.float()?;
        let value = Dyadic { mantissa: mantissa.into(), exponent };
        let negated = shift_down(-value.mantissa, value.exponent + UNIT);
        let least = -negated.ok_or_else(|| refused("a bound is too large"))?;
        let sign = if is_upper { -1 } else { 1 };
        let start = Start::side(stage, neuron, sign);
        self.say(|| format!("bound: stage {stage} neuron {neuron} times {sign} is at least {mantissa}·2^{exponent}"));
        match self.file.byte()? {
            RULE => {
                if self.is_mine() && !self.by_rule(region, &start, least, is_upper)? {
                    return Err(refused(format!("stage {stage} neuron {neuron} is not bounded so by any rule")));
                }
            }
            TREE => self.tree(region, hull, &Claim::Side { start, least })?,
            kind => return Err(refused(format!("a proof of kind {kind} is not known here"))),
        }
        region.set(stage, neuron, is_upper, &value)
    }

    /// Whether intervals, or one of the two rules, bound a neuron's side so.
    fn by_rule(&mut self, region: &Region, start: &Start, least: i128, is_upper: bool) -> Result<bool, Refused> {
        let (low, high) = region.interval(start.stage, start.nu[0].0)?;
        if (if is_upper { -high } else { low }) >= least {
            return Ok(true);
        }
        let none = Hull::none(self.net.last());
        for rule in [Rule::Adaptive, Rule::Parallel] {
            if self.bounder.bound(region, start, rule, &self.node, &none)? >= least {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Closes a disjunct on the region.
    fn close(&mut self, region: &Region, hull: &Hull, disjunct: usize) -> Result<(), Refused> {
        let property = self.property;
        let rows = &property.disjuncts[disjunct];
        let what = self.file.below(rows.rows.len() + 1, "row")?;
        let one = Given { mantissa: 1, exponent: 0 };
        let kind = self.file.byte()?;
        self.say(|| match what {
            0 => format!("close: disjunct {disjunct} by combinations of its rows"),
            row => format!("close: disjunct {disjunct} by its row {}", row - 1),
        });
        let claim = match what {
            0 => Claim::Combination(rows),
            row => Claim::Row(combined(rows, &[(row - 1, one)], self.net.last())?),
        };
        match (kind, &claim) {
            (RULE, Claim::Row(start)) => {
                let none = Hull::none(self.net.last());
                let mut is_positive = !self.is_mine();
                for rule in [Rule::Adaptive, Rule::Parallel] {
                    is_positive = is_positive || self.bounder.bound(region, start, rule, &self.node, &none)? > 0;
                }
                if is_positive { Ok(()) } else { Err(refused("the row is not positive by any rule")) }
            }
            (TREE, claim) => self.tree(region, hull, claim),
            _ => Err(refused(format!("a proof of kind {kind} is not known here"))),
        }
    }

    /// A tree over phases, in preorder: at every leaf the claim holds, by the leaf's multipliers.
    fn tree(&mut self, region: &Region, hull: &Hull, claim: &Claim) -> Result<(), Refused> {
        for neuron in 0..self.node.alpha.len() {
            let (l, u) = region.of(neuron);
            self.node.alpha[neuron] = if u > -l { 255 } else { 0 };
            self.node.phase[neuron] = Phase::Open;
        }
        self.changes(&mut Vec::new())?;
        // The neurons that are split on the way, and whether their second child is under way.
        let mut path: Vec<(usize, bool)> = Vec::new();
        loop {
            match self.file.byte()? {
                0 => {
                    self.leaf(region, hull, claim, &path)?;
                    while path.last().is_some_and(|(_, is_second)| *is_second) {
                        let (neuron, _) = path.pop().expect("just seen");
                        self.node.phase[neuron] = Phase::Open;
                    }
                    match path.last_mut() {
                        None => return Ok(()),
                        Some((neuron, is_second)) => {
                            self.node.phase[*neuron] = Phase::On;
                            *is_second = true;
                        }
                    }
                }
                1 => {
                    let neuron = self.file.below(self.node.phase.len(), "neuron")?;
                    if self.node.phase[neuron] != Phase::Open {
                        return Err(refused(format!("neuron {neuron} is split twice")));
                    }
                    self.node.phase[neuron] = Phase::Off;
                    path.push((neuron, false));
                    self.say(|| format!("  split neuron {neuron}"));
                }
                kind => return Err(refused(format!("a node of kind {kind} is not known"))),
            }
        }
    }

    /// Reads changes of parts; keeps what was there before.
    fn changes(&mut self, before: &mut Vec<(usize, u8)>) -> Result<(), Refused> {
        let (count, mut next) = (self.file.number()?, 0);
        for _ in 0..count {
            let neuron = next + self.file.number()?;
            let part = self.file.byte()?;
            let alpha = self.node.alpha.get_mut(neuron).ok_or_else(|| refused(format!("no neuron {neuron}")))?;
            before.push((neuron, std::mem::replace(alpha, part)));
            next = neuron + 1;
        }
        Ok(())
    }

    /// The weights of all rows of a disjunct.
    pub fn weights(&mut self, disjunct: &Disjunct) -> Result<Vec<(usize, Given)>, Refused> {
        (0..disjunct.rows.len()).map(|row| Ok((row, self.file.float()?))).collect()
    }

    fn leaf(&mut self, region: &Region, hull: &Hull, claim: &Claim, path: &[(usize, bool)]) -> Result<(), Refused> {
        let combination = match claim {
            Claim::Combination(disjunct) => Some(combined(disjunct, &self.weights(disjunct)?, self.net.last())?),
            _ => None,
        };
        let mut before = Vec::new();
        self.changes(&mut before)?;
        for (neuron, _) in path {
            let beta = self.file.float()?;
            if beta.mantissa < 0 {
                return Err(refused("the multiplier of a phase is negative"));
            }
            self.node.beta[*neuron] = beta;
        }
        self.say(|| format!("  leaf at depth {}, {} parts changed", path.len(), before.len()));
        if self.is_mine() {
            let bounder = &mut self.bounder;
            let mut bound = |start: &Start| bounder.bound(region, start, Rule::Node, &self.node, hull);
            let holds = match (claim, &combination) {
                (Claim::Side { start, least }, _) => bound(start)? >= *least,
                (Claim::Row(start), _) | (_, Some(start)) => bound(start)? > 0,
                (Claim::Combination(_), None) => false,
            };
            if !holds {
                return Err(refused("the multipliers of a leaf do not show it"));
            }
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
