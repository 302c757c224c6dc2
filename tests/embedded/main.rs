//! Embedded crates: what they certify is never wrong, what they need is what their evidence says, and a device gives the host's bits.

mod crown;
mod many;
mod targets;

use many::{Program, Query, Said};
use num_rational::BigRational;
use pg_codegen::embedded::{Device, Options, files};
use pg_codegen::interpret::Interpreter;
use pg_codegen::net::Net;
use pg_core::Network;
use pg_tests::case::onnx;
use pg_tests::model::compile;
use pg_tests::oracle::{Layer, Linear, Region, Row, exact, satisfying_input};
use pg_tests::{Random, SHIPPED, evaluate, shipped};

const NETWORKS: usize = 80;
/// Queries of each network, and how many of what is certified are decided in rationals too.
const QUERIES: usize = 1250;
const EXACT: usize = 12;

/// A small network: every third with layers far up or down in the range of float32.
fn network(random: &mut Random, number: usize) -> Vec<Layer> {
    let hidden = 1 + random.below(3);
    let mut widths: Vec<usize> = (0..hidden).map(|_| 1 + random.below(4)).collect();
    widths.push(2 + random.below(2));
    let mut before = 1 + random.below(3);
    let mut layers = Vec::new();
    for width in widths {
        let exponent = if number.is_multiple_of(3) { random.below(160) as i32 - 80 } else { 0 };
        let scale = 2f32.powi(exponent);
        let mut numbers = |count: usize| random.numbers(count).iter().map(|v| 2.0 * v * scale).collect::<Vec<f32>>();
        let weights = (0..width).map(|_| numbers(before)).collect();
        layers.push(Layer { weights, bias: numbers(width) });
        before = width;
    }
    layers
}

/// A point of ordinary size, or a tiny one, and a distance: some of a few units in the last place.
fn query(random: &mut Random, network: usize, inputs: usize) -> Query {
    let scale = random.pick(&[1.0, 1.0, 1.0, 1e-3, 1e-38, 1e20]);
    let x: Vec<f32> = random.numbers(inputs).iter().map(|v| v * scale).collect();
    let part = random.pick(&[0.0, 1e-7, 1e-3, 0.01, 0.1, 0.3, 1.0]);
    Query { network, x, eps: part * scale }
}

/// Inputs within a distance of a point: its corners, and others.
fn near(random: &mut Random, x: &[f32], eps: f32) -> Vec<f32> {
    let is_corner = random.below(2) == 0;
    let ends = |x: f32, part: f32| (f64::from(x) + f64::from(part) * f64::from(eps)) as f32;
    let inside = |x: f32, y: f32| {
        let distance = |y: f32| (f64::from(y) - f64::from(x)).abs();
        if distance(y) <= f64::from(eps) {
            y
        } else if y > x {
            y.next_down()
        } else {
            y.next_up()
        }
    };
    let mut part = || if is_corner { random.pick(&[-1.0, 1.0]) } else { random.number() };
    x.iter().map(|&x| inside(x, ends(x, part()))).collect()
}

/// No input of a real box around a point has another class, or the same score for two.
fn is_robust(layers: &[Layer], x: &[f32], eps: f32, class: usize) -> bool {
    let outputs = layers.last().unwrap().bias.len();
    let ends = |sign: i32| x.iter().map(|&x| exact(x) + BigRational::from_integer(sign.into()) * exact(eps)).collect();
    let region = Region { lower: ends(-1), upper: ends(1), rows: vec![] };
    (0..outputs).filter(|&other| other != class).all(|other| {
        let mut output = vec![BigRational::default(); outputs];
        (output[class], output[other]) = (exact(1.0), exact(-1.0));
        let row = Row { form: Linear { output, ..Linear::default() }, strict: false };
        satisfying_input(layers, &region, &[row]).is_none()
    })
}

