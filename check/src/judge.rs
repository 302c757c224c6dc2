//! The judge: walks through the records of a certificate, in order, and accepts or says why not.
//!
//! The state is one table of bounds and the path of one tree, whatever the size of the file. A record may use what the records
//! before it have proved of the same region, and nothing else, so that no proof is circular. Whether trees cover everything is
//! a matter of their form alone, and is checked in every slice; the leaves, each of which is one bound or few, are dealt out.

use crate::bound::{Bounder, Node, Rule, Start};
use crate::contract::{Inequality, Term};
use crate::file::Reader;
use crate::fixed::{Fixed, small};
use crate::goal::combined;
use crate::hull::Hull;
use crate::number::Dyadic;
use crate::onnx::Network;
use crate::property::{Disjunct, Property};
use crate::region::{Cube, Region, UNIT};
use crate::{Refused, refuse, refused, require, sha256};
use std::fmt::{self, Write};
use std::rc::Rc;

pub const MAGIC: &[u8; 4] = b"PGC1";

/// The records' kinds.
const END: u8 = 0;
const REGION: u8 = 1;
const BOUND: u8 = 2;
const CLOSE: u8 = 3;
const CELLS: u8 = 4;
const CLOSED: u8 = 5;
const PLANE: u8 = 6;

/// Bits behind the point of the scale of a sum of two neurons.
const SCALE: i32 = 40;

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
    /// Whether it is about the float32 program that evaluates the network, and not about real numbers.
    pub is_float32: bool,
    pub records: usize,
    pub leaves: usize,
    /// Of these, those of the slice.
    pub checked: usize,
    pub text: Option<String>,
}

impl Summary {
    /// What the certificate is about, in a word.
    pub fn arithmetic(&self) -> &'static str {
        if self.is_float32 { "float32" } else { "real" }
    }
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
    summary: Summary,
}

/// What a tree is about: a function, or the rows of a disjunct with weights at each leaf.
pub enum Claim<'c> {
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
    let headed = header(&mut file, digests)
        .and_then(|(generator, is_float32, widths)| Ok((generator, Fixed::new(network, &widths, is_float32)?)));
    let (generator, net) = headed.map_err(|why| Rejected { record: 0, at: file.at, why })?;
    let (bounder, node) = (Bounder::new(&net), Node::new(net.first(net.last())));
    let closed = vec![false; property.disjuncts.len()];
    let is_float32 = net.is_float32;
    let summary = Summary { text: as_text.then(String::new), generator, is_float32, ..Summary::default() };
    let mut judge = Judge { net: &net, property, file, bounder, node, closed, slice, summary };
    match judge.run(bytes) {
        Ok(()) => Ok(judge.summary),
        Err(why) => Err(Rejected { record: judge.summary.records, at: judge.file.at, why }),
    }
}

