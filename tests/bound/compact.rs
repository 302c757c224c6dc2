//! The float32 bound of compact networks against exact minima: never above, whatever the steps and the splits.

use super::{
    CASES, Cube, KINDS, Kind, assert_below, bounded, chain, cube, draw, network, output, rational, stages, unit,
};
use num_rational::BigRational;
use pg_core::{Network, Source};
use pg_runtime::bounds::{Bounded, Bounds, Compact, Node, Objective, Objective32, Side, Slot, Subproblem, Targets};
use pg_runtime::search::Ascent;
use pg_runtime::tuning::{Steps, Tuning};
use pg_tests::Random;
use pg_tests::graph::{Graph, GraphStage};
use pg_tests::oracle::{Linear, Region, exact, exact_minimum};

/// What the neurons of a stage depend on, over a box.
pub fn compact(network: &Graph, bounds: &Bounds, target: usize, cube: &Cube) -> Compact {
    Compact::new(&network.shape(), bounds, Source::Input, target, (&cube.lower, &cube.upper))
}

/// The bound at a node, raised by a random number of steps.
pub fn raised<'r>(ascent: &mut Ascent, row: impl Into<Bounded<'r>>, node: Node, random: &mut Random) -> Node {
    let steps = Steps { count: random.below(6), rate: random.pick(&[0.05, 0.2, 1.0]), decay: 0.9 };
    let mut problems = [Subproblem { row: row.into(), node, target: f32::INFINITY }];
    ascent.raise(&mut problems, steps);
    let [problem] = problems;
    problem.node
}

/// The lowest bound of the leaves of a random tree.
pub fn tree<'r>(
    ascent: &mut Ascent,
    compact: &Compact,
    row: impl Into<Bounded<'r>> + Copy,
    node: Node,
    depth: usize,
    random: &mut Random,
) -> f32 {
    let node = raised(ascent, row, node, random);
    let is_open = |slot: &Slot| !node.splits.iter().any(|split| split.slot == *slot);
    let candidates: Vec<Slot> = compact.undecided().filter(is_open).collect();
    if depth == 0 || candidates.is_empty() {
        return node.bound;
    }
    let proposed = node.branch.map(|(slot, _)| slot).filter(|_| random.below(2) == 0);
    let slot = proposed.unwrap_or_else(|| random.pick(&candidates));
    let on = tree(ascent, compact, row, node.child(slot, true), depth - 1, random);
    on.min(tree(ascent, compact, row, node.child(slot, false), depth - 1, random))
}

fn check(what: (u64, Kind), compact: &Compact, row: &Objective32, least: &BigRational, random: &mut Random) {
    let mut ascent = Ascent::new(compact, &Tuning::default());
    let root = raised(&mut ascent, row, Node::root(compact), random);
    assert_below(root.bound.into(), least, what.1, &(what.0, "root"));
    let leaves = tree(&mut ascent, compact, row, Node::root(compact), 3, random);
    assert_below(leaves.into(), least, Kind::AnyExponent, &(what.0, "leaves"));
}

/// The exact minimum over the first stages. Inputs that the oracle's region does not have are 0.
fn least(network: &Graph, stages: usize, cube: &Cube, mut form: Linear) -> BigRational {
    let mut layers = network.chain(stages);
    let inputs = cube.region.lower.len();
    layers[0].weights.iter_mut().for_each(|row| row.truncate(inputs));
    form.input.truncate(inputs);
    exact_minimum(&layers, &cube.region, &form).expect("nonempty")
}