/// A hundred thousand queries: what is certified has no counterexample, by float32 evaluation near the point and in rationals.
#[test]
fn what_is_certified_has_no_counterexample() {
    let mut random = Random::new(20);
    let layers: Vec<Vec<Layer>> = (0..NETWORKS).map(|n| network(&mut random, n)).collect();
    let nets: Vec<Net> = layers.iter().map(|layers| compile(&onnx(layers)).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let program = Program::build("random_networks", folder.path(), &nets);
    let mut queries = Vec::new();
    for (n, layers) in layers.iter().enumerate() {
        queries.extend((0..QUERIES).map(|_| query(&mut random, n, layers[0].weights[0].len())));
    }
    let said = program.ask(&queries);
    let interpreters: Vec<Interpreter> = nets.into_iter().map(Interpreter::new).collect();
    let (mut certified, mut exactly) = (0, vec![0; NETWORKS]);
    for (query, said) in queries.iter().zip(said) {
        let Said::Robust { class, margin } = said else { continue };
        certified += 1;
        let (network, n) = (&interpreters[query.network], query.network);
        for _ in 0..20 {
            let x = near(&mut random, &query.x, query.eps);
            let y = evaluate(network, &x);
            let gaps = y.iter().enumerate().filter(|(other, _)| *other != class);
            let least = gaps.map(|(_, other)| f64::from(y[class]) - f64::from(*other)).fold(f64::INFINITY, f64::min);
            assert!(least >= f64::from(margin), "network {n} at {x:?}: {least:e} is below {margin:e}");
        }
        if exactly[n] < EXACT {
            exactly[n] += 1;
            assert!(is_robust(&layers[n], &query.x, query.eps, class), "network {n} at {:?}", query.x);
        }
    }
    assert!(certified > NETWORKS * QUERIES / 4, "only {certified} were certified");
}

/// Boxes of a few float32 numbers, all of them evaluated.
#[test]
fn every_number_of_a_tiny_box_has_the_class_that_was_certified() {
    let mut random = Random::new(21);
    let layers: Vec<Vec<Layer>> = (0..20).map(|n| network(&mut random, n)).collect();
    let nets: Vec<Net> = layers.iter().map(|layers| compile(&onnx(layers)).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let program = Program::build("tiny_boxes", folder.path(), &nets);
    let ulps = 3;
    let mut queries = Vec::new();
    for (n, layers) in layers.iter().enumerate() {
        for _ in 0..50 {
            let x = query(&mut random, n, layers[0].weights[0].len()).x;
            let eps = x.iter().map(|x| x.abs().next_up() - x.abs()).fold(0.0, f32::max) * ulps as f32;
            queries.push(Query { network: n, x, eps });
        }
    }
    let interpreters: Vec<Interpreter> = nets.into_iter().map(Interpreter::new).collect();
    for (query, said) in queries.iter().zip(program.ask(&queries)) {
        let Said::Robust { class, .. } = said else { continue };
        let network = &interpreters[query.network];
        let sides: Vec<Vec<f32>> = query.x.iter().map(|&x| numbers_near(x, query.eps)).collect();
        for k in 0..sides.iter().map(Vec::len).product::<usize>() {
            let mut rest = k;
            let mut digit = |count: usize| (rest % count, rest /= count).0;
            let x: Vec<f32> = sides.iter().map(|side| side[digit(side.len())]).collect();
            let y = evaluate(network, &x);
            assert!((0..y.len()).all(|other| other == class || y[class] > y[other]), "{x:?}");
        }
    }
}

/// The float32 numbers within a distance, up to eleven of them.
fn numbers_near(x: f32, eps: f32) -> Vec<f32> {
    let mut numbers = vec![x];
    for step in [f32::next_up as fn(f32) -> f32, f32::next_down] {
        let mut y = step(x);
        while numbers.len() < 11 && (f64::from(y) - f64::from(x)).abs() <= f64::from(eps) {
            numbers.push(y);
            y = step(y);
        }
    }
    numbers
}

#[test]
fn what_is_no_question_is_outside() {
    let mut random = Random::new(22);
    let layers = network(&mut random, 1);
    let inputs = layers[0].weights[0].len();
    let folder = tempfile::tempdir().unwrap();
    let program = Program::build("no_question", folder.path(), &[compile(&onnx(&layers)).unwrap()]);
    let at = |value: f32, eps: f32| Query { network: 0, x: vec![value; inputs], eps };
    let bad = [(f32::NAN, 0.1), (f32::INFINITY, 0.1), (0.0, -0.1), (0.0, f32::NAN), (0.0, f32::INFINITY)];
    let said = program.ask(&bad.map(|(value, eps)| at(value, eps)));
    assert!(said.iter().all(|said| *said == Said::Outside), "{said:?}");
    // The largest numbers are of the domain, and nothing is shown of them.
    assert_eq!(program.ask(&[at(f32::MAX, f32::MAX)]), [Said::NotShown]);
}

/// Generation is deterministic, and every shipped network has a crate.
#[test]
fn generating_twice_gives_the_same_bytes() {
    for name in SHIPPED {
        let crate_of = || {
            let options = Options { model: shipped(name), ..Options::default() };
            let device = Device::new(pg_codegen::compile(&shipped(name)).unwrap(), &options).unwrap();
            files(&device, None).unwrap()
        };
        assert_eq!(crate_of(), crate_of(), "{name}");
    }
}

/// What certify shows of the shipped classifiers beside one pass of CROWN on the host: nearly as much.
#[test]
fn certify_shows_nearly_what_one_pass_on_the_host_shows() {
    let names = ["digits_16.onnx", "digits_32x3.onnx", "digits_bn.onnx", "digits_conv.onnx"];
    let nets: Vec<Net> = names.iter().map(|name| pg_codegen::compile(&shipped(name)).unwrap()).collect();
    let folder = tempfile::tempdir().unwrap();
    let program = Program::build("classifiers", folder.path(), &nets);
    let text = std::fs::read_to_string(shipped("digits_inputs.csv")).unwrap();
    let images: Vec<Vec<f32>> =
        text.lines().map(|line| line.split(',').map(|v| v.trim().parse::<f32>().unwrap() / 16.0).collect()).collect();
    for (n, net) in nets.into_iter().enumerate() {
        let network = Interpreter::new(net);
        let mut queries = Vec::new();
        for image in images.iter().take(40).filter(|image| image.len() == network.inputs()) {
            queries.extend([0.01, 0.02, 0.03, 0.05, 0.07, 0.1].map(|eps| Query { network: n, x: image.clone(), eps }));
        }
        let (mut device, mut host) = (0, 0);
        for (query, said) in queries.iter().zip(program.ask(&queries)) {
            let shown = host_shows(&network, &query.x, query.eps);
            host += usize::from(shown);
            device += usize::from(matches!(said, Said::Robust { .. }));
        }
        eprintln!("{}: {device} on the device, {host} on the host, of {}", names[n], queries.len());
        assert!(10 * device >= 9 * host, "{}: {device} of {host}", names[n]);
    }
}

/// Whether one pass of the bound in float64, with adaptive slopes for the neurons of all stages, shows the class of a point.
fn host_shows(network: &Interpreter, x: &[f32], eps: f32) -> bool {
    let (lower, upper): (Vec<f64>, Vec<f64>) =
        x.iter().map(|&x| (f64::from(x) - f64::from(eps), f64::from(x) + f64::from(eps))).unzip();
    let y = evaluate(network, x);
    let class = (0..y.len()).fold(0, |best, k| if y[k] > y[best] { k } else { best });
    crown::shows(&network.shape(), (&lower, &upper), class)
}
