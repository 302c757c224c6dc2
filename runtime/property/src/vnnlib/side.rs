//! The inputs, or the outputs, that a property of VNN-LIB 2.0 declares.
//!
//! A network has one list of inputs and one of outputs. Several tensors lie in it one after the other, in the order in
//! which the model declares them. The property's tensors are meant in the same order, unless it gives their names in the
//! model.

use std::collections::HashMap;

use crate::error::{Fault, quoted};

use super::lexer::Lexer;
use super::tensor::{MAX_ELEMENTS, Tensor};

pub(super) struct Side {
    tensors: Vec<Tensor>,
    by_name: HashMap<String, usize>,
    /// Where in the network's list each begins.
    starts: Vec<usize>,
    elements: usize,
}

impl Side {
    /// Tensors of a kind, which are declared at `at`; `model` has those of the network if it has several, and is `None` if
    /// no network is known.
    pub(super) fn new(
        kind: &str,
        tensors: Vec<Tensor>,
        model: Option<&[(String, usize)]>,
        at: usize,
    ) -> Result<Self, Fault> {
        let elements = tensors.iter().fold(0usize, |sum, tensor| sum.saturating_add(tensor.elements()));
        if elements > MAX_ELEMENTS {
            let what = format!("the {kind}s have more than {MAX_ELEMENTS} elements in total");
            return Err(Fault::new(at, what, "such networks are beyond this verifier"));
        }
        let starts = match model {
            None => begin(tensors.iter().map(Tensor::elements)),
            Some(model) => places(kind, &tensors, model).map_err(|(what, advice)| Fault::new(at, what, advice))?,
        };
        let by_name = tensors.iter().enumerate().map(|(k, tensor)| (tensor.name().into(), k)).collect();
        Ok(Self { tensors, by_name, starts, elements })
    }

    pub(super) fn elements(&self) -> usize {
        self.elements
    }

    pub(super) fn is_float32(&self) -> bool {
        self.tensors.iter().all(Tensor::is_float32)
    }

    /// The number of the element of the tensor with this name whose index comes next; `None` if there is no such tensor.
    pub(super) fn element(&self, name: &str, lexer: &mut Lexer<'_>) -> Option<Result<usize, Fault>> {
        let k = *self.by_name.get(name)?;
        Some(self.tensors[k].element(lexer).map(|number| self.starts[k] + number))
    }

    /// How the property writes an element given by its number.
    pub(super) fn element_name(&self, number: usize) -> String {
        let holds = |k: &usize| (self.starts[*k]..self.starts[*k] + self.tensors[*k].elements()).contains(&number);
        let k = (0..self.tensors.len()).find(holds).expect("a number of the list");
        self.tensors[k].element_name(number - self.starts[k])
    }
}

/// Where each of several tensors begins, from their sizes.
fn begin(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let next = |end: &mut usize, size| Some(std::mem::replace(end, *end + size));
    sizes.scan(0, next).collect()
}

/// Where the tensors lie in the list of a network; what is wrong, and what to do, if they are not the network's.
fn places(kind: &str, tensors: &[Tensor], model: &[(String, usize)]) -> Result<Vec<usize>, (String, &'static str)> {
    let count = model.len().max(1);
    if tensors.len() != count {
        let what = format!("the property declares {} {kind} tensors, and the network has {count}", tensors.len());
        return Err((what, "check that the two files belong together"));
    }
    if model.is_empty() {
        return Ok(vec![0]);
    }
    let starts = begin(model.iter().map(|(_, elements)| *elements));
    let numbers: HashMap<&str, usize> = model.iter().enumerate().map(|(k, (name, _))| (name.as_str(), k)).collect();
    let mut taken = vec![false; count];
    let is_named = tensors[0].model_name().is_some();
    let mut places = Vec::with_capacity(count);
    for (order, tensor) in tensors.iter().enumerate() {
        let k = match tensor.model_name() {
            name if name.is_some() != is_named => {
                return Err((format!("some {kind} tensors have a name of the model and some not"), "name all or none"));
            }
            None => order,
            Some(name) => numbers.get(name).copied().ok_or_else(|| {
                let what = format!("the network has no {kind} {}", quoted(name));
                (what, "give the tensor's name in the model, or leave all names out")
            })?,
        };
        let (name, elements) = &model[k];
        if std::mem::replace(&mut taken[k], true) {
            return Err((format!("two tensors are the network's {kind} {}", quoted(name)), "name each once"));
        }
        if tensor.elements() != *elements {
            let (own, found) = (tensor.name(), tensor.elements());
            let what = format!("{own} has {found} elements, and the network's {kind} {} has {elements}", quoted(name));
            return Err((what, "check that the two files belong together"));
        }
        places.push(starts[k]);
    }
    Ok(places)
}
