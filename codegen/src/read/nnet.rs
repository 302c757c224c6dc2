//! NNet, the text format of the collision-avoidance networks.
//!
//! After `//` comments: sizes, input box, normalisation, then each layer's rows and biases, all separated by commas and
//! line breaks. Weights are the float32 nearest to their decimals; the normalisation (x − mean)/range and its inverse
//! on the outputs become affine nodes. The format's program clips its inputs to the box it declares, which is not
//! affine: the box is handed on as the network's domain instead.

use super::{Content, Format};
use crate::approx::Approx;
use crate::error::Error;
use crate::graph::{Graph, GraphBuilder, Op, Operand, Tensor};
use pg_core::Ending;

type Domain = Vec<(f64, f64)>;

pub(super) fn read(bytes: &[u8]) -> Result<Content, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::Model("not an NNet file: it is not text".into()))?;
    let (graph, domain) = network(&mut Numbers::new(text)).map_err(Error::Model)?;
    let (inputs, outputs, notes) = (vec![], vec![], vec![]);
    Ok(Content { graph, format: Format::NNet, inputs, outputs, ending: Ending::None, domain: Some(domain), notes })
}

fn network(numbers: &mut Numbers) -> Result<(Graph, Domain), String> {
    let header = numbers.sizes(4, "the number of layers, inputs and outputs and the largest layer")?;
    let (layers, inputs, outputs) = (header[0], header[1], header[2]);
    let sizes = numbers.sizes(layers.saturating_add(1), "the layer sizes")?;
    if layers == 0 || sizes[0] != inputs || sizes[layers] != outputs {
        return Err(format!(
            "the layer sizes {sizes:?} do not begin with {inputs} inputs and end with {outputs} outputs"
        ));
    }
    numbers.take(1, "the unused flag")?;
    let lower = numbers.take(inputs, "the inputs' minima")?;
    let upper = numbers.take(inputs, "the inputs' maxima")?;
    let domain: Domain = lower.into_iter().zip(upper).collect();
    if let Some(i) = domain.iter().position(|(l, u)| l > u) {
        return Err(format!("input {i} has its minimum above its maximum"));
    }
    let mean = numbers.take(inputs.saturating_add(1), "the means")?;
    let range = numbers.take(inputs.saturating_add(1), "the ranges")?;

    let (mut builder, x) = GraphBuilder::new("input", vec![inputs])?;
    let mut apply = |name: &str, op: Op, operands: &[Operand]| builder.node(name, &op, operands, name);
    let mut value = apply("normalise/mean", Op::Sub, &[x, vector(&mean[..inputs])])?;
    value = apply("normalise/range", Op::Div, &[value, vector(&range[..inputs])])?;
    for k in 1..=layers {
        if k > 1 {
            value = apply(&format!("relu {}", k - 1), Op::Relu, &[value])?;
        }
        let (rows, cols) = (sizes[k], sizes[k - 1]);
        let weights = numbers.weights(rows.saturating_mul(cols), &format!("the weights of layer {k}"))?;
        let biases = numbers.weights(rows, &format!("the biases of layer {k}"))?;
        let matrix = Tensor { shape: vec![rows, cols], data: exact(&weights) };
        value = apply(&format!("layer {k}/weights"), Op::MatMul, &[matrix.into(), value])?;
        value = apply(&format!("layer {k}/biases"), Op::Add, &[value, vector(&biases)])?;
    }
    value = apply("denormalise/range", Op::Mul, &[value, vector(&[range[inputs]])])?;
    value = apply("denormalise/mean", Op::Add, &[value, vector(&[mean[inputs]])])?;
    numbers.end()?;
    Ok((builder.finish(&value)?, domain))
}

fn exact(values: &[f64]) -> Vec<Approx> {
    values.iter().map(|&v| Approx::exact(v)).collect()
}

fn vector(values: &[f64]) -> Operand {
    Tensor { shape: vec![values.len()], data: exact(values) }.into()
}

