//! The progress line: where the search stands, while it goes on.

use super::terminal::{Status, fit};
use crate::report::{Control, Progress};
use std::collections::VecDeque;

/// Speeds are those of the last seconds.
const WINDOW: f64 = 10.0;
/// The share of the search space below which the time that is left cannot be estimated.
const ENOUGH: f64 = 0.01;
const SEPARATOR: &str = "  ";

/// Where the search stood, and when, in seconds since its start.
#[derive(Clone, Copy, Default)]
struct Sample {
    time: f64,
    progress: Progress,
}

/// The line on stderr; dropping it erases it.
pub struct Line {
    status: Status,
    /// The samples of the last seconds, oldest first.
    recent: VecDeque<Sample>,
}

impl Line {
    pub fn new(status: Status) -> Line {
        Line { status, recent: VecDeque::from([Sample::default()]) }
    }

    pub fn draw(&mut self, control: &Control) {
        if !self.status.is_shown() {
            return;
        }
        let now = Sample { time: control.elapsed().as_secs_f64(), progress: control.progress() };
        self.recent.push_back(now);
        while self.recent.len() > 2 && self.recent[1].time < now.time - WINDOW {
            self.recent.pop_front();
        }
        let parts = if control.stop().is_some() { vec!["stopping".into()] } else { parts(&self.recent[0], &now) };
        self.status.show(fit(&parts, SEPARATOR, self.status.room().0), String::new());
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.status.clear();
    }
}

/// `12s  34.5% done, 25s left  1234 nodes, 100/s  56 open  depth 12  789 LPs`
fn parts(earlier: &Sample, now: &Sample) -> Vec<String> {
    let Progress { nodes, open, depth, lp_calls, closed } = now.progress;
    let passed = (now.time - earlier.time).max(1e-3);
    let speed = nodes.saturating_sub(earlier.progress.nodes) as f64 / passed;
    let mut parts = vec![duration(now.time)];
    if closed > 0.0 {
        let left = time_left(closed, (closed - earlier.progress.closed) / passed);
        parts.push(
            format!("{:.1}% done", 100.0 * closed.min(0.999)) + &left.map_or(String::new(), |t| format!(", {t} left")),
        );
    }
    parts.push(format!("{} nodes, {}/s", count(nodes as f64), count(speed)));
    parts.push(format!("{} open", count(open as f64)));
    parts.push(format!("depth {depth}"));
    parts.push(format!("{} LPs", count(lp_calls as f64)));
    parts
}

/// At the present speed, once that means something.
fn time_left(closed: f64, speed: f64) -> Option<String> {
    let seconds = (1.0 - closed) / speed;
    (closed >= ENOUGH && (0.0..1e6).contains(&seconds)).then(|| duration(seconds))
}

/// A time in a few characters, such as `9.5s`, `2m05s` or `1h00m`.
pub fn duration(seconds: f64) -> String {
    let whole = (seconds + 0.05) as u64;
    match whole {
        0..10 => format!("{seconds:.1}s"),
        10..100 => format!("{whole}s"),
        100..3600 => format!("{}m{:02}s", whole / 60, whole % 60),
        _ => format!("{}h{:02}m", whole / 3600, whole / 60 % 60),
    }
}

/// At most five characters for whatever a search counts.
fn count(n: f64) -> String {
    let (scaled, unit) = match n {
        n if n < 1e4 => return format!("{n:.0}"),
        n if n < 1e6 => (n / 1e3, "k"),
        n if n < 1e9 => (n / 1e6, "M"),
        n => (n / 1e9, "G"),
    };
    if scaled < 99.95 { format!("{scaled:.1}{unit}") } else { format!("{scaled:.0}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(earlier: &Sample, now: &Sample) -> String {
        parts(earlier, now).join(SEPARATOR)
    }

    fn sample(time: f64, nodes: u64, closed: f64) -> Sample {
        Sample { time, progress: Progress { nodes, open: 56, depth: 12, lp_calls: 789, closed } }
    }

    #[test]
    fn a_line_tells_where_the_search_stands() {
        let text = text(&sample(2.0, 234, 0.145), &sample(12.0, 1234, 0.345));
        assert_eq!(text, "12s  34.5% done, 32s left  1234 nodes, 100/s  56 open  depth 12  789 LPs");
    }

    #[test]
    fn nothing_is_estimated_from_nothing() {
        assert_eq!(
            text(&Sample::default(), &Sample { time: 0.2, progress: Progress::default() }),
            "0.2s  0 nodes, 0/s  0 open  depth 0  0 LPs"
        );
        assert!(!text(&sample(0.0, 0, 0.0), &sample(1.0, 5, 0.009)).contains("left"));
        assert!(!text(&sample(0.0, 0, 0.3), &sample(1.0, 5, 0.3)).contains("left"), "no headway");
        assert!(!text(&sample(0.0, 9, 0.4), &sample(1.0, 5, 0.3)).contains("left"), "a new tree");
        assert!(text(&sample(1.0, 5, 0.5), &sample(1.0, 5, 1.0)).contains("99.9%"));
    }

    #[test]
    fn counts_and_times_are_short() {
        let counts = [0.0, 9_999.0, 10_000.0, 99_940.0, 123_456.0, 1.5e6, 7e9].map(count);
        assert_eq!(counts, ["0", "9999", "10.0k", "99.9k", "123k", "1.5M", "7.0G"]);
        let times = [0.04, 9.94, 9.96, 99.9, 100.0, 3599.0, 3600.0, 90_061.0].map(duration);
        assert_eq!(times, ["0.0s", "9.9s", "10s", "99s", "1m40s", "59m59s", "1h00m", "25h01m"]);
    }
}
