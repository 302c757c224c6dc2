//! The evidence of an embedded crate: what it was made from, what became of each node of the model, what it costs, what range every
//! intermediate takes on the domain, what is assumed. Written for programs and for people from the same data.

mod page;
mod ranges;

use super::device::{Device, products};
use super::measure::Measured;
use super::vectors::{self, VECTORS};
use crate::emit::File;
use crate::error::Error;
use crate::net::{Map, Stage};
use pg_core::sweep::{ARITHMETIC, REPLICATION};
use pg_property::files::{Hash, sha256};
use ranges::{StageRange, ranges};
use serde::Serialize;

const ASSUMPTIONS: [&str; 4] = [
    "float32 arithmetic is that of IEEE 754 binary32, rounded to nearest, ties to even",
    "subnormal numbers are not flushed to zero",
    "the compiler neither fuses nor reorders float32 operations, which is Rust's own rule",
    "the model's file means what the ONNX standard says of the operators listed in the trace",
];

#[derive(Serialize)]
pub struct Evidence {
    pub tool: Tool,
    pub model: Model,
    /// SHA-256 of all weights and biases, little-endian float32, stage by stage.
    pub weights: String,
    pub sources: Vec<Digest>,
    pub domain: Domain,
    pub regions: Vec<Proved>,
    pub arithmetic: &'static str,
    pub replication: &'static str,
    pub trace: Vec<Traced>,
    pub stages: Vec<Cost>,
    pub multiply_adds: Work,
    pub scratch_bytes: usize,
    pub constant_bytes: usize,
    pub ranges: Vec<StageRange>,
    pub overflow: &'static str,
    pub vectors: Vectors,
    pub assumptions: [&'static str; 4],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Figures>,
}

#[derive(Serialize)]
pub struct Tool {
    pub name: &'static str,
    pub version: &'static str,
}

#[derive(Serialize)]
pub struct Model {
    pub name: String,
    pub format: String,
    pub sha256: String,
    pub inputs: usize,
    pub outputs: usize,
}

#[derive(Serialize)]
pub struct Digest {
    pub file: String,
    pub sha256: String,
}

#[derive(Serialize)]
pub struct Domain {
    /// Whether a box was declared, else the domain is all finite numbers.
    pub declared: bool,
    /// Of the VNN-LIB file that declares it and the property.
    pub sha256: Option<String>,
    pub disjuncts: usize,
}

#[derive(Serialize)]
pub struct Proved {
    pub file: String,
    pub property: String,
    pub certificate: String,
    pub arithmetic: String,
}

/// What became of a node of the model.
#[derive(Serialize)]
pub struct Traced {
    pub node: String,
    pub operator: String,
    pub pass: &'static str,
    pub items: Vec<String>,
}

#[derive(Serialize)]
pub struct Cost {
    pub stage: usize,
    pub neurons: usize,
    pub maps: String,
    pub multiply_adds: usize,
    /// The largest stated difference of a weight, and of a bias, from the model's.
    pub error: (f64, f64),
}

#[derive(Serialize)]
pub struct Work {
    pub eval: usize,
    pub certify_at_most: usize,
}

#[derive(Serialize)]
pub struct Vectors {
    pub file: &'static str,
    pub count: usize,
    /// Hidden neurons that some vector has on and another off, of all.
    pub both_phases: usize,
    pub hidden: usize,
}

#[derive(Serialize)]
pub struct Figures {
    pub target: String,
    pub compiler: String,
    pub code_bytes: usize,
    pub constant_bytes: usize,
    pub static_memory_bytes: usize,
    pub stack_bytes: usize,
    pub stacks: Vec<Function>,
    /// Functions that came compiled with the toolchain, whose stack nothing tells.
    pub untold: Vec<String>,
    pub panic: &'static str,
    pub heap: &'static str,
    pub recursion: &'static str,
}

#[derive(Serialize)]
pub struct Function {
    pub function: String,
    pub stack_bytes: usize,
}

/// Both files.
pub fn evidence(device: &Device, files: &[File], measured: Option<&Measured>) -> Result<Vec<File>, Error> {
    let evidence = gather(device, files, measured);
    let json = serde_json::to_string_pretty(&evidence).map_err(|e| Error::File(format!("evidence.json: {e}")))?;
    Ok(vec![File::text("EVIDENCE.md", page::page(&device.name, &evidence)), File::text("evidence.json", json + "\n")])
}

fn gather(device: &Device, files: &[File], measured: Option<&Measured>) -> Evidence {
    let (net, work) = (&device.net, device.work());
    let ranges = ranges(device);
    let is_finite = ranges.iter().all(|range| range.largest_sum < f64::from(f32::MAX) / 4.0);
    Evidence {
        tool: Tool { name: "pg-codegen", version: env!("CARGO_PKG_VERSION") },
        model: Model {
            name: net.source.stem.clone(),
            format: net.source.format.to_string(),
            sha256: net.source.sha256.clone(),
            inputs: net.inputs,
            outputs: net.outputs(),
        },
        weights: weights(device),
        sources: files.iter().map(|f| Digest { file: f.path.clone(), sha256: sha256(&f.bytes) }).collect(),
        domain: Domain {
            declared: device.question.declared,
            sha256: device.question.sha256.clone(),
            disjuncts: device.question.disjuncts.len(),
        },
        regions: device
            .regions
            .iter()
            .map(|r| Proved {
                file: r.name.clone(),
                property: r.property.clone(),
                certificate: r.certificate.clone(),
                arithmetic: r.arithmetic.clone(),
            })
            .collect(),
        arithmetic: ARITHMETIC,
        replication: REPLICATION,
        trace: trace(device),
        stages: net.stages.iter().enumerate().map(|(k, stage)| cost(k, stage)).collect(),
        multiply_adds: Work { eval: work.eval, certify_at_most: work.certify },
        scratch_bytes: scratch(device),
        constant_bytes: net.stages.iter().map(|stage| 4 * stage.parameters()).sum(),
        overflow: match (device.question.declared, is_finite) {
            (_, true) => "no sum overflows on the domain",
            (true, false) => {
                "an overflow on the domain is not excluded; certify excludes it for the inputs that it is asked about"
            }
            (false, false) => {
                "no domain is declared; certify excludes an overflow for the inputs that it is asked about"
            }
        },
        ranges,
        vectors: coverage(device),
        assumptions: ASSUMPTIONS,
        measured: measured.map(figures),
    }
}

/// Every number of the network, in the order of stages, of a stage its maps and then its biases.
fn weights(device: &Device) -> String {
    let mut hash = Hash::default();
    let mut add = |values: &mut dyn Iterator<Item = &f32>| values.for_each(|value| hash.add(&value.to_le_bytes()));
    for stage in &device.net.stages {
        for edge in &stage.edges {
            match &edge.map {
                Map::Dense(matrix) => add(&mut matrix.iter()),
                Map::Sparse(rows) => add(&mut rows.values.iter()),
                Map::Conv { kernel, .. } => add(&mut kernel.iter()),
            }
        }
        add(&mut stage.bias.iter());
    }
    hash.digits()
}

/// What became of each node: by name, since that is what a model's reader knows it by.
fn trace(device: &Device) -> Vec<Traced> {
    let became = |(node, operator): &(String, String)| {
        let mut items = Vec::new();
        for (k, stage) in device.net.stages.iter().enumerate() {
            if stage.parts.contains(node) {
                items.push(format!("network::MAP_{0}*, network::BIAS_{0}: the affine map of stage {0}", k + 1));
            }
            if stage.relu.as_ref() == Some(node) {
                items.push(format!("map::relu after stage {}", k + 1));
            }
        }
        let pass = match items.is_empty() {
            true => "read: folded into constants, or repeats another node",
            false => "compose",
        };
        Traced { node: node.clone(), operator: operator.clone(), pass, items }
    };
    device.net.read.iter().map(became).collect()
}

fn cost(k: usize, stage: &Stage) -> Cost {
    Cost {
        stage: k + 1,
        neurons: stage.width(),
        maps: stage.kinds(),
        multiply_adds: stage.edges.iter().map(|edge| products(&edge.map)).sum(),
        error: stage.error.largest(),
    }
}

/// The size of `Scratch`: five numbers an input and seven a hidden neuron less what inputs and outputs do not have, and one.
fn scratch(device: &Device) -> usize {
    let hidden: usize = device.hidden().iter().map(Stage::width).sum();
    4 * (3 * device.net.inputs + 7 * hidden + 4 * device.net.outputs() + 1)
}

/// Which hidden neurons the vectors have on and off.
fn coverage(device: &Device) -> Vectors {
    let x = vectors::inputs(device, VECTORS);
    let (mut on, mut off) = (Vec::new(), Vec::new());
    for x in x.chunks(device.net.inputs) {
        let phases: Vec<bool> = ranges::phases(device, x);
        on.resize(phases.len(), false);
        off.resize(phases.len(), false);
        phases.iter().enumerate().for_each(|(j, &is_on)| if is_on { on[j] = true } else { off[j] = true });
    }
    let both = on.iter().zip(&off).filter(|(on, off)| **on && **off).count();
    Vectors { file: "vectors.in", count: VECTORS, both_phases: both, hidden: on.len() }
}

fn figures(measured: &Measured) -> Figures {
    let function = |(function, bytes): &(String, usize)| Function { function: function.clone(), stack_bytes: *bytes };
    Figures {
        target: measured.target.clone(),
        compiler: measured.compiler.clone(),
        code_bytes: measured.code,
        constant_bytes: measured.constants,
        static_memory_bytes: measured.memory,
        stack_bytes: measured.stack(),
        stacks: measured.stacks.iter().map(function).collect(),
        untold: measured.untold.clone(),
        panic: "none is reachable: the program was linked with a panic handler that calls a function which is nowhere defined",
        heap: "none: the crate has no allocator, and no symbol of one or of a C library is in the linked program",
        recursion: "none, and no function pointer: the stack of all functions together bounds that of every call",
    }
}
