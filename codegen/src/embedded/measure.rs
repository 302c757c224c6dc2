//! What the compiler makes of an embedded crate: it is linked alone, for a target, and the program is read.
//!
//! The harness around it has a panic handler that calls a function which is nowhere defined. If the program links, no panic can be
//! reached in it: what could be is an undefined symbol. The crate has no recursion and no function pointers, so the stack of all
//! functions together bounds that of any call.

use super::elf::{Elf, Symbol};
use super::{Device, files};
use crate::emit::{self, fill};
use crate::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// What is measured for unless another target is named, if the toolchain has it; else this machine.
const USUAL: &str = "thumbv7em-none-eabihf";
/// What C libraries and allocators are known by.
const FOREIGN: [&str; 8] = ["malloc", "calloc", "free", "__rust_alloc", "__rdl_alloc", "abort", "printf", "exit"];

/// The figures of a linked program, in bytes.
#[derive(Debug, PartialEq)]
pub struct Measured {
    pub target: String,
    pub compiler: String,
    pub code: usize,
    pub constants: usize,
    /// Static memory, the scratch among it.
    pub memory: usize,
    /// Each function of the program and its stack, as the compiler emitted it.
    pub stacks: Vec<(String, usize)>,
    /// Functions that came compiled with the toolchain, whose stack nothing tells: of moving memory, and of arithmetic that the
    /// target has no instruction for.
    pub untold: Vec<String>,
}

impl Measured {
    pub fn flash(&self) -> usize {
        self.code + self.constants
    }

    /// Of all functions together, which no call exceeds.
    pub fn stack(&self) -> usize {
        self.stacks.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Compiles and links the crate for a target and reads the program.
pub fn measure(device: &Device, target: Option<&str>) -> Result<Measured, Error> {
    let (compiler, host) = compiler()?;
    let target = match target {
        Some(target) => target.to_string(),
        None if has_target(USUAL) => USUAL.into(),
        None => host.clone(),
    };
    let folder = std::env::temp_dir().join(format!("pg-embedded-{}-{}", std::process::id(), device.name));
    let network = folder.join("network");
    let written = files(device, None).and_then(|files| emit::write(&network, &files, false));
    let program = written.and_then(|_| link(&network, device, &target, &folder));
    // What is left in a temporary folder is no reason to fail.
    let _ = fs::remove_dir_all(&folder);
    read(&program?, target, compiler)
}

/// The compiler's version, and the machine that it runs on.
fn compiler() -> Result<(String, String), Error> {
    let output =
        Command::new("rustc").arg("-vV").output().map_err(|e| Error::Build(format!("cannot run rustc: {e}")))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    let host = host.ok_or_else(|| Error::Build("rustc does not tell its host".into()))?;
    Ok((text.lines().next().unwrap_or_default().to_string(), host.to_string()))
}

/// Whether the toolchain has the core library of a target.
pub fn has_target(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", target]).output();
    let folder = output.ok().filter(|output| output.status.success());
    let folder = folder.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_string());
    folder.is_some_and(|folder| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()))
}

/// Links the crate in a folder with the harness, below another folder, and returns the program. A panic that can be reached is an error.
pub fn link(network: &Path, device: &Device, target: &str, folder: &Path) -> Result<Vec<u8>, Error> {
    let (harness, is_host) = (folder.join("harness"), compiler()?.1 == target);
    let network = std::path::absolute(network).map_err(|e| Error::file("find", network, e))?;
    let write = |path: &str, text: String| {
        let path = harness.join(path);
        fs::create_dir_all(path.parent().expect("a folder")).map_err(|e| Error::file("create", &path, e))?;
        fs::write(&path, text).map_err(|e| Error::file("write", &path, e))
    };
    let manifest = format!(
        "[package]\nname = \"harness\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\n{} = {{ path = {network:?} }}\n\n\
         [profile.release]\ncodegen-units = 1\nlto = true\nopt-level = \"s\"\npanic = \"abort\"\n\n[workspace]\n",
        device.name
    );
    write("Cargo.toml", manifest)?;
    write("src/main.rs", program(device, is_host))?;
    let mut flags = "-Zemit-stack-sizes".to_string();
    let link: &[&str] = match is_host {
        true => &["-nostartfiles", "-nodefaultlibs", "-static", "-Wl,--gc-sections"],
        false => &["--entry=_start", "--gc-sections"],
    };
    link.iter().for_each(|argument| flags += &format!(" -Clink-arg={argument}"));
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--target", target]).current_dir(&harness);
    cargo.env("RUSTFLAGS", flags).env("RUSTC_BOOTSTRAP", "1").env("CARGO_TARGET_DIR", folder.join("target"));
    cargo.env_remove("CARGO_ENCODED_RUSTFLAGS");
    let output = cargo.output().map_err(|e| Error::Build(format!("cannot run cargo: {e}")))?;
    if !output.status.success() {
        return Err(Error::Build(why(&output, target)));
    }
    let path = folder.join("target").join(target).join("release").join("harness");
    fs::read(&path).map_err(|e| Error::file("read", &path, e))
}