/// Rows of every stage and of the outputs, each against its exact minimum over the box.
fn check_all(seed: u64, kind: Kind, network: &Graph, cube: &Cube, random: &mut Random) {
    let shape = network.shape();
    let (_, bounds) = bounded(shape, cube);
    let last = shape.last();
    for stage in 1..last {
        let compact = compact(network, &bounds, stage, cube);
        let (data, width) = (&shape.stages[stage], shape.stages[stage].width());
        let neuron = random.below(width);
        let row = |side: Side| compact.neuron_row(data, side, &bounds);
        let least = |form: &[f32]| least(network, stage + 1, cube, output(form, 0.0));
        let cone =
            Compact::of(&shape, &bounds, Source::Input, stage, Targets::Some(vec![neuron]), (&cube.lower, &cube.upper));
        for side in Side::both(neuron) {
            let least = least(&unit(width, neuron, side.sign));
            check((seed, kind), &compact, &row(side), &least, random);
            check((seed, kind), &cone, &cone.neuron_row(data, side, &bounds), &least, random);
        }
        let (one, other) = (row(Side { neuron, sign: -1.0 }), row(Side { neuron: (neuron + 1) % width, sign: 1.0 }));
        if width > 1 && one.x.is_none() {
            let times = random.number();
            let mut both = unit(width, neuron, -1.0);
            both[(neuron + 1) % width] = times;
            let sum = compact.sum_row(&one, times, &other, &bounds);
            check((seed, kind), &compact, &sum, &least(&both), random);
        }
    }
    let (x, y, constant) = (random.numbers(shape.inputs), random.numbers(shape.outputs()), random.number());
    let form = Linear { input: x.iter().map(|&v| exact(v)).collect(), ..output(&y, constant) };
    let least = least(network, last + 1, cube, form);
    let compact = compact(network, &bounds, last, cube);
    let row = compact.objective_row(&shape.stages[last], &objective(&x, &y, constant), &bounds);
    check((seed, kind), &compact, &row, &least, random);
}

#[test]
fn no_tree_is_above_the_exact_minimum() {
    for seed in 0..2 * CASES {
        let kind = KINDS[seed as usize % KINDS.len()];
        let mut random = Random::new(seed);
        let network = network(kind, &mut random);
        let cube = cube(network.shape().inputs, &mut random);
        check_all(seed, kind, &network, &cube, &mut random);
    }
}

/// A graph of which most coefficients are 0, wide enough that its maps are kept by their entries, over a box that is 0 in all
/// but a few inputs, for the oracle's sake.
#[test]
fn no_tree_of_a_sparse_network_is_above_the_exact_minimum() {
    for seed in 0..CASES / 8 {
        let kind = if seed % 2 == 0 { Kind::Ordinary } else { Kind::AnyExponent };
        let mut random = Random::new(seed);
        let weight = |random: &mut Random| if random.below(30) == 0 { draw(kind, random) } else { 0.0 };
        let widths = [80 + random.below(20), 80 + random.below(20), 1 + random.below(3)];
        let network = Graph::random(80 + random.below(20), &widths, &mut random, weight);
        let mut cube = cube(network.shape().inputs, &mut random);
        let sides = 3;
        for side in [&mut cube.lower, &mut cube.upper] {
            side[sides..].fill(0.0);
        }
        cube.region.lower.truncate(sides);
        cube.region.upper.truncate(sides);
        check_all(seed, kind, &network, &cube, &mut random);
    }
}

pub fn objective(x: &[f32], y: &[f32], constant: f32) -> Objective {
    let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
    Objective { x: wide(x), y: wide(y), constant: constant.into(), ..Objective::zero(x.len(), y.len()) }
}

/// Inputs and the output of one hidden layer together, where its neurons count as negative ones or as they come: the root's bound,
/// and the exact minimum.
fn least_of(widths: &[usize], kind: Kind, is_negative: bool, random: &mut Random) -> (f32, BigRational) {
    let network = chain(widths[0], &widths[1..], kind, random);
    let shape = network.shape();
    let cube = cube(widths[0], random);
    let (_, bounds) = bounded(shape, &cube);
    let compact = compact(&network, &bounds, 1, &cube);
    let x = random.numbers(widths[0]);
    let y = random.number();
    let first = shape.stages[1].terms(0).next().map_or(1.0, |(_, _, w)| w);
    let y = if is_negative { -y.abs() * first.signum() } else { y };
    let form = Linear { input: x.iter().map(|&v| exact(v)).collect(), ..output(&[y], 0.0) };
    let least = exact_minimum(&network.chain(2), &cube.region, &form).expect("nonempty");
    let row = compact.objective_row(&shape.stages[1], &objective(&x, &[y], 0.0), &bounds);
    let mut ascent = Ascent::new(&compact, &Tuning::default());
    (raised(&mut ascent, &row, Node::root(&compact), random).bound, least)
}

