//! Questions at the edges of float arithmetic: weights, properties and boxes of extreme exponents, and counterexamples that
//! meet a property with equality. A counterexample that sampling finds would prove nothing of the bounds, so most of these hide theirs in
//! a narrow peak.

use pg_codegen::compile;
use pg_codegen::interpret::Interpreter;
use pg_core::{Network, Source};
use pg_runtime::options::{Engine, Inference, Options};
use pg_runtime::property::Property;
use pg_runtime::report::Control;
use pg_runtime::search::verify;
use pg_runtime::verdict::Verdict;
use pg_tests::graph::{Graph, GraphStage};
use pg_tests::root;

/// A layer: rows of coefficients, and biases.
type Dense<'a> = (&'a [&'a [f32]], &'a [f32]);

const TWO_126: f32 = 8.507059e37;
/// Two neurons whose sum grows with the distance of the second input from 0.3; less than 1 only in a peak 2⁻²² wide.
const PEAK: [(&[f32], f32); 2] = [(&[0.0, 4194304.0], -1258291.3), (&[0.0, -4194304.0], 1258291.3)];

fn chain(inputs: usize, layers: &[Dense]) -> Graph {
    let stage = |(k, (rows, bias)): (usize, &Dense)| GraphStage {
        reads: vec![(
            k.checked_sub(1).map_or(Source::Input, Source::Stage),
            rows.iter().map(|row| row.to_vec()).collect(),
        )],
        bias: bias.to_vec(),
    };
    Graph::new(inputs, layers.iter().enumerate().map(stage).collect())
}

fn property(inputs: &[(&str, &str)], outputs: usize, conditions: &str) -> Property {
    let input = |(i, (low, high)): (usize, &(&str, &str))| {
        format!("(declare-const X_{i} Real)(assert (and (>= X_{i} {low}) (<= X_{i} {high})))")
    };
    let inputs: String = inputs.iter().enumerate().map(input).collect();
    let outputs: String = (0..outputs).map(|j| format!("(declare-const Y_{j} Real)")).collect();
    Property::parse(&format!("{inputs}{outputs}{conditions}"), "a test").expect("a property")
}

fn options() -> Vec<Options> {
    let of =
        |engine, inference| Options { engine, inference, threads: Some(1), timeout: Some(20.0), ..Options::default() };
    vec![
        of(Engine::Auto, Inference::Raised),
        of(Engine::Phases, Inference::Raised),
        of(Engine::Peregrinn, Inference::Raised),
        of(Engine::Peregrinn, Inference::Symbolic),
    ]
}

/// That every engine finds a counterexample: it is replayed exactly to be one.
fn assert_violated(network: &dyn Network, property: &Property) {
    for options in options() {
        let verdict = verify(network, property, &options, &Control::new(options.timeout)).verdict;
        assert!(matches!(verdict, Verdict::Violated(_)), "{verdict:?} by {options:?}");
    }
}

/// A multiplier fl(μĝ) underflows, times a range of 2¹²⁶: with subnormal weights, and with none.
#[test]
fn a_multiplier_that_underflows() {
    let first: Dense = (&[&[1.0, 0.0], PEAK[0].0, PEAK[1].0], &[1.5, PEAK[0].1, PEAK[1].1]);
    let subnormal = chain(
        2,
        &[
            first,
            (&[&[TWO_126, 0.0, 0.0], &[TWO_126, 0.0, 0.0], &[0.0, -1.0, -1.0]], &[-1.5 * TWO_126, 0.0, 1.0]),
            (&[&[-4e-45, 3e-45, 0.0], &[0.0, 0.0, -1.0]], &[0.0, 0.0]),
        ],
    );
    let wanted = "(assert (<= Y_0 0.0000001430511474609375))(assert (<= Y_1 -0.5))";
    assert_violated(&subnormal, &property(&[("-1", "1"), ("0", "1")], 2, wanted));

    let normal = chain(
        2,
        &[
            first,
            (&[&[4.2535336e37, 0.0, 0.0], &[1.2676506e30, 0.0, 0.0], &[0.0, -1.0, -1.0]], &[-1.0633826e38, 0.0, 1.0]),
            (&[&[-4.6358602e-38, 1.5046342e-36, 0.0], &[0.0, 0.0, -1.0]], &[0.0, 0.0]),
        ],
    );
    let wanted = "(assert (<= Y_0 0.00000097751617431640625))(assert (<= Y_1 -0.5))";
    assert_violated(&normal, &property(&[("-1", "1"), ("0", "1")], 2, wanted));
}