/// The numbers of the file in order, each with its place.
struct Numbers<'a> {
    tokens: Box<dyn Iterator<Item = (usize, usize, &'a str)> + 'a>,
}

impl<'a> Numbers<'a> {
    fn new(text: &'a str) -> Numbers<'a> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
        let tokens = lines.flat_map(|(n, line)| {
            let place = move |token: &'a str| (n + 1, token.as_ptr() as usize - line.as_ptr() as usize + 1, token);
            line.split(|c: char| c == ',' || c.is_whitespace()).filter(|t| !t.is_empty()).map(place)
        });
        Numbers { tokens: Box::new(tokens) }
    }

    fn next(&mut self, what: &str) -> Result<(f64, f32), String> {
        let (line, column, token) = self.tokens.next().ok_or_else(|| format!("the file ends inside {what}"))?;
        let at = |why: &str| format!("line {line}, column {column}: '{token}' {why} (reading {what})");
        let value: f64 = token.parse().map_err(|_| at("is not a number"))?;
        let nearest: f32 = token.parse().map_err(|_| at("is not a number"))?;
        if nearest.is_finite() { Ok((value, nearest)) } else { Err(at("is not a finite float32")) }
    }

    /// Memory grows with the tokens read, never with the size a header declares.
    fn take(&mut self, count: usize, what: &str) -> Result<Vec<f64>, String> {
        (0..count).map(|_| self.next(what).map(|(value, _)| value)).collect()
    }

    fn weights(&mut self, count: usize, what: &str) -> Result<Vec<f64>, String> {
        (0..count).map(|_| self.next(what).map(|(_, nearest)| f64::from(nearest))).collect()
    }

    fn sizes(&mut self, count: usize, what: &str) -> Result<Vec<usize>, String> {
        let whole = |v: f64| (v >= 0.0 && v.fract() == 0.0 && v < 1e9).then_some(v as usize);
        let size =
            |_| self.next(what).and_then(|(v, _)| whole(v).ok_or_else(|| format!("{v} is no size (reading {what})")));
        (0..count).map(size).collect()
    }

    fn end(&mut self) -> Result<(), String> {
        match self.tokens.next() {
            None => Ok(()),
            Some((line, column, token)) => Err(format!("line {line}, column {column}: '{token}' after the last layer")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TINY: &str = "// a comment\n1,2,1,2,\n2,1,\n0,\n-1,-1,\n1,1,\n0.5,0,10,\n2,1,4,\n3.0,4.0,\n0.25,\n";

    #[test]
    fn a_tiny_network_is_read() {
        let content = read(TINY.as_bytes()).unwrap();
        assert_eq!(content.domain.unwrap(), [(-1.0, 1.0); 2]);
        assert_eq!(content.graph.nodes.len(), 6);
    }

    #[test]
    fn every_truncation_is_an_error() {
        for len in 0..TINY.rfind("0.25").unwrap() {
            assert!(read(&TINY.as_bytes()[..len]).is_err(), "accepted {len} bytes");
        }
    }

    #[test]
    fn errors_name_the_place() {
        let error = |text: String| read(text.as_bytes()).unwrap_err().to_string();
        assert!(error(TINY.replace("4.0", "four")).contains("line 9, column 5: 'four'"));
        assert!(error(TINY.replace("4.0", "1e300")).contains("finite"));
        assert!(error(TINY.replace("4.0", "nan")).contains("finite"));
        assert!(error(TINY.replace("2,1,4,", "0,1,4,")).contains("zero"));
        assert!(error(TINY.replace("0.25,", "0.25,7")).contains("after the last layer"));
        assert!(error(TINY.replace("1,2,1,2,", "1,999999999,1,2,")).contains("do not begin"));
        assert!(error(TINY.replace("-1,-1,", "-1,3,")).contains("minimum above"));
    }
}
