//! The batched kernels, dense ones of constant and of run-time sizes, beside the machine's peak, and what convolutions gain by
//! their entries alone, back and forward, over dense products of the same matrices: `cargo bench -p pg-core`.
//!
//! Peak is what a loop of independent fused multiply-adds in registers reaches, on the widest vectors the machine has.

use pg_core::kernel::sparse::{Columns, Entry};
use pg_core::kernel::{AddRow, Lanes, Layer, Linear, Panel, Panels, Scalar, Simd, Vectorised, ZERO, dispatch, padded};
use pg_core::map::{Conv, Geometry};
use std::hint::black_box;

mod peak;

use peak::best;

struct Batch<'a, const I: usize, const O: usize, const P: usize> {
    layer: &'a Layer<I, O, P>,
    h: &'a [[f32; I]],
    z: &'a mut [[f32; O]],
}

impl<const I: usize, const O: usize, const P: usize> Vectorised for Batch<'_, I, O, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        self.layer.add_batch::<S>(self.h, self.z);
    }
}

const ROWS: usize = 48;
const CALLS: usize = 200;

fn constant<const I: usize, const O: usize, const P: usize>() -> f64 {
    let weight: &'static [Panel<I>; P] = Box::leak(Box::new([[Lanes([0.01; 16]); I]; P]));
    let layer: Layer<I, O, P> = Layer::new(weight);
    let h = vec![[0.5; I]; ROWS];
    let mut z = vec![[0.0; O]; ROWS];
    best((2 * ROWS * I * O * CALLS) as f64, || {
        for _ in 0..CALLS {
            dispatch(Batch { layer: &layer, h: black_box(&h), z: &mut z });
        }
    })
}

fn at_run_time<T: Scalar>(rows: usize, cols: usize) -> f64 {
    let lanes = vec![Lanes([0.01; 16]); rows * cols.div_ceil(16)];
    let matrix = Panels::new(rows, cols, &lanes);
    let a = vec![T::widen(0.5); ROWS * padded(rows)];
    let mut c = vec![T::default(); ROWS * padded(cols)];
    best((2 * ROWS * rows * cols * CALLS) as f64, || {
        for _ in 0..CALLS {
            matrix.add_product(black_box(&a), &mut c);
        }
    })
}

/// A convolution with kernel 4, stride 2 and padding 1 of so many channels of `size` × `size` pixels, which halves the size.
struct Convolution {
    channels: usize,
    size: usize,
    out: usize,
}

impl Convolution {
    fn inputs(&self) -> usize {
        self.channels * self.size * self.size
    }

    fn neurons(&self) -> usize {
        self.out * (self.size / 2).pow(2)
    }

