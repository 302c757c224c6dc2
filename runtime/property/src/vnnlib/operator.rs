//! The operators of conditions and terms.

use crate::error::{Fault, quoted};

use super::lexer::Token;

/// What an opening parenthesis begins, with the negations around it already taken into account:
/// a negated `and` is `Any`, a negated `<=` is `Greater`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Compare(Relation),
    All,
    Any,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

impl Operator {
    pub(super) fn read(word: Token<'_>, negated: bool) -> Result<Self, Fault> {
        let operator = match word.text {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "<" => Self::Compare(Relation::Less),
            "<=" => Self::Compare(Relation::LessEqual),
            ">" => Self::Compare(Relation::Greater),
            ">=" => Self::Compare(Relation::GreaterEqual),
            "=" | "==" => Self::Compare(Relation::Equal),
            "!=" | "distinct" => Self::Compare(Relation::NotEqual),
            "and" => Self::All,
            "or" => Self::Any,
            "not" => Self::Not,
            other => {
                let what = format!("the operator {} is not known", quoted(other));
                let advice = "use and, or, not, <=, >=, <, >, =, +, - or *";
                return Err(Fault::new(word.at, what, advice));
            }
        };
        Ok(if negated { operator.negated() } else { operator })
    }

    fn negated(self) -> Self {
        match self {
            Self::All => Self::Any,
            Self::Any => Self::All,
            Self::Compare(relation) => Self::Compare(relation.negated()),
            other => other,
        }
    }

    /// Whether the operands are terms, as opposed to conditions.
    pub(super) fn takes_terms(self) -> bool {
        !matches!(self, Self::All | Self::Any | Self::Not)
    }

    /// The most operands it takes.
    pub(super) fn most_operands(self) -> usize {
        match self {
            Self::Compare(_) => 2,
            Self::Not => 1,
            _ => usize::MAX,
        }
    }

    /// The fewest operands it takes.
    pub(super) fn fewest_operands(self) -> usize {
        if matches!(self, Self::Compare(_)) { 2 } else { 1 }
    }
}

impl Relation {
    fn negated(self) -> Self {
        match self {
            Self::Less => Self::GreaterEqual,
            Self::LessEqual => Self::Greater,
            Self::Greater => Self::LessEqual,
            Self::GreaterEqual => Self::Less,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
        }
    }
}
