//! The command line: `pg-check MODEL.onnx PROP.vnnlib CERTIFICATE [--slice I/N] [--threads N] [--json FILE] [--text]`.

use pg_check::{Question, Slice, Summary};
use std::io::Write;
use std::process::ExitCode;
use std::thread::available_parallelism;
use std::time::Instant;

const HELP: &str = "\
Judges a certificate that a property of a network holds, in exact integer arithmetic.

Usage: pg-check MODEL.onnx PROP.vnnlib CERTIFICATE [OPTIONS]

Options:
      --slice I/N   Look at the I-th of N parts of the leaves alone; what a tree covers is checked in every slice
      --threads N   Judge on so many threads, instead of one for each core
      --json FILE   Write what was found to FILE, in JSON
      --text        Write the certificate's records to stdout as text, without judging them
  -h, --help        Print this
  -V, --version     Print the version

The first line of stdout is `accepted` or `rejected`. Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.
";

fn main() -> ExitCode {
    // A number of a model or a property that overflows ends the reading.
    let result = std::panic::catch_unwind(|| run(std::env::args().skip(1)));
    match result.unwrap_or_else(|_| Err("a number is too long for exact arithmetic".into())) {
        Ok(is_fine) => ExitCode::from(u8::from(!is_fine)),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(4)
        }
    }
}

/// Does what the arguments ask for; false if a certificate is rejected.
fn run(mut rest: impl Iterator<Item = String>) -> Result<bool, String> {
    let (mut files, mut slice, mut json, mut is_text) = (vec![], Slice::ALL, None, false);
    let mut threads = available_parallelism().map_or(1, usize::from);
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "-h" | "--help" => {
                print!("{HELP}");
                return Ok(true);
            }
            "-V" | "--version" => {
                println!("pg-check {}", env!("CARGO_PKG_VERSION"));
                return Ok(true);
            }
            "--slice" => slice = read_slice(rest.next()).ok_or("--slice wants I/N with 1 ≤ I ≤ N")?,
            "--threads" => threads = number(rest.next().as_deref()).ok_or("--threads wants a number from 1 on")?,
            "--json" => json = Some(rest.next().ok_or("--json wants a file")?),
            "--text" => (is_text, threads) = (true, 1),
            option if option.starts_with('-') => return Err(format!("the option {option} is not known; see --help")),
            _ => files.push(argument),
        }
    }
    let Ok(files) = <[String; 3]>::try_from(files) else {
        return Err("three files are wanted: a model, a property and a certificate; see --help".into());
    };
    judge(&files, slice, threads, json.as_deref(), is_text)
}

fn number(text: Option<&str>) -> Option<usize> {
    text?.parse().ok().filter(|number| (1..=1 << 16).contains(number))
}

fn read_slice(text: Option<String>) -> Option<Slice> {
    let text = text?;
    let (index, count) = text.split_once('/')?;
    let (index, count) = (number(Some(index))?, number(Some(count))?);
    (index <= count).then(|| Slice { index: index - 1, count })
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(format!("{path} is compressed; unpack it first, with gzip -d"));
    }
    Ok(bytes)
}

fn judge(files: &[String; 3], slice: Slice, threads: usize, json: Option<&str>, is_text: bool) -> Result<bool, String> {
    let [model, property, certificate] = files;
    let start = Instant::now();
    let (model_bytes, property_bytes, bytes) = (read(model)?, read(property)?, read(certificate)?);
    let question = Question::read((model, &model_bytes), (property, &property_bytes)).map_err(|e| e.to_string())?;
    let result = question.judge(&bytes, slice, threads, is_text);
    if let Ok(Summary { text: Some(text), .. }) = &result {
        // A reader that has seen enough may close its end.
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(true);
    }
    let (verdict, found) = match &result {
        Ok(Summary { arithmetic, generator, records, leaves, checked, .. }) => {
            eprint!("{arithmetic} arithmetic, by {generator}, {records} records, {checked} of {leaves} leaves checked");
            let counts = format!("\"records\": {records}, \"leaves\": {leaves}, \"checked\": {checked}");
            ("accepted", format!("\"arithmetic\": \"{arithmetic}\", {counts}"))
        }
        Err(why) => {
            eprint!("{why}");
            let why = why.0.replace(|c: char| c.is_control() || c == '"' || c == '\\', "'");
            ("rejected", format!("\"why\": \"{why}\""))
        }
    };
    let (size, time) = (bytes.len(), start.elapsed().as_millis());
    println!("{verdict}");
    eprintln!("; {size} bytes, {time} ms");
    if let Some(path) = json {
        let report = format!("{{\"verdict\": \"{verdict}\", {found}, \"bytes\": {size}, \"milliseconds\": {time}}}\n");
        std::fs::write(path, report).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(result.is_ok())
}
