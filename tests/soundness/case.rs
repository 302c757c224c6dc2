//! Questions about tiny networks with the oracle's answers, most of them near the border between the two answers.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use pg_codegen::interpret::Interpreter;
use pg_tests::Random;
use pg_tests::model::{compile, floats, int, model, node, value, with};
use pg_tests::oracle::{Layer, Linear, Region, Row, eval_exact, exact, exact_minimum, satisfying_input};

/// Whether some disjunct holds at some input of the network.
pub struct Case {
    pub net: Vec<Layer>,
    pub disjuncts: Vec<Conjunction>,
    /// The oracle's answer.
    pub satisfiable: bool,
    /// The answer stays the same when every bound moves by [`CLEARANCE`], and there is room for a float32 witness.
    pub clear: bool,
}

/// The inputs of the region at which all rows hold.
#[derive(Clone, Debug)]
pub struct Conjunction {
    pub region: Region,
    pub rows: Vec<Row>,
}

pub const CLEARANCE: f64 = 1e-6;
/// How far a threshold lies from where the answer changes.
const MARGINS: [f64; 9] = [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 0.0];
/// Thresholds have this many decimals.
const DIGITS: u32 = 12;

impl Conjunction {
    fn is_satisfiable(&self, net: &[Layer]) -> bool {
        satisfying_input(net, &self.region, &self.rows).is_some()
    }

    pub fn holds(&self, x: &[BigRational], y: &[BigRational]) -> bool {
        self.region.contains(x) && self.rows.iter().all(|row| row.holds(x, y))
    }

    /// With every bound further out, or further in if `by` is negative.
    fn moved(&self, by: &BigRational) -> Conjunction {
        let moved = |form: &Linear| Linear { constant: &form.constant - by, ..form.clone() };
        let region = Region {
            lower: self.region.lower.iter().map(|lower| lower - by).collect(),
            upper: self.region.upper.iter().map(|upper| upper + by).collect(),
            rows: self.region.rows.iter().map(moved).collect(),
        };
        let rows = self.rows.iter().map(|row| Row { form: moved(&row.form), strict: row.strict }).collect();
        Conjunction { region, rows }
    }
}

impl Case {
    fn new(net: Vec<Layer>, disjuncts: Vec<Conjunction>) -> Case {
        let satisfiable = disjuncts.iter().any(|d| d.is_satisfiable(&net));
        let clearance = BigRational::from_float(CLEARANCE).expect("a number");
        let by = if satisfiable { -clearance } else { clearance };
        let clear = disjuncts.iter().any(|d| d.moved(&by).is_satisfiable(&net)) == satisfiable;
        Case { net, disjuncts, satisfiable, clear }
    }

    pub fn network(&self) -> Interpreter {
        interpreter(&self.net).expect("it was one when the case was made")
    }

    /// Whether the input satisfies the property in exact arithmetic.
    pub fn holds_at(&self, x: &[f32]) -> bool {
        self.holds_with_room_at(x, 0.0)
    }

    /// Whether it still does when every bound is moved in.
    pub fn holds_with_room_at(&self, x: &[f32], room: f64) -> bool {
        let x: Vec<_> = x.iter().map(|&v| exact(v)).collect();
        let (y, by) = (eval_exact(&self.net, &x), BigRational::from_float(-room).expect("a number"));
        self.disjuncts.iter().any(|d| d.moved(&by).holds(&x, &y))
    }
}

/// The network by way of an ONNX model; `None` for one that does not depend on its input, which no model may.
pub fn interpreter(net: &[Layer]) -> Option<Interpreter> {
    let (mut tensors, mut nodes, mut last) = (vec![], vec![], "x".to_string());
    for (k, layer) in net.iter().enumerate() {
        let (rows, cols) = (layer.weights.len() as i64, layer.weights[0].len() as i64);
        let [w, b, z] = ["w", "b", "z"].map(|letter| format!("{letter}{k}"));
        tensors.push(floats(&w, &[rows, cols], &layer.weights.concat()));
        tensors.push(floats(&b, &[rows], &layer.bias));
        nodes.push(with("Gemm", &[&last, &w, &b], &z, vec![int("transB", 1)]));
        last = z;
        if k + 1 < net.len() {
            nodes.push(node("Relu", &[&last], &format!("h{k}")));
            last = format!("h{k}");
        }
    }
    let inputs = net[0].weights[0].len() as i64;
    match compile(&model(13, value("x", &[1, inputs]), tensors, nodes)) {
        Ok(compiled) => {
            assert!(compiled.layers.iter().all(|layer| layer.error.is_zero()), "nothing is rounded");
            Some(Interpreter::new(compiled))
        }
        Err(error) if error.to_string().contains("does not depend on the input") => None,
        Err(error) => panic!("{error}: {net:?}"),
    }
}

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
        if interpreter(&net).is_some() {
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
fn region(random: &mut Random, inputs: usize) -> Region {
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
fn form(random: &mut Random, inputs: usize, outputs: usize) -> Linear {
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

/// About the least value of `form` where the rows hold: its minimum over the region, or by bisection in one of four.
fn border(random: &mut Random, net: &[Layer], region: &Region, rows: &[Row], form: &Linear) -> BigRational {
    let Some(mut low) = exact_minimum(net, region, form) else { return BigRational::zero() };
    let Some(x) = satisfying_input(net, region, rows).filter(|_| random.below(4) == 0) else { return low };
    let mut high = form.at(&x, &eval_exact(net, &x));
    while (&high - &low).abs() > ratio(1, 1 << 20) {
        let middle = rounded(&((&low + &high) / ratio(2, 1)));
        let tried: Vec<_> = rows.iter().cloned().chain([at_most(form, &middle, false)]).collect();
        match satisfying_input(net, region, &tried) {
            Some(_) => high = middle,
            None => low = middle,
        }
    }
    high
}
