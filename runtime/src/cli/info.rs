//! `info`: which network this verifier was made for.

use crate::ending;
use pg_core::sweep::{ARITHMETIC, REPLICATION};
use pg_core::{Network, Stage};
use std::io::Write;

pub fn run(network: &dyn Network) -> Result<(), String> {
    let model = network.model();
    let shape = network.shape();
    let widths = std::iter::once(shape.inputs).chain(shape.stages.iter().map(Stage::width));
    let widths: Vec<String> = widths.map(|width| width.to_string()).collect();
    let mut text = format!(
        "network   {}\nformat    {}\nsha256    {}\nlayers    {}\nReLUs     {}\n",
        model.name,
        model.format,
        model.sha256,
        widths.join(" -> "),
        shape.start(shape.last()),
    );
    let inexact = (0..shape.stages.len()).filter(|&k| shape.stages[k].error.is_some());
    let inexact: Vec<String> = inexact.map(|k| (k + 1).to_string()).collect();
    text += &match inexact.len() {
        0 => "weights   bit-exact\n".to_string(),
        _ => format!("weights   rounded in layer {}, with a stated error\n", inexact.join(", ")),
    };
    if let Some(note) = ending::note(model.ending) {
        text += &format!("note      {note}\n");
    }
    text += &format!("eval      {ARITHMETIC}; replication {REPLICATION}\n");
    text += &format!("runtime   pg-runtime {}\n", env!("CARGO_PKG_VERSION"));
    std::io::stdout().write_all(text.as_bytes()).map_err(|e| format!("cannot write: {e}"))
}
