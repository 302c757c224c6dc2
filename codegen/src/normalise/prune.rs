//! Removes hidden neurons that the next layer multiplies by 0: they change nothing, exactly.

use crate::affine::{Affine, Row};
use crate::error::Error;
use crate::graph::{Function, Graph};

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    for layer in (2..graph.nodes.len()).step_by(2).rev() {
        let kept = read_columns(map(&graph, layer));
        let width = map(&graph, layer - 2).outputs();
        if kept.is_empty() {
            return Err(Error::Model(format!(
                "the output does not depend on the input: all weights of '{}' are 0",
                graph.nodes[layer].name
            )));
        }
        if kept.len() < width {
            notes.push(format!(
                "{} of {width} neurons of layer {} are not read and were dropped",
                width - kept.len(),
                layer / 2
            ));
            keep_neurons(&mut graph, layer, &kept);
        }
    }
    Ok(graph)
}

fn map(graph: &Graph, index: usize) -> &Affine {
    match &graph.nodes[index].function {
        Function::Affine(map) => map,
        Function::Relu => unreachable!("every second node is affine"),
    }
}

fn map_mut(graph: &mut Graph, index: usize) -> &mut Affine {
    match &mut graph.nodes[index].function {
        Function::Affine(map) => map,
        Function::Relu => unreachable!("every second node is affine"),
    }
}

/// The columns with a coefficient that is not exactly 0.
fn read_columns(map: &Affine) -> Vec<usize> {
    let matrix = &map.matrices[0];
    let mut read = vec![false; matrix.cols];
    for &(j, v) in matrix.rows.iter().flatten() {
        read[j as usize] |= v.value != 0.0 || v.radius != 0.0;
    }
    (0..matrix.cols).filter(|&j| read[j]).collect()
}

/// Shrinks the ReLU layer between the affine nodes `layer − 2` and `layer` to the neurons `kept`.
fn keep_neurons(graph: &mut Graph, layer: usize, kept: &[usize]) {
    let before = map_mut(graph, layer - 2);
    before.bias = kept.iter().map(|&j| before.bias[j]).collect();
    for matrix in &mut before.matrices {
        matrix.rows = kept.iter().map(|&j| std::mem::take(&mut matrix.rows[j])).collect();
    }
    let after = &mut map_mut(graph, layer).matrices[0];
    let mut position = vec![None; after.cols];
    kept.iter().enumerate().for_each(|(new, &old)| position[old] = Some(new as u32));
    for row in &mut after.rows {
        let moved: Row = row.iter().filter_map(|&(j, v)| position[j as usize].map(|j| (j, v))).collect();
        *row = moved;
    }
    after.cols = kept.len();
    for index in [layer - 2, layer - 1] {
        let output = graph.nodes[index].output;
        graph.values[output].shape = vec![kept.len()];
    }
}

pub fn check(graph: &Graph) {
    for layer in (2..graph.nodes.len()).step_by(2) {
        let matrix = map(graph, layer);
        assert_eq!(read_columns(matrix).len(), matrix.matrices[0].cols, "'{}' skips a neuron", graph.nodes[layer].name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approx::Approx;
    use crate::graph::{GraphBuilder, Op, Tensor};
    use crate::normalise::{alternate, compose};

    #[test]
    fn an_unread_neuron_goes() {
        let (mut builder, x) = GraphBuilder::new("x", vec![3]).unwrap();
        let h = builder.node("h", &Op::Relu, &[x], "h").unwrap();
        let weight = Tensor { shape: vec![3, 1], data: [1.0, 0.0, 2.0].map(Approx::exact).to_vec() };
        let y = builder.node("y", &Op::MatMul, &[h, weight.into()], "y").unwrap();
        let mut notes = vec![];
        let graph = compose::run(builder.finish(&y).unwrap(), &mut notes).unwrap();
        let graph = run(alternate::run(graph, &mut notes).unwrap(), &mut notes).unwrap();
        graph.check();
        check(&graph);
        assert_eq!(map(&graph, 0).outputs(), 2);
        assert_eq!(map(&graph, 2).matrices[0].rows[0], [(0, Approx::exact(1.0)), (1, Approx::exact(2.0))]);
    }
}
