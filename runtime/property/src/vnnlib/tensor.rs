//! The tensors of VNN-LIB 2.0: declarations such as `X float32 [1,784]` and elements such as `X[0,3]`.

use crate::error::{Fault, quoted};

use super::lexer::{Kind, Lexer, Token};
use super::trouble;

/// Element types, lower case. float32 says what the property is about, the others mean the same.
const TYPES: [&str; 7] = ["real", "float", "double", "float16", "bfloat16", "float32", "float64"];
/// The most elements of a tensor, and of all inputs or outputs together.
pub(super) const MAX_ELEMENTS: usize = 16_000_000;

/// A tensor of nonzero size; without dimensions it is a scalar.
pub(super) struct Tensor {
    name: String,
    is_float32: bool,
    shape: Vec<usize>,
    /// What the model calls it, if the property says so.
    model_name: Option<String>,
}

impl Tensor {
    /// `X float32 [1,784])`, with an optional name in the model before the parenthesis.
    pub(super) fn read(lexer: &mut Lexer<'_>) -> Result<Self, Fault> {
        let name = lexer.expect(Kind::Word, "the name of a tensor")?;
        let element = lexer.expect(Kind::Word, "an element type such as real or float32")?;
        if !TYPES.contains(&element.text.to_ascii_lowercase().as_str()) {
            let what = format!("the element type {} is not supported", quoted(element.text));
            return Err(Fault::new(element.at, what, "declare the tensor as real or float32"));
        }
        let shape = shape(lexer)?;
        let end = lexer.next()?;
        let model_name = match end.kind {
            Kind::Close => None,
            Kind::Quoted => {
                lexer.expect(Kind::Close, "`)`")?;
                Some(end.text.trim_matches('"').into())
            }
            _ => return Err(trouble::unexpected(end)),
        };
        let is_float32 = element.text.eq_ignore_ascii_case("float32");
        Ok(Self { name: name.text.into(), is_float32, shape, model_name })
    }

    pub(super) fn is_float32(&self) -> bool {
        self.is_float32
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn model_name(&self) -> Option<&str> {
        self.model_name.as_deref()
    }

    pub(super) fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// The row-major number of the element whose index in brackets comes next.
    pub(super) fn element(&self, lexer: &mut Lexer<'_>) -> Result<usize, Fault> {
        let next = lexer.peek()?;
        let indices = if next.kind == Kind::OpenBracket { numbers(lexer)? } else { Vec::new() };
        if indices.len() != self.shape.len() {
            let (found, dimensions) = (indices.len(), self.shape.len());
            let what = format!("{} has {dimensions} dimensions, not {found}", self.name);
            return Err(Fault::new(next.at, what, format!("write {}", self.element_name(0))));
        }
        let mut number = 0;
        for ((index, token), &size) in indices.into_iter().zip(&self.shape) {
            if index >= size {
                let what = format!("the index {} is out of range", quoted(token.text));
                let advice = format!("it runs from 0 to {} here", size - 1);
                return Err(Fault::new(token.at, what, advice));
            }
            number = number * size + index;
        }
        Ok(number)
    }

    /// How the property writes an element given by its number.
    pub(super) fn element_name(&self, mut number: usize) -> String {
        let mut indices = Vec::new();
        for size in self.shape.iter().rev() {
            indices.push((number % size).to_string());
            number /= size;
        }
        indices.reverse();
        if indices.is_empty() { self.name.clone() } else { format!("{}[{}]", self.name, indices.join(",")) }
    }
}

fn shape(lexer: &mut Lexer<'_>) -> Result<Vec<usize>, Fault> {
    let at = lexer.peek()?.at;
    let mut elements = 1usize;
    let mut shape = Vec::new();
    for (size, token) in numbers(lexer)? {
        if size == 0 {
            return Err(Fault::new(token.at, "a dimension is zero", "give every dimension a size"));
        }
        elements = elements.saturating_mul(size);
        shape.push(size);
    }
    if elements > MAX_ELEMENTS {
        let what = format!("the tensor has more than {MAX_ELEMENTS} elements");
        return Err(Fault::new(at, what, "such networks are beyond this verifier"));
    }
    Ok(shape)
}

/// `[0,3]`, or `[]`.
fn numbers<'t>(lexer: &mut Lexer<'t>) -> Result<Vec<(usize, Token<'t>)>, Fault> {
    lexer.expect(Kind::OpenBracket, "`[`")?;
    let mut numbers = Vec::new();
    if lexer.peek()?.kind == Kind::CloseBracket {
        lexer.next()?;
        return Ok(numbers);
    }
    loop {
        let word = lexer.expect(Kind::Word, "a whole number")?;
        let digits = word.text.bytes().all(|byte| byte.is_ascii_digit());
        let number = word.text.parse().ok().filter(|_| digits).ok_or_else(|| {
            let what = format!("{} is not a whole number in range", quoted(word.text));
            Fault::new(word.at, what, "write sizes and indices in plain digits")
        })?;
        numbers.push((number, word));
        let end = lexer.next()?;
        match end.kind {
            Kind::Comma => {}
            Kind::CloseBracket => return Ok(numbers),
            _ => return Err(trouble::unexpected(end)),
        }
    }
}
