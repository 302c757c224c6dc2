//! How far a suite is: a bar on a terminal, elsewhere a line for each instance that ends.

use super::record::{Record, Word};
use pg_runtime::cli::{duration, say};
use std::io::IsTerminal;
use std::time::Instant;

/// The bar fits a terminal of 80 columns without wrapping.
const COLUMNS: usize = 79;
const WIDTH: usize = 20;
const ERASE_THE_REST: &str = "\x1b[K";

#[derive(Clone, Copy, PartialEq)]
enum Style {
    Bar,
    Lines,
    Silent,
}

pub struct Progress {
    style: Style,
    total: usize,
    /// How many of each word, in the order of [`Word::ALL`].
    counts: [usize; Word::ALL.len()],
    start: Instant,
    /// Those that were done before the start say nothing about the speed.
    done_before: usize,
}

impl Progress {
    pub fn new<'a>(quiet: bool, total: usize, done: impl Iterator<Item = &'a Record>) -> Progress {
        let style = match (quiet, std::io::stderr().is_terminal()) {
            (true, _) => Style::Silent,
            (false, true) => Style::Bar,
            (false, false) => Style::Lines,
        };
        let mut progress = Progress { style, total, counts: Default::default(), start: Instant::now(), done_before: 0 };
        done.for_each(|record| progress.count(record.verdict));
        progress.done_before = progress.done();
        progress
    }

    fn count(&mut self, word: Word) {
        self.counts[Word::ALL.iter().position(|known| *known == word).expect("all words")] += 1;
    }

    fn done(&self) -> usize {
        self.counts.iter().sum()
    }

    /// An instance has ended. What went wrong is told on a terminal too.
    pub fn ended(&mut self, record: &Record, expected: Option<Word>) {
        self.count(record.verdict);
        let disagrees = expected.is_some_and(|expected| record.verdict.contradicts(expected));
        if self.style == Style::Lines || (self.style == Style::Bar && (disagrees || record.trouble.is_some())) {
            let line = line(record, self.done(), self.total, expected.filter(|_| disagrees));
            self.tell(&line);
        }
        self.draw();
    }

    /// A line above the bar.
    pub fn tell(&self, line: &str) {
        match self.style {
            Style::Bar => say(&format!("\r{line}{ERASE_THE_REST}\n")),
            Style::Lines => say(&format!("{line}\n")),
            Style::Silent => {}
        }
    }

    pub fn draw(&self) {
        if self.style == Style::Bar {
            say(&format!("\r{}{ERASE_THE_REST}", self.bar(self.start.elapsed().as_secs_f64())));
        }
    }

    /// `[#########-----------] 112/296  unsat 70  sat 40  timeout 2  3m12s, 5m10s left`
    fn bar(&self, elapsed: f64) -> String {
        let done = self.done();
        let filled = WIDTH * done / self.total.max(1);
        let mut text = format!("[{}{}] {done}/{}", "#".repeat(filled), "-".repeat(WIDTH - filled), self.total);
        for (word, count) in Word::ALL.iter().zip(self.counts).filter(|(_, count)| *count > 0) {
            text += &format!("  {word} {count}");
        }
        text += &format!("  {}", duration(elapsed));
        let done_now = done - self.done_before;
        if done_now > 0 && done < self.total {
            let left = elapsed / done_now as f64 * (self.total - done) as f64;
            text += &format!(", {} left", duration(left));
        }
        text.chars().take(COLUMNS).collect()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.style == Style::Bar {
            say(&format!("\r{ERASE_THE_REST}"));
        }
    }
}

fn line(record: &Record, done: usize, total: usize, contradicted: Option<Word>) -> String {
    let mut line =
        format!("{done}/{total} {:7} {:8.3} s  {} {}", record.verdict, record.seconds, record.network, record.property);
    if let Some(expected) = contradicted {
        line += &format!("  DISAGREES: {expected} was expected");
    }
    if let Some(trouble) = &record.trouble {
        line += &format!("  {}", trouble.replace('\n', " "));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_tells_counts_and_the_time_left() {
        let bar = |counts, elapsed| {
            let start = Instant::now();
            Progress { style: Style::Silent, total: 296, counts, start, done_before: 12 }.bar(elapsed)
        };
        assert_eq!(
            bar([70, 40, 0, 2, 0], 100.0),
            "[#######-------------] 112/296  unsat 70  sat 40  timeout 2  1m40s, 3m04s left"
        );
        assert_eq!(
            bar([12, 0, 0, 0, 0], 0.5),
            "[--------------------] 12/296  unsat 12  0.5s",
            "no speed is known yet"
        );
    }
}
