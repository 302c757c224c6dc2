//! Convolutions over planes of numbers, channel by channel.
//!
//! Lanes are output channels: at each place the weights of sixteen of them from one input are adjacent, so the kernel is kept
//! in panels as a dense layer is, of one row for each input of its window. A tile of places in a line is summed in registers
//! over the window; nothing is copied to make windows contiguous. Places whose window hangs over the border are summed one by
//! one, over the part inside.
//!
//! Every sum has one term for each input of the window that lies inside, added in some order to what was there, fused or not:
//! the error bounds of the verifier assume no more than that.

use super::layer::Linear;
use super::panels::{Lanes, PANEL, ZERO};
use super::simd::{Simd, Vectorised};
use crate::map::Conv;
use core::ops::Range;

/// Which inputs an output reads. Sizes are channels, height and width; the rest is height and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    pub input: [usize; 3],
    pub output: [usize; 3],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: [usize; 2],
    /// Before the first line and column. What is after the last follows from the output's size.
    pub pad: [usize; 2],
    /// Channels are in so many groups, each of which reads its own.
    pub groups: usize,
}

impl core::fmt::Display for Geometry {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        let ([c, h, w], [o, y, x], [kh, kw]) = (self.input, self.output, self.kernel);
        write!(f, "{c}x{h}x{w} -> {o}x{y}x{x}, kernel {kh}x{kw}")
    }
}

/// Where an output is: its first input channel, its line and column, and which taps of the kernel are inside.
pub struct Place {
    first_channel: usize,
    at: [usize; 2],
    pub taps: [Range<usize>; 2],
}

impl Geometry {
    pub const fn inputs(&self) -> usize {
        self.input[0] * self.input[1] * self.input[2]
    }

    pub const fn outputs(&self) -> usize {
        self.output[0] * self.output[1] * self.output[2]
    }

    /// Input channels that an output reads.
    pub const fn group_channels(&self) -> usize {
        self.input[0] / self.groups
    }

    const fn group_outputs(&self) -> usize {
        self.output[0] / self.groups
    }

    /// Inputs of a window.
    pub const fn patch(&self) -> usize {
        self.group_channels() * self.kernel[0] * self.kernel[1]
    }

    /// Panels of a group.
    const fn group_panels(&self) -> usize {
        self.group_outputs().div_ceil(PANEL)
    }

    /// How many [`Lanes`] the kernel takes.
    pub const fn lanes(&self) -> usize {
        self.groups * self.group_panels() * self.patch()
    }

    /// The number of a tap, of those of a window.
    #[inline(always)]
    pub fn tap(&self, channel: usize, ky: usize, kx: usize) -> usize {
        (channel * self.kernel[0] + ky) * self.kernel[1] + kx
    }

    /// The taps of the kernel that are inside at an output's line or column.
    #[inline(always)]
    fn taps(&self, axis: usize, at: usize) -> Range<usize> {
        let (first, pad, step) = (at * self.stride[axis], self.pad[axis], self.dilation[axis]);
        let low = pad.saturating_sub(first).div_ceil(step);
        let high = (self.input[axis + 1] + pad).saturating_sub(first).div_ceil(step).min(self.kernel[axis]);
        low.min(high)..high
    }

    #[inline(always)]
    pub fn place_of(&self, neuron: usize) -> Place {
        let [_, height, width] = self.output;
        let (channel, at) = (neuron / (height * width), [neuron / width % height, neuron % width]);
        let first_channel = channel / self.group_outputs() * self.group_channels();
        Place { first_channel, at, taps: [self.taps(0, at[0]), self.taps(1, at[1])] }
    }

