//! Where a gate takes one of something or a list of them, each in full or by its name alone; and decimals as they are written.

use serde::Deserialize;
use serde::de::value::{F64Deserializer, I64Deserializer, MapAccessDeserializer};
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// A decimal as it is written: as a number, or as a text where a float would not do.
#[derive(Clone, Debug, PartialEq)]
pub struct Number(pub String);

impl From<&str> for Number {
    fn from(text: &str) -> Number {
        Number(text.into())
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Number, D::Error> {
        struct Numbers;
        impl Visitor<'_> for Numbers {
            type Value = Number;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
                Ok(Number(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
                Ok(Number(value.to_string()))
            }

            fn visit_str<E>(self, text: &str) -> Result<Number, E> {
                Ok(text.into())
            }
        }
        source.deserialize_any(Numbers)
    }
}

/// One of something or a list of them, each in full or by its name alone.
#[derive(Debug)]
pub struct Several<T>(pub Vec<T>);

impl<T> Default for Several<T> {
    fn default() -> Several<T> {
        Several(vec![])
    }
}

/// One of them.
struct One<T>(T);

impl<'de, T: Deserialize<'de> + for<'a> From<&'a str>> Deserialize<'de> for Several<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Several<T>, D::Error> {
        source.deserialize_any(OneOrMore(PhantomData))
    }
}

impl<'de, T: Deserialize<'de> + for<'a> From<&'a str>> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<One<T>, D::Error> {
        let Several(all) = source.deserialize_any(OneOrMore(PhantomData))?;
        let [one] = <[T; 1]>::try_from(all).map_err(|_| de::Error::custom("a list inside a list"))?;
        Ok(One(one))
    }
}

struct OneOrMore<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + for<'a> From<&'a str>> Visitor<'de> for OneOrMore<T> {
    type Value = Several<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("one or a list of them")
    }

    fn visit_str<E>(self, name: &str) -> Result<Several<T>, E> {
        Ok(Several(vec![name.into()]))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Several<T>, E> {
        self.number(I64Deserializer::new(value))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Several<T>, E> {
        self.number(F64Deserializer::new(value))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Several<T>, A::Error> {
        Ok(Several(vec![T::deserialize(MapAccessDeserializer::new(map))?]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Several<T>, A::Error> {
        let mut all = Vec::new();
        while let Some(One(item)) = list.next_element()? {
            all.push(item);
        }
        Ok(Several(all))
    }
}

impl<T> OneOrMore<T> {
    fn number<'de, D: Deserializer<'de>>(self, source: D) -> Result<Several<T>, D::Error>
    where
        T: Deserialize<'de>,
    {
        Ok(Several(vec![T::deserialize(source)?]))
    }
}
