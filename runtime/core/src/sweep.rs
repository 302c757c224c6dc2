//! Sweeps from the inputs to the outputs: evaluation, and the enclosure of the real-valued network at a point.
//!
//! **The declared arithmetic** of evaluation is the same function of bits everywhere, in generated crates, the interpreter and on
//! devices. Each neuron begins with its bias; products of a weight and an activation are added one after the other, edge by edge in
//! the stage's order and by ascending activation within an edge. Every product and every sum is rounded to the nearest float32, ties
//! to even, none is fused. A dense map has a product for every activation, a sparse one for its entries, a convolution for the places
//! of its window that lie inside. ReLU turns what is below 0 into +0 and leaves everything else as it is: −0, and a NaN.

use crate::kernel::padded;
use crate::rounding::{at_most, sum_error};
use crate::shape::{Shape, Source};

/// The declared arithmetic in a line, and the replication criterion that it meets: the same bits on every machine.
pub const ARITHMETIC: &str =
    "float32, bias first, then products by ascending index, each product and sum rounded to nearest";
pub const REPLICATION: &str = "exact";

/// Evaluates inputs in float32. `room` has [`Shape::room`] numbers for each of the rows of its first block, which holds the
/// inputs, padded; the other blocks receive the activations of all stages, the last one the outputs.
pub fn forward(shape: &Shape, rows: usize, room: &mut [f32]) {
    assert_eq!(room.len(), rows * shape.room());
    for (k, stage) in shape.stages.iter().enumerate() {
        let (before, from) = room.split_at_mut(rows * shape.place(Source::Stage(k)));
        let width = padded(stage.width());
        let z = &mut from[..rows * width];
        for z in z.chunks_mut(width) {
            z.fill(0.0);
            z[..stage.width()].copy_from_slice(stage.bias);
        }
        for edge in stage.edges {
            let place = rows * shape.place(edge.from);
            edge.map.add_forward(&before[place..place + rows * padded(edge.map.cols())], z);
        }
        if k < shape.last() {
            // A NaN stays one: an overflow must not come out as a number.
            z.iter_mut().filter(|z| **z < 0.0).for_each(|z| *z = 0.0);
        }
    }
}

/// An activation of the model's real-valued network: within the radius of the centre.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ball {
    pub centre: f64,
    pub radius: f64,
}

/// Encloses the activations of the real-valued network at an input. `room` has one number an input and a neuron; inputs are
/// its first numbers, outputs its last.
///
/// A neuron's computed sum of n products is within about n·u of the sum of their magnitudes of the exact one; that, the radii
/// of what it reads through |A| and the neuron's own error make its radius. ReLU does not increase distances, so the radius
/// stays and a centre is clamped at 0; of a neuron that is off for certain none is left.
pub fn enclose(shape: &Shape, room: &mut [Ball]) {
    assert_eq!(room.len(), shape.inputs + shape.neurons());
    for (k, stage) in shape.stages.iter().enumerate() {
        let (before, from) = room.split_at_mut(shape.inputs + shape.start(k));
        let place = |source: Source| match source {
            Source::Input => 0,
            Source::Stage(s) => shape.inputs + shape.start(s),
        };
        for (j, ball) in from[..stage.width()].iter_mut().enumerate() {
            let bias = f64::from(stage.bias[j]);
            let (mut sum, mut size, mut spread, mut total, mut terms) = (bias, bias.abs(), 0.0, 0.0, 0);
            for edge in stage.edges {
                let read = &before[place(edge.from)..];
                for (i, w) in edge.map.row(j) {
                    let (w, Ball { centre, radius }) = (f64::from(w), read[i]);
                    let term = w * centre;
                    sum += term;
                    size += term.abs();
                    spread += w.abs() * radius;
                    total += centre.abs() + radius;
                    terms += 1;
                }
            }
            let radius = sum_error(terms, size) + spread + stage.error_of(j).at(size + spread, total);
            *ball = Ball { centre: sum, radius: at_most(radius, 4 * terms + 8) };
            if k < shape.last() && ball.centre < 0.0 {
                let is_off = (ball.centre + ball.radius).next_up() < 0.0;
                *ball = Ball { centre: 0.0, radius: if is_off { 0.0 } else { ball.radius } };
            }
        }
    }
}
