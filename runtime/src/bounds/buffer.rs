//! Room for numbers in whole panels, each aligned to a vector register.

use pg_core::kernel::{Lanes, PANEL, ZERO, padded};
use std::ops::{Deref, DerefMut};

#[derive(Clone, Default)]
pub struct Buffer(Vec<Lanes>);

impl Buffer {
    /// Zeros, so many and up to a whole panel.
    pub fn zeros(length: usize) -> Buffer {
        Buffer(vec![ZERO; length.div_ceil(PANEL)])
    }

    /// The given numbers, then zeros up to a whole panel, and to one where there is no number.
    pub fn row(values: &[f32]) -> Buffer {
        let mut buffer = Buffer::zeros(padded(values.len()));
        buffer[..values.len()].copy_from_slice(values);
        buffer
    }

    /// The given numbers, then zeros up to a whole panel.
    pub fn from(values: &[f32]) -> Buffer {
        let mut buffer = Buffer::zeros(values.len());
        buffer[..values.len()].copy_from_slice(values);
        buffer
    }

    /// At least so many panels of anything.
    pub fn lanes(&mut self, count: usize) -> &mut [Lanes] {
        if self.0.len() < count {
            self.0.resize(count, ZERO);
        }
        &mut self.0
    }
}

impl Deref for Buffer {
    type Target = [f32];

    #[inline(always)]
    fn deref(&self) -> &[f32] {
        // SAFETY: lanes are arrays of PANEL numbers, one after the other without gaps.
        unsafe { std::slice::from_raw_parts(self.0.as_ptr().cast(), self.0.len() * PANEL) }
    }
}

impl DerefMut for Buffer {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [f32] {
        // SAFETY: as above, and the borrow of the lanes is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), self.0.len() * PANEL) }
    }
}
