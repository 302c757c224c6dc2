//! Build scripts: `examples/ci` as a user of it meets it, and a crate for a device with everything that its module is made from.
//!
//! Both are copied below the target folder and share it, so that little is compiled but the compiler itself, as a dependency.

use pg_codegen::build::Config;
use pg_codegen::read::onnx::proto::{DataType, EXTERNAL, ModelProto, NodeProto, StringStringEntryProto, TensorProto};
use prost::Message;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// A crate below the target folder, which it shares.
struct Crate(PathBuf);

impl Crate {
    /// An empty one, with the versions of dependencies that the workspace has.
    fn new(name: &str) -> Crate {
        let dir = root().join("target/build-scripts").join(name);
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        fs::copy(root().join("Cargo.lock"), dir.join("Cargo.lock")).unwrap();
        Crate(dir)
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.0.join(path)).unwrap()
    }

    fn cargo(&self, arguments: &[&str]) -> Output {
        let mut cargo = Command::new("cargo");
        cargo.args(arguments).args(["--release", "--target-dir"]).arg(root().join("target")).current_dir(&self.0);
        cargo.output().expect("cargo runs")
    }

    /// Builds the library: whether anything had to be done, and where the build script has its files.
    fn build(&self) -> (bool, PathBuf) {
        let output = self.cargo(&["build", "--message-format=json-render-diagnostics"]);
        assert!(output.status.success(), "{}", stderr(&output));
        let text = String::from_utf8(output.stdout).unwrap();
        let messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let here = |message: &&Value| message["package_id"].as_str().is_some_and(|id| id.contains("build-scripts"));
        let find = |reason: &str| messages.iter().filter(here).rfind(|m| m["reason"] == reason).expect("a message");
        let is_done = find("compiler-artifact")["fresh"] == false;
        (is_done, find("build-script-executed")["out_dir"].as_str().unwrap().into())
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// The example, as a crate of this name.
fn example(name: &str) -> Crate {
    let example = Crate::new(name);
    for folder in ["model", "spec", "src", "tests"] {
        copy(&root().join("examples/ci").join(folder), &example.0.join(folder));
    }
    fs::copy(root().join("examples/ci/build.rs"), example.0.join("build.rs")).unwrap();
    let manifest = fs::read_to_string(root().join("examples/ci/Cargo.toml")).unwrap();
    example.write("Cargo.toml", manifest.replace("../../", &format!("{}/", root().display())));
    example
}

#[test]
fn the_example_builds_verifies_and_follows_its_model() {
    let example = example("followed");
    let mut tree = Command::new("cargo");
    let tree =
        tree.args(["tree", "--edges", "normal,build", "--prefix", "none"]).current_dir(&example.0).output().unwrap();
    assert!(stdout(&tree).contains("pg-codegen "), "{}", stderr(&tree));
    let is_compiler =
        |line: &str| ["pg-runtime ", "highs-sys ", "cmake ", "cc "].iter().any(|name| line.starts_with(name));
    assert!(!stdout(&tree).lines().any(is_compiler), "the library needs C++: {}", stdout(&tree));
    let passed = example.cargo(&["test"]);
    assert!(passed.status.success(), "{}\n{}", stdout(&passed), stderr(&passed));
    assert!(stdout(&passed).contains("no_state_asks_for_more_force_than_the_motor_has ... ok"), "{}", stdout(&passed));

    let (_, out) = example.build();
    assert!(!example.build().0, "nothing was touched");
    let (model, generated) = (example.0.join("model/controller.onnx"), out.join("controller/network.rs"));
    let (bytes, text) = (fs::read(&model).unwrap(), fs::read_to_string(&generated).unwrap());
    let time = fs::metadata(&generated).unwrap().modified().unwrap();
    fs::write(&model, &bytes).unwrap();
    assert!(example.build().0, "the model was touched");
    assert_eq!(fs::metadata(&generated).unwrap().modified().unwrap(), time, "what is the same is not written");
    fs::copy(other_controller(), &model).unwrap();
    assert!(example.build().0, "the model is another");
    assert_ne!(fs::read_to_string(&generated).unwrap(), text);
}

/// The controller with its first weight changed.
fn other_controller() -> PathBuf {
    let mut model = controller();
    model.graph.as_mut().unwrap().initializer[0].raw_data[0] ^= 1;
    let path = root().join("target/build-scripts/other.onnx");
    fs::write(&path, model.encode_to_vec()).unwrap();
    path
}

fn controller() -> ModelProto {
    ModelProto::decode(&fs::read(root().join("examples/ci/model/controller.onnx")).unwrap()[..]).unwrap()
}

#[test]
fn a_wrong_property_fails_with_its_witness_and_a_missing_model_with_its_name() {
    let example = example("wrong");
    let limits = example.read("spec/limits.vnnlib");
    let wrong = limits.replace("(<= Y_0 -0.55)", "(<= Y_0 -0.51)");
    assert_ne!(wrong, limits);
    example.write("spec/limits.vnnlib", wrong);
    let failed = example.cargo(&["test", "--no-fail-fast"]);
    let said = stdout(&failed);
    assert_eq!(failed.status.code(), Some(101), "{said}");
    assert!(said.contains("a_pole_that_leans_is_pushed_back ... ok"), "{said}");
    assert!(said.contains("tests/spec.rs"), "the place is the user's: {said}");
    assert!(said.contains("\nsat: spec/limits.vnnlib does not hold of controller (sha256 ea540b3659c7)"), "{said}");
    let numbers = |name: &str| {
        let (_, after) = said.split_once(&format!("\n{name} = [")).expect("an array");
        let numbers = after.split(']').next().unwrap().split(',');
        numbers.map(|number| number.trim().parse().unwrap()).collect::<Vec<f32>>()
    };
    assert_eq!(numbers("X").len(), 4);
    assert!(numbers("X").iter().all(|x| x.abs() <= 0.5) && numbers("Y")[0] <= -0.51, "{said}");

    fs::remove_file(example.0.join("model/controller.onnx")).unwrap();
    let failed = example.cargo(&["build"]);
    assert_eq!(failed.status.code(), Some(101));
    assert!(stderr(&failed).contains("Error: cannot read model/controller.onnx: "), "{}", stderr(&failed));
}

/// Two modules of a crate without std, `unsafe` and warnings: one with regions, one of a model whose weights lie beside it.
#[test]
fn a_device_has_modules_and_cargo_knows_all_they_were_made_from() {
    let device = Crate::new("device");
    let networks = root().join("tests/networks");
    device.write("Cargo.toml", DEVICE.replace("ROOT", &root().display().to_string()));
    device.write("build.rs", DEVICE_BUILD);
    device.write("src/lib.rs", DEVICE_LIB);
    device.write("model/digits.onnx", fs::read(networks.join("digits_16.onnx")).unwrap());
    device.write("spec/domain.vnnlib", fs::read(networks.join("digits_domain.vnnlib")).unwrap());
    device.write("spec/robust.vnnlib", fs::read(networks.join("digits_16_robust.vnnlib")).unwrap());
    device.write("spec/regions.csv", "robust.vnnlib, robust.pgc\n");
    let mut prove = Command::new(env!("CARGO_BIN_EXE_pg-codegen"));
    prove.args(["verify", "model/digits.onnx", "spec/robust.vnnlib", "--proof", "spec/robust.pgc"]);
    assert_eq!(prove.current_dir(&device.0).output().unwrap().status.code(), Some(0));
    let (model, data) = wide();
    device.write("model/wide.onnx", model.encode_to_vec());
    device.write("model/wide.data", data);

    let (_, out) = device.build();
    let told = fs::read_to_string(out.with_file_name("output")).unwrap();
    let mut told: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("cargo:rerun-if-changed=")).collect();
    told.sort();
    let read = ["model/digits.onnx", "model/wide.data", "model/wide.onnx", "spec/domain.vnnlib"];
    assert_eq!(told, [&read[..], &["spec/regions.csv", "spec/robust.pgc", "spec/robust.vnnlib"]].concat());
    for name in ["evidence.json", "vectors.in", "certify.rs"] {
        assert!(out.join("digits").join(name).is_file(), "{name}");
    }
    assert!(out.join("wide/weights/weight_1.bin").is_file(), "large weights are bytes");
    assert!(!device.build().0, "nothing was touched");
    device.write("model/wide.data", fs::read(device.0.join("model/wide.data")).unwrap());
    assert!(device.build().0, "the weights were touched");
    device.write("spec/robust.pgc", "no certificate");
    let failed = device.cargo(&["build"]);
    assert!(
        stderr(&failed).contains("Error: spec/regions.csv, line 1: spec/robust.pgc: rejected"),
        "{}",
        stderr(&failed)
    );
}

