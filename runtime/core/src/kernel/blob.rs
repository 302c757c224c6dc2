//! Large weights as bytes of a file beside the source.

/// The file's bytes as little-endian numbers of the array type that the place asks for; sizes are checked by rustc.
#[macro_export]
#[doc(hidden)]
macro_rules! blob {
    ($path:literal) => {{
        #[cfg(not(target_endian = "little"))]
        compile_error!("the weights are stored little-endian");
        // SAFETY: the target is an array of numbers, for which every bit pattern is valid.
        unsafe { ::core::mem::transmute(*include_bytes!($path)) }
    }};
}
