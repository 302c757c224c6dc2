//! The judge: walks through the records of a certificate, in order, and accepts or says why not.
//!
//! The state is one table of bounds and the path of one tree, whatever the size of the file. A record may use what the records
//! before it have proved of the same region, and nothing else, so that no proof is circular. Whether trees cover everything is
//! a matter of their form alone, and is checked in every slice; the leaves, each of which is one bound or few, are dealt out.

use crate::{
    Bounder, Cube, Disjunct, Dyadic, Fixed, Hull, Inequality, Node, Question, Reader, Refused, Region, Rule, Slice,
    Start, Summary, Term, UNIT, combined, digest, refuse, refused, require, small,
};
use std::rc::Rc;
use std::thread;

/// Bits behind the point of the scale of a sum of two neurons, and of the largest.
const SCALE: i32 = 40;
const SCALE_BITS: i32 = 9;

const RECORDS: [&str; 7] = ["end", "region", "bound", "close", "cells", "closed", "plane"];

/// Of how many leaves after each other one slice has all: cells near each other share what is known around them.
const RUN: usize = 16;

/// Bytes of a stack: trees are read by recursion, to a depth that is limited.
const STACK: usize = 1 << 28;

pub struct Judge<'j> {
    pub net: &'j Fixed,
    pub question: &'j Question,
    pub file: Reader<'j>,
    pub bounder: Bounder<'j>,
    pub node: Node,
    /// By disjunct.
    closed: Vec<bool>,
    slice: Slice,
    summary: Summary,
}

/// What is proved: that a function is at least a value, or that the rows of a disjunct have a positive mean, with weights at each leaf
/// of a tree.
pub enum Claim<'c> {
    Function(Start, i128),
    Combination(&'c Disjunct),
}

impl Question {
    /// Judges the leaves of a slice, and the form of everything, on so many threads, each of which has a slice of that; or makes text of
    /// it. A number that overflows ends a thread, and rejects.
    pub fn judge(&self, bytes: &[u8], slice: Slice, threads: usize, as_text: bool) -> Result<Summary, Refused> {
        let mut file = Reader::new(bytes);
        let (head, widths) = header(&mut file, self)?;
        let net = &Fixed::new(&self.network, &widths, head.arithmetic == "float32")?;
        file.text = as_text.then(|| format!("certificate by {}, {} arithmetic", head.generator, head.arithmetic));
        let run = |index: usize| {
            let slice = Slice { index: slice.index + index * slice.count, count: slice.count * threads };
            let (file, bounder, node) = (file.clone(), Bounder::new(net), Node::new(net.first(net.last())));
            let (closed, summary) = (vec![false; self.property.disjuncts.len()], head.clone());
            let mut judge = Judge { net, question: self, file, bounder, node, closed, slice, summary };
            let result = judge.run(bytes);
            result.map_err(|why| why.at(format!("record {}, at byte {}", judge.summary.records, judge.file.at)))?;
            Ok(Summary { text: judge.file.text, ..judge.summary })
        };
        thread::scope(|scope| {
            let mut started = vec![];
            for index in 0..threads {
                let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || run(index));
                started.push(thread.map_err(|_| refused("there is no thread to judge it on"))?);
            }
            let mut all = Summary::default();
            for thread in started {
                let found: Summary = thread.join().unwrap_or_else(|_| refuse("arithmetic failed"))?;
                all = Summary { checked: all.checked + found.checked, ..found };
            }
            Ok(all)
        })
    }
}

/// What the heading says, and the widths of the hidden stages.
fn header(file: &mut Reader, question: &Question) -> Result<(Summary, Vec<usize>), Refused> {
    require(file.take(4)? == b"PGC1", "this is no certificate")?;
    require(file.take(32)? == question.digests[0], "the certificate is for another model")?;
    require(file.take(32)? == question.digests[1], "the certificate is for another property")?;
    let length = file.number()?;
    let generator = std::str::from_utf8(file.take(length)?).map_err(|_| refused("the generator's name is no text"))?;
    let arithmetic = file.kind("arithmetic", &["real", "float32"])?;
    let widths = (0..file.number()?).map(|_| file.number()).collect::<Result<_, _>>()?;
    Ok((Summary { generator: generator.into(), arithmetic, ..Summary::default() }, widths))
}

