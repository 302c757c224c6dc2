//! The exact simplex on hand cases and random systems. Evidence is checked a second time by `follows`, written from
//! the definition of a Farkas proof and independent of the judge in `system`.

use super::*;
use num_traits::{Signed, Zero};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

fn ratio(numerator: i64, denominator: i64) -> BigRational {
    BigRational::new(numerator.into(), denominator.into())
}

fn row(coefficients: &[i64], relation: Relation, rhs: BigRational) -> Row {
    let terms = coefficients.iter().enumerate().map(|(j, c)| (j, ratio(*c, 1))).collect();
    Row { terms, relation, rhs }
}

fn system(columns: usize, rows: Vec<Row>) -> System {
    System { rows, ..System::new(columns) }
}

/// Solves with a bound on the pivots that a terminating rule stays below.
fn decide(system: &System, hint: Option<&Basis>) -> Answer {
    let mut left = 20_000;
    let answer = solve(system, hint, &mut || {
        left -= 1;
        left > 0
    });
    let answer = answer.expect("the evidence is verified");
    match &answer.outcome {
        Outcome::Feasible(point) => assert!(satisfied(system, point)),
        Outcome::Infeasible(farkas) => assert!(follows(system, farkas)),
        Outcome::Stopped => panic!("the simplex does not end"),
    }
    answer
}

fn feasible(system: &System) -> bool {
    matches!(decide(system, None).outcome, Outcome::Feasible(_))
}

/// Every constraint as (dense a, b, strict, may be negated), standing for a·x ≤ b.
fn constraints(system: &System) -> Vec<(Vec<BigRational>, BigRational, bool, bool)> {
    let zeros = vec![BigRational::zero(); system.columns.len()];
    let unit =
        |j: usize, sign: i64| (0..zeros.len()).map(|i| ratio(if i == j { sign } else { 0 }, 1)).collect::<Vec<_>>();
    let mut all = Vec::new();
    for row in &system.rows {
        let mut dense = zeros.clone();
        row.terms.iter().for_each(|(j, c)| dense[*j] = &dense[*j] + c);
        all.push((dense, row.rhs.clone(), row.relation == Relation::Below, row.relation == Relation::Equal));
    }
    for (j, bounds) in system.columns.iter().enumerate() {
        all.extend(bounds.lower.iter().map(|lower| (unit(j, -1), -lower, false, false)));
        all.extend(bounds.upper.iter().map(|upper| (unit(j, 1), upper.clone(), false, false)));
    }
    all
}

fn satisfied(system: &System, point: &[BigRational]) -> bool {
    constraints(system).iter().all(|(a, b, strict, equation)| {
        let gap = b - a.iter().zip(point).map(|(a, x)| a * x).sum::<BigRational>();
        if gap.is_zero() { !strict } else { gap.is_positive() && !equation }
    })
}

fn follows(system: &System, farkas: &Farkas) -> bool {
    let mut multipliers = farkas.rows.clone();
    for (j, bounds) in system.columns.iter().enumerate() {
        multipliers.extend(bounds.lower.iter().map(|_| farkas.lower[j].clone()));
        multipliers.extend(bounds.upper.iter().map(|_| farkas.upper[j].clone()));
    }
    let all = constraints(system);
    let signs = all.iter().zip(&multipliers).all(|((.., equation), m)| *equation || !m.is_negative());
    let column = |j: usize| all.iter().zip(&multipliers).map(|((a, ..), m)| &a[j] * m).sum::<BigRational>();
    let rhs: BigRational = all.iter().zip(&multipliers).map(|((_, b, ..), m)| b * m).sum();
    let strict = all.iter().zip(&multipliers).any(|((_, _, strict, _), m)| *strict && m.is_positive());
    signs && (0..system.columns.len()).all(|j| column(j).is_zero()) && (rhs.is_negative() || strict && rhs.is_zero())
}