fn why(output: &Output, target: &str) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    match text.contains("a_panic_is_reachable") {
        true => {
            "a panic can be reached in the generated crate: this is a mistake of pg-codegen, please report it".into()
        }
        false => format!("the crate does not link for {target}:\n{text}"),
    }
}

/// The program that calls everything.
fn program(device: &Device, is_host: bool) -> String {
    let (mut calls, mut uses) = (String::new(), Vec::new());
    let mut call = |name: &str, verdict: &str, shown: &str| {
        calls += &format!(
            "\n#[inline(never)]\n#[unsafe(no_mangle)]\npub extern \"C\" fn pg_{name}(x: &[f32; INPUTS], eps: f32, s: &mut Scratch) -> bool {{\n    \
             matches!({name}(x, eps, s), {verdict}::{shown} {{ .. }})\n}}\n"
        );
        uses.push(format!("black_box(pg_{name}(black_box(x), eps, unsafe {{ &mut *MEMORY.0.get() }}));"));
    };
    if device.classes() > 0 {
        call("certify", "Verdict", "Robust");
    }
    if !device.question.disjuncts.is_empty() {
        call("certify_property", "Answer", "Holds");
    }
    if uses.is_empty() {
        uses.push("black_box(MEMORY.0.get());".into());
    }
    if !device.regions.is_empty() {
        uses.push("black_box(proved(black_box(x)).is_some());".into());
    }
    let values = [
        ("crate", device.name.replace('-', "_")),
        ("calls", calls),
        ("uses", uses.join("\n    ")),
        ("start", "_start".to_string()),
        ("host", if is_host { HOST.into() } else { String::new() }),
    ];
    fill(include_str!("../../../templates/embedded/harness.rs"), &values)
}

/// What the core library of a hosted target asks for and a bare one has.
const HOST: &str = r#"
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    for k in 0..count {
        unsafe { to.add(k).write_volatile(from.add(k).read_volatile()) };
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    for k in 0..count {
        unsafe { to.add(k).write_volatile(value as u8) };
    }
    to
}
"#;

fn read(bytes: &[u8], target: String, compiler: String) -> Result<Measured, Error> {
    let unread = || Error::Build(format!("the program for {target} is no ELF file that can be read"));
    let elf = Elf::read(bytes).ok_or_else(unread)?;
    let (symbols, stacks) = (elf.symbols().ok_or_else(unread)?, elf.stacks().ok_or_else(unread)?);
    let foreign = symbols.iter().find(|symbol| FOREIGN.contains(&symbol.name.as_str()));
    if let Some(symbol) = foreign.or(symbols.iter().find(|symbol| symbol.is_undefined && !symbol.name.is_empty())) {
        return Err(Error::Build(format!("the generated crate needs '{}', which no device has", symbol.name)));
    }
    // The lowest bit of an address tells the instruction set on some machines.
    let functions = || symbols.iter().filter(|symbol| symbol.is_function && symbol.size > 0);
    let name = |address: u64| {
        let found = functions().find(|symbol| symbol.value & !1 == address & !1);
        found.map_or_else(|| format!("{address:#x}"), |symbol| plain(&symbol.name))
    };
    let is_told = |symbol: &&Symbol| stacks.iter().any(|(address, _)| address & !1 == symbol.value & !1);
    let mut untold: Vec<String> =
        functions().filter(|symbol| !is_told(symbol)).map(|symbol| plain(&symbol.name)).collect();
    untold.sort();
    untold.dedup();
    let mut stacks: Vec<(String, usize)> =
        stacks.into_iter().map(|(address, size)| (name(address), size as usize)).collect();
    stacks.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let (code, constants, memory) = elf.sizes();
    if stacks.is_empty() {
        return Err(Error::Build(format!("the compiler told no stack sizes for {target}")));
    }
    Ok(Measured { target, compiler, code, constants, memory, stacks, untold })
}

/// A function's path, without the hashes that tell crates and versions apart: names with their lengths are what is kept.
fn plain(symbol: &str) -> String {
    let Some(mangled) = symbol.strip_prefix("_R").or_else(|| symbol.strip_prefix("_ZN")) else {
        return symbol.to_string();
    };
    let (mut rest, mut parts) = (mangled, Vec::new());
    while let Some(c) = rest.chars().next() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        if "sBK".contains(c)
            && rest.find('_').is_some_and(|end| rest[1..end].chars().all(|c| c.is_ascii_alphanumeric()))
        {
            rest = &rest[rest.find('_').expect("just found") + 1..];
        } else if let Some(length) = rest[..digits].parse::<usize>().ok().filter(|&length| length > 0) {
            let name = rest[digits..].trim_start_matches('_');
            let Some(part) = name.get(..length) else { break };
            parts.push(part);
            rest = &name[length..];
        } else {
            rest = &rest[c.len_utf8()..];
        }
    }
    parts.pop_if(|part| part.len() == 17 && part.starts_with('h'));
    parts.join("::")
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn functions_have_their_paths() {
        assert_eq!(plain("_RNvNtCs2I7znjOtBur_18embedded_digits_167network4eval"), "embedded_digits_16::network::eval");
        assert_eq!(plain("_ZN7network4eval17h0123456789abcdefE"), "network::eval");
        assert_eq!(plain("memset"), "memset");
    }
}
