//! Random tiny models with convolutions, pools and joins, compiled: verdicts of every engine, bounds, evaluation and
//! enclosures against brute force in rationals.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use pg_codegen::interpret::Interpreter;
use pg_codegen::net::{Edge, Map, Net, Rows};
use pg_codegen::read::read_as;
use pg_core::Network;
use pg_core::sweep::{Ball, enclose};
use pg_runtime::bounds::{Bounder, Relaxation};
use pg_runtime::options::{Engine, Options};
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::Verdict;
use pg_tests::draft::draft;
use pg_tests::graph::{Graph, property};
use pg_tests::model::{ModelProto, compile};
use pg_tests::oracle::{Layer, Linear, Region, eval_exact, exact, exact_minimum};
use pg_tests::values::values;
use pg_tests::{Random, evaluate};
use prost::Message;
use std::ops::RangeInclusive;

const MODELS: u64 = 200;
const RELUS: RangeInclusive<usize> = 3..=9;
const RULES: [Relaxation; 2] = [Relaxation::Adaptive, Relaxation::Parallel];
const POINTS: usize = 20;
/// How far from the exact value float32 may evaluate, and how wide float64 may enclose.
const TOLERANCE: f64 = 1e-5;
const WIDEST: f64 = 1e-12;

/// A model of as many ReLUs as brute force can take, and its normal form, which no pass has rounded.
fn small(random: &mut Random) -> (ModelProto, Net) {
    loop {
        let model = draft(random);
        let net = match compile(&model) {
            Err(e) if e.to_string().contains("the output does not depend on the input") => continue,
            net => net.unwrap_or_else(|e| panic!("{e}: {model:#?}")),
        };
        if RELUS.contains(&net.relus()) {
            assert!(net.stages.iter().all(|stage| stage.error.is_zero()), "{model:#?}");
            return (model, net);
        }
    }
}

/// The same network by other maps.
fn mapped(net: &Net, change: impl Fn(&Map) -> Map) -> Net {
    let mut net = net.clone();
    let edges = net.stages.iter_mut().flat_map(|stage| &mut stage.edges);
    edges.for_each(|edge| edge.map = change(&edge.map));
    net
}

fn sparse(map: &Map) -> Map {
    let mut rows = Rows::new(map.cols());
    for row in map.dense().rows() {
        rows.push(row.iter().enumerate().filter(|(_, w)| **w != 0.0).map(|(col, &w)| (col as u32, w)));
    }
    Map::Sparse(rows)
}

/// The network as it was compiled, with all maps sparse, and with all dense.
fn variants(net: &Net) -> [Net; 3] {
    [net.clone(), mapped(net, sparse), mapped(net, |map| Map::Dense(map.dense()))]
}

/// Whether an edge's map is kept as a convolution, of windows that are more than a place.
fn slides(edge: &Edge) -> bool {
    matches!(edge.map, Map::Conv { geometry, .. } if geometry.patch() > geometry.group_channels())
}

/// The least value of a function of the outputs over the inputs of [`property`].
fn least(chain: &[Layer], inputs: usize, output: Vec<BigRational>) -> BigRational {
    let ends = |end: f32| vec![exact(end); inputs];
    let region = Region { lower: ends(-1.0), upper: ends(1.0), rows: vec![] };
    exact_minimum(chain, &region, &Linear { input: vec![], output, constant: exact(0.0) }).expect("a box is not empty")
}

/// Whether a verdict on [`property`] is the one that the least output decides; a witness is judged by itself.
fn is_right(verdict: &Verdict, chain: &[Layer], least: &BigRational, threshold: f32) -> bool {
    match verdict {
        Verdict::Holds(_) => *least > exact(threshold),
        Verdict::Violated(witness) => {
            let x: Vec<BigRational> = witness.input().iter().map(|&v| exact(v)).collect();
            eval_exact(chain, &x)[0] <= exact(threshold)
        }
        Verdict::Unknown(_) => true,
    }
}

