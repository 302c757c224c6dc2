//! The progress line: where the search stands, while it goes on.

use super::terminal::{Status, fit};
use crate::report::{Control, Progress};
use std::collections::VecDeque;

/// Speeds are those of the last seconds.
const WINDOW: f64 = 10.0;
/// The share of the search space from which it is told, and from which the time that is left can be estimated.
const SOME: f64 = 0.0005;
const ENOUGH: f64 = 0.01;
const SEPARATOR: &str = "  ";

/// What speeds are measured by, and when it was so, in seconds since the clock's start.
#[derive(Clone, Copy, Default)]
struct Sample {
    time: f64,
    nodes: u64,
    closed: f64,
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
        let now = control.progress();
        self.recent.push_back(Sample { time: now.elapsed, nodes: now.nodes, closed: now.closed });
        while self.recent.len() > 2 && self.recent[1].time < now.elapsed - WINDOW {
            self.recent.pop_front();
        }
        let columns = self.status.room().0;
        let text = match control.stop() {
            Some(_) => fit(&[clock(&now), "stopping".into()], SEPARATOR, columns),
            None => text(&self.recent[0], &now, columns),
        };
        self.status.show(text, String::new());
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.status.clear();
    }
}

/// All there is to tell, if it fits; else as much as fits, with one number for the undecided neurons of all layers.
fn text(earlier: &Sample, now: &Progress, columns: usize) -> String {
    let numbers: Vec<String> = now.undecided.iter().map(usize::to_string).collect();
    let whole = parts(earlier, now, &numbers.join("/")).join(SEPARATOR);
    if whole.chars().count() <= columns {
        return whole;
    }
    fit(&parts(earlier, now, &now.undecided.iter().sum::<usize>().to_string()), SEPARATOR, columns)
}

/// `12s of 60s`, `refine`, `34.5% done, 32s left`, `1234 nodes, 100/s`, …: the more important, the earlier. What is not known
/// or does not exist yet is left out.
fn parts(earlier: &Sample, now: &Progress, undecided: &str) -> Vec<String> {
    let passed = (now.elapsed - earlier.time).max(1e-3);
    let speed = now.nodes.saturating_sub(earlier.nodes) as f64 / passed;
    let mut parts = vec![clock(now), now.activity.to_string()];
    if now.closed >= SOME {
        let left = time_left(now.closed, (now.closed - earlier.closed) / passed);
        let left = left.map_or(String::new(), |time| format!(", {time} left"));
        parts.push(format!("{:.1}% done{left}", 100.0 * now.closed.min(0.999)));
    }
    if now.nodes > 0 {
        parts.push(format!("{} nodes, {}/s", count(now.nodes as f64), count(speed)));
    }
    if now.open > 0 {
        parts.push(format!("{} open", count(now.open as f64)));
    }
    parts.extend(now.bound.map(|bound| format!("bound {}", number(bound))));
    if !now.undecided.is_empty() {
        parts.push(format!("undecided {undecided}"));
    }
    if now.depth > 0 {
        parts.push(format!("depth {}", now.depth));
    }
    if now.lp_calls > 0 {
        parts.push(format!("{} LPs", count(now.lp_calls as f64)));
    }
    parts
}

/// `12s of 60s`, or `12s` without a limit.
fn clock(now: &Progress) -> String {
    let limit = now.limit.map_or(String::new(), |limit| format!(" of {}", duration(limit)));
    duration(now.elapsed) + &limit
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

/// About three digits of a bound.
fn number(x: f64) -> String {
    match x.abs() {
        size if size >= 1e5 || (size > 0.0 && size < 1e-3) => format!("{x:.2e}"),
        size if size >= 100.0 => format!("{x:.0}"),
        size if size >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Activity;

    fn text(earlier: (f64, u64, f64), now: &Progress) -> String {
        text_in(usize::MAX, earlier, now)
    }

    fn text_in(columns: usize, (time, nodes, closed): (f64, u64, f64), now: &Progress) -> String {
        super::text(&Sample { time, nodes, closed }, now, columns)
    }

    fn refining() -> Progress {
        Progress {
            activity: Activity::Refine,
            nodes: 1234,
            open: 9,
            bound: Some(-0.12345),
            undecided: vec![12, 40, 3],
            elapsed: 12.0,
            limit: Some(60.0),
            ..Progress::default()
        }
    }

    fn phases(elapsed: f64, nodes: u64, closed: f64) -> Progress {
        let activity = Activity::Phases;
        Progress { activity, nodes, open: 56, depth: 12, lp_calls: 789, closed, elapsed, ..Progress::default() }
    }

    #[test]
    fn a_line_tells_where_the_search_stands() {
        assert_eq!(
            text((2.0, 234, 0.145), &phases(12.0, 1234, 0.345)),
            "12s  phases  34.5% done, 32s left  1234 nodes, 100/s  56 open  depth 12  789 LPs"
        );
        assert_eq!(
            text((2.0, 234, 0.0), &refining()),
            "12s of 60s  refine  1234 nodes, 100/s  9 open  bound -0.1235  undecided 12/40/3"
        );
    }

    #[test]
    fn nothing_is_estimated_from_nothing() {
        let start = Progress { elapsed: 0.2, limit: Some(9.5), ..Progress::default() };
        assert_eq!(text((0.0, 0, 0.0), &start), "0.2s of 9.5s  sampling");
        assert!(!text((0.0, 0, 0.0), &phases(1.0, 5, 0.0004)).contains("done"));
        assert!(!text((0.0, 0, 0.0), &phases(1.0, 5, 0.009)).contains("left"));
        assert!(!text((0.0, 0, 0.3), &phases(1.0, 5, 0.3)).contains("left"), "no headway");
        assert!(!text((0.0, 9, 0.4), &phases(1.0, 5, 0.3)).contains("left"), "a new tree");
        assert!(text((1.0, 5, 0.5), &phases(1.0, 5, 1.0)).contains("99.9%"));
    }

    #[test]
    fn the_line_fits_the_terminal() {
        let text = |columns| text_in(columns, (2.0, 234, 0.0), &refining());
        assert_eq!(text(79), "12s of 60s  refine  1234 nodes, 100/s  9 open  bound -0.1235  undecided 12/40/3");
        assert_eq!(text(78), "12s of 60s  refine  1234 nodes, 100/s  9 open  bound -0.1235  undecided 55");
        assert_eq!(text(59), "12s of 60s  refine  1234 nodes, 100/s  9 open  undecided 55");
        assert_eq!(text(30), "12s of 60s  refine  9 open");
        assert_eq!(text(6), "12s of");
    }

    #[test]
    fn counts_times_and_bounds_are_short() {
        let counts = [0.0, 9_999.0, 10_000.0, 99_940.0, 123_456.0, 1.5e6, 7e9].map(count);
        assert_eq!(counts, ["0", "9999", "10.0k", "99.9k", "123k", "1.5M", "7.0G"]);
        let times = [0.04, 9.94, 9.96, 99.9, 100.0, 3599.0, 3600.0, 90_061.0].map(duration);
        assert_eq!(times, ["0.0s", "9.9s", "10s", "99s", "1m40s", "59m59s", "1h00m", "25h01m"]);
        let numbers = [0.0, -0.01234, -1.234, 1234.5, -1e9, 1e-7].map(number);
        assert_eq!(numbers, ["0.0000", "-0.0123", "-1.23", "1234", "-1.00e9", "1.00e-7"]);
    }
}
