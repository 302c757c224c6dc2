//! The command line: `pg-check MODEL.onnx PROP.vnnlib CERTIFICATE [--slice I/N] [--json FILE] [--text]`.

use pg_check::judge::{Rejected, Slice, Summary};
use pg_check::question::Question;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const HELP: &str = "\
Judges a certificate that a property of a network holds, in exact integer arithmetic.

Usage: pg-check MODEL.onnx PROP.vnnlib CERTIFICATE [OPTIONS]

Options:
      --slice I/N   Look at every N-th leaf alone, from the I-th on; what a tree covers is checked in every slice
      --json FILE   Write what was found to FILE, in JSON
      --text        Write the certificate's records to stdout as text, without judging them
  -h, --help        Print this
  -V, --version     Print the version

The first line of stdout is `accepted` or `rejected`. Exit code: 0 accepted, 1 rejected, 4 if a file cannot be used.
";

struct Arguments {
    files: [String; 3],
    slice: Slice,
    json: Option<String>,
    is_text: bool,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "-h" || argument == "--help") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "-V" || argument == "--version") {
        println!("pg-check {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    // A number that overflows ends the judgement: what is not shown is rejected.
    let result = std::panic::catch_unwind(|| parse(arguments).and_then(|arguments| run(&arguments)));
    match result {
        Ok(Ok(is_accepted)) => ExitCode::from(u8::from(!is_accepted)),
        Ok(Err(message)) => {
            eprintln!("error: {message}");
            ExitCode::from(4)
        }
        Err(_) => {
            println!("rejected");
            eprintln!("arithmetic failed, as described above");
            ExitCode::from(1)
        }
    }
}

fn parse(arguments: Vec<String>) -> Result<Arguments, String> {
    let (mut files, mut slice, mut json, mut is_text) = (vec![], Slice::ALL, None, false);
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--slice" => slice = read_slice(rest.next()).ok_or("--slice wants I/N with 1 ≤ I ≤ N")?,
            "--json" => json = Some(rest.next().ok_or("--json wants a file")?),
            "--text" => is_text = true,
            option if option.starts_with('-') => return Err(format!("the option {option} is not known; see --help")),
            _ => files.push(argument),
        }
    }
    let files =
        files.try_into().map_err(|_| "three files are wanted: a model, a property and a certificate; see --help")?;
    Ok(Arguments { files, slice, json, is_text })
}

fn read_slice(text: Option<String>) -> Option<Slice> {
    let text = text?;
    let (index, count) = text.split_once('/')?;
    let (index, count): (usize, usize) = (index.parse().ok()?, count.parse().ok()?);
    (1 <= index && index <= count).then(|| Slice { index: index - 1, count })
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return Err(format!("{path} is compressed; unpack it first, with gzip -d"));
    }
    Ok(bytes)
}

fn run(arguments: &Arguments) -> Result<bool, String> {
    let [model, property, certificate] = &arguments.files;
    let start = Instant::now();
    let (model_bytes, property_bytes, bytes) = (read(model)?, read(property)?, read(certificate)?);
    let question = Question::read((model, &model_bytes), (property, &property_bytes)).map_err(|e| e.to_string())?;
    let result = question.judge(&bytes, arguments.slice, arguments.is_text);
    if let Ok(Summary { text: Some(text), .. }) = &result {
        // A reader that has seen enough may close its end.
        let _ = std::io::stdout().write_all(text.as_bytes());
        return Ok(true);
    }
    println!("{}", if result.is_ok() { "accepted" } else { "rejected" });
    let time = start.elapsed().as_millis();
    match &result {
        Ok(found @ Summary { records, leaves, checked, generator, .. }) => eprintln!(
            "{} arithmetic, {records} records, {leaves} leaves, {checked} of them looked at, {} bytes, {time} ms; written by {generator}",
            found.arithmetic(),
            bytes.len(),
        ),
        Err(rejected) => eprintln!("{rejected}"),
    }
    if let Some(path) = &arguments.json {
        std::fs::write(path, report(&result, bytes.len(), time)).map_err(|e| format!("{path}: {e}"))?;
    }
    Ok(result.is_ok())
}

fn report(result: &Result<Summary, Rejected>, bytes: usize, milliseconds: u128) -> String {
    let common = format!("\"bytes\": {bytes}, \"milliseconds\": {milliseconds}");
    match result {
        Ok(found @ Summary { records, leaves, checked, .. }) => format!(
            "{{\"verdict\": \"accepted\", \"arithmetic\": \"{}\", \"records\": {records}, \"leaves\": {leaves}, \"checked\": {checked}, {common}}}\n",
            found.arithmetic(),
        ),
        Err(Rejected { record, at, why }) => {
            let why: String = why.0.chars().flat_map(char::escape_default).collect();
            format!("{{\"verdict\": \"rejected\", \"record\": {record}, \"at\": {at}, \"why\": \"{why}\", {common}}}\n")
        }
    }
}