#[test]
fn hand_cases() {
    use Relation::{AtMost, Below, Equal};
    let one = || ratio(1, 1);
    let cases = [
        ("nothing asked", 0, vec![], true),
        ("no rows", 2, vec![], true),
        ("0 ≤ 1", 1, vec![row(&[0], AtMost, one())], true),
        ("0 ≤ −1", 1, vec![row(&[0], AtMost, -one())], false),
        ("0 < 0", 1, vec![row(&[0], Below, ratio(0, 1))], false),
        ("0 = 1", 1, vec![row(&[0], Equal, one())], false),
        ("x ≤ 1 ≤ x", 1, vec![row(&[1], AtMost, one()), row(&[-1], AtMost, -one())], true),
        ("x < 1 ≤ x", 1, vec![row(&[1], Below, one()), row(&[-1], AtMost, -one())], false),
        ("x = 1, x < 1", 1, vec![row(&[1], Equal, one()), row(&[1], Below, one())], false),
        (
            "x + y = 1, x − y = 1, y < 0",
            2,
            vec![row(&[1, 1], Equal, one()), row(&[1, -1], Equal, one()), row(&[0, 1], Below, ratio(0, 1))],
            false,
        ),
        (
            "x < y < z < x",
            3,
            vec![
                row(&[1, -1, 0], Below, ratio(0, 1)),
                row(&[0, 1, -1], Below, ratio(0, 1)),
                row(&[-1, 0, 1], Below, ratio(0, 1)),
            ],
            false,
        ),
        ("x < y < z", 3, vec![row(&[1, -1, 0], Below, ratio(0, 1)), row(&[0, 1, -1], Below, ratio(0, 1))], true),
        ("2x + 2y = 1/3, x = y", 2, vec![row(&[2, 2], Equal, ratio(1, 3)), row(&[1, -1], Equal, ratio(0, 1))], true),
    ];
    for (name, columns, rows, expected) in cases {
        assert_eq!(feasible(&system(columns, rows)), expected, "{name}");
    }
}

#[test]
fn crossed_bounds_are_refuted() {
    let mut crossed = System::new(2);
    crossed.columns[1] = Bounds { lower: Some(ratio(1, 3)), upper: Some(ratio(1, 4)) };
    assert!(!feasible(&crossed));
}

#[test]
fn strict_rows_leave_a_real_gap() {
    // 0 < x, x < 2⁻⁶⁰, and y strictly between them.
    let tiny = ratio(1, 1 << 60);
    let rows = vec![
        row(&[-1, 0], Relation::Below, ratio(0, 1)),
        row(&[1, 0], Relation::Below, tiny),
        row(&[0, -1], Relation::Below, ratio(0, 1)),
        row(&[-1, 1], Relation::Below, ratio(0, 1)),
    ];
    assert!(feasible(&system(2, rows)));
}

#[test]
fn repeated_terms_add_up() {
    let one = || ratio(1, 1);
    let terms = vec![(0, one()), (0, one()), (0, ratio(-2, 1))];
    assert!(!feasible(&system(1, vec![Row { terms, relation: Relation::Equal, rhs: one() }])));
}

#[test]
fn the_judges_reject_what_is_no_evidence() {
    let rows = vec![row(&[1], Relation::AtMost, ratio(0, 1)), row(&[-1], Relation::AtMost, ratio(-1, 1))];
    let mut system = system(1, rows);
    let farkas = |rows: &[i64], lower: i64, upper: i64| Farkas {
        rows: rows.iter().map(|&m| ratio(m, 1)).collect(),
        lower: vec![ratio(lower, 1)],
        upper: vec![ratio(upper, 1)],
    };
    assert!(system.refuted_by(&farkas(&[2, 2], 0, 0)));
    assert!(!system.refuted_by(&farkas(&[0, 0], 0, 0)), "adds up to 0 ≤ 0");
    assert!(!system.refuted_by(&farkas(&[2, 1], 0, 0)), "leaves a column");
    assert!(!system.refuted_by(&farkas(&[-2, -2], 0, 0)), "negative");
    assert!(!system.refuted_by(&farkas(&[0, 1], 0, 1)), "uses a bound that is not there");
    assert!(!system.refuted_by(&farkas(&[2], 0, 0)), "too short");
    system.rows[1].rhs = ratio(0, 1);
    assert!(!system.refuted_by(&farkas(&[1, 1], 0, 0)), "0 ≤ 0 holds");
    system.rows[1].relation = Relation::Below;
    assert!(system.refuted_by(&farkas(&[1, 1], 0, 0)), "0 < 0 does not");
    // Both hold at 0, so their difference proves nothing.
    let above = vec![row(&[1], Relation::AtMost, ratio(1, 1)), row(&[1], Relation::AtMost, ratio(0, 1))];
    let unit = Bounds { lower: Some(ratio(0, 1)), upper: Some(ratio(1, 1)) };
    let consistent = System { columns: vec![unit], rows: above };
    assert!(!consistent.refuted_by(&farkas(&[-1, 1], 0, 0)), "a negative multiplier of a row");
    assert!(!consistent.refuted_by(&farkas(&[0, 0], -1, -1)), "negative multipliers of bounds");
    assert!(!system.admits(&[ratio(0, 1)]) && !system.admits(&[]) && !system.admits(&[ratio(-1, 1)]));
    assert!(System::new(1).admits(&[ratio(5, 1)]));
}

