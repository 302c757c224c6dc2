//! Questions about boxes of a few float32 points, with thresholds near what the float32 program comes to on them.

use super::numbers::{grid_point, nearest, times_power, wild};
use super::questions::near;
use super::{Kind, form, subject};
use crate::Random;
use crate::case::{Case, Conjunction, ignores_its_input, interpreter};
use crate::oracle::{Linear, Region, Row, exact, exact_minimum_where};
use crate::program::{Arithmetic, points};
use num_rational::BigRational;
use num_traits::Zero;
use pg_codegen::interpret::Interpreter;
use pg_core::Network;

/// The most floats of a side.
const FLOATS: usize = 7;

/// The case of this number.
pub fn draw(seed: u64, number: u64) -> Case {
    let random = &mut Random::new(Random::new(seed).bits().wrapping_add(number));
    let kind = Kind::of(number);
    let sizes = (1 + random.below(2), 1 + random.below(2));
    let (subject, network) = loop {
        let subject = subject(random, kind, sizes);
        if !ignores_its_input(&subject.net)
            && let Ok(network) = interpreter(&subject.net)
        {
            break (subject, network);
        }
    };
    let at = grid_point(random, &subject.region.lower, &subject.region.upper);
    let (lower, upper): (Vec<f32>, Vec<f32>) = at.iter().map(|at| side(random, nearest(at))).unzip();
    let exactly = |ends: &[f32]| ends.iter().map(|&end| exact(end)).collect::<Vec<_>>();
    let region = Region { lower: exactly(&lower), upper: exactly(&upper), rows: vec![] };
    let form = loop {
        let form = form(random, kind, sizes);
        if form.output.iter().any(|coefficient| !coefficient.is_zero()) {
            break form;
        }
    };
    let real = exact_minimum_where(&subject.net, &region, &[], &form).unwrap_or_else(BigRational::zero);
    let program = least(&network, &lower, &upper, &form).unwrap_or_else(|| real.clone());
    let threshold = if random.below(2) == 0 { near(random, &program, &real) } else { near(random, &real, &program) };
    let rows = vec![Row { form: Linear { constant: -threshold, ..form }, strict: random.below(2) == 0 }];
    Case::new(subject.net, vec![Conjunction { region, rows }])
}

/// Up to a few floats from the given one on, or from another: 0, one near it, or one of any exponent.
fn side(random: &mut Random, given: f32) -> (f32, f32) {
    let lower = match random.below(6) {
        0 => f32::from_bits(random.below(4) as u32),
        1 => -f32::from_bits(random.below(4) as u32),
        2 => times_power(wild(random), -20),
        _ => given,
    };
    let upper = (0..random.below(FLOATS)).fold(lower, |upper, _| upper.next_up().min(f32::MAX));
    (lower, upper)
}

/// The least that a form comes to at the inputs of a box, in any arithmetic of the program; none if something overflows.
fn least(network: &Interpreter, lower: &[f32], upper: &[f32], form: &Linear) -> Option<BigRational> {
    let mut least = None;
    for x in points(lower, upper) {
        let exactly = |values: &[f32]| values.iter().map(|&v| exact(v)).collect::<Vec<_>>();
        for arithmetic in Arithmetic::all() {
            let y = arithmetic.eval(&network.shape(), &x);
            if !y.iter().all(|y| y.is_finite()) {
                return None;
            }
            let value = form.at(&exactly(&x), &exactly(&y));
            least = Some(least.map_or(value.clone(), |least: BigRational| least.min(value)));
        }
    }
    least
}
