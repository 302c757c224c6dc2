//! The certificate of a proof, as docs/certificate.md describes it: records are appended to a journal while the search goes on,
//! and what is needed of them becomes the file at the end.
//!
//! A record may use the bounds that the records before it in the same region have proved, and the search has used these too.
//! So the order of the journal is the order of the file, region by region. A bound that was superseded before anything used it
//! is left out.

mod file;

use crate::files::scratch;
use crate::options::Semantics;
pub use file::Certificate;
use file::Hashed;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 4] = b"PGC1";
const END: u8 = 0;
const REGION: u8 = 1;
const BOUND: u8 = 2;
const CLOSE: u8 = 3;
const CELLS: u8 = 4;
const CLOSED: u8 = 5;
const PLANE: u8 = 6;

/// How a bound or a goal is proved.
pub const RULE: u8 = 0;
pub const TREE: u8 = 1;

/// The nodes of trees.
pub mod node {
    pub const LEAF: u8 = 0;
    pub const PHASE: u8 = 1;
    pub const GIVEN: u8 = 2;
    pub const RULES: u8 = 3;
    pub const CUT: u8 = 4;
    pub const BEHIND: u8 = 5;
    pub const COUNTEREXAMPLES: u8 = 6;
}

/// What a certificate is about: digests in hexadecimal.
pub struct Heading<'h> {
    pub model: &'h str,
    pub property: String,
    pub generator: &'h str,
    /// The widths of the hidden stages.
    pub widths: Vec<usize>,
    pub semantics: Semantics,
}

/// A region of the journal: disjuncts of one box.
pub type RegionId = u32;

/// Half-spaces of the neurons of a stage that a sweep is within, by their number.
pub type PlaneSet = u32;

/// A record of the journal, and what it is about.
struct Entry {
    region: RegionId,
    what: What,
    offset: u64,
    length: u64,
    /// Where the records of cells belong, in bytes from its beginning.
    holes: Vec<(u64, RegionId)>,
}

/// Disjuncts of one box. Those of a cell are told where its cell is, and not by themselves.
struct Disjuncts {
    numbers: Vec<usize>,
    is_cell: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    /// A side of a hidden neuron, counted through all of them, two for each; and its stage.
    Bound { stage: u32, side: u32 },
    /// A half-space of two neurons, of a set that is used as one.
    Plane { stage: u32, set: PlaneSet },
    /// A goal, closed; of what is behind a stage by these half-spaces of its neurons.
    Close { planes: Option<PlaneSet> },
}

impl What {
    const CLOSE: What = What::Close { planes: None };
}

/// A side of a neuron and so many times another side, of another neuron of its stage: at least a value together.
pub struct Half {
    pub sides: [usize; 2],
    pub scale: f32,
    pub value: f32,
}

/// What is known of a certificate that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    pub file: String,
    pub bytes: u64,
    pub records: u64,
    /// Of the whole file, which the evidence is named by.
    pub sha256: String,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Written { file, bytes, records, sha256 } = self;
        write!(f, "certificate {file}: {bytes} bytes, {records} records, sha256 {sha256}")
    }
}

/// Bytes of a certificate that are kept in a file of their own, one piece after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    pub sha256: String,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// Of a region the disjuncts, ascending.
    pub disjuncts: Vec<usize>,
    pub bytes: u64,
    /// The records among them.
    pub records: u64,
}

/// Records as they come, in a file without a name beside the certificate's place.
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
    offset: u64,
    entries: Vec<Entry>,
    regions: Vec<Disjuncts>,
    /// The disjuncts that have a record, with their regions.
    closed: BTreeSet<(RegionId, usize)>,
    /// The sub-trees of leaves, by their numbers: of a part of a proof.
    pieces: BTreeMap<usize, RegionId>,
    plane_sets: PlaneSet,
    trouble: Option<io::Error>,
}

impl Journal {
    /// A journal beside the place of the certificate.
    pub fn new(path: &Path) -> io::Result<Journal> {
        let (file, entries, regions) = (BufWriter::with_capacity(1 << 16, scratch(path)?), vec![], vec![]);
        Ok(Journal {
            path: path.to_path_buf(),
            file,
            offset: 0,
            entries,
            regions,
            closed: BTreeSet::new(),
            pieces: BTreeMap::new(),
            plane_sets: 0,
            trouble: None,
        })
    }

    /// A region of these disjuncts, ascending: of their whole box, or of a cell.
    pub fn region(&mut self, disjuncts: Vec<usize>, is_cell: bool) -> RegionId {
        self.regions.push(Disjuncts { numbers: disjuncts, is_cell });
        self.regions.len() as RegionId - 1
    }

    /// That a side of a neuron is at least a value.
    pub fn bound(&mut self, region: RegionId, (stage, start): (usize, usize), side: usize, value: f32, proof: &[u8]) {
        let mut head = vec![BOUND];
        put(&mut head, stage);
        put(&mut head, side);
        head.extend(value.to_le_bytes());
        let what = What::Bound { stage: stage as u32, side: (2 * start + side) as u32 };
        self.append(region, what, &[&head, proof], vec![]);
    }

