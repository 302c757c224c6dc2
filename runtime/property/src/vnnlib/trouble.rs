//! The wording of what can be wrong with a condition.

use crate::convexity::MAX_COUPLED;
use crate::dnf::TooManyCases;
use crate::error::{Fault, quoted};
use crate::polynomial::Excess;
use crate::quadratic::Refused;

use super::lexer::{Kind, Token};
use super::operator::Operator;

pub(super) fn unexpected(token: Token<'_>) -> Fault {
    let what = format!("{token} does not belong here");
    let advice = match token.kind {
        Kind::OpenBracket => {
            "indices in brackets are VNN-LIB 2.0: begin the file with (vnnlib-version <2.0>) and \
             declare the network, or write X_0"
        }
        _ => "remove it",
    };
    Fault::new(token.at, what, advice)
}

pub(super) fn depth(at: usize, most: usize) -> Fault {
    let what = format!("parentheses nest deeper than {most}");
    Fault::new(at, what, "`and`, `or`, `+` and `*` take any number of operands: write them flat")
}

pub(super) fn not_a_condition(at: usize) -> Fault {
    Fault::new(at, "this is a term, not a condition", "compare it with something: (<= term 0)")
}

pub(super) fn wrong_kind(word: Token<'_>, operator: Operator, operand: Token<'_>) -> Fault {
    let (wanted, found) = if operator.takes_terms() {
        ("numbers and variables", "a condition")
    } else {
        ("conditions such as (<= X_0 1)", "a term")
    };
    let what = format!("{word} takes {wanted}, and {operand} begins {found}");
    Fault::new(operand.at, what, "check the parentheses")
}

pub(super) fn too_many_operands(word: Token<'_>, operator: Operator, at: usize) -> Fault {
    let most = operator.most_operands();
    let what = format!("{word} takes {most} operand{}, and here is one more", plural(most));
    Fault::new(at, what, "check the parentheses, and write chains such as a <= b <= c with `and`")
}

pub(super) fn too_few_operands(word: Token<'_>, operator: Operator) -> Fault {
    let fewest = operator.fewest_operands();
    let what = format!("{word} takes at least {fewest} operand{}", plural(fewest));
    Fault::new(word.at, what, "add what is missing")
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

pub(super) fn cases(at: usize) -> Fault {
    Fault::new(at, TooManyCases::text(), "split the property into several files")
}

pub(super) fn constraints(at: usize, most: usize) -> Fault {
    let what = format!("the property has more than {most} comparisons");
    Fault::new(at, what, "split the property into several files")
}

pub(super) fn product(at: usize, excess: Excess) -> Fault {
    match excess {
        Excess::Degree => Fault::new(
            at,
            "this product has three or more variables in it",
            "only linear and convex quadratic constraints can be verified",
        ),
        Excess::Pairs => Fault::new(
            at,
            "this product of sums has too many terms when multiplied out",
            "use fewer variables in quadratic constraints",
        ),
        Excess::Digits => Fault::new(
            at,
            "the constants here combine to a number of too many digits",
            "write the constants with fewer digits or smaller exponents",
        ),
    }
}

pub(super) fn quadratic(at: usize, refused: Refused) -> Fault {
    match refused {
        Refused::NotConvex => Fault::new(
            at,
            "this quadratic constraint does not describe a convex set",
            "only convex ones can be verified, such as a sum of squares <= a linear term; \
             an equation never is",
        ),
        Refused::TooLarge => Fault::new(
            at,
            format!(
                "whether this quadratic constraint is convex takes too long to decide: products \
                 couple more than {MAX_COUPLED} variables, or fewer with long coefficients"
            ),
            "use fewer mixed products, or rounder coefficients",
        ),
    }
}

pub(super) fn undeclared(word: Token<'_>, advice: String) -> Fault {
    Fault::new(word.at, format!("the variable {} is not declared", quoted(word.text)), advice)
}
