//! Convolutions over planes of numbers, channel by channel.
//!
//! Lanes are output channels: at each place the weights of sixteen of them from one input are adjacent, so the kernel is kept
//! in panels as a dense layer is, of one row for each input of its window. A tile of places in a line is summed in registers
//! over the window; nothing is copied to make windows contiguous. Places whose window hangs over the border are summed one by
//! one, over the part inside.
//!
//! The arithmetic is the declared one ([`crate::sweep`]): every sum begins with what was there and has one product for each input
//! of the window that lies inside, by ascending input, multiplication and addition rounded one by one.

use super::geometry::Geometry;
use super::panels::{Lanes, PANEL, ZERO};
use super::simd::{Simd, Vectorised};
use super::vector::Vector;
use core::ops::Range;

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
        let mut sums = [ZERO; R];
        for (lane, z) in z.chunks(out_plane).enumerate().take(PANEL) {
            for r in 0..R {
                sums[r].0[lane] = z[at + r];
            }
        }
        let mut totals = [S::Vector32::splat(0.0); R];
        for r in 0..R {
            totals[r] = S::Vector32::load(&sums[r]);
        }
        for channel in 0..self.geometry.group_channels() {
            for ky in lines.clone() {
                let line = (channel * input[1] + y * stride[0] + ky * dilation[0] - pad[0]) * input[2];
                let line = &self.h[line..line + input[2]];
                let weights = &self.weights[self.geometry.tap(channel, ky, 0)..][..kernel[1]];
                for kx in columns.clone() {
                    let first = x * stride[1] + kx * dilation[1] - pad[1];
                    let weight = S::Vector32::load(&weights[kx]);
                    let read = &line[first..=first + (R - 1) * stride[1]];
                    for r in 0..R {
                        totals[r] = totals[r].add(S::Vector32::splat(read[r * stride[1]]).mul(weight));
                    }
                }
            }
        }
        for r in 0..R {
            totals[r].store(&mut sums[r]);
        }
        for (lane, z) in z.chunks_mut(out_plane).enumerate().take(PANEL) {
            for r in 0..R {
                z[at + r] = sums[r].0[lane];
            }
        }
        R
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{Portable, dispatch, padded};
    use crate::map::Conv;

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