/// The first output is 2¹²⁶·X_0·0.875·2⁻⁷², times so many factors of 2⁻¹²⁵; the second is −1 only in the peak.
fn scaled_down(factors: usize) -> Graph {
    let mut layers: Vec<Dense> = vec![
        (&[&[TWO_126, 0.0], PEAK[0].0, PEAK[1].0], &[0.0, PEAK[0].1, PEAK[1].1]),
        (&[&[1.0, 0.0, 0.0], &[0.0, -1.0, -1.0]], &[0.0, 1.0]),
        (&[&[1.8528846e-22, 0.0], &[0.0, 1.0]], &[0.0, 0.0]),
    ];
    layers.extend((0..factors).map(|_| -> Dense { (&[&[2.3509887e-38, 0.0], &[0.0, 1.0]], &[0.0, 0.0]) }));
    layers.push((&[&[1.0, 0.0], &[0.0, -1.0]], &[0.0, 0.0]));
    chain(2, &layers)
}

/// A coefficient of float64 underflows, times an activation of 2¹²⁶: from the property, and from eight layers.
#[test]
fn a_coefficient_that_underflows() {
    let inputs = [("1", "1.5"), ("0", "1")];
    let wanted = "(assert (<= (* 9.332636185032189e-302 Y_0) 1.5e-285))(assert (<= Y_1 -0.5))";
    assert_violated(&scaled_down(0), &property(&inputs, 2, wanted));
    assert_violated(&scaled_down(8), &property(&inputs, 2, "(assert (<= Y_0 1.5e-285))(assert (<= Y_1 -0.5))"));
}

/// A counterexample at a corner, on which the property holds with equality: no enclosure with any width shows it.
#[test]
fn a_counterexample_that_touches() {
    let rows: [&[f32]; 3] = [&[1.0, 1.0, 0.0], &[0.0, 1.0, 1.0], &[1.0, 0.0, 1.0]];
    let network = chain(3, &[(&rows, &[-1.0; 3]), (&[&[1.0, 1.0, 1.0]], &[-1.0])]);
    let cube = [("0", "1"); 3];
    assert_violated(&network, &property(&cube, 1, "(assert (>= Y_0 2))"));
    for options in options() {
        let more = property(&cube, 1, "(assert (> Y_0 2))");
        let verdict = verify(&network, &more, &options, &Control::new(options.timeout)).verdict;
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?} by {options:?}");
    }
}

/// An end of the box that float64 cannot hold leaves no bounds, and is decided exactly.
#[test]
fn a_box_beyond_float64() {
    let network = chain(2, &[(&[&[1.0, -1.0], &[-1.0, 1.0]], &[0.0, 0.5]), (&[&[1.0, 1.0]], &[0.0])]);
    let input = [("0", "1e310"), ("0", "1")];
    assert_violated(&network, &property(&input, 1, "(assert (>= Y_0 1e30))"));
    for options in options() {
        let none = property(&input, 1, "(assert (<= Y_0 -1))");
        let verdict = verify(&network, &none, &options, &Control::new(options.timeout)).verdict;
        assert!(matches!(verdict, Verdict::Holds(_)), "{verdict:?} by {options:?}");
    }
}

/// Many stages read what the row reads too, and what each adds to the row's own coefficient is rounded away: y = h − 100·2⁻²⁵·h.
#[test]
fn a_coefficient_that_many_stages_add_to() {
    let one = |from, weight| GraphStage { reads: vec![(from, vec![vec![weight]])], bias: vec![0.0] };
    let mut stages = vec![one(Source::Input, 1.0)];
    stages.extend((0..100).map(|_| one(Source::Stage(0), 0.5f32.powi(25))));
    let mut reads = vec![(Source::Stage(0), vec![vec![1.0]])];
    reads.extend((1..=100).map(|s| (Source::Stage(s), vec![vec![-1.0]])));
    stages.push(GraphStage { reads, bias: vec![0.0] });
    let network = Graph::new(1, stages);
    let property = property(&[("1", "1")], 1, "(assert (<= Y_0 0.999998))");
    for options in options() {
        let verdict = verify(&network, &property, &options, &Control::new(options.timeout)).verdict;
        assert!(!matches!(verdict, Verdict::Holds(_)), "{verdict:?} by {options:?}");
    }
}

/// The models that first showed these mistakes, where they lie beside the repository.
#[test]
fn known_reproducers() {
    let folder = root().join("../shared/repro");
    if !folder.is_dir() {
        eprintln!("skipped: there are no reproducers at ../shared/repro beside the repository");
        return;
    }
    for name in [
        "R1_f32_underflow",
        "R1b_f32_underflow_normal_weights",
        "R2a_f64_underflow_property",
        "R2b_f64_underflow_network",
        "touching",
    ] {
        let network = Interpreter::new(compile(&folder.join(name).join("net.onnx")).expect("a model"));
        let property = Property::read(&folder.join(name).join("p.vnnlib")).expect("a property");
        assert_violated(&network, &property);
    }
}
