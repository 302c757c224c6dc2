//! What can be done with a folder: split a property into it, solve a part, merge the parts, split a part again.

use super::answer::{Answer, PartProof};
use super::deal::deal;
use super::files::{self, About, Folder, Leaf, Of, OpenedPart, Root, Split};
use super::gather::{Gathered, OpenPart, Trees};
use super::merge;
use crate::certificate::{Heading, Journal, Written};
use crate::options::Semantics;
use crate::program::Program;
use crate::report::Times;
use crate::search::{self, Asked, Frontier, Leaves, OpenLeaf, Outcome};
use crate::verdict::{StopReason, Verdict, Witness};
use std::path::{Path, PathBuf};

/// Beyond this a question is split into no more parts.
pub const MOST_PARTS: usize = 10_000;

/// A file for a certificate, and what it is to say of itself.
pub type Place<'p> = (&'p Path, &'p Heading<'p>);

/// Searches until the time is up; what is open then goes to a folder, which must be new or empty, as so many parts or as many
/// as there are.
pub fn split(
    asked: Asked,
    about: About,
    dir: &Path,
    parts: usize,
    heading: &Heading,
    proof: Option<&Path>,
) -> Result<Outcome, String> {
    let draft = DraftFolder::new(dir)?;
    let records = draft.path.join("root.proof");
    let journal = proof.unwrap_or(&records);
    let journal = Journal::new(journal).map_err(|e| format!("cannot write {}: {e}", journal.display()))?;
    let (mut outcome, found) = search::split(asked, journal, heading, &records, parts, proof.is_some());
    let Some(found) = found else { return Ok(outcome) };
    let hands = hands(found.frontier.leaves, parts);
    let root = Root { settled: found.settled, records: found.records, start: found.start };
    let split = Split { about: about.clone(), of: Of::Root(root), trees: found.frontier.trees, parts: hands.len() };
    let count = hands.len();
    files::write(&draft.path, &[], &split, hands)?;
    if count == 0 {
        // Its first nodes have closed the trees: nothing is left of the folder.
        let folder = Folder { dir: draft.path.clone(), about };
        outcome.verdict = merge(asked, &folder, proof.map(|path| (path, heading)))?.0.verdict;
        return Ok(outcome);
    }
    draft.keep()?;
    outcome.verdict = Verdict::Unknown(StopReason::Split(count));
    Ok(outcome)
}

/// The leaves of each part.
fn hands(leaves: Vec<OpenLeaf>, parts: usize) -> Vec<Vec<Leaf>> {
    if leaves.is_empty() {
        return vec![];
    }
    let work: Vec<f64> = leaves.iter().map(|leaf| leaf.work).collect();
    let mut guides: Vec<_> = leaves.into_iter().map(|leaf| leaf.guide).collect();
    let mut leaf = |number: usize| Leaf { number, guide: guides[number].take() };
    deal(&work, parts).into_iter().map(|hand| hand.into_iter().map(&mut leaf).collect()).collect()
}

/// Solves a part, and writes what came of it beside the part.
pub fn solve(asked: Asked, folder: &Folder, name: &[usize], proof: Option<&Path>) -> Result<Outcome, String> {
    let (root, digest) = folder.root()?;
    let part = folder.find(name, (&root, &digest), asked.property)?;
    let path = folder.path(name, "");
    let journal = proof.map(|path| Journal::new(path).map(|journal| (journal, path))).transpose();
    let journal = journal.map_err(|e| format!("--proof: {e}"))?;
    let solved = search::solve(asked, &leaves(&root, &part)?, journal);
    let (mut outcome, kept) = solved.map_err(|why| format!("{}: {why}", path.display()))?;
    if let (Verdict::Holds(_), Some(proof), Some(kept)) = (&outcome.verdict, proof, &kept) {
        let (bytes, records) = kept.pieces.iter().fold((0, 0), |(b, r), piece| (b + piece.bytes, r + piece.records));
        let written = Written { file: proof.display().to_string(), bytes, records, sha256: kept.sha256.clone() };
        let holds = std::mem::replace(&mut outcome.verdict, Verdict::Unknown(StopReason::Timeout));
        if let Verdict::Holds(proved) = holds {
            outcome.verdict = Verdict::Holds(proved.with(written));
        }
    }
    let kept = kept.zip(proof).map(|(kept, path)| PartProof { file: seen_from(&folder.dir, path), kept });
    outcome.times.total = asked.control.elapsed().as_secs_f64();
    Answer::new(&part, &outcome, kept).write(folder, &part)?;
    Ok(outcome)
}

fn leaves<'l>(root: &'l Split, part: &'l OpenedPart) -> Result<Leaves<'l>, String> {
    let guides = part.part.leaves.iter().map(|leaf| leaf.guide.as_ref()).collect();
    Ok(Leaves { start: &root.root()?.start, places: &part.places, guides, number: part.part.number })
}

