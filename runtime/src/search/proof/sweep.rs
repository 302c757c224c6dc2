//! The sweep of a tail: where a stage that is a cut has few live neurons, the rest of the network is a function of those few.
//!
//! Their bounds are a box of few dimensions. It is halved, and halved again, until the bounds of the stages after it exclude a
//! goal on every piece: every input of the network leads to a point of some piece, so that closes the goal. Half-spaces of
//! every two neurons cut off what inputs do not reach. A goal that the tail violates somewhere in what is left of the box is
//! left to others, who know which points can be reached.

use super::planes::Plane;
use super::reason::{Positive, Reason};
use super::region::{Goal, Region, goal_rows};
use super::tree::{Settled, Ticket, Tree};
use super::tree_log::{Begins, Split, TreeLog};
use crate::bounds::{Bounds, Compact, Emptiness, Objective32};
use crate::report::Activity;
use crate::search::guide::attack::attack;
use crate::search::journal::{empty_leaf, tail_leaf};
use crate::search::{End, Search};
use crate::tuning::Steps;
use pg_core::Source;

/// A box of the live activations of the narrow stage, and the goals that are open there.
struct Piece {
    lower: Vec<f64>,
    upper: Vec<f64>,
    goals: Vec<OpenGoal>,
    /// How often it was halved.
    depth: usize,
}

/// A goal that is open on a piece: its number, and its tree's part there with that part's number in the log.
struct OpenGoal {
    goal: usize,
    ticket: Ticket,
    node: u32,
}

/// What a sweep has shown of a goal, and what a certificate needs of it.
pub type Swept = (Settled, Option<TreeLog>);

impl Piece {
    /// Clips the piece to the half-spaces; false if nothing is left.
    fn clip(&mut self, lowest: &[f64], planes: &[Plane]) -> bool {
        planes.iter().all(|plane| plane.clip(lowest, &mut self.lower, &mut self.upper))
    }

    /// The goals that a test keeps stay; the tickets of the others are dropped.
    fn keep(&mut self, test: impl Fn(usize) -> bool) {
        self.goals.retain(|open| test(open.goal));
    }
}

/// A sweep under way: for each goal its tree of pieces, and whether it may still be closed.
struct Sweep<'s> {
    stage: usize,
    live: Vec<usize>,
    /// Lower bounds of the live neurons themselves, which an activation of 0 may be down to.
    lowest: Vec<f64>,
    planes: &'s [Plane],
    trees: Vec<Tree>,
    /// For a certificate, else empty.
    logs: Vec<TreeLog>,
    is_hopeful: Vec<bool>,
}

