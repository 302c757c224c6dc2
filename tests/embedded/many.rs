//! Many small networks as modules of one program, each as an embedded crate has it: what is generated is what is tested, and
//! cargo runs once.

use pg_codegen::embedded::{Device, Options, files};
use pg_codegen::net::Net;
use pg_tests::root;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a device is asked.
pub struct Query {
    pub network: usize,
    pub x: Vec<f32>,
    pub eps: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Said {
    Robust { class: usize, margin: f32 },
    NotShown,
    Outside,
}

/// A program that answers for all networks. Programs that are built at the same time need names of their own.
pub struct Program(PathBuf);

impl Program {
    pub fn build(name: &str, folder: &Path, nets: &[Net]) -> Program {
        let (mut modules, mut arms) = (String::new(), String::new());
        for (n, net) in nets.iter().enumerate() {
            write(folder, n, net);
            modules += &format!("mod n{n};\n");
            arms += &format!("        {n} => answer!(n{n}),\n");
        }
        let main = include_str!("many.in").replace("// MODULES", &modules).replace("// NETWORKS", &arms);
        fs::write(folder.join("src/main.rs"), main).unwrap();
        let manifest = format!("[package]\nname = {name:?}\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n");
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--quiet"]).current_dir(folder);
        let built = cargo.env("CARGO_TARGET_DIR", root().join("target/embedded-many")).status().unwrap();
        assert!(built.success());
        let program = folder.join(name);
        fs::copy(root().join("target/embedded-many/release").join(name), &program).unwrap();
        Program(program)
    }

    pub fn ask(&self, queries: &[Query]) -> Vec<Said> {
        let mut text = String::new();
        for Query { network, x, eps } in queries {
            let bits: Vec<String> = x.iter().chain([eps]).map(|v| v.to_bits().to_string()).collect();
            text += &format!("{network} {}\n", bits.join(" "));
        }
        let mut child = Command::new(&self.0).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let writer = std::thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.status.success());
        let said = |line: &str| match line.split(' ').collect::<Vec<_>>()[..] {
            ["robust", class, margin] => {
                Said::Robust { class: class.parse().unwrap(), margin: f32::from_bits(margin.parse().unwrap()) }
            }
            ["open"] => Said::NotShown,
            ["outside"] => Said::Outside,
            _ => panic!("{line}"),
        };
        String::from_utf8(output.stdout).unwrap().lines().map(said).collect()
    }
}

/// The files of a network as a module.
fn write(folder: &Path, n: usize, net: &Net) {
    let device = Device::new(net.clone(), &Options::default()).unwrap();
    for file in files(&device, None).unwrap() {
        let Some(path) = file.path.strip_prefix("src/") else { continue };
        let path = folder.join(format!("src/n{n}")).join(if path == "lib.rs" { "mod.rs" } else { path });
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = String::from_utf8(file.bytes).unwrap();
        let inner = |line: &&str| !line.starts_with("#![");
        fs::write(path, text.lines().filter(inner).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    }
}
