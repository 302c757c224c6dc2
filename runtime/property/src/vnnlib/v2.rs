//! VNN-LIB 2.0 for a single network.
//!
//! Elements are numbered in row-major order, as ONNX lays them out. The element type does not change
//! the set that a property is: its constants are exact numbers in either case. Where all tensors are
//! declared as float32, the property is meant of the program that computes in it.

use std::collections::HashSet;

use crate::error::{Fault, quoted};
use crate::quadratic::Variable;

use super::formula::Assertions;
use super::frame::Names;
use super::lexer::{Kind, Lexer, Token, never_closed};
use super::side::Side;
use super::tensor::Tensor;
use super::{Query, trouble};
use crate::Tensors;

pub(super) fn read(lexer: &mut Lexer<'_>, model: Option<&Tensors>) -> Result<Query, Fault> {
    let mut network = None;
    let mut assertions = Assertions::default();
    while let Some(opened) = super::next_command(lexer)? {
        let command = lexer.expect(Kind::Word, "a command such as assert")?;
        match (command.text, &network) {
            ("vnnlib-version", _) => version(lexer)?,
            ("declare-network", None) => network = Some(Network::read(lexer, opened, model)?),
            ("declare-network", Some(_)) => {
                let what = "a second network is declared";
                return Err(Fault::new(command.at, what, "only properties of one network can be verified"));
            }
            ("assert", Some(network)) => {
                assertions.assert(lexer, network)?;
                lexer.expect(Kind::Close, "`)` after the one condition of an assert")?;
            }
            ("assert", None) => return Err(no_network(command.at)),
            (other, _) => {
                let what = format!("the command {} is not known", quoted(other));
                let advice = "a property is made of vnnlib-version, declare-network and assert";
                return Err(Fault::new(command.at, what, advice));
            }
        }
    }
    let Some(Network { input, output }) = network else {
        return Err(no_network(lexer.peek()?.at));
    };
    let (inputs, outputs) = (input.elements(), output.elements());
    let is_float32 = input.is_float32() && output.is_float32();
    Ok(Query { inputs, outputs, assertions, is_float32, input_name: Box::new(move |i| input.element_name(i)) })
}

fn no_network(at: usize) -> Fault {
    let advice = "declare it: \
        (declare-network N (declare-input X real [1,5]) (declare-output Y real [1,2]))";
    Fault::new(at, "no network is declared", advice)
}

/// `<2.0>)`; the brackets are not insisted upon.
fn version(lexer: &mut Lexer<'_>) -> Result<(), Fault> {
    let version = lexer.expect(Kind::Word, "a version such as <2.0>")?;
    if !version.text.trim_start_matches('<').starts_with("2.") {
        let what = format!("VNN-LIB of version {} is not supported", quoted(version.text));
        return Err(Fault::new(version.at, what, "write the property in version <2.0>, or in 1.0 without this line"));
    }
    lexer.expect(Kind::Close, "`)`")?;
    Ok(())
}

struct Network {
    input: Side,
    output: Side,
}

impl Network {
    /// `name` and the declarations of its tensors, up to the parenthesis that closes it.
    fn read(lexer: &mut Lexer<'_>, opened: usize, model: Option<&Tensors>) -> Result<Self, Fault> {
        lexer.expect(Kind::Word, "the name of the network")?;
        let (mut names, mut inputs, mut outputs) = (HashSet::new(), Vec::new(), Vec::new());
        loop {
            let token = lexer.next()?;
            match token.kind {
                Kind::Open => {}
                Kind::Close => break,
                Kind::End => return Err(never_closed(opened)),
                _ => return Err(trouble::unexpected(token)),
            }
            let item = lexer.expect(Kind::Word, "declare-input or declare-output")?;
            let side = match item.text {
                "declare-input" => &mut inputs,
                "declare-output" => &mut outputs,
                _ => return Err(unsupported(item)),
            };
            let tensor = Tensor::read(lexer)?;
            if !names.insert(tensor.name().to_string()) {
                let what = format!("two tensors have the name {}", quoted(tensor.name()));
                return Err(Fault::new(item.at, what, "rename one of them"));
            }
            side.push(tensor);
        }
        if inputs.is_empty() || outputs.is_empty() {
            let what = "the network lacks an input or an output";
            return Err(Fault::new(opened, what, "declare at least one of each"));
        }
        let input = Side::new("input", inputs, model.map(|model| &model.inputs[..]), opened)?;
        let output = Side::new("output", outputs, model.map(|model| &model.outputs[..]), opened)?;
        Ok(Self { input, output })
    }
}

fn unsupported(item: Token<'_>) -> Fault {
    let (what, advice) = match item.text {
        "declare-hidden" => ("hidden tensors are not supported", "constrain inputs and outputs only"),
        "isomorphic-to" | "equal-to" => {
            ("relations between networks are not supported", "state the property of one network")
        }
        _ => ("this is no part of a network", "use declare-input and declare-output"),
    };
    Fault::new(item.at, format!("{}: {what}", quoted(item.text)), advice)
}

impl Names for Network {
    fn variable(&self, word: Token<'_>, lexer: &mut Lexer<'_>) -> Result<Variable, Fault> {
        let (input, output) = (&self.input, &self.output);
        if let Some(number) = input.element(word.text, lexer) {
            return Ok(Variable::Input(number?));
        }
        if let Some(number) = output.element(word.text, lexer) {
            return Ok(Variable::Output(number?));
        }
        let (input, output) = (input.element_name(0), output.element_name(0));
        let advice = format!("variables are written like {input} and {output}");
        Err(trouble::undeclared(word, advice))
    }
}
