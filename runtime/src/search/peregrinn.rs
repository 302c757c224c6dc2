//! The paper's loop: bound, decide, relax, try the point, pick a neuron, condition it, backtrack.

use super::guide::branch::{Conditioning, by_bounds, by_slack};
use super::guide::random::Random;
use super::journal::{ROOM, leaf_of, told};
use super::proof::{Begins, Goal, Positive, Reason, Region, Settled, Split, Ticket, Tree, TreeLog};
use super::{End, Search, timed};
use crate::bounds::{Bounds, Emptiness, Objective, Objective32};
use crate::lp::{Point, Ray, Relaxed, RelaxedNetwork};
use crate::options::Inference;
use crate::property::Disjunct;
use crate::report::Activity;
use std::time::Instant;

/// A node: the phases fixed so far, as bounds.
pub struct Phases {
    pub bounds: Bounds,
    pub depth: u64,
    /// The stage whose bounds the last conditioning may have changed.
    changed: usize,
    /// Its part of the search space.
    part: f64,
    /// Its number in the goal's log.
    number: u32,
}

/// A goal's search over phases: its open nodes, and what relaxes them.
pub struct GoalTree<'a, 'r> {
    pub region: &'r Region<'a>,
    pub goal: Goal<'a>,
    pub relaxed: Option<RelaxedNetwork>,
    tree: Tree,
    open: Vec<(Phases, Ticket)>,
    random: Random,
    /// For a certificate.
    log: Option<TreeLog>,
}

/// What became of a node.
enum Step {
    Closed(Reason),
    Split(Conditioning),
}

impl<'a, 'r> GoalTree<'a, 'r> {
    fn new(region: &'r Region<'a>, goal: Goal<'a>, seed: u64, is_logged: bool) -> GoalTree<'a, 'r> {
        let (tree, ticket) = Tree::plant();
        let bounds = region.leaf.as_ref().map_or(&region.bounds, |leaf| &leaf.bounds).clone();
        let root = Phases { bounds, depth: 0, changed: usize::MAX, part: 1.0, number: 0 };
        let (open, random, log) =
            (vec![(root, ticket)], Random::new(seed), is_logged.then(|| TreeLog::new(Begins::Whole)));
        GoalTree { region, goal, relaxed: None, tree, open, random, log }
    }
}

