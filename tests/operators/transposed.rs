//! ConvTranspose, against tract and by its definition.

use super::{agrees, computes, refused, single, weights};
use pg_codegen::read::onnx::proto::{AttributeProto, ModelProto};
use pg_tests::model::*;

fn transposed(shape: &[i64], kernel: &[i64], groups: i64, attributes: &[AttributeProto]) -> ModelProto {
    let constants = vec![weights("w", kernel), weights("b", &[kernel[1] * groups])];
    let all = [&[int("group", groups)], attributes].concat();
    single(11, shape, with("ConvTranspose", &["x", "w", "b"], "y", all), constants)
}

#[test]
fn in_one_and_two_dimensions() {
    let cases: [Vec<AttributeProto>; 6] = [
        vec![],
        vec![ints("strides", &[2, 3])],
        vec![ints("strides", &[2, 1]), ints("pads", &[1, 0, 0, 1])],
        vec![ints("dilations", &[2, 1])],
        vec![ints("strides", &[3, 3]), ints("output_padding", &[1, 2])],
        vec![ints("strides", &[2, 2]), ints("dilations", &[1, 2]), ints("pads", &[1, 1, 1, 1])],
    ];
    for (case, groups) in cases.iter().flat_map(|case| [1, 2].map(|groups| (case, groups))) {
        agrees(&transposed(&[1, 4, 3, 4], &[4, 3, 3, 2], groups, case));
    }
    agrees(&transposed(&[2, 2, 5], &[2, 3, 3], 1, &[ints("strides", &[2]), ints("pads", &[0, 1])]));
}

/// By the definition, with one channel: every entry adds the kernel at its place times the stride, less the padding.
#[test]
fn to_a_given_shape() {
    let kernel = [1.0f32, 2.0, -1.0, 0.5];
    let cases: [(&str, i64, usize, usize); 7] = [
        ("NOTSET", 7, 1, 7),
        ("NOTSET", 6, 1, 6),
        ("SAME_UPPER", 7, 0, 7),
        ("SAME_UPPER", 9, 0, 9),
        ("SAME_UPPER", 0, 1, 6),
        ("SAME_LOWER", 0, 1, 6),
        ("VALID", 0, 0, 8),
    ];
    for (auto_pad, wanted, before, outputs) in cases {
        let mut attributes = vec![string("auto_pad", auto_pad), ints("strides", &[2])];
        if wanted > 0 {
            attributes.push(ints("output_shape", &[wanted]));
        }
        let model = single(
            11,
            &[1, 1, 3],
            with("ConvTranspose", &["x", "w"], "y", attributes),
            vec![floats("w", &[1, 1, 4], &kernel)],
        );
        computes(&model, &[1, 1, outputs], |x| {
            let mut y = vec![0.0; outputs + before + 8];
            for (i, k) in (0..3).flat_map(|i| (0..4).map(move |k| (i, k))) {
                y[2 * i + k] += x[i] * kernel[k];
            }
            y[before..before + outputs].to_vec()
        });
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refuse =
        |attributes: &[AttributeProto], why| refused(&transposed(&[1, 2, 3, 3], &[2, 1, 2, 2], 1, attributes), why);
    refuse(&[ints("strides", &[0, 1])], "strides");
    refuse(&[ints("strides", &[1 << 30, 1 << 30])], "more than");
    refuse(&[ints("dilations", &[0, 1])], "dilations");
    refuse(&[ints("pads", &[3, 0, 1, 0])], "leave nothing");
    refuse(&[ints("output_padding", &[-1, 0])], "output_padding");
    refuse(&[ints("output_shape", &[0, 3])], "output_shape");
    refuse(&[ints("output_shape", &[1 << 29, 1 << 29])], "more than");
    refuse(&[ints("kernel_shape", &[3, 3])], "kernel_shape");
    refused(&transposed(&[1, 3, 3, 3], &[3, 1, 2, 2], 2, &[]), "groups");
    refused(&transposed(&[1, 3, 3, 3], &[2, 1, 2, 2], 1, &[]), "convolve");
}
