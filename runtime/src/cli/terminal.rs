//! The one file that draws: a status on stderr, below everything else that is said there, redrawn in place and gone at
//! the end.
//!
//! Without a terminal on stderr nothing is drawn.

use super::say;
use console::{Term, is_dumb, measure_text_width, truncate_str};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::io;
use std::sync::Mutex;

/// Columns that stay free on the right: a terminal echoes a Ctrl-C at the cursor, and beyond the last column it would begin
/// another line.
const FREE: usize = 3;
/// The width of a bar, and its most as a part of the terminal's.
const BAR: usize = 20;
const BAR_PART: usize = 4;
/// At most so many redraws a second.
const RATE: u8 = 20;
const BLANK: char = ' ';

/// A status that is drawn. Its clones draw the same one.
#[derive(Clone, Debug)]
pub struct Status {
    bar: ProgressBar,
    term: Term,
    /// Columns before the text.
    indent: usize,
}

impl Status {
    /// A line of text behind a spinner.
    pub fn spinner(quiet: bool) -> Status {
        Status::new(quiet, None, "{spinner} {wide_msg}", 2)
    }

    /// A bar with text behind it, and a line of details below.
    pub fn bar(quiet: bool, total: usize) -> Status {
        let width = BAR.min(columns(&Term::stderr()) / BAR_PART);
        Status::new(quiet, Some(total as u64), &format!("[{{bar:{width}}}] {{wide_msg}}\n{{prefix}}"), width + 3)
    }

    fn new(quiet: bool, total: Option<u64>, template: &str, indent: usize) -> Status {
        let term = Term::buffered_stderr();
        let target = if quiet || !term.is_term() || is_dumb() {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::term_like_with_hz(Box::new(Canvas::new(term.clone())), RATE)
        };
        let style = ProgressStyle::with_template(template).expect("a valid template").progress_chars("##-");
        Status { bar: ProgressBar::with_draw_target(total, target).with_style(style), term, indent }
    }

    pub fn is_shown(&self) -> bool {
        !self.bar.is_hidden()
    }

    /// Columns that the text has now, and those of the details.
    pub fn room(&self) -> (usize, usize) {
        let all = columns(&self.term).saturating_sub(FREE);
        (all.saturating_sub(self.indent), all)
    }

    /// Fills the bar up to a part of its total.
    pub fn advance(&self, done: usize) {
        self.bar.set_position(done as u64);
    }

    pub fn show(&self, text: String, details: String) {
        self.bar.set_prefix(details);
        self.bar.set_message(text);
        self.bar.tick();
    }

    /// Says a line, which stays, above the status.
    pub fn tell(&self, line: &str) {
        self.bar.suspend(|| say(&format!("{line}\n")));
    }

    /// Erases the status for good.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn columns(term: &Term) -> usize {
    usize::from(term.size().1)
}

/// The parts that fit into so many columns, in their order: one that is too long leaves its place to those after it, but the
/// first is shortened.
pub fn fit(parts: &[String], separator: &str, columns: usize) -> String {
    let Some((first, others)) = parts.split_first() else { return String::new() };
    let mut text = truncate_str(first, columns, "").into_owned();
    for part in others {
        if measure_text_width(&text) + separator.len() + measure_text_width(part) <= columns {
            text += separator;
            text += part;
        }
    }
    text
}

/// A terminal whose cursor stays where the text ends. The blanks that fill up a line are written only if more follows: after
/// the last line they would take the cursor to the last column.
#[derive(Debug)]
struct Canvas {
    term: Term,
    blanks: Mutex<String>,
}

impl Canvas {
    fn new(term: Term) -> Canvas {
        Canvas { term, blanks: Mutex::default() }
    }

    fn take_blanks(&self) -> String {
        std::mem::take(&mut *self.blanks.lock().expect("no holder panics"))
    }
}

impl TermLike for Canvas {
    fn width(&self) -> u16 {
        self.term.size().1
    }

    fn height(&self) -> u16 {
        self.term.size().0
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.term.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.term.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.term.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.term.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.term.write_str(&self.take_blanks())?;
        self.term.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        if text.chars().all(|c| c == BLANK) {
            self.blanks.lock().expect("no holder panics").push_str(text);
            return Ok(());
        }
        self.term.write_str(&self.take_blanks())?;
        self.term.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.term.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.take_blanks();
        self.term.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_parts_fit() {
        let parts = ["12s", "refine", "undecided 100/200", "9 open"].map(String::from);
        assert_eq!(fit(&parts, "  ", 80), "12s  refine  undecided 100/200  9 open");
        assert_eq!(fit(&parts, "  ", 29), "12s  refine  9 open", "no part is cut");
        assert_eq!(fit(&parts, "  ", 2), "12");
        assert_eq!(fit(&[], "  ", 80), "");
    }

    #[test]
    fn quiet_draws_nothing() {
        assert!(!Status::spinner(true).is_shown());
        assert!(!Status::bar(true, 10).is_shown());
    }
}