/// The place of a disjunct among those that are open.
pub fn position(open: &[usize], disjunct: usize) -> Result<usize, Refused> {
    let place = open.iter().position(|&d| d == disjunct);
    place.ok_or_else(|| refused(format!("disjunct {disjunct} is not open here")))
}

impl<'j> Judge<'j> {
    fn run(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        loop {
            match self.file.kind("record", &RECORDS)? {
                "end" => break,
                "region" => self.region()?,
                _ => return refuse("a record is in no region"),
            }
        }
        require(self.file.number()? == self.summary.records, "the number of records is another")?;
        let digest = digest(&bytes[..self.file.at]);
        let is_whole = self.file.take(32)? == digest && self.file.is_at_end();
        require(is_whole, "the file is not what its digest says")?;
        let open = self.closed.iter().position(|closed| !closed);
        open.map_or(Ok(()), |open| refuse(format!("disjunct {open} is not closed")))
    }

    /// Disjuncts of one box, and the records that close them, to the region's end.
    fn region(&mut self) -> Result<(), Refused> {
        self.summary.records += 1;
        let all = &self.question.property.disjuncts;
        let open = self.disjuncts(|_| true)?;
        open.iter().for_each(|&d| self.closed[d] = true);
        let box_of = |d: usize| (&all[d].lower, &all[d].upper);
        let (lower, upper) = box_of(*open.first().ok_or_else(|| refused("a region of nothing"))?);
        let is_one = open.iter().all(|&d| box_of(d) == (lower, upper));
        require(is_one, "the disjuncts of a region have different boxes")?;
        self.records(Cube::new(lower, upper)?, open, false)
    }

    /// The records of a box, to their end, which leave no disjunct open there. Cells are not cut into cells anew.
    pub fn records(&mut self, cube: Cube, mut open: Vec<usize>, is_cell: bool) -> Result<(), Refused> {
        let mut region: Option<Region> = None;
        loop {
            let kind = self.file.kind("record", &RECORDS)?;
            self.summary.records += 1;
            if region.is_none() && matches!(kind, "bound" | "plane" | "close") {
                let made = Region::new(cube.clone(), &mut self.bounder, |_, _, _| Ok(()))?;
                let hull = Hull::new(&made, &mut self.bounder)?;
                region = Some(Region { hull: Some(Rc::new(hull)), ..made });
            }
            match (kind, &mut region) {
                ("bound" | "plane", Some(region)) => self.bound(region, kind == "plane")?,
                ("close", Some(region)) => {
                    let disjunct = self.file.number()?;
                    open.remove(position(&open, disjunct)?);
                    self.close(region, disjunct)?;
                }
                ("cells", _) if !is_cell => {
                    let list = self.disjuncts(|d| open.binary_search(&d).is_ok())?;
                    open.retain(|d| !list.contains(d));
                    self.cells(cube.clone(), list)?;
                }
                ("closed", _) => return require(open.is_empty(), format!("disjuncts {open:?} are not closed")),
                _ => return refuse("a record is not at its place"),
            }
        }
    }

    /// A list of disjuncts, ascending, each of which is allowed.
    fn disjuncts(&mut self, is_allowed: impl Fn(usize) -> bool) -> Result<Vec<usize>, Refused> {
        let list = self.file.ascending(self.closed.len(), "disjunct", |_| Ok(()))?;
        let list: Vec<usize> = list.into_iter().map(|(disjunct, ())| disjunct).collect();
        require(list.iter().all(|&disjunct| is_allowed(disjunct)), "a disjunct is not open here")?;
        Ok(list)
    }

