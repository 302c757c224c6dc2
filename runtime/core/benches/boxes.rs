//! The box kernels: boxes a second, the share of the machine's peak, and what constant sizes gain over those that only the run
//! knows: `cargo bench -p pg-core --bench boxes`.

use pg_core::boxes::{LANES, Pass, Places, Room, Task, run_32};
use pg_core::kernel::{Lanes, Layer, Panel, Simd, Vectorised, dispatch, pack, pack_back};
use pg_core::{Edge, Shape, Source, Stage};
use std::hint::black_box;

mod peak;

use peak::best;

const fn weights<const I: usize, const O: usize>(seed: u64) -> [[f32; I]; O] {
    let (mut rows, mut state, mut o) = ([[0.0; I]; O], seed, 0);
    while o < O {
        let mut i = 0;
        while i < I {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            rows[o][i] = ((state >> 40) as f32 / 16_777_216.0 - 0.5) * 0.5;
            i += 1;
        }
        o += 1;
    }
    rows
}

macro_rules! layer {
    ($weight:ident, $back:ident, $map:ident, $edges:ident, $from:expr, $i:literal, $o:literal, $p:literal, $q:literal, $seed:literal) => {
        static $weight: [Panel<$i>; $p] = pack::<$i, $o, $p>(&weights::<$i, $o>($seed));
        static $back: [Panel<$o>; $q] = pack_back::<$i, $o, $q>(&weights::<$i, $o>($seed));
        static $map: Layer<$i, $o, $p> = Layer::new(&$weight);
        static $edges: [Edge; 1] = [Edge::dense($from, $map.map(&$back))];
    };
}

layer!(W1, B1, M1, E1, Source::Input, 5, 50, 4, 1, 1);
layer!(W2, B2, M2, E2, Source::Stage(0), 50, 50, 4, 4, 2);
layer!(W3, B3, M3, E3, Source::Stage(1), 50, 50, 4, 4, 3);
layer!(W4, B4, M4, E4, Source::Stage(2), 50, 50, 4, 4, 4);
layer!(W5, B5, M5, E5, Source::Stage(3), 50, 50, 4, 4, 5);
layer!(W6, B6, M6, E6, Source::Stage(4), 50, 50, 4, 4, 6);
layer!(W7, B7, M7, E7, Source::Stage(5), 50, 5, 1, 4, 7);
static BIAS: [f32; 50] = [0.05; 50];
static LAST: [f32; 5] = [0.0; 5];
static STAGES: [Stage; 7] = [
    Stage::exact(&E1, &BIAS),
    Stage::exact(&E2, &BIAS),
    Stage::exact(&E3, &BIAS),
    Stage::exact(&E4, &BIAS),
    Stage::exact(&E5, &BIAS),
    Stage::exact(&E6, &BIAS),
    Stage::exact(&E7, &LAST),
];
static SHAPE: Shape = Shape { inputs: 5, stages: &STAGES };

/// All stages one after the other, as generated code could have them.
struct Constant<'w, 'r>(&'w mut Room<'r, f32>);

impl Vectorised for Constant<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let mut pass = Pass { shape: &SHAPE, room: self.0 };
        pass.start::<S>();
        pass.stage::<S>(0);
        pass.stage::<S>(1);
        pass.stage::<S>(2);
        pass.stage::<S>(3);
        pass.stage::<S>(4);
        pass.stage::<S>(5);
        pass.stage::<S>(6);
    }
}

const BATCHES: usize = 50;

fn main() {
    let places = Places::of(&SHAPE);
    let (mut lanes, mut indices) = (vec![Lanes([0.0; LANES]); places.lanes], vec![0; places.indices]);
    let mut bits = vec![0; places.bits];
    let mut room = Room::<f32>::new(&SHAPE, &mut lanes, &mut indices, &mut bits, 1e9);
    let (_, peak) = peak::measure().unwrap_or(("", f64::NAN));
    println!("peak {peak:.1} GFLOP/s");
    for half in [0.5, 0.1, 0.02] {
        let mut rate = |name: &str, hidden: &mut dyn FnMut(&mut Room<f32>)| {
            let mut boxes = |room: &mut Room<f32>| {
                for batch in 0..BATCHES {
                    for i in 0..5 {
                        for lane in 0..LANES {
                            room.middle[i].0[lane] = ((batch * 7 + i * 3 + lane * 5) % 11) as f32 / 11.0 - 0.5;
                            room.half[i].0[lane] = half;
                        }
                    }
                    room.known_on.fill(0);
                    room.known_off.fill(0);
                    hidden(room);
                }
            };
            let before = room.work;
            boxes(&mut room);
            let work = (room.work - before) as f64;
            let flops = best(2.0 * 16.0 * work, || boxes(black_box(&mut room)));
            let seconds = 2.0 * 16.0 * work / flops / 1e9;
            let cells = (BATCHES * LANES) as f64 / seconds;
            println!("half width {half:4}, {name:9} {cells:9.0} boxes/s, {:4.1} % of peak", 100.0 * flops / peak);
            cells
        };
        let run = rate("run time", &mut |room| run_32(black_box(&SHAPE), room, Task::Hidden));
        let constant = rate("constant", &mut |room| dispatch(Constant(room)));
        println!("ratio {:.2}", constant / run);
    }
}
