//! Input splitting: for networks of few inputs, bounds of small boxes are tight.
//!
//! Sixteen boxes at a time are bounded, one a lane of the kernels ([`pg_core::boxes`]). A goal of a box falls by a row that is
//! positive there, by a combination of its rows, or by an empty rest where all rows may hold; what is left is clipped to that
//! rest and halved along the input that moves the relaxation most. The halves share their border and cover the box, so closing
//! both closes it. Depth first, the half that is nearer to a violation before the other; what float32 cannot tell is asked in
//! float64, and what boxes cannot tell at all is handed on to the search over phases.

mod batch;
mod cell;
mod crew;
mod lane;
mod log;
mod question;
mod wander;

use super::guide::cuts::first_cuts;
use super::proof::{Reason, Region, Ticket};
use super::{End, Search};
use crate::bounds::Objective;
use crate::certificate::RegionId;
use crate::property::Row;
use crate::report::{Activity, Chosen};
use crate::split;
use cell::{Cell, Judged, Next};
use crew::{Crew, Given, Work, with_crew};
use log::CellLog;
use pg_core::boxes::{LANES, Places};
use question::{Question, Root, RootGoal};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// What a search over boxes leaves.
pub enum Split<'a> {
    /// Cells that say no more.
    Rest(Vec<Region<'a>>),
    /// It does not get on: the disjuncts that are open.
    GaveUp(Vec<(usize, Ticket)>),
}

/// How the open part of the boxes shrinks, where there are too many inputs to be sure that it does.
struct Trial {
    /// The number of cells at which it is looked at next, and what was open the time before.
    next: u64,
    open: f64,
}

impl Trial {
    /// Each doubling of the cells has to close a part of what was open.
    fn gets_on(&mut self, cells: u64, open: f64, least: f64) -> bool {
        if cells < self.next {
            return true;
        }
        let gets_on = open <= (1.0 - least) * self.open;
        *self = Trial { next: 2 * self.next, open };
        gets_on
    }
}

/// A cell and the ticket of each of its open goals.
struct OpenCell {
    cell: Cell,
    tickets: Vec<Ticket>,
}

impl OpenCell {
    /// Adds a goal to a root and to its cell.
    fn add<'a>(&mut self, root: &mut Root<'a>, (goal, ticket): (RootGoal<'a>, Ticket)) {
        self.cell.open.push(root.goals.len());
        self.tickets.push(ticket);
        root.goals.push(goal);
    }
}

/// The cells of a search.
#[derive(Default)]
struct Cells {
    /// Those that wait, the next one last: for float32, and for float64.
    coarse: VecDeque<OpenCell>,
    fine: VecDeque<OpenCell>,
    /// Whether the one that waits longest is the next, while they are not too many: for a frontier of cells that are much alike.
    is_broad: bool,
    /// What each batch under way is for, and the tickets of its cells.
    busy: VecDeque<(Work, Vec<Vec<Ticket>>)>,
    /// Those for phases.
    rest: Vec<OpenCell>,
    /// For a certificate, what became of the cells of each root.
    logs: Vec<CellLog>,
    /// Points that are worth a try, each for a goal of a root.
    points: Vec<(usize, usize, Vec<f64>)>,
}

/// Beyond so many cells the newest are the next.
const MOST_BROAD: usize = 1 << 16;

impl Cells {
    /// How many are open, but for those under way.
    fn count(&self) -> usize {
        self.coarse.len() + self.fine.len() + self.rest.len()
    }

    /// Hands out batches: full ones until so many are under way, others to threads that would idle.
    fn hand_out(&mut self, crew: &mut Crew, most_full: usize, threads: usize) {
        loop {
            let is_fine = self.coarse.is_empty() || self.fine.len() >= LANES;
            let (work, from) = if is_fine { (Work::Fine, &mut self.fine) } else { (Work::Coarse, &mut self.coarse) };
            let most = if from.len() >= LANES { most_full } else { threads };
            if from.is_empty() || crew.busy() >= most {
                return;
            }
            let is_broad = self.is_broad && from.len() <= MOST_BROAD;
            let first = if is_broad { 0 } else { from.len().saturating_sub(LANES) };
            let cells = from.drain(first..from.len().min(first + LANES)).collect();
            self.hand(crew, work, cells);
        }
    }

