//! The paper's loop: bound, decide, relax, try the point, pick a neuron, condition it, backtrack.

use super::branch::{Branch, by_bounds, by_slack};
use super::cuts::first_cuts;
use super::sample::Random;
use super::{End, Search, timed};
use crate::bounds::{Bounder, Domain, Emptiness, Objective, Relaxation, Row, Steps};
use crate::lp::{Point, Ray, Relaxed, RelaxedNetwork};
use crate::property::Disjunct;
use crate::report::Stage;
use crate::verdict::StopReason;
use std::sync::Arc;
use std::time::Instant;

/// The phases fixed so far, as bounds.
pub struct Node {
    pub domain: Domain,
    depth: u64,
    /// The layer whose bounds the last conditioning may have changed.
    changed: usize,
    /// Its part of the search space.
    share: f64,
}

/// One disjunct's search: its open nodes, and what bounds and relaxes them.
pub struct Task<'a> {
    pub disjunct: &'a Disjunct,
    /// Its part of the disjunct's box.
    pub lower: Vec<f64>,
    pub upper: Vec<f64>,
    /// The disjunct's rows, then the tangents of its quadratics.
    pub rows: Vec<Objective>,
    /// How many rows are bounded by themselves; the later ones serve the linear program.
    pub bounded: usize,
    bounder: Bounder<'a>,
    pub relaxed: Option<RelaxedNetwork>,
    pub root: Domain,
    open: Vec<Node>,
    random: Random,
    /// How near the root's bounds come to excluding the disjunct.
    margin: f64,
}

/// What became of a node.
enum Step {
    Closed,
    Split(Branch),
}

/// Nodes a disjunct may visit before the next one has its turn; doubled with each round.
const FIRST_TURN: u64 = 16;
/// A descent costs as much as a node: one in so many.
const DESCEND_EVERY: u64 = 32;
/// Descents from random points before a turn, as many as a share of its nodes allows.
const MOST_DESCENTS: u64 = 64;
/// More open disjuncts than this are searched one after the other, to keep memory bounded.
const MOST_IN_TURN: usize = 32;

/// The optimisation of hidden neurons' bounds at a node, and of the property's rows.
const AT_HIDDEN: Steps = Steps { count: 3, rate: 0.3, decay: 0.8 };
const AT_ROWS: Steps = Steps { count: 10, rate: 0.3, decay: 0.87 };

impl Task<'_> {
    /// Starts over from tighter bounds.
    pub fn restart(&mut self, root: &Domain) {
        self.root = root.clone();
        self.relaxed = None;
        self.open = vec![Node { domain: root.clone(), depth: 0, changed: usize::MAX, share: 1.0 }];
    }
}

impl<'a> Search<'a> {
    /// Closes every leaf of every task, or says what ended the search.
    pub fn peregrinn(&mut self, mut tasks: Vec<Task<'a>>) -> Result<(), End> {
        let all = self.property.disjuncts.len().max(1) as f64;
        let mut closed = 1.0 - tasks.len() as f64 / all;
        let mut turn = if tasks.len() > MOST_IN_TURN { u64::MAX } else { FIRST_TURN };
        while !tasks.is_empty() {
            for task in &mut tasks {
                for _ in 0..(turn / DESCEND_EVERY).min(MOST_DESCENTS) {
                    self.go_on()?;
                    self.descend_anywhere(task.disjunct, &mut task.random)?;
                }
                self.take_turn(task, turn, all, &mut closed)?;
            }
            tasks.retain(|task| !task.open.is_empty());
            turn = turn.saturating_mul(2);
        }
        Ok(())
    }

