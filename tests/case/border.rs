//! Cases of ordinary numbers whose thresholds lie near the border between the two answers.

use super::{Case, Conjunction, ignores_its_input};
use crate::Random;
use crate::oracle::{Layer, Linear, Region, Row, eval_exact, exact_minimum, exact_minimum_where};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

/// How far a threshold lies from where the answer changes.
const MARGINS: [f64; 9] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0];
/// Thresholds have this many decimals.
const DIGITS: u32 = 12;

/// At most `relus` ReLUs in one to three hidden layers; weights are quarters, or any float32.
pub fn network(random: &mut Random, inputs: usize, outputs: usize, relus: usize) -> Vec<Layer> {
    loop {
        let hidden = 1 + random.below(3);
        let mut widths: Vec<usize> = (0..hidden).map(|_| 1 + random.below(relus / hidden)).collect();
        widths.push(outputs);
        let coarse = random.below(2) == 0;
        let mut weight =
            |scale: f32| if coarse { (random.below(13) as f32 - 6.0) / 4.0 } else { scale * random.number() };
        let mut before = inputs;
        let layers = widths.into_iter().map(|width| {
            let weights = (0..width).map(|_| (0..before).map(|_| weight(1.5)).collect()).collect();
            before = width;
            Layer { weights, bias: (0..width).map(|_| weight(0.75)).collect() }
        });
        let net: Vec<Layer> = layers.collect();
        if !ignores_its_input(&net) {
            return net;
        }
    }
}

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

/// A number of hundredths from −`most` to `most` of them.
fn hundredths(random: &mut Random, most: usize) -> BigRational {
    ratio(random.below(2 * most + 1) as i64 - most as i64, 100)
}

fn quarters(random: &mut Random, count: usize) -> Vec<BigRational> {
    (0..count).map(|_| ratio(random.below(9) as i64 - 4, 4)).collect()
}

/// A box within [−2, 2], one side in twenty a single value, cut by up to two half-spaces.
pub fn region(random: &mut Random, inputs: usize) -> Region {
    let lower: Vec<_> = (0..inputs).map(|_| hundredths(random, 100)).collect();
    let widths = (0..inputs).map(|_| if random.below(20) == 0 { 0 } else { 1 + random.below(100) as i64 });
    let upper: Vec<_> = lower.iter().zip(widths).map(|(lower, width)| lower + ratio(width, 100)).collect();
    let middle: Vec<_> = lower.iter().zip(&upper).map(|(l, u)| (l + u) / ratio(2, 1)).collect();
    let rows = [0, 0, 0, 1, 2][random.below(5)];
    let rows = (0..rows).map(|_| {
        let form = Linear { input: quarters(random, inputs), ..Linear::default() };
        let slack = ratio(random.below(60) as i64 - 10, 100);
        Linear { constant: rounded(&-(form.at(&middle, &[]) + slack)), ..form }
    });
    let rows = rows.collect();
    Region { lower, upper, rows }
}

/// One output, a difference of two, or any combination, in one of three with inputs.
pub fn form(random: &mut Random, inputs: usize, outputs: usize) -> Linear {
    let mut output = vec![BigRational::zero(); outputs];
    match random.below(3) {
        0 => output[random.below(outputs)] = random.pick(&[ratio(1, 1), ratio(-1, 1)]),
        1 if outputs > 1 => {
            let first = random.below(outputs);
            output[first] = ratio(1, 1);
            output[(first + 1 + random.below(outputs - 1)) % outputs] = ratio(-1, 1);
        }
        _ => output = quarters(random, outputs),
    }
    let input = if random.below(3) == 0 { quarters(random, inputs) } else { vec![] };
    Linear { input, output, constant: BigRational::zero() }
}

/// The next smaller number of [`DIGITS`] decimals.
fn rounded(value: &BigRational) -> BigRational {
    let unit = BigRational::from_integer(BigInt::from(10).pow(DIGITS));
    (value * &unit).floor() / unit
}

