//! ConvTranspose: every entry of the input adds a kernel to the output, at its place times the stride.

use super::bilinear::bilinear;
use super::conv::{add_bias, divided, wrong_shapes};
use super::window::{AutoPad, Axis, AxisTaps, halves, listed, sizes};
use super::{Reading, checked_len, given};
use crate::affine::{Affine, MAX_ENTRIES, too_many_entries};
use crate::approx::Approx;
use crate::graph::Op;

/// The input is `[batch, channels, …]`, the kernel `[channels, outputs of a group, …]`, the bias one number an output
/// channel.
pub fn conv_transpose(op: &Op, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let Op::ConvTranspose { window, groups, .. } = op else { unreachable!("only ConvTranspose") };
    let (x, w) = (&inputs[0], &inputs[1]);
    let (&[batch, channels, ref spatial @ ..], &[rows, width, ref kernel @ ..]) = (x.shape, w.shape) else {
        return Err(wrong_shapes(x, w));
    };
    if spatial.is_empty() || spatial.len() != kernel.len() || rows != channels || width == 0 {
        return Err(wrong_shapes(x, w));
    }
    let groups = divided(*groups, &[channels])?;
    window.agrees(kernel)?;
    let axes = axes(op, spatial, kernel)?;
    let (outputs, depth) = (width * groups, channels / groups);
    let mut shape = vec![batch, outputs];
    shape.extend(axes.iter().map(|axis| axis.outputs));
    let len = checked_len(&shape)?;
    let windows = listed(&axes, batch * outputs * depth, spread)?;
    let (plane, kernel_len) = (spatial.iter().product::<usize>(), kernel.iter().product::<usize>());
    let terms = |o: usize| {
        let (row, taps) = (o / windows.len(), &windows[o % windows.len()]);
        let (n, m) = (row / outputs, row % outputs);
        let first = m / width * depth;
        (first..first + depth).flat_map(move |c| {
            let kernel = (c * width + m % width) * kernel_len;
            taps.iter().map(move |&(k, x)| ((n * channels + c) * plane + x, kernel + k))
        })
    };
    let mut map = bilinear(x, w, Approx::ONE, len, terms)?;
    add_bias(&mut map, given(inputs, 2), &shape)?;
    Ok((shape, map))
}

/// The taps of each output `o`: those `k` and `i` with `i·stride + k·dilation = o + before`.
fn spread(axis: &Axis) -> AxisTaps {
    let mut taps = vec![vec![]; axis.outputs];
    for i in 0..axis.size {
        for k in 0..axis.kernel {
            let place = (i * axis.stride + k * axis.dilation).checked_sub(axis.before);
            if let Some(taps) = place.and_then(|o| taps.get_mut(o)) {
                taps.push((k, i));
            }
        }
    }
    taps
}

/// The axes, with the size and the padding of the output: what `output_shape` asks for, or what is left after the pads.
fn axes(op: &Op, spatial: &[usize], kernel: &[usize]) -> Result<Vec<Axis>, String> {
    let Op::ConvTranspose { window, output_padding, output_shape, .. } = op else { unreachable!("only ConvTranspose") };
    let rank = spatial.len();
    if kernel.contains(&0) {
        return Err(format!("its kernel of shape {kernel:?} is empty"));
    }
    let strides = sizes(&window.strides, rank, 1, 1, "strides")?;
    let dilations = sizes(&window.dilations, rank, 1, 1, "dilations")?;
    let pads = sizes(&window.pads, 2 * rank, 0, 0, "pads")?;
    let extra = sizes(output_padding, rank, 0, 0, "output_padding")?;
    let wanted = output_shape.as_ref().map(|_| sizes(output_shape, rank, 0, 1, "output_shape")).transpose()?;
    let axis = |i: usize| {
        let (size, stride, dilation) = (spatial[i], strides[i], dilations[i]);
        let mut axis = Axis { size, kernel: kernel[i], stride, dilation, before: 0, after: 0, outputs: 0 };
        if size.saturating_mul(kernel[i]) > MAX_ENTRIES {
            return Err(too_many_entries());
        }
        let full = size.saturating_sub(1) * stride + axis.reach() + extra[i];
        let wanted = match (&wanted, window.auto_pad) {
            (Some(wanted), _) => Some(wanted[i]),
            (None, AutoPad::SameUpper | AutoPad::SameLower) => Some(size * stride),
            _ => None,
        };
        (axis.before, axis.after) = match (wanted, window.auto_pad) {
            // An output that is larger than all kernels together has zeros at its end.
            (Some(wanted), auto_pad) => halves(full.saturating_sub(wanted), auto_pad),
            (None, AutoPad::Valid) => (0, 0),
            (None, _) => (pads[i], pads[i + rank]),
        };
        let left = full.checked_sub(axis.before + axis.after).filter(|&left| left > 0);
        axis.outputs = match wanted {
            Some(wanted) => wanted,
            None => left.ok_or_else(|| format!("its pads {pads:?} leave nothing of axis {i}"))?,
        };
        Ok(axis)
    };
    (0..rank).map(axis).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Window;
    use crate::graph::ops::tests::{computed, image, reading, tensor};

    fn op(output_shape: Option<Vec<i64>>) -> Op {
        let window = Window { strides: Some(vec![2]), ..Window::plain() };
        Op::ConvTranspose { window, groups: 1, output_padding: None, output_shape }
    }

    #[test]
    fn kernels_overlap() {
        let w = tensor(&[1, 1, 3], &[1.0, 10.0, 100.0]);
        let run = |op: &Op| {
            let (_, map) = conv_transpose(op, &[computed(&[1, 1, 2]), reading(&w)]).unwrap();
            image(&map, &[1.0, 2.0].map(Approx::exact)).iter().map(|v| v.value).collect::<Vec<_>>()
        };
        assert_eq!(run(&op(None)), [1.0, 10.0, 102.0, 20.0, 200.0]);
        assert_eq!(run(&op(Some(vec![6]))), [1.0, 10.0, 102.0, 20.0, 200.0, 0.0]);
        assert_eq!(run(&op(Some(vec![4]))), [10.0, 102.0, 20.0, 200.0]);
    }

    #[test]
    fn what_leaves_nothing_is_refused() {
        let w = tensor(&[1, 1, 1], &[1.0]);
        let window = Window { pads: Some(vec![1, 1]), ..Window::plain() };
        let op = Op::ConvTranspose { window, groups: 1, output_padding: None, output_shape: None };
        assert!(conv_transpose(&op, &[computed(&[1, 1, 2]), reading(&w)]).unwrap_err().contains("leave nothing"));
    }
}