    /// The panel of an output's weights, one row a tap, and its lane there.
    #[inline(always)]
    pub fn weights_of<'a>(&self, kernel: &'a [Lanes], neuron: usize) -> (&'a [Lanes], usize) {
        let (panel, lane) = self.panel_of(neuron / (self.output[1] * self.output[2]));
        (&kernel[panel * self.patch()..(panel + 1) * self.patch()], lane)
    }

    /// The panel of an output channel, and its lane there.
    #[inline(always)]
    pub const fn panel_of(&self, channel: usize) -> (usize, usize) {
        let (group, within) = (channel / self.group_outputs(), channel % self.group_outputs());
        (group * self.group_panels() + within / PANEL, within % PANEL)
    }

    /// The inputs of an output's window that lie inside, ascending, each with the number of its tap.
    pub fn window(self, neuron: usize) -> impl Iterator<Item = (usize, usize)> {
        let place = self.place_of(neuron);
        let [lines, columns] = place.taps.clone();
        let taps = (0..self.group_channels())
            .flat_map(move |c| lines.clone().map(move |ky| (c, ky)))
            .flat_map(move |(c, ky)| columns.clone().map(move |kx| (c, ky, kx)));
        taps.map(move |(c, ky, kx)| (self.input_at(&place, c, ky, kx), self.tap(c, ky, kx)))
    }

    /// The input under a tap.
    #[inline(always)]
    pub fn input_at(&self, place: &Place, channel: usize, ky: usize, kx: usize) -> usize {
        let line = place.at[0] * self.stride[0] + ky * self.dilation[0] - self.pad[0];
        let column = place.at[1] * self.stride[1] + kx * self.dilation[1] - self.pad[1];
        ((place.first_channel + channel) * self.input[1] + line) * self.input[2] + column
    }
}

/// Arranges a kernel of one row an output channel, its taps by input channel, line and column, in panels.
pub const fn pack_kernel<const PATCH: usize, const O: usize, const N: usize>(
    geometry: &Geometry,
    rows: &[[f32; PATCH]; O],
) -> [Lanes; N] {
    assert!(PATCH == geometry.patch() && O == geometry.output[0] && N == geometry.lanes());
    let mut packed = [ZERO; N];
    let mut o = 0;
    while o < O {
        let (panel, lane) = geometry.panel_of(o);
        let mut k = 0;
        while k < PATCH {
            packed[panel * PATCH + k].0[lane] = rows[o][k];
            k += 1;
        }
        o += 1;
    }
    packed
}

/// Adds a convolution of one input to what is in `z`.
pub struct Product<'a> {
    pub geometry: Geometry,
    pub kernel: &'a [Lanes],
    pub h: &'a [f32],
    pub z: &'a mut [f32],
}

impl Vectorised for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        add::<S>(self.geometry, self.kernel, self.h, self.z);
    }
}

/// The same, where the geometry may be a constant.
#[inline(always)]
pub fn add<S: Simd>(geometry: Geometry, kernel: &[Lanes], h: &[f32], z: &mut [f32]) {
    assert!(h.len() == geometry.inputs() && z.len() == geometry.outputs(), "the sizes of the convolution");
    let (plane, out_plane) = (geometry.input[1] * geometry.input[2], geometry.output[1] * geometry.output[2]);
    for group in 0..geometry.groups {
        let h = &h[group * geometry.group_channels() * plane..][..geometry.group_channels() * plane];
        for panel in 0..geometry.group_panels() {
            let weights = &kernel[(group * geometry.group_panels() + panel) * geometry.patch()..][..geometry.patch()];
            let first = group * geometry.group_outputs() + panel * PANEL;
            let channels = (geometry.group_outputs() - panel * PANEL).min(PANEL);
            let z = &mut z[first * out_plane..(first + channels) * out_plane];
            Channels { geometry, weights, h }.add::<S>(z);
        }
    }
}

/// Up to sixteen output channels of a group.
struct Channels<'a> {
    geometry: Geometry,
    weights: &'a [Lanes],
    h: &'a [f32],
}

