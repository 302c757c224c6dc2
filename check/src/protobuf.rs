//! The wire format of Protocol Buffers: a message as a sequence of numbered fields.
//!
//! Every length is compared with what is left before it is used, and nothing is copied.

use crate::{Refused, refuse};

/// The value of a field as the wire has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed32(u32),
    Fixed64(u64),
    /// A string, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

impl<'a> Value<'a> {
    pub fn bytes(self) -> Result<&'a [u8], Refused> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => refuse("a field of the message has the wrong type"),
        }
    }

    pub fn text(self) -> Result<&'a str, Refused> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Refused("a string of the message is not UTF-8".into()))
    }

    /// A number written as a varint; negative ones are written in two's complement.
    pub fn int(self) -> Result<i64, Refused> {
        match self {
            Self::Varint(value) => Ok(i64::from_ne_bytes(value.to_ne_bytes())),
            _ => refuse("a field of the message has the wrong type"),
        }
    }

    /// The numbers of one occurrence of a repeated field, which are packed or single.
    pub fn ints(self, into: &mut Vec<i64>) -> Result<(), Refused> {
        let Self::Bytes(bytes) = self else {
            into.push(self.int()?);
            return Ok(());
        };
        let mut cursor = Message(bytes);
        while !cursor.0.is_empty() {
            into.push(Value::Varint(cursor.varint()?).int()?);
        }
        Ok(())
    }

    /// The bytes, in the order of the wire, of one occurrence of a repeated fixed-size field, packed or single.
    pub fn fixed(self, into: &mut Vec<u8>) -> Result<(), Refused> {
        match self {
            Self::Bytes(bytes) => into.extend(bytes),
            Self::Fixed32(value) => into.extend(value.to_le_bytes()),
            Self::Fixed64(value) => into.extend(value.to_le_bytes()),
            Self::Varint(_) => return refuse("a field of the message has the wrong type"),
        }
        Ok(())
    }
}

/// What is left of a message; iterates over its fields and ends after the first fault.
#[derive(Clone, Copy, Debug)]
pub struct Message<'a>(pub &'a [u8]);

impl<'a> Message<'a> {
    fn field(&mut self) -> Result<(u64, Value<'a>), Refused> {
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.array()?)),
            other => return refuse(format!("the message has a field of the unknown wire type {other}")),
        };
        Ok((key >> 3, value))
    }

    fn varint(&mut self) -> Result<u64, Refused> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            value |= bits << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        refuse("a number of the message is longer than 64 bits")
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Refused> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or_else(|| Refused("the message is cut off".into()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refused> {
        self.take(N)?.try_into().map_err(|_| Refused("the message is cut off".into()))
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u64, Value<'a>), Refused>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}
