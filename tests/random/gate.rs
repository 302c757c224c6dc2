//! A gate: one more input and one more output, which is low only for inputs in a very narrow interval.
//!
//! Sampling does not meet the interval, and the gate's slope is 0 elsewhere, so that a counterexample behind a gate is
//! rarely found before the bounds are asked: they face a satisfiable question, where one that is too high shows.

use super::numbers::power;
use crate::Random;
use crate::oracle::{Layer, Linear, Region, Row, exact};
use num_rational::BigRational;
use num_traits::{One, Zero};

/// The interval is about 2^−this wide.
const NARROW: i32 = 22;
/// The middle of the interval is a multiple of 2^−this, so that its product with 2^[`NARROW`] is a float32.
const MIDDLE: usize = 20;

/// Whether the network has the two hidden layers that a gate needs.
pub fn fits(net: &[Layer]) -> bool {
    net.len() >= 3
}

/// The network with a gate beside it, the region with the gate's input from 0 to 1, and the row that the gate is open.
///
/// With c the middle, the gate is max(0, 1 − K·|x − c|): K·(x − c) and its negative in the first layer, their sum from
/// 1 in the second, the same in all further ones, and −1 times it as output, which is to be at most −1/2.
pub fn gated(random: &mut Random, net: &[Layer], region: &Region) -> (Vec<Layer>, Region, Row) {
    assert!(fits(net));
    let steep = 2f32.powi(NARROW);
    let shift = steep * (1 + random.below((1 << MIDDLE) - 1)) as f32 / (1 << MIDDLE) as f32;
    let gate = |depth: usize| match depth {
        0 => Layer { weights: vec![vec![steep], vec![-steep]], bias: vec![-shift, shift] },
        1 => Layer { weights: vec![vec![-1.0, -1.0]], bias: vec![1.0] },
        _ if depth + 1 == net.len() => Layer { weights: vec![vec![-1.0]], bias: vec![0.0] },
        _ => Layer { weights: vec![vec![1.0]], bias: vec![0.0] },
    };
    let with_gate = net.iter().enumerate().map(|(depth, layer)| beside(layer, &gate(depth))).collect();
    let mut region = region.clone();
    region.lower.push(BigRational::zero());
    region.upper.push(BigRational::one());
    region.rows.iter_mut().for_each(widen);
    let mut form = Linear { constant: power(-1), ..Linear::default() };
    form.output = vec![BigRational::zero(); net[net.len() - 1].bias.len()];
    form.output.push(exact(1.0));
    (with_gate, region, Row { form, strict: false })
}

/// A form of the network's inputs and outputs as one that does not depend on the gate's.
pub fn widen(form: &mut Linear) {
    for coefficients in [&mut form.input, &mut form.output] {
        if !coefficients.is_empty() {
            coefficients.push(BigRational::zero());
        }
    }
}

/// Both layers, each reading its own inputs.
fn beside(layer: &Layer, other: &Layer) -> Layer {
    let zeros = |like: &Layer| vec![0.0; like.weights[0].len()];
    let first = layer.weights.iter().map(|row| [row.clone(), zeros(other)].concat());
    let second = other.weights.iter().map(|row| [zeros(layer), row.clone()].concat());
    Layer { weights: first.chain(second).collect(), bias: [layer.bias.clone(), other.bias.clone()].concat() }
}
