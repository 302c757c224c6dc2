//! VNN-LIB 1.0 as it is written in practice: SMT-LIB declarations of inputs `X_i` and outputs `Y_j`.

use std::collections::HashMap;

use crate::error::{Fault, quoted};
use crate::quadratic::Variable;

use super::formula::Assertions;
use super::frame::Names;
use super::lexer::{Kind, Lexer, Token};
use super::{Query, trouble};

/// SMT-LIB commands that say nothing about the property.
const IGNORED: [&str; 9] =
    ["set-logic", "set-info", "set-option", "check-sat", "get-model", "get-value", "get-info", "echo", "exit"];

/// The declared indices, with the place of each declaration.
#[derive(Default)]
struct Declared {
    inputs: HashMap<usize, usize>,
    outputs: HashMap<usize, usize>,
}

pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<Query, Fault> {
    let mut declared = Declared::default();
    let mut assertions = Assertions::default();
    while let Some(opened) = super::next_command(lexer)? {
        let command = lexer.expect(Kind::Word, "a command such as assert")?;
        match command.text {
            "declare-const" => declared.declare(lexer, false)?,
            "declare-fun" => declared.declare(lexer, true)?,
            "assert" => {
                assertions.assert(lexer, &declared)?;
                lexer.expect(Kind::Close, "`)` after the one condition of an assert")?;
            }
            ignored if IGNORED.contains(&ignored) => lexer.skip_to_close(opened)?,
            _ => return Err(unknown_command(command)),
        }
    }
    let end = lexer.peek()?.at;
    let inputs = count(&declared.inputs, "X", "input", end)?;
    let outputs = count(&declared.outputs, "Y", "output", end)?;
    Ok(Query { inputs, outputs, assertions, is_float32: false, input_name: Box::new(|i| format!("X_{i}")) })
}

impl Declared {
    /// `X_0 Real)`, or `X_0 () Real)` of a function.
    fn declare(&mut self, lexer: &mut Lexer<'_>, function: bool) -> Result<(), Fault> {
        let name = lexer.expect(Kind::Word, "the name of a variable")?;
        if function {
            lexer.expect(Kind::Open, "`()`, since a variable has no arguments,")?;
            lexer.expect(Kind::Close, "`()`, since a variable has no arguments,")?;
        }
        let sort = lexer.expect(Kind::Word, "the type Real")?;
        if sort.text != "Real" {
            let what = format!("the type {} is not supported", quoted(sort.text));
            return Err(Fault::new(sort.at, what, "declare the variable as Real"));
        }
        lexer.expect(Kind::Close, "`)`")?;
        let (declared, index) = match parse_name(name.text) {
            Some(Variable::Input(i)) => (&mut self.inputs, i),
            Some(Variable::Output(j)) => (&mut self.outputs, j),
            None => {
                let what = format!("{} is neither an input nor an output", quoted(name.text));
                return Err(Fault::new(name.at, what, "name inputs X_0, X_1, … and outputs Y_0, Y_1, …"));
            }
        };
        if declared.insert(index, name.at).is_some() {
            let what = format!("{} is declared twice", name.text);
            return Err(Fault::new(name.at, what, "remove one of the declarations"));
        }
        Ok(())
    }
}

impl Names for Declared {
    fn variable(&self, word: Token<'_>, _: &mut Lexer<'_>) -> Result<Variable, Fault> {
        let variable = parse_name(word.text).filter(|variable| match variable {
            Variable::Input(i) => self.inputs.contains_key(i),
            Variable::Output(j) => self.outputs.contains_key(j),
        });
        variable.ok_or_else(|| {
            let advice = format!("declare it before its first use: (declare-const {} Real)", word.text);
            let advice = if parse_name(word.text).is_some() { advice } else { spelling() };
            trouble::undeclared(word, advice)
        })
    }
}

fn spelling() -> String {
    "variables are X_0, X_1, … for inputs and Y_0, Y_1, … for outputs".into()
}

/// `X_7` or `Y_7`, the index in plain digits without leading zeros.
fn parse_name(name: &str) -> Option<Variable> {
    let (kind, digits) = name.split_at_checked(2)?;
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    let index = digits.parse().ok().filter(|_| plain)?;
    match kind {
        "X_" => Some(Variable::Input(index)),
        "Y_" => Some(Variable::Output(index)),
        _ => None,
    }
}

/// How many variables of one kind there are, if their indices run from 0 without a gap.
fn count(declared: &HashMap<usize, usize>, letter: &str, kind: &str, end: usize) -> Result<usize, Fault> {
    let Some((last, &at)) = declared.iter().max() else {
        let what = format!("the property declares no {kind}");
        return Err(Fault::new(end, what, format!("declare them: (declare-const {letter}_0 Real) …")));
    };
    match (0..*last).find(|index| !declared.contains_key(index)) {
        None => Ok(declared.len()),
        Some(missing) => {
            let what = format!("{letter}_{last} is declared, but {letter}_{missing} is not");
            Err(Fault::new(at, what, format!("number the {kind}s from 0 without a gap")))
        }
    }
}

fn unknown_command(command: Token<'_>) -> Fault {
    let what = format!("the command {} is not known", quoted(command.text));
    let advice = match command.text {
        "declare-network" | "vnnlib-version" => "a VNN-LIB 2.0 file begins with (vnnlib-version <2.0>)",
        _ => "a property is made of declare-const and assert",
    };
    Fault::new(command.at, what, advice)
}
