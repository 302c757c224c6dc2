//! Verdicts about the float32 program: what rounding, overflow and inputs that are no float32 do to them, and what a sum may be
//! off by, against exact rationals. All inputs of tiny boxes are tried in `random`.

use num_rational::BigRational;
use num_traits::Signed;
use pg_core::rounding::Roundoff;
use pg_core::{Network, Source};
use pg_runtime::options::{Engine, Inference, Options, Semantics};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::Verdict;
use pg_tests::graph::{Graph, GraphStage};
use pg_tests::oracle::exact;
use pg_tests::program::Arithmetic;
use proptest::collection::vec;
use proptest::prelude::*;

const TWO_24: f32 = 16_777_216.0;

/// A chain of layers: for each neuron its coefficients, the bias last.
fn chain(layers: &[&[&[f32]]]) -> Graph {
    let stage = |(k, rows): (usize, &&[&[f32]])| {
        let from = k.checked_sub(1).map_or(Source::Input, Source::Stage);
        let (bias, weights) = rows.iter().map(|row| row.split_last().expect("a bias")).unzip();
        let weights: Vec<&[f32]> = weights;
        GraphStage { reads: vec![(from, weights.iter().map(|row| row.to_vec()).collect())], bias }
    };
    Graph::new(layers[0][0].len() - 1, layers.iter().enumerate().map(stage).collect())
}

/// Counterexamples where the only output meets a condition, and every input is between two ends.
fn property(inputs: usize, (low, high): (&str, &str), condition: &str) -> Property {
    let input = |i| format!("(declare-const X_{i} Real)(assert (and (>= X_{i} {low}) (<= X_{i} {high})))");
    let inputs: String = (0..inputs).map(input).collect();
    Property::parse(&format!("{inputs}(declare-const Y_0 Real)(assert {condition})"), "a test").expect("a property")
}

/// What every engine says.
fn verdicts(network: &dyn Network, property: &Property, semantics: Semantics) -> Vec<Verdict> {
    let engines = [
        (Engine::Auto, Inference::Raised),
        (Engine::Phases, Inference::Raised),
        (Engine::Peregrinn, Inference::Raised),
        (Engine::Peregrinn, Inference::Symbolic),
    ];
    let answer = |(engine, inference)| {
        let semantics = Some(semantics);
        let options = Options { engine, inference, semantics, threads: Some(1), ..Options::default() };
        verify(network, property, &options, &Control::new(Some(20.0))).verdict
    };
    engines.map(answer).into()
}

fn words(network: &dyn Network, property: &Property, semantics: Semantics) -> Vec<&'static str> {
    let mut words: Vec<_> = verdicts(network, property, semantics).iter().map(Verdict::word).collect();
    words.dedup();
    words
}

/// 2²⁴·x + 1 is no float32 at x = 1, so that the program loses the 1 and ends at 0 where the network ends at 1.
#[test]
fn a_program_may_violate_what_its_network_does_not() {
    let network = chain(&[&[&[TWO_24, 1.0], &[1.0, 0.0]], &[&[1.0, -TWO_24, 0.0]]]);
    let question = property(1, ("1", "1.000001"), "(<= Y_0 0.5)");
    assert_eq!(words(&network, &question, Semantics::Real), ["unsat"]);
    for verdict in verdicts(&network, &question, Semantics::Float32) {
        let Verdict::Violated(witness) = verdict else { panic!("{verdict:?}") };
        assert_eq!(witness.output(), [0.0]);
    }
    let far = property(1, ("1", "1.000001"), "(<= Y_0 -40)");
    assert_eq!(words(&network, &far, Semantics::Float32), ["unsat"]);
}

/// A program that adds its bias first loses every product: it is off by nearly all that the error term allows. In another order
/// it is not, so that some engine may not find a counterexample; but none may prove.
#[test]
fn what_roundings_add_up_to_is_not_excluded() {
    let (tiny, count) = (1.0 / TWO_24, 12);
    let row = [vec![tiny; count], vec![1.0]].concat();
    for layers in [&[&[&row[..]][..]][..], &[&[&row], &[&[1.0, 0.0]]], &[&[&row], &[&[1.0, 0.0]], &[&[1.0, 0.0]]]] {
        let network = chain(layers);
        let at =
            |off: f64| property(count, ("1", "1"), &format!("(<= Y_0 {:.12})", 1.0 + off * count as f64 / 16777216.0));
        assert_eq!(words(&network, &at(0.9), Semantics::Real), ["unsat"]);
        for off in [0.9, 0.5, 0.01] {
            assert!(!words(&network, &at(off), Semantics::Float32).contains(&"unsat"), "{off}");
        }
        assert_eq!(words(&network, &at(-3.0), Semantics::Float32), ["unsat"]);
    }
}

