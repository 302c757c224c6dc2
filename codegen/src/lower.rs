//! Every decision about the generated crate, before any text: names, sizes, storage.

use crate::error::Error;
use crate::net::{Layer, Net};
use pg_core::kernel::PANEL;
use std::fmt;

/// What [`crate::emit`] substitutes.
#[derive(Debug)]
pub struct Plan {
    /// Package, library and binary are named the same.
    pub name: String,
    pub net: Net,
    pub layers: Vec<LayerPlan>,
    /// Inputs evaluated together: as many as keep the activations of two layers within the cache.
    pub block: usize,
    pub runtime: Runtime,
}

#[derive(Debug)]
pub struct LayerPlan {
    pub inputs: usize,
    pub outputs: usize,
    pub panels: usize,
    /// Of the transposed matrix.
    pub back_panels: usize,
    pub relu: bool,
    pub storage: Storage,
    /// Whether the layer states an error.
    pub rounded: bool,
}

/// How the weights are written down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    /// Numbers that a person can read, one neuron a line.
    Text,
    /// The bytes of the panels.
    Bytes,
}

/// Where the generated crate finds `pg-runtime`, and `pg-core` in its folder `core`.
#[derive(Clone, Debug, PartialEq)]
pub enum Runtime {
    /// Relative to the generated crate, with `/`.
    Path(String),
    Version(String),
    Git {
        url: String,
        rev: Option<String>,
    },
}

/// A layer of up to this many weights is written as text.
const TEXT_WEIGHTS: usize = 4096;
/// The blocks to choose from, all of whole register tiles.
const BLOCKS: [usize; 4] = [48, 24, 12, 1];
/// The most bytes of activations on the stack.
const BLOCK_BYTES: usize = 1 << 18;

pub fn lower(net: Net, name: Option<&str>, runtime: Runtime) -> Result<Plan, Error> {
    let name = match name {
        Some(name) => checked_name(name)?,
        None => default_name(&net.source.stem),
    };
    let last = net.layers.len() - 1;
    let layers = net.layers.iter().enumerate().map(|(k, layer)| layer_plan(layer, k < last)).collect();
    let activations: usize = net.widths()[1..].iter().map(|width| width * size_of::<f32>()).sum();
    let fits = |block: &&usize| **block * activations <= BLOCK_BYTES;
    let block = BLOCKS.iter().find(fits).copied().unwrap_or(1);
    Ok(Plan { name, net, layers, block, runtime })
}

fn layer_plan(layer: &Layer, relu: bool) -> LayerPlan {
    let (outputs, inputs) = layer.weight.dim();
    LayerPlan {
        inputs,
        outputs,
        panels: outputs.div_ceil(PANEL),
        back_panels: inputs.div_ceil(PANEL),
        relu,
        storage: if layer.weight.len() <= TEXT_WEIGHTS { Storage::Text } else { Storage::Bytes },
        rounded: !layer.error.is_zero(),
    }
}

/// `verifier_` and the model's file name, which no keyword or reserved name begins with.
pub fn default_name(stem: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("verifier_{}", stem.chars().map(word).collect::<String>())
}

fn checked_name(name: &str) -> Result<String, Error> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let identifier = name.replace('-', "_");
    let reserved = [
        "test",
        "core",
        "std",
        "alloc",
        "proc_macro",
        "build",
        "deps",
        "examples",
        "incremental",
        "pg_runtime",
        "pg_core",
    ];
    let is_word = syn::parse_str::<syn::Ident>(&identifier).is_ok();
    if starts_well && plain && is_word && !reserved.contains(&identifier.as_str()) && name.len() <= 64 {
        Ok(name.to_string())
    } else {
        Err(Error::Model(format!(
            "'{name}' cannot be the name of a crate: take up to 64 ASCII letters, digits, '_' or '-', a letter first, \
             and no keyword or reserved name"
        )))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        writeln!(f, "crate {}, block {}, runtime {:?}", self.name, self.block, self.runtime)?;
        for (k, layer) in self.layers.iter().enumerate() {
            writeln!(f, "layer {}: {layer:?}", k + 1)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_made_safe_or_refused() {
        assert_eq!(default_name("Net-1.2 (ä)"), "verifier_net_1_2____");
        assert!(checked_name("my-verifier_2").is_ok());
        for bad in ["", "2net", "fn", "test", "a b", "naïve", "a/../b", "pg-runtime", "_"] {
            assert!(checked_name(bad).is_err(), "{bad}");
        }
    }
}
