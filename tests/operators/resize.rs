//! Resize and Upsample, against tract where it can and by their definitions.

use super::{agrees, computes, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, ModelProto};
use pg_tests::model::*;

const COORDINATES: [&str; 4] = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"];
const ROUNDINGS: [&str; 4] = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];

/// Where output `i` of `n` lies among `m` inputs.
fn coordinate(mode: &str, i: usize, m: usize, n: usize) -> f64 {
    let (i, m, n) = (i as f64, m as f64, n as f64);
    match mode {
        "asymmetric" => i * m / n,
        "align_corners" => {
            if n == 1.0 {
                0.0
            } else {
                i * (m - 1.0) / (n - 1.0)
            }
        }
        "pytorch_half_pixel" if n == 1.0 => 0.0,
        _ => (i + 0.5) * m / n - 0.5,
    }
}

fn rounded(mode: &str, at: f64) -> f64 {
    match mode {
        "floor" => at.floor(),
        "ceil" => at.ceil(),
        "round_prefer_ceil" => (at + 0.5).floor(),
        _ => (at - 0.5).ceil(),
    }
}

/// A line of numbers at a coordinate, continued by its ends.
fn linear(line: &[f32], at: f64) -> f32 {
    let at = at.clamp(0.0, (line.len() - 1) as f64);
    let (below, part) = (at.floor() as usize, (at - at.floor()) as f32);
    line[below] * (1.0 - part) + line[(below + 1).min(line.len() - 1)] * part
}

fn resize(opset: i64, size: i64, by: &str, sizes: &[f32], attributes: &[AttributeProto]) -> ModelProto {
    let (inputs, constant) = match by {
        "sizes" => (["x", "", "", "c"].to_vec(), integers("c", &sizes.iter().map(|&s| s as i64).collect::<Vec<_>>())),
        _ => (["x", "", "c"].to_vec(), floats("c", &[sizes.len() as i64], sizes)),
    };
    single(opset, &[1, 2, size], with("Resize", &inputs, "y", attributes.to_vec()), vec![constant])
}

#[test]
fn nearest_by_the_definition() {
    for (coordinates, rounding) in COORDINATES.into_iter().flat_map(|c| ROUNDINGS.map(|r| (c, r))) {
        let attributes = [string("coordinate_transformation_mode", coordinates), string("nearest_mode", rounding)];
        for (m, n) in [(3, 6), (2, 6), (4, 2), (4, 1), (3, 5), (5, 3), (6, 4), (1, 4)] {
            let expected = |x: &[f32]| {
                let entry = |line: &[f32], i| {
                    line[rounded(rounding, coordinate(coordinates, i, m, n)).clamp(0.0, m as f64 - 1.0) as usize]
                };
                x.chunks(m).flat_map(|line| (0..n).map(|i| entry(line, i)).collect::<Vec<_>>()).collect()
            };
            let by_sizes = resize(13, m as i64, "sizes", &[1.0, 2.0, n as f32], &attributes);
            computes(&by_sizes, &[1, 2, n], expected);
            if n % m == 0 || m % n == 0 {
                let by_scales = resize(11, m as i64, "scales", &[1.0, 1.0, n as f32 / m as f32], &attributes);
                computes(&by_scales, &[1, 2, n], expected);
            }
        }
    }
}

#[test]
fn linear_by_the_definition() {
    for coordinates in COORDINATES {
        let attributes = [string("coordinate_transformation_mode", coordinates), string("mode", "linear")];
        for (m, n) in [(3, 6), (4, 2), (4, 1), (3, 5), (5, 3), (7, 10), (1, 4)] {
            let expected = |x: &[f32]| {
                let entry = |line: &[f32], i| linear(line, coordinate(coordinates, i, m, n));
                x.chunks(m).flat_map(|line| (0..n).map(|i| entry(line, i)).collect::<Vec<_>>()).collect()
            };
            computes(&resize(13, m as i64, "sizes", &[1.0, 2.0, n as f32], &attributes), &[1, 2, n], expected);
        }
    }
}

