//! Removes hidden neurons that everything after them multiplies by 0: they change nothing, exactly.
//!
//! A convolution would lose its shape by that, so there neurons stay unless most go.

use crate::affine::{Affine, Row};
use crate::error::Error;
use crate::graph::{Function, Graph, ValueId};

pub fn run(mut graph: Graph, notes: &mut Vec<String>) -> Result<Graph, Error> {
    let output = graph.nodes.len() - 1;
    drop_empty_maps(&mut graph);
    for stage in (0..output).step_by(2).rev() {
        let hidden = graph.nodes[stage + 1].output;
        let kept = read_entries(&graph, hidden);
        let width = map(&graph, stage).outputs();
        if kept.is_empty() {
            graph.nodes.drain(stage..stage + 2);
            drop_reads(&mut graph, hidden);
        } else if kept.len() < width && !keeps_shape(&graph, stage, kept.len(), width) {
            keep_neurons(&mut graph, stage, &kept);
        }
        if kept.len() < width {
            notes.push(format!("{} of {width} neurons of stage {} are not read", width - kept.len(), stage / 2 + 1));
        }
    }
    let last = graph.nodes.len() - 1;
    if output > 0 && map(&graph, last).entries() == 0 {
        let name = &graph.nodes[last].name;
        return Err(Error::Model(format!("the output does not depend on the input: all weights of '{name}' are 0")));
    }
    Ok(graph)
}

/// Whether a stage is better kept whole.
fn keeps_shape(graph: &Graph, stage: usize, kept: usize, width: usize) -> bool {
    let hidden = graph.nodes[stage + 1].output;
    let mut near =
        graph.nodes.iter().enumerate().filter(|(index, node)| *index == stage || node.inputs.contains(&hidden));
    2 * kept > width && near.any(|(_, node)| !node.windows.is_empty())
}

fn map(graph: &Graph, index: usize) -> &Affine {
    match &graph.nodes[index].function {
        Function::Affine(map) => map,
        Function::Relu => unreachable!("every second node is affine"),
    }
}

/// The entries of a hidden value that some map has a coefficient for that is not exactly 0.
fn read_entries(graph: &Graph, hidden: ValueId) -> Vec<usize> {
    let mut read = vec![false; graph.values[hidden].entries()];
    for node in &graph.nodes {
        if let Function::Affine(map) = &node.function {
            for (matrix, _) in map.matrices.iter().zip(&node.inputs).filter(|(_, id)| **id == hidden) {
                let entries = matrix.rows.iter().flatten().filter(|(_, v)| v.value != 0.0 || v.radius != 0.0);
                entries.for_each(|&(j, _)| read[j as usize] = true);
            }
        }
    }
    (0..read.len()).filter(|&j| read[j]).collect()
}

/// Removes the maps without entries, where a node has others.
fn drop_empty_maps(graph: &mut Graph) {
    for node in &mut graph.nodes {
        if let Function::Affine(map) = &mut node.function {
            for t in (0..map.matrices.len()).rev() {
                if map.matrices.len() > 1 && map.matrices[t].entries() == 0 {
                    map.matrices.remove(t);
                    node.inputs.remove(t);
                }
            }
        }
    }
}

/// Lets what read a value that is gone, all with coefficients of 0, read the input so instead.
fn drop_reads(graph: &mut Graph, hidden: ValueId) {
    let (input, inputs) = (graph.input, graph.values[graph.input].entries());
    for node in graph.nodes.iter_mut().filter(|node| node.inputs.contains(&hidden)) {
        let Function::Affine(map) = &mut node.function else { unreachable!("a ReLU reads a map") };
        let t = node.inputs.iter().position(|&id| id == hidden).expect("just seen");
        if map.matrices.len() > 1 {
            map.matrices.remove(t);
            node.inputs.remove(t);
        } else {
            map.matrices[t].cols = inputs;
            map.matrices[t].rows.iter_mut().for_each(Row::clear);
            node.inputs[t] = input;
        }
    }
}

