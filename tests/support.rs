//! What the tests share: where things are, seeded inputs, and generated verifiers as programs.

pub mod case;
pub mod certify;
pub mod dense;
pub mod draft;
pub mod falls;
pub mod graph;
pub mod judge;
pub mod model;
pub mod oracle;
pub mod program;
pub mod random;
pub mod real;
pub mod values;

use pg_codegen::lower::{Plan, lower};
use pg_codegen::{compile, emit, verifier};
use pg_core::Network;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A network shipped with the repository.
pub fn shipped(name: &str) -> PathBuf {
    root().join("tests/networks").join(name)
}

pub const SHIPPED: [&str; 6] =
    ["digits_16.onnx", "digits_32x3.onnx", "digits_bn.onnx", "digits_conv.onnx", "control.onnx", "control.nnet"];

/// The public benchmarks, which may lie beside the repository; `None`, said aloud, if they do not.
pub fn bench() -> Option<PathBuf> {
    let path = root().join("../shared/bench");
    if !path.is_dir() {
        eprintln!("skipped: there are no benchmarks at ../shared/bench beside the repository");
        return None;
    }
    Some(path)
}

/// The benchmarks whose networks are chains of dense layers.
const CHAINS: [&str; 4] = ["acasxu/onnx", "mnist_fc/onnx", "rl_benchmarks/onnx", "test"];
/// Those with convolutions, residual sums, maxima and other operators.
const GRAPHS: [&str; 9] = [
    "cersyve/onnx",
    "collins_rul_cnn/onnx",
    "lindex/onnx",
    "linearizenn/onnx",
    "oval21/onnx",
    "reach_prob_density/onnx",
    "sat_relu/onnx",
    "sri_resnet_a/onnx",
    "tllverifybench/onnx",
];

/// The networks of the benchmarks.
pub fn bench_networks() -> Vec<PathBuf> {
    networks_in(&[&CHAINS[..], &GRAPHS].concat())
}

/// The fully connected ones, of at most a million weights each.
pub fn bench_chains() -> Vec<PathBuf> {
    networks_in(&CHAINS)
}

fn networks_in(folders: &[&str]) -> Vec<PathBuf> {
    let Some(bench) = bench() else { return vec![] };
    let mut paths: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(bench.join(folder)).into_iter().flatten())
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.to_string_lossy().contains(".onnx"))
        .collect();
    paths.sort();
    paths
}

/// Seeded numbers (xorshift64*), the same on every machine.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Uniform in [−1, 1).
    pub fn number(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    /// Uniform in 0, …, count − 1.
    pub fn below(&mut self, count: usize) -> usize {
        (self.bits() >> 33) as usize % count
    }

    pub fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }

    pub fn numbers(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.number()).collect()
    }
}

/// The plan for a model whose crate goes to `dir`.
pub fn plan(model: &Path, dir: &Path) -> Plan {
    let runtime = verifier::runtime_path(Path::new(verifier::RUNTIME), dir).expect("the runtime is in the repository");
    lower(compile(model).expect("a model"), None, runtime).expect("a plan")
}

/// A verifier, generated into `dir` and built in the shared cache.
pub struct Verifier {
    pub binary: PathBuf,
}

impl Verifier {
    pub fn build(model: &Path, dir: &Path) -> Verifier {
        let plan = plan(model, dir);
        emit::write(dir, &emit::emit(&plan), false).expect("files are written");
        Verifier { binary: verifier::build(dir, &plan, &verifier::Cargo::ALOUD).expect("the crate builds") }
    }

    /// The outputs for inputs of the given length, through a file and the program.
    pub fn eval(&self, x: &[f32], inputs: usize) -> Vec<f32> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let line = |row: &[f32]| row.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(",") + "\n";
        std::fs::write(file.path(), x.chunks(inputs).map(line).collect::<String>()).expect("written");
        let output = Command::new(&self.binary).arg("eval").arg(file.path()).output().expect("it runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = String::from_utf8(output.stdout).expect("text");
        text.split([',', '\n']).filter(|t| !t.is_empty()).map(|t| t.parse().expect("a number")).collect()
    }
}

/// The network's outputs for inputs that stand one after the other in `x`.
pub fn evaluate(network: &dyn Network, x: &[f32]) -> Vec<f32> {
    let mut y = vec![0.0; x.len() / network.inputs() * network.outputs()];
    network.forward(x, &mut y);
    y
}

/// The largest difference between two lists, relative to the largest magnitude in the first.
pub fn relative_difference(a: &[f32], b: &[f32]) -> f64 {
    assert_eq!(a.len(), b.len());
    assert!(a.iter().chain(b).all(|v| v.is_finite()), "not finite");
    let scale = a.iter().fold(0.0f64, |m, &v| m.max(f64::from(v).abs()));
    let largest = a.iter().zip(b).fold(0.0f64, |m, (&a, &b)| m.max((f64::from(a) - f64::from(b)).abs()));
    if largest == 0.0 { 0.0 } else { largest / scale }
}
