//! Properties written in VNN-LIB, versions 1.0 and 2.0.
//!
//! One loop reads the tokens, with a stack of open operators. An operand is folded into its operator as soon as it is
//! complete, so no tree is built, nothing recurses, and the time is linear in the text.

mod cases;
mod names;
mod tokens;

use crate::number::Ratio;
use crate::property::{Atom, Linear, Property, assemble};
use crate::{Refused, refuse};
use cases::Cases;
use names::{Names, Variable};
use tokens::Tokens;

/// How deep parentheses may nest, which bounds what nested sums cost.
const MAX_DEPTH: usize = 512;
/// Commands of SMT-LIB that say nothing about the property.
const IGNORED: [&str; 9] =
    ["set-logic", "set-info", "set-option", "check-sat", "get-model", "get-value", "get-info", "echo", "exit"];

impl Property {
    /// The property of a text in VNN-LIB.
    pub fn read(text: &str) -> Result<Self, Refused> {
        let mut tokens = Tokens::new(text.strip_prefix('\u{feff}').unwrap_or(text));
        let mut reader = Reader::default();
        reader.commands(&mut tokens).map_err(|fault| fault.at(format!("line {} of the property", tokens.line())))?;
        let (inputs, outputs) = reader.names.counts()?;
        let (common, cases) = reader.formula.into_parts();
        assemble(inputs, outputs, &reader.atoms, &common, &cases)
    }
}

/// What has been read so far: the conjunction of all assertions.
#[derive(Default)]
struct Reader {
    names: Names,
    atoms: Vec<Atom>,
    formula: Cases,
}

/// `Σ coefficient · variable + constant`, a variable occurring any number of times.
struct Sum {
    terms: Vec<(Variable, Ratio)>,
    constant: Ratio,
}

enum Operand {
    Sum(Sum),
    Condition(Cases),
}

/// An operator whose parenthesis is open, and its operands so far in one.
struct Open<'t> {
    operator: &'t str,
    operands: usize,
    value: Option<Operand>,
}

impl Reader {
    fn commands(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Refused> {
        while let Some(token) = tokens.next()? {
            if token != "(" {
                return refuse(format!("`{token}` stands outside of parentheses"));
            }
            match tokens.word()? {
                "declare-const" => self.names.declare(tokens, false)?,
                "declare-fun" => self.names.declare(tokens, true)?,
                "declare-network" => self.names.declare_network(tokens)?,
                "vnnlib-version" => version(tokens)?,
                "assert" => {
                    let condition = self.condition(tokens)?;
                    self.formula = std::mem::take(&mut self.formula).and(condition)?;
                    tokens.expect(")")?;
                }
                ignored if IGNORED.contains(&ignored) => tokens.skip()?,
                other => return refuse(format!("the command `{other}` is not known")),
            }
        }
        Ok(())
    }

    fn condition(&mut self, tokens: &mut Tokens<'_>) -> Result<Cases, Refused> {
        tokens.expect("(")?;
        let mut open = Open::read(tokens)?;
        let mut outer = Vec::new();
        loop {
            let operand = match tokens.must()? {
                "(" if outer.len() == MAX_DEPTH => return refuse("parentheses nest too deep"),
                "(" => {
                    outer.push(std::mem::replace(&mut open, Open::read(tokens)?));
                    continue;
                }
                ")" => match (outer.pop(), self.close(open)?) {
                    (Some(next), operand) => {
                        open = next;
                        operand
                    }
                    (None, Operand::Condition(cases)) => return Ok(cases),
                    (None, Operand::Sum(_)) => return refuse("a condition was expected, not a number"),
                },
                word => self.operand(word, tokens)?,
            };
            open.fold(operand)?;
        }
    }

    /// A number or a variable.
    fn operand(&self, word: &str, tokens: &mut Tokens<'_>) -> Result<Operand, Refused> {
        if !word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
            let variable = self.names.variable(word, tokens)?;
            return Ok(Operand::Sum(Sum { terms: vec![(variable, Ratio::ONE)], constant: Ratio::ZERO }));
        }
        let constant =
            Ratio::parse(word).ok_or_else(|| Refused(format!("`{word}` is no decimal, or too long a one")))?;
        Ok(Operand::Sum(Sum { terms: Vec::new(), constant }))
    }

    /// The value of an operator whose parenthesis closes.
    fn close(&mut self, open: Open<'_>) -> Result<Operand, Refused> {
        match (open.operator, open.operands, open.value) {
            ("-", 1, Some(Operand::Sum(sum))) => Ok(Operand::Sum(sum.scaled(minus_one())?)),
            ("+" | "-" | "*" | "and" | "or", 1.., Some(value)) => Ok(value),
            (relation, 2, Some(Operand::Sum(difference))) => self.compare(relation, difference).map(Operand::Condition),
            (operator, number, _) => refuse(format!("`{operator}` does not take {number} operands")),
        }
    }

