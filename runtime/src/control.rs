//! The search's side of a run: when to stop, and how far it is.
//!
//! One [`Control`] is shared by the search, its threads and the thread that shows progress. Its counters are relaxed atomics:
//! a number that is shown a moment late does no harm, and no verdict depends on one.

use crate::verdict::StopReason;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a search is doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Activity {
    /// Random inputs are tried.
    #[default]
    Sampling,
    /// All neurons are bounded without branching.
    Bounds,
    /// Counterexamples are looked for by gradients.
    Attack,
    /// Bounds of hidden neurons are tightened by branching.
    Refine,
    /// What follows a narrow layer is swept.
    Tail,
    /// The property is proved by branching on phases, without linear programs.
    Prove,
    /// Boxes of inputs are halved.
    Boxes,
    /// The paper's search: phases are fixed, each node with a linear program.
    Phases,
    /// The linear programs of whole boxes are solved.
    Lp,
    /// A node is decided in rational arithmetic.
    Exact,
}

impl Activity {
    const ALL: [Activity; 10] = [
        Activity::Sampling,
        Activity::Bounds,
        Activity::Attack,
        Activity::Refine,
        Activity::Tail,
        Activity::Prove,
        Activity::Boxes,
        Activity::Phases,
        Activity::Lp,
        Activity::Exact,
    ];
}

impl fmt::Display for Activity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.pad(match self {
            Activity::Sampling => "sampling",
            Activity::Bounds => "bounds",
            Activity::Attack => "attack",
            Activity::Refine => "refine",
            Activity::Tail => "tail",
            Activity::Prove => "prove",
            Activity::Boxes => "boxes",
            Activity::Phases => "phases",
            Activity::Lp => "lp",
            Activity::Exact => "exact",
        })
    }
}

/// Where a search stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    pub activity: Activity,
    /// Nodes of all kinds.
    pub nodes: u64,
    /// Goals or nodes that wait for their turn.
    pub open: u64,
    /// Depth of the node at hand.
    pub depth: u64,
    pub lp_calls: u64,
    /// The share of the search space that is closed, each split halving a node's share; 0 where it is not known.
    pub closed: f64,
    /// The bound of the goal at hand, which is closed once this is positive.
    pub bound: Option<f64>,
    /// The undecided neurons of each hidden layer, or nothing where they are not known.
    pub undecided: Vec<usize>,
    /// In seconds, since the clock's start.
    pub elapsed: f64,
    /// The seconds that the search has in all.
    pub limit: Option<f64>,
}

/// When to stop, and how far the search is.
#[derive(Debug)]
pub struct Control {
    start: Instant,
    limit: Option<f64>,
    deadline: Option<Instant>,
    interrupt: AtomicBool,
    /// An index of [`Activity::ALL`].
    activity: AtomicUsize,
    /// By the activity in which they were visited.
    nodes: [AtomicU64; Activity::ALL.len()],
    open: AtomicU64,
    depth: AtomicU64,
    lp_calls: AtomicU64,
    /// As bits of an f64.
    closed: AtomicU64,
    /// As bits of an f64, which is NaN where there is none.
    bound: AtomicU64,
    undecided: Mutex<Vec<usize>>,
}