/// The generator's name, whether the claim is about the float32 program, and the widths of the hidden stages.
fn header(file: &mut Reader, [model, property]: [[u8; 32]; 2]) -> Result<(String, bool, Vec<usize>), Refused> {
    require(file.take(4)? == MAGIC, "this is no certificate")?;
    require(file.take(32)? == model, "the certificate is for another model")?;
    require(file.take(32)? == property, "the certificate is for another property")?;
    let length = file.number()?;
    let generator = std::str::from_utf8(file.take(length)?).map_err(|_| refused("the generator's name is no text"))?;
    let arithmetic = file.byte()?;
    require(arithmetic <= 1, "the arithmetic that it is about is not known")?;
    let widths = (0..file.number()?).map(|_| file.number()).collect::<Result<_, _>>()?;
    Ok((generator.to_string(), arithmetic == 1, widths))
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
        let arithmetic = self.summary.arithmetic();
        self.say(|| format!("certificate by {generator}, {arithmetic} arithmetic, {stages} hidden stages"));
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
        let open = self.disjuncts(|_| true)?;
        open.iter().for_each(|&d| self.closed[d] = true);
        let box_of = |d: usize| (&property.disjuncts[d].lower, &property.disjuncts[d].upper);
        let (lower, upper) = box_of(*open.first().ok_or_else(|| refused("a region of nothing"))?);
        let is_one = open.iter().all(|&d| box_of(d) == (lower, upper));
        require(is_one, "the disjuncts of a region have different boxes")?;
        let cube = Cube::new(lower, upper)?;
        self.say(|| format!("region of disjuncts {open:?}"));
        self.records(cube, open, false)
    }

    /// The records of a box, to their end, which leave no disjunct open there. Cells are not cut into cells anew.
    pub fn records(&mut self, cube: Cube, mut open: Vec<usize>, is_cell: bool) -> Result<(), Refused> {
        let mut region: Option<Region> = None;
        loop {
            let kind = self.file.byte()?;
            self.summary.records += 1;
            if region.is_none() && matches!(kind, BOUND | PLANE | CLOSE) {
                let made = Region::new(cube.clone(), &mut self.bounder, |_, _, _| Ok(()))?;
                region = Some(Region { hull: Some(Rc::new(Hull::new(&made))), ..made });
            }
            match (kind, &mut region) {
                (BOUND, Some(region)) => self.bound(region)?,
                (PLANE, Some(region)) => self.plane(region)?,
                (CLOSE, Some(region)) => {
                    let disjunct = self.file.number()?;
                    open.remove(position(&open, disjunct)?);
                    self.close(region, disjunct)?;
                }
                (CELLS, _) if !is_cell => {
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
        let list = self.file.ascending(self.property.disjuncts.len(), "disjunct", |_| Ok(()))?;
        let list: Vec<usize> = list.into_iter().map(|(disjunct, ())| disjunct).collect();
        require(list.iter().all(|&disjunct| is_allowed(disjunct)), "a disjunct is not open here")?;
        Ok(list)
    }

    /// A bound of a neuron's side, which the table then has.
    fn bound(&mut self, region: &mut Region<'j>) -> Result<(), Refused> {
        let (stage, [(j, side)]) = self.sides()?;
        let value = self.proved(region, Start::side(stage, j, side))?;
        region.set(stage, j, side, value)
    }

    /// A bound of a neuron's side and so many times another's, which then cuts what the two can be together.
    fn plane(&mut self, region: &mut Region<'j>) -> Result<(), Refused> {
        let (stage, sides) = self.sides::<2>()?;
        let scale = self.file.weight()?;
        let whole = small(scale.floor_scaled(SCALE).filter(|_| scale.exponent >= -SCALE))?;
        let are_fine = sides[0].0 != sides[1].0 && whole > 0 && whole < 1 << 49;
        require(are_fine, "two neurons, or a scale, that are not to be summed up")?;
        let nu =
            [(sides[0], 1 << SCALE), (sides[1], whole)].map(|((j, side), by)| (j, if side == 0 { by } else { -by }));
        let value = self.proved(region, Start { nu: nu.to_vec(), exponent: SCALE, ..Start::side(stage, 0, 0) })?;
        let own = |j: usize| self.net.own(self.net.first(stage) + j);
        let terms = nu.map(|(j, nu)| Term { variable: own(j), weight: -nu, scale: SCALE }).to_vec();
        let constant = value.floor_scaled(UNIT).ok_or_else(Refused::overflow)?;
        Rc::make_mut(&mut region.planes).push((stage, Inequality { terms, constant }));
        Ok(())
    }

    /// A stage, and sides of its neurons: the neuron, and 0 for itself or 1 for its negative.
    fn sides<const N: usize>(&mut self) -> Result<(usize, [(usize, usize); N]), Refused> {
        let (stage, mut sides) = (self.file.below(self.net.last(), "stage")?, [(0, 0); N]);
        for side in &mut sides {
            let number = self.file.below(2 * self.net.layers[stage].rows.len(), "side")?;
            *side = (number / 2, number % 2);
        }
        Ok((stage, sides))
    }

    /// Reads a value and the proof that a function of neurons is at least that.
    fn proved(&mut self, region: &mut Region<'j>, start: Start) -> Result<Dyadic, Refused> {
        let value = self.file.float()?;
        let Dyadic { mantissa, exponent } = value;
        let least = value.ceil_scaled(UNIT).ok_or_else(Refused::overflow)?;
        region.refresh(start.stage)?;
        self.say(|| {
            let sum = start.nu.iter().map(|(j, nu)| format!("{nu} times neuron {j}")).collect::<Vec<_>>().join(" and ");
            let exponent = exponent + start.exponent;
            format!("bound: stage {}, {sum} is at least {mantissa}·2^{exponent}", start.stage)
        });
        self.proof(region, &Claim::Function(start), least)?;
        Ok(value)
    }

    /// Closes a disjunct on the region: what is positive is at least one unit.
    fn close(&mut self, region: &mut Region<'j>, disjunct: usize) -> Result<(), Refused> {
        let property = self.property;
        let rows = &property.disjuncts[disjunct];
        region.refresh(self.net.last())?;
        let what = self.file.below(rows.rows.len() + 1, "row")?;
        self.say(|| match what {
            0 => format!("close: disjunct {disjunct} by combinations of its rows"),
            row => format!("close: disjunct {disjunct} by its row {}", row - 1),
        });
        let claim = match what {
            0 => Claim::Combination(rows),
            row => Claim::Function(combined(rows, &[(row - 1, Dyadic::ONE)], self.net.last())?),
        };
        self.proof(region, &claim, 1)
    }

    /// Reads the proof of a claim: that one of the rules shows it, or a tree.
    fn proof(&mut self, region: &mut Region<'j>, claim: &Claim, least: i128) -> Result<(), Refused> {
        match (self.file.byte()?, claim) {
            (RULE, Claim::Function(start)) => {
                let mut is_shown = !self.is_mine();
                for rule in [Rule::Interval, Rule::Adaptive, Rule::Parallel] {
                    is_shown = is_shown || self.bounder.bound(region, start, rule)? >= least;
                }
                require(is_shown, "it is not shown by any rule")
            }
            (TREE, claim) => self.tree(region, claim, least),
            (kind, _) => unknown("proof", kind),
        }
    }

    /// Whether the next leaf is one to look at.
    pub fn is_mine(&mut self) -> bool {
        let mine = !self.is_text() && self.summary.leaves % self.slice.count == self.slice.index;
        self.summary.leaves += 1;
        self.summary.checked += usize::from(mine);
        mine
    }

    /// Whether text is asked for, and not a judgement.
    pub fn is_text(&self) -> bool {
        self.summary.text.is_some()
    }

    /// A line of text, if text is asked for.
    pub fn say(&mut self, line: impl FnOnce() -> String) {
        if let Some(text) = &mut self.summary.text {
            let _ = writeln!(text, "{}", line());
        }
    }
}
