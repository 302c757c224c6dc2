//! The geometry of convolutions: which inputs each output reads, and where its weights lie.

use super::panels::{Lanes, PANEL, ZERO};
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

    pub const fn group_outputs(&self) -> usize {
        self.output[0] / self.groups
    }

    /// Inputs of a window.
    pub const fn patch(&self) -> usize {
        self.group_channels() * self.kernel[0] * self.kernel[1]
    }

    /// Panels of a group.
    pub const fn group_panels(&self) -> usize {
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
    pub fn taps(&self, axis: usize, at: usize) -> Range<usize> {
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
