//! The float32 bound of the fast engine against exact minima: never above, whatever the steps and the splits.

use super::{Tuned, network, network_of, oracle, output, rational};
use num_rational::BigRational;
use pg_runtime::bounds::{Ascent, Bounder, Domain, Front, Layers, Node, Objective, Place, Row, Steps, Work};
use pg_runtime::network::Network;
use pg_tests::Random;
use pg_tests::oracle::{Linear, Region, exact, exact_minimum};

const CASES: u64 = 400;

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

/// The bound at a node, raised by a random number of steps.
fn raised(ascent: &mut Ascent, row: &Row, node: Node, random: &mut Random) -> Node {
    let steps = Steps { count: random.below(6), rate: random.pick(&[0.05, 0.2, 1.0]), decay: 0.9 };
    let mut works = [Work { row, node, target: f32::INFINITY }];
    ascent.raise(&mut works, steps);
    let [work] = works;
    work.node
}

/// The lowest bound of the leaves of a random tree.
fn tree(ascent: &mut Ascent, front: &Front, row: &Row, node: Node, depth: usize, random: &mut Random) -> f32 {
    let node = raised(ascent, row, node, random);
    let is_open = |place: &Place| !node.splits.iter().any(|split| split.place == *place);
    let candidates: Vec<Place> = front.undecided().filter(is_open).collect();
    if depth == 0 || candidates.is_empty() {
        return node.bound;
    }
    let place = node
        .branch
        .map(|branch| branch.place)
        .filter(|_| random.below(2) == 0)
        .unwrap_or_else(|| random.pick(&candidates));
    let on = tree(ascent, front, row, node.child(place, true), depth - 1, random);
    on.min(tree(ascent, front, row, node.child(place, false), depth - 1, random))
}

fn check(seed: u64, front: &Front, row: &Row, least: &BigRational, random: &mut Random) {
    let mut ascent = Ascent::new(front);
    let root = raised(&mut ascent, row, Node::root(front), random);
    assert!(root.bound.is_finite() && rational(root.bound.into()) <= *least, "seed {seed}: root {}", root.bound);
    let leaves = tree(&mut ascent, front, row, Node::root(front), 3, random);
    assert!(rational(leaves.into()) <= *least, "seed {seed}: leaves {leaves} above {least}");
}

#[test]
fn no_tree_is_above_the_exact_minimum() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let network = network(&mut random);
        let layers = Layers::of(&network);
        let (inputs, last) = (layers.0[0].inputs, layers.hidden());
        let outputs = layers.0[last].outputs;
        let Cube { lower, upper, region } = cube(inputs, &mut random);
        let bounded = Bounder::new(&network, &layers, lower.clone(), upper.clone(), None);
        let (_, domain) = bounded.expect("a box is not empty");
        let tuned = Tuned(&network);
        let network: &dyn Network = if seed % 2 == 0 { &network } else { &tuned };
        let front = |end| Front::new(network, &layers, 0..end, &domain, (&lower, &upper));

        let neuron = random.below(layers.0[1].outputs);
        for sign in [1.0, -1.0] {
            let mut unit = vec![0.0; layers.0[1].outputs];
            unit[neuron] = sign;
            let least = exact_minimum(&oracle(&layers, 2), &region, &output(&unit, 0.0)).expect("nonempty");
            let row = front(1).neuron_row(&layers.0[1], neuron, sign, &domain);
            check(seed, &front(1), &row, &least, &mut random);
        }
        if layers.0[1].outputs > 1 {
            let (other, times) = ((neuron + 1) % layers.0[1].outputs, random.number());
            let mut both = vec![0.0; layers.0[1].outputs];
            (both[neuron], both[other]) = (-1.0, times);
            let least = exact_minimum(&oracle(&layers, 2), &region, &output(&both, 0.0)).expect("nonempty");
            let [first, second] = [(neuron, -1.0), (other, 1.0)]
                .map(|(neuron, sign)| front(1).neuron_row(&layers.0[1], neuron, sign, &domain));
            let row = front(1).sum_row(&first, times, &second, &domain);
            check(seed, &front(1), &row, &least, &mut random);
        }

        let (x, y, constant) = (random.numbers(inputs), random.numbers(outputs), random.number());
        let form = Linear { input: x.iter().map(|&v| exact(v)).collect(), ..output(&y, constant) };
        let least = exact_minimum(&oracle(&layers, last + 1), &region, &form).expect("nonempty");
        let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
        let zero = Objective::zero(inputs, outputs);
        let objective = Objective { x: wide(&x), y: wide(&y), constant: constant.into(), ..zero };
        let row = front(last).objective_row(&layers.0[last], &objective, &domain);
        check(seed, &front(last), &row, &least, &mut random);
    }
}

