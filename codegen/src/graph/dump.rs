//! A graph as text, for `--dump`.

use super::{Function, Graph};
use std::fmt;

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let value = |id: usize| format!("'{}' {:?}", self.values[id].name, self.values[id].shape);
        writeln!(f, "input  {}", value(self.input))?;
        for node in &self.nodes {
            let inputs: Vec<String> = node.inputs.iter().map(|&id| format!("'{}'", self.values[id].name)).collect();
            let what = match &node.function {
                Function::Relu => "ReLU".to_string(),
                Function::Affine(map) => format!(
                    "affine, {} coefficients, {}",
                    map.entries(),
                    if map.is_exact() { "exact" } else { "rounded" }
                ),
            };
            writeln!(f, "{} = {}({})  {what}  from {}", value(node.output), node.name, inputs.join(", "), node.origin)?;
        }
        writeln!(f, "output {}", value(self.output))
    }
}
