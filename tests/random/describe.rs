//! What is shown of a trial, so that its case can be asked again by this program or by any other.

use super::numbers::nearest;
use super::{Asking, Trial};
use crate::case::{Conjunction, onnx, vnnlib};
use crate::oracle::{Layer, eval_exact, satisfying_input};
use num_rational::BigRational;
use pg_runtime::options::Semantics;
use prost::Message;
use std::fmt::Write;
use std::path::Path;

impl Trial {
    /// The answers, the truth, the weights by their bits, the property, and the command that asks again.
    pub fn describe(&self) -> String {
        let mut text = format!("case {} of seed {}, {}\n", self.number, self.asking.seed, self.kind().word());
        for (options, answer) in &self.answers {
            let answer = match answer {
                Ok(answer) => format!("{answer:?}"),
                Err(failure) => failure.to_string(),
            };
            let _ = writeln!(text, "  {}: {answer}", options.arguments().join(" "));
        }
        let _ = writeln!(text, "the oracle: {}", self.truth());
        for (k, layer) in self.case.net.iter().enumerate() {
            let _ = writeln!(text, "layer {k}, a neuron a line, its bias last\n{}", bits(layer));
        }
        let Asking { seed, semantics, for_proofs, .. } = self.asking;
        let proofs = if for_proofs { " --proofs" } else { "" };
        let program = if semantics == Semantics::Float32 { " --semantics float32" } else { "" };
        let again = format!("--seed {seed} --case {}{program}{proofs}", self.number);
        text + &vnnlib::text(&self.case) + "again: cargo run --release -p pg-tests --bin random -- " + &again + "\n"
    }

    /// The oracle's answer, with the input that it found.
    fn truth(&self) -> String {
        let find = |d: &Conjunction| satisfying_input(&self.case.net, &d.region, &d.rows);
        let Some(x) = self.case.disjuncts.iter().find_map(find) else { return "unsatisfiable".into() };
        let y = eval_exact(&self.case.net, &x);
        let float: Vec<f32> = x.iter().map(nearest).collect();
        let rounded = if self.case.holds_at(&float) { "still" } else { "no longer" };
        let shown = |values: &[BigRational]| values.iter().map(|v| format!("{:e}", nearest(v))).collect::<Vec<_>>();
        format!(
            "satisfiable, X near {:?}, Y near {:?}; X rounded to float32 is {rounded} a counterexample",
            shown(&x),
            shown(&y)
        )
    }

    /// Writes the network and the property as files of a new folder.
    pub fn save(&self, folder: &Path) -> std::io::Result<()> {
        let folder = folder.join(format!("{}_{}_{}", self.kind().word(), self.asking.seed, self.number));
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("net.onnx"), onnx(&self.case.net).encode_to_vec())?;
        std::fs::write(folder.join("p.vnnlib"), vnnlib::text(&self.case))?;
        std::fs::write(folder.join("about.txt"), self.describe())
    }
}

/// The weights and biases by their bits, and in short.
fn bits(layer: &Layer) -> String {
    let number = |v: &f32| format!("{:#010x} ({v:e})", v.to_bits());
    let row =
        |(weights, bias): (&Vec<f32>, &f32)| weights.iter().chain([bias]).map(number).collect::<Vec<_>>().join(" ");
    layer.weights.iter().zip(&layer.bias).map(|pair| format!("  {}", row(pair))).collect::<Vec<_>>().join("\n")
}
