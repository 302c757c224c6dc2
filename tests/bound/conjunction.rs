//! Combinations of rows in float32, and what the rows of a conjunction leave of a box, against exact arithmetic.

use super::compact::{compact, objective, raised, tree};
use super::{CASES, Cube, KINDS, Kind, assert_below, bounded, cube, network, rational};
use num_rational::BigRational;
use num_traits::Zero;
use pg_core::{Network, Source};
use pg_runtime::bounds::{Bounds, Compact, Conjunction, Emptiness, Node, Objective};
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search::{Ascent, Conditions, Domain, verify_tuned};
use pg_runtime::tuning::{Steps, Tuning};
use pg_tests::Random;
use pg_tests::graph::{Graph, GraphStage};
use pg_tests::oracle::{Layer, Linear, Region, Row, eval_exact, exact, exact_minimum, satisfying_input};

/// Some rows of inputs and outputs, once for the runtime and once for the oracle.
struct Rows {
    objectives: Vec<Objective>,
    forms: Vec<Linear>,
}

fn rows(count: usize, inputs: usize, outputs: usize, random: &mut Random) -> Rows {
    let mut rows = Rows { objectives: vec![], forms: vec![] };
    for _ in 0..count {
        let x = if random.below(2) == 0 { vec![0.0; inputs] } else { random.numbers(inputs) };
        let (y, constant) = (random.numbers(outputs), random.number());
        rows.objectives.push(objective(&x, &y, constant));
        let [input, output] = [&x, &y].map(|values| values.iter().map(|&v| exact(v)).collect());
        rows.forms.push(Linear { input, output, constant: exact(constant) });
    }
    rows
}

impl Rows {
    /// Moves the constants so that a point is on the border of every row, or this far from it.
    fn meet(&mut self, layers: &[Layer], x: &[BigRational], distance: f64) {
        let y = eval_exact(layers, x);
        for (form, objective) in self.forms.iter_mut().zip(&mut self.objectives) {
            let value = num_traits::ToPrimitive::to_f64(&form.at(x, &y)).filter(|value| value.is_finite());
            let constant = (objective.constant - value.unwrap_or(0.0) + distance).clamp(-1e300, 1e300);
            (objective.constant, form.constant) = (constant, rational(constant));
        }
    }

    fn conjunction(&self, network: &Graph, compact: &Compact, bounds: &Bounds) -> Conjunction {
        let shape = network.shape();
        let last = &shape.stages[shape.last()];
        let rows = self.objectives.iter().map(|row| compact.objective_row(last, row, bounds)).collect();
        Conjunction::new(compact, rows, bounds)
    }

    fn combination(&self, weights: &[f32]) -> Linear {
        let mut sum = self.forms[0].clone();
        sum.input.iter_mut().chain(&mut sum.output).for_each(|v| *v = BigRational::zero());
        sum.constant = BigRational::zero();
        for (form, &weight) in self.forms.iter().zip(weights) {
            let weight = exact(weight);
            sum.input.iter_mut().zip(&form.input).for_each(|(to, from)| *to += &weight * from);
            sum.output.iter_mut().zip(&form.output).for_each(|(to, from)| *to += &weight * from);
            sum.constant += &weight * &form.constant;
        }
        sum
    }

    fn satisfying_input(&self, layers: &[Layer], cube: &Cube) -> Option<Vec<BigRational>> {
        let rows: Vec<Row> = self.forms.iter().map(|form| Row { form: form.clone(), strict: false }).collect();
        satisfying_input(layers, &cube.region, &rows)
    }
}

/// A weight of any size that is not negative.
fn weight(kind: Kind, random: &mut Random) -> f32 {
    match random.below(4) {
        0 => 0.0,
        1 if kind != Kind::Ordinary => super::draw(kind, random).abs(),
        _ => random.number().abs(),
    }
}

/// A random point of a box, of float32 numbers.
fn point(cube: &Cube, random: &mut Random) -> Vec<BigRational> {
    let sides = cube.lower.iter().zip(&cube.upper);
    let inside = |(&l, &u): (&f64, &f64)| rational([l, u, (l + u) / 2.0][random.below(3)]);
    sides.map(inside).collect()
}

