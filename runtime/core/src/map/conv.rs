//! A convolution: a small kernel, applied at every place of its output.

use super::each_multiplier;
use crate::kernel::conv::Product;
use crate::kernel::{AddRow, Geometry, Lanes, Scalar, dispatch, padded};

#[derive(Clone, Copy)]
pub struct Conv<'a> {
    geometry: Geometry,
    kernel: &'a [Lanes],
}

impl core::fmt::Debug for Conv<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter) -> core::fmt::Result {
        write!(f, "Conv {}", self.geometry)
    }
}

impl AddRow for Conv<'_> {
    /// Compiled once, not for every geometry: with constant sizes the loops are unrolled beyond what registers hold.
    #[inline(never)]
    fn add_row(&self, h: &[f32], z: &mut [f32]) {
        dispatch(Product { geometry: self.geometry, kernel: self.kernel, h, z });
    }
}

impl<'a> Conv<'a> {
    /// The kernel in panels of output channels, group after group: see [`crate::kernel::pack_kernel`].
    pub const fn new(geometry: Geometry, kernel: &'a [Lanes]) -> Conv<'a> {
        assert!(kernel.len() == geometry.lanes(), "the size of the kernel");
        Conv { geometry, kernel }
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn rows(&self) -> usize {
        self.geometry.outputs()
    }

    pub fn cols(&self) -> usize {
        self.geometry.inputs()
    }

    pub fn add_forward(&self, h: &[f32], z: &mut [f32]) {
        let (inputs, outputs) = (self.cols(), self.rows());
        for (h, z) in h.chunks(padded(inputs)).zip(z.chunks_mut(padded(outputs))) {
            self.add_row(&h[..inputs], &mut z[..outputs]);
        }
    }

    pub fn add_back<T: Scalar>(&self, nu: &[T], mu: &mut [T]) {
        each_multiplier(self.rows(), self.cols(), nu, mu, |neuron, nu, mu| self.add_neuron(neuron, nu, mu));
    }

    /// Adds so many times a neuron's row.
    #[inline(always)]
    fn add_neuron<T: Scalar>(&self, neuron: usize, nu: T, mu: &mut [T]) {
        let geometry = &self.geometry;
        let ((weights, lane), place) = (geometry.weights_of(self.kernel, neuron), geometry.place_of(neuron));
        let [lines, columns] = place.taps.clone();
        if columns.is_empty() {
            return;
        }
        for channel in 0..geometry.group_channels() {
            for ky in lines.clone() {
                let first = geometry.input_at(&place, channel, ky, columns.start);
                let weights = &weights[geometry.tap(channel, ky, 0)..][columns.clone()];
                for (tap, weight) in weights.iter().enumerate() {
                    mu[first + tap * geometry.dilation[1]] += T::widen(weight.0[lane]) * nu;
                }
            }
        }
    }

    pub fn row(self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + 'a {
        let (weights, lane) = self.geometry.weights_of(self.kernel, neuron);
        self.geometry.window(neuron).map(move |(col, tap)| (col, weights[tap].0[lane])).filter(|&(_, w)| w != 0.0)
    }
}