/// `form` ≤ `border` ± a margin. The margin 0 is meant exactly, if the border has few decimals.
fn threshold(random: &mut Random, border: &BigRational) -> BigRational {
    let margin = random.pick(&MARGINS);
    let sign = random.pick(&[ratio(1, 1), ratio(-1, 1)]);
    let short = (border * BigInt::from(10).pow(3 * DIGITS)).is_integer();
    if margin == 0.0 && short {
        return border.clone();
    }
    rounded(&(border + sign * BigRational::from_float(margin).expect("a number")))
}

fn at_most(form: &Linear, threshold: &BigRational, strict: bool) -> Row {
    Row { form: Linear { constant: -threshold, ..form.clone() }, strict }
}

fn sizes(random: &mut Random) -> (usize, usize) {
    (1 + random.below(3), 1 + random.below(3))
}

/// Cases with one row, whose thresholds lie around its exact minimum over the region.
pub fn single_row(random: &mut Random, relus: usize, count: usize) -> Vec<Case> {
    let (inputs, outputs) = sizes(random);
    let net = network(random, inputs, outputs, relus);
    let (region, form) = (region(random, inputs), form(random, inputs, outputs));
    let least = exact_minimum(&net, &region, &form).unwrap_or_else(BigRational::one);
    let case = |_| {
        let (threshold, strict) = (threshold(random, &least), random.below(2) == 0);
        let conjunction = Conjunction { region: region.clone(), rows: vec![at_most(&form, &threshold, strict)] };
        Case::new(net.clone(), vec![conjunction])
    };
    (0..count).map(case).collect()
}

/// A case with one to three disjuncts of several rows each.
pub fn several_rows(random: &mut Random, relus: usize) -> Case {
    let (inputs, outputs) = sizes(random);
    let net = network(random, inputs, outputs, relus);
    let disjuncts = (0..1 + random.below(3)).map(|_| conjunction(random, &net, inputs, outputs)).collect();
    Case::new(net, disjuncts)
}

/// Rows that hold at some input of the box, or nearly so, and a last one whose threshold lies around the least that the
/// others allow.
fn conjunction(random: &mut Random, net: &[Layer], inputs: usize, outputs: usize) -> Conjunction {
    let region = region(random, inputs);
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..random.below(3) {
        let form = form(random, inputs, outputs);
        let x: Vec<_> = region.lower.iter().zip(&region.upper).map(|(l, u)| l + (u - l) * ratio(1, 3)).collect();
        let slack = ratio(random.below(40) as i64 - 5, 100);
        let threshold = rounded(&(form.at(&x, &eval_exact(net, &x)) + slack));
        rows.push(at_most(&form, &threshold, random.below(2) == 0));
    }
    if random.below(4) == 0 {
        rows.push(strict_bound(random, &region));
    }
    let form = form(random, inputs, outputs);
    let border = border(random, net, &region, &rows, &form);
    rows.push(at_most(&form, &threshold(random, &border), random.below(2) == 0));
    Conjunction { region, rows }
}

/// One side of the box, without its end.
fn strict_bound(random: &mut Random, region: &Region) -> Row {
    let i = random.below(region.lower.len());
    let (sign, end) = random.pick(&[(ratio(-1, 1), &region.lower[i]), (ratio(1, 1), &region.upper[i])]);
    let mut input = vec![BigRational::zero(); region.lower.len()];
    input[i] = sign.clone();
    Row { form: Linear { input, constant: -(sign * end), ..Linear::default() }, strict: true }
}

/// The least value of `form` where the rows hold, which is asked for in one of four, or over the whole region.
fn border(random: &mut Random, net: &[Layer], region: &Region, rows: &[Row], form: &Linear) -> BigRational {
    let rows = if random.below(4) == 0 { rows } else { &[] };
    let least = |rows: &[Row]| exact_minimum_where(net, region, rows, form);
    least(rows).or_else(|| least(&[])).unwrap_or_else(BigRational::zero)
}
