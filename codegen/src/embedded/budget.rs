//! `--budget flash=64K,ram=8K,stack=2K`: limits that a crate has to keep, or it is not generated.

use super::Measured;
use std::fmt;
use std::str::FromStr;

/// Bytes at most; what is not given has no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    pub flash: Option<usize>,
    pub ram: Option<usize>,
    pub stack: Option<usize>,
}

impl FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Budget, String> {
        let mut budget = Budget::default();
        for part in text.split(',') {
            let (name, amount) = part
                .split_once('=')
                .ok_or_else(|| format!("'{part}' is no limit; one is flash=64K, ram=8K or stack=2K"))?;
            let limit = match name.trim() {
                "flash" => &mut budget.flash,
                "ram" => &mut budget.ram,
                "stack" => &mut budget.stack,
                _ => return Err(format!("there is no budget of '{name}', only of flash, ram and stack")),
            };
            if limit.replace(bytes(amount.trim())?).is_some() {
                return Err(format!("'{name}' is limited twice"));
            }
        }
        Ok(budget)
    }
}

/// A number of bytes, with K or M for 1,024 and 1,048,576 of them.
fn bytes(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let number = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    number.ok_or_else(|| format!("'{text}' is no number of bytes; one is 2048, 64K or 1M"))
}

impl Budget {
    /// What exceeds the budget, each with its figure.
    pub fn exceeded(&self, measured: &Measured) -> Vec<String> {
        let figures = [
            ("flash", self.flash, measured.flash()),
            ("ram", self.ram, measured.memory),
            ("stack", self.stack, measured.stack()),
        ];
        let over = |(name, limit, figure): (&str, Option<usize>, usize)| {
            limit.filter(|&limit| figure > limit).map(|limit| format!("{name}: {figure} bytes, the budget is {limit}"))
        };
        figures.into_iter().filter_map(over).collect()
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let limits = [("flash", self.flash), ("ram", self.ram), ("stack", self.stack)];
        let limits = limits.into_iter().filter_map(|(name, limit)| limit.map(|limit| format!("{name}={limit}")));
        f.write_str(&limits.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_or_refused() {
        let budget: Budget = "flash=64K,ram=8192,stack=1M".parse().unwrap();
        assert_eq!(budget, Budget { flash: Some(65536), ram: Some(8192), stack: Some(1 << 20) });
        assert_eq!(budget.to_string(), "flash=65536,ram=8192,stack=1048576");
        for bad in
            ["", "flash", "flash=", "flash=x", "disk=1", "flash=1,flash=2", "ram=-1", "ram=99999999999999999999M"]
        {
            assert!(bad.parse::<Budget>().is_err(), "{bad}");
        }
    }
}
