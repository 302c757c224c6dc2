//! Test vectors: inputs of the domain and what the declared arithmetic makes of them, as bits.

use super::Device;
use crate::emit::fill;
use crate::interpret::Interpreter;
use pg_core::Network;
use std::fmt::Write;

/// Vectors of a crate: both corners of the domain, its middle, and random ones.
pub const VECTORS: usize = 32;
/// Where an input has no bounds that matter, vectors lie between these.
const USUAL: f32 = 1.0;

/// The inputs of so many vectors, one after the other.
pub fn inputs(device: &Device, count: usize) -> Vec<f32> {
    let usual =
        |(low, high): (f32, f32)| if high - low <= f32::MAX { (low, high) } else { (low.max(-USUAL), high.min(USUAL)) };
    let sides: Vec<(f32, f32)> = device.question.domain.iter().map(|&side| usual(side)).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut part = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u32 << 24) as f32
    };
    let mut all = Vec::with_capacity(count * sides.len());
    for vector in 0..count {
        all.extend(sides.iter().map(|&(low, high)| {
            let part = match vector {
                0 => 0.0,
                1 => 1.0,
                2 => 0.5,
                _ => part(),
            };
            (low + part * (high - low)).clamp(low, high)
        }));
    }
    all
}

/// The outputs of inputs, one after the other.
pub fn outputs(device: &Device, x: &[f32]) -> Vec<f32> {
    let network = Interpreter::new(device.net.clone());
    let mut y = vec![0.0; x.len() / network.inputs() * network.outputs()];
    network.forward(x, &mut y);
    y
}

/// So many vectors as a file: an array of pairs of arrays, as Rust reads it.
pub fn vectors(device: &Device, count: usize) -> String {
    let x = inputs(device, count);
    let y = outputs(device, &x);
    let list = |values: &[f32]| {
        let bits: Vec<String> = values.iter().map(|v| format!("{:#010x}", v.to_bits())).collect();
        bits.join(", ")
    };
    let mut text = String::from("[\n");
    for (x, y) in x.chunks(device.net.inputs).zip(y.chunks(device.net.outputs())) {
        let _ = writeln!(text, "    ([{}], [{}]),", list(x), list(y));
    }
    text + "]\n"
}

/// The test that replays them.
pub fn test(device: &Device) -> String {
    let values = [("crate", device.name.replace('-', "_"))];
    fill(include_str!("../../../templates/embedded/vectors.rs"), &values)
}
