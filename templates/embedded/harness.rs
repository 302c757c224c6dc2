//! Links the crate so that a panic that can be reached is an error of the linker, and so that its stack and sizes can be read.

#![no_std]
#![no_main]

use core::cell::UnsafeCell;
use core::hint::black_box;
use core::panic::PanicInfo;
use {{crate}}::*;

unsafe extern "C" {
    /// Is nowhere defined: what is linked cannot call it.
    fn a_panic_is_reachable() -> !;
}

#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    unsafe { a_panic_is_reachable() }
}

/// The memory of certification, as a program would have it.
struct Memory(UnsafeCell<Scratch>);
unsafe impl Sync for Memory {}
static MEMORY: Memory = Memory(UnsafeCell::new(Scratch::new()));

#[inline(never)]
#[unsafe(no_mangle)]
pub extern "C" fn pg_eval(x: &[f32; INPUTS], y: &mut [f32; OUTPUTS]) {
    *y = eval(x);
}
{{calls}}
/// Is given everything, so that nothing is known of the inputs.
#[unsafe(no_mangle)]
pub extern "C" fn {{start}}(x: &[f32; INPUTS], eps: f32, y: &mut [f32; OUTPUTS]) {
    pg_eval(black_box(x), y);
    {{uses}}
}
{{host}}
