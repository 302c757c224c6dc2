//! The layers before a row of numbers, compacted and in float32: where the fast engine searches.
//!
//! A row is a linear function of the activations of the front's last layer. Neurons that the domain shows off are left out;
//! the others keep the numbers that the one bound needs, rounded so that what is computed from them in float32, less its
//! stated error, is a lower bound:
//!
//! - `slope` ĝ ≈ u/(u−l) is any number in [0, 1]; the multiplier of an undecided neuron with μ < 0 is ν = fl(μĝ);
//! - `cost` t is at least max(−ĝl, (1−ĝ)u) and what the rounding of ν adds, so that its term is at least μt;
//! - `slop` r is what a unit of |ν| may cost by the rounding of the product with the layer's matrix, at the largest
//!   activations before it, and by the layer's stated error.
//!
//! In the first layer undecided neurons with μ < 0 have no chord: they are spread over the inputs, see [`Spread`].
//!
//! Undecided neurons with μ ≥ 0 have ν = fl(αμ) ≤ μ, neurons fixed on ν = fl(μ−β) ≤ μ, neurons fixed off ν = β ≥ 0: their
//! terms are at least 0 exactly, since rounding is monotone.

use super::spread::Spread;
use super::{Domain, Layer, Layers, Objective};
use crate::kernel::{Matrix, padded};
use crate::network::Network;
use std::ops::Range;

/// Half the distance of 1 from the next float32: the relative error of one operation, with room for second-order terms.
pub(crate) const ROUND_32: f64 = 1.001 / 16_777_216.0;
/// The largest error of an operation whose result underflows.
const UNDERFLOW_32: f64 = f32::MIN_POSITIVE as f64;

pub struct Front {
    /// The number of the first layer: of what comes before it a box is known.
    begin: usize,
    /// The inputs of the network, or the live neurons before the first layer, that the box is of.
    before: Vec<usize>,
    pub(crate) layers: Vec<FrontLayer>,
    pub(crate) spread: Spread,
    /// The box, rounded outward, and the larger magnitude of its sides; padded with zeros.
    pub(crate) input_lower: Vec<f32>,
    pub(crate) input_upper: Vec<f32>,
    pub(crate) input_size: Vec<f32>,
    /// The padded widths of all layers together: the length of a node's shares.
    pub(crate) width: usize,
    /// All that underflow may cost a row, for multipliers up to 1.
    pub(crate) underflow: f64,
}

/// A neuron of a front: its layer, and its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub layer: u32,
    pub index: u32,
}

/// One layer: an entry for each live neuron, padded with zeros.
pub(crate) struct FrontLayer {
    /// The neurons' numbers in the network.
    pub neurons: Vec<usize>,
    pub width: usize,
    pub bias: Vec<f32>,
    /// For on neurons 1, 0 and 0.
    pub slope: Vec<f32>,
    pub cost: Vec<f32>,
    /// −ĝl: where the chord meets z = 0.
    pub lift: Vec<f32>,
    pub slop: Vec<f32>,
    /// The share of μ ≥ 0 to start from: all or nothing, whichever leaves the smaller triangle.
    pub alpha: Vec<f32>,
    /// min(u, −l), by which branching ranks neurons with μ ≥ 0.
    pub triangle: Vec<f32>,
    /// Of the neurons, to the activations before them; and the other way.
    pub back: Box<dyn Matrix>,
    pub forward: Box<dyn Matrix>,
}

/// A linear function of the activations of a front's last layer and perhaps of the inputs, to be bounded from below.
#[derive(Clone, Debug)]
pub struct Row {
    pub(crate) mu: Vec<f32>,
    pub(crate) x: Option<Vec<f32>>,
    pub(crate) constant: f64,
    /// How far this may be from the function meant, anywhere in the domain.
    pub(crate) error: f64,
}

impl Front {
    /// A span of layers on a domain. The box is of the network's inputs, or of the live activations before the span.
    pub fn new(
        network: &dyn Network,
        layers: &Layers,
        span: Range<usize>,
        domain: &Domain,
        (lower, upper): (&[f64], &[f64]),
    ) -> Front {
        let inputs = lower.len();
        let mut before: Vec<usize> = match span.start.checked_sub(1) {
            None => (0..inputs).collect(),
            Some(k) => domain.live(k).collect(),
        };
        assert_eq!(before.len(), inputs);
        let mut largest: Vec<f64> = lower.iter().zip(upper).map(|(l, u)| l.abs().max(u.abs())).collect();
        let pad = |values: Vec<f32>| pad(values, padded(inputs));
        let (input_lower, input_upper): (Vec<f32>, Vec<f32>) =
            (pad(lower.iter().map(|&l| below(l)).collect()), pad(upper.iter().map(|&u| above(u)).collect()));
        let mut front = Front {
            begin: span.start,
            before: before.clone(),
            layers: vec![],
            spread: Spread::new(network, &input_lower, &input_upper),
            input_lower,
            input_upper,
            input_size: pad(largest.iter().map(|&size| above(size)).collect()),
            width: 0,
            underflow: 0.0,
        };
        for k in span {
            let neurons: Vec<usize> = domain.live(k).collect();
            front.underflow += (neurons.len() + 8) as f64 * UNDERFLOW_32 * (largest.iter().sum::<f64>() + 8.0);
            let mut layer = FrontLayer::new(network, &layers.0[k], k, &neurons, &before, &largest, domain);
            front.width += layer.width;
            if front.layers.is_empty() {
                layer.spread();
                front.spread.take(network, &layer, &layers.0[k], &before);
            }
            largest = neurons.iter().map(|&j| domain.upper[k][j]).collect();
            front.layers.push(layer);
            before = neurons;
        }
        front
    }

