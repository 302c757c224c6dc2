//! Forward evaluation against an independent ONNX implementation.

mod tract;

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_codegen::net::Net;
use pg_core::Network;
use pg_tests::{Random, SHIPPED, Verifier, bench_chains, bench_networks, evaluate, relative_difference, shipped};
use std::io::Read;
use std::path::{Path, PathBuf};

const SAMPLES: usize = 1000;
/// For networks that take long, with more inputs or ReLUs than these.
const FEW_SAMPLES: usize = 50;
const MANY_INPUTS: usize = 1000;
const MANY_RELUS: usize = 2000;
const TOLERANCE: f64 = 1e-5;

/// The network's outputs according to tract.
fn tract(path: &Path, x: &[f32]) -> Vec<f32> {
    let mut bytes = std::fs::read(path).unwrap();
    if path.extension().is_some_and(|e| e == "gz") {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_end(&mut plain).unwrap();
        bytes = plain;
    }
    let graph = pg_codegen::read::read(path).unwrap().graph;
    tract::run(&bytes, &graph.values[graph.input].shape, x).unwrap().1
}

fn onnx_networks(bench: Vec<PathBuf>) -> Vec<PathBuf> {
    let shipped = SHIPPED.iter().filter(|name| name.ends_with(".onnx")).map(|name| shipped(name));
    shipped.chain(bench).collect()
}

/// Inputs for a network, one after the other.
fn samples(seed: u64, net: &Net) -> Vec<f32> {
    let is_large = net.inputs > MANY_INPUTS || net.relus() > MANY_RELUS;
    Random::new(seed).numbers(net.inputs * if is_large { FEW_SAMPLES } else { SAMPLES })
}

#[test]
fn the_interpreter_agrees_with_tract() {
    for path in onnx_networks(bench_networks()) {
        let net = compile(&path).unwrap_or_else(|e| panic!("{e}"));
        let x = samples(1, &net);
        let network = Interpreter::new(net);
        let difference = relative_difference(&tract(&path, &x), &evaluate(&network, &x));
        assert!(difference < TOLERANCE, "{}: {difference:e}", path.display());
    }
}

/// The generated crate of each network: built for the shipped ones here, for the benchmarks by the ignored test below.
fn generated_agrees(path: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let verifier = Verifier::build(path, dir.path());
    let net = compile(path).unwrap();
    let x = samples(2, &net);
    let network = Interpreter::new(net);
    let generated = verifier.eval(&x, network.inputs());
    let expected = if path.to_string_lossy().contains(".onnx") { tract(path, &x) } else { evaluate(&network, &x) };
    let difference = relative_difference(&expected, &generated);
    assert!(difference < TOLERANCE, "{}: {difference:e}", path.display());
    eprintln!("{}: within {difference:.1e}", path.display());
}

#[test]
fn a_generated_crate_with_folding_agrees_with_tract() {
    generated_agrees(&shipped("digits_bn.onnx"));
}

#[test]
#[ignore = "builds a crate for each of the benchmarks' fully connected networks, and one of each other kind: minutes"]
fn generated_crates_of_the_benchmarks_agree_with_tract() {
    let mut first_of_folders = bench_networks();
    first_of_folders.dedup_by_key(|path| path.parent().map(Path::to_path_buf));
    let chains: Vec<PathBuf> = bench_chains().into_iter().filter(|path| !first_of_folders.contains(path)).collect();
    first_of_folders.iter().chain(&chains).for_each(|path| generated_agrees(path));
}

/// The same network as NNet text: identity normalisation, so that it must agree with the ONNX file.
fn as_nnet(network: &Net) -> String {
    let widths: Vec<usize> =
        std::iter::once(network.inputs).chain(network.stages.iter().map(|stage| stage.width())).collect();
    let list = |values: &[String]| values.join(",") + ",\n";
    let repeat = |value: &str, count: usize| list(&vec![value.to_string(); count]);
    let (inputs, outputs) = (network.inputs, network.outputs());
    let mut text = format!("// a test\n{},{inputs},{outputs},{},\n", widths.len() - 1, widths.iter().max().unwrap());
    text += &list(&widths.iter().map(usize::to_string).collect::<Vec<_>>());
    text += "0,\n";
    text += &(repeat("-1e9", inputs) + &repeat("1e9", inputs) + &repeat("0", inputs + 1) + &repeat("1", inputs + 1));
    for stage in &network.stages {
        for row in stage.edges[0].map.dense().rows() {
            text += &list(&row.iter().map(|w| format!("{w:e}")).collect::<Vec<_>>());
        }
        for bias in &stage.bias {
            text += &format!("{bias:e},\n");
        }
    }
    text
}

#[test]
fn networks_survive_the_way_through_nnet() {
    let is_chain = |path: &PathBuf| !path.ends_with("digits_conv.onnx");
    for path in onnx_networks(bench_chains()).into_iter().filter(is_chain) {
        let net = compile(&path).unwrap();
        assert!(net.is_chain() && net.parameters() < 1_000_000);
        let file = tempfile::Builder::new().suffix(".nnet").tempfile().unwrap();
        std::fs::write(file.path(), as_nnet(&net)).unwrap();
        let back = compile(file.path()).unwrap();
        assert_eq!(net.stages.len(), back.stages.len());
        for (a, b) in net.stages.iter().zip(&back.stages) {
            let maps = [a, b].map(|stage| stage.edges[0].map.dense());
            assert_eq!((&maps[0], &a.bias), (&maps[1], &b.bias), "{}", path.display());
            assert!(b.error.is_zero());
        }
    }
}

#[test]
fn nnet_normalisation_is_applied() {
    let (onnx, nnet) = (compile(&shipped("control.onnx")).unwrap(), compile(&shipped("control.nnet")).unwrap());
    let text = std::fs::read_to_string(shipped("control.nnet")).unwrap();
    let lines: Vec<Vec<f64>> = text
        .lines()
        .filter(|line| !line.starts_with("//"))
        .take(7)
        .map(|line| line.split(',').filter(|t| !t.is_empty()).map(|t| t.trim().parse().unwrap()).collect())
        .collect();
    let (mean, range) = (&lines[5], &lines[6]);
    let (onnx, nnet) = (Interpreter::new(onnx), Interpreter::new(nnet));
    let mut random = Random::new(3);
    for _ in 0..SAMPLES {
        let normal = random.numbers(4);
        let physical: Vec<f32> =
            normal.iter().enumerate().map(|(i, &v)| (f64::from(v) * range[i] + mean[i]) as f32).collect();
        let expected: Vec<f32> =
            evaluate(&onnx, &normal).iter().map(|&y| (f64::from(y) * range[4] + mean[4]) as f32).collect();
        assert!(relative_difference(&expected, &evaluate(&nnet, &physical)) < TOLERANCE);
    }
}