#[test]
fn stops_when_asked() {
    let system = system(1, vec![row(&[-1], Relation::AtMost, ratio(-1, 1))]);
    let answer = solve(&system, None, &mut || false).unwrap();
    assert_eq!((answer.outcome, answer.pivots), (Outcome::Stopped, 0));
}

#[test]
fn floats_are_taken_exactly() {
    // 0.1 is rounded up and 0.3 down, so that x ≥ 0.1 and 3x ≤ 0.3 exclude each other.
    let third = Row::from_f64(&[(0, 3.0)], Relation::AtMost, 0.3).unwrap();
    let tenth = Row::from_f64(&[(0, -1.0)], Relation::AtMost, -0.1).unwrap();
    assert!(!feasible(&system(1, vec![third, tenth])));
    assert!(Row::from_f64(&[(0, f64::NAN)], Relation::AtMost, 0.0).is_none());
}

/// Zeros and small integers, which make vertices degenerate, among other fractions.
fn coefficient() -> impl Strategy<Value = BigRational> {
    let fraction = (-40i64..=40, 1i64..=9).prop_map(|(numerator, denominator)| ratio(numerator, denominator));
    prop_oneof![2 => Just(ratio(0, 1)), 3 => (-3i64..=3).prop_map(|k| ratio(k, 1)), 1 => fraction]
}

fn any_row(columns: usize) -> impl Strategy<Value = Row> {
    let relation = prop_oneof![Just(Relation::AtMost), Just(Relation::Below), Just(Relation::Equal)];
    (vec(coefficient(), columns), relation, coefficient()).prop_map(|(coefficients, relation, rhs)| Row {
        terms: coefficients.into_iter().enumerate().collect(),
        relation,
        rhs,
    })
}

fn any_system() -> impl Strategy<Value = System> {
    (0usize..=6, 0usize..=9).prop_flat_map(|(columns, rows)| {
        let bounds = (option::of(coefficient()), option::of(coefficient()));
        let bounds = bounds.prop_map(|(lower, upper)| Bounds { lower, upper });
        (vec(bounds, columns), vec(any_row(columns), rows)).prop_map(|(columns, rows)| System { columns, rows })
    })
}

fn any_basis() -> impl Strategy<Value = Basis> {
    let status =
        || prop_oneof![Just(Status::Basic), Just(Status::AtLower), Just(Status::AtUpper), Just(Status::AtZero)];
    (vec(status(), 0..=7), vec(status(), 0..=10)).prop_map(|(columns, rows)| Basis { columns, rows })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn every_system_is_decided_with_evidence(system in any_system(), hint in any_basis()) {
        let answer = decide(&system, None);
        let outcome = std::mem::discriminant(&answer.outcome);
        prop_assert_eq!(std::mem::discriminant(&decide(&system, Some(&hint)).outcome), outcome);
        let again = decide(&system, Some(&answer.basis));
        prop_assert_eq!(std::mem::discriminant(&again.outcome), outcome);
        let basic = answer.basis.columns.iter().filter(|status| **status == Status::Basic).count();
        prop_assert!(again.pivots <= basic, "a final basis needs no pivots but those that install it");
    }

    #[test]
    fn blands_rule_alone_ends_with_the_same_answer(system in any_system()) {
        let scaled = Scaled::new(&system);
        let mut search = Search::new(&scaled);
        search.patience = 0;
        let mut left = 20_000;
        let end = search.run(None, &mut || { left -= 1; left > 0 });
        match end {
            End::Vertex(vertex) => prop_assert!(system.admits(&scaled.unscale_point(&vertex)) && feasible(&system)),
            End::Conflict(conflict) => prop_assert!(system.refuted_by(&scaled.unscale_conflict(&conflict))),
            End::Stopped => prop_assert!(false, "Bland's rule cycles"),
        }
    }

    #[test]
    fn rows_through_a_point_are_feasible(system in any_system(), point in vec(coefficient(), 6)) {
        // Relaxed until the point satisfies them, the rows have a solution, however degenerate.
        let mut system = system;
        for (bounds, x) in system.columns.iter_mut().zip(&point) {
            bounds.lower = bounds.lower.take().map(|lower| lower.min(x.clone()));
            bounds.upper = bounds.upper.take().map(|upper| upper.max(x.clone()));
        }
        for row in &mut system.rows {
            row.rhs = row.terms.iter().map(|(j, c)| c * &point[*j]).sum();
            row.relation = if row.relation == Relation::Equal { Relation::Equal } else { Relation::AtMost };
        }
        prop_assert!(feasible(&system));
    }
}
