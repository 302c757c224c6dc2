//! The generated files: the checked-in specimens, and the page of operators, are what the compiler writes today, byte for byte.

use pg_codegen::compile;
use pg_codegen::embedded::{self, Device, Options};
use pg_codegen::emit::{File, check, emit, write};
use pg_tests::model::{floats, model, node, value};
use pg_tests::{SHIPPED, plan, root, shipped};
use prost::Message;
use std::fs;
use std::process::Command;

/// The specimens of verifiers, by folder and model: chains of dense maps, and one of every kind of map and several edges.
const SPECIMENS: [(&str, &str); 3] =
    [("control", "control.onnx"), ("digits_16", "digits_16.onnx"), ("digits_conv", "digits_conv.onnx")];

/// A specimen that differs is written anew, and the test still fails: look at the difference, then commit it.
#[test]
fn specimens_are_up_to_date() {
    let mut stale = Vec::new();
    for (folder, model) in SPECIMENS {
        let dir = root().join("generated").join(folder);
        renew(folder, &emit(&plan(&shipped(model), &dir)), &mut stale);
    }
    let (model, domain) = (shipped("digits_16.onnx"), Some(shipped("digits_domain.vnnlib")));
    let device = Device::new(compile(&model).unwrap(), &Options { model, domain, ..Options::default() }).unwrap();
    renew("embedded_digits_16", &embedded::files(&device, None).unwrap(), &mut stale);
    assert!(stale.is_empty(), "these were out of date and have been written anew: {stale:?}");
}

fn renew(folder: &str, files: &[File], stale: &mut Vec<String>) {
    let dir = root().join("generated").join(folder);
    let differing = check(&dir, files).unwrap();
    if !differing.is_empty() {
        write(&dir, files, false).unwrap();
        stale.push(format!("{folder}: {differing:?}"));
    }
}

/// The page of operators is what the reader's table says; it is written anew like a specimen.
#[test]
fn the_page_of_operators_is_up_to_date() {
    let path = root().join("docs/operators.md");
    let page = pg_codegen::operators::page();
    let is_current = fs::read_to_string(&path).is_ok_and(|text| text == page);
    if !is_current {
        fs::write(&path, page).unwrap();
    }
    assert!(is_current, "docs/operators.md was out of date and has been written anew");
}

/// A generated crate without its verifier, and all that it rests on, links into a program without std and heap; it evaluates and
/// bounds the network there.
#[test]
fn a_program_without_std_bounds_a_network() {
    let target = root().join("target");
    let manifest = root().join("tests/no_std/Cargo.toml");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--manifest-path"]).arg(manifest).arg("--target-dir").arg(&target);
    assert!(cargo.status().expect("cargo runs").success());
    let status = Command::new(target.join("release/no-std")).status().expect("the program runs");
    assert_eq!(status.code(), Some(0));
}

/// What is not in the network is said: in its data, where it is evaluated and in the README.
#[test]
fn a_cut_ending_is_part_of_the_crate() {
    let dir = tempfile::tempdir().unwrap();
    let nodes = vec![node("MatMul", &["x", "w"], "z"), node("Softmax", &["z"], "y")];
    let model = model(13, value("x", &[1, 2]), vec![floats("w", &[2, 2], &[1.0, 2.0, 3.0, 4.0])], nodes);
    fs::write(dir.path().join("net.onnx"), model.encode_to_vec()).unwrap();
    let files = emit(&plan(&dir.path().join("net.onnx"), &dir.path().join("crate")));
    let text = |path: &str| {
        let file = files.iter().find(|file| file.path == path).unwrap();
        String::from_utf8(file.bytes.clone()).unwrap()
    };
    assert!(text("src/network.rs").contains("ending: Ending::Softmax,"));
    assert!(text("src/network.rs").contains("/// These are scores: the model's last Softmax is cut."));
    assert!(text("README.md").contains("its last Softmax is cut"));
}

#[test]
fn generating_twice_gives_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    for name in SHIPPED {
        assert_eq!(emit(&plan(&shipped(name), dir.path())), emit(&plan(&shipped(name), dir.path())), "{name}");
    }
}

#[test]
fn only_what_changed_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let files = emit(&plan(&shipped("control.onnx"), dir.path()));
    assert_eq!(write(dir.path(), &files, false).unwrap().written, files.len());
    let again = write(dir.path(), &files, false).unwrap();
    assert_eq!((again.written, again.unchanged), (0, files.len()));
    assert!(check(dir.path(), &files).unwrap().is_empty());

    fs::write(dir.path().join("src/network.rs"), "changed").unwrap();
    assert_eq!(check(dir.path(), &files).unwrap(), ["src/network.rs"]);
    assert_eq!(write(dir.path(), &files, false).unwrap().written, 1);
}

#[test]
fn another_model_removes_only_the_files_of_the_first() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &emit(&plan(&shipped("digits_32x3.onnx"), dir.path())), false).unwrap();
    fs::write(dir.path().join("src/mine.rs"), "// mine").unwrap();
    let files = emit(&plan(&shipped("digits_16.onnx"), dir.path()));
    let outcome = write(dir.path(), &files, false).unwrap();
    assert_eq!(outcome.removed, 4, "the weights and biases of layers 3 and 4");
    assert!(dir.path().join("src/mine.rs").exists());
    assert!(check(dir.path(), &files).unwrap().is_empty());
}

#[test]
fn a_folder_that_is_not_ours_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("thesis.tex"), "irreplaceable").unwrap();
    let files = emit(&plan(&shipped("control.onnx"), dir.path()));
    assert!(write(dir.path(), &files, false).unwrap_err().to_string().contains("--force"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    write(dir.path(), &files, true).unwrap();
    assert_eq!(fs::read_to_string(dir.path().join("thesis.tex")).unwrap(), "irreplaceable");
}

/// A manifest that claims to be ours may list anything; only files below the folder are ever removed.
#[test]
fn a_forged_manifest_removes_nothing_outside() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, victim) = (dir.path().join("crate"), dir.path().join("victim"));
    fs::create_dir(&ours).unwrap();
    fs::write(&victim, "precious").unwrap();
    let absolute = victim.display();
    let manifest = format!("[package.metadata.pg-codegen]\nfiles = [\n    \"../victim\",\n    \"{absolute}\",\n]\n");
    fs::write(ours.join("Cargo.toml"), manifest).unwrap();
    write(&ours, &emit(&plan(&shipped("control.onnx"), &ours)), false).unwrap();
    assert!(victim.exists());
}

#[test]
fn the_text_is_free_of_absolute_paths() {
    let absolute = root().canonicalize().unwrap().display().to_string();
    for file in emit(&plan(&shipped("digits_bn.onnx"), &root().join("generated/x"))) {
        let text = String::from_utf8_lossy(&file.bytes).into_owned();
        assert!(!text.contains(&absolute), "{}", file.path);
    }
}
