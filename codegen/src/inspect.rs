//! `inspect`: a network at a glance.

use crate::net::Net;
use std::fmt::Write;

pub fn table(net: &Net) -> String {
    let mut text = String::new();
    let source = &net.source;
    let _ = writeln!(text, "network     {}\nformat      {}\nsha256      {}", source.stem, source.format, source.sha256);
    let _ = writeln!(text, "inputs      {}\noutputs     {}", net.inputs(), net.outputs());
    let _ = writeln!(text, "ReLUs       {}\nparameters  {}\n", net.relus(), net.parameters());
    let _ = writeln!(text, "layer   inputs  outputs  ReLU  parameters  weights   made from");
    for (k, layer) in net.layers.iter().enumerate() {
        let (outputs, inputs) = layer.weight.dim();
        let relu = if k + 1 < net.layers.len() { "yes" } else { "" };
        let exact = if layer.error.is_zero() { "exact" } else { "rounded" };
        let parameters = layer.weight.len() + layer.bias.len();
        let _ = writeln!(
            text,
            "{:<5} {inputs:>8} {outputs:>8}  {relu:<4} {parameters:>11}  {exact:<8}  {}",
            k + 1,
            layer.origin
        );
    }
    notes(net, &mut text);
    text
}

/// What was folded, and how far that may have moved the weights.
fn notes(net: &Net, text: &mut String) {
    let rounded = net.layers.iter().enumerate().filter(|(_, layer)| !layer.error.is_zero());
    let errors: Vec<String> = rounded
        .map(|(k, layer)| {
            let (weight, bias) = layer.error.largest();
            format!("layer {}: its weights are within {weight:.1e} of the model's, its biases within {bias:.1e}", k + 1)
        })
        .collect();
    let domain = net.domain.iter().map(|_| "the model declares a box for its inputs and clips outside it".to_string());
    for note in net.notes.iter().cloned().chain(errors).chain(domain) {
        let _ = writeln!(text, "note: {note}");
    }
}
