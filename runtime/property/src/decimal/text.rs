//! Decimals from text and to text.
//!
//! The grammar is `[+-] digits [. digits] [e [+-] digits]` with at least one digit, `.5` and `5.`
//! included. Length and exponent are limited, since `1e999999999` is a short text and a long number.

use std::fmt;
use std::str::FromStr;

use super::Decimal;
use num_bigint::BigInt;

const MAX_DIGITS: usize = 2_000;
const MAX_EXPONENT: i64 = 400;

/// Why a text is not a decimal of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadDecimal {
    Malformed,
    TooManyDigits,
    ExponentTooLarge,
}

impl fmt::Display for BadDecimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed => write!(f, "is not a decimal number"),
            Self::TooManyDigits => write!(f, "has more than {MAX_DIGITS} digits"),
            Self::ExponentTooLarge => {
                write!(f, "has an exponent outside of -{MAX_EXPONENT} to {MAX_EXPONENT}")
            }
        }
    }
}

impl std::error::Error for BadDecimal {}

impl FromStr for Decimal {
    type Err = BadDecimal;

    fn from_str(text: &str) -> Result<Self, BadDecimal> {
        let (negative, unsigned) = split_sign(text);
        let (digits, exponent) = match unsigned.find(['e', 'E']) {
            Some(at) => (&unsigned[..at], written_exponent(&unsigned[at + 1..])?),
            None => (unsigned, 0),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return Err(BadDecimal::Malformed);
        }
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        if whole.len() + fraction.len() > MAX_DIGITS {
            return Err(BadDecimal::TooManyDigits);
        }
        let mantissa = integer(whole, fraction);
        let exponent = exponent - fraction.len() as i64;
        Ok(Decimal::new(if negative { -mantissa } else { mantissa }, exponent))
    }
}

fn split_sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

fn written_exponent(text: &str) -> Result<i64, BadDecimal> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(BadDecimal::Malformed);
    }
    let magnitude = digits.parse().unwrap_or(i64::MAX);
    if magnitude > MAX_EXPONENT {
        return Err(BadDecimal::ExponentTooLarge);
    }
    Ok(if negative { -magnitude } else { magnitude })
}

/// The integer that the digits of both parts spell.
fn integer(whole: &str, fraction: &str) -> BigInt {
    let digits = whole.bytes().chain(fraction.bytes());
    if whole.len() + fraction.len() <= 19 {
        return digits.fold(0u64, |value, digit| value * 10 + u64::from(digit - b'0')).into();
    }
    BigInt::parse_bytes(&digits.collect::<Vec<u8>>(), 10).expect("only digits")
}

impl fmt::Display for Decimal {
    /// The exact value: in plain notation if that is short, as `digits e exponent` otherwise.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.mantissa.magnitude().to_string();
        let sign = if self.is_negative() { "-" } else { "" };
        match usize::try_from(-self.exponent) {
            Ok(0) => write!(f, "{sign}{digits}"),
            Ok(fraction) if fraction < digits.len() => {
                let (whole, rest) = digits.split_at(digits.len() - fraction);
                write!(f, "{sign}{whole}.{rest}")
            }
            Ok(fraction) if fraction <= 30 => write!(f, "{sign}0.{digits:0>fraction$}"),
            _ => write!(f, "{sign}{digits}e{}", self.exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    #[test]
    fn every_spelling_of_a_number_is_read() {
        for (text, shown) in [
            ("-1.5e-3", "-0.0015"),
            ("+.5", "0.5"),
            ("1E10", "1e10"),
            ("007.2500", "7.25"),
            ("5.", "5"),
            ("-0", "0"),
            ("0e400", "0"),
            ("123456789012345678901234567890.5", "123456789012345678901234567890.5"),
        ] {
            assert_eq!(decimal(text).to_string(), shown, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_refused() {
        for text in ["", "-", ".", "+.e1", "1e", "1e+", "0x10", "1_000", "inf", "NaN", "--1", "1.2.3", "1,5", "é"] {
            assert_eq!(text.parse::<Decimal>(), Err(BadDecimal::Malformed), "{text}");
        }
        assert_eq!("1e401".parse::<Decimal>(), Err(BadDecimal::ExponentTooLarge));
        let endless = format!("1e-{}", "9".repeat(1_000));
        assert_eq!(endless.parse::<Decimal>(), Err(BadDecimal::ExponentTooLarge));
        assert_eq!("1".repeat(2_001).parse::<Decimal>(), Err(BadDecimal::TooManyDigits));
        assert!("1".repeat(2_000).parse::<Decimal>().is_ok());
    }
}
