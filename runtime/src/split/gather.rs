//! What a folder holds: the root's trees, and what became of the parts that their leaves belong to.

use super::answer::Answer;
use super::files::{Folder, OpenedPart, Place, Split};
use crate::property::Property;
use crate::report::Counters;
use std::path::PathBuf;

/// What was found, besides the trees.
#[derive(Default)]
pub struct Gathered {
    /// Parts that are open.
    pub open: Vec<OpenPart>,
    /// Inputs that parts have called counterexamples, and the files that say so.
    pub witnesses: Vec<(PathBuf, Vec<f32>)>,
    pub counters: Counters,
    pub seconds: f64,
}

pub struct OpenPart {
    pub name: Vec<usize>,
    /// If its file is there.
    pub part: Option<OpenedPart>,
    pub why: String,
    /// The seconds that were not enough for it.
    pub timed_out: Option<f64>,
}

/// Trees with what became of their leaves.
pub struct Trees {
    pub split: Split,
    /// For each leaf its part and its place there, if it belongs to one.
    pub owners: Vec<Option<(usize, usize)>>,
    pub parts: Vec<Found>,
}

/// What became of a part.
pub enum Found {
    /// Its answer was `unsat`.
    Closed(Box<Answer>, Vec<usize>),
    Split(Box<Trees>),
    Open,
}

impl Gathered {
    /// Reads all files. One that is damaged or about something else is an error; a part that is missing is open.
    pub fn read(folder: &Folder, property: &Property) -> Result<(Gathered, Trees), String> {
        let mut gathered = Gathered::default();
        let (root, digest) = folder.root()?;
        let leaves = folder.leaves(&root, property)?;
        let trees = gathered.trees(folder, &[], (root, &digest), &leaves)?;
        Ok((gathered, trees))
    }

    fn trees(
        &mut self,
        folder: &Folder,
        prefix: &[usize],
        (split, digest): (Split, &str),
        leaves: &[Place],
    ) -> Result<Trees, String> {
        if let Some(number) = folder.numbers(prefix)?.into_iter().find(|number| !(1..=split.parts).contains(number)) {
            let path = folder.path(&[prefix, &[number]].concat(), "");
            return Err(format!("{}: there are {} parts, and this is none of them", path.display(), split.parts));
        }
        if split.parts > leaves.len() {
            return Err(format!("{}: there are more parts than leaves", folder.dir.display()));
        }
        let (mut owners, mut parts) = (vec![None; leaves.len()], vec![]);
        for number in 1..=split.parts {
            let name = [prefix, &[number]].concat();
            let Some(part) = folder.part(&name, digest, leaves)? else {
                let why = "its file is missing".into();
                self.open.push(OpenPart { name, part: None, why, timed_out: None });
                parts.push(Found::Open);
                continue;
            };
            for (place, leaf) in part.part.leaves.iter().enumerate() {
                if let Some((other, _)) = owners[leaf.number].replace((number - 1, place)) {
                    let (path, other) = (folder.path(&name, ""), other + 1);
                    return Err(format!("{}: a leaf of it belongs to part {other} as well", path.display()));
                }
            }
            parts.push(self.part(folder, part)?);
        }
        Ok(Trees { split, owners, parts })
    }

    fn part(&mut self, folder: &Folder, part: OpenedPart) -> Result<Found, String> {
        let answer = Answer::read(folder, &part)?;
        if let Some(answer) = &answer {
            self.counters.add(&answer.counters);
            self.seconds += answer.seconds;
            if answer.verdict == "unsat" {
                return Ok(Found::Closed(Box::new(answer.clone()), part.name));
            }
        }
        if let Some(input) = answer.as_ref().and_then(|answer| answer.witness.as_ref()) {
            let input = input.iter().map(|&bits| f32::from_bits(bits)).collect();
            self.witnesses.push((folder.path(&part.name, ".result"), input));
        } else if let Some((split, digest)) = folder.split(&part)? {
            let leaves = folder.leaves_below(&split, &part)?;
            let trees = self.trees(folder, &part.name, (split, &digest), &leaves)?;
            return Ok(Found::Split(Box::new(trees)));
        }
        let timed_out = answer.as_ref().filter(|answer| answer.verdict == "timeout").map(|answer| answer.seconds);
        let why = match answer {
            None => "it was not solved".into(),
            Some(Answer { verdict, reason, .. }) => reason.unwrap_or(verdict),
        };
        self.open.push(OpenPart { name: part.name.clone(), part: Some(part), why, timed_out });
        Ok(Found::Open)
    }
}
