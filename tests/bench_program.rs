//! `bench_program`: how long it takes to write the linear program of a network over a property's first box, and to hand it to
//! the solver.

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_property::Property;
use pg_runtime::bounds::{Bounder, Relaxation};
use pg_runtime::lp::RelaxedNetwork;
use pg_runtime::options::Penalty;
use pg_runtime::tuning::Tuning;
use std::path::Path;
use std::time::Instant;

const RULES: [Relaxation; 2] = [Relaxation::Adaptive, Relaxation::Parallel];
const REPEATS: usize = 201;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, property] = &arguments[..] else { panic!("bench_program NETWORK PROPERTY") };
    let network = Interpreter::new(compile(Path::new(network)).expect("a network"));
    let property = Property::read(Path::new(property)).expect("a property");
    let shape = network.shape();
    let (lower, upper) = property.disjuncts[0].region.enclosure();
    let ends = (lower.clone(), upper.clone());
    let (_, bounds) = Bounder::new(shape, lower, upper, None, &RULES, false, &|_, _| true).expect("a box is not empty");
    let mut times: Vec<f64> = (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            let relaxed = RelaxedNetwork::new(
                &shape,
                (&ends.0, &ends.1),
                &bounds,
                &[],
                Penalty::Weighted,
                Tuning::default().peregrinn,
            );
            let seconds = start.elapsed().as_secs_f64();
            drop(relaxed);
            seconds
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{:.3} ms in the median, {:.3} ms at least", 1e3 * times[REPEATS / 2], 1e3 * times[0]);
}