    /// The disjuncts that the bounds of the whole box do not exclude, the nearest to a violation first.
    pub fn root_tasks(&mut self) -> Result<Vec<Task<'a>>, End> {
        self.control.enter(Stage::Bounds);
        let mut tasks: Vec<Task> = Vec::new();
        let mut last: Option<(&Disjunct, Option<(Bounder<'a>, Domain)>)> = None;
        for disjunct in &self.property.disjuncts {
            self.go_on()?;
            let known = last.take().filter(|(before, _)| Arc::ptr_eq(&before.region, &disjunct.region));
            let bounded = known.map(|(_, bounded)| bounded).unwrap_or_else(|| {
                let (lower, upper) = disjunct.region.enclosure();
                self.bound_box(lower, upper, None)
            });
            let task = bounded.as_ref().and_then(|(bounder, root)| self.task(disjunct, bounder.clone(), root.clone()));
            if task.is_none() {
                self.close_leaf();
            }
            tasks.extend(task);
            last = Some((disjunct, bounded));
        }
        tasks.sort_by(|a, b| a.margin.total_cmp(&b.margin));
        self.control.set_open(tasks.len());
        Ok(tasks)
    }

    /// A node that its bounds exclude before it is ever open.
    pub fn close_leaf(&mut self) {
        self.counters.nodes += 1;
        self.counters.leaves += 1;
    }

    /// Bounds of every neuron on a box; `None` if they contradict each other, so that it is empty.
    pub fn bound_box(
        &mut self,
        lower: Vec<f64>,
        upper: Vec<f64>,
        larger: Option<&Domain>,
    ) -> Option<(Bounder<'a>, Domain)> {
        let (network, layers) = (self.network, self.layers);
        timed(&mut self.times.bounds, || Bounder::new(network, layers, lower, upper, larger)).ok()
    }

    /// The search of one box for one disjunct; `None` if its bounds exclude it.
    pub fn task(&mut self, disjunct: &'a Disjunct, mut bounder: Bounder<'a>, root: Domain) -> Option<Task<'a>> {
        let (inputs, outputs) = (self.network.inputs(), self.network.outputs());
        let (lower, upper) = bounder.input();
        let cuts = first_cuts(disjunct, (&lower, &upper), &root);
        let all = disjunct.rows.iter().map(|row| &**row).chain(&cuts);
        let rows: Vec<Objective> = all.map(|row| Objective::of_row(row, inputs, outputs)).collect();
        let margin = timed(&mut self.times.bounds, || margin(&mut bounder, &root, &rows));
        self.counters.bound_rows += std::mem::take(&mut bounder.rows);
        if margin > 0.0 {
            return None;
        }
        let node = Node { domain: root.clone(), depth: 0, changed: usize::MAX, share: 1.0 };
        let random = Random::new(self.options.seed);
        let (open, bounded, relaxed) = (vec![node], rows.len(), None);
        Some(Task { disjunct, lower, upper, rows, bounded, bounder, relaxed, root, open, random, margin })
    }

    /// Visits nodes of one disjunct, depth first, until none is open or its turn is over.
    fn take_turn(&mut self, task: &mut Task<'a>, turn: u64, all: f64, closed: &mut f64) -> Result<(), End> {
        self.show_undecided(&task.root);
        self.control.set_bound(task.margin);
        for _ in 0..turn {
            let Some(mut node) = task.open.pop() else { break };
            self.go_on()?;
            self.control.enter(Stage::Phases);
            self.counters.nodes += 1;
            self.control.add_nodes(1);
            self.counters.max_depth = self.counters.max_depth.max(node.depth);
            match self.visit(task, &mut node)? {
                Step::Closed => {
                    self.counters.leaves += 1;
                    *closed += node.share / all;
                }
                Step::Split(branch) => self.condition(task, node, branch, all, closed),
            }
            self.control.set_open(task.open.len());
            self.control.set_depth(task.open.last().map_or(0, |node| node.depth));
            self.control.set_closed(*closed);
        }
        Ok(())
    }

    /// Opens the two children, the suggested phase on top. A phase that contradicts the bounds is closed at once.
    fn condition(&mut self, task: &mut Task, node: Node, branch: Branch, all: f64, closed: &mut f64) {
        for on in [!branch.on_first, branch.on_first] {
            let mut child = Node {
                domain: node.domain.clone(),
                depth: node.depth + 1,
                changed: branch.layer,
                share: node.share / 2.0,
            };
            match child.domain.fix(branch.layer, branch.neuron, on) {
                Ok(()) => task.open.push(child),
                Err(_) => {
                    self.counters.leaves += 1;
                    *closed += child.share / all;
                }
            }
        }
    }

    /// Visits the root alone; whether that closes the task.
    pub fn closes_root(&mut self, task: &mut Task<'a>) -> Result<bool, End> {
        let mut root = task.open.pop().expect("a task that has just started");
        let step = self.visit(task, &mut root)?;
        task.open.push(root);
        Ok(matches!(step, Step::Closed))
    }