/// Shrinks a stage to the neurons `kept`.
fn keep_neurons(graph: &mut Graph, stage: usize, kept: &[usize]) {
    let hidden = graph.nodes[stage + 1].output;
    let mut position = vec![None; graph.values[hidden].entries()];
    kept.iter().enumerate().for_each(|(new, &old)| position[old] = Some(new as u32));
    for (index, node) in graph.nodes.iter_mut().enumerate() {
        let Function::Affine(map) = &mut node.function else { continue };
        if index == stage {
            map.bias = kept.iter().map(|&j| map.bias[j]).collect();
            for matrix in &mut map.matrices {
                matrix.rows = kept.iter().map(|&j| std::mem::take(&mut matrix.rows[j])).collect();
            }
        }
        for (matrix, _) in map.matrices.iter_mut().zip(&node.inputs).filter(|(_, id)| **id == hidden) {
            for row in &mut matrix.rows {
                *row = row.iter().filter_map(|&(j, v)| position[j as usize].map(|j| (j, v))).collect();
            }
            matrix.cols = kept.len();
        }
    }
    for index in [stage, stage + 1] {
        let output = graph.nodes[index].output;
        graph.values[output].shape = vec![kept.len()];
    }
}

pub fn check(graph: &Graph) {
    for stage in (0..graph.nodes.len() - 1).step_by(2) {
        let (hidden, width) = (graph.nodes[stage + 1].output, map(graph, stage).outputs());
        let read = read_entries(graph, hidden).len();
        let is_well = read > 0 && (read == width || keeps_shape(graph, stage, read, width));
        assert!(is_well, "'{}' has neurons that nothing reads", graph.nodes[stage].name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::approx::Approx;
    use crate::graph::{GraphBuilder, Op, Operand, Tensor};
    use crate::normalise::{alternate, compose};

    fn weights(shape: &[usize], data: &[f64]) -> Operand {
        Tensor { shape: shape.to_vec(), data: data.iter().map(|&v| Approx::exact(v)).collect() }.into()
    }

    fn pruned(builder: GraphBuilder, output: &Operand) -> Result<Graph, Error> {
        let mut notes = vec![];
        let graph = compose::run(builder.finish(output).unwrap(), &mut notes).unwrap();
        let graph = run(alternate::run(graph, &mut notes).unwrap(), &mut notes)?;
        graph.check();
        alternate::check(&graph);
        check(&graph);
        Ok(graph)
    }

    #[test]
    fn an_unread_neuron_goes() {
        let (mut builder, x) = GraphBuilder::new("x", vec![3]).unwrap();
        let h = builder.node("h", &Op::Relu, &[x], "h").unwrap();
        let y = builder.node("y", &Op::MatMul, &[h, weights(&[3, 1], &[1.0, 0.0, 2.0])], "y").unwrap();
        let graph = pruned(builder, &y).unwrap();
        assert_eq!(map(&graph, 0).outputs(), 2);
        assert_eq!(map(&graph, 2).matrices[0].rows[0], [(0, Approx::exact(1.0)), (1, Approx::exact(2.0))]);
    }

    #[test]
    fn a_stage_that_nothing_reads_goes_and_one_read_twice_stays() {
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let h = builder.node("h", &Op::Relu, &[x], "h").unwrap();
        let g = builder.node("g", &Op::Sub, &[h.clone(), weights(&[2], &[1.0, 1.0])], "g").unwrap();
        let g = builder.node("r", &Op::Relu, &[g], "r").unwrap();
        let nothing = builder.node("nothing", &Op::Mul, &[g, weights(&[2], &[0.0, 0.0])], "nothing").unwrap();
        let y = builder.node("y", &Op::Add, &[h, nothing.clone()], "y").unwrap();
        let graph = pruned(builder, &y).unwrap();
        assert_eq!(graph.nodes.len(), 3);
        let (mut builder, x) = GraphBuilder::new("x", vec![2]).unwrap();
        let h = builder.node("h", &Op::Relu, &[x], "h").unwrap();
        let y = builder.node("y", &Op::Mul, &[h, weights(&[2], &[0.0, 0.0])], "y").unwrap();
        assert!(pruned(builder, &y).unwrap_err().to_string().contains("does not depend"));
    }
}
