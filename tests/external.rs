//! Weights in files beside the model.

use pg_codegen::compile;
use pg_codegen::net::Net;
use pg_codegen::read::onnx::proto::*;
use pg_property::files::sha256;
use pg_tests::model::{elsewhere, floats, model, node, tensor, value, with};
use prost::Message;
use std::fs;
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

/// y = w·relu(u + x) + b for two inputs.
fn network(initialisers: Vec<TensorProto>) -> ModelProto {
    let nodes = vec![
        node("Add", &["x", "u"], "s"),
        node("Relu", &["s"], "h"),
        node("MatMul", &["h", "w"], "m"),
        node("Add", &["m", "b"], "y"),
    ];
    model(13, value("x", &[1, 2]), initialisers, nodes)
}

const NUMBERS: [f32; 6] = [0.5, -0.25, 1.0, 2.0, 3.0, 4.0];

fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// `u`, `w` and `b` one after the other in one file; the last goes without a length.
fn usual(file: &str) -> Vec<TensorProto> {
    vec![
        elsewhere("u", &[2], file, &[("offset", "0"), ("length", "8"), ("checksum", "unread")]),
        elsewhere("w", &[2, 1], file, &[("offset", "8"), ("length", "8")]),
        elsewhere("b", &[1], file, &[("offset", "16")]),
    ]
}

/// A folder with the model `net.onnx` and one other file.
fn folder(model: &ModelProto, file: &str, content: &[u8]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("net.onnx"), model.encode_to_vec()).unwrap();
    fs::write(dir.path().join(file), content).unwrap();
    dir
}

fn read(dir: &TempDir) -> Net {
    compile(&dir.path().join("net.onnx")).unwrap()
}

/// What is wrong with a model that has its tensors in `net.onnx.data`, a file of six numbers.
fn error(initialisers: Vec<TensorProto>) -> String {
    let dir = folder(&network(initialisers), "net.onnx.data", &bytes(&NUMBERS));
    compile(&dir.path().join("net.onnx")).expect_err("a broken model").to_string()
}

fn same_numbers(a: &Net, b: &Net) {
    assert_eq!(a.to_string(), b.to_string());
}

fn inside() -> Net {
    let n = &NUMBERS;
    let initialisers = vec![floats("u", &[2], &n[..2]), floats("w", &[2, 1], &n[2..4]), floats("b", &[1], &n[4..5])];
    pg_tests::model::compile(&network(initialisers)).unwrap()
}

#[test]
fn weights_beside_the_model_are_its_weights() {
    let model = network(usual("net.onnx.data"));
    let data = bytes(&NUMBERS);
    let plain = read(&folder(&model, "net.onnx.data", &data));
    same_numbers(&plain, &inside());
    assert_eq!(plain.source.files, ["net.onnx", "net.onnx.data"]);
    assert_eq!(plain.source.sha256, sha256(&[model.encode_to_vec(), data.clone()].concat()));

    let dir = folder(&model, "net.onnx.data.gz", &packed(&data));
    let zipped = read(&dir);
    same_numbers(&zipped, &inside());
    assert_eq!(zipped.source.files, ["net.onnx", "net.onnx.data.gz"]);
    assert_eq!(zipped.source.sha256, plain.source.sha256);

    fs::write(dir.path().join("net.onnx.gz"), packed(&model.encode_to_vec())).unwrap();
    let both = compile(&dir.path().join("net.onnx.gz")).unwrap();
    assert_eq!((both.source.stem.as_str(), both.source.sha256), ("net", plain.source.sha256));
    assert_eq!(both.source.files, ["net.onnx.gz", "net.onnx.data.gz"]);
}

#[test]
fn a_path_without_a_folder_is_in_this_one() {
    let dir = folder(&network(usual("net.onnx.data")), "net.onnx.data", &bytes(&NUMBERS));
    let here = std::env::current_dir().unwrap();
    std::env::set_current_dir(dir.path()).unwrap();
    let net = compile(Path::new("net.onnx"));
    std::env::set_current_dir(here).unwrap();
    same_numbers(&net.unwrap(), &inside());
}

/// Whatever a file holds is part of the model's identity, also what no tensor reads.
#[test]
fn files_are_hashed_whole_once_and_in_the_order_of_their_names() {
    let model = network(vec![
        elsewhere("u", &[2], "b.bin", &[]),
        elsewhere("w", &[2, 1], "folder/a.bin", &[("offset", "4")]),
        elsewhere("b", &[1], "./b.bin", &[("offset", "8")]),
    ]);
    let dir = folder(&model, "b.bin", &bytes(&[0.5, -0.25, 3.0, 77.0]));
    fs::create_dir(dir.path().join("folder")).unwrap();
    fs::write(dir.path().join("folder/a.bin"), bytes(&[99.0, 1.0, 2.0])).unwrap();
    let net = read(&dir);
    same_numbers(&net, &inside());
    assert_eq!(net.source.files, ["net.onnx", "b.bin", "folder/a.bin"]);
    let all = bytes(&[0.5, -0.25, 3.0, 77.0, 99.0, 1.0, 2.0]);
    assert_eq!(net.source.sha256, sha256(&[model.encode_to_vec(), all].concat()));
}

