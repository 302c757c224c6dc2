//! The threads of a search over boxes: each has kernels of its own and judges batches of cells.
//!
//! Batches are taken back in the order in which they were handed out, whichever thread is done first, so what a search does
//! depends on how many batches are under way at a time but not on how fast threads are.

use super::batch::{judge, look};
use super::cell::{Cell, Judged};
use super::question::Question;
use crate::bounds::{BoxKernel, BoxNumber};
use crate::tuning::BoxTuning;
use pg_core::Network;
use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Condvar, Mutex, MutexGuard};

/// What to do with a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// By forms alone.
    Look,
    /// In float32, and in float64.
    Coarse,
    Fine,
}

/// What a thread judges batches with.
struct Hand<'q, 'a> {
    given: Given<'q, 'a>,
    /// Once there is a batch for it.
    coarse: Option<BoxKernel<'a, f32>>,
    fine: Option<BoxKernel<'a, f64>>,
}

#[derive(Clone, Copy)]
pub struct Given<'q, 'a> {
    pub network: &'a dyn Network,
    pub question: &'q Question<'a>,
    pub tuning: &'q BoxTuning,
}

impl<'q, 'a> Given<'q, 'a> {
    fn kernel<T: BoxNumber>(&self) -> BoxKernel<'a, T> {
        BoxKernel::new(self.network, &self.question.directions, self.tuning.refined)
    }
}

impl<'q, 'a> Hand<'q, 'a> {
    fn new(given: Given<'q, 'a>) -> Hand<'q, 'a> {
        Hand { given, coarse: None, fine: None }
    }

    fn work(&mut self, work: Work, cells: Vec<Cell>) -> Vec<Judged> {
        let Given { question, tuning, .. } = self.given;
        let coarse = || self.given.kernel();
        match work {
            Work::Look => look(self.coarse.get_or_insert_with(coarse), question, cells),
            Work::Coarse => judge(self.coarse.get_or_insert_with(coarse), question, cells, tuning),
            Work::Fine => judge(self.fine.get_or_insert_with(|| self.given.kernel()), question, cells, tuning),
        }
    }
}

/// A batch by its number.
type Batch = (usize, Work, Vec<Cell>);

/// What a batch came to, or what its thread panicked with.
type Done = std::thread::Result<Vec<Judged>>;

#[derive(Default)]
struct Table {
    waiting: VecDeque<Batch>,
    done: HashMap<usize, Done>,
    is_over: bool,
}

#[derive(Default)]
struct Shared {
    table: Mutex<Table>,
    /// There is a batch that waits, or it is over; there is one that is done.
    waits: Condvar,
    is_done: Condvar,
}

impl Shared {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().expect("nobody panics at the table")
    }

    /// What the other threads do until it is over.
    fn serve(&self, mut hand: Hand) {
        let mut table = self.table();
        while !table.is_over {
            let Some((number, work, cells)) = table.waiting.pop_front() else {
                table = self.waits.wait(table).expect("nobody panics at the table");
                continue;
            };
            drop(table);
            let done = catch_unwind(AssertUnwindSafe(|| hand.work(work, cells)));
            table = self.table();
            table.done.insert(number, done);
            self.is_done.notify_one();
        }
    }
}

/// Threads that wait for batches, and the caller's, which works while it waits for theirs.
pub struct Crew<'s, 'q, 'a> {
    shared: &'s Shared,
    own: Hand<'q, 'a>,
    /// How many batches were handed out, and how many of these were taken back.
    handed: usize,
    taken: usize,
}

/// Does something with so many threads, the caller's included.
pub fn with_crew<R>(threads: usize, given: Given, then: impl FnOnce(Crew) -> R) -> R {
    let shared = Shared::default();
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| shared.serve(Hand::new(given)));
        }
        then(Crew { shared: &shared, own: Hand::new(given), handed: 0, taken: 0 })
    })
}

impl Crew<'_, '_, '_> {
    /// How many batches are under way.
    pub fn busy(&self) -> usize {
        self.handed - self.taken
    }

    pub fn hand(&mut self, work: Work, cells: Vec<Cell>) {
        self.shared.table().waiting.push_back((self.handed, work, cells));
        self.shared.waits.notify_one();
        self.handed += 1;
    }

    /// What the batch has come to that was handed out before all others under way.
    pub fn take(&mut self) -> Vec<Judged> {
        assert!(self.busy() > 0, "a batch is under way");
        let mut table = self.shared.table();
        loop {
            if let Some(done) = table.done.remove(&self.taken) {
                self.taken += 1;
                return done.unwrap_or_else(|panic| resume_unwind(panic));
            }
            let Some((number, work, cells)) = table.waiting.pop_front() else {
                table = self.shared.is_done.wait(table).expect("nobody panics at the table");
                continue;
            };
            drop(table);
            let judged = self.own.work(work, cells);
            table = self.shared.table();
            table.done.insert(number, Ok(judged));
        }
    }
}

impl Drop for Crew<'_, '_, '_> {
    fn drop(&mut self) {
        self.shared.table().is_over = true;
        self.shared.waits.notify_all();
    }
}
