//! Merging: what all parts together have shown.
//!
//! The verdict `unsat` is made as a search makes it. Every disjunct of the property has one ticket; at each node of the trees it is
//! split for the children, and only an answer `unsat` to the part that a leaf belongs to closes the leaf's. So a leaf that was
//! left out leaves the property open, and what is given twice has no ticket left.

use super::files::{Folder, OpenRegion, Root, Start};
use super::gather::{Found, Trees};
use super::tree::{Kind, Node, Tree};
use crate::certificate::{Certificate, Heading, Kept, Piece, Written, put};
use crate::files::Hash;
use crate::search::{Proof, Proved, Reason, Ticket};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// The open disjuncts of a cell, or the goal of a tree over phases.
type Tickets = Vec<(usize, Ticket)>;

/// The evidence, if every leaf is closed; otherwise how many disjuncts are not.
pub fn prove(trees: &Trees, disjuncts: usize) -> Result<Result<Proved, usize>, String> {
    let (mut proof, tickets) = Proof::of(disjuncts);
    let mut tickets: Vec<Option<Ticket>> = tickets.into_iter().map(Some).collect();
    let mut take = |disjunct: usize| {
        let ticket = tickets.get_mut(disjunct).and_then(Option::take);
        ticket.map(|ticket| (disjunct, ticket)).ok_or("the root has a disjunct twice, or one that there is not")
    };
    let Root { settled, start, .. } = trees.split.root()?;
    for &disjunct in settled {
        let (_, ticket) = take(disjunct)?;
        proof.close(disjunct, ticket, &Reason::Elsewhere);
    }
    let starts: Vec<Tickets> = match start {
        Start::Cells(boxes) => {
            boxes.iter().map(|open| open.iter().map(|&disjunct| take(disjunct)).collect()).collect::<Result<_, _>>()?
        }
        Start::Phases(regions) => {
            let goals = regions.iter().flat_map(|region| &region.goals);
            goals.map(|goal| Ok(vec![take(goal.disjunct)?])).collect::<Result<_, &str>>()?
        }
    };
    trees.close(&mut proof, starts)?;
    Ok(proof.finish())
}

impl Trees {
    /// Closes what the trees and the answers to their parts close.
    fn close(&self, proof: &mut Proof, starts: Vec<Tickets>) -> Result<(), String> {
        let mut leaf = 0;
        let mut below: Vec<Vec<(usize, Tickets)>> = self.parts.iter().map(|_| vec![]).collect();
        for (tree, start) in self.split.trees.iter().zip(starts) {
            tree.walk(start, |mut tickets, node| {
                let lost = tickets.extract_if(.., |(disjunct, _)| node.lost.contains(disjunct));
                lost.for_each(|(disjunct, ticket)| proof.close(disjunct, ticket, &Reason::Elsewhere));
                match node.kind {
                    Kind::Cut { .. } | Kind::Phase(_) => return Ok(Some(halves(proof, tickets))),
                    Kind::Closed(_) => close_all(proof, tickets),
                    Kind::Open => {
                        let owner = self.owners[leaf].map(|(part, place)| (part, place, &self.parts[part]));
                        leaf += 1;
                        match owner {
                            Some((_, _, Found::Closed(..))) => close_all(proof, tickets),
                            Some((part, place, Found::Split(_))) => below[part].push((place, tickets)),
                            // Its tickets are dropped: nothing closes it.
                            Some((_, _, Found::Open)) | None => {}
                        }
                    }
                }
                Ok(None)
            })?;
        }
        for (part, mut starts) in self.parts.iter().zip(below) {
            if let Found::Split(trees) = part {
                starts.sort_by_key(|(place, _)| *place);
                trees.close(proof, starts.into_iter().map(|(_, tickets)| tickets).collect())?;
            }
        }
        Ok(())
    }
}

fn close_all(proof: &mut Proof, tickets: Tickets) {
    tickets.into_iter().for_each(|(disjunct, ticket)| proof.close(disjunct, ticket, &Reason::Elsewhere));
}

fn halves(proof: &mut Proof, tickets: Tickets) -> [Tickets; 2] {
    let (mut first, mut second) = (vec![], vec![]);
    for (disjunct, ticket) in tickets {
        let [a, b] = proof.split(disjunct, ticket);
        first.push((disjunct, a));
        second.push((disjunct, b));
    }
    [first, second]
}