impl<'a> Search<'a> {
    /// Closes every goal of every region, or says what ended the search: then the regions have the goals that are open.
    pub fn peregrinn(&mut self, regions: &mut [Region<'a>]) -> Result<(), End> {
        let goals: Vec<Vec<Goal>> = regions.iter_mut().map(|region| std::mem::take(&mut region.goals)).collect();
        let (seed, proves) = (self.options.seed, self.proves());
        let mut trees: Vec<(usize, GoalTree)> = Vec::new();
        for ((place, region), goals) in regions.iter().enumerate().zip(goals) {
            trees.extend(goals.into_iter().map(|goal| (place, GoalTree::new(region, goal, seed, proves))));
        }
        let result = self.take_turns(&mut trees);
        let open: Vec<(usize, Goal)> = trees.into_iter().map(|(place, tree)| (place, tree.goal)).collect();
        open.into_iter().for_each(|(place, goal)| regions[place].goals.push(goal));
        result
    }

    /// Visits the goals' nodes in turns, each twice as long as the one before, until no goal has an open one; what is closed is gone.
    fn take_turns(&mut self, trees: &mut Vec<(usize, GoalTree<'a, '_>)>) -> Result<(), End> {
        let tuning = self.tuning.peregrinn;
        let mut turn = if trees.len() > tuning.most_in_turn { u64::MAX } else { tuning.first_turn };
        while trees.iter().any(|(_, tree)| !tree.open.is_empty()) {
            for (_, tree) in trees.iter_mut() {
                if self.options.inference == Inference::Raised {
                    for _ in 0..(turn / tuning.descend_every).min(tuning.most_descents) {
                        self.go_on()?;
                        self.descend_anywhere(tree.goal.disjunct, &mut tree.random)?;
                    }
                }
                self.take_turn(tree, turn)?;
            }
            // A tree with nothing open but not settled has lost a node: then its goal stays open.
            for (_, done) in trees.extract_if(.., |(_, tree)| tree.tree.settled().is_some()) {
                let settled = done.tree.settled().expect("just looked at");
                self.note_tree(done.region, done.goal.number, done.log.as_ref(), None);
                self.close(done.goal, Reason::Phases(settled));
            }
            turn = turn.saturating_mul(2);
        }
        Ok(())
    }

    /// Visits nodes of one goal, depth first, until none is open or its turn is over.
    fn take_turn(&mut self, tree: &mut GoalTree<'a, '_>, turn: u64) -> Result<(), End> {
        self.control.set_undecided(tree.region.bounds.undecided_counts());
        self.control.set_bound(tree.goal.margin);
        for _ in 0..turn {
            let Some((mut node, ticket)) = tree.open.pop() else { break };
            self.go_on()?;
            self.counters.nodes += 1;
            self.control.enter(Activity::Phases);
            self.control.add_nodes(1);
            self.control.set_open(tree.open.len());
            self.control.set_depth(node.depth);
            self.counters.max_depth = self.counters.max_depth.max(node.depth);
            match self.visit(tree, &mut node)? {
                Step::Closed(reason) => self.close_node(tree, &node, ticket, reason),
                Step::Split(conditioning) => self.condition(tree, node, ticket, conditioning),
            }
        }
        Ok(())
    }

    fn close_node(&mut self, tree: &mut GoalTree, node: &Phases, ticket: Ticket, reason: Reason) {
        self.count(&reason);
        self.control.add_closed(node.part / self.property.disjuncts.len() as f64);
        if tree.log.is_some() {
            let leaf = leaf_of(tree, node, &reason);
            tree.log.iter_mut().for_each(|log| log.close(node.number, leaf.clone()));
        }
        tree.tree.close(ticket, &reason);
    }

    /// Opens the two children, the suggested phase on top. A phase that contradicts the bounds is closed at once.
    fn condition(&mut self, tree: &mut GoalTree, node: Phases, ticket: Ticket, chosen: Conditioning) {
        let phases = [!chosen.on_first, chosen.on_first];
        let neuron = self.shape.start(chosen.stage) + chosen.neuron;
        let numbers = tree.log.as_mut().map_or([0; 2], |log| log.split(node.number, Split::Phase(neuron)));
        for (on, ticket) in phases.into_iter().zip(tree.tree.split(ticket)) {
            let mut child = Phases {
                bounds: node.bounds.clone(),
                depth: node.depth + 1,
                changed: chosen.stage,
                part: node.part / 2.0,
                number: numbers[usize::from(on)],
            };
            match child.bounds.fix(chosen.stage, chosen.neuron, on) {
                Ok(()) => tree.open.push((child, ticket)),
                Err(Emptiness) => self.close_node(tree, &child, ticket, Reason::Empty),
            }
        }
    }

    /// Visits the root of a goal alone: the goal, and its tree, if that closes it.
    pub fn visit_root(&mut self, region: &Region<'a>, goal: Goal<'a>) -> (Goal<'a>, Result<Option<Settled>, End>) {
        let mut tree = GoalTree::new(region, goal, self.options.seed, self.proves());
        let (mut root, ticket) = tree.open.pop().expect("a tree that has just started");
        let settled = self.visit(&mut tree, &mut root).map(|step| match step {
            Step::Closed(reason) => {
                self.close_node(&mut tree, &root, ticket, reason);
                self.note_tree(region, tree.goal.number, tree.log.as_ref(), None);
                tree.tree.settled()
            }
            Step::Split(_) => None,
        });
        (tree.goal, settled)
    }

    /// Bound, decide, relax, try the point, pick a neuron.
    fn visit(&mut self, tree: &mut GoalTree<'a, '_>, node: &mut Phases) -> Result<Step, End> {
        if let Some(reason) = self.bound(tree, node) {
            return Ok(Step::Closed(reason));
        }
        let guided = match self.relax_and_cut(tree, node) {
            Relaxed::Feasible(point) => {
                let (valid, priority) = (self.tuning.peregrinn.valid, self.options.priority);
                let chosen = by_slack(&node.bounds, &point, valid, priority, &mut tree.random);
                self.try_point(tree.goal.disjunct, &point, chosen.is_none())?;
                chosen
            }
            Relaxed::Infeasible(Some(ray)) => match self.certify(tree, node, ray) {
                Some(reason) => return Ok(Step::Closed(reason)),
                None => None,
            },
            Relaxed::Infeasible(None) | Relaxed::Trouble(_) => None,
            Relaxed::Stopped => return Err(self.stopped()),
        };
        match guided.or_else(|| by_bounds(&node.bounds, self.shape.last())) {
            Some(chosen) => Ok(Step::Split(chosen)),
            None => self.decide_exactly(tree, node).map(Step::Closed),
        }
    }

    /// Recomputes the bounds under the node's phases; the reason, if they exclude the goal.
    fn bound(&mut self, tree: &mut GoalTree<'a, '_>, node: &mut Phases) -> Option<Reason> {
        if node.depth == 0 {
            return None;
        }
        if let Some(log) = tree.log.as_mut().filter(|_| node.changed + 1 < self.shape.last()) {
            log.bounded(node.number, node.changed + 1);
        }
        let start = Instant::now();
        let rows = &tree.goal.rows[..tree.goal.bounded];
        let reason = match self.propagate(tree.region, node) {
            Err(Emptiness) => Some(Reason::Empty),
            Ok(()) => {
                let (_, reason) = self.margin(tree.region, &node.bounds, rows);
                reason.or_else(|| self.exclude(tree.region, &node.bounds, rows))
            }
        };
        self.times.bounds += start.elapsed().as_secs_f64();
        self.counters.bound_rows += tree.region.bounder.rows.take();
        reason
    }

    /// The paper's symbolic inference, or the raised bounds of the engine over phases. A certificate's judge finds bounds under
    /// phases by rules again, so that with one these are by rules too.
    fn propagate(&mut self, region: &Region, node: &mut Phases) -> Result<(), Emptiness> {
        let first = node.changed.saturating_add(1);
        if self.options.inference == Inference::Symbolic || self.proves() {
            return region.bounder.propagate(&mut node.bounds, first, &|_, _| self.control.stop().is_none());
        }
        for stage in first..self.shape.last() {
            let compact = region.compact_under(&node.bounds, stage);
            self.raise_behind(&compact, &mut node.bounds, stage, self.tuning.peregrinn.at_hidden)?;
        }
        Ok(())
    }

    /// The reason, if the raised bound of a row excludes the goal.
    fn exclude(&mut self, region: &Region, bounds: &Bounds, rows: &[Objective]) -> Option<Reason> {
        let last = self.shape.last();
        if last == 0 || self.options.inference == Inference::Symbolic {
            return None;
        }
        let compact = region.compact_under(bounds, last);
        let rows: Vec<Objective32> =
            rows.iter().map(|row| compact.objective_row(&self.shape.stages[last], row, bounds)).collect();
        let roots = self.raise(&compact, &rows.iter().collect::<Vec<_>>(), self.tuning.peregrinn.at_rows);
        let positive = roots.into_iter().enumerate().find(|(_, root)| root.bound > 0.0);
        positive.map(|(row, node)| Reason::Raised { what: Positive::Row(row), node })
    }

    pub fn relax(&mut self, tree: &mut GoalTree, node: &Phases) -> Relaxed {
        let (shape, control, penalty, tuning) =
            (&self.shape, self.control, self.options.penalty, self.tuning.peregrinn);
        let (region, rows) = (tree.region, &tree.goal.rows);
        let (result, iterations) = timed(&mut self.times.lp, || {
            let relaxed = tree.relaxed.get_or_insert_with(|| {
                RelaxedNetwork::new(shape, region.input(), &region.bounds, rows, penalty, tuning)
            });
            let result = relaxed.solve(&node.bounds, control);
            (result, relaxed.iterations())
        });
        self.counters.lp_calls += 1;
        self.control.add_lp_call();
        self.counters.simplex_iterations += iterations;
        result
    }

    /// Replays the program's point. Where it is a point of the network, and but for the paper's own inference now and then
    /// elsewhere, a descent from it too: the point may lie exactly on the border, where rounding decides.
    fn try_point(&mut self, disjunct: &Disjunct, point: &Point, is_valid: bool) -> Result<(), End> {
        let (every, nodes) = (self.tuning.peregrinn.descend_every, self.counters.nodes);
        let is_raised = self.options.inference == Inference::Raised;
        if is_valid || is_raised && (nodes.is_multiple_of(every) || nodes < every) {
            return self.descend(disjunct, &point.input);
        }
        self.try_near(disjunct, &point.input)
    }

    /// The reason, if the rigorous bound confirms that the multipliers exclude the node.
    ///
    /// With a certificate weights are numbers that it can hold, and the bound is more than what a judge's rounding may cost.
    pub fn certify(&mut self, tree: &GoalTree, node: &Phases, mut ray: Ray) -> Option<Reason> {
        let (inputs, outputs) = (self.shape.inputs, self.shape.outputs());
        let room = if self.proves() { ROOM } else { 0.0 };
        if self.proves() {
            told(&mut ray);
        }
        let bound = timed(&mut self.times.certify, || {
            let terms: Vec<(f64, &Objective)> = ray.rows.iter().copied().zip(&tree.goal.rows).collect();
            let objective = Objective::combination(&terms, inputs, outputs);
            tree.region.bounder.certify(&node.bounds, &objective, &ray.neurons)
        });
        (bound > room).then_some(Reason::Certified(ray))
    }
}
