//! Convex quadratic constraints: verdicts that are known by calculus, and random ones against dense sampling.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;
use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::Verdict;
use pg_tests::case::border::network;
use pg_tests::case::interpreter;
use pg_tests::oracle::{Layer, eval_exact, exact};
use pg_tests::{Random, evaluate, shipped};

const MARGINS: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];
const RANDOM_CASES: usize = 300;
/// Points a side of the grid that a random case is compared on, by its inputs.
const GRID: [usize; 2] = [4001, 161];
const PATIENCE: f64 = 20.0;

fn options(engine: Engine) -> Options {
    Options { engine, threads: Some(1), timeout: Some(PATIENCE), ..Options::default() }
}

/// Inputs in [−`side`, `side`], and conditions in VNN-LIB's words.
fn text(inputs: usize, outputs: usize, side: f64, conditions: &[String]) -> String {
    let names = (0..inputs).map(|i| format!("X_{i}")).chain((0..outputs).map(|j| format!("Y_{j}")));
    let declared = names.map(|name| format!("(declare-const {name} Real)\n"));
    let bounds = (0..inputs).map(|i| format!("(assert (and (>= X_{i} -{side}) (<= X_{i} {side})))\n"));
    let conditions = conditions.iter().map(|condition| format!("(assert {condition})\n"));
    declared.chain(bounds).chain(conditions).collect()
}

fn ask(net: &[Layer], property: &str, engine: Engine) -> Verdict {
    let network = interpreter(net).expect("a network");
    let parsed = Property::parse(property, "a case").unwrap_or_else(|e| panic!("{e}\n{property}"));
    let options = options(engine);
    verify(&network, &parsed, &options, &Control::new(options.timeout)).verdict
}

fn assert_verdict(net: &[Layer], property: &str, expected: &str) {
    for engine in [Engine::Peregrinn, Engine::Auto, Engine::Phases] {
        let verdict = ask(net, property, engine);
        assert_eq!(verdict.word(), expected, "{engine:?}: {verdict:?}\n{property}");
    }
}

/// Y_0 = Σ |X_i|.
fn sum_of_magnitudes(inputs: usize) -> Vec<Layer> {
    let unit = |i: usize, sign: f32| (0..inputs).map(|j| if i == j { sign } else { 0.0 }).collect::<Vec<f32>>();
    let weights: Vec<Vec<f32>> = (0..inputs).flat_map(|i| [unit(i, 1.0), unit(i, -1.0)]).collect();
    let bias = vec![0.0; 2 * inputs];
    vec![Layer { weights, bias }, Layer { weights: vec![vec![1.0; 2 * inputs]], bias: vec![0.0] }]
}

/// Σ (X_i − centre)².
fn squares(inputs: usize, centre: f64) -> String {
    let square = |i: usize| format!("(* (- X_{i} {centre}) (- X_{i} {centre}))");
    format!("(+ 0 {})", (0..inputs).map(square).collect::<Vec<_>>().join(" "))
}

/// On the ball of radius r the sum of magnitudes reaches r·√n.
#[test]
fn a_ball_of_inputs() {
    for (inputs, radius) in [(1, 0.5f64), (2, 0.5), (3, 0.7), (4, 0.5)] {
        let (net, most) = (sum_of_magnitudes(inputs), radius * (inputs as f64).sqrt());
        let ball = format!("(<= {} {})", squares(inputs, 0.0), radius * radius);
        for margin in MARGINS {
            let ask = |least: f64| text(inputs, 1, 1.0, &[ball.clone(), format!("(>= Y_0 {least:.12})")]);
            assert_verdict(&net, &ask(most + margin), "unsat");
            assert_verdict(&net, &ask(most - margin), "sat");
        }
    }
}

