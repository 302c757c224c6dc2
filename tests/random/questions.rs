//! Regions and properties of numbers of every size, with thresholds near the exact border between the two answers.

use super::numbers::{between, dyadic, grid_point, is_short, larger, power, rounded, times_power, wild, wild_factor};
use crate::Random;
use crate::case::{Case, Conjunction, border};
use crate::oracle::{Layer, Linear, Region, Row, eval_exact, exact, exact_minimum_where};
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// How fine the margin of a threshold is, in bits of what the row varies by: coarse, in the reach of float32's errors,
/// of which there are most, and beyond.
const FINENESS: [(i32, i32); 4] = [(0, 4), (4, 20), (4, 20), (20, 70)];

/// A network and a region, and what every question about them has in common.
pub struct Subject {
    pub net: Vec<Layer>,
    pub region: Region,
    /// Rows of every disjunct.
    pub rows: Vec<Row>,
}

/// A case with one to three disjuncts of up to three rows each, about the region or parts of it.
pub fn case(random: &mut Random, subject: Subject, form: &dyn Fn(&mut Random) -> Linear) -> Case {
    let Subject { net, region, rows } = subject;
    let count = random.pick(&[1, 1, 1, 1, 2, 3]);
    let mut disjunct = || {
        let region = if random.below(3) == 0 { part(random, &region) } else { region.clone() };
        conjunction(random, &net, region, rows.clone(), form)
    };
    let disjuncts = (0..count).map(|_| disjunct()).collect();
    Case::new(net, disjuncts)
}

/// The region between two of its grid points.
fn part(random: &mut Random, region: &Region) -> Region {
    let [a, b] = [(); 2].map(|()| grid_point(random, &region.lower, &region.upper));
    let (lower, upper) = a.into_iter().zip(b).map(|(a, b)| if a < b { (a, b) } else { (b, a) }).unzip();
    Region { lower, upper, rows: region.rows.clone() }
}

/// The rows given, up to two that hold somewhere in the region, or just not, and a last one whose threshold lies around
/// the least that the others allow.
fn conjunction(
    random: &mut Random,
    net: &[Layer],
    region: Region,
    mut rows: Vec<Row>,
    form: &dyn Fn(&mut Random) -> Linear,
) -> Conjunction {
    for is_last in random.pick(&[&[true][..], &[true], &[false, true], &[false, false, true]]) {
        let form = form(random);
        let x = grid_point(random, &region.lower, &region.upper);
        let there = form.at(&x, &eval_exact(net, &x));
        let least = |rows: &[Row]| exact_minimum_where(net, &region, rows, &form);
        let least = least(&rows).or_else(|| least(&[])).unwrap_or_else(BigRational::zero);
        let (border, other) = if *is_last { (least, there) } else { (there, least) };
        let threshold = near(random, &border, &other);
        let strict = random.below(2) == 0;
        rows.push(Row { form: Linear { constant: -threshold, ..form }, strict });
    }
    Conjunction { region, rows }
}

/// The border itself, or a number that is off by 2^−k of how far it is from the other value, or of its own size; more
/// often above, where a bound that is too high is wrong.
pub fn near(random: &mut Random, border: &BigRational, other: &BigRational) -> BigRational {
    if random.below(5) == 0 && is_short(border) {
        return border.clone();
    }
    let difference = (border - other).abs();
    let size = match random.below(3) {
        0 => larger(border, other),
        _ if difference.is_zero() => larger(border, &BigRational::zero()),
        _ => difference,
    };
    let size = if size.is_zero() { random.pick(&[BigRational::one(), power(-149), power(-1000)]) } else { size };
    let (least, most) = random.pick(&FINENESS);
    let margin = size * power(-between(random, least, most));
    let side = random.pick(&[1.0, 1.0, -1.0]);
    rounded(&(border + exact(side) * &margin), &margin)
}

/// An ordinary form times a factor of any size, or each of its coefficients times its own.
pub fn wild_form(random: &mut Random, sizes: (usize, usize)) -> Linear {
    let mut form = border::form(random, sizes.0, sizes.1);
    let (common, is_common) = (wild_factor(random), random.below(2) == 0);
    for coefficient in form.input.iter_mut().chain(&mut form.output) {
        *coefficient *= if is_common { common.clone() } else { wild_factor(random) };
    }
    form
}

/// A box with ends of any exponent: two numbers, one and its mirror image, or one and a bit of its size.
pub fn wild_region(random: &mut Random, inputs: usize) -> Region {
    let mut ends = || {
        let first = wild(random);
        let second = match random.below(3) {
            0 => wild(random),
            1 => -first,
            _ => first - times_power(first, -(random.below(25) as i32)),
        };
        (exact(first.min(second)), exact(first.max(second)))
    };
    let (lower, upper) = (0..inputs).map(|_| ends()).unzip();
    Region { lower, upper, rows: vec![] }
}

/// A box with dyadic corners, one side in eight a single value, in one of three cut by a plane through a grid point of
/// it.
pub fn dyadic_region(random: &mut Random, inputs: usize) -> Region {
    let lower: Vec<_> = (0..inputs).map(|_| exact(dyadic(random))).collect();
    let mut width = || exact(random.pick(&[0.0, 0.25, 0.5, 0.5, 1.0, 1.0, 2.0, 2.0]));
    let upper: Vec<_> = lower.iter().map(|lower| lower + width()).collect();
    let mut rows = vec![];
    if random.below(3) == 0 {
        let form = Linear { input: dyadics(random, inputs), ..Linear::default() };
        let constant = -form.at(&grid_point(random, &lower, &upper), &[]);
        rows.push(Linear { constant, ..form });
    }
    Region { lower, upper, rows }
}

/// Dyadic coefficients of the outputs, and in one of three of the inputs.
pub fn dyadic_form(random: &mut Random, sizes: (usize, usize)) -> Linear {
    let output = dyadics(random, sizes.1);
    let input = if random.below(3) == 0 { dyadics(random, sizes.0) } else { vec![] };
    Linear { input, output, constant: BigRational::zero() }
}

fn dyadics(random: &mut Random, count: usize) -> Vec<BigRational> {
    (0..count).map(|_| exact(dyadic(random))).collect()
}
