//! Operands, and the operators that are waiting for them.

use crate::decimal::Decimal;
use crate::dnf::Dnf;
use crate::error::{Fault, quoted};
use crate::polynomial::Polynomial;
use crate::quadratic::Variable;

use super::lexer::{Kind, Lexer, Token};
use super::operator::Operator;

/// Gives names their meaning.
pub(super) trait Names {
    /// The variable that begins with this word; takes an index in brackets from the lexer.
    fn variable(&self, word: Token<'_>, lexer: &mut Lexer<'_>) -> Result<Variable, Fault>;
}

/// What an operand evaluates to.
pub(super) enum Value {
    Term(Polynomial),
    Condition(Dnf),
}

/// An operator whose parenthesis is open, and its operands so far folded into one value.
pub(super) struct Frame<'t> {
    pub(super) operator: Operator,
    pub(super) word: Token<'t>,
    pub(super) opened: usize,
    /// Whether the operands stand under an odd number of `not`.
    pub(super) negated: bool,
    pub(super) operands: usize,
    pub(super) value: Option<Value>,
}

impl<'t> Frame<'t> {
    /// Reads the operator after a parenthesis that opened at `opened`.
    pub(super) fn open(lexer: &mut Lexer<'t>, opened: usize, negated: bool) -> Result<Self, Fault> {
        let word = lexer.expect(Kind::Word, "an operator such as <=, and, or +")?;
        let operator = Operator::read(word, negated)?;
        let negated = negated != (operator == Operator::Not);
        Ok(Self { operator, word, opened, negated, operands: 0, value: None })
    }
}

/// A number or a variable.
pub(super) fn operand(word: Token<'_>, lexer: &mut Lexer<'_>, names: &impl Names) -> Result<Value, Fault> {
    if !word.text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Ok(Value::Term(Polynomial::variable(names.variable(word, lexer)?)));
    }
    let number = word.text.parse::<Decimal>().map_err(|bad| {
        let advice = "write it like 0.5, -3 or 1.5e-3";
        Fault::new(word.at, format!("{} {bad}", quoted(word.text)), advice)
    })?;
    Ok(Value::Term(Polynomial::constant(number)))
}