/// The float32 nearest to 0.1 is above it: the program's output is 0, and the network's is not.
#[test]
fn a_number_that_is_no_float_is_its_nearest_to_a_program() {
    let network = chain(&[&[&[1.0, -0.1]]]);
    let question = property(1, ("0.1", "0.1"), "(>= Y_0 0)");
    assert_eq!(words(&network, &question, Semantics::Real), ["unsat"]);
    assert_eq!(words(&network, &question, Semantics::Float32), ["sat"]);
    assert_eq!(words(&network, &property(1, ("0.1", "0.1"), "(>= Y_0 0.0000001)"), Semantics::Float32), ["unsat"]);
}

/// Whatever comes out in the end, a sum on the way may be infinite in some order.
#[test]
fn overflow_has_to_be_excluded() {
    let large = 2e38;
    let overflowing: [&[&[&[f32]]]; 3] = [
        &[&[&[large, large, 0.0]], &[&[1e-38, 0.0]]],
        &[&[&[large, -large, large]], &[&[1e-38, 0.0]]],
        &[&[&[1.0, 1.0, 0.0]], &[&[large, 0.0]], &[&[1e-38, 0.0]]],
    ];
    let question = property(2, ("0.9", "1"), "(<= Y_0 -1)");
    for layers in overflowing {
        let network = chain(layers);
        assert_eq!(words(&network, &question, Semantics::Real), ["unsat"]);
        for verdict in verdicts(&network, &question, Semantics::Float32) {
            let Verdict::Unknown(reason) = verdict else { panic!("{verdict:?}") };
            assert!(reason.to_string().contains("overflow"), "{reason}");
        }
    }
    let network = chain(&[&[&[0.7 * large, 0.7 * large, 0.0]], &[&[1e-38, 0.0]]]);
    assert_eq!(words(&network, &question, Semantics::Float32), ["unsat"]);
}

/// Every input of the property is a counterexample, and at none of them is the program's output a number.
#[test]
fn a_question_that_any_output_answers_may_have_no_witness() {
    let network = chain(&[&[&[3e38, 0.0]], &[&[10.0, 0.0]]]);
    let question = property(1, ("1", "1"), "(<= 0 1)");
    for semantics in [Semantics::Real, Semantics::Float32] {
        assert_eq!(words(&network, &question, semantics), ["unknown"]);
    }
}

#[test]
fn a_property_may_declare_what_it_is_about() {
    let declared = |input: &str, output: &str| {
        let network = format!("(declare-network N (declare-input X {input} [1]) (declare-output Y {output} [1]))");
        let bounds = "(assert (and (>= X[0] 0) (<= X[0] 1) (<= Y[0] 0)))";
        Property::parse(&format!("(vnnlib-version <2.0>){network}{bounds}"), "a test").expect("a property")
    };
    let given = Options::default();
    assert_eq!(given.semantics_of(&declared("float32", "Float32")), Semantics::Float32);
    for other in [declared("real", "real"), declared("float32", "real"), declared("real", "float32")] {
        assert_eq!(given.semantics_of(&other), Semantics::Real);
    }
    let explicit = Options { semantics: Some(Semantics::Real), ..Options::default() };
    assert_eq!(explicit.semantics_of(&declared("float32", "float32")), Semantics::Real);
}

/// Any finite number, each exponent alike.
fn number() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits).prop_filter("finite", |v| v.is_finite())
}

/// Products of any size, of about one size so that roundings add up, that cancel, and that underflow.
fn products() -> impl Strategy<Value = Vec<(f32, f32)>> {
    let lost = (0.4f32..0.6, Just(1.0 / TWO_24));
    let cancelling = (-1.0f32..1.0, prop_oneof![Just(1.0f32), Just(TWO_24), Just(1e30)]);
    let small = (1e-23f32..1e-22, -1e-23f32..1e-23);
    prop_oneof![
        vec((number(), number()), 0..12),
        vec((-1.0f32..1.0, -1.0f32..1.0), 0..200),
        vec(lost, 0..300),
        vec(cancelling, 0..40),
        vec(small, 0..40),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn a_sum_is_within_its_roundoff_in_every_order(
        products in products(),
        bias in prop_oneof![number(), -1.0f32..1.0, Just(1.0f32), Just(0.0f32), -1e-44f32..1e-44],
    ) {
        let rational = |value: f64| BigRational::from_float(value).expect("a finite number");
        let terms: Vec<BigRational> = products.iter().map(|&(w, h)| exact(w) * exact(h)).collect();
        let sum = terms.iter().sum::<BigRational>() + exact(bias);
        let size = terms.iter().map(|term| term.abs()).sum::<BigRational>() + exact(bias).abs();
        let about = products.iter().map(|&(w, h)| (f64::from(w) * f64::from(h)).abs()).sum::<f64>() + f64::from(bias).abs();
        let roundoff = Roundoff::of_sum(products.len());
        let room = rational(roundoff.relative) * size + rational(roundoff.underflow);
        for arithmetic in Arithmetic::all() {
            let computed = arithmetic.sum(bias, &products);
            prop_assert!(computed.is_finite() || !roundoff.excludes_overflow(about), "{arithmetic:?}");
            if computed.is_finite() {
                prop_assert!((exact(computed) - &sum).abs() <= room, "{arithmetic:?}: {computed}");
            }
        }
    }
}
