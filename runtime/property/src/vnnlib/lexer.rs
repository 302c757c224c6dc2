//! The tokens of VNN-LIB, both versions.

use crate::error::{Fault, quoted};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Open,
    Close,
    OpenBracket,
    CloseBracket,
    Comma,
    /// Names, numbers, operators.
    Word,
    /// A string in double quotes.
    Quoted,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'t> {
    pub(super) kind: Kind,
    pub(super) text: &'t str,
    /// Byte offset in the whole text.
    pub(super) at: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token; after the last one `End`, again and again.
    pub(super) fn next(&mut self) -> Result<Token<'t>, Fault> {
        self.skip_blanks();
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let (kind, length) = match rest.first() {
            None => (Kind::End, 0),
            Some(b'(') => (Kind::Open, 1),
            Some(b')') => (Kind::Close, 1),
            Some(b'[') => (Kind::OpenBracket, 1),
            Some(b']') => (Kind::CloseBracket, 1),
            Some(b',') => (Kind::Comma, 1),
            Some(b'"') => (Kind::Quoted, quoted_length(rest, start)?),
            Some(_) => (Kind::Word, rest.iter().position(ends_word).unwrap_or(rest.len())),
        };
        self.at += length;
        Ok(Token { kind, text: &self.text[start..self.at], at: start })
    }

    pub(super) fn peek(&self) -> Result<Token<'t>, Fault> {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next token if it is of this kind; `what` says in the message what it should have been.
    pub(super) fn expect(&mut self, kind: Kind, what: &str) -> Result<Token<'t>, Fault> {
        let token = self.next()?;
        if token.kind == kind {
            return Ok(token);
        }
        Err(Fault::new(token.at, format!("{what} was expected here, not {token}"), "correct it"))
    }

    /// Everything up to the parenthesis that closes the one opened at `opened`.
    pub(super) fn skip_to_close(&mut self, opened: usize) -> Result<(), Fault> {
        let mut depth = 1usize;
        while depth > 0 {
            match self.next()?.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                Kind::End => return Err(never_closed(opened)),
                _ => {}
            }
        }
        Ok(())
    }

    /// White space and comments, which run from a semicolon to the end of the line.
    fn skip_blanks(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b';' => {
                    let comment = bytes[self.at..].iter();
                    self.at += comment.take_while(|&&byte| byte != b'\n').count();
                }
                byte if byte.is_ascii_whitespace() => self.at += 1,
                _ => return,
            }
        }
    }
}

impl std::fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.kind {
            Kind::End => write!(f, "the end of the file"),
            _ => write!(f, "{}", quoted(self.text)),
        }
    }
}

pub(super) fn never_closed(opened: usize) -> Fault {
    Fault::new(opened, "this parenthesis is never closed", "add the missing `)`")
}

fn ends_word(byte: &u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b'[' | b']' | b',' | b';' | b'"')
}

/// The length of a string literal with its quotes; a backslash escapes the byte after it.
fn quoted_length(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => {
                let what = "this string is never closed";
                return Err(Fault::new(start, what, "add the missing double quote"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_blanks_and_comments() {
        let text = "(<= X[0 ,1]\r\n\t-1.5e-3) ; a ( comment\n\"a \\\" b\"<2.0>";
        let mut lexer = Lexer::new(text);
        let mut found = Vec::new();
        loop {
            let token = lexer.next().unwrap();
            found.push(token.text);
            if token.kind == Kind::End {
                break;
            }
        }
        let expected = ["(", "<=", "X", "[", "0", ",", "1", "]", "-1.5e-3", ")", "\"a \\\" b\"", "<2.0>", ""];
        assert_eq!(found, expected);
    }

    #[test]
    fn an_open_string_is_a_fault() {
        assert!(Lexer::new("\"abc").next().is_err());
        assert!(Lexer::new("\"abc\\").next().is_err());
        assert!(Lexer::new("\"é\\é").next().is_err());
    }
}