/// Inputs and the output of one hidden layer together, where its neurons count as negative ones or as they come: the root's bound,
/// and the exact minimum.
fn least_of(widths: &[usize], is_negative: bool, random: &mut Random) -> (f32, BigRational) {
    let network = network_of(widths, random);
    let layers = Layers::of(&network);
    let Cube { lower, upper, region } = cube(widths[0], random);
    let bounded = Bounder::new(&network, &layers, lower.clone(), upper.clone(), None);
    let (_, domain) = bounded.expect("a box is not empty");
    let tuned = Tuned(&network);
    let network: &dyn Network = if random.below(2) == 0 { &network } else { &tuned };
    let front = Front::new(network, &layers, 0..1, &domain, (&lower, &upper));
    let x = random.numbers(widths[0]);
    let y = random.number();
    let y = if is_negative { -y.abs() * layers.0[1].row(0)[0].signum() } else { y };
    let form = Linear { input: x.iter().map(|&v| exact(v)).collect(), ..output(&[y], 0.0) };
    let least = exact_minimum(&oracle(&layers, 2), &region, &form).expect("nonempty");
    let wide = |values: &[f32]| values.iter().map(|&v| f64::from(v)).collect();
    let objective = Objective { x: wide(&x), y: wide(&[y]), ..Objective::zero(widths[0], 1) };
    let row = front.objective_row(&layers.0[1], &objective, &domain);
    (raised(&mut Ascent::new(&front), &row, Node::root(&front), random).bound, least)
}

#[test]
fn no_spread_is_above_the_exact_minimum() {
    for seed in 0..2 * CASES {
        let mut random = Random::new(seed);
        let widths = [1 + random.below(7), 1 + random.below(5), 1];
        let (bound, least) = least_of(&widths, false, &mut random);
        assert!(bound.is_finite() && rational(bound.into()) <= least, "seed {seed}: {bound} above {least}");
    }
}

/// The lines of one neuron are its convex hull over the box: nothing is lost but rounding, as it would be by the chord.
#[test]
fn one_spread_neuron_is_bounded_exactly() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let widths = [1 + random.below(7), 1, 1];
        let (bound, least) = least_of(&widths, true, &mut random);
        let (bound, room) = (rational(bound.into()), rational(1e-3));
        assert!(bound <= least, "seed {seed}: {bound} above {least}");
        assert!(bound > least - room, "seed {seed}: {bound} far below");
    }
}

/// Many inputs, more than exact minima can be had of: no bound is above what a walk from corner to corner finds.
#[test]
fn no_wide_spread_is_above_a_corner() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let widths = [20 + random.below(120), 1 + random.below(40), 1];
        let network = network_of(&widths, &mut random);
        let layers = Layers::of(&network);
        let Cube { lower, upper, .. } = cube(widths[0], &mut random);
        let bounded = Bounder::new(&network, &layers, lower.clone(), upper.clone(), None);
        let (_, domain) = bounded.expect("a box is not empty");
        let value = |x: &[f64]| {
            let dot = |row: &[f32], h: &[f64]| row.iter().zip(h).map(|(&w, h)| f64::from(w) * h).sum::<f64>();
            let hidden = |j: usize| (dot(layers.0[0].row(j), x) + f64::from(layers.0[0].bias[j])).max(0.0);
            let h: Vec<f64> = (0..widths[1]).map(hidden).collect();
            dot(layers.0[1].row(0), &h) + f64::from(layers.0[1].bias[0])
        };
        let mut x = lower.clone();
        let mut least = value(&x);
        for i in 0..2 * widths[0] {
            let i = i % widths[0];
            let before = x[i];
            x[i] = if before == lower[i] { upper[i] } else { lower[i] };
            let now = value(&x);
            (least, x[i]) = if now < least { (now, x[i]) } else { (least, before) };
        }
        let tuned = Tuned(&network);
        for network in [&network as &dyn Network, &tuned] {
            let front = Front::new(network, &layers, 0..1, &domain, (&lower, &upper));
            let row = front.neuron_row(&layers.0[1], 0, 1.0, &domain);
            let bound = raised(&mut Ascent::new(&front), &row, Node::root(&front), &mut random).bound;
            assert!(bound.is_finite() && f64::from(bound) <= least + 1e-9, "seed {seed}: {bound} above {least}");
        }
    }
}

/// A split is a half-space: with a first-layer neuron fixed, the bound is for the inputs on its side.
#[test]
fn a_split_bounds_its_own_side() {
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let network = network(&mut random);
        let layers = Layers::of(&network);
        let Cube { lower, upper, mut region } = cube(layers.0[0].inputs, &mut random);
        let bounded = Bounder::new(&network, &layers, lower.clone(), upper.clone(), None);
        let (_, domain) = bounded.expect("a box is not empty");
        let Some(neuron) = Domain::undecided(&domain, 0).next() else { continue };
        let tuned = Tuned(&network);
        let network: &dyn Network = if seed % 2 == 0 { &network } else { &tuned };
        let front = Front::new(network, &layers, 0..1, &domain, (&lower, &upper));
        let row = front.neuron_row(&layers.0[1], 0, 1.0, &domain);
        for on in [true, false] {
            let sign = if on { -1.0 } else { 1.0 };
            let weights = layers.0[0].row(neuron).iter().map(|&w| exact(sign * w)).collect();
            region.rows =
                vec![Linear { input: weights, output: vec![], constant: exact(sign * layers.0[0].bias[neuron]) }];
            let mut unit = vec![0.0; layers.0[1].outputs];
            unit[0] = 1.0;
            let Some(least) = exact_minimum(&oracle(&layers, 2), &region, &output(&unit, 0.0)) else { continue };
            let mut ascent = Ascent::new(&front);
            let place = front.undecided().next().expect("an undecided neuron");
            let node = raised(&mut ascent, &row, Node::root(&front).child(place, on), &mut random);
            assert!(rational(node.bound.into()) <= least, "seed {seed}: {} above {least}", node.bound);
        }
    }
}
