//! Our own engine for wide inputs: attack, raise the bounds, refine the hidden neurons, prove the property.
//!
//! All of it is the one bound in float32, many rows at a time. What it cannot close is handed on, with its tighter bounds,
//! to the search with linear programs, which is complete.

use super::attack::{Found, attack, attack_from, values};
use super::peregrinn::Task;
use super::prove::{Claim, Effort, prove};
use super::refine::{AT_ROOT, Refined, Refinement, Round};
use super::sample::Random;
use super::{End, Search};
use crate::bounds::{Domain, Front, Node, Row, Steps};
use crate::report::Stage;
use std::sync::Arc;
use std::time::Instant;

/// Rounds of refinement, and the nodes that may then be spent on each row of the property.
const ROUNDS: [(Round, u64); 6] = [
    (Round { sign_nodes: 400, bound_nodes: 20, pieces: 4_000 }, 250),
    (Round { sign_nodes: 3_200, bound_nodes: 100, pieces: 16_000 }, 2_000),
    (Round { sign_nodes: 25_600, bound_nodes: 500, pieces: 64_000 }, 16_000),
    (Round { sign_nodes: 204_800, bound_nodes: 2_500, pieces: 256_000 }, 128_000),
    (Round { sign_nodes: 1_638_400, bound_nodes: 12_500, pieces: 256_000 }, 1_024_000),
    (Round { sign_nodes: 13_107_200, bound_nodes: 62_500, pieces: 256_000 }, u64::MAX),
];
/// After the first round so many layers are tried as hard as in the next one: all that follows is the cheaper for it.
const AHEAD: usize = 2;
/// The optimisation of a node of the property's tree.
const AT_NODE: Steps = Steps { count: 10, rate: 0.05, decay: 0.9 };
/// Attacks on each row the first time: from the centre, then from random points.
const ATTACKS: usize = 24;
const ATTACK_STEPS: usize = 20;
/// Points that each row is attacked from, of those where hidden neurons are at their extremes.
const STARTS: usize = 3;
/// From a point with a row this low, a descent may violate it.
const NEARLY_VIOLATED: f32 = 1e-3;
/// With so few undecided neurons a linear program takes little time.
const SMALL_PROGRAM: usize = 500;

impl<'a> Search<'a> {
    /// Closes the tasks it can; returns the others.
    pub fn fast(&mut self, tasks: Vec<Task<'a>>) -> Result<Vec<Task<'a>>, End> {
        self.by_region(tasks, Search::close_region)
    }

    /// Works on the tasks of one box at a time; returns those that are left. Without hidden layers there is nothing to do.
    pub fn by_region(
        &mut self,
        mut tasks: Vec<Task<'a>>,
        work: impl Fn(&mut Search<'a>, &mut Vec<Task<'a>>, &mut Refined) -> Result<(), End>,
    ) -> Result<Vec<Task<'a>>, End> {
        if self.layers.hidden() == 0 {
            return Ok(tasks);
        }
        let mut left = Vec::new();
        while let Some(Task { disjunct, lower, upper, root, .. }) = tasks.first() {
            let mut refined = Refined { lower: lower.clone(), upper: upper.clone(), domain: root.clone() };
            let same = |task: &Task| Arc::ptr_eq(&task.disjunct.region, &disjunct.region);
            let (mut now, later) = tasks.into_iter().partition::<Vec<_>, _>(same);
            tasks = later;
            self.show_undecided(&refined.domain);
            work(self, &mut now, &mut refined)?;
            now.iter_mut().for_each(|task| task.restart(&refined.domain));
            left.extend(now);
        }
        Ok(left)
    }

    pub fn threads(&self) -> usize {
        self.options.threads.map_or(1, |threads| threads as usize)
    }

    /// For the paper's engine: the best bounds that slopes alone give.
    pub fn tighten_region(&mut self, tasks: &mut Vec<Task<'a>>, refined: &mut Refined) -> Result<(), End> {
        self.control.enter(Stage::Bounds);
        self.raise_layers(refined)?;
        self.show_undecided(&refined.domain);
        self.close_at_root(tasks, refined);
        Ok(())
    }