    /// A number for half-spaces that are used together.
    pub fn plane_set(&mut self) -> PlaneSet {
        self.plane_sets += 1;
        self.plane_sets
    }

    /// That a side of a neuron and so many times another side, of another neuron, are at least a value together.
    pub fn plane(&mut self, region: RegionId, set: PlaneSet, stage: usize, plane: &Half, proof: &[u8]) {
        let mut head = vec![PLANE];
        put(&mut head, stage);
        plane.sides.iter().for_each(|&side| put(&mut head, side));
        head.extend(plane.scale.to_le_bytes());
        head.extend(plane.value.to_le_bytes());
        self.append(region, What::Plane { stage: stage as u32, set }, &[&head, proof], vec![]);
    }

    /// That a disjunct is closed on a region: `what` is 0 for combinations of its rows, else the row's number and 1. The proof may
    /// use half-spaces.
    pub fn close(&mut self, region: RegionId, disjunct: usize, what: usize, proof: &[u8], planes: Option<PlaneSet>) {
        let mut head = vec![CLOSE];
        put(&mut head, disjunct);
        put(&mut head, what);
        self.closed.insert((region, disjunct));
        self.append(region, What::Close { planes }, &[&head, proof], vec![]);
    }

    /// That disjuncts are closed on a region by cells, of which some have records of their own that belong at places of the tree.
    pub fn cells(&mut self, region: RegionId, disjuncts: &[usize], tree: &[u8], places: &[(usize, RegionId)]) {
        let mut head = vec![CELLS];
        put_list(&mut head, disjuncts);
        self.closed.extend(disjuncts.iter().map(|disjunct| (region, *disjunct)));
        let holes = places.iter().map(|(at, cell)| ((head.len() + at) as u64, *cell)).collect();
        self.append(region, What::CLOSE, &[&head, tree], holes);
    }

    /// That a leaf of another proof is closed by this sub-tree, and where the records of cells belong in it.
    pub fn piece(&mut self, leaf: usize, tree: &[u8], places: &[(usize, RegionId)]) {
        let region = self.region(vec![], true);
        let holes = places.iter().map(|(at, cell)| (*at as u64, *cell)).collect();
        self.append(region, What::CLOSE, &[tree], holes);
        self.pieces.insert(leaf, region);
    }

    /// Trouble with the file is told at the end.
    fn append(&mut self, region: RegionId, what: What, parts: &[&[u8]], holes: Vec<(u64, RegionId)>) {
        let length = parts.iter().map(|part| part.len() as u64).sum();
        for part in parts {
            self.trouble = self.trouble.take().or(self.file.write_all(part).err());
        }
        self.entries.push(Entry { region, what, offset: self.offset, length, holes });
        self.offset += length;
    }

    /// Which entries of a region something uses, by a pass from the end; what comes after it may use all bounds of an open one.
    fn needed(entries: Vec<&Entry>, stages: usize, sides: usize, is_open: bool) -> Vec<&Entry> {
        if entries.iter().all(|entry| matches!(entry.what, What::Close { .. })) {
            return entries;
        }
        // When, counted from the end, a stage was last used, and a side last found.
        let (mut used, mut found) = (vec![u64::from(is_open); stages], vec![0u64; sides]);
        let (mut needed, mut sets) = (Vec::new(), BTreeSet::new());
        for (now, entry) in (2..).zip(entries.into_iter().rev()) {
            let before = match entry.what {
                What::Bound { stage, side } if used[stage as usize] > found[side as usize] => {
                    found[side as usize] = now;
                    stage as usize
                }
                What::Plane { stage, set } if sets.contains(&set) => stage as usize,
                What::Bound { .. } | What::Plane { .. } => continue,
                What::Close { planes } => {
                    sets.extend(planes);
                    stages
                }
            };
            used[..before].fill(now);
            needed.push(entry);
        }
        needed.reverse();
        needed
    }

    /// How many goals have no record: disjuncts that no region closes, and those that a cell was to close and has not.
    fn lacking(&self, disjuncts: usize) -> usize {
        let is_closed = |region: usize, disjunct: usize| self.closed.contains(&(region as RegionId, disjunct));
        let (mut is_shown, mut lacking) = (vec![false; disjuncts], 0);
        for (number, region) in self.regions.iter().enumerate() {
            for &disjunct in &region.numbers {
                match (region.is_cell, is_closed(number, disjunct)) {
                    (false, closed) => is_shown[disjunct] |= closed,
                    (true, closed) => lacking += usize::from(!closed),
                }
            }
        }
        lacking + is_shown.iter().filter(|shown| !**shown).count()
    }