impl Sweep<'_> {
    /// Closes the goals of a piece that have a reason: multipliers are of the tail behind it.
    fn close(
        &mut self,
        region: &Region,
        piece: &mut Piece,
        tail: Option<&Compact>,
        reason: impl Fn(usize) -> Option<Reason>,
    ) {
        for open in std::mem::take(&mut piece.goals) {
            let Some(reason) = reason(open.goal) else {
                piece.goals.push(open);
                continue;
            };
            if let Some(log) = self.logs.get_mut(open.goal) {
                if self.stage + 1 < region.bounder.shape.last() {
                    log.bounded(open.node, self.stage + 1);
                }
                let rows = region.goals[open.goal].disjunct.rows.len();
                let leaf = match (&reason, tail) {
                    (Reason::Empty, _) => Some(empty_leaf(rows)),
                    (Reason::Raised { what: Positive::Row(row), node }, Some(tail)) => {
                        tail_leaf(region, tail, (*row, rows), node)
                    }
                    _ => None,
                };
                log.close(open.node, leaf);
            }
            self.trees[open.goal].close(open.ticket, &reason);
        }
    }

    /// Whether a point of the narrow stage, padded, lies within the half-spaces.
    fn allows(&self, x: &[f32]) -> bool {
        let at: Vec<f64> = x[..self.live.len()].iter().map(|&x| x.into()).collect();
        Piece { lower: at.clone(), upper: at, goals: vec![], depth: 0 }.clip(&self.lowest, self.planes)
    }

    /// The halves of a piece, along the side that moves the stages that read it most. They share their border and cover it. The
    /// stage's first neuron has the given number among all.
    fn halves(&mut self, piece: Piece, effects: &[f64], start: usize) -> [Piece; 2] {
        let effect = |d: usize| (piece.upper[d] - piece.lower[d]) * effects[d];
        let side = (0..self.live.len()).max_by(|&a, &b| effect(a).total_cmp(&effect(b))).expect("a live neuron");
        let middle = piece.lower[side] + (piece.upper[side] - piece.lower[side]) / 2.0;
        let (mut below, mut above) = (piece.upper.clone(), piece.lower.clone());
        (below[side], above[side]) = (middle, middle);
        let (mut first, mut second) = (vec![], vec![]);
        for OpenGoal { goal, ticket, node } in piece.goals {
            let cut = Split::At(start + self.live[side], middle);
            let nodes = self.logs.get_mut(goal).map_or([0; 2], |log| log.split(node, cut));
            let [one, other] = self.trees[goal].split(ticket);
            first.push(OpenGoal { goal, ticket: one, node: nodes[0] });
            second.push(OpenGoal { goal, ticket: other, node: nodes[1] });
        }
        [
            Piece { lower: piece.lower, upper: below, goals: first, depth: piece.depth + 1 },
            Piece { lower: above, upper: piece.upper, goals: second, depth: piece.depth + 1 },
        ]
    }
}

impl<'a> Search<'a> {
    /// Sweeps what is behind a stage, in so many pieces at most and within half-spaces; for each goal the evidence, if it is
    /// closed.
    pub fn sweep(
        &mut self,
        region: &Region<'a>,
        stage: usize,
        planes: &[Plane],
        pieces_left: u64,
    ) -> Result<Vec<Option<Swept>>, End> {
        self.control.enter(Activity::Tail);
        let (mut sweep, whole) = self.begin_sweep(region, stage, planes);
        let effects = self.effects(stage, &sweep.live);
        let mut pieces = vec![whole];
        for _ in 0..pieces_left {
            let Some(mut piece) = pieces.pop() else { break };
            self.go_on()?;
            self.control.add_nodes(1);
            piece.keep(|goal| sweep.is_hopeful[goal]);
            if piece.goals.is_empty() {
                continue;
            }
            if !piece.clip(&sweep.lowest, planes) {
                sweep.close(region, &mut piece, None, |_| Some(Reason::Empty));
                continue;
            }
            self.bound_piece(region, &mut sweep, &mut piece);
            piece.keep(|goal| sweep.is_hopeful[goal]);
            if piece.depth == self.tuning.tail.halvings * sweep.live.len() {
                piece.goals.iter().for_each(|open| sweep.is_hopeful[open.goal] = false);
            } else if !piece.goals.is_empty() {
                pieces.extend(sweep.halves(piece, &effects, self.shape.start(stage)));
            }
        }
        let mut logs = sweep.logs.into_iter();
        let swept = |tree: &Tree| {
            let log = logs.next();
            tree.settled().map(|settled| (settled, log))
        };
        Ok(sweep.trees.iter().map(swept).collect())
    }

