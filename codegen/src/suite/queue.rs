//! What is left to run, and the programs that can run it: an instance waits until the program of its network is made.

use super::list::Instance;
use super::programs::{Made, Programs};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Duration;

/// How soon a worker that waits for a program sees that the suite is stopped.
const TICK: Duration = Duration::from_millis(50);

/// Shared by the workers, who take instances, and the builder, who adds programs.
pub struct Queue<'a> {
    instances: &'a [Instance],
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Indices of instances, in the list's order.
    waiting: Vec<usize>,
    programs: Programs,
    /// No program will be added any more.
    closed: bool,
}

impl<'a> Queue<'a> {
    pub fn new(instances: &'a [Instance], waiting: Vec<usize>, programs: Programs) -> Queue<'a> {
        Queue { instances, state: Mutex::new(State { waiting, programs, closed: false }), changed: Condvar::new() }
    }

    pub fn add(&self, network: &Path, made: Made) {
        self.state().programs.add(network, made);
        self.changed.notify_all();
    }

    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// Takes the first instance whose program is there, and waits for one if need be. `None` if nothing is left that could
    /// run, or the suite is stopped.
    pub fn take(&self, stop: &AtomicBool) -> Option<usize> {
        let mut state = self.state();
        while !stop.load(Ordering::Relaxed) {
            let is_ready = |&k: &usize| state.programs.has(&self.instances[k]);
            if let Some(at) = state.waiting.iter().position(is_ready) {
                return Some(state.waiting.remove(at));
            }
            if state.closed || state.waiting.is_empty() {
                return None;
            }
            state = self.changed.wait_timeout(state, TICK).expect("no holder panics").0;
        }
        None
    }

    /// The command line that asks an instance's question, or why there is none; and what making its program took.
    pub fn command(&self, instance: &Instance) -> (Result<Command, String>, f64) {
        let state = self.state();
        (state.programs.command(instance), state.programs.seconds(instance))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no holder panics")
    }
}

#[cfg(test)]
mod tests {
    use super::super::programs::Program;
    use super::*;

    fn instances() -> Vec<Instance> {
        let instance = |(k, network): (usize, &&str)| Instance {
            number: k + 1,
            network: network.to_string(),
            network_file: network.into(),
            property: "p".into(),
            eps: None,
            question: vec!["verify".into(), "p".into()],
            limit: 1.0,
            is_first: true,
        };
        ["a", "b", "a", "c"].iter().enumerate().map(instance).collect()
    }

    fn made() -> Made {
        Made { program: Program::Verifier("verifier".into()), seconds: 2.0 }
    }

    #[test]
    fn an_instance_waits_for_its_program() {
        let (instances, stop) = (instances(), AtomicBool::new(false));
        let queue = Queue::new(&instances, vec![0, 1, 2, 3], Programs::default());
        queue.add(Path::new("a"), made());
        assert_eq!((queue.take(&stop), queue.take(&stop)), (Some(0), Some(2)), "the first that can run");
        std::thread::scope(|scope| {
            let later = scope.spawn(|| queue.take(&stop));
            queue.add(Path::new("b"), made());
            assert_eq!(later.join().unwrap(), Some(1));
        });
        assert_eq!(queue.command(&instances[1]).1, 2.0);
        queue.close();
        assert_eq!(queue.take(&stop), None, "nothing will be made for the last one");
        assert!(queue.command(&instances[3]).0.is_err());
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let (instances, stop) = (instances(), AtomicBool::new(false));
        let queue = Queue::new(&instances, vec![3], Programs::default());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.take(&stop));
            stop.store(true, Ordering::Relaxed);
            assert_eq!(waiting.join().unwrap(), None);
        });
    }
}
