//! Replays the vectors that came with the crate: inputs and outputs as the bits of float32 numbers.

use embedded_digits_16::{INPUTS, OUTPUTS, eval};

static VECTORS: &[([u32; INPUTS], [u32; OUTPUTS])] = &include!("../vectors.in");

#[test]
fn every_output_has_the_bits_that_were_recorded() {
    for (number, (x, y)) in VECTORS.iter().enumerate() {
        assert_eq!(eval(&x.map(f32::from_bits)).map(f32::to_bits), *y, "vector {number}");
    }
}
