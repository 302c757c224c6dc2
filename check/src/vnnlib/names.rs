//! The variables that a property declares: `X_i` and `Y_j` in version 1.0, elements of two tensors in version 2.0.

use std::collections::HashSet;

use crate::{Refused, refuse};

use super::tokens::{Tokens, index};

/// The most inputs, and the most outputs.
const MAX_VARIABLES: usize = 1 << 22;

/// An input or an output by its number. Inputs come first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Variable {
    Input(usize),
    Output(usize),
}

#[derive(Default)]
pub(super) struct Names {
    declared: HashSet<Variable>,
    input: Option<Tensor>,
    output: Option<Tensor>,
}

struct Tensor {
    name: String,
    shape: Vec<usize>,
}

impl Names {
    /// `X_0 Real)`, or `X_0 () Real)` as a function of nothing.
    pub(super) fn declare(&mut self, tokens: &mut Tokens<'_>, is_function: bool) -> Result<(), Refused> {
        let name = tokens.word()?;
        if is_function {
            tokens.expect("(")?;
            tokens.expect(")")?;
        }
        tokens.expect("Real")?;
        tokens.expect(")")?;
        let variable = numbered(name).ok_or_else(|| Refused(format!("`{name}` is neither X_0, … nor Y_0, …")))?;
        if self.input.is_some() || !self.declared.insert(variable) {
            return refuse(format!("`{name}` is declared twice"));
        }
        Ok(())
    }

    /// `N (declare-input X real [1,5]) (declare-output Y real [1,2]))`, both exactly once.
    pub(super) fn declare_network(&mut self, tokens: &mut Tokens<'_>) -> Result<(), Refused> {
        if self.input.is_some() || !self.declared.is_empty() {
            return refuse("only one network can be declared");
        }
        tokens.word()?;
        while tokens.must()? == "(" {
            let kind = tokens.word()?;
            let name = tokens.word()?.to_string();
            let element = tokens.word()?.to_ascii_lowercase();
            if !["real", "float", "double", "float16", "bfloat16", "float32", "float64"].contains(&&element[..]) {
                return refuse(format!("the element type `{element}` is not supported"));
            }
            let shape = tokens.indices()?;
            tokens.expect(")")?;
            let place = match kind {
                "declare-input" => &mut self.input,
                "declare-output" => &mut self.output,
                _ => return refuse(format!("`{kind}` is not supported")),
            };
            if place.replace(Tensor { name, shape }).is_some() {
                return refuse(format!("a second `{kind}` is not supported"));
            }
        }
        match (&self.input, &self.output) {
            (Some(input), Some(output)) if input.name != output.name => Ok(()),
            _ => refuse("the network needs an input and an output of different names"),
        }
    }

    /// The variable that begins with this word.
    pub(super) fn variable(&self, word: &str, tokens: &mut Tokens<'_>) -> Result<Variable, Refused> {
        let named = |tensor: &&Tensor| tensor.name == word;
        if let Some(tensor) = self.input.as_ref().filter(named) {
            return Ok(Variable::Input(tensor.element(&tokens.indices()?)?));
        }
        if let Some(tensor) = self.output.as_ref().filter(named) {
            return Ok(Variable::Output(tensor.element(&tokens.indices()?)?));
        }
        let declared = numbered(word).filter(|variable| self.declared.contains(variable));
        declared.ok_or_else(|| Refused(format!("`{word}` is not declared")))
    }

    /// How many inputs and outputs there are.
    pub(super) fn counts(&self) -> Result<(usize, usize), Refused> {
        if let (Some(input), Some(output)) = (&self.input, &self.output) {
            return Ok((input.count()?, output.count()?));
        }
        let inputs = self.declared.iter().filter(|variable| matches!(variable, Variable::Input(_))).count();
        let outputs = self.declared.len() - inputs;
        let has_gap = self.declared.iter().any(|variable| match *variable {
            Variable::Input(number) => number >= inputs,
            Variable::Output(number) => number >= outputs,
        });
        if has_gap || inputs == 0 || outputs == 0 {
            return refuse("the inputs X_0, … and the outputs Y_0, … are not declared without a gap");
        }
        Ok((inputs, outputs))
    }
}

impl Tensor {
    fn count(&self) -> Result<usize, Refused> {
        let count = self.shape.iter().try_fold(1usize, |count, &size| count.checked_mul(size));
        let count = count.filter(|count| (1..=MAX_VARIABLES).contains(count));
        count.ok_or_else(|| Refused(format!("`{}` has no elements or too many", self.name)))
    }

    /// The number of an element in row-major order.
    fn element(&self, indices: &[usize]) -> Result<usize, Refused> {
        self.count()?;
        if indices.len() != self.shape.len() || indices.iter().zip(&self.shape).any(|(index, size)| index >= size) {
            return refuse(format!("`{}` has no element {indices:?}", self.name));
        }
        Ok(indices.iter().zip(&self.shape).fold(0, |number, (index, size)| number * size + index))
    }
}

/// `X_7` or `Y_7`.
fn numbered(name: &str) -> Option<Variable> {
    let (kind, digits) = name.split_at_checked(2)?;
    let number = index(digits).filter(|&number| number < MAX_VARIABLES)?;
    match kind {
        "X_" => Some(Variable::Input(number)),
        "Y_" => Some(Variable::Output(number)),
        _ => None,
    }
}