const DEVICE: &str = r#"
[package]
name = "device"
version = "0.1.0"
edition = "2024"

[dependencies]
pg-core = { path = "ROOT/runtime/core", default-features = false }

[build-dependencies]
pg-codegen = { path = "ROOT/codegen", default-features = false }

[workspace]
"#;

const DEVICE_BUILD: &str = r#"
use pg_codegen::build::{Config, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Config::new().embedded(true).domain("spec/domain.vnnlib").regions("spec/regions.csv");
    device.compile("model/digits.onnx")?;
    compile("model/wide.onnx")?;
    Ok(())
}
"#;

const DEVICE_LIB: &str = r#"
//! Two networks.

#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs, warnings)]

mod digits {
    include!(concat!(env!("OUT_DIR"), "/digits.rs"));
}
mod wide {
    include!(concat!(env!("OUT_DIR"), "/wide.rs"));
}

/// Whether an image is in a region, and the first output of a wide map.
pub fn both(image: &[f32; 64], state: &[f32; 4]) -> (bool, f32) {
    (digits::proved(image).is_some(), wide::Network::eval(state)[0])
}
"#;

/// A map of the controller's state to many outputs, with so many weights that they are not written as text, and the file that they
/// are in.
fn wide() -> (ModelProto, Vec<u8>) {
    const OUTPUTS: usize = 1500;
    let mut model = controller();
    let graph = model.graph.as_mut().unwrap();
    let (x, y) = (graph.input[0].name.clone(), graph.output[0].name.clone());
    let inputs = vec![x, "w".to_string()];
    graph.node = vec![NodeProto { op_type: "MatMul".into(), input: inputs, output: vec![y], ..NodeProto::default() }];
    let place = StringStringEntryProto { key: "location".into(), value: "wide.data".into() };
    graph.initializer = vec![TensorProto {
        name: "w".into(),
        dims: vec![4, OUTPUTS as i64],
        data_type: DataType::Float as i32,
        data_location: EXTERNAL,
        external_data: vec![place],
        ..TensorProto::default()
    }];
    graph.output[0].r#type = None;
    (model, (0..4 * OUTPUTS).flat_map(|k| (k as f32 / 1000.0).to_le_bytes()).collect())
}

#[test]
fn outside_of_a_build_script_a_place_is_needed_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (model, other) = (root().join("tests/networks/control.onnx"), root().join("tests/networks/control.nnet"));
    let config = Config::new().out_dir(folder.path());
    assert!(Config::new().compile(&model).unwrap_err().to_string().contains("OUT_DIR is not set"));
    config.compile(&model).unwrap();
    config.compile(&model).unwrap();
    let error = format!("{:?}", config.compile(&other).unwrap_err());
    assert!(error.contains("would both become") && error.contains("name(..)"), "{error}");
    config.clone().name("other").compile(&other).unwrap();
    assert!(folder.path().join("other/network.rs").is_file());
    fs::write(folder.path().join("mine.rs"), "// mine").unwrap();
    let error = config.clone().name("mine").compile(&other).unwrap_err().to_string();
    assert!(error.contains("was not generated by pg-codegen"), "{error}");
    assert_eq!(fs::read_to_string(folder.path().join("mine.rs")).unwrap(), "// mine");
    assert!(config.clone().name("fn").compile(&other).unwrap_err().to_string().contains("'fn'"));
    let error = config.domain("domain.vnnlib").compile(&other).unwrap_err().to_string();
    assert!(error.contains("embedded(true)"), "{error}");
}