    fn hand(&mut self, crew: &mut Crew, work: Work, cells: Vec<OpenCell>) {
        let (cells, tickets) = cells.into_iter().map(|open| (open.cell, open.tickets)).unzip();
        crew.hand(work, cells);
        self.busy.push_back((work, tickets));
    }
}

impl<'a> Search<'a> {
    /// Whether the network is small enough for boxes, or for a trial of them.
    pub fn may_split_inputs(&self) -> bool {
        let (tuning, inputs) = (self.tuning.boxes, self.shape.inputs);
        let work = 2 * (inputs + 1) * self.shape.stages.iter().map(|stage| stage.entries()).sum::<usize>();
        let may_try = inputs <= tuning.most_inputs && work <= tuning.trial_work;
        (inputs <= tuning.few_inputs || may_try) && Places::of(&self.shape).lanes <= tuning.most_memory
    }

    /// Splits the boxes of the property until their parts are closed or say no more. Of networks with more inputs than few it is
    /// a trial, as long as it gets on: where most of them hardly matter it does.
    pub fn split_inputs(&mut self, tickets: Vec<(usize, Ticket)>) -> Result<Split<'a>, End> {
        let tuning = self.tuning.boxes;
        let trial = Trial { next: tuning.trial, open: 1.0 };
        let (question, roots) = self.box_question(tickets);
        self.split_boxes(question, roots, (self.shape.inputs > tuning.few_inputs).then_some(trial))
    }

    /// The same from cells that are open.
    fn split_boxes(
        &mut self,
        question: Question<'a>,
        roots: Vec<OpenCell>,
        trial: Option<Trial>,
    ) -> Result<Split<'a>, End> {
        self.control.enter(Activity::Boxes);
        self.control.set_undecided(vec![]);
        self.counters.chosen = Chosen::Boxes;
        let logs = question.roots.iter().filter(|_| question.is_logged).map(|_| CellLog::new()).collect();
        let mut cells = Cells { coarse: roots.into(), logs, is_broad: self.splitting.is_some(), ..Cells::default() };
        let given = Given { network: self.network, question: &question, tuning: &self.tuning.boxes };
        let gets_on = with_crew(self.threads(), given, |mut crew| {
            let result = self.halve(&mut crew, &question, &mut cells, trial);
            while crew.busy() > 0 && self.splitting.is_some() {
                self.settle_batch(&mut crew, &question, &mut cells);
            }
            result
        });
        if matches!(gets_on, Ok(false)) {
            self.note_cells(&question, &cells, &HashSet::new());
            return Ok(Split::GaveUp(self.give_up(&question)));
        }
        self.keep_open(&question, &cells);
        gets_on?;
        let ids = self.hand_on(&question, &mut cells);
        let goals = cells.rest.iter().flat_map(|open| open.cell.open.iter().map(|&goal| (open.cell.root, goal)));
        let handed_on = goals.map(|(root, goal)| question.roots[root].goals[goal].tree).collect();
        self.note_cells(&question, &cells, &handed_on);
        self.regions_of(&question, cells.rest, ids).map(Split::Rest)
    }

    /// Judges cells and halves them until none is left but those that say no more; false if a trial does not get on.
    fn halve(
        &mut self,
        crew: &mut Crew,
        question: &Question<'a>,
        cells: &mut Cells,
        mut trial: Option<Trial>,
    ) -> Result<bool, End> {
        let tuning = self.tuning.boxes;
        if cells.coarse.len() >= LANES {
            self.look(crew, question, cells)?;
        }
        let (mut batches, mut next_attack) = (0u64, 0u64);
        while !cells.coarse.is_empty() || !cells.fine.is_empty() || crew.busy() > 0 {
            self.goes_on(cells.count())?;
            let open = 1.0 - self.work.closed;
            if trial.as_mut().is_some_and(|trial| !trial.gets_on(self.counters.nodes, open, tuning.gets_on)) {
                return Ok(false);
            }
            cells.hand_out(crew, self.most_batches(), self.threads());
            if batches >= next_attack && self.control.stop().is_none() {
                let time = next_attack;
                next_attack = (next_attack * 4).max(4);
                self.wander(question, time)?;
            }
            batches += 1;
            self.settle_batch(crew, question, cells);
            for (root, goal, point) in cells.points.drain(..) {
                self.try_near(question.roots[root].goals[goal].disjunct, &point)?;
            }
        }
        Ok(true)
    }

    /// Gives the cells that say no more regions of their own in the certificate, if there is to be one: the numbers of these.
    fn hand_on(&mut self, question: &Question<'a>, cells: &mut Cells) -> Vec<RegionId> {
        let mut ids = Vec::with_capacity(cells.rest.len());
        for OpenCell { cell, .. } in &cells.rest {
            let goals = &question.roots[cell.root].goals;
            let id = self.begin_region(cell.open.iter().map(|&goal| goals[goal].number).collect(), true);
            if let Some(log) = cells.logs.get_mut(cell.root) {
                log.hand_on(cell.node, id);
            }
            ids.push(id);
        }
        ids
    }

    /// Notes the cells of all roots for the disjuncts that are closed on all of them but for those that are handed on, if there
    /// is to be a certificate.
    fn note_cells(&mut self, question: &Question<'a>, cells: &Cells, handed_on: &HashSet<usize>) {
        for (root, log) in question.roots.iter().zip(&cells.logs) {
            let is_told = |tree: usize| self.proof.is_settled(tree) || handed_on.contains(&tree);
            let told = root.goals.iter().filter(|goal| is_told(goal.tree));
            let told: Vec<usize> = told.map(|goal| goal.number).collect();
            if !told.is_empty() {
                let (tree, places) = log.tree(&told);
                self.note_cells_of(root.leaf, told, &tree, &places);
            }
        }
    }

    /// A first look at many roots, most of which fall at once.
    fn look(&mut self, crew: &mut Crew, question: &Question<'a>, cells: &mut Cells) -> Result<(), End> {
        let mut roots = std::mem::take(&mut cells.coarse).into_iter();
        loop {
            if let Err(end) = self.go_on() {
                cells.coarse.extend(roots);
                return Err(end);
            }
            while roots.len() > 0 && crew.busy() < self.most_batches() {
                cells.hand(crew, Work::Look, roots.by_ref().take(LANES).collect());
            }
            if crew.busy() == 0 {
                return Ok(());
            }
            self.settle_batch(crew, question, cells);
        }
    }

    /// Batches that are under way at a time: with several threads each has some to follow.
    fn most_batches(&self) -> usize {
        let threads = self.threads();
        if threads == 1 { 1 } else { threads * self.tuning.boxes.batches }
    }

    /// The disjuncts that are open, for another search.
    fn give_up(&mut self, question: &Question<'a>) -> Vec<(usize, Ticket)> {
        let goals = question.roots.iter().flat_map(|root| &root.goals);
        goals.filter_map(|goal| Some((goal.number, self.proof.give_up(goal.tree)?))).collect()
    }

    /// Every box of the property, with a cell for it.
    fn box_question(&mut self, tickets: Vec<(usize, Ticket)>) -> (Question<'a>, Vec<OpenCell>) {
        let property = self.property;
        let (known_words, is_logged) = (self.known_words(), self.proves());
        let mut question = Question { known_words, is_logged, ..Question::default() };
        let mut cells: Vec<OpenCell> = Vec::new();
        let mut last = None;
        for (number, ticket) in tickets {
            let disjunct = &property.disjuncts[number];
            if !last.is_some_and(|region| Arc::ptr_eq(region, &disjunct.region)) {
                let (lower, upper) = self.enclosure(&disjunct.region);
                let (root, open, known) = (question.roots.len(), vec![], vec![]);
                let cell = Cell { root, depth: 0, node: 0, lower: lower.clone(), upper: upper.clone(), open, known };
                cells.push(OpenCell { cell, tickets: vec![] });
                question.roots.push(Root { lower, upper, leaf: None, goals: vec![] });
            }
            last = Some(&disjunct.region);
            let goal = self.root_goal(&mut question, (number, number), ticket);
            let (root, cell) = (question.roots.last_mut().expect("just pushed"), cells.last_mut().expect("as many"));
            cell.add(root, goal);
        }
        cells.reverse();
        (question, cells)
    }

    /// Cells that are left of another search, each as a root of its own; what closes them are the proof's goals, in order.
    fn leaf_question(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> (Question<'a>, Vec<OpenCell>) {
        let (known_words, is_logged) = (self.known_words(), self.proves() || self.splitting.is_some());
        let mut question = Question { known_words, is_logged, ..Question::default() };
        let (mut cells, mut tickets) = (Vec::with_capacity(leaves.len()), tickets.into_iter().enumerate());
        for (number, leaf) in leaves.iter().enumerate() {
            let split::Cell { lower, upper, depth, open } = leaf.clone();
            let mut root = Root { lower: lower.clone(), upper: upper.clone(), leaf: Some(number), goals: vec![] };
            let cell = Cell { root: number, depth, node: 0, lower, upper, open: vec![], known: vec![] };
            let mut cell = OpenCell { cell, tickets: vec![] };
            for (disjunct, (tree, ticket)) in open.into_iter().zip(tickets.by_ref()) {
                let goal = self.root_goal(&mut question, (disjunct, tree), ticket);
                cell.add(&mut root, goal);
            }
            question.roots.push(root);
            cells.push(cell);
        }
        cells.reverse();
        (question, cells)
    }

    /// A goal of a root, with a tree of boxes of its own, and that tree's ticket.
    fn root_goal(
        &mut self,
        question: &mut Question<'a>,
        (number, tree): (usize, usize),
        ticket: Ticket,
    ) -> (RootGoal<'a>, Ticket) {
        let disjunct = &self.property.disjuncts[number];
        let (tree, ticket) = self.proof.graft(tree, ticket);
        let cuts = self.box_cuts(number);
        let rows = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
        let rows = rows.map(|row| Objective::of_row(row, self.shape.inputs, self.shape.outputs()));
        (question.goal(disjunct, (number, tree), rows), ticket)
    }

    /// Closes cells that are left of another search.
    pub fn close_cells(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> Result<(), End> {
        let (question, roots) = self.leaf_question(leaves, tickets);
        match self.split_boxes(question, roots, None)? {
            Split::Rest(mut rest) => self.peregrinn(&mut rest),
            Split::GaveUp(_) => unreachable!("only a trial gives up"),
        }
    }

    /// Halves them until the time is up, or boxes say no more.
    pub fn halve_cells(&mut self, leaves: &[split::Cell], tickets: Vec<Ticket>) -> Result<(), End> {
        let (question, roots) = self.leaf_question(leaves, tickets);
        self.split_boxes(question, roots, None).map(|_| ())
    }

    /// Keeps what is open of each root, if that may be split into parts.
    fn keep_open(&mut self, question: &Question<'a>, cells: &Cells) {
        let Some(splitting) = &mut self.splitting else { return };
        splitting.has_root = true;
        let roots = question.roots.iter().zip(&cells.logs).map(|(root, log)| {
            let disjuncts: Vec<usize> = root.goals.iter().map(|goal| goal.number).collect();
            (disjuncts.clone(), log.frontier(disjuncts))
        });
        splitting.cells = Some(roots.collect());
    }

    /// Words of bits that a cell keeps about decided neurons.
    fn known_words(&self) -> usize {
        let hidden = self.shape.start(self.shape.last());
        if hidden > self.tuning.boxes.most_known { 0 } else { 2 * hidden.div_ceil(64) }
    }

    /// Tangents of a disjunct's quadratics.
    fn box_cuts(&mut self, number: usize) -> Vec<Row> {
        let disjunct = &self.property.disjuncts[number];
        if disjunct.quadratics.is_empty() {
            return vec![];
        }
        let (lower, upper) = self.enclosure(&disjunct.region);
        let (bounder, bounds) = self.bound_box(lower, upper, None);
        first_cuts(disjunct, bounder.input(), &bounds, self.tuning.cuts.sweeps)
    }

    /// Takes back the batch that was handed out first.
    fn settle_batch(&mut self, crew: &mut Crew, question: &Question<'a>, cells: &mut Cells) {
        let judged = crew.take();
        let (work, tickets) = cells.busy.pop_front().expect("a batch is under way");
        for (judged, tickets) in judged.into_iter().zip(tickets) {
            self.settle(question, judged, tickets, work, cells);
        }
        self.control.set_open(cells.coarse.len() + cells.fine.len());
    }

    /// Closes the goals that a cell has lost, and opens its halves.
    fn settle(&mut self, question: &Question<'a>, judged: Judged, tickets: Vec<Ticket>, work: Work, cells: &mut Cells) {
        let Judged { before, left, next, points } = judged;
        cells.points.extend(points.into_iter().map(|(goal, point)| (left.root, goal, point)));
        let root = &question.roots[left.root];
        let kept = self.close_lost(root, &before, &left, tickets);
        if let Some(log) = cells.logs.get_mut(left.root) {
            let lost = before.iter().filter(|goal| left.open.binary_search(goal).is_err());
            lost.for_each(|&goal| log.close(left.node, root.goals[goal].number));
        }
        let nodes = u64::from(!matches!(next, Next::Judge));
        self.counters.nodes += nodes;
        self.control.add_nodes(nodes);
        let open = if work == Work::Fine { &mut cells.fine } else { &mut cells.coarse };
        match next {
            Next::Closed => {}
            Next::Judge => open.push_back(OpenCell { cell: left, tickets: kept }),
            Next::Stubborn if work == Work::Coarse => cells.fine.push_back(OpenCell { cell: left, tickets: kept }),
            Next::Stubborn | Next::Touched => cells.rest.push(OpenCell { cell: left, tickets: kept }),
            Next::Halve { input, upper_last } => {
                let log = cells.logs.get_mut(left.root);
                let nodes = log.map_or([0; 2], |log| log.cut(left.node, input, left.middle(input)));
                let [lower, upper] = self.halves(root, left, kept, input, nodes);
                open.extend(if upper_last { [lower, upper] } else { [upper, lower] });
            }
        }
    }

    /// Closes the goals that are no longer open on a cell; the tickets of the others.
    fn close_lost(&mut self, root: &Root, before: &[usize], left: &Cell, tickets: Vec<Ticket>) -> Vec<Ticket> {
        let depth = u64::from(left.depth);
        self.counters.max_depth = self.counters.max_depth.max(depth);
        self.control.set_depth(depth);
        let mut kept = Vec::with_capacity(left.open.len());
        for (goal, ticket) in before.iter().zip(tickets) {
            if left.open.binary_search(goal).is_ok() {
                kept.push(ticket);
                continue;
            }
            let part = 0.5f64.powi(left.depth as i32) / self.property.disjuncts.len() as f64;
            self.work.closed += part;
            self.control.add_closed(part);
            self.count(&Reason::Forms);
            self.proof.close(root.goals[*goal].tree, ticket, &Reason::Forms);
        }
        kept
    }

    fn halves(
        &mut self,
        root: &Root,
        cell: Cell,
        tickets: Vec<Ticket>,
        input: usize,
        nodes: [u32; 2],
    ) -> [OpenCell; 2] {
        let (mut below, mut above) = (vec![], vec![]);
        for (&goal, ticket) in cell.open.iter().zip(tickets) {
            let [a, b] = self.proof.split(root.goals[goal].tree, ticket);
            below.push(a);
            above.push(b);
        }
        let (at, depth) = (cell.middle(input), cell.depth + 1);
        let [mut lower, mut upper] = nodes.map(|node| Cell { depth, node, ..cell.clone() });
        (lower.upper[input], upper.lower[input]) = (at, at);
        [OpenCell { cell: lower, tickets: below }, OpenCell { cell: upper, tickets: above }]
    }

    /// Stubborn cells as regions, bounded in float64.
    fn regions_of(
        &mut self,
        question: &Question<'a>,
        cells: Vec<OpenCell>,
        ids: Vec<RegionId>,
    ) -> Result<Vec<Region<'a>>, End> {
        let mut regions = Vec::with_capacity(cells.len());
        for (OpenCell { cell, tickets }, id) in cells.into_iter().zip(ids) {
            self.go_on()?;
            let (bounder, bounds) = self.bound_box(cell.lower, cell.upper, None);
            let mut region = Region { id, bounder, bounds, goals: vec![], leaf: None };
            self.note_bounds(&region);
            for (&goal, ticket) in cell.open.iter().zip(tickets) {
                let goal = &question.roots[cell.root].goals[goal];
                let goal = self.goal(&region, goal.disjunct, (goal.number, goal.tree), ticket);
                region.goals.extend(goal);
            }
            regions.push(region);
        }
        regions.retain(|region| !region.goals.is_empty());
        Ok(regions)
    }
}
