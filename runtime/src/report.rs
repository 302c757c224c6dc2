//! What a run did: counters and times, kept while it goes and reported at its end.

use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::verdict::StopReason;

/// What a search counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Counters {
    /// Nodes of the search tree that were visited.
    pub nodes: u64,
    /// Nodes of the trees that bound hidden neurons, and of those that bound the property, without a linear program.
    pub neuron_nodes: u64,
    pub property_nodes: u64,
    /// Leaves closed by a rigorous bound.
    pub leaves: u64,
    /// Linear programs solved: the paper's convex calls.
    pub lp_calls: u64,
    pub simplex_iterations: u64,
    /// Rows pushed backward through the network for bounds.
    pub bound_rows: u64,
    pub samples: u64,
    /// Leaves that the exact rational method decided.
    pub exact_calls: u64,
    pub max_depth: u64,
}

/// Where the time went, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    pub total: f64,
    pub sampling: f64,
    pub attack: f64,
    pub refine: f64,
    pub prove: f64,
    pub bounds: f64,
    pub lp: f64,
    pub certify: f64,
}

/// The search's side of a run: when to stop, and how far it is. Shared with the thread that shows progress.
#[derive(Debug)]
pub struct Control {
    start: Instant,
    deadline: Option<Instant>,
    interrupt: AtomicBool,
    nodes: AtomicU64,
    open: AtomicU64,
    depth: AtomicU64,
    lp_calls: AtomicU64,
    /// The share of the search space that is closed, as bits of an f64.
    closed: AtomicU64,
}

impl Control {
    pub fn new(timeout: Option<f64>) -> Control {
        let start = Instant::now();
        let deadline = timeout.and_then(|s| start.checked_add(Duration::from_secs_f64(s)));
        Control {
            start,
            deadline,
            interrupt: AtomicBool::new(false),
            nodes: AtomicU64::new(0),
            open: AtomicU64::new(0),
            depth: AtomicU64::new(0),
            lp_calls: AtomicU64::new(0),
            closed: AtomicU64::new(0),
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
        self.interrupt.store(true, Ordering::Relaxed);
    }

    /// The flag that a solver polls.
    pub fn interrupt_flag(&self) -> &AtomicBool {
        &self.interrupt
    }

    /// Why to stop now, if so.
    pub fn stop(&self) -> Option<StopReason> {
        if self.interrupt.load(Ordering::Relaxed) {
            Some(StopReason::Interrupted)
        } else if self.deadline.is_some_and(|d| Instant::now() >= d) {
            Some(StopReason::Timeout)
        } else {
            None
        }
    }

    /// Tells where the search stands.
    pub fn show(&self, progress: &Progress) {
        self.nodes.store(progress.nodes, Ordering::Relaxed);
        self.open.store(progress.open, Ordering::Relaxed);
        self.depth.store(progress.depth, Ordering::Relaxed);
        self.lp_calls.store(progress.lp_calls, Ordering::Relaxed);
        self.closed.store(progress.closed.to_bits(), Ordering::Relaxed);
    }

    pub fn progress(&self) -> Progress {
        Progress {
            nodes: self.nodes.load(Ordering::Relaxed),
            open: self.open.load(Ordering::Relaxed),
            depth: self.depth.load(Ordering::Relaxed),
            lp_calls: self.lp_calls.load(Ordering::Relaxed),
            closed: f64::from_bits(self.closed.load(Ordering::Relaxed)),
        }
    }
}

/// Where a search stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Progress {
    pub nodes: u64,
    /// Nodes that wait for their turn.
    pub open: u64,
    /// Depth of the node at hand.
    pub depth: u64,
    pub lp_calls: u64,
    /// The share of the search space that is closed: each split halves a node's share.
    pub closed: f64,
}
