//! Large weights as bytes of a file beside the source.

use super::Lanes;

/// What bytes can be taken for, whatever they are.
///
/// # Safety
///
/// Every bit pattern is a value, and there is no padding.
pub unsafe trait Numbers: Copy {}

// SAFETY: all bits of both are a number or none, and lanes are sixteen of them in as many bytes as their alignment.
unsafe impl Numbers for f32 {}
unsafe impl Numbers for u32 {}
unsafe impl Numbers for Lanes {}
// SAFETY: there is nothing between the items of an array.
unsafe impl<T: Numbers, const N: usize> Numbers for [T; N] {}

/// Bytes as little-endian numbers. At compile time, where the weights of a network are read, another size is an error of rustc.
pub const fn numbers<T: Numbers, const N: usize>(bytes: &[u8; N]) -> T {
    const { assert!(cfg!(target_endian = "little"), "the weights are stored little-endian") };
    assert!(size_of::<T>() == N, "the file has another size than the array");
    // SAFETY: the sizes are the same, and every bit pattern is a value.
    unsafe { core::mem::transmute_copy(bytes) }
}

/// The numbers of a file, as the array type that the place asks for. A macro, since the path is relative to the place.
#[macro_export]
#[doc(hidden)]
macro_rules! blob {
    ($path:literal) => {
        $crate::kernel::numbers(include_bytes!($path))
    };
}