impl Channels<'_> {
    #[inline(always)]
    fn add<S: Simd>(&self, z: &mut [f32]) {
        let geometry = self.geometry;
        let vectors = (PANEL * size_of::<f32>()).div_ceil(S::VECTOR);
        for y in 0..geometry.output[1] {
            let lines = geometry.taps(0, y);
            let mut x = 0;
            while x < geometry.output[2] {
                let columns = geometry.taps(1, x);
                // Places whose windows are all inside as this one's is.
                let fits = |count: usize| {
                    let last = x + count - 1;
                    count * vectors <= S::SUMS
                        && last < geometry.output[2]
                        && columns.len() == geometry.kernel[1]
                        && geometry.taps(1, last).len() == geometry.kernel[1]
                };
                let at = (y, x, lines.clone(), columns.clone());
                x += if fits(12) {
                    self.tile::<S, 12>(at, z)
                } else if fits(6) {
                    self.tile::<S, 6>(at, z)
                } else if fits(3) {
                    self.tile::<S, 3>(at, z)
                } else {
                    self.tile::<S, 1>(at, z)
                };
            }
        }
    }

    /// Sums `R` places of a line from one on; returns `R`.
    #[inline(always)]
    fn tile<S: Simd, const R: usize>(
        &self,
        (y, x, lines, columns): (usize, usize, Range<usize>, Range<usize>),
        z: &mut [f32],
    ) -> usize {
        let Geometry { input, output, kernel, stride, dilation, pad, .. } = self.geometry;
        let (out_plane, at) = (output[1] * output[2], y * output[2] + x);
        let mut sums = [[0.0; PANEL]; R];
        for (lane, z) in z.chunks(out_plane).enumerate().take(PANEL) {
            for r in 0..R {
                sums[r][lane] = z[at + r];
            }
        }
        for channel in 0..self.geometry.group_channels() {
            for ky in lines.clone() {
                let line = (channel * input[1] + y * stride[0] + ky * dilation[0] - pad[0]) * input[2];
                let line = &self.h[line..line + input[2]];
                let weights = &self.weights[self.geometry.tap(channel, ky, 0)..][..kernel[1]];
                for kx in columns.clone() {
                    let (weight, first) = (weights[kx].0, x * stride[1] + kx * dilation[1] - pad[1]);
                    let read = &line[first..=first + (R - 1) * stride[1]];
                    for r in 0..R {
                        let a = read[r * stride[1]];
                        for lane in 0..PANEL {
                            sums[r][lane] = S::mul_add(a, weight[lane], sums[r][lane]);
                        }
                    }
                }
            }
        }
        for (lane, z) in z.chunks_mut(out_plane).enumerate().take(PANEL) {
            for r in 0..R {
                z[at + r] = sums[r][lane];
            }
        }
        R
    }
}