#[test]
fn no_hull_is_above_the_exact_minimum() {
    for seed in 0..4 * CASES {
        let mut random = Random::new(seed);
        let kind = if seed % 2 == 0 { Kind::Ordinary } else { Kind::AnyExponent };
        let widths = [1 + random.below(7), 1 + random.below(5), 1];
        let (bound, least) = least_of(&widths, kind, false, &mut random);
        assert_below(bound.into(), &least, kind, &seed);
    }
}

/// The lines of one neuron are its convex hull over the box: nothing is lost but rounding, as it would be by the chord.
#[test]
fn one_neuron_over_the_box_is_bounded_exactly() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let widths = [1 + random.below(7), 1, 1];
        let (bound, least) = least_of(&widths, Kind::Ordinary, true, &mut random);
        let (bound, room) = (rational(bound.into()), rational(1e-3));
        assert!(bound <= least, "seed {seed}: {bound} above {least}");
        assert!(bound > least - room, "seed {seed}: {bound} far below");
    }
}

/// Many inputs, more than exact minima can be had of: no bound is above what a walk from corner to corner finds. Every other
/// network has neurons that reach few of them.
#[test]
fn no_wide_hull_is_above_a_corner() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let is_sparse = seed % 2 == 1;
        let widths = if is_sparse { [120 + random.below(80), 80, 1] } else { [20 + random.below(120), 40, 1] };
        let widths = [widths[0], 1 + random.below(widths[1]), 1];
        let weight = |k: i32, random: &mut Random| match random.number() {
            _ if is_sparse && k == 0 && random.below(12) > 0 => 0.0,
            number => number,
        };
        let network = stages(widths[0], &widths[1..], |k| k as i32, weight, &mut random);
        let shape = network.shape();
        let cube = cube(widths[0], &mut random);
        let (_, bounds) = bounded(shape, &cube);
        let layers = network.chain(2);
        let value = |x: &[f64]| {
            let dot = |row: &[f32], h: &[f64]| row.iter().zip(h).map(|(&w, h)| f64::from(w) * h).sum::<f64>();
            let hidden = |j: usize| (dot(&layers[0].weights[j], x) + f64::from(layers[0].bias[j])).max(0.0);
            let h: Vec<f64> = (0..widths[1]).map(hidden).collect();
            dot(&layers[1].weights[0], &h) + f64::from(layers[1].bias[0])
        };
        let mut x = cube.lower.clone();
        let mut least = value(&x);
        for i in 0..2 * widths[0] {
            let i = i % widths[0];
            let before = x[i];
            x[i] = if before == cube.lower[i] { cube.upper[i] } else { cube.lower[i] };
            let now = value(&x);
            (least, x[i]) = if now < least { (now, x[i]) } else { (least, before) };
        }
        let compact = compact(&network, &bounds, 1, &cube);
        let row = compact.neuron_row(&shape.stages[1], Side { neuron: 0, sign: 1.0 }, &bounds);
        let mut ascent = Ascent::new(&compact, &Tuning::default());
        let bound = raised(&mut ascent, &row, Node::root(&compact), &mut random).bound;
        assert!(bound.is_finite() && f64::from(bound) <= least + 1e-9, "seed {seed}: {bound} above {least}");
    }
}

