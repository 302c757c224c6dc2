//! The arithmetic of folding against exact rationals: every real result lies within the radius that is stated.

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};
use pg_codegen::approx::Approx;
use pg_tests::real::{Real, rational};
use proptest::collection::vec;
use proptest::num::f64 as floats;
use proptest::prelude::*;

/// Results below this magnitude may state an error although they are exact.
const UNDERFLOW: f64 = 1e-280;

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// Finite numbers of every size: ordinary, dyadic, float32, any bits, few bits anywhere, and the ends of the range.
fn number() -> impl Strategy<Value = f64> {
    let bits = floats::POSITIVE | floats::NEGATIVE | floats::NORMAL | floats::SUBNORMAL | floats::ZERO;
    let ends = [f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), UNDERFLOW, 1e154, 1.0 + f64::EPSILON, 0.0];
    prop_oneof![
        3 => -8.0..8.0,
        2 => (-64i8..=64).prop_map(|k| f64::from(k) / 8.0),
        2 => any::<f32>().prop_filter("finite", |v| v.is_finite()).prop_map(f64::from),
        3 => bits,
        2 => (-9i8..=9, -1074i32..1020).prop_map(|(k, e)| f64::from(k) * power_of_two(e)),
        1 => (prop::sample::select(ends.to_vec()), any::<bool>()).prop_map(|(v, negative)| if negative { -v } else { v }),
    ]
}

fn power_of_two(exponent: i32) -> f64 {
    if exponent < -1022 { f64::from_bits(1 << (exponent + 1074)) } else { 2f64.powi(exponent) }
}

/// A number known exactly, or up to a radius of any size.
fn approx() -> impl Strategy<Value = Approx> {
    let radius = prop_oneof![
        4 => Just(None),
        3 => (1i32..60).prop_map(|k| Some((k, 0.0))),
        1 => number().prop_map(|r| Some((1100, r.abs()))),
    ];
    (number(), radius).prop_map(|(value, radius)| {
        let radius = radius.map_or(0.0, |(k, r)| value.abs() * power_of_two(-k.min(1074)) + r);
        Approx { value, radius }
    })
}

/// Reals that `a` may stand for: its ends, its middle, and one between.
fn reals(a: Approx, between: i16) -> Vec<BigRational> {
    let (value, radius) = (rational(a.value), rational(a.radius));
    let inside = &radius * BigRational::new(between.into(), (1 << 15).into());
    if radius.is_zero() { vec![value] } else { vec![&value - &radius, &value + inside, &value + radius, value] }
}

fn encloses(a: Approx, real: &BigRational) -> bool {
    (real - rational(a.value)).abs() <= rational(a.radius)
}

