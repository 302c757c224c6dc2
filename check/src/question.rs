//! What a certificate has to answer: a property of a network, as the bytes of two files say it.

use crate::judge::{Rejected, Slice, Summary, judge};
use crate::onnx::Network;
use crate::property::Property;
use crate::{Refused, refused, require, sha256};

pub struct Question {
    network: Network,
    property: Property,
    /// Of the model and of the property.
    digests: [[u8; 32]; 2],
}

impl Question {
    /// Reads both files, each given with the name that it is told by. They must not be compressed.
    pub fn read(model: (&str, &[u8]), property: (&str, &[u8])) -> Result<Question, Refused> {
        let digests = [model.1, property.1].map(sha256::digest);
        let network = Network::read(model.1).map_err(|e| e.at(model.0))?;
        let text = std::str::from_utf8(property.1).map_err(|_| refused("this is no text").at(property.0))?;
        let asked = Property::read(text).map_err(|e| e.at(property.0))?;
        let outputs = network.stages.last().map_or(0, |stage| stage.rows.len());
        let is_about_it = (asked.inputs, asked.outputs) == (network.inputs, outputs);
        require(is_about_it, "the property is not about a network of this size").map_err(|e| e.at(property.0))?;
        Ok(Question { network, property: asked, digests })
    }

    pub fn judge(&self, certificate: &[u8], slice: Slice, as_text: bool) -> Result<Summary, Rejected> {
        judge(&self.network, &self.property, self.digests, certificate, slice, as_text)
    }
}
