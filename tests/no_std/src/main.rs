//! Evaluates a generated network at the centre of a box and bounds its outputs over the box, on the stack alone. Exits with 0 if
//! the bounds are finite and hold the outputs.

#![no_std]
#![no_main]

use core::panic::PanicInfo;
use pg_core::bound::{Known, Relaxation, Rows, slop, underflow};
use pg_core::kernel::padded;
use pg_core::rounding::Sum;
use pg_core::{Network as _, Shape, Source};
use verifier_control::Network;

const INPUTS: usize = Network::INPUTS;
/// Room for the neurons of all stages, and for a row of all activations, padded.
const NEURONS: usize = 32;
const ROOM: usize = 128;
const RADIUS: f32 = 0.01;

#[link(name = "c")]
unsafe extern "C" {}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    loop {}
}

/// The core library of a hosted target is compiled for unwinding and names these; nothing here unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    loop {}
}

/// The bounds of every neuron, stage after stage.
struct Bounds {
    lower: [f64; NEURONS],
    upper: [f64; NEURONS],
    slop: [f64; NEURONS],
    underflow: f64,
}

/// A lower bound of a neuron times a sign, from bounds of the stages before.
fn lower_bound(shape: Shape, bounds: &Bounds, input: (&[f64], &[f64]), stage: usize, neuron: usize, sign: f64) -> f64 {
    let mut mu = [0.0; ROOM];
    for edge in shape.stages[stage].edges {
        let place = shape.place(edge.from);
        edge.map.row(neuron).for_each(|(i, w)| mu[place + i] = sign * f64::from(w));
    }
    let bias = sign * f64::from(shape.stages[stage].bias[neuron]);
    let mut sums = [Sum::new(bias, bounds.slop[shape.start(stage) + neuron])];
    let (lower, upper, slop) = (&bounds.lower, &bounds.upper, &bounds.slop);
    let known = Known { shape, input, lower, upper, slop, underflow: bounds.underflow };
    let rows = Rows { mu: &mut mu[..shape.room()], sums: &mut sums };
    let mut found = [0.0];
    known.lower_bounds(stage, rows, None, |_, _, mu, l, u| Relaxation::Adaptive.multiplier(mu, l, u), &mut found);
    found[0]
}

fn bound(shape: Shape, input: (&[f64], &[f64])) -> Bounds {
    let mut largest = [0.0; ROOM];
    for i in 0..INPUTS {
        largest[i] = input.0[i].abs().max(input.1[i].abs());
    }
    let mut bounds = Bounds { lower: [0.0; NEURONS], upper: [0.0; NEURONS], slop: [0.0; NEURONS], underflow: 0.0 };
    bounds.underflow = underflow(&shape, Source::Input, &largest[..INPUTS]);
    for (k, stage) in shape.stages.iter().enumerate() {
        let start = shape.start(k);
        let of = |source: Source| &largest[shape.place(source)..][..shape.width(source)];
        slop(&shape, k, of, &mut bounds.slop[start..start + stage.width()]);
        for j in 0..stage.width() {
            bounds.lower[start + j] = lower_bound(shape, &bounds, input, k, j, 1.0);
            bounds.upper[start + j] = -lower_bound(shape, &bounds, input, k, j, -1.0);
        }
        let place = shape.place(Source::Stage(k));
        for j in 0..stage.width() {
            largest[place + j] = bounds.upper[start + j].max(0.0);
        }
        bounds.underflow += underflow(&shape, Source::Stage(k), &largest[place..place + stage.width()]);
    }
    bounds
}

#[unsafe(no_mangle)]
pub extern "C" fn main() -> i32 {
    let shape = Network.shape();
    shape.check();
    if shape.neurons() > NEURONS || shape.room() > ROOM || padded(INPUTS) > ROOM {
        return 2;
    }
    let x = [0.25; INPUTS];
    let (lower, upper) = (x.map(|x| f64::from(x - RADIUS)), x.map(|x| f64::from(x + RADIUS)));
    let bounds = bound(shape, (&lower, &upper));
    let start = shape.start(shape.last());
    let y = Network::eval(&x);
    let holds = |j: usize| {
        let (l, u) = (bounds.lower[start + j], bounds.upper[start + j]);
        l.is_finite() && u.is_finite() && l <= f64::from(y[j]) && f64::from(y[j]) <= u
    };
    if (0..Network::OUTPUTS).all(holds) { 0 } else { 1 }
}
