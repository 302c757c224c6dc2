//! AveragePool, MaxPool, their global forms, and ReduceSum, ReduceMean, ReduceMax, ReduceMin.

use super::{agrees, computes, graph, refused, single, weights};
use pg_codegen::read::onnx::proto::AttributeProto;
use pg_tests::model::*;
use pg_tests::values::relus;

/// A pool in two dimensions by its definition, over planes of the given size. `pads` stand in front and behind; a
/// window is averaged over what lies inside, or over all that lies in the padding too.
struct Pool {
    size: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    pads: [usize; 4],
    outputs: [usize; 2],
}

impl Pool {
    /// The entries inside each window, and how many places of it the padded plane has.
    fn windows(&self, x: &[f32]) -> Vec<(Vec<f32>, usize)> {
        let mut all = vec![];
        for plane in x.chunks(self.size[0] * self.size[1]) {
            for (i, j) in (0..self.outputs[0]).flat_map(|i| (0..self.outputs[1]).map(move |j| (i, j))) {
                let (mut inside, mut places) = (vec![], 0);
                for (k, l) in (0..self.kernel[0]).flat_map(|k| (0..self.kernel[1]).map(move |l| (k, l))) {
                    let row = i * self.strides[0] + k * self.dilations[0];
                    let col = j * self.strides[1] + l * self.dilations[1];
                    let [top, left, bottom, right] = self.pads;
                    places += usize::from(row < top + self.size[0] + bottom && col < left + self.size[1] + right);
                    let is_inside =
                        (top..top + self.size[0]).contains(&row) && (left..left + self.size[1]).contains(&col);
                    inside.extend(is_inside.then(|| plane[(row - top) * self.size[1] + col - left]));
                }
                all.push((inside, places));
            }
        }
        all
    }
}

fn shaped(kernel: &[i64], more: &[AttributeProto]) -> Vec<AttributeProto> {
    [&[ints("kernel_shape", kernel)], more].concat()
}

#[test]
fn pools_of_plain_windows() {
    let cases: [Vec<AttributeProto>; 5] = [
        vec![],
        vec![ints("strides", &[2, 1])],
        vec![ints("pads", &[1, 0, 1, 1]), ints("strides", &[2, 2])],
        vec![string("auto_pad", "SAME_UPPER"), ints("strides", &[2, 3])],
        vec![string("auto_pad", "SAME_LOWER")],
    ];
    for (op, case) in ["MaxPool", "AveragePool"].into_iter().flat_map(|op| cases.clone().map(|case| (op, case))) {
        for opset in [7, 10, 12, 19, 22] {
            agrees(&single(opset, &[1, 2, 5, 6], with(op, &["x"], "y", shaped(&[3, 2], &case)), vec![]));
        }
    }
    for op in ["MaxPool", "AveragePool"] {
        let line = shaped(&[3], &[ints("strides", &[2]), ints("pads", &[1, 1])]);
        agrees(&single(11, &[2, 3, 7], with(op, &["x"], "y", line), vec![]));
    }
}

#[test]
fn pools_by_their_definition() {
    let pools = [
        ([5, 6], [3, 2], [2, 2], [1, 1], [0, 0, 0, 0], [2, 3], 1),
        ([5, 4], [2, 2], [2, 3], [1, 1], [1, 0, 0, 1], [3, 2], 1),
        ([6, 5], [2, 3], [1, 1], [2, 2], [1, 2, 1, 1], [6, 4], 0),
        ([6, 6], [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], [4, 4], 1),
        ([4, 4], [2, 2], [3, 3], [1, 1], [0, 0, 1, 1], [2, 2], 1),
    ];
    for (size, kernel, strides, dilations, pads, outputs, ceil) in pools {
        let pool = Pool { size, kernel, strides, dilations, pads, outputs };
        let list = |v: &[usize]| v.iter().map(|&v| v as i64).collect::<Vec<_>>();
        let attributes = [
            ints("strides", &list(&strides)),
            ints("dilations", &list(&dilations)),
            ints("pads", &list(&pads)),
            int("ceil_mode", ceil),
        ];
        let input = [1, 2, size[0] as i64, size[1] as i64];
        let output = [1, 2, outputs[0], outputs[1]];
        let model = |op: &str, more: &[AttributeProto]| {
            let all = [&attributes[..], more].concat();
            single(19, &input, with(op, &["x"], "y", shaped(&list(&kernel), &all)), vec![])
        };
        let largest = |(inside, _): (Vec<f32>, usize)| inside.into_iter().fold(f32::MIN, f32::max);
        computes(&model("MaxPool", &[]), &output, |x| pool.windows(x).into_iter().map(largest).collect());
        let mean = |(inside, _): (Vec<f32>, usize)| inside.iter().sum::<f32>() / inside.len() as f32;
        computes(&model("AveragePool", &[]), &output, |x| pool.windows(x).into_iter().map(mean).collect());
        let padded = |(inside, places): (Vec<f32>, usize)| inside.iter().sum::<f32>() / places as f32;
        let counting = model("AveragePool", &[int("count_include_pad", 1)]);
        computes(&counting, &output, |x| pool.windows(x).into_iter().map(padded).collect());
    }
}

