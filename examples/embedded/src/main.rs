//! Firmware for a Cortex-M4F: reads an image of 8 × 8 brightnesses from 0 to 16, classifies it, certifies that no image near it has
//! another class, and replays the test vectors that came with the network.
//!
//! `cargo run --release` runs it in QEMU, where "files" are those of the host, by semihosting.

#![no_std]
#![no_main]

use core::cell::RefCell;
use cortex_m::interrupt::Mutex;
use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln, syscall};
use network::{INPUTS, OUTPUTS, Scratch, Verdict, certify, eval};

/// The vectors that the crate was generated with: bits of inputs and outputs.
static VECTORS: &[([u32; INPUTS], [u32; OUTPUTS])] = &include!("../../../generated/embedded_digits_16/vectors.in");
/// All memory that certification takes.
static SCRATCH: Mutex<RefCell<Scratch>> = Mutex::new(RefCell::new(Scratch::new()));
/// What brightnesses are divided by, and how far an image may be from the one that was read.
const SCALE: f32 = 16.0;
const EPS: f32 = 0.01;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    stop(false)
}

fn stop(is_well: bool) -> ! {
    debug::exit(if is_well { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {}
}

#[entry]
fn main() -> ! {
    if !rounds_as_assumed() {
        hprintln!("this processor does not round as float32 arithmetic is assumed to");
        stop(false);
    }
    let Some(x) = read(c"input.csv") else {
        hprintln!("there is no image of {} numbers in input.csv", INPUTS);
        stop(false);
    };
    hprintln!("outputs: {:?}", eval(&x));
    let verdict = cortex_m::interrupt::free(|token| certify(&x, EPS, &mut SCRATCH.borrow(token).borrow_mut()));
    match verdict {
        Verdict::Robust { class, margin } => hprintln!("certified: class {} within {}, by {}", class, EPS, margin),
        Verdict::NotShown { class, margin } => hprintln!("class {}, not certified within {}: {}", class, EPS, margin),
        Verdict::Outside => hprintln!("the image is not one that the network is meant for"),
    }
    let same = |(x, y): &&([u32; INPUTS], [u32; OUTPUTS])| eval(&x.map(f32::from_bits)).map(f32::to_bits) == *y;
    let count = VECTORS.iter().filter(same).count();
    hprintln!("{} of {} vectors have the recorded bits", count, VECTORS.len());
    stop(count == VECTORS.len())
}

/// Whether subnormal numbers count and ties go to even, which everything that is proved assumes.
fn rounds_as_assumed() -> bool {
    let opaque = core::hint::black_box::<f32>;
    let is_gradual = opaque(f32::MIN_POSITIVE) * 0.5 > 0.0 && opaque(f32::from_bits(1)) * 2.0 > 0.0;
    let half = 0.5 * f32::EPSILON;
    is_gradual && opaque(1.0) + half == 1.0 && opaque(1.0 + f32::EPSILON) + half == 1.0 + 2.0 * f32::EPSILON
}

/// An image from a file of the host.
fn read(name: &core::ffi::CStr) -> Option<[f32; INPUTS]> {
    let mut bytes = [0u8; 1024];
    let (file, mode) = (name.to_bytes_with_nul(), 0);
    // SAFETY: these are the host's functions to open a file, to read it and to close it; what they are given lives as long as they
    // run, with its length.
    let length = unsafe {
        let file = syscall!(OPEN, file.as_ptr(), mode, file.len() - 1) as isize;
        if file < 0 {
            return None;
        }
        let left = syscall!(READ, file, bytes.as_mut_ptr(), bytes.len());
        syscall!(CLOSE, file);
        bytes.len().checked_sub(left)?
    };
    let text = core::str::from_utf8(bytes.get(..length)?).ok()?;
    let mut x = [0.0; INPUTS];
    let mut numbers = text.split([',', '\n', ' ']).filter(|word| !word.is_empty());
    for x in &mut x {
        *x = numbers.next()?.trim().parse::<f32>().ok()? / SCALE;
    }
    numbers.next().is_none().then_some(x)
}
