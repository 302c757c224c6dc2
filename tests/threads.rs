//! Threads share the work and change nothing else: the same search for the same seed and number of threads, and the same
//! verdict for any number.

use pg_codegen::interpret::Interpreter;
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::{Control, Counters};
use pg_runtime::search::verify;
use pg_tests::model::{compile, floats, int, model, node, value, with};
use pg_tests::{Random, evaluate};
use std::fmt::Write;

const WIDTHS: [usize; 5] = [20, 24, 24, 24, 1];
const RADIUS: f32 = 0.2;

fn network(random: &mut Random) -> Interpreter {
    let (mut tensors, mut nodes, mut last) = (vec![], vec![], "x".to_string());
    for (k, pair) in WIDTHS.windows(2).enumerate() {
        let (weight, bias, z, h) = (format!("w{k}"), format!("b{k}"), format!("z{k}"), format!("h{k}"));
        let scale = (3.0 / pair[0] as f32).sqrt();
        let weights: Vec<f32> = random.numbers(pair[0] * pair[1]).iter().map(|w| w * scale).collect();
        tensors.push(floats(&weight, &[pair[1] as i64, pair[0] as i64], &weights));
        tensors.push(floats(&bias, &[pair[1] as i64], &random.numbers(pair[1])));
        let is_last = k + 2 == WIDTHS.len();
        nodes.push(with("Gemm", &[&last, &weight, &bias], if is_last { "y" } else { &z }, vec![int("transB", 1)]));
        if !is_last {
            nodes.push(node("Relu", &[&z], &h));
        }
        last = h;
    }
    Interpreter::new(compile(&model(13, value("x", &[1, WIDTHS[0] as i64]), tensors, nodes)).expect("a network"))
}

/// That the output falls by more than `fall` somewhere near `centre`.
fn property(centre: &[f32], output: f32, fall: f32) -> Property {
    let mut text = String::new();
    (0..WIDTHS[0]).for_each(|i| writeln!(text, "(declare-const X_{i} Real)").unwrap());
    writeln!(text, "(declare-const Y_0 Real)").unwrap();
    for (i, x) in centre.iter().enumerate() {
        writeln!(text, "(assert (>= X_{i} {:?}))(assert (<= X_{i} {:?}))", x - RADIUS, x + RADIUS).unwrap();
    }
    writeln!(text, "(assert (<= Y_0 {:?}))", output - fall).unwrap();
    Property::parse(&text, "a fall").unwrap()
}

fn ask(network: &Interpreter, property: &Property, threads: u32) -> (&'static str, Counters) {
    let options = Options { engine: Engine::Phases, threads: Some(threads), ..Options::default() };
    let outcome = verify(network, property, &options, &Control::new(None));
    (outcome.verdict.word(), outcome.counters)
}

#[test]
fn a_search_is_the_same_for_the_same_threads() {
    let mut worked = 0;
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let network = network(&mut random);
        let centre = random.numbers(WIDTHS[0]);
        let output = evaluate(&network, &centre)[0];
        for fall in [0.3, 0.5, 0.7] {
            let property = property(&centre, output, fall);
            let (word, counters) = ask(&network, &property, 1);
            worked += counters.neuron_nodes + counters.property_nodes;
            for threads in [2, 3] {
                let (again, first) = ask(&network, &property, threads);
                assert_eq!(again, word, "seed {seed}, fall {fall}, {threads} threads");
                assert_eq!(ask(&network, &property, threads), (again, first), "seed {seed}, fall {fall}");
            }
        }
    }
    assert!(worked > 1_000, "only {worked} nodes: nothing was shared");
}
