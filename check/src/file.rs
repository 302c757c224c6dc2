//! The bytes of a file, read from the front; those of a certificate: varints, floats as integers, and where a reader is.

use crate::number::Dyadic;
use crate::{Refused, refuse, refused, require};

pub struct Reader<'f> {
    bytes: &'f [u8],
    pub at: usize,
}

impl<'f> Reader<'f> {
    pub fn new(bytes: &'f [u8]) -> Reader<'f> {
        Reader { bytes, at: 0 }
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

    /// Seven bits a byte, the lowest first; the shortest form alone is read.
    pub fn number(&mut self) -> Result<usize, Refused> {
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
        let number = self.number()?;
        if number < limit { Ok(number) } else { refuse(format!("{what} {number} does not exist")) }
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
        for _ in 0..self.number()? {
            let number = next + self.number()?;
            require(number < limit, format!("{what} {number} does not exist"))?;
            list.push((number, read(self)?));
            next = number + 1;
        }
        Ok(list)
    }

    /// A float32.
    pub fn float(&mut self) -> Result<Dyadic, Refused> {
        let bits = u32::from_le_bytes(self.array()?);
        Dyadic::from_f32_bits(bits).ok_or_else(|| refused("a number is not finite"))
    }

    /// A float32 that is not negative.
    pub fn weight(&mut self) -> Result<Dyadic, Refused> {
        let weight = self.float()?;
        if weight.mantissa >= 0 { Ok(weight) } else { refuse("a weight or multiplier is negative") }
    }

    /// A float64.
    pub fn double(&mut self) -> Result<Dyadic, Refused> {
        let bits = u64::from_le_bytes(self.array()?);
        Dyadic::from_f64_bits(bits).ok_or_else(|| refused("a number is not finite"))
    }
}
