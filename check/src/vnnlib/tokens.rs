//! The words and brackets of VNN-LIB.

use crate::{Refused, refuse};

/// Splits a text into tokens: brackets and commas, strings in double quotes, and words of everything else. A comment
/// runs from a semicolon to the end of its line.
pub(super) struct Tokens<'t> {
    text: &'t str,
    /// Where the next token is looked for.
    at: usize,
    /// Where the last token began.
    start: usize,
}

impl<'t> Tokens<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0, start: 0 }
    }

    /// The next token, `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&'t str>, Refused> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b';' => self.at += length(&bytes[self.at..], |byte| byte == b'\n'),
                blank if blank.is_ascii_whitespace() => self.at += 1,
                _ => break,
            }
        }
        self.start = self.at;
        let rest = &bytes[self.at..];
        self.at += match rest.first() {
            None => return Ok(None),
            Some(b'(' | b')' | b'[' | b']' | b',') => 1,
            Some(b'"') => match rest[1..].iter().position(|&byte| byte == b'"') {
                Some(inner) => inner + 2,
                None => return refuse("a string is never closed"),
            },
            Some(_) => length(rest, |byte| byte.is_ascii_whitespace() || b"()[],;\"".contains(&byte)),
        };
        Ok(self.text.get(self.start..self.at))
    }

    /// The next token, which the text must not end before.
    pub(super) fn must(&mut self) -> Result<&'t str, Refused> {
        self.next()?.ok_or_else(|| Refused("the text ends inside of parentheses".into()))
    }

    /// The next token, which is a word.
    pub(super) fn word(&mut self) -> Result<&'t str, Refused> {
        let token = self.must()?;
        let is_word = !token.starts_with(['(', ')', '[', ']', ',', '"']);
        if is_word { Ok(token) } else { refuse(format!("a word was expected, not `{token}`")) }
    }

    pub(super) fn expect(&mut self, expected: &str) -> Result<(), Refused> {
        let token = self.must()?;
        if token == expected { Ok(()) } else { refuse(format!("`{expected}` was expected, not `{token}`")) }
    }

    /// Passes over everything up to the parenthesis that closes the one before.
    pub(super) fn skip(&mut self) -> Result<(), Refused> {
        let mut depth = 1usize;
        while depth > 0 {
            match self.must()? {
                "(" => depth += 1,
                ")" => depth -= 1,
                _ => {}
            }
        }
        Ok(())
    }

    /// `[0,3]`.
    pub(super) fn indices(&mut self) -> Result<Vec<usize>, Refused> {
        self.expect("[")?;
        let mut indices = Vec::new();
        loop {
            let word = self.word()?;
            indices.push(index(word).ok_or_else(|| Refused(format!("`{word}` is no index")))?);
            match self.must()? {
                "," => {}
                "]" => return Ok(indices),
                other => return refuse(format!("`,` or `]` was expected, not `{other}`")),
            }
        }
    }

    /// The line of the last token.
    pub(super) fn line(&self) -> usize {
        1 + self.text.bytes().take(self.start).filter(|&byte| byte == b'\n').count()
    }
}

/// A whole number in plain digits without leading zeros.
pub(super) fn index(digits: &str) -> Option<usize> {
    let is_plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|_| is_plain)
}

/// How many bytes come before the first one that ends.
fn length(bytes: &[u8], ends: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&byte| ends(byte)).unwrap_or(bytes.len())
}
