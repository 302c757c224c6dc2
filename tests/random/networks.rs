//! Networks that floating point finds hard: degenerate ones, and ones whose weights have every exponent.

use super::numbers::{between, dyadic, grid_point, nearest, power, sign, times_power, wild};
use crate::Random;
use crate::oracle::{Layer, Region, eval_exact, exact};
use num_rational::BigRational;
use num_traits::{Signed, Zero};

/// The most by which a weight of ordinary size is multiplied, as a power of two: 1.5·2^126 is still a float32.
const MOST: i32 = 126;
/// And the most by which it is divided.
const LEAST: i32 = 149;

/// At most `relus` ReLUs in `hidden` layers, and every number by `number`, which is told whether it is a bias.
fn filled(
    random: &mut Random,
    sizes: (usize, usize),
    relus: usize,
    hidden: usize,
    number: fn(&mut Random, bool) -> f32,
) -> Vec<Layer> {
    let (mut before, outputs) = sizes;
    let most = (relus / hidden).min(4);
    let widths = (0..hidden).map(|_| 1 + random.below(most)).collect::<Vec<_>>().into_iter().chain([outputs]);
    let layer = |width: usize| {
        let inputs = std::mem::replace(&mut before, width);
        let weights = (0..width).map(|_| (0..inputs).map(|_| number(random, false)).collect()).collect();
        Layer { weights, bias: (0..width).map(|_| number(random, true)).collect() }
    };
    widths.map(layer).collect()
}

fn hidden(random: &mut Random) -> usize {
    1 + random.below(3)
}

/// Weights that are small multiples of 1/4, half of the biases 0, and in one of three neurons the previous one's kink.
pub fn degenerate(random: &mut Random, sizes: (usize, usize), relus: usize) -> Vec<Layer> {
    let number = |random: &mut Random, is_bias| if is_bias && random.below(2) == 0 { 0.0 } else { dyadic(random) };
    let hidden = hidden(random);
    let mut net = filled(random, sizes, relus, hidden, number);
    for layer in &mut net[..hidden] {
        for i in 1..layer.bias.len() {
            if random.below(3) == 0 {
                let sign = sign(random);
                layer.weights[i] = layer.weights[i - 1].iter().map(|w| sign * w).collect();
                layer.bias[i] = sign * layer.bias[i - 1];
            }
        }
    }
    net
}

/// Weights and biases of every exponent.
pub fn anything(random: &mut Random, sizes: (usize, usize), relus: usize) -> Vec<Layer> {
    let hidden = hidden(random);
    filled(random, sizes, relus, hidden, |random, _| wild(random))
}

/// Up to four layers of one or two neurons, or in one network of four more layers of one, that each make their input
/// much smaller, or in one network of four much larger; one layer of four does the opposite.
pub fn drifting(random: &mut Random, sizes: (usize, usize)) -> Vec<Layer> {
    let (hidden, most) = if random.below(4) == 0 { (5 + random.below(5), 1) } else { (1 + random.below(4), 2) };
    let number = |random: &mut Random, is_bias: bool| {
        let sign = random.pick(&[1.0, 1.0, 1.0, -1.0]);
        if is_bias { 0.0 } else { sign * (0.5 + random.number().abs()) }
    };
    let mut net = filled(random, sizes, most * hidden, hidden, number);
    let is_growing = random.below(4) == 0;
    for layer in &mut net {
        let goes_up = is_growing != (random.below(4) == 0);
        let exponent = if goes_up { between(random, 40, MOST) } else { between(random, -LEAST, -40) };
        layer.weights.iter_mut().flatten().for_each(|w| *w = times_power(*w, exponent));
    }
    net
}

/// The exponents of an ordinary network's inputs and of its neurons after scaling, layer by layer.
pub type Exponents = Vec<Vec<i32>>;

/// Whole layers far up or down, and the outputs back near their ordinary size; in one layer of three, some neurons
/// lower.
pub fn by_layer(random: &mut Random, net: &[Layer]) -> Exponents {
    let mut exponents: Exponents = vec![vec![random.pick(&[0, 0, 0, 40, -40, -100]); net[0].weights[0].len()]];
    for (k, layer) in net.iter().enumerate() {
        let last = exponents[k].iter().copied().max().expect("a layer has a neuron");
        let target = if k + 1 == net.len() { between(random, -24, 4) } else { any_target(random) };
        let base = target.clamp(last - LEAST, last + MOST).clamp(-LEAST, MOST);
        let depth = random.pick(&[0, 0, 30]);
        exponents.push(layer.bias.iter().map(|_| base - random.below(depth + 1) as i32).collect());
    }
    exponents
}