    fn begin_sweep<'s>(&self, region: &Region<'a>, stage: usize, planes: &'s [Plane]) -> (Sweep<'s>, Piece) {
        let bounds = &region.bounds;
        let live: Vec<usize> = bounds.live(stage).collect();
        let swept = |goal: &Goal| !goal.rows.is_empty() && !goal.rows.iter().any(|row| row.has_inputs());
        let (trees, tickets): (Vec<Tree>, Vec<Ticket>) = region.goals.iter().map(|_| Tree::plant()).unzip();
        let whole = Piece {
            lower: live.iter().map(|&j| bounds.lower(stage)[j].max(0.0)).collect(),
            upper: live.iter().map(|&j| bounds.upper(stage)[j]).collect(),
            goals: (0..).zip(tickets).map(|(goal, ticket)| OpenGoal { goal, ticket, node: 0 }).collect(),
            depth: 0,
        };
        let lowest = live.iter().map(|&j| bounds.lower(stage)[j]).collect();
        let log = |_: &Goal| self.proves().then(|| TreeLog::new(Begins::Behind(stage)));
        let (logs, is_hopeful) = (region.goals.iter().filter_map(log), region.goals.iter().map(swept));
        let (logs, is_hopeful) = (logs.collect(), is_hopeful.collect());
        (Sweep { stage, live, lowest, planes, trees, logs, is_hopeful }, whole)
    }

    /// How much each live neuron moves the stages that read it.
    fn effects(&self, stage: usize, live: &[usize]) -> Vec<f64> {
        let mut effects = vec![0.0; live.len()];
        let edges = self.shape.stages.iter().flat_map(|later| later.edges);
        for edge in edges.filter(|edge| edge.from == Source::Stage(stage)) {
            let mut weights = vec![0.0; live.len()];
            for j in 0..edge.map.rows() {
                edge.map.pick(j, live, &mut weights);
                effects.iter_mut().zip(&weights).for_each(|(sum, w)| *sum += f64::from(*w).abs());
            }
        }
        effects
    }

    /// Closes the goals that the piece's bounds exclude; gives up those that the tail seems to violate somewhere in it.
    fn bound_piece(&mut self, region: &Region<'a>, sweep: &mut Sweep, piece: &mut Piece) {
        let mut bounds = region.bounds.clone();
        if self.bound_tail(&mut bounds, sweep.stage, piece).is_err() {
            return sweep.close(region, piece, None, |_| Some(Reason::Empty));
        }
        let compact = self.tail(&bounds, sweep.stage, self.shape.last(), piece);
        let open: Vec<usize> = piece.goals.iter().map(|open| open.goal).collect();
        let rows = goal_rows(&region.goals, open.iter().copied(), &region.bounder, &compact, &bounds);
        let references: Vec<&Objective32> = rows.iter().map(|(_, row)| row).collect();
        let roots = self.raise(&compact, &references, self.tuning.tail.at_rows);
        let closing = rows.iter().zip(&roots).filter(|(_, root)| root.bound > 0.0);
        let closing: Vec<_> = closing.map(|((owner, _), root)| (*owner, root)).collect();
        sweep.close(region, piece, Some(&compact), |goal| {
            let found = closing.iter().find(|((owner, _), _)| *owner == goal);
            found.map(|((_, row), node)| Reason::Raised { what: Positive::Row(*row), node: (*node).clone() })
        });
        if piece.goals.is_empty() {
            return;
        }
        let found = attack(&compact, &references, self.tuning.tail.attack_steps, None, self.tuning.attack);
        for OpenGoal { goal, .. } in &piece.goals {
            let mut points =
                rows.iter().zip(&found).filter(|(((owner, _), _), _)| owner == goal).map(|(_, found)| found);
            if points.all(|found| found.value <= 0.0 && sweep.allows(&found.x)) {
                sweep.is_hopeful[*goal] = false;
            }
        }
    }

    /// The bounds of the stages behind the narrow one, for activations in the piece. A contradiction says that no input of
    /// the network leads there.
    fn bound_tail(&mut self, bounds: &mut Bounds, stage: usize, piece: &Piece) -> Result<(), Emptiness> {
        for k in stage + 1..self.shape.last() {
            let compact = self.tail(bounds, stage, k, piece);
            self.raise_behind(&compact, bounds, k, Steps::NONE)?;
        }
        Ok(())
    }

    fn tail(&self, bounds: &Bounds, stage: usize, end: usize, piece: &Piece) -> Compact {
        Compact::new(&self.shape, bounds, Source::Stage(stage), end, (&piece.lower, &piece.upper))
    }
}
