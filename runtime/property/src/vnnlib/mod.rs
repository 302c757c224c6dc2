//! VNN-LIB properties, version 1.0 and 2.0, read into disjunctive normal form.
//!
//! The version is told by the first command. Asserted conditions are joined by "and"; `or` and `!=`
//! make cases; `not` is pushed to the comparisons. Numbers stay exact decimals. Nothing here
//! recurses and every quantity that a text can blow up is limited, so any text is either read or
//! refused with a message.

mod formula;
mod frame;
mod lexer;
mod operator;
mod side;
mod tensor;
mod trouble;
mod v1;
mod v2;
mod write;

use super::assemble::assemble;
use super::boxes::Unusable;
use super::constraint::End;
use super::error::{Fault, PropertyError};
use super::{Property, Tensors};
use formula::Assertions;
use lexer::{Kind, Lexer};

/// A file that has been read to its end.
struct Query {
    inputs: usize,
    outputs: usize,
    assertions: Assertions,
    /// Whether all tensors are declared as float32.
    is_float32: bool,
    /// How the file writes an input.
    input_name: Box<dyn Fn(usize) -> String>,
}

pub(super) fn parse(text: &str, origin: &str, model: Option<&Tensors>) -> Result<Property, PropertyError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let query = read(text, model).map_err(|fault| fault.locate(origin, text))?;
    let Assertions { constraints, formula, .. } = query.assertions;
    let property = assemble(origin, query.inputs, query.outputs, &constraints, formula);
    let property = property.map_err(|unusable| explain(unusable, origin, query.input_name))?;
    Ok(Property { declares_float32: query.is_float32, ..property })
}

fn read(text: &str, model: Option<&Tensors>) -> Result<Query, Fault> {
    let mut ahead = Lexer::new(text);
    let first = (ahead.next()?.kind, ahead.next()?.text);
    let mut lexer = Lexer::new(text);
    match first {
        (Kind::Open, "vnnlib-version" | "declare-network") => v2::read(&mut lexer, model),
        _ => v1::read(&mut lexer),
    }
}

/// The place of the parenthesis that opens the next command; `None` at the end of the text.
fn next_command(lexer: &mut Lexer<'_>) -> Result<Option<usize>, Fault> {
    let token = lexer.next()?;
    match token.kind {
        Kind::Open => Ok(Some(token.at)),
        Kind::End => Ok(None),
        Kind::Close => {
            let what = "this closing parenthesis has no opening one";
            Err(Fault::new(token.at, what, "remove it, or add the missing `(`"))
        }
        _ => {
            let what = format!("{token} stands outside of any command");
            Err(Fault::new(token.at, what, "remove it, or make it a comment with `;`"))
        }
    }
}

fn explain(unusable: Unusable, origin: &str, name: impl Fn(usize) -> String) -> PropertyError {
    let (what, advice) = match unusable {
        Unusable::Unbounded { input, end } => {
            let (end, relation) = match end {
                End::Lower => ("lower", ">="),
                End::Upper => ("upper", "<="),
            };
            let name = name(input);
            (
                format!("the input {name} has no {end} bound in some case of the property"),
                format!("add one: (assert ({relation} {name} …))"),
            )
        }
        Unusable::TooLarge => (
            "the cases of the property have too many input boxes or rows in total".into(),
            "split the property into several files".into(),
        ),
    };
    PropertyError::new(origin, what, advice)
}
