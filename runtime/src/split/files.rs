//! The files of a folder, and how each is found by the one before it: the root, its parts, and parts of parts.

use super::sealed::{self, floats};
use super::tree::{Cell, Kind, Tree};
use crate::bounds::Guide;
use crate::certificate::Kept;
use crate::options::Semantics;
use crate::property::{InputBox, Property};
use pg_core::Network;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What writes the files.
const TOOL: &str = concat!("pg-codegen ", env!("CARGO_PKG_VERSION"));

/// What all files of a folder are about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub tool: String,
    /// Digests.
    pub model: String,
    pub property: String,
    pub semantics: Semantics,
    /// Of the hidden stages.
    pub widths: Vec<usize>,
}

impl About {
    pub fn new(network: &dyn Network, property: String, semantics: Semantics) -> About {
        let shape = network.shape();
        let widths = shape.stages[..shape.last()].iter().map(|stage| stage.width()).collect();
        About { tool: TOOL.into(), model: network.model().sha256.into(), property, semantics, widths }
    }

    fn check(&self, asked: &About, path: &Path) -> Result<(), String> {
        let differs = if self.model != asked.model {
            "another model"
        } else if self.property != asked.property {
            "another property"
        } else if self.semantics != asked.semantics {
            "other semantics"
        } else if self.tool != asked.tool {
            return Err(format!("{}: written by {}, and this is {}", path.display(), self.tool, asked.tool));
        } else if self.widths != asked.widths {
            "another network of the same name"
        } else {
            return Ok(());
        };
        Err(format!("{}: about {differs} than what was asked", path.display()))
    }
}

/// Trees, and how many parts their open leaves were dealt to. The leaves of all trees are numbered through.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Split {
    pub about: About,
    pub of: Of,
    pub trees: Vec<Tree>,
    pub parts: usize,
}

/// What the trees stand for.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Of {
    /// What the root has not closed.
    Root(Root),
    /// The leaves of the part with this digest.
    Part(String),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Root {
    /// Disjuncts that it has closed.
    pub settled: Vec<usize>,
    /// For a certificate.
    pub records: Kept,
    pub start: Start,
}

/// Where a root's trees begin.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// A tree for each box of the property with open disjuncts, which are these.
    Cells(Vec<Vec<usize>>),
    /// A tree for each goal of each region.
    Phases(Vec<OpenRegion>),
}

/// A region with the bounds of all neurons that the root's work has left.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenRegion {
    /// Its place among the root's records.
    pub place: usize,
    pub lower: Vec<u64>,
    pub upper: Vec<u64>,
    pub goals: Vec<OpenGoal>,
}

/// A goal with the multipliers that those of its tree's leaves are told from.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenGoal {
    pub disjunct: usize,
    pub root: Guide,
    /// The same for a certificate.
    pub changes: Vec<u8>,
}

/// Leaves to close.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    pub about: About,
    /// The digest of the file with its leaves' trees.
    pub of: String,
    pub number: usize,
    pub leaves: Vec<Leaf>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub struct Leaf {
    pub number: usize,
    /// Multipliers to begin with, of phases.
    pub guide: Option<Guide>,
}

/// What a leaf is, by the way to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    Cell(Cell),
    /// The number of a goal among those of all regions, and hidden neurons that are on or off.
    Phases(usize, Vec<(usize, bool)>),
}

/// The box of a region, by what a question is about.
pub fn enclosure(region: &InputBox, semantics: Semantics) -> (Vec<f64>, Vec<f64>) {
    match semantics {
        Semantics::Real => region.enclosure(),
        Semantics::Float32 => region.program_enclosure(),
    }
}

impl Start {
    /// What each tree begins with.
    pub fn places(&self, property: &Property, semantics: Semantics) -> Result<Vec<Place>, String> {
        match self {
            Start::Cells(boxes) => boxes.iter().map(|open| root_cell(open, property, semantics)).collect(),
            Start::Phases(regions) => {
                regions.iter().try_for_each(|region| region.check(property))?;
                let goals = regions.iter().map(|region| region.goals.len()).sum();
                Ok((0..goals).map(|goal| Place::Phases(goal, vec![])).collect())
            }
        }
    }
}

/// The whole box of some disjuncts, ascending.
fn root_cell(open: &[usize], property: &Property, semantics: Semantics) -> Result<Place, String> {
    let region = common_box(open, property)?;
    let (lower, upper) = enclosure(region, semantics);
    Ok(Place::Cell(Cell { lower, upper, depth: 0, open: open.to_vec() }))
}

