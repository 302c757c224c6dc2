//! How far a suite is: a bar and what runs below it on a terminal, elsewhere a line for each instance that ends.

use super::list::Instance;
use super::record::{Record, Word};
use pg_runtime::cli::{Status, duration, fit, say};
use std::time::Instant;

/// Of more running instances than this only the number is told.
const MOST_SHOWN: usize = 8;

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Bar,
    Lines,
    Silent,
}

/// An instance that runs, by its index.
struct Running {
    index: usize,
    since: Instant,
}

/// What is told of a suite; dropping it erases the bar.
pub struct Progress<'a> {
    status: Status,
    style: Style,
    instances: &'a [Instance],
    tally: Tally,
    /// The longest first.
    running: Vec<Running>,
    /// What is built meanwhile.
    building: Option<String>,
    start: Instant,
}

impl<'a> Progress<'a> {
    pub fn new<'r>(
        status: Status,
        quiet: bool,
        instances: &'a [Instance],
        done: impl Iterator<Item = &'r Record>,
    ) -> Progress<'a> {
        let style = match (quiet, status.is_shown()) {
            (true, _) => Style::Silent,
            (false, true) => Style::Bar,
            (false, false) => Style::Lines,
        };
        let mut tally = Tally { total: instances.len(), ..Tally::default() };
        done.for_each(|record| tally.count(record.verdict));
        tally.done_before = tally.done();
        Progress { status, style, instances, tally, running: vec![], building: None, start: Instant::now() }
    }

    pub fn started(&mut self, index: usize) {
        self.running.push(Running { index, since: Instant::now() });
        self.draw();
    }

    /// An instance has ended. What went wrong is told on a terminal too.
    pub fn ended(&mut self, index: usize, record: &Record, expected: Option<Word>) {
        self.running.retain(|running| running.index != index);
        self.tally.count(record.verdict);
        let contradicted = expected.filter(|expected| record.verdict.contradicts(*expected));
        let line = line(record, &self.tally, contradicted);
        match self.style {
            Style::Lines => say(&format!("{line}\n")),
            Style::Bar if contradicted.is_some() || record.complaint().is_some() => self.status.tell(&line),
            Style::Bar | Style::Silent => {}
        }
        self.draw();
    }

    /// Something is built beside what runs, or nothing any more.
    pub fn building(&mut self, what: Option<String>) {
        if let (Style::Lines, Some(what)) = (self.style, &what) {
            say(&format!("{what}\n"));
        }
        self.building = what;
        self.draw();
    }

    pub fn draw(&self) {
        if self.style != Style::Bar {
            return;
        }
        let (behind_bar, below) = self.status.room();
        let elapsed = |since: Instant| since.elapsed().as_secs_f64();
        let running = self.running.iter().map(|running| {
            let instance = &self.instances[running.index];
            let (taken, limit) = (duration(elapsed(running.since)), duration(instance.limit));
            format!("{} {taken} of {limit}", instance.stems().join(" "))
        });
        let running: Vec<String> = running.collect();
        self.status.advance(self.tally.done());
        self.status.show(
            fit(&self.tally.parts(elapsed(self.start)), "  ", behind_bar),
            details(&running, self.building.as_deref(), below),
        );
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        self.status.clear();
    }
}

/// What came out so far.
#[derive(Default)]
struct Tally {
    total: usize,
    /// How many of each word, in the order of [`Word::ALL`].
    counts: [usize; Word::ALL.len()],
    /// Those that were done before the start say nothing about the speed.
    done_before: usize,
}

impl Tally {
    fn count(&mut self, word: Word) {
        self.counts[Word::ALL.iter().position(|known| *known == word).expect("all words")] += 1;
    }

    fn done(&self) -> usize {
        self.counts.iter().sum()
    }

    /// `112/296`, `1m40s, 3m04s left`, `unsat 70`, `sat 40`, …
    fn parts(&self, elapsed: f64) -> Vec<String> {
        let done = self.done();
        let mut time = duration(elapsed);
        let done_now = done - self.done_before;
        if done_now > 0 && done < self.total {
            let left = elapsed / done_now as f64 * (self.total - done) as f64;
            time += &format!(", {} left", duration(left));
        }
        let mut parts = vec![format!("{done}/{}", self.total), time];
        let counts = Word::ALL.iter().zip(self.counts).filter(|(_, count)| *count > 0);
        parts.extend(counts.map(|(word, count)| format!("{word} {count}")));
        parts
    }
}

/// What runs, and behind it what is built, if that fits too.
fn details(running: &[String], building: Option<&str>, columns: usize) -> String {
    let parts = [shown(running, columns), building.unwrap_or_default().to_string()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    fit(&parts, ", ", columns)
}

/// As many of the running instances as fit, and how many there are more.
fn shown(running: &[String], columns: usize) -> String {
    for shown in (1..=running.len().min(MOST_SHOWN)).rev() {
        let more = match running.len() - shown {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = running[..shown].join(", ") + &more;
        if text.chars().count() <= columns {
            return text;
        }
    }
    fit(&running[..running.len().min(1)], "", columns)
}

fn line(record: &Record, tally: &Tally, contradicted: Option<Word>) -> String {
    let Record { verdict, seconds, network, property, .. } = record;
    let mut line = format!("{}/{} {verdict:7} {seconds:8.3} s  {network} {property}", tally.done(), tally.total);
    if let Some(expected) = contradicted {
        line += &format!("  DISAGREES: {expected} was expected");
    }
    if let Some(complaint) = record.complaint() {
        line += &format!("  {}", complaint.replace('\n', " "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_tells_counts_and_the_time_left() {
        let text = |counts, elapsed| Tally { total: 296, counts, done_before: 12 }.parts(elapsed).join("  ");
        assert_eq!(text([70, 40, 0, 2, 0], 100.0), "112/296  1m40s, 3m04s left  unsat 70  sat 40  timeout 2");
        assert_eq!(text([12, 0, 0, 0, 0], 0.5), "12/296  0.5s  unsat 12", "no speed is known yet");
    }

    #[test]
    fn what_runs_fits_the_terminal() {
        let running = ["one a 12s of 60s", "two b 9.0s of 60s", "three c 1.0s of 60s"].map(String::from);
        let details = |columns| super::details(&running, Some("building 2 of 3: net.onnx"), columns);
        assert_eq!(details(90), "one a 12s of 60s, two b 9.0s of 60s, three c 1.0s of 60s, building 2 of 3: net.onnx");
        assert_eq!(details(60), "one a 12s of 60s, two b 9.0s of 60s, three c 1.0s of 60s");
        assert_eq!(details(50), "one a 12s of 60s, two b 9.0s of 60s and 1 more");
        assert_eq!(details(30), "one a 12s of 60s and 2 more");
        assert_eq!(details(10), "one a 12s ");
        assert_eq!(super::details(&[], None, 80), "");
        assert_eq!(super::details(&[], Some("building"), 80), "building");
    }
}