    /// The undecided neurons.
    pub fn undecided(&self) -> impl Iterator<Item = Place> + '_ {
        let is_open = |layer: &FrontLayer, index: usize| layer.cost[index] > 0.0;
        let places = move |(k, layer)| {
            let place = move |index| Place { layer: k as u32, index: index as u32 };
            (0..FrontLayer::len(layer)).filter(move |&index| is_open(layer, index)).map(place)
        };
        self.layers.iter().enumerate().flat_map(places)
    }

    /// The neurons that a row refers to, and the largest that each may be.
    fn last(&self, domain: &Domain) -> (&[usize], Vec<f64>) {
        match self.layers.last() {
            Some(layer) => {
                let k = self.begin + self.layers.len() - 1;
                (&layer.neurons, layer.neurons.iter().map(|&i| domain.upper[k][i]).collect())
            }
            None => (&self.before, self.input_size.iter().map(|&size| size.into()).take(self.before.len()).collect()),
        }
    }

    /// A row with coefficients of the neurons that it refers to: of the box itself where there are no layers.
    fn row(&self, coefficients: Vec<f32>, constant: f64, error: f64) -> Row {
        match self.layers.last() {
            Some(layer) => Row { mu: pad(coefficients, layer.width), x: None, constant, error },
            None => Row { mu: vec![], x: Some(pad(coefficients, self.input_size.len())), constant, error },
        }
    }

    /// A neuron of the layer after the front, or its negative: exact but for the layer's stated error.
    pub fn neuron_row(&self, layer: &Layer, neuron: usize, sign: f32, domain: &Domain) -> Row {
        let (last, largest) = self.last(domain);
        let weights = layer.row(neuron);
        let coefficients = last.iter().map(|&i| sign * weights[i]).collect();
        let total: f64 = largest.iter().sum();
        let error = (layer.weight_error[neuron] * total + layer.bias_error[neuron]) * (1.0 + 1e-9);
        self.row(coefficients, f64::from(sign * layer.bias[neuron]), error)
    }

    /// A row with so many times another, both of hidden neurons: what the coefficients are rounded by is part of the error.
    pub fn sum_row(&self, row: &Row, times: f32, other: &Row, domain: &Domain) -> Row {
        assert!(row.x.is_none() && other.x.is_none());
        let (_, largest) = self.last(domain);
        let times_64 = f64::from(times);
        let mut error = row.error + times_64.abs() * other.error;
        for ((&a, &b), largest) in row.mu.iter().zip(&other.mu).zip(&largest) {
            error += 2.0 * ROUND_32 * (f64::from(a).abs() + (times_64 * f64::from(b)).abs()) * largest;
            error += UNDERFLOW_32 * largest;
        }
        let product = times_64 * other.constant;
        error += 2.0 * f64::EPSILON * (row.constant.abs() + product.abs());
        Row {
            mu: row.mu.iter().zip(&other.mu).map(|(a, b)| a + times * b).collect(),
            x: None,
            constant: row.constant + product,
            error: error * (1.0 + 1e-9) + f64::MIN_POSITIVE,
        }
    }

    /// An objective over the network's outputs, carried to the last hidden layer in float64 and rounded: the distance from
    /// what is rounded is part of the row's error. Coefficients of the network's inputs need a front that starts there.
    pub fn objective_row(&self, layer: &Layer, objective: &Objective, domain: &Domain) -> Row {
        assert!(!self.layers.is_empty() && (self.begin == 0 || !objective.has_inputs()));
        let (last, largest) = self.last(domain);
        let round = (layer.outputs as f64 + 4.0) * f64::EPSILON;
        let mut error = objective.constant_error;
        let mut coefficients = Vec::with_capacity(last.len());
        for (&i, largest) in last.iter().zip(&largest) {
            let (mut sum, mut size) = (0.0, 0.0);
            for (j, &c) in objective.y.iter().enumerate() {
                let term = c * f64::from(layer.row(j)[i]);
                sum += term;
                size += term.abs();
            }
            let rounded = sum as f32;
            error += ((sum - f64::from(rounded)).abs() + round * size) * largest;
            coefficients.push(rounded);
        }
        let total: f64 = largest.iter().sum();
        let outputs = domain.lower.len() - 1;
        let (mut constant, mut size) = (objective.constant, objective.constant.abs());
        for (j, &c) in objective.y.iter().enumerate() {
            let term = c * f64::from(layer.bias[j]);
            constant += term;
            size += term.abs();
            error += c.abs() * (layer.weight_error[j] * total + layer.bias_error[j]);
            error += objective.y_error[j] * domain.lower[outputs][j].abs().max(domain.upper[outputs][j].abs());
        }
        error += round * size;
        let mut row = self.row(coefficients, constant, 0.0);
        if objective.has_inputs() {
            let rounded: Vec<f32> = objective.x.iter().map(|&a| a as f32).collect();
            for (i, (&a, &size)) in rounded.iter().zip(&self.input_size).enumerate() {
                error += ((objective.x[i] - f64::from(a)).abs() + objective.x_error[i]) * f64::from(size);
            }
            row.x = Some(pad(rounded, self.input_size.len()));
        }
        row.error = error * (1.0 + 1e-9) + f64::MIN_POSITIVE;
        row
    }
}