    /// Writes the certificate and puts it in its place.
    pub fn finish(mut self, heading: &Heading, disjuncts: usize) -> io::Result<Written> {
        self.settle()?;
        match self.lacking(disjuncts) {
            0 => {}
            lacking => {
                return Err(io::Error::other(format!("{lacking} goals were closed by steps that it cannot tell")));
            }
        }
        let mut certificate = Certificate::new(&self.path, heading)?;
        let entries = self.entries(&heading.widths, &[]);
        for (number, region) in self.regions.iter().enumerate().filter(|(_, region)| !region.is_cell) {
            certificate.begin_region(&region.numbers)?;
            certificate.records += self.copy(&entries, number as RegionId, &mut certificate.out)?;
            certificate.end_region()?;
        }
        certificate.finish()
    }

    /// The regions so far, of which some are still open, to a file of their own. With the place of each among the pieces.
    pub fn keep_regions(
        mut self,
        path: &Path,
        widths: &[usize],
        open: &[RegionId],
    ) -> io::Result<(Kept, BTreeMap<RegionId, usize>)> {
        self.settle()?;
        let entries = self.entries(widths, open);
        let regions = self.regions.iter().enumerate().filter(|(_, region)| !region.is_cell);
        let regions: Vec<(RegionId, &[usize])> = regions.map(|(n, r)| (n as RegionId, &r.numbers[..])).collect();
        let places = regions.iter().enumerate().map(|(place, (number, _))| (*number, place)).collect();
        Ok((self.keep(path, &entries, &regions)?, places))
    }

    /// The sub-trees of so many leaves to a file of their own; all of them, or it is an error.
    pub fn keep_pieces(mut self, path: &Path, widths: &[usize], leaves: usize) -> io::Result<Kept> {
        match (leaves - self.pieces.len()) + self.lacking(0) {
            0 => {}
            lacking => {
                return Err(io::Error::other(format!("{lacking} goals were closed by steps that it cannot tell")));
            }
        }
        self.settle()?;
        let entries = self.entries(widths, &[]);
        let pieces: Vec<(RegionId, &[usize])> = self.pieces.values().map(|region| (*region, &[][..])).collect();
        self.keep(path, &entries, &pieces)
    }

    /// After the last record: the trouble that there was.
    fn settle(&mut self) -> io::Result<()> {
        self.trouble.take().map_or(Ok(()), Err)?;
        self.file.flush()
    }

    fn keep(&self, path: &Path, entries: &[Vec<&Entry>], regions: &[(RegionId, &[usize])]) -> io::Result<Kept> {
        let (mut out, mut pieces) = (Hashed::new(path)?, Vec::with_capacity(regions.len()));
        for (region, disjuncts) in regions {
            let before = out.bytes;
            let records = self.copy(entries, *region, &mut out)?;
            pieces.push(Piece { disjuncts: disjuncts.to_vec(), bytes: out.bytes - before, records });
        }
        Ok(Kept { sha256: out.finish()?.1, pieces })
    }

    /// The entries of each region that something uses.
    fn entries(&self, widths: &[usize], open: &[RegionId]) -> Vec<Vec<&Entry>> {
        let sides = 2 * widths.iter().sum::<usize>();
        let mut entries: Vec<Vec<&Entry>> = self.regions.iter().map(|_| vec![]).collect();
        self.entries.iter().for_each(|entry| entries[entry.region as usize].push(entry));
        let needed =
            |(region, entries)| Journal::needed(entries, widths.len(), sides, open.contains(&(region as RegionId)));
        entries.into_iter().enumerate().map(needed).collect()
    }

    /// Copies the records of a region, with those of its cells; how many that are.
    fn copy(&self, entries: &[Vec<&Entry>], region: RegionId, out: &mut Hashed) -> io::Result<u64> {
        let (mut journal, mut buffer) = (self.file.get_ref(), Vec::new());
        let mut records = entries[region as usize].len() as u64;
        if self.pieces.values().any(|piece| *piece == region) {
            records = 0;
        }
        for entry in &entries[region as usize] {
            journal.seek(SeekFrom::Start(entry.offset))?;
            buffer.resize(entry.length as usize, 0);
            journal.read_exact(&mut buffer)?;
            let mut from = 0;
            for (at, cell) in &entry.holes {
                out.put(&buffer[from..*at as usize])?;
                records += self.copy(entries, *cell, out)? + 1;
                out.put(&[CLOSED])?;
                from = *at as usize;
            }
            out.put(&buffer[from..])?;
        }
        Ok(records)
    }
}

/// Seven bits a byte, the lowest first.
pub fn put(bytes: &mut Vec<u8>, mut number: usize) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Ascending numbers, by how many lie between each and the one before.
fn put_list(bytes: &mut Vec<u8>, numbers: &[usize]) {
    put(bytes, numbers.len());
    let mut next = 0;
    for &number in numbers {
        put(bytes, number - next);
        next = number + 1;
    }
}
