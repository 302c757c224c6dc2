//! The oracle against hand-computed cases, against dense sampling, and against itself.

use super::*;
use proptest::collection::vec;
use proptest::prelude::*;

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn ratios(values: &[i64]) -> Vec<BigRational> {
    values.iter().map(|&value| ratio(value, 1)).collect()
}

fn linear(input: &[i64], output: &[i64], constant: BigRational) -> Linear {
    Linear { input: ratios(input), output: ratios(output), constant }
}

fn cube(dimension: usize, radius: i64) -> Region {
    Region { lower: vec![ratio(-radius, 1); dimension], upper: vec![ratio(radius, 1); dimension], rows: vec![] }
}

fn layer(weights: &[&[f32]], bias: &[f32]) -> Layer {
    Layer { weights: weights.iter().map(|row| row.to_vec()).collect(), bias: bias.to_vec() }
}

/// y = |x|.
fn absolute() -> Vec<Layer> {
    vec![layer(&[&[1.0], &[-1.0]], &[0.0, 0.0]), layer(&[&[1.0, 1.0]], &[0.0])]
}

/// y = max(x₁, x₂), through two hidden layers.
fn maximum() -> Vec<Layer> {
    vec![
        layer(&[&[1.0, -1.0], &[0.0, 1.0], &[0.0, -1.0]], &[0.0; 3]),
        layer(&[&[1.0, 1.0, -1.0], &[-1.0, -1.0, 1.0]], &[0.0; 2]),
        layer(&[&[1.0, -1.0]], &[0.0]),
    ]
}

#[test]
fn absolute_value_is_decided_at_its_kink() {
    let ask = |input: i64, output: i64, constant: BigRational, strict: bool| {
        let row = Row { form: linear(&[input], &[output], constant), strict };
        satisfying_input(&absolute(), &cube(1, 1), &[row])
    };
    assert_eq!(ask(0, 1, ratio(0, 1), false), Some(ratios(&[0])));
    assert_eq!(ask(0, 1, ratio(0, 1), true), None);
    assert!(ask(0, -1, ratio(1, 1), false).is_some());
    assert_eq!(ask(0, -1, ratio(1, 1), true), None);
    assert_eq!(ask(1, 1, ratio(1, 1 << 60), false), None);
    assert!(ask(1, 1, ratio(-1, 1 << 60), true).is_some());
}

#[test]
fn a_joint_row_may_pin_a_single_point() {
    // |x| ≤ x/2 + 1/2 and x ≥ 1 leave x = 1; demanding more of either leaves nothing.
    let above = Row { form: Linear { input: vec![ratio(-1, 2)], ..linear(&[], &[1], ratio(-1, 2)) }, strict: false };
    let right = Row { form: linear(&[-1], &[], ratio(1, 1)), strict: false };
    let ask = |rows: &[&Row]| {
        satisfying_input(&absolute(), &cube(1, 4), &rows.iter().map(|&r| r.clone()).collect::<Vec<_>>())
    };
    assert_eq!(ask(&[&above, &right]), Some(ratios(&[1])));
    assert_eq!(ask(&[&above, &Row { strict: true, ..right.clone() }]), None);
    assert_eq!(ask(&[&Row { strict: true, ..above }, &right]), None);
}

#[test]
fn minimum_of_hand_cases() {
    let objective = |input: &[i64], output: i64| linear(input, &[output], ratio(1, 3));
    assert_eq!(exact_minimum(&absolute(), &cube(1, 2), &objective(&[], 1)), Some(ratio(1, 3)));
    assert_eq!(exact_minimum(&absolute(), &cube(1, 2), &objective(&[1], -3)), Some(ratio(-23, 3)));
    assert_eq!(exact_minimum(&maximum(), &cube(2, 1), &objective(&[], 1)), Some(ratio(-2, 3)));
    assert_eq!(exact_minimum(&maximum(), &cube(2, 1), &objective(&[-1, -1], 1)), Some(ratio(-2, 3)));
    // On x₁ + x₂ ≥ 1 the larger one is at least 1/2.
    let half = Region { rows: vec![linear(&[-1, -1], &[], ratio(1, 1))], ..cube(2, 1) };
    assert_eq!(exact_minimum(&maximum(), &half, &objective(&[], 1)), Some(ratio(5, 6)));
}

#[test]
fn minimum_under_rows() {
    // |x| is least at x = 1/2 where x ≥ 1/2 and |x| ≤ 1, strictly or not; nothing has |x| ≤ −1.
    let ask = |rows: &[(Linear, bool)], objective: i64| {
        let rows: Vec<_> = rows.iter().map(|(form, strict)| Row { form: form.clone(), strict: *strict }).collect();
        exact_minimum_where(&absolute(), &cube(1, 2), &rows, &linear(&[], &[objective], ratio(0, 1)))
    };
    for strict in [false, true] {
        let right = (linear(&[-1], &[], ratio(1, 2)), strict);
        let near = (linear(&[], &[1], ratio(-1, 1)), strict);
        assert_eq!(ask(&[right.clone(), near.clone()], 1), Some(ratio(1, 2)));
        assert_eq!(ask(&[right, near], -1), Some(ratio(-1, 1)));
        assert_eq!(ask(&[(linear(&[], &[1], ratio(1, 1)), strict)], 1), None);
    }
}