    /// The way back: for each input the neurons that read it.
    fn columns(&self) -> (Vec<usize>, Vec<Entry>) {
        let (half, mut ends, mut entries) = (self.size / 2, vec![], vec![]);
        for input in 0..self.inputs() {
            let (y, x) = (input / self.size % self.size, input % self.size);
            let reads = |to: usize, from: usize| (2 * to..2 * to + 4).contains(&(from + 1));
            for neuron in 0..self.neurons() {
                if reads(neuron / half % half, y) && reads(neuron % half, x) {
                    entries.push(Entry { row: neuron as u32, value: 0.01 });
                }
            }
            ends.push(entries.len());
        }
        (ends, entries)
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            input: [self.channels, self.size, self.size],
            output: [self.out, self.size / 2, self.size / 2],
            kernel: [4, 4],
            stride: [2, 2],
            dilation: [1, 1],
            pad: [1, 1],
            groups: 1,
        }
    }

    /// A pass back through it, as a sparse matrix.
    fn back(&self, rows: usize) -> Gain {
        let (ends, entries) = self.columns();
        let (neurons, inputs) = (self.neurons(), self.inputs());
        let sparse = Columns::new(neurons, &ends, &entries);
        let lanes = vec![Lanes([0.01; 16]); neurons * inputs.div_ceil(16)];
        let dense = Panels::new(neurons, inputs, &lanes);
        let mut room = vec![ZERO; Columns::room(neurons)];
        let a = vec![0.5f32; rows * padded(neurons)];
        let mut c = vec![0.0f32; rows * padded(inputs)];
        let by_entries = seconds(|| sparse.product(black_box(&a), &mut c, true, &mut room));
        let by_all = seconds(|| dense.set_product(black_box(&a), &mut c));
        Gain { operations: 2 * rows * entries.len(), by_entries, by_all }
    }

    /// Its evaluation, by its kernel.
    fn forward(&self, rows: usize) -> Gain {
        let (geometry, neurons, inputs) = (self.geometry(), self.neurons(), self.inputs());
        let kernel = vec![Lanes([0.01; 16]); geometry.lanes()];
        let conv = Conv::new(geometry, &kernel);
        let lanes = vec![Lanes([0.01; 16]); inputs * neurons.div_ceil(16)];
        let dense = Panels::new(inputs, neurons, &lanes);
        let h = vec![0.5f32; rows * padded(inputs)];
        let mut z = vec![0.0f32; rows * padded(neurons)];
        let by_entries = seconds(|| {
            for (h, z) in black_box(&h).chunks(padded(inputs)).zip(z.chunks_mut(padded(neurons))) {
                conv.add_row(&h[..inputs], &mut z[..neurons]);
            }
        });
        let by_all = seconds(|| dense.add_product(black_box(&h), &mut z));
        let entries: usize = (0..neurons).map(|neuron| geometry.window(neuron).count()).sum();
        Gain { operations: 2 * rows * entries, by_entries, by_all }
    }
}

/// What the product with a convolution's matrix takes, in seconds: by its entries that are not 0, and by all.
struct Gain {
    operations: usize,
    by_entries: f64,
    by_all: f64,
}

impl Gain {
    fn print(&self, name: &str, kind: &str) {
        let rate = self.operations as f64 / self.by_entries / 1e9;
        let [by_entries, by_all] = [self.by_entries, self.by_all].map(|seconds| 1e3 * seconds);
        let ratio = by_all / by_entries;
        println!(
            "{name:<30} {by_entries:7.3} ms {kind}, {rate:5.1} GFLOP/s; {by_all:7.3} ms dense: {ratio:5.1} times as long"
        );
    }
}

/// The shortest of several rounds.
fn seconds(round: impl FnMut()) -> f64 {
    1e-9 / best(1.0, round)
}

fn convolutions() {
    let layers = [Convolution { channels: 3, size: 32, out: 8 }, Convolution { channels: 8, size: 16, out: 16 }];
    for rows in [ROWS, 12] {
        for layer in &layers {
            let (inputs, neurons) = (layer.inputs(), layer.neurons());
            layer.back(rows).print(&format!("{rows} rows back {neurons} to {inputs}"), "sparse");
            layer.forward(rows).print(&format!("{rows} rows forward {inputs} to {neurons}"), "convolution");
        }
    }
}

fn main() {
    let rates = [
        ("constant f32 50 x 50", constant::<50, 50, 4>()),
        ("constant f32 256 x 256", constant::<256, 256, 16>()),
        ("constant f32 784 x 256", constant::<784, 256, 16>()),
        ("run-time f32 50 x 50", at_run_time::<f32>(50, 50)),
        ("run-time f32 256 x 256", at_run_time::<f32>(256, 256)),
        ("run-time f64 256 x 256", at_run_time::<f64>(256, 256)),
    ];
    #[cfg(target_arch = "x86_64")]
    let peak = peak::measure();
    #[cfg(not(target_arch = "x86_64"))]
    let peak: Option<(&str, f64)> = None;
    if let Some((name, rate)) = peak {
        println!("peak {name:<17} {rate:7.1} GFLOP/s");
    }
    for (name, rate) in rates {
        let share = peak.map_or(String::new(), |(_, peak)| format!("  {:3.0} % of peak", 100.0 * rate / peak));
        println!("{name:<22} {rate:7.1} GFLOP/s{share}");
    }
    convolutions();
}
