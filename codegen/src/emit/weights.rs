//! The weight files: text that a person can read for small maps, the bytes that kernels read for large ones.

use super::File;
use crate::interpret::kernel_lanes;
use crate::lower::{EdgePlan, Plan, StagePlan, Storage};
use crate::net::{Map, Stage};
use ndarray::{Array2, ArrayView2};
use pg_core::kernel::PANEL;

pub fn weights(plan: &Plan) -> Vec<File> {
    plan.stages.iter().zip(&plan.net.stages).flat_map(|(plan, stage)| stage_files(plan, stage)).collect()
}

fn stage_files(plan: &StagePlan, stage: &Stage) -> Vec<File> {
    let number = plan.number.to_string();
    let mut files: Vec<File> =
        plan.edges.iter().zip(&stage.edges).flat_map(|(plan, edge)| edge_files(plan, &edge.map)).collect();
    files.push(vector("bias", &number, stage.bias.iter()));
    if plan.rounded {
        files.push(vector("weight_error", &number, stage.error.weight.iter()));
        files.push(vector("bias_error", &number, stage.error.bias.iter()));
    }
    files
}

fn edge_files(plan: &EdgePlan, map: &Map) -> Vec<File> {
    let bytes = |what: &str, bytes: Vec<u8>| File { path: path(what, &plan.suffix, Storage::Bytes), bytes };
    let rows = |what: &str, matrix: &Array2<f32>| rows(what, &plan.suffix, matrix);
    match (map, plan.storage) {
        (Map::Dense(matrix), Storage::Text) => vec![rows("weight", matrix)],
        (Map::Dense(matrix), Storage::Bytes) => {
            vec![bytes("weight", panels(matrix.view())), bytes("back", panels(matrix.t()))]
        }
        (Map::Conv { kernel, .. }, Storage::Text) => vec![rows("kernel", kernel)],
        (Map::Conv { geometry, kernel }, Storage::Bytes) => {
            let lanes = kernel_lanes(geometry, kernel);
            vec![bytes("kernel", lanes.iter().flat_map(|lanes| lanes.0).flat_map(f32::to_le_bytes).collect())]
        }
        (Map::Sparse(rows), Storage::Text) => vec![
            vector("starts", &plan.suffix, rows.starts.iter()),
            vector("columns", &plan.suffix, rows.columns.iter()),
            vector("values", &plan.suffix, rows.values.iter()),
        ],
        (Map::Sparse(rows), Storage::Bytes) => vec![
            bytes("starts", rows.starts.iter().flat_map(|v| v.to_le_bytes()).collect()),
            bytes("columns", rows.columns.iter().flat_map(|v| v.to_le_bytes()).collect()),
            bytes("values", rows.values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        ],
    }
}

/// A matrix, one row a line.
pub fn rows(what: &str, suffix: &str, matrix: &Array2<f32>) -> File {
    let rows: Vec<String> = matrix.rows().into_iter().map(|row| list(row.iter())).collect();
    File::text(path(what, suffix, Storage::Text), format!("[\n{}]\n", lines(&rows)))
}

/// Where a file lies below `src/`.
pub fn file_name(what: &str, suffix: &str, storage: Storage) -> String {
    let ending = match storage {
        Storage::Text => "in",
        Storage::Bytes => "bin",
    };
    format!("weights/{what}_{suffix}.{ending}")
}

pub fn path(what: &str, suffix: &str, storage: Storage) -> String {
    format!("src/{}", file_name(what, suffix, storage))
}

pub fn vector<'a, T: std::fmt::Debug + 'a>(what: &str, suffix: &str, values: impl Iterator<Item = &'a T>) -> File {
    let values: Vec<String> = values.map(|v| format!("{v:?}")).collect();
    File::text(path(what, suffix, Storage::Text), format!("[\n{}]\n", lines(&values)))
}

/// The shortest decimals that read back as the same bits.
fn list<'a>(values: impl Iterator<Item = &'a f32>) -> String {
    let values: Vec<String> = values.map(|v| format!("{v:?}")).collect();
    format!("[{}]", values.join(", "))
}

fn lines(items: &[String]) -> String {
    items.iter().map(|item| format!("    {item},\n")).collect()
}

/// The layout that the kernels read: for each panel and column, the coefficients of its sixteen rows, padded with 0.
fn panels(matrix: ArrayView2<f32>) -> Vec<u8> {
    let (rows, cols) = matrix.dim();
    let mut bytes = Vec::with_capacity(rows.next_multiple_of(PANEL) * cols * size_of::<f32>());
    for panel in (0..rows).step_by(PANEL) {
        for col in 0..cols {
            for row in panel..panel + PANEL {
                bytes.extend(matrix.get((row, col)).copied().unwrap_or(0.0).to_le_bytes());
            }
        }
    }
    bytes
}
