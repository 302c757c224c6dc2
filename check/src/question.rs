//! What a certificate has to answer: a property of a network, as the bytes of two files say it.

use crate::{Network, Property, Refused, digest, refused, require};

pub struct Question {
    pub(crate) network: Network,
    pub(crate) property: Property,
    /// Of the model and of the property.
    pub(crate) digests: [[u8; 32]; 2],
}

/// Which leaves are looked at, of so many slices of them.
#[derive(Clone, Copy, Debug)]
pub struct Slice {
    pub index: usize,
    pub count: usize,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    pub generator: String,
    /// What it is about: `float32`, the program that evaluates the network, or `real` numbers.
    pub arithmetic: &'static str,
    pub records: usize,
    pub leaves: usize,
    /// Of these, those of the slice.
    pub checked: usize,
    pub text: Option<String>,
}

impl Slice {
    pub const ALL: Slice = Slice { index: 0, count: 1 };
}

impl Question {
    /// Reads both files, each given with the name that it is told by. They must not be compressed.
    pub fn read(model: (&str, &[u8]), property: (&str, &[u8])) -> Result<Question, Refused> {
        let digests = [model.1, property.1].map(digest);
        let network = Network::read(model.1).map_err(|e| e.at(model.0))?;
        let text = std::str::from_utf8(property.1).map_err(|_| refused("this is no text").at(property.0))?;
        let asked = Property::read(text).map_err(|e| e.at(property.0))?;
        let outputs = network.stages.last().map_or(0, |rows| rows.len());
        let is_about_it = (asked.inputs, asked.outputs) == (network.inputs, outputs);
        require(is_about_it, "the property is not about a network of this size").map_err(|e| e.at(property.0))?;
        Ok(Question { network, property: asked, digests })
    }
}