/// Writes the certificate of a merged proof: the root's records, and the parts' sub-trees in the places of its leaves.
pub fn certify(folder: &Folder, trees: &Trees, path: &Path, heading: &Heading) -> Result<Written, String> {
    let Root { records, start, .. } = trees.split.root()?;
    let has_place = |region: &OpenRegion| region.place < records.pieces.len();
    if matches!(start, Start::Phases(regions) if !regions.iter().all(has_place)) {
        return Err("the root has no records of a region".into());
    }
    let certificate = Certificate::new(path, heading).map_err(|e| trouble(&e))?;
    let mut out = Writer { folder, certificate, checked: BTreeSet::new() };
    for place in 0..records.pieces.len() {
        out.region(&records.pieces[place].disjuncts, |out| {
            out.copy(&folder.dir.join("root.proof"), records, place)?;
            let Start::Phases(regions) = start else { return Ok(()) };
            let goals = regions.iter().flat_map(|region| region.goals.iter().map(move |goal| (region.place, goal)));
            for (number, (_, goal)) in goals.enumerate().filter(|(_, (region, _))| *region == place) {
                out.put(|certificate| certificate.begin_tree(goal.disjunct))?;
                out.put(|certificate| certificate.add(&goal.changes, 0))?;
                out.tree(trees, number)?;
            }
            Ok(())
        })?;
    }
    let boxes = if let Start::Cells(boxes) = start { &boxes[..] } else { &[] };
    for (number, disjuncts) in boxes.iter().enumerate() {
        out.region(disjuncts, |out| {
            out.put(|certificate| certificate.begin_cells(disjuncts))?;
            out.tree(trees, number)
        })?;
    }
    out.certificate.finish().map_err(|e| trouble(&e))
}

fn trouble(error: &io::Error) -> String {
    format!("the certificate could not be written: {error}")
}

struct Writer<'f> {
    folder: &'f Folder,
    certificate: Certificate,
    /// Files whose digests are as they should be.
    checked: BTreeSet<PathBuf>,
}

impl Writer<'_> {
    fn put(&mut self, put: impl FnOnce(&mut Certificate) -> io::Result<()>) -> Result<(), String> {
        put(&mut self.certificate).map_err(|e| trouble(&e))
    }

    fn region(
        &mut self,
        disjuncts: &[usize],
        records: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.put(|certificate| certificate.begin_region(disjuncts))?;
        records(self)?;
        self.put(Certificate::end_region)
    }

    /// A tree, with what belongs in the places of its leaves.
    fn tree(&mut self, trees: &Trees, number: usize) -> Result<(), String> {
        let mut leaf: usize = trees.split.trees[..number].iter().map(Tree::leaves).sum();
        for Node { lost, kind } in &trees.split.trees[number].0 {
            let mut bytes = vec![];
            for disjunct in lost {
                bytes.push(2);
                put(&mut bytes, *disjunct);
            }
            match kind {
                Kind::Closed(told) => bytes.extend(told),
                Kind::Phase(neuron) => {
                    bytes.push(1);
                    put(&mut bytes, *neuron);
                }
                Kind::Cut { input, at } => {
                    bytes.push(1);
                    put(&mut bytes, *input);
                    bytes.extend(at.to_le_bytes());
                }
                Kind::Open => {}
            }
            self.put(|certificate| certificate.add(&bytes, 0))?;
            if *kind == Kind::Open {
                self.leaf(trees, leaf)?;
                leaf += 1;
            }
        }
        Ok(())
    }

    fn leaf(&mut self, trees: &Trees, leaf: usize) -> Result<(), String> {
        let (part, place) = trees.owners[leaf].ok_or("a leaf belongs to no part")?;
        match &trees.parts[part] {
            Found::Split(below) => self.tree(below, place),
            Found::Open => Err("a part is open".into()),
            Found::Closed(answer, name) => {
                let part = self.folder.path(name, "");
                let none = || {
                    format!("{}: it was solved without --proof, so that there is no certificate of it", part.display())
                };
                let proof = answer.proof.as_ref().ok_or_else(none)?;
                self.copy(&self.folder.dir.join(&proof.file), &proof.kept, place)
            }
        }
    }

    /// A piece of a file, and the records in it.
    fn copy(&mut self, path: &Path, kept: &Kept, number: usize) -> Result<(), String> {
        if self.checked.insert(path.to_path_buf()) {
            check(path, &kept.sha256)?;
        }
        let bytes = read(path, &kept.pieces, number)?;
        self.put(|certificate| certificate.add(&bytes, kept.pieces[number].records))
    }
}

/// A piece of a file.
fn read(path: &Path, pieces: &[Piece], number: usize) -> Result<Vec<u8>, String> {
    let short = || format!("{}: it has not all that it should", path.display());
    let piece = pieces.get(number).ok_or_else(short)?;
    let from = pieces[..number].iter().fold(0u64, |sum, piece| sum.saturating_add(piece.bytes));
    let mut file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
    file.seek(SeekFrom::Start(from)).map_err(|_| short())?;
    let mut bytes = vec![];
    file.take(piece.bytes).read_to_end(&mut bytes).map_err(|_| short())?;
    if bytes.len() as u64 == piece.bytes { Ok(bytes) } else { Err(short()) }
}

/// Whether a file has this digest.
fn check(path: &Path, sha256: &str) -> Result<(), String> {
    let about = |e: io::Error| format!("{}: {e}", path.display());
    let mut file = File::open(path).map_err(about)?;
    let (mut hash, mut buffer) = (Hash::default(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer).map_err(about)? {
            0 if hash.clone().digits() == sha256 => return Ok(()),
            0 => return Err(format!("{}: damaged, or not the file that was written with its part", path.display())),
            count => hash.add(&buffer[..count]),
        }
    }
}