#[test]
fn global_pools() {
    for (op, shape) in ["GlobalAveragePool", "GlobalMaxPool"].into_iter().flat_map(|op| {
        let shapes: [&[i64]; 3] = [&[1, 2, 3, 5], &[2, 3, 7], &[1, 2, 2, 2, 3]];
        shapes.map(|shape| (op, shape))
    }) {
        agrees(&single(11, shape, node(op, &["x"], "y"), vec![]));
    }
    refused(&single(11, &[3], node("GlobalMaxPool", &["x"], "y"), vec![]), "channels");
}

/// A window of n entries takes n − 1 ReLUs, less what overlapping windows share.
#[test]
fn maxima_take_few_relus() {
    let pool = |strides: &[i64]| {
        let op = with("MaxPool", &["x"], "y", shaped(&[2, 2], &[ints("strides", strides)]));
        relus(&graph(&single(13, &[1, 1, 4, 4], op, vec![])).unwrap())
    };
    assert_eq!(pool(&[2, 2]), 4 * 3);
    assert_eq!(pool(&[1, 1]), 3 * 4 + 9, "the pairs of a row serve the windows above and below");
    let nine = node("ReduceMax", &["x"], "y");
    assert_eq!(relus(&graph(&single(13, &[3, 3], nine, vec![])).unwrap()), 8);
}

#[test]
fn pools_that_make_no_sense_are_refused() {
    let refuse = |attributes: Vec<AttributeProto>, why| {
        for op in ["MaxPool", "AveragePool"] {
            refused(&single(13, &[1, 1, 3, 3], with(op, &["x"], "y", attributes.clone()), vec![]), why);
        }
    };
    refuse(vec![], "kernel_shape");
    refuse(shaped(&[4, 2], &[]), "does not fit");
    refuse(shaped(&[2], &[]), "2 numbers");
    refuse(shaped(&[0, 2], &[]), "kernel_shape");
    refuse(shaped(&[2, 2], &[ints("strides", &[0, 1])]), "strides");
    refuse(shaped(&[2, 2], &[ints("dilations", &[0, 1])]), "dilations");
    refuse(shaped(&[2, 2], &[ints("pads", &[2, 0, 0, 0])]), "wholly in the padding");
    refuse(shaped(&[2, 2], &[ints("pads", &[-1, 0, 0, 0])]), "pads");
    refuse(shaped(&[1 << 29, 1 << 29], &[ints("pads", &[1 << 29; 4])]), "more than");
    refused(&single(13, &[9], with("MaxPool", &["x"], "y", shaped(&[1], &[])), vec![]), "channels");
}

#[test]
fn reductions() {
    let lists: [Option<&[i64]>; 5] = [None, Some(&[1]), Some(&[-1]), Some(&[0, 2]), Some(&[0, 1, 2])];
    for op in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"] {
        for (axes, keep) in lists.into_iter().flat_map(|axes| [0, 1].map(|keep| (axes, keep))) {
            let mut attributes = vec![int("keepdims", keep)];
            let by_input = if op == "ReduceSum" { [13, 21] } else { [18, 21] };
            if let Some(axes) = axes {
                for opset in by_input {
                    let op = with(op, &["x", "axes"], "y", attributes.clone());
                    agrees(&single(opset, &[2, 3, 4], op, vec![integers("axes", axes)]));
                }
                attributes.push(ints("axes", axes));
            }
            agrees(&single(11, &[2, 3, 4], with(op, &["x"], "y", attributes.clone()), vec![]));
            let nodes = vec![with(op, &["c"], "k", attributes), node("Add", &["x", "k"], "y")];
            agrees(&model(11, value("x", &[1]), vec![weights("c", &[2, 3, 4])], nodes));
        }
        for inputs in [&["x"][..], &["x", "axes"]] {
            let constants = vec![integers("axes", &[])];
            let noop = with(op, inputs, "y", vec![int("noop_with_empty_axes", 1)]);
            computes(&single(18, &[2, 3], noop, constants.clone()), &[2, 3], <[f32]>::to_vec);
            let all = with(op, inputs, "y", vec![int("keepdims", 0)]);
            assert_eq!(graph(&single(18, &[2, 3], all, constants)).unwrap().values.last().unwrap().shape, [0usize; 0]);
        }
        refused(&single(11, &[2, 3], with(op, &["x"], "y", vec![ints("axes", &[2])]), vec![]), "axis 2");
        refused(&single(11, &[2, 3], with(op, &["x"], "y", vec![ints("axes", &[0, -2])]), vec![]), "repeat");
        refused(&single(18, &[2, 3], node(op, &["x", "x"], "y"), vec![]), "constant");
    }
}