impl Control {
    pub fn new(timeout: Option<f64>) -> Control {
        let start = Instant::now();
        Control {
            start,
            limit: timeout,
            deadline: timeout.and_then(|s| start.checked_add(Duration::from_secs_f64(s))),
            interrupt: AtomicBool::new(false),
            activity: AtomicUsize::new(0),
            nodes: Default::default(),
            open: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            lp_calls: AtomicU64::new(0),
            closed: AtomicU64::new(0),
            bound: AtomicU64::new(f64::NAN.to_bits()),
            undecided: Mutex::default(),
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// The time left; a very long one if there is no limit.
    pub fn remaining(&self) -> Duration {
        self.deadline.map_or(Duration::from_secs(1_000_000_000), |d| d.saturating_duration_since(Instant::now()))
    }

    /// Asks the search to stop; it does so within a second.
    pub fn interrupt(&self) {
        self.interrupt.store(true, Relaxed);
    }

    /// The flag that a solver polls.
    pub fn interrupt_flag(&self) -> &AtomicBool {
        &self.interrupt
    }

    /// Why to stop now, if so.
    pub fn stop(&self) -> Option<StopReason> {
        if self.interrupt.load(Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(StopReason::Timeout)
        } else {
            None
        }
    }
}

/// What the search tells of itself.
impl Control {
    pub fn enter(&self, activity: Activity) {
        self.activity.store(activity as usize, Relaxed);
    }

    /// Counts nodes of the present activity. Threads that visit many call this once for a batch.
    pub fn add_nodes(&self, count: u64) {
        self.nodes[self.activity.load(Relaxed)].fetch_add(count, Relaxed);
    }

    pub fn add_lp_call(&self) {
        self.lp_calls.fetch_add(1, Relaxed);
    }

    pub fn set_open(&self, count: usize) {
        self.open.store(count as u64, Relaxed);
    }

    pub fn set_depth(&self, depth: u64) {
        self.depth.store(depth, Relaxed);
    }

    /// Adds a part of the search space to what is closed.
    pub fn add_closed(&self, part: f64) {
        let closed = f64::from_bits(self.closed.load(Relaxed)) + part;
        self.closed.store(closed.to_bits(), Relaxed);
    }

    /// While hidden neurons are refined the bounds at hand are theirs: the goal's last one stays.
    pub fn set_bound(&self, bound: f64) {
        if self.activity() != Activity::Refine {
            self.bound.store(bound.to_bits(), Relaxed);
        }
    }

    pub fn set_undecided(&self, by_layer: Vec<usize>) {
        *self.undecided.lock().expect("no holder panics") = by_layer;
    }
}

/// What the others read.
impl Control {
    fn activity(&self) -> Activity {
        Activity::ALL[self.activity.load(Relaxed)]
    }

    /// The nodes that were visited in an activity.
    pub fn nodes_of(&self, activity: Activity) -> u64 {
        self.nodes[activity as usize].load(Relaxed)
    }

    pub fn progress(&self) -> Progress {
        let bound = f64::from_bits(self.bound.load(Relaxed));
        Progress {
            activity: self.activity(),
            nodes: self.nodes.iter().map(|count| count.load(Relaxed)).sum(),
            open: self.open.load(Relaxed),
            depth: self.depth.load(Relaxed),
            lp_calls: self.lp_calls.load(Relaxed),
            closed: f64::from_bits(self.closed.load(Relaxed)),
            bound: (!bound.is_nan()).then_some(bound),
            undecided: self.undecided.lock().expect("no holder panics").clone(),
            elapsed: self.elapsed().as_secs_f64(),
            limit: self.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn activities_are_in_their_own_order() {
        for (index, activity) in Activity::ALL.into_iter().enumerate() {
            assert_eq!(activity as usize, index);
        }
    }

    #[test]
    fn nodes_count_for_their_activity_and_for_all() {
        let control = Control::new(None);
        control.enter(Activity::Refine);
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| control.add_nodes(5)))));
        control.enter(Activity::Prove);
        control.add_nodes(3);
        assert_eq!(
            [Activity::Refine, Activity::Prove, Activity::Boxes].map(|activity| control.nodes_of(activity)),
            [20, 3, 0]
        );
        assert_eq!((control.progress().nodes, control.progress().activity), (23, Activity::Prove));
    }

    #[test]
    fn a_hidden_neuron_s_bound_is_not_the_goal_s() {
        let control = Control::new(Some(60.0));
        assert_eq!(control.progress().bound, None);
        control.enter(Activity::Prove);
        control.set_bound(-0.5);
        control.enter(Activity::Refine);
        control.set_bound(-7.0);
        assert_eq!(control.progress().bound, Some(-0.5));
        assert_eq!(control.progress().limit, Some(60.0));
    }
}
