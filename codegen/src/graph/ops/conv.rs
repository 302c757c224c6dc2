//! Convolutions: every output is a sum over a window of the input, so a row has as many coefficients as a window
//! entries.

use super::bilinear::bilinear;
use super::elementwise::add_operand;
use super::window::{Axis, Window, sliding};
use super::{Reading, checked_len, given};
use crate::affine::Affine;
use crate::approx::Approx;
use pg_core::map::Geometry;

/// The input is `[batch, channels, …]`, the kernel `[outputs, channels of a group, …]`, the bias one number an output
/// channel.
pub fn conv(window: &Window, groups: i64, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let (x, w) = (&inputs[0], &inputs[1]);
    let (&[batch, channels, ref spatial @ ..], &[outputs, depth, ref kernel @ ..]) = (x.shape, w.shape) else {
        return Err(wrong_shapes(x, w));
    };
    if spatial.is_empty() || spatial.len() != kernel.len() {
        return Err(wrong_shapes(x, w));
    }
    let groups = divided(groups, &[channels, outputs])?;
    if channels / groups != depth {
        return Err(format!("its kernel has {depth} channels for {channels} in {groups} groups"));
    }
    window.agrees(kernel)?;
    let axes = window.axes(spatial, kernel)?;
    let mut shape = vec![batch, outputs];
    shape.extend(axes.iter().map(|axis| axis.outputs));
    let len = checked_len(&shape)?;
    let windows = sliding(&axes, batch * outputs * depth)?;
    let (plane, kernel_len) = (spatial.iter().product::<usize>(), kernel.iter().product::<usize>());
    let terms = |o: usize| {
        let (row, taps) = (o / windows.len(), &windows[o % windows.len()]);
        let (n, m) = (row / outputs, row % outputs);
        let first = n * channels + m / (outputs / groups) * depth;
        (0..depth).flat_map(move |c| {
            taps.iter().map(move |&(k, x)| ((first + c) * plane + x, (m * depth + c) * kernel_len + k))
        })
    };
    let mut map = bilinear(x, w, Approx::ONE, len, terms)?;
    add_bias(&mut map, given(inputs, 2), &shape)?;
    Ok((shape, map))
}

/// The geometry that the kernels know a convolution by: of one input, along one or two axes. A line is a plane of height 1.
pub fn geometry(window: &Window, groups: i64, inputs: &[Reading]) -> Option<Geometry> {
    let (&[1, channels, ref spatial @ ..], &[outputs, _, ref kernel @ ..]) = (inputs[0].shape, inputs[1].shape) else {
        return None;
    };
    let axes = window.axes(spatial, kernel).ok()?;
    let plain = Axis { size: 1, kernel: 1, stride: 1, dilation: 1, before: 0, after: 0, outputs: 1 };
    let [y, x] = match axes[..] {
        [x] => [plain, x],
        [y, x] => [y, x],
        _ => return None,
    };
    Some(Geometry {
        input: [channels, y.size, x.size],
        output: [outputs, y.outputs, x.outputs],
        kernel: [y.kernel, x.kernel],
        stride: [y.stride, x.stride],
        dilation: [y.dilation, x.dilation],
        pad: [y.before, x.before],
        groups: usize::try_from(groups).ok()?,
    })
}

/// Adds one number to each channel of an output `[batch, channels, …]`.
pub fn add_bias(map: &mut Affine, bias: Option<&Reading>, shape: &[usize]) -> Result<(), String> {
    let Some(bias) = bias else { return Ok(()) };
    let channels = shape[1];
    if bias.shape != [channels] {
        return Err(format!("its bias has shape {:?} for {channels} channels", bias.shape));
    }
    let plane = shape[2..].iter().product::<usize>();
    let channel: Vec<usize> = (0..map.outputs()).map(|o| o / plane % channels).collect();
    add_operand(map, bias, &channel, Approx::ONE);
    Ok(())
}

pub fn wrong_shapes(x: &Reading, w: &Reading) -> String {
    format!("an input of shape {:?} and a kernel of shape {:?} do not convolve", x.shape, w.shape)
}

/// The number of groups, which has to divide the channels.
pub fn divided(groups: i64, channels: &[usize]) -> Result<usize, String> {
    let divides = |g: &usize| *g > 0 && channels.iter().all(|&c| c > 0 && c % g == 0);
    let groups = usize::try_from(groups).ok().filter(divides);
    groups.ok_or_else(|| format!("its groups do not divide its channels {channels:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{computed, image, reading, tensor};

    #[test]
    fn groups_read_their_own_channels() {
        let (w, b) = (tensor(&[2, 1, 2], &[1.0, 10.0, 100.0, 1000.0]), tensor(&[2], &[0.5, 0.0]));
        let x = computed(&[1, 2, 3]);
        let (shape, map) = conv(&Window::plain(), 2, &[x, reading(&w), reading(&b)]).unwrap();
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0].map(Approx::exact);
        let y: Vec<f64> = image(&map, &values).iter().map(|v| v.value).collect();
        assert_eq!((shape, y), (vec![1, 2, 2], vec![21.5, 32.5, 5400.0, 6500.0]));
        let folded = conv(&Window::plain(), 2, &[reading(&tensor(&[1, 2, 3], &[1.0; 6])), reading(&w)]).unwrap().1;
        assert_eq!(folded.bias, [11.0, 11.0, 1100.0, 1100.0].map(Approx::exact));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let w = tensor(&[2, 1, 2], &[0.0; 4]);
        let refuse = |shape, groups| {
            let x = computed(shape);
            conv(&Window::plain(), groups, &[x, reading(&w)]).unwrap_err()
        };
        assert!(refuse(&[1, 3, 3], 2).contains("groups"));
        assert!(refuse(&[1, 2, 3], 0).contains("groups"));
        assert!(refuse(&[1, 2, 3], 1).contains("channels"));
        assert!(refuse(&[1, 2, 1], 2).contains("does not fit"));
        assert!(refuse(&[1, 2, 3, 3], 2).contains("convolve"));
    }
}
