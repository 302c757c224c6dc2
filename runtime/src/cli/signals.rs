//! Ctrl-C and the signals that end a process.

use super::terminal::Status;
use crate::report::Control;
use crate::verdict::{StopReason, Verdict};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first signal asks the search to stop, so that its result is still written; the second ends the process at once.
pub fn catch(control: Arc<Control>, status: Status) {
    on_interrupt(status, move || control.interrupt());
}

/// Calls `stop` at the first signal, from which the process ends in order; the second ends it at once, without its status.
///
/// A process that was told to outlive a hang-up (`nohup`) keeps the default handling: a handler would undo that.
pub fn on_interrupt(status: Status, stop: impl Fn() + Send + 'static) {
    if hang_up_is_ignored() {
        return;
    }
    let asked = AtomicBool::new(false);
    let handler = move || {
        if asked.swap(true, Ordering::Relaxed) {
            status.clear();
            std::process::exit(Verdict::Unknown(StopReason::Interrupted).exit_code().into());
        }
        stop();
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        super::say(&format!("warning: Ctrl-C will end this without a result: {error}\n"));
    }
}

/// Linux tells the ignored signals as a mask whose lowest bit is the hang-up.
fn hang_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
