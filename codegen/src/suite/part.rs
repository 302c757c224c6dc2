//! `--part I/N`: the rows of a list that one of N processes runs.

use super::list::List;
use std::fmt;
use std::str::FromStr;

/// One part of so many. Rows are dealt out one by one, so that neighbours, which are often alike, fall to different parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// From 1.
    number: usize,
    of: usize,
}

impl Part {
    /// The list with the rows of this part alone.
    pub fn of(self, mut list: List) -> List {
        list.instances.retain(|instance| (instance.number - 1) % self.of == self.number - 1);
        list
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Part, String> {
        let numbers = text.split_once('/').map(|(number, of)| (number.parse(), of.parse()));
        match numbers {
            Some((_, Ok(0))) => Err("there are no 0 parts".into()),
            Some((Ok(number), Ok(of))) if (1..=of).contains(&number) => Ok(Part { number, of }),
            Some((Ok(number), Ok(of))) => {
                Err(format!("there is no part {number}: the first is 1/{of}, the last {of}/{of}"))
            }
            _ => Err("a part is its number and how many there are, such as 3/20".into()),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_numbered_from_1() {
        assert_eq!("3/20".parse(), Ok(Part { number: 3, of: 20 }));
        assert_eq!("1/1".parse::<Part>().unwrap().to_string(), "1/1");
        for (text, error) in [
            ("0/4", "there is no part 0: the first is 1/4, the last 4/4"),
            ("5/4", "there is no part 5: the first is 1/4, the last 4/4"),
            ("1/0", "there are no 0 parts"),
            ("a/b", "a part is its number and how many there are, such as 3/20"),
            ("3", "a part is its number and how many there are, such as 3/20"),
            ("-1/4", "a part is its number and how many there are, such as 3/20"),
        ] {
            assert_eq!(text.parse::<Part>(), Err(error.into()), "{text}");
        }
    }
}