struct Question {
    kind: Kind,
    network: Graph,
    cube: Cube,
    rows: Rows,
}

/// A network over a box with rows that meet near a point of it.
fn question(seed: u64, random: &mut Random) -> Question {
    let kind = KINDS[seed as usize % KINDS.len()];
    let network = network(kind, random);
    let shape = network.shape();
    let cube = cube(shape.inputs, random);
    let mut rows = rows(2 + random.below(2), shape.inputs, shape.outputs(), random);
    let distance = random.pick(&[-1e-3, 0.0, 1e-12, 1e-6, 1e-3, 0.1]);
    rows.meet(&network.chain(shape.stages.len()), &point(&cube, random), distance);
    Question { kind, network, cube, rows }
}

#[test]
fn no_combination_is_above_the_exact_minimum() {
    for seed in 0..2 * CASES {
        let mut random = Random::new(seed);
        let Question { kind, network, cube, rows } = question(seed, &mut random);
        let shape = network.shape();
        let (_, bounds) = bounded(shape, &cube);
        let compact = compact(&network, &bounds, shape.last(), &cube);
        let conjunction = rows.conjunction(&network, &compact, &bounds);
        let weights: Vec<f32> = rows.forms.iter().map(|_| weight(kind, &mut random)).collect();
        let mut ascent = Ascent::new(&compact, &Tuning::default());
        let root = Node::root(&compact).weighted(weights.into());
        let node = raised(&mut ascent, &conjunction, root, &mut random);
        let form = rows.combination(&node.weights);
        let least = exact_minimum(&network.chain(shape.stages.len()), &cube.region, &form).expect("nonempty");
        assert_below(node.bound.into(), &least, kind, &seed);
    }
}

/// Each leaf has weights of its own: where all are positive there is no counterexample.
#[test]
fn no_tree_of_combinations_excludes_a_counterexample() {
    let mut excluded = 0;
    for seed in 0..2 * CASES {
        let mut random = Random::new(seed);
        let Question { network, cube, rows, .. } = question(seed, &mut random);
        let shape = network.shape();
        let (_, bounds) = bounded(shape, &cube);
        let compact = compact(&network, &bounds, shape.last(), &cube);
        let conjunction = rows.conjunction(&network, &compact, &bounds);
        let even = vec![1.0 / rows.forms.len() as f32; rows.forms.len()];
        let mut ascent = Ascent::new(&compact, &Tuning::default());
        let root = Node::root(&compact).weighted(even.into());
        if tree(&mut ascent, &compact, &conjunction, root, 3, &mut random) > 0.0 {
            excluded += 1;
            let found = rows.satisfying_input(&network.chain(shape.stages.len()), &cube);
            assert!(found.is_none(), "seed {seed}: {found:?}");
        }
    }
    assert!(excluded > CASES / 20, "{excluded} of {}", 2 * CASES);
}

/// What is left of a box holds every counterexample, with the neurons' values there; where nothing is left, there is none.
#[test]
fn no_counterexample_is_propagated_away() {
    let (mut empty, mut left, mut smaller) = (0, 0, 0);
    for seed in 0..4 * CASES {
        let mut random = Random::new(seed);
        let Question { network, cube, rows, .. } = question(seed, &mut random);
        let shape = network.shape();
        let (bounder, bounds) = bounded(shape, &cube);
        let whole = Domain::new(bounder.input(), &bounds);
        let mut conditions = Conditions::new(&bounder, &whole);
        conditions.set_rows(&rows.objectives);
        let mut domain = whole.clone();
        let contracted = conditions.contract(&mut domain, 1 + random.below(8), random.pick(&[0.0, 0.01, 0.2]));
        let found = rows.satisfying_input(&network.chain(shape.stages.len()), &cube);
        let Some(x) = found else {
            empty += u64::from(contracted == Err(Emptiness));
            continue;
        };
        assert_eq!(contracted, Ok(()), "seed {seed}: {x:?}");
        (left, smaller) = (left + 1, smaller + u64::from(domain != whole));
        let holds = |variable: usize, value: &BigRational, what: &str| {
            let (lower, upper) = (domain.lower[variable], domain.upper[variable]);
            let is_above = !lower.is_finite() || rational(lower) <= *value;
            let is_below = !upper.is_finite() || *value <= rational(upper);
            assert!(is_above && is_below, "seed {seed}: {what} {variable}: {value} not in {lower} to {upper}");
        };
        x.iter().enumerate().for_each(|(i, value)| holds(i, value, "input"));
        for stage in 0..shape.stages.len() {
            let z = eval_exact(&network.chain(stage + 1), &x);
            for (j, value) in z[..shape.stages[stage].width()].iter().enumerate() {
                holds(shape.inputs + shape.start(stage) + j, value, "neuron");
            }
        }
    }
    assert!(empty > CASES / 20 && left > CASES && smaller > CASES / 2, "{empty}, {left}, {smaller}");
}