/// The float32 nearest to a number of its range, the even one of two.
fn nearest(real: &BigRational) -> f64 {
    let guess = real.to_f64().expect("a number of moderate size") as f32;
    let distance = |float: &f32| ((real - rational(f64::from(*float))).abs(), float.to_bits() & 1);
    let around = [guess.next_down(), guess, guess.next_up()];
    around.into_iter().filter(|f| f.is_finite()).min_by_key(distance).expect("a finite float").into()
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

const OPERATIONS: [Operation; 4] = [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div];

impl Operation {
    fn approx(self, a: Approx, b: Approx) -> Approx {
        match self {
            Operation::Add => a + b,
            Operation::Sub => a - b,
            Operation::Mul => a * b,
            Operation::Div => a / b,
        }
    }

    fn real(self, a: &Real, b: &Real) -> Option<Real> {
        match self {
            Operation::Add => Some(a + b),
            Operation::Sub => Some(a - b),
            Operation::Mul => Some(a * b),
            Operation::Div => b.is_apart_from_zero().then(|| a / b),
        }
    }

    fn exact(self, a: &BigRational, b: &BigRational) -> Option<BigRational> {
        self.real(&a.clone().into(), &b.clone().into()).map(|real| real.low)
    }

    /// Whether the rounding error of the operation can be computed without error.
    fn residual_is_exact(self, a: f64, b: f64) -> bool {
        match self {
            // Near the largest number it is, but the differences that give it overflow: then the result is unusable.
            Operation::Add | Operation::Sub => a.abs().max(b.abs()) < f64::MAX / 4.0,
            Operation::Mul => a == 0.0 || b == 0.0 || (a * b).abs() >= UNDERFLOW,
            Operation::Div => a == 0.0 || a.abs() >= UNDERFLOW,
        }
    }
}

/// Of an operation on exact numbers: radius 0 exactly if the result is exact, else not much more than half a unit in
/// the last place, or a whole one for a root.
fn is_tight(result: Approx, is_exact: bool) -> bool {
    let most = result.value.abs() * 1.01 * f64::EPSILON + 2.0 * f64::from_bits(1);
    if is_exact { result.radius == 0.0 } else { result.radius > 0.0 && result.radius <= most }
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn operations_enclose_every_real_result(a in approx(), b in approx(), s: i16, t: i16) {
        for operation in OPERATIONS {
            let result = operation.approx(a, b);
            if !result.is_usable() {
                continue;
            }
            for (x, y) in reals(a, s).iter().flat_map(|x| reals(b, t).into_iter().map(move |y| (x, y))) {
                let exact = operation.exact(x, &y);
                let exact = exact.ok_or_else(|| TestCaseError::fail(format!("{operation:?} by 0 is usable")))?;
                prop_assert!(encloses(result, &exact), "{operation:?}: {result:?} is not around {exact}");
            }
        }
        let negative = -a;
        prop_assert!(reals(a, s).iter().all(|x| encloses(negative, &-x)));
    }

    /// No radius is larger than need be, and what is in range is usable.
    #[test]
    fn operations_on_exact_numbers_are_tight(a in number(), b in number()) {
        for operation in OPERATIONS {
            let result = operation.approx(Approx::exact(a), Approx::exact(b));
            let Some(exact) = operation.exact(&rational(a), &rational(b)) else {
                prop_assert!(!result.is_usable());
                continue;
            };
            if exact.to_f64().is_none_or(|v| v.is_infinite()) {
                prop_assert!(!result.is_usable());
            } else if operation.residual_is_exact(a, b) {
                let is_exact = rational(result.value) == exact;
                prop_assert!(is_tight(result, is_exact), "{operation:?}: {result:?} for {exact}");
            }
        }
    }

    #[test]
    fn roots_enclose_every_real_root(a in approx(), s: i16) {
        let result = a.sqrt();
        if result.is_usable() {
            let (value, radius) = (rational(result.value), rational(result.radius));
            let (low, high) = (&value - &radius, &value + &radius);
            for x in reals(a, s).into_iter().filter(|x| !x.is_negative()) {
                prop_assert!(!high.is_negative() && x <= &high * &high, "{result:?} is below the root of {x}");
                prop_assert!(!low.is_positive() || &low * &low <= x, "{result:?} is above the root of {x}");
            }
        }
    }

    #[test]
    fn roots_of_exact_numbers_are_tight(root in number(), any in number()) {
        for a in [root * root, any, any.abs()].into_iter().filter(|a| a.is_finite()) {
            let result = Approx::exact(a).sqrt();
            prop_assert_eq!(result.is_usable(), a >= 0.0);
            if a == 0.0 || a >= UNDERFLOW {
                let is_exact = rational(result.value).pow(2) == rational(a);
                prop_assert!(is_tight(result, is_exact), "{result:?} for the root of {a:e}");
            }
        }
    }

    #[test]
    fn float32_is_the_nearest_and_its_distance_covered(a in approx(), s: i16) {
        let nearest = a.value as f32;
        match a.to_f32() {
            None => prop_assert!(nearest.is_infinite() || a.radius > 1e308),
            Some((float, distance)) => {
                prop_assert_eq!(float.to_bits(), nearest.to_bits());
                let result = Approx { value: float.into(), radius: distance };
                prop_assert!(reals(a, s).iter().all(|x| encloses(result, x)), "{result:?} for {a:?}");
                prop_assert_eq!(distance == 0.0, a.radius == 0.0 && f64::from(float) == a.value);
            }
        }
    }

    #[test]
    fn casts_enclose_every_rounded_real(a in approx(), s: i16) {
        let result = a.rounded_to_f32();
        prop_assert!(a.radius > 0.0 || result.radius == 0.0);
        if result.is_usable() {
            prop_assert!(reals(a, s).iter().all(|x| encloses(result, &rational(nearest(x)))), "{result:?} for {a:?}");
        }
    }

    /// A lost number stays lost, whatever it is multiplied by.
    #[test]
    fn nothing_makes_an_unusable_number_usable(
        a in approx(),
        lost in prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN]),
        value in number(),
    ) {
        for b in [Approx { value, radius: lost.abs() }, Approx { value: lost, radius: 0.0 }] {
            for operation in OPERATIONS {
                let results = [operation.approx(a, b), operation.approx(b, a)];
                prop_assert!(results.iter().all(|r| !r.is_usable()), "{operation:?} of {a:?} and {b:?}: {results:?}");
            }
            prop_assert!(!b.sqrt().is_usable() && b.to_f32().is_none());
        }
    }
}

/// One step of a chain: an operation with a fresh operand on either side, or a root.
#[derive(Clone, Debug)]
enum Step {
    Left(Operation, Approx, i16),
    Right(Operation, Approx, i16),
    Square,
    Root,
}

/// Numbers of moderate size, so that chains of them stay usable.
fn moderate() -> impl Strategy<Value = Approx> {
    let value = prop_oneof![
        -8.0..8.0,
        (-64i8..=64).prop_map(|k| f64::from(k) / 8.0),
        (-1f32..1.0, -40i32..40).prop_map(|(v, e)| f64::from(v) * power_of_two(e)),
    ];
    (value, prop_oneof![2 => Just(None), 1 => (20i32..60).prop_map(Some)])
        .prop_map(|(value, k)| Approx { value, radius: k.map_or(0.0, |k| value.abs() * power_of_two(-k)) })
}

fn step() -> impl Strategy<Value = Step> {
    let operand = || (prop::sample::select(OPERATIONS.to_vec()), moderate(), any::<i16>());
    prop_oneof![
        4 => operand().prop_map(|(operation, a, s)| Step::Left(operation, a, s)),
        4 => operand().prop_map(|(operation, a, s)| Step::Right(operation, a, s)),
        1 => Just(Step::Square),
        1 => Just(Step::Root),
    ]
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn chains_enclose_the_real_result(start in moderate(), s: i16, steps in vec(step(), 1..12)) {
        let within = |a: Approx, s: i16| Real::from(reals(a, s).swap_remove(usize::from(a.radius > 0.0)));
        let (mut approx, mut real) = (start, within(start, s));
        for step in &steps {
            let next = match step {
                Step::Left(operation, a, s) => (operation.approx(*a, approx), operation.real(&within(*a, *s), &real)),
                Step::Right(operation, a, s) => (operation.approx(approx, *a), operation.real(&real, &within(*a, *s))),
                Step::Square => (approx * approx, Some(&real * &real)),
                Step::Root => (approx.sqrt(), (!real.low.is_negative()).then(|| real.sqrt())),
            };
            let (result, Some(exact)) = next else { return Ok(()) };
            if !result.is_usable() {
                return Ok(());
            }
            prop_assert!(exact.is_within(result.radius, result.value), "{step:?}: {result:?} is not around {exact:?}");
            (approx, real) = (result, exact);
        }
    }
}
