//! The bytes of a file, read from the front; those of a certificate: varints, floats as integers, and where a reader is.

use crate::{Dyadic, Refused, refuse, refused, require};
use std::fmt::{self, Write};

#[derive(Clone)]
pub struct Reader<'f> {
    bytes: &'f [u8],
    pub at: usize,
    /// What was read, as text, if that is asked for.
    pub text: Option<String>,
}

impl<'f> Reader<'f> {
    pub fn new(bytes: &'f [u8]) -> Reader<'f> {
        Reader { bytes, at: 0, text: None }
    }

    fn say(&mut self, word: impl fmt::Display) {
        if let Some(text) = &mut self.text {
            let _ = write!(text, "{word}");
        }
    }

    pub fn take(&mut self, count: usize) -> Result<&'f [u8], Refused> {
        let taken = self.bytes[self.at..].get(..count).ok_or_else(|| refused("the file ends too soon"))?;
        self.at += count;
        Ok(taken)
    }

    pub fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        self.take(N)?.try_into().map_err(|_| Refused::overflow())
    }

    pub fn byte(&mut self) -> Result<u8, Refused> {
        Ok(self.take(1)?[0])
    }

    /// One of several kinds, with which a line begins.
    pub fn kind(&mut self, what: &str, kinds: &[&'static str]) -> Result<&'static str, Refused> {
        let kind = self.byte()?;
        let name =
            kinds.get(usize::from(kind)).ok_or_else(|| refused(format!("a {what} of kind {kind} is not known")))?;
        self.say(format_args!("\n{what}: {name}"));
        Ok(name)
    }

    /// Seven bits a byte, the lowest first; the shortest form alone is read.
    pub fn number(&mut self) -> Result<usize, Refused> {
        let number = self.varint()?;
        self.say(format_args!(" {number}"));
        Ok(number)
    }

    fn varint(&mut self) -> Result<usize, Refused> {
        let mut number = 0usize;
        for shift in (0..35).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 127) << shift;
            if byte < 128 {
                require(byte > 0 || shift == 0, "a number is not in its shortest form")?;
                return Ok(number);
            }
        }
        refuse("a number is too long")
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize, what: &str) -> Result<usize, Refused> {
        self.say(format_args!(" {what}"));
        let number = self.number()?;
        require(number < limit, format!("{what} {number} does not exist"))?;
        Ok(number)
    }

    /// A count, then ascending numbers below a limit, each by how many lie between it and the one before, with what is read
    /// behind it.
    pub fn ascending<T>(
        &mut self,
        limit: usize,
        what: &str,
        read: impl Fn(&mut Self) -> Result<T, Refused>,
    ) -> Result<Vec<(usize, T)>, Refused> {
        let (mut list, mut next) = (Vec::new(), 0);
        self.say(format_args!(" {what}s"));
        for _ in 0..self.number()? {
            let number = next + self.varint()?;
            require(number < limit, format!("{what} {number} does not exist"))?;
            self.say(format_args!(", {number}:"));
            list.push((number, read(self)?));
            next = number + 1;
        }
        Ok(list)
    }

    /// A float32.
    pub fn float(&mut self) -> Result<Dyadic, Refused> {
        let bits = u32::from_le_bytes(self.array()?);
        self.finite(Dyadic::from_f32_bits(bits))
    }

    /// A float32 that is not negative.
    pub fn weight(&mut self) -> Result<Dyadic, Refused> {
        let weight = self.float()?;
        if weight.mantissa >= 0 { Ok(weight) } else { refuse("a weight or multiplier is negative") }
    }

    /// A float64.
    pub fn double(&mut self) -> Result<Dyadic, Refused> {
        let bits = u64::from_le_bytes(self.array()?);
        self.finite(Dyadic::from_f64_bits(bits))
    }

    fn finite(&mut self, float: Option<Dyadic>) -> Result<Dyadic, Refused> {
        let value = float.ok_or_else(|| refused("a number is not finite"))?;
        self.say(format_args!(" {}·2^{}", value.mantissa, value.exponent));
        Ok(value)
    }
}
