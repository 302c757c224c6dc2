//! Models meant to break something: the program says what is wrong with which part, exits with 4 and takes little memory.

use pg_codegen::read::onnx::proto::{DataType, EXTERNAL, GraphProto, ModelProto, StringStringEntryProto, TensorProto};
use prost::Message;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The controller with one change, in a folder with a file `data` of 64 bytes.
fn hostile(dir: &Path, change: impl FnOnce(&mut GraphProto)) -> String {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/networks/control.onnx");
    let mut model = ModelProto::decode(&fs::read(shipped).unwrap()[..]).unwrap();
    change(model.graph.as_mut().unwrap());
    fs::write(dir.join("data"), [0; 64]).unwrap();
    let path = dir.join("net.onnx");
    fs::write(&path, model.encode_to_vec()).unwrap();
    path.display().to_string()
}

type Entries<'a> = &'a [(&'a str, &'a str)];

/// A tensor of floats in the file beside the model.
fn external(name: &str, dims: &[i64], entries: Entries) -> TensorProto {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto { key: key.into(), value: value.into() };
    TensorProto {
        name: name.into(),
        dims: dims.to_vec(),
        data_type: DataType::Float as i32,
        data_location: EXTERNAL,
        external_data: entries.iter().map(entry).collect(),
        ..Default::default()
    }
}

/// Within half a gigabyte of address space, the program, its libraries and threads included.
fn refused(dir: &Path, expected: &[&str], change: impl FnOnce(&mut GraphProto)) {
    let net = hostile(dir, change);
    let program = env!("CARGO_BIN_EXE_pg-codegen");
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 524288; exec \"$0\" inspect \"$1\"", program, &net])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout), (Some(4), vec![]), "{text}");
    assert!(expected.iter().all(|part| text.contains(part)), "{expected:?}: {text}");
}

#[test]
fn data_in_other_files() {
    let dir = tempfile::tempdir().unwrap();
    let cases: [(&[i64], Entries, &str); 7] = [
        (&[4, 7], &[("location", "../secret")], "'../secret', which may be outside of the model's folder"),
        (&[4, 7], &[("location", "/etc/passwd")], "'/etc/passwd', which may be outside of the model's folder"),
        (&[4, 7], &[("location", "data")], "'data' ends at byte 64, and its data at byte 112"),
        (&[4, 7], &[("location", "data"), ("offset", "18446744073709551600")], "beyond any file"),
        (&[1 << 40], &[("location", "data")], "take more than"),
        (&[1 << 40, 1 << 40], &[("location", "data")], "beyond any file"),
        (&[4], &[("location", "data"), ("length", "17")], "has 17 bytes, but its shape [4] needs 16"),
    ];
    for (dims, entries, expected) in cases {
        refused(dir.path(), &["net.onnx: initialiser 'bad': ", expected], |graph| {
            graph.initializer.push(external("bad", dims, entries));
        });
    }
    refused(dir.path(), &["'one' and initialiser 'two': their data in 'data' overlaps"], |graph| {
        graph.initializer.push(external("one", &[4], &[("location", "data")]));
        graph.initializer.push(external("two", &[4], &[("location", "./data"), ("offset", "12")]));
    });
}

#[test]
fn sizes_and_graphs() {
    let dir = tempfile::tempdir().unwrap();
    refused(dir.path(), &["initialiser '", "does not fit its"], |graph| {
        graph.initializer[0].dims = vec![1 << 40, 1 << 40];
    });
    refused(dir.path(), &["more than"], |graph| {
        let shape = graph.input[0].r#type.as_mut().unwrap().tensor_type.as_mut().unwrap().shape.as_mut().unwrap();
        shape.dim[1].dim_value = Some(1 << 40);
    });
    refused(dir.path(), &["the graph has a cycle through '"], |graph| {
        let last = graph.node.last().unwrap().output[0].clone();
        graph.node[0].input[0] = last;
    });
}