fn common_box<'p>(open: &[usize], property: &'p Property) -> Result<&'p Arc<InputBox>, String> {
    let mut boxes = open.iter().map(|&disjunct| property.disjuncts.get(disjunct).map(|disjunct| &disjunct.region));
    let first = boxes.next().flatten().ok_or("a box has no disjunct of the property")?;
    let is_common = boxes.all(|region| region.is_some_and(|region| Arc::ptr_eq(region, first)));
    if !is_common || !open.is_sorted_by(|a, b| a < b) {
        return Err("disjuncts of one box are of several".into());
    }
    Ok(first)
}

impl OpenRegion {
    fn check(&self, property: &Property) -> Result<(), String> {
        common_box(&self.disjuncts(), property).map(|_| ())
    }

    fn disjuncts(&self) -> Vec<usize> {
        let mut disjuncts: Vec<usize> = self.goals.iter().map(|goal| goal.disjunct).collect();
        disjuncts.sort_unstable();
        disjuncts
    }

    /// Lower and upper bounds of all neurons.
    pub fn ends(&self) -> (Vec<f64>, Vec<f64>) {
        (floats(&self.lower), floats(&self.upper))
    }
}

impl Split {
    /// The open leaves of all trees, which begin with the given places.
    pub fn leaves(&self, starts: Vec<Place>) -> Result<Vec<Place>, String> {
        if self.trees.len() != starts.len() {
            return Err("there is not a tree for each place".into());
        }
        let (mut leaves, hidden) = (vec![], self.about.widths.iter().sum());
        for (tree, start) in self.trees.iter().zip(starts) {
            tree.walk(start, |place, node| {
                let place = place.less(&node.lost)?;
                match &node.kind {
                    Kind::Open => leaves.push(place),
                    Kind::Closed(_) if matches!(&place, Place::Cell(cell) if !cell.open.is_empty()) => {
                        return Err("a cell is closed and its disjuncts are not".into());
                    }
                    Kind::Closed(_) => {}
                    kind => return place.children(kind, hidden).map(Some),
                }
                Ok(None)
            })?;
        }
        Ok(leaves)
    }
}

impl Place {
    fn less(self, lost: &[usize]) -> Result<Place, String> {
        match self {
            Place::Cell(cell) => cell.less(lost).map(Place::Cell),
            Place::Phases(..) if lost.is_empty() => Ok(self),
            Place::Phases(..) => Err("a tree over phases closes a disjunct of a cell".into()),
        }
    }

    /// What is below it: a cut's halves, or a neuron off and on.
    fn children(&self, kind: &Kind, hidden: usize) -> Result<[Place; 2], String> {
        match (self, kind) {
            (Place::Cell(cell), Kind::Cut { input, at }) => {
                cell.halves(*input, f64::from_bits(*at)).map(|halves| halves.map(Place::Cell))
            }
            (Place::Phases(goal, phases), Kind::Phase(neuron)) => {
                if *neuron >= hidden || phases.iter().any(|(fixed, _)| fixed == neuron) {
                    return Err("a tree splits a neuron that is none, or fixed".into());
                }
                let child = |on| Place::Phases(*goal, [&phases[..], &[(*neuron, on)]].concat());
                Ok([child(false), child(true)])
            }
            _ => Err("a tree is of another kind than its root".into()),
        }
    }
}

/// A folder, and what its files have to be about.
pub struct Folder {
    pub dir: PathBuf,
    pub about: About,
}

/// A part with what its leaves are.
pub struct OpenedPart {
    pub name: Vec<usize>,
    pub part: Part,
    pub digest: String,
    pub places: Vec<Place>,
}

impl Split {
    /// The root's own part of what it holds.
    pub fn root(&self) -> Result<&Root, String> {
        match &self.of {
            Of::Root(root) => Ok(root),
            Of::Part(_) => Err("not the root of a question".into()),
        }
    }
}

impl Folder {
    /// The root's file and its digest.
    pub fn root(&self) -> Result<(Split, String), String> {
        let path = self.dir.join("root");
        let found = sealed::read::<Split>(&path, "root")?;
        let none = || format!("{}: there is no such file, so nothing was split here", path.display());
        let (root, digest) = found.ok_or_else(none)?;
        root.about.check(&self.about, &path)?;
        Ok((root, digest))
    }

    /// What the root's leaves are.
    pub fn leaves(&self, root: &Split, property: &Property) -> Result<Vec<Place>, String> {
        let leaves = || root.leaves(root.root()?.start.places(property, self.about.semantics)?);
        leaves().map_err(|e| format!("{}: {e}", self.dir.join("root").display()))
    }

    /// A file of a part, or one beside it.
    pub fn path(&self, name: &[usize], ending: &str) -> PathBuf {
        let numbers: Vec<String> = name.iter().map(usize::to_string).collect();
        self.dir.join(numbers.join(".") + ending)
    }

