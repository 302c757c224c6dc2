//! Many cases, over threads.

use super::{Asking, Kind, Tally, Trial};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is to be tried.
pub struct Plan {
    pub asking: Asking,
    pub numbers: Range<u64>,
    /// Only cases of this kind, if there is one.
    pub kind: Option<Kind>,
    pub threads: usize,
}

/// Tries every case of the plan. What `tell` is shown after each depends on the threads only in its order.
pub fn run(plan: &Plan, tell: impl Fn(&Trial, &Tally) + Sync) -> Tally {
    let (next, tally) = (AtomicU64::new(plan.numbers.start), Mutex::new(Tally::default()));
    let work = || {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= plan.numbers.end {
                return;
            }
            if plan.kind.is_some_and(|kind| kind != Kind::of(number)) {
                continue;
            }
            let trial = Trial::in_turn(&plan.asking, number);
            let mut tally = tally.lock().expect("no holder panics");
            tally.count(&trial);
            tell(&trial, &tally);
        }
    };
    std::thread::scope(|scope| (0..plan.threads).for_each(|_| drop(scope.spawn(work))));
    tally.into_inner().expect("no holder panics")
}