#[test]
fn every_engine_agrees_with_the_oracle() {
    let (mut words, mut convolutions) = (vec![], 0);
    for seed in 0..MODELS {
        let (_, net) = small(&mut Random::new(seed));
        let chain = Graph::of(&net).chain(net.stages.len());
        let exact_least = least(&chain, net.inputs, vec![exact(1.0)]);
        let least = exact_least.to_f32().expect("a number");
        convolutions += usize::from(net.stages.iter().flat_map(|stage| &stage.edges).any(slides));
        let networks = variants(&net).map(Interpreter::new);
        for threshold in [least - 0.1, least - 1e-6, least + 1e-3, least + 0.1] {
            let property = property(net.inputs, threshold);
            let engines = [Engine::Auto, Engine::Phases, Engine::Peregrinn];
            for (engine, network) in engines.into_iter().flat_map(|e| networks.iter().map(move |n| (e, n))) {
                let options = Options { engine, threads: Some(1), timeout: Some(20.0), ..Options::default() };
                let verdict = verify(network, &property, &options, &Control::new(options.timeout)).verdict;
                let is_right = is_right(&verdict, &chain, &exact_least, threshold);
                assert!(is_right, "seed {seed}, {threshold}: {} by {engine:?}", verdict.word());
                words.push(verdict.word());
            }
        }
    }
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let (asked, holds, violated) = (words.len(), count("unsat"), count("sat"));
    assert!((holds + violated) * 50 >= asked * 49, "of {asked}, {holds} hold and {violated} are violated");
    assert!(convolutions > 50, "{convolutions} of {MODELS} have convolutions");
}

/// The exact activations of all stages, the last without its ReLU, one after the other.
fn activations(net: &Net, x: &[f32]) -> Vec<BigRational> {
    let (graph, point): (_, Vec<BigRational>) = (Graph::of(net), x.iter().map(|&v| exact(v)).collect());
    let stage = |k: usize| {
        let z = eval_exact(&graph.chain(k + 1), &point);
        let is_off = move |z: &BigRational| k + 1 < net.stages.len() && z.is_negative();
        z.into_iter().map(move |z| if is_off(&z) { BigRational::zero() } else { z })
    };
    (0..net.stages.len()).flat_map(stage).collect()
}

fn float64(value: f64) -> BigRational {
    BigRational::from_float(value).expect("finite")
}

/// The bounds of every neuron over the box, by rows that go back through every kind of map. An attack that succeeds first
/// hides from verdicts that a bound is wrong.
#[test]
fn bounds_of_all_neurons_hold() {
    for seed in 0..MODELS {
        let (_, net) = small(&mut Random::new(seed));
        let (graph, networks) = (Graph::of(&net), variants(&net).map(Interpreter::new));
        let ends = |end: f64| vec![end; net.inputs];
        let bounds = networks.each_ref().map(|network| {
            let bounder = Bounder::new(network.shape(), ends(-1.0), ends(1.0), None, &RULES, false, &|_, _| true);
            bounder.expect("a box is not empty").1
        });
        for (k, stage) in net.stages.iter().enumerate() {
            let chain = graph.chain(k + 1);
            for j in 0..stage.width() {
                let least = |sign: f32| {
                    let coefficient = |i: usize| exact(if i == j { sign } else { 0.0 });
                    least(&chain, net.inputs, (0..stage.width()).map(coefficient).collect())
                };
                let (low, high) = (least(1.0), -least(-1.0));
                for bounds in &bounds {
                    let (lower, upper) = (bounds.lower(k)[j], bounds.upper(k)[j]);
                    let holds = float64(lower) <= low && high <= float64(upper);
                    assert!(holds, "seed {seed}, neuron {j} of {k}: {low} to {high} is not in {lower} to {upper}");
                }
            }
        }
    }
}

/// The model as it was read, its normal form and the ways forward of every kind of map have the same values.
#[test]
fn evaluation_and_enclosures_are_those_of_the_rationals() {
    for seed in 0..MODELS {
        let mut random = Random::new(seed);
        let (model, net) = small(&mut random);
        let read = read_as(&model.encode_to_vec(), "test.onnx").expect("a model").graph;
        let networks = variants(&net).map(Interpreter::new);
        for _ in 0..POINTS {
            // Of eighths, float64 computes the graph's values exactly.
            let x: Vec<f32> = (0..net.inputs).map(|_| random.below(17) as f32 / 8.0 - 1.0).collect();
            let expected = activations(&net, &x);
            let output = expected.last().expect("an output");
            let wide: Vec<f64> = x.iter().map(|&v| v.into()).collect();
            assert_eq!(float64(values(&read, &wide)[0]), *output, "seed {seed}: the normal form is another network");
            for network in &networks {
                let (y, output) = (f64::from(evaluate(network, &x)[0]), output.to_f64().expect("a number"));
                assert!((y - output).abs() <= TOLERANCE * (1.0 + output.abs()), "seed {seed}: {y}, not {output}");
                let mut room: Vec<Ball> = wide.iter().map(|&centre| Ball { centre, radius: 0.0 }).collect();
                room.resize(net.inputs + expected.len(), Ball::default());
                enclose(&network.shape(), &mut room);
                for (ball, expected) in room[net.inputs..].iter().zip(&expected) {
                    let distance = (float64(ball.centre) - expected).abs();
                    assert!(distance <= float64(ball.radius) && ball.radius < WIDEST, "seed {seed}: {ball:?}");
                }
            }
        }
    }
}
