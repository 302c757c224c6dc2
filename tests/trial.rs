//! Networks of more inputs than few: boxes are tried, and go on where most inputs hardly matter.

use pg_runtime::options::Options;
use pg_runtime::report::{Chosen, Control, Counters};
use pg_runtime::search::verify;
use pg_tests::Random;
use pg_tests::falls::{least_seen, network, property};

const WIDTHS: [usize; 4] = [20, 24, 24, 1];

/// Whether the output of a random network falls by so much more than samples show: what is answered, and how.
fn ask(seed: u64, hardly: usize, radius: f32, margin: f32) -> (&'static str, Counters) {
    let mut random = Random::new(seed);
    let network = network(&mut random, &WIDTHS, hardly);
    let centre = random.numbers(WIDTHS[0]);
    let least = least_seen(&network, &mut random, &centre, radius);
    let options = Options { threads: Some(1), ..Options::default() };
    let outcome = verify(&network, &property(&centre, radius, least - margin), &options, &Control::new(None));
    (outcome.verdict.word(), outcome.counters)
}

#[test]
fn where_few_inputs_matter_boxes_decide() {
    let mut most = 0;
    for seed in 0..6 {
        let (word, counters) = ask(seed, 6, 2.0, 0.6);
        assert_eq!((word, counters.chosen), ("unsat", Chosen::Boxes), "seed {seed}");
        most = most.max(counters.nodes);
    }
    // As many as are tried before the first look at what they gain.
    assert!(most > 256, "{most} cells at most: nothing was tried");
}

#[test]
fn where_all_inputs_matter_phases_do() {
    for seed in 0..4 {
        let (word, counters) = ask(seed, WIDTHS[0], 1.0, 2.0);
        assert_eq!((word, counters.chosen), ("unsat", Chosen::Phases), "seed {seed}");
    }
}