#[test]
fn tied_weights_share_their_data() {
    let same = [("offset", "8"), ("length", "8")];
    let model = network(vec![
        elsewhere("u", &[2], "w", &same),
        elsewhere("w", &[2, 1], "w", &same),
        elsewhere("b", &[1], "w", &[("offset", "0"), ("length", "4")]),
    ]);
    let net = read(&folder(&model, "w", &bytes(&NUMBERS)));
    assert_eq!(net.stages[0].bias.to_vec(), [1.0, 2.0]);
    assert_eq!(net.stages[1].edges[0].map.dense().iter().copied().collect::<Vec<_>>(), [1.0, 2.0]);
    assert_eq!(net.stages[1].bias.to_vec(), [0.5]);
}

#[test]
fn the_tensor_of_a_constant_may_lie_there_too() {
    let mut model = network(vec![floats("u", &[2], &[0.0, 0.0]), floats("b", &[1], &[0.0])]);
    let value = tensor("value", elsewhere("", &[2, 1], "w", &[]));
    model.graph.as_mut().unwrap().node.insert(0, with("Constant", &[], "w", vec![value]));
    let net = read(&folder(&model, "w", &bytes(&NUMBERS)));
    assert_eq!(net.stages[1].edges[0].map.dense().iter().copied().collect::<Vec<_>>(), [0.5, -0.25]);
    let dir = folder(&model, "other", &[]);
    let text = compile(&dir.path().join("net.onnx")).unwrap_err().to_string();
    assert!(
        text.contains("the constant of node 'Constant to w': its data lies in 'w', which cannot be read"),
        "{text}"
    );
}

/// One change to the description of `w`, and what is said about it.
#[test]
fn what_is_wrong_is_said_of_the_initialiser() {
    let cases: [(TensorProto, &str); 16] = [
        (elsewhere("w", &[2, 1], "missing", &[]), "'missing', which cannot be read"),
        (elsewhere("w", &[2, 1], "", &[]), "without a name"),
        (elsewhere("w", &[2, 1], "/etc/passwd", &[]), "'/etc/passwd', which may be outside"),
        (elsewhere("w", &[2, 1], "../net.onnx.data", &[]), "'../net.onnx.data', which may be outside"),
        (elsewhere("w", &[2, 1], "a/../../x", &[]), "outside"),
        (elsewhere("w", &[2, 1], "C:\\x", &[]), "outside"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", "20")]), "ends at byte 24, and its data at byte 28"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", "-8")]), "'-8', no number"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", "18446744073709551615")]), "beyond any file"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("length", "4")]), "has 4 bytes, but its shape [2, 1] needs 8"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", "8"), ("offset", "16")]), "given twice"),
        (elsewhere("w", &[1 << 40], "net.onnx.data", &[]), "more than 1073741824 bytes"),
        (elsewhere("w", &[1 << 40, 1 << 40], "net.onnx.data", &[]), "beyond any file"),
        (elsewhere("w", &[-2, 1], "net.onnx.data", &[]), "negative"),
        (elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", "2000000000")]), "ends at byte 24"),
        (
            TensorProto { data_type: DataType::String as i32, ..elsewhere("w", &[2, 1], "net.onnx.data", &[]) },
            "element type String is not supported",
        ),
    ];
    for (w, expected) in cases {
        let text = error(vec![floats("u", &[2], &[0.0, 0.0]), w, floats("b", &[1], &[0.0])]);
        assert!(text.contains("initialiser 'w': ") && text.contains(expected), "{text}");
    }
}

#[test]
fn overlapping_data_is_refused() {
    for (start, end) in [("0", "8"), ("4", "12")] {
        let mut initialisers = usual("net.onnx.data");
        let length = (end.parse::<i64>().unwrap() - start.parse::<i64>().unwrap()).to_string();
        initialisers[1] = elsewhere("w", &[2, 1], "net.onnx.data", &[("offset", start), ("length", &length)]);
        initialisers[0] = elsewhere("u", &[3], "net.onnx.data", &[]);
        let text = error(initialisers);
        assert!(text.contains("'u'") && text.contains("'w'") && text.contains("overlap"), "{text}");
    }
}

/// A million tensors that share one megabyte would take a terabyte: what counts is what they take in memory.
#[test]
fn shared_data_counts_for_each_that_shares_it() {
    let shared = |k: usize| elsewhere(&format!("t{k}"), &[1 << 18], "net.onnx.data", &[]);
    let text = error((0..2000).map(shared).collect());
    assert!(text.contains("initialiser 't1024': the tensors in other files take more than"), "{text}");
}

/// A file of a terabyte that takes no room on the disk is not walked through.
#[test]
fn a_file_beyond_reason_is_refused_at_once() {
    let dir = folder(&network(usual("w")), "w", &[]);
    fs::OpenOptions::new().write(true).open(dir.path().join("w")).unwrap().set_len(1 << 40).unwrap();
    let text = compile(&dir.path().join("net.onnx")).unwrap_err().to_string();
    assert!(text.contains("initialiser 'u'") && text.contains("more than 1073741824 bytes"), "{text}");
}

#[test]
fn bytes_alone_have_nothing_beside_them() {
    let text = pg_tests::model::compile(&network(usual("w"))).unwrap_err().to_string();
    assert!(text.contains("initialiser 'u': its data lies in 'w', and the model was not read from a folder"), "{text}");
}
