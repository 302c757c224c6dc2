//! Bounds of sixteen boxes at a time against exact minima: every lane filled differently, some with what is no box.

use super::{Cube, KINDS, Kind, assert_below, cube, network, output, rational, unit};
use num_rational::BigRational;
use pg_core::Network;
use pg_core::boxes::LANES;
use pg_runtime::bounds::{BoxBatch, BoxKernel, BoxNumber, Directions, Objective};
use pg_tests::Random;
use pg_tests::graph::Graph;
use pg_tests::oracle::{eval_exact, exact, exact_minimum};

const CASES: u64 = 150;

/// What a lane holds.
enum Held {
    Box(Cube),
    /// Ends that are no numbers, infinite, or the wrong way round: nothing is asked of their bounds.
    Nothing(f64, f64),
}

fn lanes(inputs: usize, random: &mut Random) -> Vec<Held> {
    let nothing = [(f64::NAN, 1.0), (f64::NEG_INFINITY, f64::INFINITY), (2.0, -3.0), (-1e300, 1e300)];
    let held = |lane: usize| match nothing.get(lane) {
        Some(&(lower, upper)) => Held::Nothing(lower, upper),
        None => Held::Box(cube(inputs, random)),
    };
    (0..LANES).map(held).collect()
}

fn load<T: BoxNumber>(batch: &mut BoxBatch<T>, lanes: &[Held], inputs: usize) {
    for (lane, held) in lanes.iter().enumerate() {
        match held {
            Held::Box(cube) => batch.load(lane, &cube.lower, &cube.upper),
            Held::Nothing(lower, upper) => batch.load(lane, &vec![*lower; inputs], &vec![*upper; inputs]),
        }
    }
}

/// The bounds of some lanes, of hidden neurons and of a row: with both kinds of slopes, and by forms alone.
fn check<T: BoxNumber>(network: &Graph, kind: Kind, seed: u64, refined: f64) {
    let mut random = Random::new(seed + 77);
    let shape = network.shape();
    let (inputs, outputs, count) = (shape.inputs, shape.outputs(), shape.stages.len());
    let (y, constant) = (random.numbers(outputs), random.number());
    let mut objective = Objective::zero(inputs, outputs);
    objective.y = y.iter().map(|&v| f64::from(v)).collect();
    objective.constant = f64::from(constant);
    let mut directions = Directions::default();
    let row = directions.row(&objective);
    let mut kernel = BoxKernel::<T>::new(network, &directions, refined);
    let mut by_forms = BoxKernel::<T>::new(network, &directions, refined);
    let mut batch = kernel.batch();
    let lanes = lanes(inputs, &mut random);
    load(&mut batch, &lanes, inputs);
    batch.hidden();
    let first = batch.rows(&[0]);
    for i in 0..inputs {
        (0..LANES).for_each(|lane| batch.room.value[i].0[lane] = T::nearest(f64::from(random.number())));
    }
    batch.points();
    let second = batch.rows(&[0]);
    let mut forms = vec![vec![vec![0.0; inputs + 1]; 3]; LANES];
    for (lane, forms) in forms.iter_mut().enumerate() {
        batch.form(lane, &row, Some(&first), &mut forms[0]);
        batch.form(lane, &row, Some(&second), &mut forms[1]);
    }
    let mut by_forms = by_forms.batch();
    load(&mut by_forms, &lanes, inputs);
    by_forms.forms();
    forms.iter_mut().enumerate().for_each(|(lane, forms)| by_forms.form_of_outputs(lane, &row, &mut forms[2]));
    for lane in [4 + seed as usize % 4, 8 + seed as usize % 8] {
        let Held::Box(cube) = &lanes[lane] else { panic!("a box") };
        for stage in 0..count - 1 {
            let width = shape.stages[stage].width();
            let (neuron, chain) = (seed as usize % width, network.chain(stage + 1));
            let at = shape.start(stage) + neuron;
            for (sign, bound) in [(1.0, batch.room.lower[at]), (-1.0, batch.room.upper[at])] {
                let least = exact_minimum(&chain, &cube.region, &output(&unit(width, neuron, sign), 0.0));
                assert_below(f64::from(sign) * bound.0[lane].to_f64(), &least.expect("nonempty"), kind, &(seed, stage));
            }
        }
        let chain = network.chain(count);
        let least = exact_minimum(&chain, &cube.region, &output(&y, constant)).expect("nonempty");
        for form in &forms[lane] {
            let low = form[0] - form[1..].iter().map(|a| a.abs()).sum::<f64>();
            assert_below(low - 1e-12 * low.abs(), &least, kind, &(seed, lane));
            // And at a point, not only where it is least: clipping needs that.
            if form.iter().all(|v| v.is_finite()) {
                let t: Vec<BigRational> = (0..inputs).map(|_| exact(random.number().clamp(-1.0, 1.0))).collect();
                let at = |i: usize| {
                    let (middle, half) = (batch.room.middle[i].0[lane], batch.room.half[i].0[lane]);
                    rational(middle.to_f64()) + rational(half.to_f64()) * &t[i]
                };
                let x: Vec<BigRational> = (0..inputs).map(at).collect();
                let value = y.iter().zip(eval_exact(&chain, &x)).map(|(&c, y)| exact(c) * y).sum::<BigRational>();
                let slopes = form[1..].iter().zip(&t).map(|(&a, t)| rational(a) * t).sum::<BigRational>();
                assert!(rational(form[0]) + slopes <= value + exact(constant), "seed {seed}, lane {lane}");
            }
        }
    }
}

#[test]
fn no_lane_is_above_its_exact_minimum() {
    for seed in 0..CASES {
        let kind = KINDS[seed as usize % KINDS.len()];
        let network = network(kind, &mut Random::new(seed));
        let refined = if seed % 5 == 0 { 0.0 } else { 1e9 };
        check::<f32>(&network, kind, seed, refined);
        check::<f64>(&network, kind, seed, refined);
    }
}
