//! The declared arithmetic: evaluation gives the bits of its definition, whatever the instruction set.
//!
//! The instruction set is chosen for a whole program, so this file has one test that changes it.

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::kernel::{Set, best, limit};
use pg_core::{Network, Source};
use pg_tests::{Random, SHIPPED, Verifier, bench_networks, evaluate, shipped};
use std::path::Path;

const INPUTS: usize = 10_000;
/// Inputs that the definition is followed on, which is slow.
const FEW: usize = 20;

/// The definition, word by word: one neuron after the other. Products with a weight of 0 are left out; they could change a zero's sign
/// alone.
fn define(network: &dyn Network, x: &[f32]) -> Vec<f32> {
    let shape = network.shape();
    let mut activations: Vec<Vec<f32>> = Vec::new();
    for (k, stage) in shape.stages.iter().enumerate() {
        let neuron = |j: usize| {
            let mut z = stage.bias[j];
            for edge in stage.edges {
                let h = match edge.from {
                    Source::Input => x,
                    Source::Stage(s) => &activations[s],
                };
                for (i, w) in edge.map.row(j) {
                    let product = w * h[i];
                    z += product;
                }
            }
            if k < shape.last() && z < 0.0 { 0.0 } else { z }
        };
        activations.push((0..stage.width()).map(neuron).collect());
    }
    activations.pop().expect("a network has a stage")
}

/// Bits, of one zero.
fn bits(y: &[f32]) -> Vec<u32> {
    y.iter().map(|y| (y + 0.0).to_bits()).collect()
}

fn all_sets_agree(path: &Path, count: usize) {
    let network = Interpreter::new(compile(path).unwrap());
    let x = Random::new(16).numbers(count * network.inputs());
    limit(Set::Avx512);
    let expected = evaluate(&network, &x);
    for (x, y) in x.chunks(network.inputs()).zip(expected.chunks(network.outputs())).take(FEW) {
        assert_eq!(bits(&define(&network, x)), bits(y), "{}: not as declared", path.display());
        assert_eq!(bits(&evaluate(&network, x)), bits(y), "{}: alone and together", path.display());
    }
    for set in [Set::Avx2, Set::Portable] {
        limit(set);
        assert_eq!(bits(&evaluate(&network, &x)), bits(&expected), "{}: {set:?}", path.display());
    }
}

#[test]
fn every_instruction_set_gives_the_same_bits() {
    if best() == Set::Portable {
        eprintln!("this machine has no instruction set to compare with");
    }
    SHIPPED.iter().for_each(|name| all_sets_agree(&shipped(name), INPUTS));
    bench_networks().iter().for_each(|path| all_sets_agree(path, FEW));
}

#[test]
#[ignore = "evaluates ten thousand inputs on each network of the benchmarks three times: minutes"]
fn every_instruction_set_gives_the_same_bits_on_the_benchmarks() {
    bench_networks().iter().for_each(|path| all_sets_agree(path, INPUTS));
}

/// A crate compiled from the same model gives the interpreter's bits.
#[test]
fn a_generated_crate_gives_the_same_bits() {
    for name in ["digits_conv.onnx", "control.onnx"] {
        let dir = tempfile::tempdir().unwrap();
        let verifier = Verifier::build(&shipped(name), dir.path());
        let network = Interpreter::new(compile(&shipped(name)).unwrap());
        let x = Random::new(17).numbers(1000 * network.inputs());
        assert_eq!(bits(&verifier.eval(&x, network.inputs())), bits(&evaluate(&network, &x)), "{name}");
    }
}