#[test]
fn empty_and_flat_regions() {
    let always = linear(&[], &[], ratio(-1, 1));
    let row = [Row { form: always.clone(), strict: true }];
    let crossed = Region { lower: ratios(&[1]), upper: ratios(&[0]), rows: vec![] };
    assert_eq!(satisfying_input(&absolute(), &crossed, &row), None);
    assert_eq!(exact_minimum(&absolute(), &crossed, &always), None);
    let never = Region { rows: vec![linear(&[], &[], ratio(1, 1))], ..cube(1, 1) };
    assert_eq!(satisfying_input(&absolute(), &never, &row), None);
    let point = Region { lower: ratios(&[3]), upper: ratios(&[3]), rows: vec![] };
    assert_eq!(satisfying_input(&absolute(), &point, &row), Some(ratios(&[3])));
    // The diagonal of a square, flat in no coordinate.
    let rows = vec![linear(&[1, -1], &[], ratio(0, 1)), linear(&[-1, 1], &[], ratio(0, 1))];
    let diagonal = Region { rows, ..cube(2, 1) };
    assert_eq!(exact_minimum(&maximum(), &diagonal, &linear(&[1, -3], &[1], ratio(0, 1))), Some(ratio(-1, 1)));
}

/// Small dyadic numbers, which make cells degenerate, among arbitrary ones.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![2 => (-6i8..=6).prop_map(|k| f32::from(k) / 4.0), 1 => -2.0f32..2.0]
}

fn network(inputs: usize, hidden: usize) -> impl Strategy<Value = Vec<Layer>> {
    vec(1usize..=hidden, 1..=3).prop_flat_map(move |mut widths| {
        let mut left = hidden;
        widths.retain(|width| left.checked_sub(*width).map(|rest| left = rest).is_some());
        widths.push(2);
        let mut before = inputs;
        let layers = widths.into_iter().map(|width| {
            let weights = vec(vec(number(), std::mem::replace(&mut before, width)), width);
            (weights, vec(number(), width)).prop_map(|(weights, bias)| Layer { weights, bias })
        });
        layers.collect::<Vec<_>>()
    })
}

fn form(inputs: usize, outputs: usize) -> impl Strategy<Value = Linear> {
    let exactly = |values: Vec<f32>| values.into_iter().map(exact).collect();
    (vec(number(), inputs), vec(number(), outputs), number()).prop_map(move |(input, output, constant)| Linear {
        input: exactly(input),
        output: exactly(output),
        constant: exact(constant),
    })
}

/// A network, a region, property forms, and inputs of the region's box.
type Case = (Vec<Layer>, Region, Vec<Linear>, Vec<Vec<BigRational>>);

fn case() -> impl Strategy<Value = Case> {
    (1usize..=3).prop_flat_map(|inputs| {
        let region = vec(form(inputs, 0), 0..=2).prop_map(move |rows| Region { rows, ..cube(inputs, 1) });
        let sample = vec((-24i64..=24).prop_map(|k| ratio(k, 24)), inputs);
        (network(inputs, 6), region, vec(form(inputs, 2), 1..=2), vec(sample, 60))
    })
}

proptest! {
    #[test]
    fn no_sample_contradicts_none((net, region, forms, samples) in case(), strict: bool) {
        let rows: Vec<_> = forms.into_iter().map(|form| Row { form, strict }).collect();
        if satisfying_input(&net, &region, &rows).is_none() {
            for x in samples.iter().filter(|x| region.contains(x)) {
                let y = eval_exact(&net, x);
                prop_assert!(!rows.iter().all(|row| row.holds(x, &y)), "{x:?} satisfies all rows");
            }
        }
    }

    #[test]
    fn a_point_on_the_boundary_is_found((net, region, forms, samples) in case()) {
        // Rows shifted to be tight at a sample are satisfied there, if not strictly anywhere.
        for x in samples.iter().filter(|x| region.contains(x)).take(3) {
            let y = eval_exact(&net, x);
            let shift = |form: &Linear| Linear { constant: &form.constant - form.at(x, &y), ..form.clone() };
            let rows: Vec<_> = forms.iter().map(|form| Row { form: shift(form), strict: false }).collect();
            prop_assert!(satisfying_input(&net, &region, &rows).is_some());
        }
    }

    #[test]
    fn minimum_is_where_feasibility_ends((net, region, forms, samples) in case()) {
        let Some(least) = exact_minimum(&net, &region, &forms[0]) else {
            prop_assert!(samples.iter().all(|x| !region.contains(x)));
            return Ok(());
        };
        for x in samples.iter().filter(|x| region.contains(x)) {
            prop_assert!(forms[0].at(x, &eval_exact(&net, x)) >= least);
        }
        let below = Linear { constant: &forms[0].constant - &least, ..forms[0].clone() };
        let ask = |strict| satisfying_input(&net, &region, &[Row { form: below.clone(), strict }]);
        prop_assert!(ask(false).is_some());
        prop_assert!(ask(true).is_none());
    }
}
