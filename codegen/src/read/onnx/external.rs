//! Tensors whose data lies in files beside the model.
//!
//! Their bytes are put where those of other tensors are. Sizes come from the shapes, so that no more is read than the
//! model needs, and are limited in total before anything is read.

use super::proto::{EXTERNAL, GraphProto, TensorProto};
use super::tensor::bytes;
use crate::read::folder::{Folder, plain_name};
use pg_property::files::MAX_BYTES;
use std::collections::BTreeMap;
use std::ops::Range;

/// A tensor of the model, and where in its file its data lies.
struct Stored<'a> {
    /// How messages name it.
    label: String,
    tensor: &'a mut TensorProto,
    range: Range<u64>,
}

/// Reads the data of all tensors that lie in other files, file by file in the order of their names.
pub fn load(graph: &mut GraphProto, folder: &mut Folder) -> Result<(), String> {
    let mut stored: BTreeMap<String, Vec<Stored>> = BTreeMap::new();
    let mut total = 0u64;
    for (label, tensor) in tensors(graph).filter(|(_, tensor)| tensor.data_location == EXTERNAL) {
        let (name, range) = place(tensor).map_err(|e| format!("{label}: {e}"))?;
        total = total.saturating_add(range.end - range.start);
        if total > MAX_BYTES {
            return Err(format!("{label}: the tensors in other files take more than {MAX_BYTES} bytes"));
        }
        tensor.raw_data.clear();
        // An empty tensor has no data, and so no file.
        if !range.is_empty() {
            stored.entry(name).or_default().push(Stored { label, tensor, range });
        }
    }
    stored.into_iter().try_for_each(|(name, stored)| load_file(&name, stored, folder))
}

/// All tensors of a graph with their labels.
fn tensors(graph: &mut GraphProto) -> impl Iterator<Item = (String, &mut TensorProto)> {
    let initialisers = graph.initializer.iter_mut().map(|t| (format!("initialiser '{}'", t.name), t));
    let attributes = graph.node.iter_mut().flat_map(|node| {
        let name =
            if node.name.is_empty() { node.output.first().cloned().unwrap_or_default() } else { node.name.clone() };
        let tensors = node.attribute.iter_mut().filter_map(|attribute| attribute.t.as_mut());
        tensors.map(move |t| (format!("the constant of node '{name}'"), t))
    });
    initialisers.chain(attributes)
}

/// The file and the range in it. The length may be left out: the shape and the element type tell it.
fn place(tensor: &TensorProto) -> Result<(String, Range<u64>), String> {
    let location = entry(tensor, "location")?.ok_or("its data lies in another file, which is not named")?;
    let number = |key: &str| match entry(tensor, key)? {
        None => Ok(None),
        Some(text) => {
            text.parse::<u64>().map(Some).map_err(|_| format!("the {key} of its data is '{text}', no number"))
        }
    };
    let (start, needed) = (number("offset")?.unwrap_or(0), bytes(tensor)?);
    if let Some(length) = number("length")?.filter(|&length| length != needed) {
        return Err(format!("its data has {length} bytes, but its shape {:?} needs {needed}", tensor.dims));
    }
    let end = start.checked_add(needed).ok_or("its data ends beyond any file")?;
    Ok((plain_name(location)?, start..end))
}

fn entry<'a>(tensor: &'a TensorProto, key: &str) -> Result<Option<&'a str>, String> {
    let mut values = tensor.external_data.iter().filter(|entry| entry.key == key);
    match (values.next(), values.next()) {
        (_, Some(_)) => Err(format!("the {key} of its data is given twice")),
        (value, None) => Ok(value.map(|entry| entry.value.as_str())),
    }
}

/// Two tensors may share all of their data, as tied weights do; a part of it they do not.
fn load_file(name: &str, mut stored: Vec<Stored>, folder: &mut Folder) -> Result<(), String> {
    stored.sort_by_key(|s| (s.range.start, s.range.end));
    for pair in stored.windows(2) {
        let [a, b] = pair else { continue };
        if a.range != b.range && b.range.start < a.range.end {
            return Err(format!("{} and {}: their data in '{name}' overlaps", a.label, b.label));
        }
    }
    let shared: Vec<&mut [Stored]> = stored.chunk_by_mut(|a, b| a.range == b.range).collect();
    let ranges: Vec<Range<u64>> = shared.iter().map(|same| same[0].range.clone()).collect();
    let parts = folder.read(name, &ranges).map_err(|(k, why)| format!("{}: {why}", shared[k][0].label))?;
    for (same, part) in shared.into_iter().zip(parts) {
        same.iter_mut().for_each(|s| s.tensor.raw_data.clone_from(&part));
    }
    Ok(())
}