/// The ball around (2, …, 2) and the box touch where all inputs are 1.
#[test]
fn a_ball_that_misses_the_box() {
    for inputs in 1..5 {
        let net = sum_of_magnitudes(inputs);
        for margin in MARGINS {
            let ask = |limit: f64| text(inputs, 1, 1.0, &[format!("(<= {} {limit:.12})", squares(inputs, 2.0))]);
            assert_verdict(&net, &ask(inputs as f64 - margin), "unsat");
            assert_verdict(&net, &ask(inputs as f64 + margin), "sat");
        }
    }
}

/// Y_0 = |X_0| + |X_1| is nowhere negative, so (Y_0 + 1/2)² is at least 1/4.
#[test]
fn a_quadratic_of_an_output() {
    let net = sum_of_magnitudes(2);
    let square = "(* (+ Y_0 0.5) (+ Y_0 0.5))";
    for margin in MARGINS {
        let ask = |limit: f64| text(2, 1, 1.0, &[format!("(<= {square} {limit:.12})")]);
        assert_verdict(&net, &ask(0.25 - margin), "unsat");
        assert_verdict(&net, &ask(0.25 + margin), "sat");
    }
}

/// |X_0| − X_0 is 1 only at −1/2: within [−2/5, 2/5] it misses 1 by 1/5.
#[test]
fn a_quadratic_of_inputs_and_outputs() {
    let net = sum_of_magnitudes(1);
    let difference = "(- (- Y_0 X_0) 1.0)";
    for margin in MARGINS {
        let ask = |limit: f64| text(1, 1, 0.4, &[format!("(<= (* {difference} {difference}) {limit:.12})")]);
        assert_verdict(&net, &ask(0.04 - margin), "unsat");
        assert_verdict(&net, &ask(0.04 + margin), "sat");
    }
}

/// Two balls of inputs that overlap by a little, or miss each other by as much.
#[test]
fn two_balls() {
    let net = sum_of_magnitudes(2);
    for margin in MARGINS {
        let around = |centre: f64, limit: f64| format!("(<= {} {limit:.12})", squares(2, centre));
        let ask = |limit: f64| text(2, 1, 1.0, &[around(-0.25, limit), around(0.25, limit)]);
        assert_verdict(&net, &ask(0.125 - margin), "unsat");
        assert_verdict(&net, &ask(0.125 + margin), "sat");
    }
}

/// A ball that touches a half-space in one point is never decided wrongly.
#[test]
fn touching_is_not_called_wrongly() {
    let net = sum_of_magnitudes(2);
    let touch =
        |relation: &str| text(2, 1, 1.0, &[format!("(<= {} 0.5)", squares(2, 0.0)), format!("({relation} Y_0 1.0)")]);
    for engine in [Engine::Peregrinn, Engine::Auto, Engine::Phases] {
        assert_ne!(ask(&net, &touch(">="), engine).word(), "unsat", "(1/2, 1/2) is a counterexample");
        assert_ne!(ask(&net, &touch(">"), engine).word(), "sat");
    }
}

/// A convex constraint `Σ weight·(form)² + form ≤ limit`, forms given by coefficients of inputs, outputs and 1.
struct Convex {
    squares: Vec<Vec<i64>>,
    linear: Vec<i64>,
    /// In units of 10⁻⁹.
    limit: i64,
}

impl Convex {
    fn random(random: &mut Random, inputs: usize, outputs: usize, kind: usize) -> Convex {
        let form = |uses_x: bool, uses_y: bool, random: &mut Random| -> Vec<i64> {
            let mut coefficient = |used: bool| if used { random.below(9) as i64 - 4 } else { 0 };
            let x: Vec<i64> = (0..inputs).map(|_| coefficient(uses_x)).collect();
            let y: Vec<i64> = (0..outputs).map(|_| coefficient(uses_y)).collect();
            [x, y, vec![random.below(9) as i64 - 4]].concat()
        };
        let (x, y) = [(true, false), (false, true), (true, true)][kind];
        let squares = (0..1 + random.below(2)).map(|_| form(x, y, random)).collect();
        Convex { squares, linear: form(x, y, random), limit: 0 }
    }