/// s + 1/8 ≤ 0 and 1/8 − s ≤ 0, where s is the sum of two inputs as the difference of two neurons: either row has
/// counterexamples, and the sum of both is 1/4.
fn opposite_rows() -> (Graph, Rows) {
    let sums = GraphStage { reads: vec![(Source::Input, vec![vec![1.0, 1.0], vec![-1.0, -1.0]])], bias: vec![0.0; 2] };
    let last = GraphStage { reads: vec![(Source::Stage(0), vec![vec![1.0, -1.0]])], bias: vec![0.0] };
    let row = |sign: f32| (objective(&[0.0; 2], &[sign], 0.125), super::output(&[sign], 0.125));
    let (objectives, forms) = [1.0, -1.0].map(row).into_iter().unzip();
    (Graph::new(2, vec![sums, last]), Rows { objectives, forms })
}

#[test]
fn a_combination_is_positive_where_no_row_is() {
    let (network, rows) = opposite_rows();
    let shape = network.shape();
    let sides = |value: f64| (vec![value; 2], vec![rational(value); 2]);
    let ((lower, least), (upper, most)) = (sides(-1.0), sides(1.0));
    let cube = Cube { lower, upper, region: Region { lower: least, upper: most, rows: vec![] } };
    let (_, bounds) = bounded(shape, &cube);
    let compact = compact(&network, &bounds, 1, &cube);
    let conjunction = rows.conjunction(&network, &compact, &bounds);
    let (steps, tuning) = (Steps { count: 20, rate: 0.3, decay: 0.9 }, Tuning::default());
    let (roots, _) = Ascent::roots(&compact, &conjunction.rows().iter().collect::<Vec<_>>(), steps, &tuning);
    assert!(roots.iter().all(|root| root.bound < 0.0));
    let combined = Ascent::new(&compact, &tuning).combined_root(&conjunction, &roots, steps);
    assert!(combined.bound > 0.0, "{combined:?}");
    assert!(combined.weights.iter().all(|&weight| weight > 0.0), "{combined:?}");
}

/// The engines close it without a linear program.
#[test]
fn conjunctions_are_closed_without_a_linear_program() {
    let (network, _) = opposite_rows();
    let text = "(declare-const X_0 Real)(declare-const X_1 Real)(declare-const Y_0 Real)
        (assert (and (>= X_0 -1.0) (<= X_0 1.0) (>= X_1 -1.0) (<= X_1 1.0)))
        (assert (<= Y_0 -0.125))(assert (>= Y_0 0.125))";
    let property = Property::parse(text, "a test").unwrap();
    let mut whole = Tuning::default();
    whole.propagation.most_terms = 0;
    for tuning in [Tuning::default(), whole] {
        let options = Options { engine: Engine::Phases, ..Options::default() };
        let outcome = verify_tuned(&network, &property, &options, &tuning, &Control::new(None));
        assert_eq!((outcome.verdict.word(), outcome.counters.lp_calls), ("unsat", 0));
        let closed_by = outcome.counters.closed_by;
        assert_eq!(
            (closed_by.propagated > 0, closed_by.raised),
            if tuning.propagation.most_terms > 0 { (true, 0) } else { (false, 1) }
        );
    }
}
