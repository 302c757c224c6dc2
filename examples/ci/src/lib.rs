//! The controller of a cart with a pole on it: a network that is part of this crate, with the units of its inputs and outputs.

#![no_std]
#![forbid(unsafe_code)]

mod net {
    include!(concat!(env!("OUT_DIR"), "/controller.rs"));
}

pub use net::Network;

/// What the network's inputs are relative to, and in units of: position, velocity, angle and angular rate.
const MEAN: [f32; Network::INPUTS] = [0.4, 0.5, 0.05, 0.25];
const RANGE: [f32; Network::INPUTS] = [4.8, 6.0, 1.1, 4.5];
/// The same of its first output.
const FORCE_MEAN: f32 = 2.5;
const FORCE_RANGE: f32 = 25.0;

/// The force on the cart, in newtons, for its position (m), its velocity (m/s), the angle of the pole (rad) and its rate (rad/s).
pub fn force(state: [f32; Network::INPUTS]) -> f32 {
    let mut x = state;
    for ((x, mean), range) in x.iter_mut().zip(MEAN).zip(RANGE) {
        *x = (*x - mean) / range;
    }
    let [force, _value] = Network::eval(&x);
    force * FORCE_RANGE + FORCE_MEAN
}
