//! The rigorous bound against exact minima: never above, whatever the multipliers, the weights and the graph.

mod boxes;
mod compact;
mod conjunction;
mod plain;

use num_rational::BigRational;
use num_traits::ToPrimitive;
use pg_core::{Network, Shape};
use pg_runtime::bounds::{Bounder, Bounds, Objective, Relaxation};
use pg_runtime::replay::{enclose, evaluate};
use pg_tests::Random;
use pg_tests::graph::{Graph, GraphStage};
use pg_tests::oracle::{Layer, Linear, Region, eval_exact, exact, exact_minimum};

const CASES: u64 = 400;
const RULES: [Relaxation; 2] = [Relaxation::Adaptive, Relaxation::Parallel];

/// What weights are drawn from: ordinary numbers, or any float32, or such that follow each other with inverse exponents.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Ordinary,
    AnyExponent,
    Inverse,
}

const KINDS: [Kind; 3] = [Kind::Ordinary, Kind::AnyExponent, Kind::Inverse];

/// A number of a random sign and mantissa, near two to the given power.
fn number_near(power: i32, random: &mut Random) -> f32 {
    (f64::from(random.number()) * f64::from(power).exp2()) as f32
}

fn draw(kind: Kind, random: &mut Random) -> f32 {
    match kind {
        Kind::Ordinary => random.number(),
        Kind::AnyExponent | Kind::Inverse => {
            let power = random.below(276) as i32 - 149;
            number_near(power, random)
        }
    }
}

/// A random graph: a chain half of the time.
fn network(kind: Kind, random: &mut Random) -> Graph {
    let inputs = 1 + random.below(3);
    let mut widths: Vec<usize> = (0..1 + random.below(3)).map(|_| 1 + random.below(4)).collect();
    widths.push(1 + random.below(2));
    match kind {
        Kind::Inverse => inverse(inputs, &widths, random),
        _ if random.below(2) == 0 => chain(inputs, &widths, kind, random),
        _ => Graph::random(inputs, &widths[widths.len().saturating_sub(3)..], random, |random| draw(kind, random)),
    }
}

fn chain(inputs: usize, widths: &[usize], kind: Kind, random: &mut Random) -> Graph {
    stages(inputs, widths, |_| 0, |_, random| draw(kind, random), random)
}

/// Layers whose powers of two cancel: what comes out is of ordinary size, what is in between is not.
fn inverse(inputs: usize, widths: &[usize], random: &mut Random) -> Graph {
    let powers: Vec<i32> = widths.iter().map(|_| random.below(250) as i32 - 125).collect();
    let power = |k: usize| {
        let before = if k == 0 { 0 } else { powers[k - 1] };
        let after = if k + 1 == powers.len() { 0 } else { powers[k] };
        (after - before).clamp(-149, 127)
    };
    stages(inputs, widths, power, number_near, random)
}

fn stages(
    inputs: usize,
    widths: &[usize],
    power: impl Fn(usize) -> i32,
    draw: impl Fn(i32, &mut Random) -> f32,
    random: &mut Random,
) -> Graph {
    let mut stages = Vec::new();
    for (k, &width) in widths.iter().enumerate() {
        let (from, count) = match k.checked_sub(1) {
            None => (pg_core::Source::Input, inputs),
            Some(s) => (pg_core::Source::Stage(s), widths[s]),
        };
        let mut row = |count: usize| (0..count).map(|_| draw(power(k), random)).collect::<Vec<f32>>();
        let rows = (0..width).map(|_| row(count)).collect();
        stages.push(GraphStage { reads: vec![(from, rows)], bias: row(width) });
    }
    Graph::new(inputs, stages)
}

fn rational(value: f64) -> BigRational {
    BigRational::from_float(value).expect("a finite number")
}

fn output(coefficients: &[f32], constant: f32) -> Linear {
    let output = coefficients.iter().map(|&v| exact(v)).collect();
    Linear { input: vec![], output, constant: exact(constant) }
}

fn unit(count: usize, place: usize, sign: f32) -> Vec<f32> {
    (0..count).map(|j| if j == place { sign } else { 0.0 }).collect()
}

/// A box, once for the runtime and once for the oracle.
struct Cube {
    lower: Vec<f64>,
    upper: Vec<f64>,
    region: Region,
}

