//! The box kernels on three networks: boxes a second, the share of the machine's peak, and what constant sizes gain over those
//! that only the run knows: `cargo bench -p pg-core --bench boxes`.

use networks::{CONTROLLER, DENSE, LATTICE};
use pg_core::Shape;
use pg_core::boxes::{LANES, Pass, Places, Room, Task, run_32};
use pg_core::kernel::{Lanes, Simd, Vectorised, dispatch};
use std::hint::black_box;

mod networks;
mod peak;

use peak::best;

/// All stages of a network one after the other, as generated code could have them.
macro_rules! constant {
    ($name:ident, $shape:ident, $($stage:literal)*) => {
        struct $name<'w, 'r>(&'w mut Room<'r, f32>);

        impl Vectorised for $name<'_, '_> {
            type Output = ();

            #[inline(always)]
            fn run<S: Simd>(self) {
                let mut pass = Pass { shape: &$shape, room: self.0 };
                pass.start::<S>();
                $(pass.stage::<S>($stage);)*
            }
        }
    };
}

constant!(ConstantDense, DENSE, 0 1 2 3 4 5 6);
constant!(ConstantLattice, LATTICE, 0 1 2 3 4 5 6);
constant!(ConstantController, CONTROLLER, 0 1 2);

const BATCHES: usize = 50;

/// As much work may go into bounds of undecided neurons as in a search.
const REFINED: f64 = 16.0;

/// Bounds some batches of boxes of a size.
fn boxes(room: &mut Room<f32>, half: f32, hidden: &mut dyn FnMut(&mut Room<f32>)) {
    for batch in 0..BATCHES {
        for i in 0..room.middle.len() {
            for lane in 0..LANES {
                room.middle[i].0[lane] = ((batch * 7 + i * 3 + lane * 5) % 11) as f32 / 11.0 - 0.5;
                room.half[i].0[lane] = half;
            }
        }
        room.known_on.fill(0);
        room.known_off.fill(0);
        hidden(room);
    }
}

fn measure(name: &str, shape: &Shape, peak: f64, constant: &mut dyn FnMut(&mut Room<f32>)) {
    shape.check();
    let places = Places::of(shape);
    let (mut lanes, mut indices) = (vec![Lanes([0.0; LANES]); places.lanes], vec![0; places.indices]);
    let mut bits = vec![0; places.bits];
    let mut room = Room::<f32>::new(shape, &mut lanes, &mut indices, &mut bits, REFINED);
    for half in [0.5, 0.1, 0.02] {
        let mut rate = |kind: &str, hidden: &mut dyn FnMut(&mut Room<f32>)| {
            let before = room.work;
            boxes(&mut room, half, hidden);
            let operations = 2.0 * LANES as f64 * (room.work - before) as f64;
            let flops = best(operations, || boxes(black_box(&mut room), half, hidden));
            let cells = (BATCHES * LANES) as f64 * flops * 1e9 / operations;
            let share = 100.0 * flops / peak;
            println!("{name:10} half width {half:4}, {kind} {cells:9.0} boxes/s, {share:4.1} % of peak");
            cells
        };
        let run = rate("run time", &mut |room| run_32(black_box(shape), room, Task::Hidden));
        let constant = rate("constant", constant);
        println!("{name:10} half width {half:4}, ratio {:.2}", constant / run);
    }
}

fn main() {
    let (_, peak) = peak::measure().unwrap_or(("", f64::NAN));
    println!("peak {peak:.1} GFLOP/s");
    measure("dense", &DENSE, peak, &mut |room| dispatch(ConstantDense(room)));
    measure("lattice", &LATTICE, peak, &mut |room| dispatch(ConstantLattice(room)));
    measure("controller", &CONTROLLER, peak, &mut |room| dispatch(ConstantController(room)));
}