    /// A bound of a neuron's side, which the table then has. Or one of a side and so many times another neuron's, which then cuts
    /// what the two can be together. A side is a neuron, and 0 for itself or 1 for its negative.
    fn bound(&mut self, region: &mut Region<'j>, is_plane: bool) -> Result<(), Refused> {
        let (stage, exponent) = (self.file.below(self.net.last(), "stage")?, if is_plane { SCALE } else { 0 });
        let number = |file: &mut Reader| file.below(2 * self.net.layers[stage].rows.len(), "side");
        let (side, mut nu) = (number(&mut self.file)?, vec![]);
        let mut add = |side: usize, by: i64| nu.push((side / 2, [by, -by][side % 2]));
        add(side, 1 << exponent);
        if is_plane {
            let (other, scale) = (number(&mut self.file)?, self.file.weight()?);
            let whole = scale.floor_scaled(SCALE).filter(|whole| (1..1 << (SCALE + SCALE_BITS)).contains(whole));
            let are_fine = other / 2 != side / 2 && scale.exponent >= -SCALE;
            add(other, small(whole.filter(|_| are_fine))?);
        }
        let value = self.file.float()?;
        let start = Start { nu: nu.clone(), exponent, ..Start::side(stage, 0, 0) };
        let least = value.ceil_scaled(UNIT).ok_or_else(Refused::overflow)?;
        self.proof(region, Claim::Function(start, least))?;
        if !is_plane {
            let value = value.floor_scaled(region.grids[stage + 1]);
            return region.set(stage, self.net.first(stage) + side / 2, side % 2, value);
        }
        let variable = |j: usize| self.net.own(self.net.first(stage) + j);
        let term = |&(j, nu): &(usize, i64)| Term { variable: variable(j), weight: -nu, scale: SCALE };
        let constant = value.floor_scaled(UNIT).ok_or_else(Refused::overflow)?;
        let plane = Inequality { terms: nu.iter().map(term).collect(), constant };
        Rc::make_mut(&mut region.planes).push((stage, plane));
        Ok(())
    }

    /// Closes a disjunct on the region: what is positive is at least one unit.
    fn close(&mut self, region: &mut Region<'j>, disjunct: usize) -> Result<(), Refused> {
        let rows = &self.question.property.disjuncts[disjunct];
        let row = self.file.below(rows.rows.len() + 1, "row")?.checked_sub(1);
        let claim = match row {
            None => Claim::Combination(rows),
            Some(row) => Claim::Function(self.row(rows, row)?, 1),
        };
        self.proof(region, claim)
    }

    /// A row of a disjunct.
    pub fn row(&self, rows: &Disjunct, row: usize) -> Result<Start, Refused> {
        combined(rows, &[(row, Dyadic::ONE)], self.net.last()).ok_or_else(Refused::overflow)
    }

    /// Reads the proof of a claim: that one of the rules shows it, or a tree.
    fn proof(&mut self, region: &mut Region<'j>, claim: Claim) -> Result<(), Refused> {
        region.refresh(if let Claim::Function(start, _) = &claim { start.stage } else { self.net.last() })?;
        match (self.file.kind("proof", &["by rules", "tree"])?, &claim) {
            ("tree", _) => self.tree(region, &claim),
            (_, Claim::Combination(_)) => refuse("combinations are not proved by rules"),
            (_, Claim::Function(start, least)) => {
                let mut is_shown = !self.is_mine();
                for rule in [Rule::Interval, Rule::Adaptive, Rule::Parallel] {
                    is_shown = is_shown || self.bounder.bound(region, start, rule)? >= *least;
                }
                require(is_shown, "it is not shown by any rule")
            }
        }
    }

    /// Whether the next leaf is one to look at.
    pub fn is_mine(&mut self) -> bool {
        let mine = self.file.text.is_none() && self.summary.leaves / RUN % self.slice.count == self.slice.index;
        self.summary.leaves += 1;
        self.summary.checked += usize::from(mine);
        mine
    }
}