fn cube(inputs: usize, random: &mut Random) -> Cube {
    let (a, b) = (random.numbers(inputs), random.numbers(inputs));
    let side = |pick: fn(f32, f32) -> f32| a.iter().zip(&b).map(|(&a, &b)| f64::from(pick(a, b))).collect();
    let (lower, upper): (Vec<f64>, Vec<f64>) = (side(f32::min), side(f32::max));
    let of = |side: &[f64]| side.iter().map(|&v| rational(v)).collect();
    let region = Region { lower: of(&lower), upper: of(&upper), rows: vec![] };
    Cube { lower, upper, region }
}

fn bounded<'a>(shape: Shape<'a>, cube: &Cube) -> (Bounder<'a>, Bounds) {
    Bounder::new(shape, cube.lower.clone(), cube.upper.clone(), None, &RULES, false, &|_, _| true)
        .expect("a box is not empty")
}

/// That a bound is not above; of ordinary weights also that there is one.
fn assert_below(bound: f64, least: &BigRational, kind: Kind, what: &dyn std::fmt::Debug) {
    assert!(kind != Kind::Ordinary || bound.is_finite(), "{what:?}: {bound}");
    assert!(!bound.is_finite() || rational(bound) <= *least, "{what:?}: {bound} above {:?}", least.to_f64());
}

#[test]
fn no_bound_is_above_the_exact_minimum() {
    for seed in 0..2 * CASES {
        let kind = KINDS[seed as usize % KINDS.len()];
        let mut random = Random::new(seed);
        let network = network(kind, &mut random);
        let shape = network.shape();
        let (inputs, outputs, count) = (shape.inputs, shape.outputs(), shape.stages.len());
        let cube = cube(inputs, &mut random);
        let (bounder, bounds) = bounded(shape, &cube);

        for stage in 0..count {
            let width = shape.stages[stage].width();
            let neuron = seed as usize % width;
            for sign in [1.0, -1.0] {
                let form = output(&unit(width, neuron, sign), 0.0);
                let least = exact_minimum(&network.chain(stage + 1), &cube.region, &form).expect("nonempty");
                let (l, u) = bounds.of(stage, neuron);
                assert_below(if sign > 0.0 { l } else { -u }, &least, kind, &(seed, stage, neuron));
            }
        }

        let power = if kind == Kind::Ordinary { 0 } else { random.below(2000) as i32 - 1000 };
        let (y, constant) = (random.numbers(outputs), random.number());
        let least = exact_minimum(&network.chain(count), &cube.region, &output(&y, constant)).expect("nonempty");
        let least = least * rational(f64::from(power).exp2());
        let scaled = |v: f32| f64::from(v) * f64::from(power).exp2();
        let mut objective = Objective::zero(inputs, outputs);
        objective.y = y.iter().map(|&v| scaled(v)).collect();
        objective.constant = scaled(constant);
        let mut found = RULES.map(|rule| bounder.objective_bound(&bounds, &objective, rule)).to_vec();
        for _ in 0..4 {
            let hidden = shape.stages[..count - 1].iter();
            let multipliers: Vec<Vec<f64>> =
                hidden.map(|stage| (0..stage.width()).map(|_| f64::from(draw(kind, &mut random))).collect()).collect();
            found.push(bounder.certify(&bounds, &objective, &multipliers));
        }
        found.into_iter().for_each(|bound| assert_below(bound, &least, kind, &seed));
    }
}

#[test]
fn an_enclosure_holds_the_exact_output_and_evaluation_is_exact() {
    for seed in 0..CASES {
        let kind = KINDS[seed as usize % KINDS.len()];
        let mut random = Random::new(seed);
        let network = network(kind, &mut random);
        let shape = network.shape();
        let x = random.numbers(shape.inputs);
        let point: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        let (low, high) = enclose(&shape, (&point, &point));
        let chain: Vec<Layer> = network.chain(shape.stages.len());
        let point: Vec<BigRational> = x.iter().map(|&v| exact(v)).collect();
        let outputs = eval_exact(&chain, &point);
        let evaluated = evaluate(&shape, &x).expect("an exact network");
        for (j, value) in outputs.iter().enumerate() {
            assert_eq!(evaluated[j].to_rational(), *value, "seed {seed}, output {j}");
            if low[j].is_finite() && high[j].is_finite() {
                assert!(rational(low[j]) <= *value && *value <= rational(high[j]), "seed {seed}, output {j}");
            }
            assert!(kind != Kind::Ordinary || high[j] - low[j] < 1e-12, "seed {seed}: {} to {}", low[j], high[j]);
        }
    }
}