    /// Bound, decide, relax, try the point, pick a neuron.
    fn visit(&mut self, task: &mut Task<'a>, node: &mut Node) -> Result<Step, End> {
        if self.bound(task, node) {
            return Ok(Step::Closed);
        }
        let guided = match self.relax_and_cut(task, node) {
            Relaxed::Feasible(point) => {
                let branch = by_slack(&node.domain, &point, self.options.priority, &mut task.random);
                self.try_point(task.disjunct, &point, branch.is_none())?;
                branch
            }
            Relaxed::Infeasible(Some(ray)) if self.certify(task, node, &ray) => return Ok(Step::Closed),
            Relaxed::Infeasible(_) | Relaxed::Trouble(_) => None,
            Relaxed::Stopped => {
                let reason = self.control.stop().unwrap_or(StopReason::Timeout);
                return Err(End::Stopped(reason));
            }
        };
        match guided.or_else(|| by_bounds(&node.domain)) {
            Some(branch) => Ok(Step::Split(branch)),
            None => self.decide_exactly(task, node).map(|()| Step::Closed),
        }
    }

    /// Recomputes the bounds under the node's phases; whether they exclude the disjunct.
    fn bound(&mut self, task: &mut Task<'a>, node: &mut Node) -> bool {
        if node.depth == 0 {
            return false;
        }
        let start = Instant::now();
        let excluded = self.propagate(task, node).is_err()
            || margin(&mut task.bounder, &node.domain, &task.rows[..task.bounded]) > 0.0
            || self.excludes(task, &node.domain);
        self.times.bounds += start.elapsed().as_secs_f64();
        self.counters.bound_rows += std::mem::take(&mut task.bounder.rows);
        excluded
    }

    fn propagate(&mut self, task: &Task, node: &mut Node) -> Result<(), Emptiness> {
        let input = (task.lower.as_slice(), task.upper.as_slice());
        let first = node.changed.saturating_add(1);
        (first..self.layers.hidden()).try_for_each(|layer| self.raise_layer(input, &mut node.domain, layer, AT_HIDDEN))
    }

    /// Whether the raised bound of a row excludes the disjunct.
    fn excludes(&mut self, task: &Task, domain: &Domain) -> bool {
        let last = self.layers.hidden();
        if last == 0 {
            return false;
        }
        let front = self.front((&task.lower, &task.upper), domain, last);
        let row = |row| front.objective_row(&self.layers.0[last], row, domain);
        let rows: Vec<Row> = task.rows[..task.bounded].iter().map(row).collect();
        self.raise(&front, &rows, AT_ROWS).iter().any(|root| root.bound > 0.0)
    }

    pub fn relax(&mut self, task: &mut Task, node: &Node) -> Relaxed {
        let (layers, control, penalty) = (self.layers, self.control, self.options.penalty);
        let (root, rows, lower, upper) = (&task.root, &task.rows, &task.lower, &task.upper);
        let (result, iterations) = timed(&mut self.times.lp, || {
            let relaxed =
                task.relaxed.get_or_insert_with(|| RelaxedNetwork::new(layers, (lower, upper), root, rows, penalty));
            let result = relaxed.solve(&node.domain, control);
            (result, relaxed.iterations())
        });
        self.counters.lp_calls += 1;
        self.control.add_lp_call();
        self.counters.simplex_iterations += iterations;
        result
    }

    /// Replays the program's point. Where it is a point of the network, and now and then elsewhere, a descent from it too.
    fn try_point(&mut self, disjunct: &Disjunct, point: &Point, is_valid: bool) -> Result<(), End> {
        if is_valid || self.counters.nodes.is_multiple_of(DESCEND_EVERY) || self.counters.nodes < DESCEND_EVERY {
            return self.descend(disjunct, &point.input);
        }
        self.try_near(disjunct, &point.input)
    }

    /// Whether the rigorous bound confirms that the multipliers exclude the node.
    pub fn certify(&mut self, task: &mut Task, node: &Node, ray: &Ray) -> bool {
        let (inputs, outputs) = (self.network.inputs(), self.network.outputs());
        timed(&mut self.times.certify, || {
            let terms: Vec<(f64, &Objective)> = ray.rows.iter().copied().zip(&task.rows).collect();
            let objective = Objective::combination(&terms, inputs, outputs);
            task.bounder.certify(&node.domain, &objective, &ray.neurons) > 0.0
        })
    }
}

/// The best lower bound of any one row: positive if no point of the domain satisfies it.
fn margin(bounder: &mut Bounder, domain: &Domain, rows: &[Objective]) -> f64 {
    let mut best = f64::NEG_INFINITY;
    for row in rows {
        for relaxation in [Relaxation::Adaptive, Relaxation::Parallel] {
            best = best.max(bounder.objective_bound(domain, row, relaxation));
            if best > 0.0 {
                return best;
            }
        }
    }
    best
}
