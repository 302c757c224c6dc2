//! Networks whose weights are constants made from seeds, as generated code has them: a dense one like those of collision
//! avoidance, a lattice of minima and maxima, of which most weights are 0, and a small controller.

use pg_core::kernel::{Layer, Panel, pack, pack_back};
use pg_core::map::Sparse;
use pg_core::{Edge, Shape, Source, Stage};

/// The next number of a sequence, in [−1/4, 1/4), and its state.
const fn next(state: u64) -> (f32, u64) {
    let state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (((state >> 40) as f32 / 16_777_216.0 - 0.5) * 0.5, state)
}

const fn weights<const I: usize, const O: usize>(seed: u64) -> [[f32; I]; O] {
    let (mut rows, mut state, mut o) = ([[0.0; I]; O], seed, 0);
    while o < O {
        let mut i = 0;
        while i < I {
            (rows[o][i], state) = next(state);
            i += 1;
        }
        o += 1;
    }
    rows
}

/// Entries of a row of the lattice's stages, and rows that read the same activations.
const READ: usize = 8;
const GROUP: usize = READ / 2;

const fn starts<const N: usize>() -> [u32; N] {
    let (mut starts, mut n) = ([0; N], 0);
    while n < N {
        starts[n] = (READ * n) as u32;
        n += 1;
    }
    starts
}

const fn columns<const N: usize>() -> [u32; N] {
    let (mut columns, mut n) = ([0; N], 0);
    while n < N {
        columns[n] = (n / READ / GROUP * READ + n % READ) as u32;
        n += 1;
    }
    columns
}

const fn values<const N: usize>(seed: u64) -> [f32; N] {
    let (mut values, mut state, mut n) = ([0.0; N], seed, 0);
    while n < N {
        (values[n], state) = next(state);
        values[n] *= 2.0;
        n += 1;
    }
    values
}

/// A stage with a map of its own: `dense I O panels of O, panels of I` or `sparse I O O + 1 entries`, and a seed.
macro_rules! stage {
    ($name:ident, $from:expr, dense $i:literal $o:literal $p:literal $q:literal, $seed:literal) => {
        pub const $name: Stage = {
            static WEIGHT: [Panel<$i>; $p] = pack::<$i, $o, $p>(&weights::<$i, $o>($seed));
            static BACK: [Panel<$o>; $q] = pack_back::<$i, $o, $q>(&weights::<$i, $o>($seed));
            static MAP: Layer<$i, $o, $p> = Layer::new(&WEIGHT);
            static EDGES: [Edge; 1] = [Edge::dense($from, MAP.map(&BACK))];
            static BIAS: [f32; $o] = [0.05; $o];
            Stage::exact(&EDGES, &BIAS)
        };
    };
    ($name:ident, $from:expr, sparse $i:literal $o:literal $s:literal $n:literal, $seed:literal) => {
        pub const $name: Stage = {
            static STARTS: [u32; $s] = starts();
            static COLUMNS: [u32; $n] = columns();
            static VALUES: [f32; $n] = values($seed);
            static EDGES: [Edge; 1] = [Edge::sparse($from, Sparse::new($i, &STARTS, &COLUMNS, &VALUES))];
            static BIAS: [f32; $o] = [0.05; $o];
            Stage::exact(&EDGES, &BIAS)
        };
    };
}

mod dense {
    use super::*;
    stage!(A, Source::Input, dense 5 50 4 1, 1);
    stage!(B, Source::Stage(0), dense 50 50 4 4, 2);
    stage!(C, Source::Stage(1), dense 50 50 4 4, 3);
    stage!(D, Source::Stage(2), dense 50 50 4 4, 4);
    stage!(E, Source::Stage(3), dense 50 50 4 4, 5);
    stage!(F, Source::Stage(4), dense 50 50 4 4, 6);
    stage!(G, Source::Stage(5), dense 50 5 1 4, 7);
    pub static STAGES: [Stage; 7] = [A, B, C, D, E, F, G];
}

mod lattice {
    use super::*;
    stage!(A, Source::Input, dense 2 512 32 1, 11);
    stage!(B, Source::Stage(0), sparse 512 256 257 2048, 12);
    stage!(C, Source::Stage(1), sparse 256 128 129 1024, 13);
    stage!(D, Source::Stage(2), sparse 128 64 65 512, 14);
    stage!(E, Source::Stage(3), sparse 64 32 33 256, 15);
    stage!(F, Source::Stage(4), dense 32 16 1 2, 16);
    stage!(G, Source::Stage(5), dense 16 1 1 1, 17);
    pub static STAGES: [Stage; 7] = [A, B, C, D, E, F, G];
}

mod controller {
    use super::*;
    stage!(A, Source::Input, dense 4 64 4 1, 21);
    stage!(B, Source::Stage(0), dense 64 64 4 4, 22);
    stage!(C, Source::Stage(1), dense 64 2 1 4, 23);
    pub static STAGES: [Stage; 3] = [A, B, C];
}

pub static DENSE: Shape = Shape { inputs: 5, stages: &dense::STAGES };
pub static LATTICE: Shape = Shape { inputs: 2, stages: &lattice::STAGES };
pub static CONTROLLER: Shape = Shape { inputs: 4, stages: &controller::STAGES };
