//! `eval INPUT.csv`: one line of numbers in, one line of numbers out.

use crate::ending::apply;
use crate::property::Source;
use pg_core::Network;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Evaluates every line before it prints any, so that a bad line leaves no half result.
///
/// With `repeat`, the time per input, one at a time and all together, goes to stderr: the median of that many rounds.
pub fn eval(network: &dyn Network, path: &Path, repeat: Option<usize>) -> Result<(), String> {
    let source = Source::read(path).map_err(|e| e.to_string())?;
    let x = read_inputs(&source.text, network.inputs()).map_err(|e| format!("{}: {e}", source.origin))?;
    let rows = x.len() / network.inputs();
    let mut y = vec![0.0; rows * network.outputs()];
    network.forward(&x, &mut y);
    warn_outside_domain(network, &x);
    if let Some(rounds) = repeat {
        report_times(network, &x, &mut y, rounds.max(1));
    }
    let (mut out, ending) = (String::new(), network.model().ending);
    for row in y.chunks(network.outputs()) {
        let numbers: Vec<String> = apply(ending, row).iter().map(|v| format!("{v:?}")).collect();
        out += &numbers.join(",");
        out.push('\n');
    }
    std::io::stdout().write_all(out.as_bytes()).map_err(|e| format!("cannot write the result: {e}"))
}

fn report_times(network: &dyn Network, x: &[f32], y: &mut [f32], rounds: usize) {
    let (inputs, outputs) = (network.inputs(), network.outputs());
    let count = x.len() / inputs;
    let single = median(rounds, || {
        for (x, y) in x.chunks(inputs).zip(y.chunks_mut(outputs)) {
            network.forward(std::hint::black_box(x), y);
        }
    });
    let together = median(rounds, || network.forward(std::hint::black_box(x), y));
    let per_input = |seconds: f64| seconds * 1e9 / count as f64;
    eprintln!("one at a time: {:.1} ns an input", per_input(single));
    eprintln!("together:      {:.1} ns an input", per_input(together));
}

/// The median time of a round, in seconds.
fn median(rounds: usize, mut round: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..rounds)
        .map(|_| {
            let start = Instant::now();
            round();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[rounds / 2]
}

/// The numbers of all lines, each line one input. Commas and blanks separate; empty lines and `#` comments are skipped.
fn read_inputs(text: &str, inputs: usize) -> Result<Vec<f32>, String> {
    let mut values = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("");
        let tokens = line.split(|c: char| c == ',' || c.is_whitespace()).filter(|t| !t.is_empty());
        let before = values.len();
        for token in tokens {
            let value: f32 = token.parse().map_err(|_| format!("line {}: '{token}' is not a number", n + 1))?;
            if !value.is_finite() {
                return Err(format!("line {}: '{token}' is not a finite float32", n + 1));
            }
            values.push(value);
        }
        let found = values.len() - before;
        if found != 0 && found != inputs {
            return Err(format!("line {}: {found} numbers, but the network has {inputs} inputs", n + 1));
        }
    }
    if values.is_empty() { Err("it holds no input".into()) } else { Ok(values) }
}

fn warn_outside_domain(network: &dyn Network, x: &[f32]) {
    let domain = &network.model().domain;
    let outside = |row: &[f32]| row.iter().zip(domain.iter()).any(|(&v, &(l, u))| f64::from(v) < l || f64::from(v) > u);
    let count = x.chunks(network.inputs()).filter(|row| outside(row)).count();
    if count > 0 {
        eprintln!(
            "warning: {count} inputs lie outside the box the model declares, where its own program would clip them"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::read_inputs;

    #[test]
    fn lines_become_rows() {
        assert_eq!(read_inputs("# x, y\n1, 2\n\n-3e0 4,\r\n", 2), Ok(vec![1.0, 2.0, -3.0, 4.0]));
    }

    #[test]
    fn bad_lines_are_named() {
        assert!(read_inputs("1,2\n1,2,3\n", 2).unwrap_err().contains("line 2: 3 numbers"));
        assert!(read_inputs("1,x\n", 2).unwrap_err().contains("line 1: 'x'"));
        assert!(read_inputs("1,1e99\n", 2).unwrap_err().contains("finite"));
        assert!(read_inputs("\n", 2).is_err());
    }
}