#[test]
fn as_tract_does() {
    for (mode, coordinates) in
        ["nearest", "linear"].into_iter().flat_map(|m| COORDINATES[..3].iter().map(move |c| (m, c)))
    {
        let mut attributes = vec![string("mode", mode), string("coordinate_transformation_mode", coordinates)];
        attributes.push(string("nearest_mode", "floor"));
        let constants = || vec![floats("roi", &[0], &[]), floats("c", &[4], &[1.0, 1.0, 2.0, 3.0])];
        let op = |of: &str, to: &str| with("Resize", &[of, "roi", "c"], to, attributes.clone());
        agrees(&single(13, &[1, 2, 3, 2], op("x", "y"), constants()));
        let folded = vec![op("k", "z"), node("Add", &["x", "z"], "y")];
        let constants = [constants(), vec![weights("k", &[1, 1, 2, 2])]].concat();
        agrees(&model(13, value("x", &[1]), constants, folded));
    }
}

/// Opset 10 reads the scales second, and so does Upsample of opset 9; that of opset 7 has an attribute.
#[test]
fn older_forms() {
    let expected = |x: &[f32]| {
        let row = |row: &[f32]| [row[0], row[0], row[0], row[1], row[1], row[1]];
        x.chunks(4).flat_map(|p| [row(&p[..2]), row(&p[..2]), row(&p[2..]), row(&p[2..])].concat()).collect()
    };
    let scales = [1.0, 1.0, 2.0, 3.0];
    let constant = || vec![floats("c", &[4], &scales)];
    for (op, opset) in [("Resize", 10), ("Upsample", 9)] {
        computes(&single(opset, &[1, 2, 2, 2], node(op, &["x", "c"], "y"), constant()), &[1, 2, 4, 6], expected);
    }
    let old = with("Upsample", &["x"], "y", vec![float_list("scales", &scales), string("mode", "nearest")]);
    computes(&single(7, &[1, 2, 2, 2], old, vec![]), &[1, 2, 4, 6], expected);
    let attributes = vec![ints("axes", &[3, 2]), string("coordinate_transformation_mode", "asymmetric")];
    let attributes = [attributes, vec![string("nearest_mode", "floor")]].concat();
    let chosen = with("Resize", &["x", "", "", "s"], "y", attributes);
    computes(&single(18, &[1, 2, 2, 2], chosen, vec![integers("s", &[6, 4])]), &[1, 2, 4, 6], expected);
}

#[test]
fn what_is_not_defined_is_refused() {
    let refuse =
        |sizes: &[f32], attributes: &[AttributeProto], why| refused(&resize(19, 3, "scales", sizes, attributes), why);
    refuse(&[1.0, 1.0, 2.0], &[string("mode", "cubic")], "cubic");
    refuse(&[1.0, 1.0, 2.0], &[string("coordinate_transformation_mode", "tf_crop_and_resize")], "tf_crop");
    refuse(&[1.0, 1.0, 2.0], &[int("antialias", 1)], "antialias");
    refuse(&[1.0, 1.0, 2.0], &[string("keep_aspect_ratio_policy", "not_larger")], "not_larger");
    refuse(&[1.0, 2.0], &[], "2 scales");
    refuse(&[1.0, 1.0, 0.0], &[], "scale");
    refuse(&[1.0, 1.0, -1.0], &[], "scale");
    refuse(&[1.0, 1.0, 1e30], &[], "scale");
    refuse(&[1e6, 1e6, 1.0], &[], "more than");
    refuse(&[1.0, 1.0, 5.0 / 3.0], &[], "rounding");
    refused(&resize(13, 3, "sizes", &[1.0, 2.0, 0.0], &[]), "empty");
    refused(&single(13, &[3], node("Resize", &["x"], "y"), vec![]), "neither");
    refused(&single(13, &[3], node("Resize", &["x", "x", "c"], "y"), vec![floats("c", &[1], &[2.0])]), "constant");
}
