//! The network in integers: each stage has one power of two, by which all its weights are integers.
//!
//! A weight is kept as the integer below it of 48 bits at the stage's power. Where that is not exact, or where the model's own
//! coefficient is known up to an error only, the row carries an error in the same units, and every bound pays for it.
//!
//! A float32 program sums up the same terms, in any order, and rounds. With n products and u = 2^−24 it is off by at most
//! (n+1)u/(1 − (n+1)u) of the magnitudes of all terms, and by 2^−149 for each product that underflows.

use crate::{Dyadic, Network, Refused, bits, kept, refused, require};

/// Bits of the largest weight of a stage, and of its largest bias.
const WEIGHT_BITS: i32 = 48;
const BIAS_BITS: i32 = 56;
/// Smaller weights count as this small.
const LEAST_BITS: i32 = -40;

/// A stage: weights are integers times 2^−scale.
pub struct Layer {
    pub scale: i32,
    pub bias_scale: i32,
    pub rows: Vec<Row>,
    pub reads_inputs_alone: bool,
}

pub struct Row {
    pub parts: Vec<Part>,
    /// What each of its coefficients may be off by, in units of 2^−scale.
    pub error: i64,
    /// The bias lies between these, in units of 2^−bias_scale.
    pub bias: (i64, i64),
    /// Of a float32 program: what its sum may be off by, as a part of its terms' magnitudes in units of 2^−44, and its products.
    pub rounding: Option<(i64, i64)>,
}

/// The unit of the part of a sum that rounding takes.
pub const ROUNDING: i32 = 44;

/// The terms of a row that read one source: 0 for the inputs, k + 1 for stage k.
pub struct Part {
    pub source: usize,
    /// Columns and weights, columns ascending. Columns are variables: the inputs, then the neurons stage by stage.
    pub terms: Vec<(u32, i64)>,
}

/// The stages, and where each one's neurons begin among the variables.
pub struct Fixed {
    pub inputs: usize,
    pub layers: Vec<Layer>,
    pub starts: Vec<usize>,
}

impl Row {
    fn new(
        row: &crate::Row,
        [scale, bias_scale]: [i32; 2],
        (starts, numbers): (&[usize], &[u32]),
        is_float32: bool,
    ) -> Result<Row, Refused> {
        let (mut parts, mut is_exact) = (Vec::<Part>::new(), true);
        for (column, weight) in &row.terms {
            let low = small(weight.floor_scaled(scale))?;
            is_exact &= low == small(weight.ceil_scaled(scale))?;
            if low == 0 && is_exact {
                continue;
            }
            let column = numbers[*column as usize];
            let source = starts.partition_point(|&start| start <= column as usize);
            match parts.last_mut().filter(|part| part.source == source) {
                Some(part) => part.terms.push((column, low)),
                None => parts.push(Part { source, terms: vec![(column, low)] }),
            }
        }
        let error = small(row.error.ceil_scaled(scale))? + i64::from(!is_exact);
        let bias_error = small(row.error.ceil_scaled(bias_scale))?;
        let low = small(row.bias.floor_scaled(bias_scale))? - bias_error;
        let high = small(row.bias.ceil_scaled(bias_scale))? + bias_error;
        let rounding = if is_float32 { Some(rounding(row)?) } else { None };
        Ok(Row { parts, error, bias: (low, high), rounding })
    }
}

impl Layer {
    fn new(rows: &[&crate::Row], places: (&[usize], &[u32]), is_float32: bool) -> Result<Layer, Refused> {
        let weights = rows.iter().flat_map(|row| row.terms.iter().map(|(_, weight)| weight));
        let scale = WEIGHT_BITS - weights.map(size).max().unwrap_or(0);
        let biases = rows.iter().flat_map(|row| [&row.bias, &row.error]);
        let bias_scale = BIAS_BITS - biases.map(size).max().unwrap_or(0);
        let rows = rows.iter().map(|row| Row::new(row, [scale, bias_scale], places, is_float32));
        let rows = rows.collect::<Result<Vec<_>, _>>()?;
        let reads_inputs_alone = rows.iter().flat_map(|row| &row.parts).all(|part| part.source == 0);
        Ok(Layer { scale, bias_scale, rows, reads_inputs_alone })
    }
}

impl Fixed {
    /// With so many neurons of each hidden stage: all, or those that are read.
    pub fn new(network: &Network, widths: &[usize], is_float32: bool) -> Result<Fixed, Refused> {
        let (stages, numbers) = kept(network, widths)?;
        let mut starts = vec![network.inputs];
        for rows in &stages {
            starts.push(starts[starts.len() - 1] + rows.len());
        }
        let layers = stages.iter().map(|rows| Layer::new(rows, (&starts, &numbers), is_float32));
        let layers = layers.collect::<Result<_, _>>()?;
        Ok(Fixed { inputs: network.inputs, layers, starts })
    }

    /// The number of the output's stage.
    pub fn last(&self) -> usize {
        self.layers.len() - 1
    }

    /// The number of the first neuron of a stage, among all hidden ones. For the output's stage, how many there are.
    pub fn first(&self, stage: usize) -> usize {
        self.starts[stage] - self.inputs
    }

    /// A hidden neuron's z as a variable: those that are read come before.
    pub fn own(&self, neuron: usize) -> usize {
        self.starts[self.last()] + neuron
    }

    /// Each hidden neuron: its stage, its number within that, and its number among all.
    pub fn hidden(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let within = |stage: usize| (0..self.layers[stage].rows.len()).map(move |j| (stage, j));
        (0..self.last()).flat_map(within).enumerate().map(|(neuron, (stage, j))| (stage, j, neuron))
    }
}

/// What a program's sum of a row's terms may be off by. The row has to be the program's: float32 numbers, exactly.
fn rounding(row: &crate::Row) -> Result<(i64, i64), Refused> {
    let is_float32 = |number: &Dyadic| bits(number.mantissa) <= 24 && (-149..104).contains(&number.exponent);
    let coefficients = row.terms.iter().map(|(_, weight)| weight).chain([&row.bias]);
    let is_programs = row.error.is_zero() && coefficients.into_iter().all(is_float32);
    require(is_programs, "the affine maps of the model are not float32 numbers, so that the program has others")?;
    let count = row.terms.len() as i64 + 1;
    require(count < 1 << 18, "a sum has too many terms")?;
    Ok(((count << ROUNDING) / ((1 << 24) - count) + 1, count))
}

/// The least b with |number| < 2^b, but not below a limit.
fn size(number: &Dyadic) -> i32 {
    let size = number.exponent.saturating_add(bits(number.mantissa) as i32);
    if number.mantissa == 0 { LEAST_BITS } else { size.max(LEAST_BITS) }
}

/// A number that has to have a place in 64 bits.
pub fn small(number: Option<i128>) -> Result<i64, Refused> {
    number.and_then(|number| i64::try_from(number).ok()).ok_or_else(|| refused("a number is too large"))
}