/// A split is a half-space: with a first-layer neuron fixed, the bound is for the inputs on its side.
#[test]
fn a_split_bounds_its_own_side() {
    for seed in 0..CASES {
        let kind = KINDS[seed as usize % KINDS.len()];
        let mut random = Random::new(seed);
        let network = chain(1 + random.below(3), &[1 + random.below(4), 1 + random.below(3)], kind, &mut random);
        let shape = network.shape();
        let cube = cube(shape.inputs, &mut random);
        let (_, bounds) = bounded(shape, &cube);
        let compact = compact(&network, &bounds, 1, &cube);
        let Some(slot) = compact.undecided().next() else { continue };
        let neuron = compact.stages[0].neurons[slot.index as usize];
        let layers = network.chain(2);
        let row = compact.neuron_row(&shape.stages[1], Side { neuron: 0, sign: 1.0 }, &bounds);
        for on in [true, false] {
            let sign = if on { -1.0 } else { 1.0 };
            let weights = layers[0].weights[neuron].iter().map(|&w| exact(sign * w)).collect();
            let side = Linear { input: weights, output: vec![], constant: exact(sign * layers[0].bias[neuron]) };
            let Cube { region: Region { lower, upper, .. }, .. } = &cube;
            let region = Region { lower: lower.clone(), upper: upper.clone(), rows: vec![side] };
            let form = output(&unit(layers[1].bias.len(), 0, 1.0), 0.0);
            let Some(least) = exact_minimum(&layers, &region, &form) else { continue };
            let mut ascent = Ascent::new(&compact, &Tuning::default());
            let node = raised(&mut ascent, &row, Node::root(&compact).child(slot, on), &mut random);
            assert_below(node.bound.into(), &least, Kind::AnyExponent, &seed);
        }
    }
}

/// A network of two convolutions in one dimension, of a few channels each, with an output that reads everything.
fn convolution(random: &mut Random) -> Graph {
    let (channels, inputs, mut from) = (3, 200, Source::Input);
    let mut stages = Vec::new();
    let (mut before, mut size) = (1, inputs);
    for k in 0..2 {
        let mut rows = vec![vec![0.0; before * size]; channels * size / 2];
        for (j, row) in rows.iter_mut().enumerate() {
            let first = 2 * (j % (size / 2));
            for c in 0..before {
                (first..(first + 4).min(size)).for_each(|i| row[c * size + i] = random.number());
            }
        }
        stages.push(GraphStage { bias: random.numbers(rows.len()), reads: vec![(from, rows)] });
        (from, before, size) = (Source::Stage(k), channels, size / 2);
    }
    stages.push(GraphStage { reads: vec![(from, vec![random.numbers(before * size)])], bias: vec![0.0] });
    Graph::new(inputs, stages)
}

/// The neurons of a convolution are bounded in groups, each of which is on its cone what it is on the whole.
#[test]
fn a_cone_bounds_as_the_whole_does() {
    for seed in 0..20 {
        let mut random = Random::new(seed);
        let network = convolution(&mut random);
        let shape = network.shape();
        let cube = cube(shape.inputs, &mut random);
        let (_, bounds) = bounded(shape, &cube);
        let whole = compact(&network, &bounds, 1, &cube);
        let input = (&cube.lower[..], &cube.upper[..]);
        let mut open: Vec<usize> = bounds.undecided(1).collect();
        for targets in Targets::groups(&shape, &bounds, 1) {
            let Targets::Some(neurons) = &targets else { panic!("seed {seed}: cones are not used") };
            let cone = Compact::of(&shape, &bounds, Source::Input, 1, targets.clone(), input);
            assert!(2 * cone.undecided().count() < 3 * whole.undecided().count());
            for &neuron in neurons {
                open.retain(|&j| j != neuron);
                for side in Side::both(neuron) {
                    let bound = |compact: &Compact| {
                        let row = compact.neuron_row(&shape.stages[1], side, &bounds);
                        Ascent::roots(compact, &[&row], Steps::NONE, &Tuning::default()).0[0].bound
                    };
                    let (here, there) = (bound(&cone), bound(&whole));
                    assert!((here - there).abs() < 1e-4 * (1.0 + there.abs()), "seed {seed}: {here}, not {there}");
                }
            }
        }
        assert!(open.is_empty(), "seed {seed}: {open:?} are in no group");
    }
}
