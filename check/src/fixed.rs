//! The network in integers: each stage has one power of two, by which all its weights are integers.
//!
//! A weight is kept as the integer below it of 48 bits at the stage's power. Where that is not exact, or where the model's own
//! coefficient is known up to an error only, the row carries an error in the same units, and every bound pays for it.

use crate::kept::kept;
use crate::number::Dyadic;
use crate::onnx::{Network, Row};
use crate::{Refused, refused};

/// Bits of the largest weight of a stage, and of its largest bias.
const WEIGHT_BITS: i32 = 48;
const BIAS_BITS: i32 = 56;
/// Smaller weights count as this small.
const LEAST_BITS: i32 = -40;

/// A stage: weights are integers times 2^−scale. Columns are variables: the inputs, then the neurons stage by stage.
pub struct Layer {
    pub scale: i32,
    starts: Vec<usize>,
    /// For each row the sources that it reads, none for the inputs, and the terms of each.
    parts: Vec<Vec<Part>>,
    columns: Vec<u32>,
    weights: Vec<i64>,
    /// For each row, what each of its coefficients may be off by, in units of 2^−scale.
    pub error: Vec<i64>,
    /// The bias lies between these, in units of 2^−bias_scale.
    pub bias: Vec<(i64, i64)>,
    pub bias_scale: i32,
}

/// A source that a row reads, none for the inputs, and the range of the row's terms there.
pub type Part = (Option<usize>, std::ops::Range<usize>);

/// The stages, and where each one's neurons begin among the variables.
pub struct Fixed {
    pub inputs: usize,
    pub layers: Vec<Layer>,
    pub starts: Vec<usize>,
}

impl Layer {
    pub fn width(&self) -> usize {
        self.bias.len()
    }

    /// The columns and weights of a row, columns ascending.
    pub fn row(&self, neuron: usize) -> (&[u32], &[i64]) {
        let range = self.starts[neuron]..self.starts[neuron + 1];
        (&self.columns[range.clone()], &self.weights[range])
    }

    pub fn parts(&self, neuron: usize) -> &[Part] {
        &self.parts[neuron]
    }

    /// Whether it reads nothing but inputs.
    pub fn reads_inputs_alone(&self) -> bool {
        self.parts.iter().flatten().all(|(source, _)| source.is_none())
    }

    fn new(rows: &[Row]) -> Result<Layer, Refused> {
        let largest = |numbers: &mut dyn Iterator<Item = &Dyadic>| numbers.map(bits).max().unwrap_or(0);
        let scale = WEIGHT_BITS - largest(&mut rows.iter().flat_map(|row| row.terms.iter().map(|(_, w)| w)));
        let bias_scale = BIAS_BITS - largest(&mut rows.iter().flat_map(|row| [&row.bias, &row.bias_error]));
        let mut layer = Layer {
            scale,
            starts: vec![0],
            parts: vec![],
            columns: vec![],
            weights: vec![],
            error: vec![],
            bias: vec![],
            bias_scale,
        };
        for row in rows {
            let mut is_exact = true;
            for (column, weight) in &row.terms {
                let low = floor(weight, scale)?;
                is_exact &= low == ceil(weight, scale)?;
                if low != 0 || !is_exact {
                    layer.columns.push(*column);
                    layer.weights.push(low);
                }
            }
            let stated = ceil(&row.term_error, scale)?;
            layer.error.push(if is_exact { stated } else { stated + 1 });
            layer.starts.push(layer.weights.len());
            let error = ceil(&row.bias_error, bias_scale)?;
            layer.bias.push((floor(&row.bias, bias_scale)? - error, ceil(&row.bias, bias_scale)? + error));
        }
        Ok(layer)
    }
}

impl Fixed {
    /// With so many neurons of each hidden stage: all, or those that are read.
    pub fn new(network: &Network, widths: &[usize]) -> Result<Fixed, Refused> {
        let layers: Vec<Layer> =
            kept(network, widths)?.iter().map(|rows| Layer::new(rows)).collect::<Result<_, _>>()?;
        let mut starts = vec![network.inputs];
        for layer in &layers {
            starts.push(starts[starts.len() - 1] + layer.width());
        }
        let mut fixed = Fixed { inputs: network.inputs, layers, starts };
        for stage in 0..fixed.layers.len() {
            let layer = &fixed.layers[stage];
            fixed.layers[stage].parts = (0..layer.width()).map(|j| fixed.sources(layer.row(j).0)).collect();
        }
        Ok(fixed)
    }

    /// The number of the output's stage.
    pub fn last(&self) -> usize {
        self.layers.len() - 1
    }

    /// Hidden neurons.
    pub fn hidden(&self) -> usize {
        self.starts[self.last()] - self.inputs
    }

    /// The stage of a variable that is a neuron.
    pub fn stage_of(&self, variable: usize) -> usize {
        self.starts.partition_point(|&start| start <= variable) - 1
    }

    fn sources(&self, columns: &[u32]) -> Vec<Part> {
        let (mut parts, mut from) = (Vec::new(), 0);
        while from < columns.len() {
            let first = columns[from] as usize;
            let source = (first >= self.inputs).then(|| self.stage_of(first));
            let end = source.map_or(self.inputs, |s| self.starts[s + 1]);
            let to = from + columns[from..].partition_point(|&column| (column as usize) < end);
            parts.push((source, from..to));
            from = to;
        }
        parts
    }
}

/// The least b with |number| < 2^b, but not below a limit.
fn bits(number: &Dyadic) -> i32 {
    let bits = number.exponent.saturating_add(128 - number.mantissa.unsigned_abs().leading_zeros() as i32);
    if number.mantissa == 0 { LEAST_BITS } else { bits.max(LEAST_BITS) }
}

/// ⌊number·2^scale⌋.
pub fn floor(number: &Dyadic, scale: i32) -> Result<i64, Refused> {
    let shifted = shift_down(number.mantissa, number.exponent.saturating_add(scale));
    shifted.and_then(|value| i64::try_from(value).ok()).ok_or_else(|| refused("a number is too large"))
}

/// ⌈number·2^scale⌉.
pub fn ceil(number: &Dyadic, scale: i32) -> Result<i64, Refused> {
    let negated = Dyadic { mantissa: -number.mantissa, exponent: number.exponent };
    Ok(-floor(&negated, scale)?)
}

/// ⌊value·2^by⌋, none if that does not fit.
pub fn shift_down(value: i128, by: i32) -> Option<i128> {
    if by <= 0 {
        return Some(value >> by.unsigned_abs().min(127));
    }
    let by = by.unsigned_abs();
    let room = value.unsigned_abs().leading_zeros().saturating_sub(1);
    if value == 0 {
        Some(0)
    } else if by <= room {
        Some(value << by)
    } else {
        None
    }
}