    /// The condition that a difference is in this relation to zero.
    fn compare(&mut self, relation: &str, difference: Sum) -> Result<Cases, Refused> {
        let below = difference.linear()?;
        match relation {
            "<=" => self.atom(below, false),
            "<" => self.atom(below, true),
            ">=" => self.atom(negated(&below)?, false),
            ">" => self.atom(negated(&below)?, true),
            _ => {
                let above = negated(&below)?;
                self.atom(below, false)?.and(self.atom(above, false)?)
            }
        }
    }

    fn atom(&mut self, linear: Linear, is_strict: bool) -> Result<Cases, Refused> {
        let number = u32::try_from(self.atoms.len()).map_err(|_| Refused("there are too many comparisons".into()))?;
        self.atoms.push(Atom::new(linear, is_strict)?);
        Ok(Cases::atom(number))
    }
}

/// `<2.0>)`.
fn version(tokens: &mut Tokens<'_>) -> Result<(), Refused> {
    let version = tokens.word()?;
    if !version.trim_start_matches('<').starts_with("2.") {
        return refuse(format!("version `{version}` of VNN-LIB is not known"));
    }
    tokens.expect(")")
}

impl<'t> Open<'t> {
    fn read(tokens: &mut Tokens<'t>) -> Result<Self, Refused> {
        match tokens.word()? {
            operator @ ("+" | "-" | "*" | "<" | "<=" | ">" | ">=" | "=" | "==" | "and" | "or") => {
                Ok(Self { operator, operands: 0, value: None })
            }
            other => refuse(format!("the operator `{other}` is not supported")),
        }
    }

    /// Takes a further operand in. Those of a comparison are subtracted.
    fn fold(&mut self, operand: Operand) -> Result<(), Refused> {
        let is_junction = matches!(self.operator, "and" | "or");
        if is_junction != matches!(operand, Operand::Condition(_)) {
            return refuse(format!("an operand of `{}` is of the wrong kind", self.operator));
        }
        self.operands += 1;
        self.value = Some(match (self.operator, self.value.take(), operand) {
            ("and", Some(Operand::Condition(left)), Operand::Condition(right)) => Operand::Condition(left.and(right)?),
            ("or", Some(Operand::Condition(left)), Operand::Condition(right)) => Operand::Condition(left.or(right)?),
            ("*", Some(Operand::Sum(left)), Operand::Sum(right)) => Operand::Sum(left.multiplied(right)?),
            ("+", Some(Operand::Sum(left)), Operand::Sum(right)) => Operand::Sum(left.added(right)?),
            (_, Some(Operand::Sum(left)), Operand::Sum(right)) => Operand::Sum(left.added(right.scaled(minus_one())?)?),
            (_, _, first) => first,
        });
        Ok(())
    }
}

fn minus_one() -> Ratio {
    Ratio { numerator: -1, denominator: 1 }
}

impl Sum {
    fn added(mut self, mut other: Self) -> Result<Self, Refused> {
        self.terms.append(&mut other.terms);
        self.constant = self.constant.add(other.constant).ok_or_else(Refused::overflow)?;
        Ok(self)
    }

    fn scaled(mut self, factor: Ratio) -> Result<Self, Refused> {
        for (_, coefficient) in &mut self.terms {
            *coefficient = coefficient.mul(factor).ok_or_else(Refused::overflow)?;
        }
        self.constant = self.constant.mul(factor).ok_or_else(Refused::overflow)?;
        Ok(self)
    }

    fn multiplied(self, other: Self) -> Result<Self, Refused> {
        match (self.terms.is_empty(), other.terms.is_empty()) {
            (_, true) => self.scaled(other.constant),
            (true, _) => other.scaled(self.constant),
            _ => refuse("a product of variables is not supported"),
        }
    }

    /// The sum with each variable at most once, in order, and none with the coefficient zero.
    fn linear(mut self) -> Result<Linear, Refused> {
        self.terms.sort_by_key(|term| term.0);
        let mut linear = Linear { x: Vec::new(), y: Vec::new(), constant: self.constant };
        for group in self.terms.chunk_by(|left, right| left.0 == right.0) {
            let sum = group.iter().try_fold(Ratio::ZERO, |sum, term| sum.add(term.1)).ok_or_else(Refused::overflow)?;
            match group.first() {
                Some(&(Variable::Input(number), _)) if !sum.is_zero() => linear.x.push((number, sum)),
                Some(&(Variable::Output(number), _)) if !sum.is_zero() => linear.y.push((number, sum)),
                _ => {}
            }
        }
        Ok(linear)
    }
}

fn negated(linear: &Linear) -> Result<Linear, Refused> {
    let each = |terms: &[(usize, Ratio)]| terms.iter().map(|term| Some((term.0, term.1.neg()?))).collect::<Option<_>>();
    let negated = || Some(Linear { x: each(&linear.x)?, y: each(&linear.y)?, constant: linear.constant.neg()? });
    negated().ok_or_else(Refused::overflow)
}
