//! `inspect`: a network at a glance.

use crate::net::{Net, Stage};
use pg_core::Source;
use std::fmt::Write;

pub fn table(net: &Net) -> String {
    let mut text = String::new();
    let source = &net.source;
    let _ = writeln!(text, "network     {}\nformat      {}\nsha256      {}", source.stem, source.format, source.sha256);
    let _ = writeln!(text, "inputs      {}\noutputs     {}", net.inputs, net.outputs());
    for (what, tensors) in [("input", &source.inputs), ("output", &source.outputs)] {
        for tensor in tensors {
            let _ = writeln!(text, "{what:<10}  '{}' {:?}", tensor.name, tensor.shape);
        }
    }
    let _ = writeln!(text, "ReLUs       {}\nparameters  {}\n", net.relus(), net.parameters());
    let reads = net.stages.iter().map(|stage| stage.reads().len()).max().unwrap_or(0).max("reads".len());
    let _ = writeln!(
        text,
        "stage  neurons  ReLU  {:<reads$}  parameters  weights  maps and what they are made from",
        "reads"
    );
    for (k, stage) in net.stages.iter().enumerate() {
        let relu = if k + 1 < net.stages.len() { "yes" } else { "" };
        let exact = if stage.error.is_zero() { "exact" } else { "rounded" };
        let _ = writeln!(
            text,
            "{:<5} {:>8}  {relu:<4}  {:<reads$}  {:>10}  {exact:<7}  {}  ({})",
            k + 1,
            stage.width(),
            stage.reads(),
            stage.parameters(),
            stage.kinds(),
            stage.origin
        );
    }
    if !net.is_chain() {
        let _ = write!(text, "\n{}", graph(net));
    }
    notes(net, &mut text);
    text
}

/// The stages below each other, each with lines to what it reads: a column for every source that is still to be read.
fn graph(net: &Net) -> String {
    let last_reader = |source: Source| {
        let reads = |stage: &Stage| stage.edges.iter().any(|edge| edge.from == source);
        net.stages.iter().rposition(reads)
    };
    let mut text = String::from("inputs\n");
    let mut columns = vec![Source::Input];
    for (k, stage) in net.stages.iter().enumerate() {
        let is_read = |source: &Source| stage.edges.iter().any(|edge| edge.from == *source);
        let ends = |source: &Source| last_reader(*source) == Some(k);
        let mark = |source: &Source| match (is_read(source), ends(source)) {
            (true, true) => "\u{2514}\u{2500}",
            (true, false) => "\u{251c}\u{2500}",
            (false, _) => "\u{2502} ",
        };
        let marks: Vec<&str> = columns.iter().map(mark).collect();
        // A line that begins to the left runs over the columns beside it.
        let first = columns.iter().position(is_read).unwrap_or(0);
        let joined: String = marks
            .iter()
            .enumerate()
            .map(
                |(i, mark)| {
                    if i > first && !is_read(&columns[i]) { mark.replace(' ', "\u{2500}") } else { (*mark).into() }
                },
            )
            .collect();
        let _ = writeln!(text, "{joined}\u{2500} stage {}: {} neurons", k + 1, stage.width());
        columns.retain(|source| last_reader(*source).is_some_and(|last| last > k));
        if last_reader(Source::Stage(k)).is_some() {
            columns.push(Source::Stage(k));
        }
    }
    text + "\n"
}

/// What was folded, and how far that may have moved the weights.
fn notes(net: &Net, text: &mut String) {
    let rounded = net.stages.iter().enumerate().filter(|(_, stage)| !stage.error.is_zero());
    let errors: Vec<String> = rounded
        .map(|(k, stage)| {
            let (weight, bias) = stage.error.largest();
            format!("stage {}: its weights are within {weight:.1e} of the model's, its biases within {bias:.1e}", k + 1)
        })
        .collect();
    let domain = net.domain.iter().map(|_| "the model declares a box for its inputs and clips outside it".to_string());
    for note in net.notes.iter().cloned().chain(errors).chain(domain) {
        let _ = writeln!(text, "note: {note}");
    }
}
