//! The last step: the graph's sparse maps, in any precision, to float32 stages with their error.

use crate::affine::{Affine, Matrix};
use crate::approx::Approx;
use crate::error::Error;
use crate::graph::{Function, Graph, Node, ValueId};
use crate::net::{Edge, Map, Rows, Stage, StageError};
use pg_core::Source;

/// The most numbers that the maps may take together.
const MAX_WEIGHTS: usize = 1 << 27;

pub fn stages(graph: &Graph) -> Result<Vec<Stage>, Error> {
    let mut sources = vec![Source::Input; graph.values.len()];
    let mut stages: Vec<Stage> = Vec::with_capacity(graph.nodes.len() / 2 + 1);
    for node in &graph.nodes {
        match &node.function {
            Function::Affine(map) => stages.push(stage(node, map, &sources)?),
            Function::Relu => {
                sources[node.output] = Source::Stage(stages.len() - 1);
                if let Some(stage) = stages.last_mut() {
                    stage.relu = node.parts.first().cloned();
                }
            }
        }
    }
    let total: usize = stages.iter().map(Stage::parameters).sum();
    if total > MAX_WEIGHTS {
        return Err(Error::Model(format!("the network has {total} weights; the limit is {MAX_WEIGHTS}")));
    }
    Ok(stages)
}

fn stage(node: &Node, map: &Affine, sources: &[Source]) -> Result<Stage, Error> {
    let overflow =
        |what: &str, v: Approx| Error::Model(format!("'{}': its {what} {:e} does not fit float32", node.name, v.value));
    let mut error = StageError::none(map.outputs());
    let mut reads: Vec<(&ValueId, &Matrix)> = node.inputs.iter().zip(&map.matrices).collect();
    reads.sort_by_key(|(id, _)| match sources[**id] {
        Source::Input => 0,
        Source::Stage(s) => s + 1,
    });
    let mut edges = Vec::with_capacity(reads.len());
    for (&id, matrix) in reads {
        let mut rows = Rows::new(matrix.cols);
        for (row, error) in matrix.rows.iter().zip(&mut error.weight) {
            let mut found = Vec::with_capacity(row.len());
            // A zero of either sign adds nothing.
            for &(col, v) in row.iter().filter(|(_, v)| (v.value, v.radius) != (0.0, 0.0)) {
                let (nearest, distance) = v.to_nonzero_f32().ok_or_else(|| overflow("weight", v))?;
                found.push((col, nearest));
                *error = error.max(distance);
            }
            rows.push(found.into_iter());
        }
        edges.push(Edge { from: sources[id], map: Map::choose(rows, &node.windows) });
    }
    let mut bias = Vec::with_capacity(map.outputs());
    for (v, error) in map.bias.iter().zip(&mut error.bias) {
        let (nearest, distance) = v.to_f32().ok_or_else(|| overflow("bias", *v))?;
        bias.push(nearest);
        *error = distance;
    }
    Ok(Stage { origin: node.origin.clone(), parts: node.parts.clone(), relu: None, edges, bias, error })
}