    /// Closes what it can of tasks that share their box.
    fn close_region(&mut self, tasks: &mut Vec<Task<'a>>, refined: &mut Refined) -> Result<(), End> {
        self.close_at_root(tasks, refined);
        'rounds: for (number, (round, nodes)) in ROUNDS.into_iter().enumerate() {
            let is_last = number + 1 == ROUNDS.len();
            if number > 0 {
                self.attack_tasks(tasks, refined, number)?;
            }
            for layer in 1..self.layers.hidden() {
                if tasks.is_empty() {
                    return Ok(());
                }
                let start = Instant::now();
                let ahead =
                    if number > 0 && layer <= AHEAD { ROUNDS[(number + 1).min(ROUNDS.len() - 1)].0 } else { round };
                let result = self.refine_layer(refined, layer, ahead);
                self.times.refine += start.elapsed().as_secs_f64();
                let Refinement { is_near, reached } = result?;
                self.show_undecided(&refined.domain);
                self.attack_from_reached(tasks, refined, &reached)?;
                self.close_at_root(tasks, refined);
                self.close_by_tail(tasks, refined, layer, round)?;
                if !is_near && !is_last {
                    continue 'rounds;
                }
            }
            self.relax_tasks(tasks, refined)?;
            self.close_by_phases(tasks, refined, nodes)?;
        }
        Ok(())
    }

    /// Looks for a counterexample of each task: each time twice as hard for boxes, and from other points.
    pub fn attack_tasks(&mut self, tasks: &[Task<'a>], refined: &Refined, time: usize) -> Result<(), End> {
        self.control.enter(Stage::Attack);
        let start = Instant::now();
        let front = self.front(refined.input(), &refined.domain, self.layers.hidden());
        let mut random = Random::new(self.options.seed.wrapping_add(time as u64));
        let (owners, rows) = self.task_rows(tasks, 0..tasks.len(), &front, &refined.domain);
        let rows: Vec<&Row> = rows.iter().collect();
        // To pull a point into a set that is no box takes long.
        let attacks = if are_boxes(tasks) { ATTACKS << time } else { ATTACKS >> (2 * time) };
        for number in 0..attacks {
            self.go_on()?;
            let from_centre = time == 0 && number == 0;
            let found = attack(&front, &rows, ATTACK_STEPS, (!from_centre).then_some(&mut random));
            self.follow(tasks, &owners, &found)?;
        }
        self.times.attack += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Attacks each row from those of the given points where it is lowest. Where hidden neurons are at their extremes, gradients
    /// are alive that vanish elsewhere.
    pub fn attack_from_reached(&mut self, tasks: &[Task<'a>], refined: &Refined, reached: &[Found]) -> Result<(), End> {
        self.control.enter(Stage::Attack);
        let start = Instant::now();
        let front = self.front(refined.input(), &refined.domain, self.layers.hidden());
        let (owners, rows) = self.task_rows(tasks, 0..tasks.len(), &front, &refined.domain);
        let values = values(&front, &rows, reached);
        let mut points: Vec<usize> = (0..reached.len()).collect();
        let (mut attacked, mut starts) = (Vec::new(), Vec::new());
        for (r, (&owner, row)) in owners.iter().zip(&rows).enumerate() {
            points.sort_by(|&a, &b| values[a][r].total_cmp(&values[b][r]));
            for &point in points.iter().take(STARTS) {
                attacked.push(owner);
                starts.push((row, &reached[point]));
            }
        }
        let found = attack_from(&front, &starts, ATTACK_STEPS);
        self.follow(tasks, &attacked, &found)?;
        self.times.attack += start.elapsed().as_secs_f64();
        Ok(())
    }

    /// Tries the points that attacks on tasks have found.
    fn follow(&mut self, tasks: &[Task<'a>], owners: &[usize], found: &[Found]) -> Result<(), End> {
        let are_boxes = are_boxes(tasks);
        for (&task, found) in owners.iter().zip(found) {
            let point: Vec<f64> = found.x[..self.network.inputs()].iter().map(|&x| f64::from(x)).collect();
            let disjunct = tasks[task].disjunct;
            if found.value <= NEARLY_VIOLATED {
                self.descend(disjunct, &point)?;
            } else if are_boxes {
                // Where one row is low, another task may be violated.
                self.try_near(disjunct, &point)?;
            }
        }
        Ok(())
    }

    /// Solves the linear program of each task once: its point is often near a counterexample that gradients miss.
    fn relax_tasks(&mut self, tasks: &mut Vec<Task<'a>>, refined: &Refined) -> Result<(), End> {
        let undecided: usize = (0..self.layers.hidden()).map(|layer| refined.domain.undecided(layer).count()).sum();
        if undecided > SMALL_PROGRAM {
            return Ok(());
        }
        self.control.enter(Stage::Lp);
        let mut closed = Vec::new();
        for (index, task) in tasks.iter_mut().enumerate() {
            self.go_on()?;
            task.restart(&refined.domain);
            if self.closes_root(task)? {
                closed.push(index);
            }
        }
        self.drop_closed(tasks, &closed);
        Ok(())
    }

    /// Every row of the given tasks, with the number of its task.
    pub fn task_rows(
        &self,
        tasks: &[Task<'a>],
        open: impl IntoIterator<Item = usize>,
        front: &Front,
        domain: &Domain,
    ) -> (Vec<usize>, Vec<Row>) {
        let last = &self.layers.0[self.layers.hidden()];
        let rows = |t: usize| tasks[t].rows.iter().map(move |row| (t, front.objective_row(last, row, domain)));
        open.into_iter().flat_map(rows).unzip()
    }

    /// Drops the tasks that a raised bound of one of their rows excludes.
    pub fn close_at_root(&mut self, tasks: &mut Vec<Task<'a>>, refined: &Refined) {
        let front = self.front(refined.input(), &refined.domain, self.layers.hidden());
        let (owners, rows) = self.task_rows(tasks, 0..tasks.len(), &front, &refined.domain);
        let roots = self.raise(&front, &rows, AT_ROOT);
        self.control.set_bound(farthest(&owners, &roots));
        let excluded = owners.into_iter().zip(roots).filter(|(_, root)| root.bound > 0.0);
        let mut closed: Vec<usize> = excluded.map(|(task, _)| task).collect();
        closed.dedup();
        self.drop_closed(tasks, &closed);
    }

    pub fn drop_closed(&mut self, tasks: &mut Vec<Task<'a>>, closed: &[usize]) {
        let mut index = 0;
        tasks.retain(|_| {
            index += 1;
            !closed.contains(&(index - 1))
        });
        closed.iter().for_each(|_| self.close_leaf());
        self.control.set_open(tasks.len());
    }

    /// Branch and bound on the row of each task that is nearest to excluding it.
    fn close_by_phases(&mut self, tasks: &mut Vec<Task<'a>>, refined: &Refined, nodes: u64) -> Result<(), End> {
        self.control.enter(Stage::Prove);
        let start = Instant::now();
        let front = self.front(refined.input(), &refined.domain, self.layers.hidden());
        let (owners, rows) = self.task_rows(tasks, 0..tasks.len(), &front, &refined.domain);
        let roots = self.raise(&front, &rows, AT_ROOT);
        let mut best: Vec<(usize, Claim)> = Vec::new();
        for ((task, row), root) in owners.into_iter().zip(rows).zip(roots) {
            match best.last_mut().filter(|(owner, _)| *owner == task) {
                Some((_, claim)) if claim.root.bound >= root.bound => {}
                Some((_, claim)) => *claim = Claim { row, target: 0.0, root },
                None => best.push((task, Claim { row, target: 0.0, root })),
            }
        }
        let (owners, claims): (Vec<usize>, Vec<Claim>) = best.into_iter().unzip();
        let effort = Effort { nodes, total: u64::MAX, all_or_nothing: true, steps: AT_NODE, threads: self.threads() };
        let answers = prove(&front, claims.iter().collect(), effort, self.control);
        let mut closed = Vec::new();
        for (task, answer) in owners.into_iter().zip(&answers) {
            self.counters.property_nodes += answer.nodes;
            self.counters.leaves += answer.leaves;
            self.counters.max_depth = self.counters.max_depth.max(answer.depth);
            if answer.proved {
                closed.push(task);
            }
        }
        self.times.prove += start.elapsed().as_secs_f64();
        self.drop_closed(tasks, &closed);
        self.go_on()
    }
}

/// The lowest bound of an open task, each by its best row; NaN if none is open.
fn farthest(owners: &[usize], roots: &[Node]) -> f64 {
    let rows: Vec<(&usize, f32)> = owners.iter().zip(roots.iter().map(|root| root.bound)).collect();
    let best = |rows: &[(&usize, f32)]| rows.iter().map(|row| row.1).fold(f32::NEG_INFINITY, f32::max);
    let bounds = rows.chunk_by(|a, b| a.0 == b.0).map(best);
    bounds.filter(|bound| *bound <= 0.0).fold(f32::NAN, f32::min).into()
}

fn are_boxes(tasks: &[Task]) -> bool {
    tasks.iter().all(|task| task.disjunct.is_box())
}
