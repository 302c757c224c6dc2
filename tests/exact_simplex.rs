//! The exact simplex and the brute-force oracle, which share no code, on the same questions.

use num_rational::BigRational;
use num_traits::{One, Zero};
use pg_runtime::lp::exact::{self as simplex, Bounds, Outcome, Relation, System, solve};
use pg_tests::oracle::{self, Layer, Linear, Region, satisfying_input};
use proptest::collection::vec;
use proptest::prelude::*;

fn feasible(system: &System) -> bool {
    let answer = solve(system, None, &mut || true).expect("the evidence is verified");
    match answer.outcome {
        Outcome::Feasible(_) => true,
        Outcome::Infeasible(_) => false,
        Outcome::Stopped => unreachable!("nobody asked to stop"),
    }
}

/// Small dyadic numbers, which make vertices degenerate, among arbitrary ones.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![2 => (-6i8..=6).prop_map(|k| f32::from(k) / 4.0), 1 => -2.0f32..2.0]
}

fn row(inputs: usize, outputs: usize) -> impl Strategy<Value = oracle::Row> {
    let exactly = |values: Vec<f32>| values.into_iter().map(oracle::exact).collect();
    let numbers = (vec(number(), inputs), vec(number(), outputs), number(), any::<bool>());
    numbers.prop_map(move |(input, output, constant, strict)| oracle::Row {
        form: Linear { input: exactly(input), output: exactly(output), constant: oracle::exact(constant) },
        strict,
    })
}

fn cube(dimension: usize) -> Region {
    Region { lower: vec![-BigRational::one(); dimension], upper: vec![BigRational::one(); dimension], rows: vec![] }
}

/// A system with the box as its bounds, then `extra` free columns.
fn boxed(region: &Region, extra: usize) -> System {
    let bounds = region.lower.iter().zip(&region.upper);
    let bounds = bounds.map(|(lower, upper)| Bounds { lower: Some(lower.clone()), upper: Some(upper.clone()) });
    System { columns: bounds.chain(vec![Bounds::default(); extra]).collect(), rows: vec![] }
}

fn relation(strict: bool) -> Relation {
    if strict { Relation::Below } else { Relation::AtMost }
}

/// Whether some phase pattern of `net` has an input that satisfies `rows`, each pattern as one linear system over the
/// inputs and the values of all neurons.
fn some_pattern_is_feasible(net: &[Layer], region: &Region, rows: &[oracle::Row]) -> bool {
    let hidden: usize = net[..net.len() - 1].iter().map(|layer| layer.bias.len()).sum();
    let inputs = region.lower.len();
    (0u32..1 << hidden).any(|pattern| {
        let outputs = net[net.len() - 1].bias.len();
        let mut system = boxed(region, hidden + outputs);
        let (mut before, mut next, mut neuron) = (0..inputs, inputs, 0);
        for (depth, layer) in net.iter().enumerate() {
            for (i, (weights, bias)) in layer.weights.iter().zip(&layer.bias).enumerate() {
                let z = || before.clone().zip(weights).map(|(j, &w)| (j, oracle::exact(w)));
                let minus = || z().map(|(j, w)| (j, -w)).chain([(next + i, BigRational::one())]).collect();
                let bias = oracle::exact(*bias);
                let last = depth + 1 == net.len();
                let on = last || pattern >> neuron & 1 == 1;
                neuron += usize::from(!last);
                if on {
                    system.rows.push(simplex::Row { terms: minus(), relation: Relation::Equal, rhs: bias });
                } else {
                    system.rows.push(simplex::Row { terms: z().collect(), relation: Relation::AtMost, rhs: -bias });
                    system.columns[next + i].upper = Some(BigRational::zero());
                }
                if !last {
                    system.columns[next + i].lower = Some(BigRational::zero());
                }
            }
            before = next..next + layer.bias.len();
            next = before.end;
        }
        for row in rows {
            let terms =
                (0..inputs).zip(row.form.input.clone()).chain(before.clone().zip(row.form.output.clone())).collect();
            system.rows.push(simplex::Row { terms, relation: relation(row.strict), rhs: -row.form.constant.clone() });
        }
        feasible(&system)
    })
}

fn network(inputs: usize) -> impl Strategy<Value = Vec<Layer>> {
    prop_oneof![Just(vec![2, 1]), Just(vec![4, 2]), Just(vec![2, 2, 1]), Just(vec![3, 2, 2])].prop_flat_map(
        move |widths| {
            let mut before = inputs;
            let layers = widths.into_iter().map(|width| {
                let weights = vec(vec(number(), std::mem::replace(&mut before, width)), width);
                (weights, vec(number(), width)).prop_map(|(weights, bias)| Layer { weights, bias })
            });
            layers.collect::<Vec<_>>()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn polyhedra((inputs, rows) in (1usize..=5).prop_flat_map(|n| (Just(n), vec(row(n, 0), 0..=8)))) {
        let region = cube(inputs);
        let mut system = boxed(&region, 0);
        for row in &rows {
            system.dense_row(&row.form.input, relation(row.strict), -row.form.constant.clone());
        }
        prop_assert_eq!(feasible(&system), satisfying_input(&[], &region, &rows).is_some());
    }

    #[test]
    fn networks(
        (net, rows) in (1usize..=3).prop_flat_map(|n| (network(n), Just(n))).prop_flat_map(|(net, n)| {
            let outputs = net[net.len() - 1].bias.len();
            (Just(net), vec(row(n, outputs), 1..=3))
        })
    ) {
        let region = cube(rows[0].form.input.len());
        let found = satisfying_input(&net, &region, &rows).is_some();
        prop_assert_eq!(some_pattern_is_feasible(&net, &region, &rows), found);
    }
}
