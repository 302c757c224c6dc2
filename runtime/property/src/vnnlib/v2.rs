//! VNN-LIB 2.0 for a single network with one input and one output tensor.
//!
//! Elements are numbered in row-major order, as ONNX lays them out. The element type does not change
//! the meaning of a property: its constants are exact numbers in either case.

use crate::error::{Fault, quoted};
use crate::quadratic::Variable;

use super::formula::Assertions;
use super::frame::Names;
use super::lexer::{Kind, Lexer, Token, never_closed};
use super::tensor::Tensor;
use super::{Query, trouble};

pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<Query, Fault> {
    let mut network = None;
    let mut assertions = Assertions::default();
    while let Some(opened) = super::next_command(lexer)? {
        let command = lexer.expect(Kind::Word, "a command such as assert")?;
        match (command.text, &network) {
            ("vnnlib-version", _) => version(lexer)?,
            ("declare-network", None) => network = Some(Network::read(lexer, opened)?),
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
    Ok(Query { inputs, outputs, assertions, input_name: Box::new(move |i| input.element_name(i)) })
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
    input: Tensor,
    output: Tensor,
}

impl Network {
    /// `name` and the declarations of its tensors, up to the parenthesis that closes it.
    fn read(lexer: &mut Lexer<'_>, opened: usize) -> Result<Self, Fault> {
        lexer.expect(Kind::Word, "the name of the network")?;
        let (mut input, mut output) = (None, None);
        loop {
            let token = lexer.next()?;
            match token.kind {
                Kind::Open => {}
                Kind::Close => break,
                Kind::End => return Err(never_closed(opened)),
                _ => return Err(trouble::unexpected(token)),
            }
            let item = lexer.expect(Kind::Word, "declare-input or declare-output")?;
            let slot = match item.text {
                "declare-input" => &mut input,
                "declare-output" => &mut output,
                _ => return Err(unsupported(item)),
            };
            if slot.is_some() {
                let what = "the network has a second tensor of this kind";
                return Err(Fault::new(item.at, what, ONE_NETWORK));
            }
            *slot = Some(Tensor::read(lexer)?);
        }
        match (input, output) {
            (Some(input), Some(output)) if input.name() != output.name() => Ok(Self { input, output }),
            (Some(_), Some(_)) => {
                let what = "the input and the output have the same name";
                Err(Fault::new(opened, what, "rename one of them"))
            }
            _ => Err(Fault::new(opened, "the network lacks an input or an output", ONE_NETWORK)),
        }
    }
}

const ONE_NETWORK: &str = "only networks of one input and one output tensor can be verified";

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
        if word.text == input.name() {
            return Ok(Variable::Input(input.element(lexer)?));
        }
        if word.text == output.name() {
            return Ok(Variable::Output(output.element(lexer)?));
        }
        let (input, output) = (input.element_name(0), output.element_name(0));
        let advice = format!("variables are written like {input} and {output}");
        Err(trouble::undeclared(word, advice))
    }
}
