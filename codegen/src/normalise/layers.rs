//! The last step: the chain's sparse maps, in any precision, to dense float32 layers with their error.

use crate::error::Error;
use crate::graph::{Function, Graph, Node};
use crate::net::{Layer, LayerError};
use ndarray::{Array1, Array2};

/// The most weights a network may have as dense matrices.
const MAX_WEIGHTS: usize = 1 << 27;

pub fn layers(graph: &Graph) -> Result<Vec<Layer>, Error> {
    let total: usize = graph.nodes.iter().filter_map(dense_size).sum();
    if total > MAX_WEIGHTS {
        return Err(Error::Model(format!("the network has {total} weights; the limit is {MAX_WEIGHTS}")));
    }
    graph.nodes.iter().filter_map(layer).collect()
}

fn dense_size(node: &Node) -> Option<usize> {
    match &node.function {
        Function::Affine(map) => Some(map.outputs() * map.matrices[0].cols),
        Function::Relu => None,
    }
}

fn layer(node: &Node) -> Option<Result<Layer, Error>> {
    let Function::Affine(map) = &node.function else { return None };
    let matrix = &map.matrices[0];
    let mut weight = Array2::zeros((map.outputs(), matrix.cols));
    let mut bias = Array1::zeros(map.outputs());
    let mut error = LayerError { weight: vec![0.0; map.outputs()], bias: vec![0.0; map.outputs()] };
    let overflow = |what: &str, v: f64| Error::Model(format!("'{}': its {what} {v:e} does not fit float32", node.name));
    for (i, row) in matrix.rows.iter().enumerate() {
        for &(j, v) in row {
            let Some((nearest, distance)) = v.to_f32() else { return Some(Err(overflow("weight", v.value))) };
            weight[[i, j as usize]] = nearest;
            error.weight[i] = error.weight[i].max(distance);
        }
        let Some((nearest, distance)) = map.bias[i].to_f32() else {
            return Some(Err(overflow("bias", map.bias[i].value)));
        };
        (bias[i], error.bias[i]) = (nearest, distance);
    }
    Some(Ok(Layer { origin: node.origin.clone(), weight, bias, error }))
}