    fn value(&self, v: &[f64]) -> f64 {
        let form = |a: &[i64]| a.iter().zip(v).map(|(&a, v)| a as f64 * v).sum::<f64>();
        self.squares.iter().map(|a| form(a).powi(2)).sum::<f64>() + form(&self.linear) - self.limit as f64 * 1e-9
    }

    fn holds_exactly(&self, v: &[BigRational]) -> bool {
        let form = |a: &[i64]| a.iter().zip(v).map(|(&a, v)| v * BigInt::from(a)).sum::<BigRational>();
        let squares: BigRational = self.squares.iter().map(|a| form(a) * form(a)).sum();
        let limit = BigRational::new(self.limit.into(), 1_000_000_000.into());
        !(squares + form(&self.linear) - limit).is_positive()
    }

    fn text(&self, inputs: usize) -> String {
        let form = |a: &[i64]| {
            let name = |k: usize| match k {
                _ if k + 1 == a.len() => "1.0".to_string(),
                _ if k < inputs => format!("X_{k}"),
                _ => format!("Y_{}", k - inputs),
            };
            let terms = a.iter().enumerate().map(|(k, a)| format!("(* {a}.0 {})", name(k)));
            format!("(+ 0.0 {})", terms.collect::<Vec<_>>().join(" "))
        };
        let squares = self.squares.iter().map(|a| format!("(* {0} {0})", form(a)));
        let sum = squares.chain([form(&self.linear)]).collect::<Vec<_>>().join(" ");
        let (sign, limit) = (if self.limit < 0 { "-" } else { "" }, self.limit.abs());
        format!("(<= (+ {sum}) {sign}{}.{:09})", limit / 1_000_000_000, limit % 1_000_000_000)
    }
}

/// The grid's points (x, y, 1).
fn grid(network: &dyn Network) -> Vec<Vec<f64>> {
    let (inputs, count) = (network.inputs(), GRID[network.inputs() - 1]);
    let at = |k: usize| (2.0 * k as f64 / (count - 1) as f64 - 1.0) as f32;
    let points = (0..count.pow(inputs as u32)).map(|k| (0..inputs).map(move |i| at(k / count.pow(i as u32) % count)));
    let x: Vec<f32> = points.flatten().collect();
    let y = evaluate(network, &x);
    let joined = x.chunks(inputs).zip(y.chunks(network.outputs()));
    joined.map(|(x, y)| x.iter().chain(y).chain(&[1.0]).map(|&v| f64::from(v)).collect()).collect()
}

/// One to three constraints; the last one's limit lies near the least value that the grid has where the others hold.
#[test]
fn random_quadratics() {
    let mut random = Random::new(21);
    let (mut counts, mut missed, mut findable) = ([0; 3], 0, 0);
    for case in 0..RANDOM_CASES {
        let (inputs, outputs) = (1 + random.below(2), 1 + random.below(2));
        let net = network(&mut random, inputs, outputs, 6);
        let points = grid(&interpreter(&net).expect("a network"));
        let mut left: Vec<&Vec<f64>> = points.iter().collect();
        let mut constraints = Vec::new();
        for _ in 0..1 + random.below(3) {
            let kind = random.below(3);
            let mut convex = Convex::random(&mut random, inputs, outputs, kind);
            let least = left.iter().map(|v| convex.value(v)).fold(f64::INFINITY, f64::min);
            let above = random.pick(&[-1e-2, -1e-3, 1e-3, 1e-2, 0.3, 1.0]);
            convex.limit = ((least.min(1e6) + above) * 1e9).floor() as i64;
            left.retain(|v| convex.value(v) <= -1e-6);
            constraints.push(convex);
        }
        let conditions: Vec<String> = constraints.iter().map(|convex| convex.text(inputs)).collect();
        let property = text(inputs, outputs, 1.0, &conditions);
        let engine = [Engine::Peregrinn, Engine::Auto, Engine::Phases][case % 3];
        let verdict = ask(&net, &property, engine);
        let wrong = |what: &str| -> ! { panic!("{what}: {verdict:?}\n{net:?}\n{property}") };
        findable += usize::from(!left.is_empty());
        match &verdict {
            Verdict::Holds(_) if !left.is_empty() => wrong(&format!("{:?} is a counterexample", left[0])),
            Verdict::Holds(_) => counts[0] += 1,
            Verdict::Violated(witness) => {
                let x: Vec<_> = witness.input().iter().map(|&v| exact(v)).collect();
                let v = [x.clone(), eval_exact(&net, &x), vec![exact(1.0)]].concat();
                if !constraints.iter().all(|convex| convex.holds_exactly(&v)) {
                    wrong("not a counterexample");
                }
                counts[1] += 1;
            }
            Verdict::Unknown(_) => {
                eprintln!("{verdict:?}, {} points of the grid\n{property}", left.len());
                counts[2] += 1;
                missed += usize::from(!left.is_empty());
            }
        }
    }
    let [holds, violated, unknown] = counts;
    eprintln!("{holds} hold, {violated} violated, {unknown} unknown; {missed} of {findable} not found");
    assert!(holds > RANDOM_CASES / 5 && violated > RANDOM_CASES / 5, "both answers are common");
    assert!(missed * 100 <= findable && unknown * 20 <= RANDOM_CASES, "too few are decided");
}

