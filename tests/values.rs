//! The values of a graph as it was read, in float64 and without any pass of the compiler.

use pg_codegen::graph::{Function, Graph};

/// The output's entries for the input's; the errors of coefficients are left out.
pub fn values(graph: &Graph, x: &[f64]) -> Vec<f64> {
    let mut known: Vec<Vec<f64>> = vec![vec![]; graph.values.len()];
    known[graph.input] = x.to_vec();
    for node in &graph.nodes {
        known[node.output] = match &node.function {
            Function::Relu => known[node.inputs[0]].iter().map(|v| v.max(0.0)).collect(),
            Function::Affine(map) => {
                let mut y: Vec<f64> = map.bias.iter().map(|b| b.value).collect();
                for (matrix, &input) in map.matrices.iter().zip(&node.inputs) {
                    for (y, row) in y.iter_mut().zip(&matrix.rows) {
                        *y += row.iter().map(|&(j, a)| a.value * known[input][j as usize]).sum::<f64>();
                    }
                }
                y
            }
        };
    }
    known.swap_remove(graph.output)
}

/// How many ReLUs the graph has.
pub fn relus(graph: &Graph) -> usize {
    let relus = graph.nodes.iter().filter(|node| matches!(node.function, Function::Relu));
    relus.map(|node| graph.values[node.output].entries()).sum()
}
