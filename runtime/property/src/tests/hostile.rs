//! Texts made to exhaust the reader: every one is read or refused, and none panics.

use proptest::prelude::*;

use crate::{Property, PropertyError};

const HEADER: &str = "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)\
    (assert (and (>= X_0 0) (<= X_0 1) (>= X_1 0) (<= X_1 1)))";

fn parse(rest: &str) -> Result<Property, PropertyError> {
    Property::parse(&format!("{HEADER}{rest}"), "hostile")
}

fn refused(rest: &str, why: &str) {
    let message = parse(rest).expect_err(why).to_string();
    assert!(message.contains(why), "{message}");
    assert!(message.len() < 400, "{message}");
}

#[test]
fn deep_nesting() {
    let deep =
        |depth: usize, open: &str, inner: &str| format!("(assert {}{inner}{})", open.repeat(depth), ")".repeat(depth));
    refused(&deep(1_000_000, "(and ", "(<= 0 1)"), "nest deeper than 4096");
    refused(&deep(1_000_000, "(not ", "(<= 0 1)"), "nest deeper than 4096");
    refused(&format!("(assert (<= 0 {}", "(".repeat(1_000_000)), "an operator");
    refused(&"(".repeat(1_000_000), "a command");
    refused(&format!("(set-info {}", "(".repeat(1_000_000)), "never closed");
    assert!(parse(&deep(4_000, "(and (<= Y_0 1) ", "(<= 0 1)")).is_ok());
    assert!(parse(&deep(4_000, "(not ", "(<= Y_0 1)")).is_ok());
    let sum = format!("(assert (<= {}X_0{} 1))", "(- X_1 ".repeat(4_000), ")".repeat(4_000));
    assert!(parse(&sum).is_ok());
}

#[test]
fn blow_up_of_cases() {
    let clause = "(or (<= Y_0 1) (>= Y_0 2))";
    refused(&format!("(assert {clause})").repeat(64), "separate cases");
    refused(&format!("(assert (and {}))", clause.repeat(64)), "separate cases");
    refused(&format!("(assert (not (or {})))", "(= Y_0 1)".repeat(64)), "separate cases");
    let common = "(<= (+ X_0 Y_0) 1)".repeat(1_000);
    let cases = format!("(assert {clause})").repeat(16);
    refused(&format!("(assert (and {common})){cases}"), "in total");
}

#[test]
fn blow_up_of_numbers() {
    let factor = format!(" {}", "7".repeat(2_000));
    refused(&format!("(assert (<= (* X_0 {}) 1))", factor.repeat(1_000)), "too many digits");
    refused(&format!("(assert (<= (* {}) 1))", " 1e400".repeat(1_000)), "too many digits");
    refused(&format!("(assert (<= X_0 {}))", "7".repeat(1_000_000)), "more than 2000 digits");
}

#[test]
fn blow_up_of_products() {
    let declare = |count| -> String { (2..count).map(|i| format!("(declare-const X_{i} Real)")).collect() };
    let sum = |count| (0..count).fold(String::from("(+"), |sum, i| format!("{sum} X_{i}")) + ")";
    let wide = sum(1_000);
    refused(&format!("{}(assert (<= (* {wide} {wide}) 1))", declare(1_000)), "multiplied out");
    let product = format!("(* {0} {0})", sum(200));
    let products = product.repeat(1_000);
    refused(&format!("{}(assert (<= (+ {products}) 1))", declare(200)), "multiplied out");
    let chain: String = (1..300).map(|i| format!("(* X_{i} X_{})", i - 1)).collect();
    refused(&format!("{}(assert (<= (+ {chain}) 1))", declare(300)), "couple more than 200");
}

#[test]
fn long_tokens_make_short_messages() {
    refused(&format!("(assert (<= {} 1))", "z".repeat(1_000_000)), "is not declared");
    refused(&format!("({})", "z".repeat(1_000_000)), "is not known");
    refused(&"\u{0}\u{1b}".repeat(1_000), "outside of any command");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC*") {
        let _ = Property::parse(&text, "random");
    }

    #[test]
    fn any_tokens_are_read_or_refused(
        tokens in prop::collection::vec(prop::sample::select(TOKENS.to_vec()), 0..60),
    ) {
        let _ = Property::parse(&tokens.join(" "), "random");
        let _ = parse(&format!("(assert {}", tokens.join(" ")));
        let tensors = "(declare-input X real [2]) (declare-output Y real [])";
        let network = format!("(declare-network N {tensors})(assert {}", tokens.join(""));
        let _ = Property::parse(&network, "random");
    }
}

const TOKENS: &[&str] = &[
    "(",
    "(",
    "(",
    ")",
    ")",
    ")",
    "[",
    "]",
    ",",
    "\"",
    "\\",
    ";",
    "\n",
    "assert",
    "declare-const",
    "declare-fun",
    "vnnlib-version",
    "declare-network",
    "declare-input",
    "declare-output",
    "<2.0>",
    "X_0",
    "X_1",
    "Y_0",
    "X",
    "Y",
    "Real",
    "real",
    "0",
    "1",
    "-1.5",
    "1e9",
    "<=",
    ">=",
    "<",
    ">",
    "=",
    "!=",
    "+",
    "-",
    "*",
    "and",
    "or",
    "not",
];