    /// A part of the trees with this digest and these leaves; `None` if there is no such file.
    pub fn part(&self, name: &[usize], of: &str, leaves: &[Place]) -> Result<Option<OpenedPart>, String> {
        let path = self.path(name, "");
        let Some((part, digest)) = sealed::read::<Part>(&path, "part")? else { return Ok(None) };
        part.about.check(&self.about, &path)?;
        let about = |what: &str| Err(format!("{}: {what}", path.display()));
        if part.of != of {
            return about("a part of another root than the one in this folder");
        }
        if Some(&part.number) != name.last() {
            return about(&format!("this is part {}; a part is given twice, or under another name", part.number));
        }
        let numbers = || part.leaves.iter().map(|leaf| leaf.number);
        if !numbers().is_sorted_by(|a, b| a < b) || numbers().any(|number| number >= leaves.len()) {
            return about("it names leaves that there are not");
        }
        let places = numbers().map(|number| leaves[number].clone()).collect();
        Ok(Some(OpenedPart { name: name.to_vec(), part, digest, places }))
    }

    /// The trees that a part was split into, and their digest; `None` if it was not.
    pub fn split(&self, part: &OpenedPart) -> Result<Option<(Split, String)>, String> {
        let path = self.path(&part.name, ".split");
        let Some((split, digest)) = sealed::read::<Split>(&path, "split")? else { return Ok(None) };
        split.about.check(&self.about, &path)?;
        if split.of != Of::Part(part.digest.clone()) {
            return Err(format!("{}: it splits another part than the one in this folder", path.display()));
        }
        Ok(Some((split, digest)))
    }

    /// The part of this name, by way of all those that it was split from.
    pub fn find(
        &self,
        name: &[usize],
        (root, digest): (&Split, &str),
        property: &Property,
    ) -> Result<OpenedPart, String> {
        let (mut of, mut leaves) = (digest.to_string(), self.leaves(root, property)?);
        for length in 1..=name.len() {
            let missing =
                |ending: &str| format!("{}: there is no such file", self.path(&name[..length], ending).display());
            let part = self.part(&name[..length], &of, &leaves)?.ok_or_else(|| missing(""))?;
            if length == name.len() {
                return Ok(part);
            }
            let (split, digest) = self.split(&part)?.ok_or_else(|| missing(".split"))?;
            (leaves, of) = (self.leaves_below(&split, &part)?, digest);
        }
        Err(format!("{}: name a part, such as {}", self.dir.display(), self.path(&[1], "").display()))
    }

    /// The leaves of the trees that a part was split into.
    pub fn leaves_below(&self, split: &Split, part: &OpenedPart) -> Result<Vec<Place>, String> {
        let leaves = split.leaves(part.places.clone());
        leaves.map_err(|e| format!("{}: {e}", self.path(&part.name, ".split").display()))
    }

    /// Numbers of parts of a part whose files are here, or of the root.
    pub fn numbers(&self, prefix: &[usize]) -> Result<Vec<usize>, String> {
        let entries = std::fs::read_dir(&self.dir).map_err(|e| format!("{}: {e}", self.dir.display()))?;
        let names = entries.flatten().filter_map(|entry| numbers(&entry.file_name().to_string_lossy()));
        let below = |name: Vec<usize>| name.strip_prefix(prefix).filter(|rest| rest.len() == 1).map(|rest| rest[0]);
        Ok(names.filter_map(below).collect())
    }
}

/// A part's name.
fn numbers(name: &str) -> Option<Vec<usize>> {
    name.split('.').map(|number| number.parse().ok()).collect()
}

/// The folder and the number of a part's file.
pub fn part_of(path: &Path) -> Result<(PathBuf, Vec<usize>), String> {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let numbers = numbers(name);
    let numbers = numbers.ok_or_else(|| format!("{}: parts are named by numbers, such as DIR/3", path.display()))?;
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((dir.to_path_buf(), numbers))
}

/// Writes the trees and their parts; a reader finds all of it or, before the trees are there, nothing.
pub fn write(folder: &Path, prefix: &[usize], split: &Split, hands: Vec<Vec<Leaf>>) -> Result<(), String> {
    let is_root = prefix.is_empty();
    let sealed = sealed::Sealed::new(if is_root { "root" } else { "split" }, split);
    let name = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(".");
    for (number, leaves) in (1..).zip(hands) {
        let part = Part { about: split.about.clone(), of: sealed.digest.clone(), number, leaves };
        let path = folder.join(name(&[prefix, &[number]].concat()));
        sealed::Sealed::new("part", &part).write(&path)?;
    }
    sealed.write(&folder.join(if is_root { "root".into() } else { name(prefix) + ".split" }))
}
