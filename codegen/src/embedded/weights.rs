//! The weight files of an embedded crate: rows of numbers that a person can read, or little-endian bytes where there are many.

use super::Device;
use crate::emit::File;
use crate::emit::weights::{path, rows, vector};
use crate::lower::Storage;
use crate::net::{Map, Stage};
use pg_core::rounding::above;

/// A map of up to this many numbers is written as text.
const TEXT_NUMBERS: usize = 4096;

pub fn storage(map: &Map) -> Storage {
    if map.parameters() <= TEXT_NUMBERS { Storage::Text } else { Storage::Bytes }
}

/// What names of items and files end with: the stage's number, and the edge's where there are several.
pub fn suffix(stage: usize, edge: usize, edges: usize) -> String {
    match edges {
        1 => (stage + 1).to_string(),
        _ => format!("{}_{}", stage + 1, edge + 1),
    }
}

pub fn weights(device: &Device) -> Vec<File> {
    device.net.stages.iter().enumerate().flat_map(|(k, stage)| stage_files(k, stage)).collect()
}

fn stage_files(k: usize, stage: &Stage) -> Vec<File> {
    let count = stage.edges.len();
    let edges = stage.edges.iter().enumerate();
    let mut files: Vec<File> = edges.flat_map(|(e, edge)| map_files(&suffix(k, e, count), &edge.map)).collect();
    let number = (k + 1).to_string();
    files.push(vector("bias", &number, stage.bias.iter()));
    if !stage.error.is_zero() {
        let up = |errors: &[f64]| errors.iter().map(|&error| above(error)).collect::<Vec<f32>>();
        files.push(vector("weight_error", &number, up(&stage.error.weight).iter()));
        files.push(vector("bias_error", &number, up(&stage.error.bias).iter()));
    }
    files
}

fn map_files(suffix: &str, map: &Map) -> Vec<File> {
    let floats = |what: &str, values: &mut dyn Iterator<Item = f32>| File {
        path: path(what, suffix, Storage::Bytes),
        bytes: values.flat_map(f32::to_le_bytes).collect(),
    };
    let indices = |what: &str, values: &[u32]| File {
        path: path(what, suffix, Storage::Bytes),
        bytes: values.iter().flat_map(|v| v.to_le_bytes()).collect(),
    };
    match (map, storage(map)) {
        (Map::Dense(matrix), Storage::Text) => vec![rows("weight", suffix, matrix)],
        (Map::Dense(matrix), Storage::Bytes) => vec![floats("weight", &mut matrix.iter().copied())],
        (Map::Conv { kernel, .. }, Storage::Text) => vec![rows("kernel", suffix, kernel)],
        (Map::Conv { kernel, .. }, Storage::Bytes) => vec![floats("kernel", &mut kernel.iter().copied())],
        (Map::Sparse(rows), Storage::Text) => vec![
            vector("starts", suffix, rows.starts.iter()),
            vector("columns", suffix, rows.columns.iter()),
            vector("values", suffix, rows.values.iter()),
        ],
        (Map::Sparse(rows), Storage::Bytes) => vec![
            indices("starts", &rows.starts),
            indices("columns", &rows.columns),
            floats("values", &mut rows.values.iter().copied()),
        ],
    }
}
