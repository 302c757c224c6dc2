//! Reading a model file into a [`Graph`].
//!
//! Everything in a file is untrusted: sizes are checked before memory is taken, and whatever is not understood is an
//! error that names it.

mod folder;
mod nnet;
pub mod onnx;

use crate::error::Error;
use crate::graph::Graph;
use folder::Folder;
use pg_core::{Ending, Tensor};
use pg_property::files;
use std::fmt;
use std::path::Path;

/// A model as read: the graph and where it came from.
#[derive(Debug)]
pub struct Model {
    pub graph: Graph,
    pub source: Source,
    /// The box the format declares its inputs to lie in, if it does. Outside, the model's own program clips.
    pub domain: Option<Vec<(f64, f64)>>,
    /// What a user of the model would want to know about the reading.
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The file's name without folders and endings.
    pub stem: String,
    pub format: Format,
    /// Of the model's bytes, after decompression, and of the files that its weights lie in.
    pub sha256: String,
    /// The files read: the model's own, and those beside it, as seen from its folder.
    pub files: Vec<String>,
    /// The tensors that the model declares as its inputs, and as its outputs, where there are several. The network's list of
    /// inputs, or of outputs, is then that of their entries, one after the other.
    pub inputs: Vec<Declared>,
    pub outputs: Vec<Declared>,
    /// The operator that the model ends with and the network does not.
    pub ending: Ending,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    pub name: String,
    pub shape: Vec<usize>,
}

impl Declared {
    pub fn tensor(&self) -> Tensor<'_> {
        Tensor { name: &self.name, shape: &self.shape }
    }
}

/// What the reader of a format finds in a file.
#[derive(Debug)]
struct Content {
    graph: Graph,
    format: Format,
    inputs: Vec<Declared>,
    outputs: Vec<Declared>,
    ending: Ending,
    domain: Option<Vec<(f64, f64)>>,
    notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Format {
    Onnx { ir: i64, opset: i64 },
    NNet,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Format::Onnx { ir, opset } => write!(f, "ONNX, IR {ir}, opset {opset}"),
            Format::NNet => write!(f, "NNet"),
        }
    }
}

/// Reads `.onnx` or `.nnet`, either with `.gz`, also where the path leaves that out, and what the model has in files
/// beside it.
pub fn read(path: &Path) -> Result<Model, Error> {
    let path = &files::find(path);
    let bytes = files::read(path).map_err(|cause| Error::file("read", path, cause))?;
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    read_in(path.parent(), &bytes, &name).map_err(|error| error.of_file(path))
}

/// Reads a model's bytes, whose format the file's name tells. It has nothing beside it.
pub fn read_as(bytes: &[u8], name: &str) -> Result<Model, Error> {
    read_in(None, bytes, name)
}

fn read_in(folder: Option<&Path>, bytes: &[u8], name: &str) -> Result<Model, Error> {
    let plain = name.strip_suffix(".gz").unwrap_or(name);
    let (stem, extension) = plain.rsplit_once('.').unwrap_or((plain, ""));
    let mut folder = Folder::new(folder, name, bytes);
    let content = match extension.to_ascii_lowercase().as_str() {
        "onnx" => onnx::read(bytes, &mut folder),
        "nnet" => nnet::read(bytes),
        _ => Err(Error::Model("neither .onnx nor .nnet (nor either with .gz)".into())),
    }?;
    let Content { graph, format, inputs, outputs, ending, domain, notes } = content;
    let (files, sha256) = folder.finish();
    let source = Source { stem: stem.into(), format, sha256, files, inputs, outputs, ending };
    Ok(Model { graph, source, domain, notes })
}
