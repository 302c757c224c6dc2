//! Threads share the work and change nothing else: the same search for the same seed and number of threads, and the same
//! verdict for any number.

use pg_codegen::interpret::Interpreter;
use pg_runtime::options::{Engine, Options};
use pg_runtime::property::Property;
use pg_runtime::report::{Control, Counters};
use pg_runtime::search::verify;
use pg_tests::falls::{least_seen, network, property};
use pg_tests::{Random, evaluate};

/// Asks one thread and several, these twice; what one counted.
fn ask_in_turn(network: &Interpreter, property: &Property, engine: Engine, case: &str) -> Counters {
    let ask = |threads: u32| {
        let options = Options { engine, threads: Some(threads), ..Options::default() };
        let outcome = verify(network, property, &options, &Control::new(None));
        (outcome.verdict.word(), outcome.counters)
    };
    let (word, counters) = ask(1);
    for threads in [2, 3] {
        let first = ask(threads);
        assert_eq!(first.0, word, "{case}, {threads} threads");
        assert_eq!(ask(threads), first, "{case}, {threads} threads");
    }
    counters
}

#[test]
fn a_search_over_phases_is_the_same_for_the_same_threads() {
    let mut worked = 0;
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let network = network(&mut random, &[20, 24, 24, 24, 1], 20);
        let centre = random.numbers(20);
        let output = evaluate(&network, &centre)[0];
        for fall in [0.3, 0.5, 0.7] {
            let property = property(&centre, 0.2, output - fall);
            let case = format!("seed {seed}, fall {fall}");
            let counters = ask_in_turn(&network, &property, Engine::Phases, &case);
            worked += counters.neuron_nodes + counters.property_nodes;
        }
    }
    assert!(worked > 1_000, "only {worked} nodes: nothing was shared");
}

#[test]
fn a_search_over_boxes_is_the_same_for_the_same_threads() {
    let mut worked = 0;
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let network = network(&mut random, &[5, 24, 24, 24, 1], 5);
        let centre = random.numbers(5);
        let least = least_seen(&network, &mut random, &centre, 1.0);
        for margin in [0.05, 0.1, 0.2] {
            let property = property(&centre, 1.0, least - margin);
            let case = format!("seed {seed}, margin {margin}");
            worked += ask_in_turn(&network, &property, Engine::Auto, &case).nodes;
        }
    }
    assert!(worked > 1_000, "only {worked} cells: nothing was shared");
}