/// Sets so small within their boxes that no uniform sample would meet them: the walk does, before any search.
#[test]
fn small_sets_are_sampled() {
    let (inputs, net) = (10, sum_of_magnitudes(10));
    let sum = (0..inputs).map(|i| format!("X_{i}")).collect::<Vec<_>>().join(" ");
    let corner: Vec<String> = (0..inputs).map(|i| format!("(>= X_{i} 0.7)")).collect();
    let simplex = [corner, vec![format!("(<= (+ {sum}) 7.1)")]].concat();
    let ball = vec![format!("(<= {} 0.01)", squares(inputs, 0.5))];
    for set in [simplex, ball] {
        let text = text(inputs, 1, 1.0, &[set, vec!["(>= Y_0 0.1)".into()]].concat());
        let (network, property) = (interpreter(&net).expect("a network"), Property::parse(&text, "a set").unwrap());
        let outcome = verify(&network, &property, &options(Engine::Auto), &Control::new(None));
        assert_eq!((outcome.verdict.word(), outcome.counters.nodes), ("sat", 0), "{text}");
    }
}

/// Around a digit the network is known to be robust by 0.01 in each pixel, so within any smaller ball, and known not to be
/// by 0.3 in each of the 64, all of which the ball of radius 2.4 allows. In between, either answer carries its proof.
#[test]
fn balls_around_an_image() {
    let network = Interpreter::new(compile(&shipped("digits_16.onnx")).unwrap());
    let image = std::fs::read_to_string(shipped("digit_3.csv")).unwrap();
    let pixels: Vec<f64> =
        image.split([',', '\n']).filter_map(|t| t.trim().parse().ok()).map(|v: f64| v / 16.0).collect();
    for (radius, expected) in [(0.01, "unsat"), (0.2, "unsat"), (0.8, "sat"), (2.4, "sat")] {
        let square = |(i, v): (usize, &f64)| format!("(* (- X_{i} {v}) (- X_{i} {v}))");
        let squares: Vec<String> = pixels.iter().enumerate().map(square).collect();
        let ball = format!("(<= (+ {}) {:.4})", squares.join(" "), radius * radius);
        let bounds = (0..64).map(|i| format!("(and (>= X_{i} 0) (<= X_{i} 1))"));
        let others: Vec<String> = (0..10).filter(|&k| k != 3).map(|k| format!("(>= Y_{k} Y_3)")).collect();
        let conditions: Vec<String> = bounds.chain([ball, format!("(or {})", others.join(" "))]).collect();
        let property = Property::parse(&text(64, 10, 1.0, &conditions), "a ball").unwrap();
        let options = options(Engine::Auto);
        let verdict = verify(&network, &property, &options, &Control::new(options.timeout)).verdict;
        assert_eq!(verdict.word(), expected, "{radius}: {verdict:?}");
    }
}