/// A file as seen from a folder: by its name if it is in it.
fn seen_from(dir: &Path, path: &Path) -> PathBuf {
    let whole = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let (dir, path) = (whole(dir), whole(path));
    path.strip_prefix(&dir).map_or(path.clone(), Path::to_path_buf)
}

/// What all parts together have shown, and which are open. With a certificate, `unsat` takes one of every part.
pub fn merge(asked: Asked, folder: &Folder, proof: Option<Place>) -> Result<(Outcome, Vec<OpenPart>), String> {
    let (gathered, trees) = Gathered::read(folder, asked.property)?;
    let Gathered { mut open, witnesses, counters, seconds } = gathered;
    let verdict = match witness(asked, &witnesses, folder.about.semantics) {
        Some(witness) => Verdict::Violated(witness),
        None if !witnesses.is_empty() => {
            let (file, _) = &witnesses[0];
            Verdict::Unknown(StopReason::GaveUp(format!("{}: its input is no counterexample", file.display())))
        }
        None => holds(asked, folder, &trees, open.len(), proof)?,
    };
    if !matches!(verdict, Verdict::Unknown(_)) {
        open.clear();
    }
    let times = Times { total: seconds, ..Times::default() };
    Ok((Outcome { verdict, counters, times, tuning: asked.tuning.hash() }, open))
}

/// The first of some inputs that violates the whole property.
fn witness(asked: Asked, inputs: &[(PathBuf, Vec<f32>)], semantics: Semantics) -> Option<Witness> {
    let program = (semantics == Semantics::Float32).then(|| Program::of(asked.network));
    let network = program.as_ref().map_or(asked.network, |program| program as _);
    let inputs = inputs.iter().filter(|(_, input)| input.len() == network.inputs());
    inputs.filter_map(|(_, input)| Witness::replay(network, asked.property, semantics, input)).next()
}

fn holds(asked: Asked, folder: &Folder, trees: &Trees, open: usize, proof: Option<Place>) -> Result<Verdict, String> {
    let about = |e: String| format!("{}: {e}", folder.dir.join("root").display());
    let gave_up = |why: String| Ok(Verdict::Unknown(StopReason::GaveUp(why)));
    match (merge::prove(trees, asked.property.disjuncts.len()).map_err(about)?, proof) {
        (Err(_), _) if open > 0 => Ok(Verdict::Unknown(StopReason::Split(open))),
        (Err(_), _) => gave_up("there are leaves that belong to no part".into()),
        (Ok(proved), None) => Ok(Verdict::Holds(proved)),
        (Ok(proved), Some((path, heading))) => match merge::certify(folder, trees, path, heading) {
            Ok(written) => Ok(Verdict::Holds(proved.with(written))),
            Err(why) => gave_up(why),
        },
    }
}

/// Splits an open part into so many of its own, or as many as there are: how many.
pub fn split_again(asked: Asked, folder: &Folder, open: &OpenedPart, parts: usize) -> Result<(Outcome, usize), String> {
    let (root, _) = folder.root()?;
    let path = folder.path(&open.name, "");
    let found = search::split_again(asked, &leaves(&root, open)?, parts);
    let (outcome, found) = found.map_err(|why| format!("{}: {why}", path.display()))?;
    let Some(Frontier { trees, leaves }) = found else { return Ok((outcome, 0)) };
    let hands = hands(leaves, parts);
    let (of, count) = (Of::Part(open.digest.clone()), hands.len());
    files::write(&folder.dir, &open.name, &Split { about: folder.about.clone(), of, trees, parts: count }, hands)?;
    Ok((outcome, count))
}

/// A folder that is written beside its place, and is there when it is whole.
struct DraftFolder<'d> {
    dir: &'d Path,
    path: PathBuf,
}

impl<'d> DraftFolder<'d> {
    fn new(dir: &'d Path) -> Result<DraftFolder<'d>, String> {
        let about = |e: std::io::Error| format!("cannot write {}: {e}", dir.display());
        let is_taken = match std::fs::read_dir(dir) {
            Ok(mut entries) => entries.next().is_some(),
            Err(_) => dir.exists(),
        };
        if is_taken {
            return Err(format!("{}: there are other things; give a new or an empty folder", dir.display()));
        }
        let name = dir.file_name().ok_or_else(|| format!("{}: no folder of this name", dir.display()))?;
        let parent = dir.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let path = parent.join(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
        std::fs::create_dir_all(&path).map_err(about)?;
        Ok(DraftFolder { dir, path })
    }

    fn keep(self) -> Result<(), String> {
        std::fs::rename(&self.path, self.dir).map_err(|e| format!("cannot write {}: {e}", self.dir.display()))
    }
}

impl Drop for DraftFolder<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}
