//! Every decision about the generated crate, before any text: names, sizes, storage.

use crate::error::Error;
use crate::net::{Edge, Map, Net, Stage};
use pg_core::Source;
use pg_core::kernel::PANEL;
use pg_core::map::Geometry;
use std::fmt;

/// What [`crate::emit`] substitutes.
#[derive(Debug)]
pub struct Plan {
    /// Package, library and binary are named the same.
    pub name: String,
    pub net: Net,
    pub stages: Vec<StagePlan>,
    /// Inputs evaluated together: as many as keep the activations of all stages within the cache.
    pub block: usize,
    pub runtime: Runtime,
}

#[derive(Debug)]
pub struct StagePlan {
    /// Counted from 1.
    pub number: usize,
    pub width: usize,
    pub edges: Vec<EdgePlan>,
    pub relu: bool,
    /// Whether the stage states an error.
    pub rounded: bool,
}

#[derive(Debug)]
pub struct EdgePlan {
    /// What names of items and files end with: the stage's number, and the edge's where there are several.
    pub suffix: String,
    pub from: Source,
    pub inputs: usize,
    pub kind: Kind,
    pub storage: Storage,
}

#[derive(Debug)]
pub enum Kind {
    Dense {
        panels: usize,
        /// Of the transposed matrix.
        back_panels: usize,
    },
    Sparse {
        entries: usize,
    },
    Conv(Geometry),
}

/// How the weights are written down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Storage {
    /// Numbers that a person can read, one neuron a line.
    Text,
    /// The bytes that the kernels read.
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

/// A map of up to this many weights is written as text.
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
    let last = net.stages.len() - 1;
    let stages = net.stages.iter().enumerate().map(|(k, stage)| stage_plan(stage, k + 1, k < last)).collect();
    let activations: usize = net.stages.iter().map(|stage| stage.width() * size_of::<f32>()).sum();
    let fits = |block: &&usize| **block * activations <= BLOCK_BYTES;
    let block = BLOCKS.iter().find(fits).copied().unwrap_or(1);
    Ok(Plan { name, net, stages, block, runtime })
}

fn stage_plan(stage: &Stage, number: usize, relu: bool) -> StagePlan {
    let suffix = |e: usize| match stage.edges.len() {
        1 => number.to_string(),
        _ => format!("{number}_{}", e + 1),
    };
    let edges = stage.edges.iter().enumerate().map(|(e, edge)| edge_plan(edge, suffix(e))).collect();
    StagePlan { number, width: stage.width(), edges, relu, rounded: !stage.error.is_zero() }
}

fn edge_plan(Edge { from, map }: &Edge, suffix: String) -> EdgePlan {
    let kind = match map {
        Map::Dense(matrix) => {
            Kind::Dense { panels: matrix.nrows().div_ceil(PANEL), back_panels: matrix.ncols().div_ceil(PANEL) }
        }
        Map::Sparse(rows) => Kind::Sparse { entries: rows.values.len() },
        Map::Conv { geometry, .. } => Kind::Conv(*geometry),
    };
    let storage = if map.parameters() <= TEXT_WEIGHTS { Storage::Text } else { Storage::Bytes };
    EdgePlan { suffix, from: *from, inputs: map.cols(), kind, storage }
}

/// `verifier_` and the model's file name, which no keyword or reserved name begins with.
pub fn default_name(stem: &str) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    format!("verifier_{}", stem.chars().map(word).collect::<String>())
}

pub fn checked_name(name: &str) -> Result<String, Error> {
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
        for stage in &self.stages {
            writeln!(f, "{stage:?}")?;
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
