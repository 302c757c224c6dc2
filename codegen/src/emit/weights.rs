//! The weight files: text that a person can read for small layers, the panels' bytes for large ones.

use super::File;
use crate::lower::{LayerPlan, Plan, Storage};
use crate::net::Layer;
use ndarray::ArrayView2;
use pg_core::kernel::PANEL;

pub fn weights(plan: &Plan) -> Vec<File> {
    let layers = plan.layers.iter().zip(&plan.net.layers).enumerate();
    layers.flat_map(|(k, (plan, layer))| layer_files(k + 1, plan, layer)).collect()
}

fn layer_files(k: usize, plan: &LayerPlan, layer: &Layer) -> Vec<File> {
    let mut files = match plan.storage {
        Storage::Text => {
            let rows: Vec<String> = layer.weight.rows().into_iter().map(|row| list(row.iter())).collect();
            vec![File::text(path("weight", k, plan.storage), format!("[\n{}]\n", lines(&rows)))]
        }
        Storage::Bytes => vec![
            File { path: path("weight", k, plan.storage), bytes: panels(layer.weight.view()) },
            File { path: path("back", k, plan.storage), bytes: panels(layer.weight.t()) },
        ],
    };
    files.push(vector("bias", k, layer.bias.iter()));
    if plan.rounded {
        files.push(vector("weight_error", k, layer.error.weight.iter()));
        files.push(vector("bias_error", k, layer.error.bias.iter()));
    }
    files
}

/// Where a file of layer `k` lies below `src/`.
pub fn file_name(what: &str, k: usize, storage: Storage) -> String {
    let ending = match storage {
        Storage::Text => "in",
        Storage::Bytes => "bin",
    };
    format!("weights/{what}_{k}.{ending}")
}

fn path(what: &str, k: usize, storage: Storage) -> String {
    format!("src/{}", file_name(what, k, storage))
}

fn vector<'a, T: std::fmt::Debug + 'a>(what: &str, k: usize, values: impl Iterator<Item = &'a T>) -> File {
    let values: Vec<String> = values.map(|v| format!("{v:?}")).collect();
    File::text(path(what, k, Storage::Text), format!("[\n{}]\n", lines(&values)))
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