impl FrontLayer {
    /// The number of live neurons.
    fn len(&self) -> usize {
        self.neurons.len()
    }

    fn new(
        network: &dyn Network,
        layer: &Layer,
        k: usize,
        neurons: &[usize],
        before: &[usize],
        largest: &[f64],
        domain: &Domain,
    ) -> FrontLayer {
        let (rows, cols) = (neurons.len(), before.len());
        let width = padded(rows);
        let back: Vec<f32> = neurons.iter().flat_map(|&j| before.iter().map(move |&i| layer.row(j)[i])).collect();
        let forward: Vec<f32> = before.iter().flat_map(|&i| neurons.iter().map(move |&j| layer.row(j)[i])).collect();
        let total: f64 = largest.iter().sum::<f64>() * (1.0 + 1e-9);
        let rounding = (rows as f64 + 4.0) * ROUND_32;
        let mut made = FrontLayer {
            neurons: neurons.to_vec(),
            width,
            bias: vec![0.0; width],
            slope: vec![0.0; width],
            cost: vec![0.0; width],
            lift: vec![0.0; width],
            slop: vec![0.0; width],
            alpha: vec![0.0; width],
            triangle: vec![0.0; width],
            back: network.matrix(rows, cols, &back),
            forward: network.matrix(cols, rows, &forward),
        };
        for (index, &j) in neurons.iter().enumerate() {
            let size: f64 = before.iter().zip(largest).map(|(&i, h)| f64::from(layer.row(j)[i]).abs() * h).sum();
            let error = rounding * size + layer.weight_error[j] * total + layer.bias_error[j];
            made.slop[index] = above(error * (1.0 + 1e-9)) + f32::MIN_POSITIVE;
            made.bias[index] = layer.bias[j];
            made.relax(index, domain.lower[k][j], domain.upper[k][j]);
        }
        made
    }

    /// For the first layer: the undecided neurons with μ < 0 have no chords.
    fn spread(&mut self) {
        let undecided = self.slope.iter_mut().zip(&self.cost).filter(|(_, cost)| **cost > 0.0);
        undecided.for_each(|(slope, _)| *slope = 0.0);
    }

    /// The triangle of a neuron with these bounds.
    fn relax(&mut self, index: usize, l: f64, u: f64) {
        if l >= 0.0 {
            (self.slope[index], self.alpha[index]) = (1.0, 1.0);
            return;
        }
        let slope = ((u / (u - l)) as f32).clamp(0.0, 1.0);
        let g = f64::from(slope);
        let piece = (-g * l).max((1.0 - g) * u) + g * ROUND_32 * u.max(-l);
        self.slope[index] = slope;
        self.cost[index] = above(piece * (1.0 + 1e-9)) + f32::MIN_POSITIVE;
        self.lift[index] = (-g * l) as f32;
        self.alpha[index] = if u > -l { 1.0 } else { 0.0 };
        self.triangle[index] = u.min(-l) as f32;
    }
}

fn pad(mut values: Vec<f32>, width: usize) -> Vec<f32> {
    values.resize(width, 0.0);
    values
}

/// The nearest float32 below, and above.
fn below(value: f64) -> f32 {
    let rounded = value as f32;
    if f64::from(rounded) <= value { rounded } else { rounded.next_down() }
}

pub(crate) fn above(value: f64) -> f32 {
    -below(-value)
}
