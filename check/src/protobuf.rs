//! The wire format of Protocol Buffers: a message as a list of numbered fields.
//!
//! Every length is compared with what is left before it is used, and nothing is copied. A field that the reader does
//! not know is refused, and so is a second value where there can be one only.

use crate::{Reader, Refused, refuse, refused, require};

/// The value of a field as the wire has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed32(u32),
    /// A string, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
}

const OTHER: &str = "a field of the message has the wrong type";

impl<'a> Value<'a> {
    fn bytes(self) -> Result<&'a [u8], Refused> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { refuse(OTHER) }
    }
}

fn text(bytes: &[u8]) -> Result<&str, Refused> {
    std::str::from_utf8(bytes).map_err(|_| refused("a string of the message is not UTF-8"))
}

pub struct Message<'a>(Vec<(u64, Value<'a>)>);

impl<'a> Message<'a> {
    /// A message of which these fields are known.
    pub fn read(bytes: &'a [u8], known: &[u64]) -> Result<Self, Refused> {
        let (mut file, mut fields) = (Reader::new(bytes), Vec::new());
        while !file.is_at_end() {
            let key = varint(&mut file)?;
            let value = match key & 7 {
                0 => Value::Varint(varint(&mut file)?),
                2 => {
                    let length = usize::try_from(varint(&mut file)?).unwrap_or(usize::MAX);
                    Value::Bytes(file.take(length)?)
                }
                5 => Value::Fixed32(u32::from_le_bytes(file.array()?)),
                other => return refuse(format!("the message has a field of the unknown wire type {other}")),
            };
            if !known.contains(&(key >> 3)) {
                return refuse(format!("the message has the field {}, which is not supported", key >> 3));
            }
            fields.push((key >> 3, value));
        }
        Ok(Self(fields))
    }

    fn all(&self, number: u64) -> impl Iterator<Item = Value<'a>> {
        self.0.iter().filter(move |field| field.0 == number).map(|field| field.1)
    }

    /// The value of a field that occurs at most once.
    pub fn one(&self, number: u64) -> Result<Option<Value<'a>>, Refused> {
        let mut values = self.all(number);
        let value = values.next();
        require(values.next().is_none(), "a field of the message is doubled")?;
        Ok(value)
    }

    /// Bytes, none if they are left out.
    pub fn bytes(&self, number: u64) -> Result<&'a [u8], Refused> {
        self.one(number)?.map_or(Ok(&[]), Value::bytes)
    }

    /// A string, empty if it is left out.
    pub fn text(&self, number: u64) -> Result<&'a str, Refused> {
        text(self.bytes(number)?)
    }

    pub fn texts(&self, number: u64) -> Result<Vec<&'a str>, Refused> {
        self.all(number).map(|value| text(value.bytes()?)).collect()
    }

    /// A message, empty if it is left out.
    pub fn message(&self, number: u64, known: &[u64]) -> Result<Message<'a>, Refused> {
        Message::read(self.bytes(number)?, known)
    }

    pub fn messages(&self, number: u64, known: &[u64]) -> Result<Vec<Message<'a>>, Refused> {
        self.all(number).map(|value| Message::read(value.bytes()?, known)).collect()
    }

    /// A number, zero if it is left out.
    pub fn int(&self, number: u64) -> Result<i64, Refused> {
        match self.one(number)?.unwrap_or(Value::Varint(0)) {
            Value::Varint(int) => Ok(int.cast_signed()),
            _ => refuse(OTHER),
        }
    }

    /// Numbers, packed or single; negative ones are written in two's complement.
    pub fn ints(&self, number: u64) -> Result<Vec<i64>, Refused> {
        let mut ints = Vec::new();
        for value in self.all(number) {
            if let Value::Varint(int) = value {
                ints.push(int.cast_signed());
                continue;
            }
            let mut packed = Reader::new(value.bytes()?);
            while !packed.is_at_end() {
                ints.push(varint(&mut packed)?.cast_signed());
            }
        }
        Ok(ints)
    }
}

fn varint(file: &mut Reader) -> Result<u64, Refused> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = file.byte()?;
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
