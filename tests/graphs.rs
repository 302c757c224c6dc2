//! Networks whose stages read any earlier ones: verdicts of every engine against the brute-force oracle.

use num_rational::BigRational;
use num_traits::ToPrimitive;
use pg_core::Network;
use pg_runtime::options::{Engine, Options};
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::Verdict;
use pg_tests::Random;
use pg_tests::graph::{Graph, property};
use pg_tests::oracle::{Linear, Region, Row, eval_exact, exact, exact_minimum, satisfying_input};

const NETWORKS: u64 = 150;

#[test]
fn every_engine_agrees_with_the_oracle() {
    let (mut decided, mut asked, mut violated) = (0, 0, 0);
    for seed in 0..NETWORKS {
        let mut random = Random::new(seed);
        let inputs = 1 + random.below(3);
        let widths: Vec<usize> = (0..2 + random.below(2)).map(|_| 1 + random.below(3)).chain([1]).collect();
        let network = Graph::random(inputs, &widths, &mut random, |random| match random.below(3) {
            0 => 0.0,
            _ => random.number(),
        });
        let chain = network.chain(widths.len());
        let ends = |end: f32| vec![exact(end); inputs];
        let region = Region { lower: ends(-1.0), upper: ends(1.0), rows: vec![] };
        let form = |constant: BigRational| Linear { input: vec![], output: vec![exact(1.0)], constant };
        let least = exact_minimum(&chain, &region, &form(exact(0.0))).expect("nonempty").to_f32().expect("a number");
        for threshold in [least - 0.1, least - 1e-6, least + 1e-3, least + 0.1] {
            let row = Row { form: form(-exact(threshold)), strict: false };
            let is_satisfiable = satisfying_input(&chain, &region, &[row]).is_some();
            let engine = random.pick(&[Engine::Auto, Engine::Phases, Engine::Peregrinn]);
            let options = Options { engine, threads: Some(1), timeout: Some(20.0), ..Options::default() };
            let outcome = verify(&network, &property(inputs, threshold), &options, &Control::new(options.timeout));
            asked += 1;
            decided += usize::from(!matches!(outcome.verdict, Verdict::Unknown(_)));
            match outcome.verdict {
                Verdict::Holds(_) => assert!(!is_satisfiable, "seed {seed}, {threshold}: holds by {engine:?}"),
                Verdict::Violated(witness) => {
                    violated += 1;
                    let x: Vec<BigRational> = witness.input().iter().map(|&v| exact(v)).collect();
                    let y = eval_exact(&chain, &x);
                    assert!(y[0] <= exact(threshold), "seed {seed}, {threshold}: violated by {engine:?}");
                }
                Verdict::Unknown(_) => {}
            }
        }
    }
    assert!(decided * 50 >= asked * 49 && violated > asked / 4, "{decided} of {asked} decided, {violated} violated");
}

/// The way forward of stages that read several others.
#[test]
fn evaluation_follows_every_edge() {
    for seed in 0..NETWORKS {
        let mut random = Random::new(seed);
        let network = Graph::random(2, &[3, 2, 4, 2], &mut random, Random::number);
        let x = random.numbers(2 * 100);
        let y = pg_tests::evaluate(&network, &x);
        assert_eq!(network.outputs(), 2);
        for (x, y) in x.chunks(2).zip(y.chunks(2)) {
            let point: Vec<BigRational> = x.iter().map(|&v| exact(v)).collect();
            for (y, exact) in y.iter().zip(eval_exact(&network.chain(4), &point)) {
                let exact = exact.to_f32().expect("a number");
                assert!((y - exact).abs() <= 1e-5 * (1.0 + exact.abs()), "seed {seed}: {y}, not {exact}");
            }
        }
    }
}
