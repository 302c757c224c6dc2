//! `operators`: what of ONNX is supported, from the table that the reader looks nodes up in.

use crate::read::onnx::{OPERATORS, OPSETS, Operator};
use std::fmt::Write;

pub fn table() -> String {
    let width = OPERATORS.iter().map(|operator| operator.name.len()).max().unwrap_or(0);
    let mut text = format!("{:width$}  in opsets {} to {}\n", "operator", OPSETS.start(), OPSETS.end());
    for operator in OPERATORS {
        let _ = writeln!(text, "{:width$}  {}", operator.name, about(operator));
    }
    text
}

/// The page `docs/operators.md`.
pub fn page() -> String {
    let mut text = format!(
        "# Operators\n\n\
         The ONNX operators that are read, in their forms of opsets {} to {}. Each becomes affine maps and ReLUs that\n\
         are equal to it in real arithmetic; what is computed of constants alone is folded. A Softmax, LogSoftmax,\n\
         Sigmoid or ArgMax that ends a model is cut. This page is what `pg-codegen operators --markdown` prints.\n\n\
         | operator | supported |\n|---|---|\n",
        OPSETS.start(),
        OPSETS.end()
    );
    for operator in OPERATORS {
        let _ = writeln!(text, "| {} | {} |", operator.name, about(operator));
    }
    text
}

fn about(operator: &Operator) -> &str {
    if operator.about.is_empty() { "all of it" } else { operator.about }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operator_has_a_line() {
        for text in [table(), page()] {
            assert!(OPERATORS.iter().all(|operator| text.contains(operator.name)));
            assert!(text.lines().all(|line| line.len() <= 200));
        }
    }
}
