//! The bytes of a certificate, read from the front: varints, floats as integers, and where a reader is.

use crate::bound::Given;
use crate::{Refused, refused};

pub struct Reader<'f> {
    bytes: &'f [u8],
    pub at: usize,
}

impl<'f> Reader<'f> {
    pub fn new(bytes: &'f [u8]) -> Reader<'f> {
        Reader { bytes, at: 0 }
    }

    pub fn take(&mut self, count: usize) -> Result<&'f [u8], Refused> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| refused("the file ends too soon"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
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
                return if byte == 0 && shift > 0 {
                    Err(refused("a number is not in its shortest form"))
                } else {
                    Ok(number)
                };
            }
        }
        Err(refused("a number is too long"))
    }

    /// A number below a limit.
    pub fn below(&mut self, limit: usize, what: &str) -> Result<usize, Refused> {
        let number = self.number()?;
        if number < limit { Ok(number) } else { Err(refused(format!("{what} {number} does not exist"))) }
    }

    /// A float32.
    pub fn float(&mut self) -> Result<Given, Refused> {
        let bytes = self.take(4)?;
        let bits = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        decode(bits.into(), 8, 23)
    }

    /// A float64.
    pub fn double(&mut self) -> Result<Given, Refused> {
        let mut bits = [0; 8];
        bits.copy_from_slice(self.take(8)?);
        decode(u64::from_le_bytes(bits), 11, 52)
    }
}

/// A binary float with so many bits of exponent and mantissa.
fn decode(bits: u64, exponent_bits: u32, mantissa_bits: u32) -> Result<Given, Refused> {
    let field = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    if field == (1 << exponent_bits) - 1 {
        return Err(refused("a number is not finite"));
    }
    let fraction = bits & ((1 << mantissa_bits) - 1);
    let whole = if field == 0 { fraction } else { fraction | 1 << mantissa_bits };
    let bias = (1 << (exponent_bits - 1)) - 1 + mantissa_bits as i32;
    let is_negative = bits >> (exponent_bits + mantissa_bits) == 1;
    let mantissa = if is_negative { -(whole as i64) } else { whole as i64 };
    Ok(Given { mantissa, exponent: field.max(1) as i32 - bias })
}