/// The last hidden layer as large as can be, after layers of moderate size and before weights that are subnormal or
/// nearly.
pub fn with_peak(random: &mut Random, net: &[Layer]) -> Exponents {
    let mut exponents: Exponents = vec![vec![random.pick(&[0, 0, 0, 40, -40]); net[0].weights[0].len()]];
    for (k, layer) in net.iter().enumerate() {
        let exponent = match net.len() - 1 - k {
            0 => exponents[k][0] - random.pick(&[120, 138, 143, 143]) - between(random, 0, 6),
            1 => between(random, MOST - 8, MOST),
            _ => between(random, -20, 60),
        };
        exponents.push(vec![exponent; layer.bias.len()]);
    }
    exponents
}

/// An exponent for a hidden layer: high, low, ordinary or any.
fn any_target(random: &mut Random) -> i32 {
    let (least, most) = random.pick(&[(MOST - 8, MOST), (-MOST, -MOST + 8), (-4, 20), (-MOST, MOST)]);
    between(random, least, most)
}

/// Every neuron and input by itself, the outputs near their ordinary size.
pub fn by_neuron(random: &mut Random, net: &[Layer]) -> Exponents {
    let inputs = net[0].weights[0].len();
    let free = |random: &mut Random, count: usize| (0..count).map(|_| between(random, -70, 63)).collect();
    let mut exponents = vec![free(random, inputs)];
    exponents.extend(net[..net.len() - 1].iter().map(|layer| free(random, layer.bias.len())));
    exponents.push(net[net.len() - 1].bias.iter().map(|_| between(random, -4, 4)).collect());
    exponents
}

/// The network with neuron i of layer k multiplied by 2^e, e its exponent, and its inputs' factors divided out: the
/// same function but for the factors of inputs and outputs, if nothing leaves the range of float32.
pub fn rescaled(net: &[Layer], exponents: &Exponents) -> Vec<Layer> {
    let scaled = |(layer, pair): (&Layer, &[Vec<i32>])| {
        let row = |(weights, own): (&Vec<f32>, &i32)| {
            weights.iter().zip(&pair[0]).map(|(&w, before)| times_power(w, own - before)).collect()
        };
        Layer {
            weights: layer.weights.iter().zip(&pair[1]).map(row).collect(),
            bias: layer.bias.iter().zip(&pair[1]).map(|(&b, &own)| times_power(b, own)).collect(),
        }
    };
    net.iter().zip(exponents.windows(2)).map(scaled).collect()
}

/// The region of the rescaled network's inputs.
pub fn rescaled_region(region: &Region, exponents: &[i32]) -> Region {
    let times = |values: &[BigRational], sign: i32| -> Vec<BigRational> {
        values.iter().zip(exponents).map(|(value, &exponent)| value * power(sign * exponent)).collect()
    };
    let mut rows = region.rows.clone();
    rows.iter_mut().for_each(|row| row.input = times(&row.input, -1));
    Region { lower: times(&region.lower, 1), upper: times(&region.upper, 1), rows }
}

/// Gives three of four neurons before the last hidden layer a bias with which they are on in the whole box, so that few
/// undecided neurons are left, and bounds are tight.
pub fn switch_on(random: &mut Random, net: &mut [Layer], region: &Region) {
    let ends = region.lower.iter().zip(&region.upper);
    let mut sides: Vec<(BigRational, BigRational)> = ends.map(|(l, u)| (l.clone(), u.clone())).collect();
    let before_last = net.len().saturating_sub(2);
    for layer in &mut net[..before_last] {
        let mut after = Vec::new();
        for (weights, bias) in layer.weights.iter().zip(&mut layer.bias) {
            let (mut low, mut high) = (exact(*bias), exact(*bias));
            for (&w, (l, u)) in weights.iter().zip(&sides) {
                let (least, most) = if w < 0.0 { (u, l) } else { (l, u) };
                low += exact(w) * least;
                high += exact(w) * most;
            }
            if low.is_negative() && random.below(4) > 0 {
                let raised = nearest(&(exact(*bias) - &low)).next_up();
                let by = exact(raised) - exact(*bias);
                (*bias, low, high) = (raised, low + &by, high + by);
            }
            let zero = BigRational::zero;
            after.push((low.max(zero()), high.max(zero())));
        }
        sides = after;
    }
}

/// Gives half of the neurons the bias with which, up to its rounding, their kink meets some point of the box.
pub fn bend_inside(random: &mut Random, net: &mut [Layer], region: &Region) {
    for depth in 0..net.len() {
        let x = grid_point(random, &region.lower, &region.upper);
        let mut h = eval_exact(&net[..depth], &x);
        if depth > 0 {
            h.iter_mut().filter(|z| z.is_negative()).for_each(|z| *z = BigRational::zero());
        }
        let layer = &mut net[depth];
        for (weights, bias) in layer.weights.iter().zip(&mut layer.bias) {
            if random.below(2) == 0 {
                let sum: BigRational = weights.iter().zip(&h).map(|(&w, h)| exact(w) * h).sum();
                *bias = nearest(&-sum);
            }
        }
    }
}
