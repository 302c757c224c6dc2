//! Linked programs: no panic is reachable, sizes are within what small devices have, and an emulated device gives the host's bits.

use pg_codegen::embedded::{Device, Options, files, has_target, link, measure, vectors};
use pg_codegen::emit;
use pg_tests::{root, shipped};
use std::fs;
use std::path::Path;
use std::process::Command;

const CORTEX_M4F: &str = "thumbv7em-none-eabihf";
const RISC_V: &str = "riscv32imac-unknown-none-elf";
/// Vectors that the emulated device replays.
const VECTORS: usize = 1000;

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_string()
}

fn device(name: &str) -> Device {
    let options = Options { model: shipped(name), domain: Some(shipped("digits_domain.vnnlib")), ..Options::default() };
    Device::new(pg_codegen::compile(&shipped(name)).unwrap(), &options).unwrap()
}

/// This machine, and the targets that the toolchain has.
fn targets() -> Vec<String> {
    let mut targets = vec![host()];
    for target in [CORTEX_M4F, RISC_V] {
        match has_target(target) {
            true => targets.push(target.into()),
            false => eprintln!("skipped: the toolchain has no {target} (rustup target add {target})"),
        }
    }
    targets
}

#[test]
fn every_target_links_without_a_panic_and_within_the_sizes_of_small_devices() {
    for target in targets() {
        let measured = measure(&device("digits_16.onnx"), Some(&target)).unwrap();
        assert!(measured.code < 8 << 10, "{measured:?}");
        assert!(measured.stack() < 2 << 10, "{measured:?}");
        assert!(measured.stacks.iter().any(|(name, bytes)| name == "pg_certify" && *bytes > 0), "{measured:?}");
        // Beside the scratch, whose size the evidence tells, a bare program has no memory.
        if target != host() {
            assert_eq!(measured.memory, 4 * (3 * 64 + 7 * 16 + 4 * 10 + 1), "{measured:?}");
        }
        measure(&device("digits_conv.onnx"), Some(&target)).unwrap();
    }
}

/// The negative control: one index that nothing is known of, and the linker refuses.
#[test]
fn a_reachable_panic_is_an_error_of_the_linker() {
    let (folder, device) = (tempfile::tempdir().unwrap(), device("digits_16.onnx"));
    let network = folder.path().join("network");
    emit::write(&network, &files(&device, None).unwrap(), false).unwrap();
    let source = network.join("src/network.rs");
    let text = fs::read_to_string(&source).unwrap();
    let unproved =
        text.replace("let mut h1 = BIAS_1;", "let mut h1 = BIAS_1;\n    h1[0] += BIAS_1[core::hint::black_box(3)];");
    assert_ne!(text, unproved);
    fs::write(&source, unproved).unwrap();
    let error = link(&network, &device, &host(), folder.path()).unwrap_err().to_string();
    assert!(error.contains("a panic can be reached"), "{error}");
    fs::write(&source, text).unwrap();
    link(&network, &device, &host(), folder.path()).unwrap();
}

/// The example's firmware, with as many vectors, in an emulator.
#[test]
fn an_emulated_device_gives_the_bits_of_the_host() {
    let emulator = Command::new("qemu-system-arm").arg("--version").output();
    if !has_target(CORTEX_M4F) || emulator.is_err() {
        eprintln!("skipped: this needs the target {CORTEX_M4F} and qemu-system-arm");
        return;
    }
    for name in ["digits_16.onnx", "digits_conv.onnx"] {
        let (folder, device) = (tempfile::tempdir().unwrap(), device(name));
        let network = folder.path().join("network");
        emit::write(&network, &files(&device, None).unwrap(), false).unwrap();
        fs::write(network.join("vectors.in"), vectors(&device, VECTORS)).unwrap();
        let firmware = folder.path().join("firmware");
        copy(&root().join("examples/embedded"), &firmware);
        let manifest = fs::read_to_string(firmware.join("Cargo.toml")).unwrap();
        let manifest = manifest.replace("../../generated/embedded_digits_16", "../network");
        fs::write(
            firmware.join("Cargo.toml"),
            manifest.replace("package = \"embedded_digits_16\"", &format!("package = {:?}", device.name)),
        )
        .unwrap();
        let main = fs::read_to_string(firmware.join("src/main.rs")).unwrap();
        fs::write(firmware.join("src/main.rs"), main.replace("../../../generated/embedded_digits_16", "../../network"))
            .unwrap();
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--quiet"]).current_dir(&firmware);
        assert!(cargo.env("CARGO_TARGET_DIR", root().join("target/firmware")).status().unwrap().success());
        let mut emulator = Command::new("qemu-system-arm");
        emulator.args([
            "-cpu",
            "cortex-m4",
            "-machine",
            "mps2-an386",
            "-nographic",
            "-semihosting-config",
            "enable=on,target=native",
        ]);
        emulator.arg("-kernel").arg(root().join("target/firmware").join(CORTEX_M4F).join("release/firmware"));
        let output = emulator.current_dir(root().join("examples/embedded")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}");
        assert!(text.contains(&format!("{VECTORS} of {VECTORS} vectors have the recorded bits")), "{text}");
        assert!(text.contains("certified: class 3"), "{text}");
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap).filter(|entry| entry.file_name() != "target") {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
