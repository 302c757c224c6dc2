//! Conditions read into disjunctive normal form.
//!
//! One loop over the tokens with a stack of open operators; each operand is folded into its operator
//! as soon as it is complete. Nothing recurses, so depth costs no stack, and no syntax tree is kept.

use crate::constraint::Constraint;
use crate::dnf::{Dnf, TooManyCases};
use crate::error::Fault;
use crate::polynomial::{Excess, Polynomial};
use crate::quadratic::Refused;

use super::frame::{Frame, Names, Value, operand};
use super::lexer::{Kind, Lexer, Token, never_closed};
use super::operator::{Operator, Relation};
use super::trouble;

/// How deep parentheses may nest. Bounds the time that right-nested conditions take.
const MAX_DEPTH: usize = 4_096;
/// The most comparisons in a property.
const MAX_CONSTRAINTS: usize = 16_000_000;
/// The most products of two variables in a property, after sums are multiplied out.
const MAX_PAIRS: usize = 1_000_000;

/// All assertions read so far, as one conjunction.
#[derive(Default)]
pub(super) struct Assertions {
    pub(super) constraints: Vec<Constraint>,
    pub(super) formula: Dnf,
    pairs: usize,
}

impl Assertions {
    /// Reads one condition and asserts it.
    pub(super) fn assert(&mut self, lexer: &mut Lexer<'_>, names: &impl Names) -> Result<(), Fault> {
        let at = lexer.peek()?.at;
        let condition = self.condition(lexer, names)?;
        let formula = std::mem::take(&mut self.formula);
        self.formula = formula.and(condition).map_err(|TooManyCases| trouble::cases(at))?;
        Ok(())
    }

    fn condition(&mut self, lexer: &mut Lexer<'_>, names: &impl Names) -> Result<Dnf, Fault> {
        let first = lexer.expect(Kind::Open, "a condition such as (<= X_0 1)")?;
        let mut frame = Frame::open(lexer, first.at, false)?;
        let mut outer = Vec::new();
        loop {
            let token = lexer.next()?;
            match token.kind {
                Kind::Open if outer.len() == MAX_DEPTH => {
                    return Err(trouble::depth(token.at, MAX_DEPTH));
                }
                Kind::Open => {
                    let inner = Frame::open(lexer, token.at, frame.negated)?;
                    outer.push(std::mem::replace(&mut frame, inner));
                }
                Kind::Word => {
                    let operand = operand(token, lexer, names)?;
                    self.fold(&mut frame, operand, token)?;
                }
                Kind::Close => {
                    let Some(next) = outer.pop() else {
                        return self.close_condition(frame);
                    };
                    let closed = std::mem::replace(&mut frame, next);
                    let word = closed.word;
                    let value = self.close(closed)?;
                    self.fold(&mut frame, value, word)?;
                }
                Kind::End => return Err(never_closed(frame.opened)),
                _ => return Err(trouble::unexpected(token)),
            }
        }
    }

    /// Folds an operand, which began with `token`, into its operator.
    fn fold(&mut self, frame: &mut Frame<'_>, operand: Value, token: Token<'_>) -> Result<(), Fault> {
        let operator = frame.operator;
        if matches!(operand, Value::Term(_)) != operator.takes_terms() {
            return Err(trouble::wrong_kind(frame.word, operator, token));
        }
        if frame.operands == operator.most_operands() {
            return Err(trouble::too_many_operands(frame.word, operator, token.at));
        }
        frame.operands += 1;
        let value = match (frame.value.take(), operand) {
            (Some(Value::Term(left)), Value::Term(right)) => {
                Value::Term(self.combine(operator, left, right, frame.opened)?)
            }
            (Some(Value::Condition(left)), Value::Condition(right)) => {
                let both = if operator == Operator::Any { left.or(right) } else { left.and(right) };
                Value::Condition(both.map_err(|TooManyCases| trouble::cases(frame.opened))?)
            }
            (_, first) => first,
        };
        frame.value = Some(value);
        Ok(())
    }

    fn combine(
        &mut self,
        operator: Operator,
        mut left: Polynomial,
        mut right: Polynomial,
        at: usize,
    ) -> Result<Polynomial, Fault> {
        if operator == Operator::Multiply {
            let product = left.multiply(right).map_err(|excess| trouble::product(at, excess))?;
            self.pairs += product.pairs();
            if self.pairs > MAX_PAIRS {
                return Err(trouble::product(at, Excess::Pairs));
            }
            return Ok(product);
        }
        if operator != Operator::Add {
            right.negate();
        }
        left.add(right);
        Ok(left)
    }

    /// The value of an operator whose parenthesis has closed.
    fn close(&mut self, frame: Frame<'_>) -> Result<Value, Fault> {
        let value = match frame.value {
            Some(value) if frame.operands >= frame.operator.fewest_operands() => value,
            _ => return Err(trouble::too_few_operands(frame.word, frame.operator)),
        };
        match (frame.operator, value) {
            (Operator::Subtract, Value::Term(mut only)) if frame.operands == 1 => {
                only.negate();
                Ok(Value::Term(only))
            }
            (Operator::Compare(relation), Value::Term(difference)) => {
                Ok(Value::Condition(self.compare(relation, difference, frame.opened)?))
            }
            (_, value) => Ok(value),
        }
    }

    /// The same for the outermost operator, which must give a condition.
    fn close_condition(&mut self, frame: Frame<'_>) -> Result<Dnf, Fault> {
        let opened = frame.opened;
        match self.close(frame)? {
            Value::Condition(formula) => Ok(formula),
            Value::Term(_) => Err(trouble::not_a_condition(opened)),
        }
    }

    /// The condition `difference relation 0`.
    fn compare(&mut self, relation: Relation, difference: Polynomial, at: usize) -> Result<Dnf, Fault> {
        let negative = |mut polynomial: Polynomial| {
            polynomial.negate();
            polynomial
        };
        match relation {
            Relation::Less => self.atom(difference, true, at),
            Relation::LessEqual => self.atom(difference, false, at),
            Relation::Greater => self.atom(negative(difference), true, at),
            Relation::GreaterEqual => self.atom(negative(difference), false, at),
            Relation::Equal => {
                let below = self.atom(difference.clone(), false, at)?;
                let above = self.atom(negative(difference), false, at)?;
                below.and(above).map_err(|TooManyCases| trouble::cases(at))
            }
            Relation::NotEqual => {
                let below = self.atom(difference.clone(), true, at)?;
                let above = self.atom(negative(difference), true, at)?;
                below.or(above).map_err(|TooManyCases| trouble::cases(at))
            }
        }
    }

    /// The condition `polynomial ≤ 0`, or `< 0` if strict.
    fn atom(&mut self, mut polynomial: Polynomial, strict: bool, at: usize) -> Result<Dnf, Fault> {
        polynomial.merge().map_err(|excess| trouble::product(at, excess))?;
        let constraint = Constraint::new(polynomial, strict);
        let constraint = constraint.map_err(|refused: Refused| trouble::quadratic(at, refused))?;
        if self.constraints.len() >= MAX_CONSTRAINTS {
            return Err(trouble::constraints(at, MAX_CONSTRAINTS));
        }
        self.constraints.push(constraint);
        Ok(Dnf::atom(self.constraints.len() as u32 - 1))
    }
}
