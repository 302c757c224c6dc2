//! What is wrong with a property, said to the person who wrote it: file, line, column, what was
//! wrong, and what to do.

use std::fmt;

/// A property, or an image, that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertyError {
    origin: String,
    place: Option<Place>,
    what: String,
    advice: String,
}

/// A place in a text, both numbers from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub line: usize,
    pub column: usize,
}

impl PropertyError {
    pub(super) fn new(origin: impl Into<String>, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { origin: origin.into(), place: None, what: what.into(), advice: advice.into() }
    }

    /// The file, or whatever else the text came from.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Where in the text, unless the fault is of the whole.
    pub fn place(&self) -> Option<Place> {
        self.place
    }

    /// What was wrong.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// What to do about it.
    pub fn advice(&self) -> &str {
        &self.advice
    }
}

impl fmt::Display for PropertyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.origin)?;
        if let Some(Place { line, column }) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}; {}", self.what, self.advice)
    }
}

impl std::error::Error for PropertyError {}

/// An error inside a text that is still being read: `at` is a byte offset, turned into line and
/// column at the end.
#[derive(Debug)]
pub(super) struct Fault {
    at: usize,
    what: String,
    advice: String,
}

impl Fault {
    pub(super) fn new(at: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { at, what: what.into(), advice: advice.into() }
    }

    pub(super) fn locate(self, origin: &str, text: &str) -> PropertyError {
        let place = Some(Place::of(text, self.at));
        PropertyError { origin: origin.into(), place, what: self.what, advice: self.advice }
    }
}

impl Place {
    fn of(text: &str, at: usize) -> Self {
        let before = text.get(..at).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

/// A piece of the person's text for use inside a message: short and printable whatever it holds.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let text = "ab\r\n(ß x";
        assert_eq!(Place::of(text, 0), Place { line: 1, column: 1 });
        assert_eq!(Place::of(text, text.find('x').unwrap()), Place { line: 2, column: 4 });
        assert_eq!(Place::of(text, 1000), Place { line: 2, column: 5 });
    }

    #[test]
    fn a_message_names_file_place_fault_and_remedy() {
        let error = Fault::new(3, "this is wrong", "do that").locate("p.vnnlib", "a\n b");
        assert_eq!(error.to_string(), "p.vnnlib:2:2: this is wrong; do that");
    }

    #[test]
    fn quotations_are_short_and_printable() {
        assert_eq!(quoted("a\u{7}b"), "`a\\u{7}b`");
        assert_eq!(quoted(&"x".repeat(100_000)).chars().count(), 43);
    }
}