impl<const I: usize, const O: usize> Linear<I, O> for Conv<'_> {
    #[inline(always)]
    fn add<S: Simd>(&self, h: &[f32; I], mut z: [f32; O]) -> [f32; O] {
        self.add_row(h, &mut z);
        z
    }

    #[inline(always)]
    fn add_batch<S: Simd>(&self, h: &[[f32; I]], z: &mut [[f32; O]]) {
        h.iter().zip(z).for_each(|(h, z)| self.add_row(h, z));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Portable, dispatch, padded};

    /// Every shape of border: no and much padding, strides beyond the kernel, dilation, groups, one line.
    const GEOMETRIES: [Geometry; 6] = [
        Geometry { input: [3, 8, 30], output: [17, 8, 30], kernel: [3, 3], pad: [1, 1], ..PLAIN },
        Geometry { input: [2, 5, 7], output: [4, 3, 4], kernel: [4, 2], stride: [2, 2], pad: [2, 1], ..PLAIN },
        Geometry {
            input: [4, 6, 9],
            output: [6, 2, 5],
            kernel: [3, 2],
            dilation: [2, 3],
            pad: [0, 0],
            groups: 2,
            ..PLAIN
        },
        Geometry { input: [1, 1, 40], output: [20, 1, 36], kernel: [1, 5], ..PLAIN },
        Geometry {
            input: [2, 3, 3],
            output: [2, 4, 5],
            kernel: [2, 2],
            pad: [2, 3],
            groups: 2,
            stride: [1, 2],
            ..PLAIN
        },
        Geometry { input: [1, 2, 2], output: [1, 1, 1], kernel: [7, 7], pad: [3, 3], ..PLAIN },
    ];
    const PLAIN: Geometry = Geometry {
        input: [1, 1, 1],
        output: [1, 1, 1],
        kernel: [1, 1],
        stride: [1, 1],
        dilation: [1, 1],
        pad: [0, 0],
        groups: 1,
    };

    fn kernel(geometry: &Geometry) -> Vec<Lanes> {
        (0..geometry.lanes())
            .map(|k| Lanes(std::array::from_fn(|lane| ((k * 7 + lane * 3) % 11) as f32 - 5.0)))
            .collect()
    }

    /// The definition, from the kernel in panels.
    fn coefficient(g: &Geometry, kernel: &[Lanes], neuron: usize, input: usize) -> f32 {
        let [o, y, x] = coordinates(neuron, g.output);
        let [c, line, column] = coordinates(input, g.input);
        let (group_in, group_out) = (g.input[0] / g.groups, g.output[0] / g.groups);
        let tap = |at: usize, from: usize, axis: usize| {
            (0..g.kernel[axis]).find(|k| at * g.stride[axis] + k * g.dilation[axis] == from + g.pad[axis])
        };
        match (tap(y, line, 0), tap(x, column, 1)) {
            (Some(ky), Some(kx)) if c / group_in == o / group_out => {
                let panel = o / group_out * group_out.div_ceil(PANEL) + o % group_out / PANEL;
                let tap = (c % group_in * g.kernel[0] + ky) * g.kernel[1] + kx;
                kernel[panel * g.patch() + tap].0[o % group_out % PANEL]
            }
            _ => 0.0,
        }
    }

    fn coordinates(at: usize, [_, height, width]: [usize; 3]) -> [usize; 3] {
        [at / (height * width), at / width % height, at % width]
    }

    #[test]
    fn rows_products_and_their_transposes_agree_with_the_definition() {
        for geometry in GEOMETRIES {
            let kernel = kernel(&geometry);
            let (inputs, outputs) = (geometry.inputs(), geometry.outputs());
            let map = Conv::new(geometry, &kernel);
            let h: Vec<f32> = (0..inputs).map(|i| (i % 9) as f32 - 4.0).collect();
            let mut expected = vec![1.0; outputs];
            for (neuron, expected) in expected.iter_mut().enumerate() {
                let row: Vec<f32> = (0..inputs).map(|i| coefficient(&geometry, &kernel, neuron, i)).collect();
                let entries = row.iter().copied().enumerate().filter(|(_, w)| *w != 0.0);
                assert_eq!(map.row(neuron).collect::<Vec<_>>(), entries.collect::<Vec<_>>());
                *expected += row.iter().zip(&h).map(|(w, h)| w * h).sum::<f32>();
                let (mut nu, mut mu) = (vec![0.0; padded(outputs)], vec![0.0; padded(inputs)]);
                nu[neuron] = 2.0;
                map.add_back::<f64>(&nu, &mut mu);
                assert!(row.iter().zip(&mu).all(|(&w, &mu)| mu == 2.0 * f64::from(w)));
            }
            for portable in [false, true] {
                let mut z = vec![1.0; outputs];
                let product = Product { geometry, kernel: &kernel, h: &h, z: &mut z };
                if portable {
                    product.run::<Portable>()
                } else {
                    dispatch(product)
                }
                assert_eq!(z, expected, "{geometry}");
            }
        }
    }
}
