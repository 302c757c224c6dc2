//! Properties: what they mean, in which order, and what is refused.

use std::sync::Arc;

use pg_check::{Linear, Property, Ratio};

const DECLARED: &str =
    "(declare-const X_0 Real) (declare-const X_1 Real)\n(declare-const Y_0 Real) (declare-const Y_1 Real)\n";
const BOX: &str = "(assert (>= X_0 -1)) (assert (<= X_0 1.5)) (assert (and (>= X_1 0) (<= X_1 2)))\n";

fn ratio(text: &str) -> Ratio {
    Ratio::parse(text).expect("a decimal")
}

fn read(assertions: &str) -> Property {
    Property::read(&format!("{DECLARED}{BOX}{assertions}")).unwrap_or_else(|fault| panic!("{assertions}: {fault}"))
}

fn refusal(text: &str) -> String {
    Property::read(text).expect_err(text).0
}

fn linear(x: &[(usize, &str)], y: &[(usize, &str)], constant: &str) -> Linear {
    let of = |is_output: bool, terms: &[(usize, &str)]| {
        terms.iter().map(|(number, coefficient)| ((is_output, *number), ratio(coefficient))).collect::<Vec<_>>()
    };
    Linear { terms: [of(false, x), of(true, y)].concat(), constant: ratio(constant) }
}

/// The constants of the rows of each disjunct, which tell rows such as `(<= Y_0 7)` apart.
fn constants(property: &Property) -> Vec<Vec<i128>> {
    let constant = |row: &Arc<Linear>| -row.constant.numerator;
    property.disjuncts.iter().map(|disjunct| disjunct.rows.iter().map(constant).collect()).collect()
}

#[test]
fn bounds_become_the_box_and_the_rest_rows() {
    let property = read("(assert (<= (+ Y_0 (* 2 X_1) 3) (- Y_1 0.5)))");
    assert_eq!((property.inputs, property.outputs, property.disjuncts.len()), (2, 2, 1));
    let disjunct = &property.disjuncts[0];
    assert_eq!(disjunct.lower[..], [ratio("-1"), ratio("0")]);
    assert_eq!(disjunct.upper[..], [ratio("1.5"), ratio("2")]);
    assert_eq!(*disjunct.rows[0], linear(&[(1, "2")], &[(0, "1"), (1, "-1")], "3.5"));
}

#[test]
fn relations_have_their_direction() {
    let property = read("(assert (>= Y_0 1)) (assert (> Y_1 2)) (assert (< Y_0 3)) (assert (<= Y_1 X_0))");
    let rows: Vec<Linear> = property.disjuncts[0].rows.iter().map(|row| (**row).clone()).collect();
    let expected = [
        linear(&[], &[(0, "-1")], "1"),
        linear(&[], &[(1, "-1")], "2"),
        linear(&[], &[(0, "1")], "-3"),
        linear(&[(0, "-1")], &[(1, "1")], "0"),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn scaled_and_repeated_inputs_are_solved() {
    let property =
        read("(assert (<= (* -4 X_0) 1)) (assert (<= (+ X_1 X_1 X_1 (* -1 X_1)) 3)) (assert (<= (- X_0 X_0) X_1))");
    let disjunct = &property.disjuncts[0];
    assert_eq!((disjunct.lower[0], disjunct.upper[1]), (ratio("-0.25"), ratio("1.5")));
    assert!(disjunct.rows.is_empty());
}

#[test]
fn cases_come_in_the_canonical_order() {
    let either = |a: u32, b: u32| format!("(or (<= Y_0 {a}) (<= Y_0 {b}))");
    let property =
        read(&format!("(assert (<= Y_0 9)) (assert {}) (assert {}) (assert (<= Y_0 8))", either(1, 2), either(3, 4)));
    assert_eq!(constants(&property), [[9, 8, 1, 3], [9, 8, 1, 4], [9, 8, 2, 3], [9, 8, 2, 4]]);
    let property = read("(assert (or (and (<= Y_0 1) (<= Y_0 5)) (<= Y_0 6))) (assert (<= Y_0 9))");
    assert_eq!(constants(&property), [vec![9, 1, 5], vec![9, 6]]);
    let property = read("(assert (or (and (<= Y_0 1) (<= Y_0 5)))) (assert (<= Y_0 9))");
    assert_eq!(constants(&property), [[1, 5, 9]]);
}

#[test]
fn cases_without_a_point_are_dropped() {
    let property =
        read("(assert (or (and (<= X_0 -2) (<= Y_0 1)) (and (< X_0 -1) (<= Y_0 2)) (and (<= X_0 -1) (<= Y_0 3))))");
    assert_eq!(constants(&property), [[2], [3]]);
    assert!(read("(assert (>= X_0 1.75))").disjuncts.is_empty());
}

#[test]
fn boxes_are_shared() {
    let property = read("(assert (or (<= Y_0 1) (<= Y_0 2) (and (<= X_0 0) (<= Y_0 3)) (and (<= X_0 0) (<= Y_0 4))))");
    let lower: Vec<_> = property.disjuncts.iter().map(|disjunct| &disjunct.lower).collect();
    assert!(Arc::ptr_eq(lower[0], lower[1]) && Arc::ptr_eq(lower[2], lower[3]) && !Arc::ptr_eq(lower[1], lower[2]));
    assert_eq!(property.disjuncts[3].upper[0], Ratio::ZERO);
}

#[test]
fn what_is_not_understood_is_refused_by_name() {
    let refused = [
        ("(assert (not (<= Y_0 1)))", "`not`"),
        ("(assert (!= Y_0 1))", "`!=`"),
        ("(assert (= Y_0 1))", "`=`"),
        ("(assert (<= (* Y_0 Y_1) 1))", "`Y_0` is neither"),
        ("(assert (<= (* 2 Y_0 Y_1) 1))", "`*` with 3 operands"),
        ("(assert (<= (- Y_0) 1))", "`-` with 1 operands"),
        ("(assert (<= (/ Y_0 2) 1))", "`/`"),
        ("(assert (<= Y_2 1))", "`Y_2`"),
        ("(assert (<= Y_00 1))", "`Y_00`"),
        ("(assert (<= Y_0 1 2))", "`<=` with 3 operands"),
        ("(assert (<= Y_0))", "`<=` with 1 operands"),
        ("(assert (<= 0 1))", "no variable"),
        ("(assert (<= (- Y_0 Y_0) 1))", "no variable"),
        ("(assert (and))", "no operands"),
        ("(assert (or))", "no operands"),
        ("(assert (or Y_0))", "a comparison was expected"),
        ("(assert (and (or (<= Y_0 1) (<= Y_0 2)) (<= Y_0 3)))", "`or`"),
        ("(assert (or (or (<= Y_0 1) (<= Y_0 2)) (<= Y_0 3)))", "`or`"),
        ("(assert (<= Y_0 (<= Y_1 1)))", "`<=`"),
        ("(assert (+ Y_0 1))", "`+`"),
        ("(assert (<= Y_0 1) (<= Y_1 1))", "`assert` with 2 operands"),
        ("(assert (<= Y_0 1e99))", "`1e99`"),
        ("(assert (<= Y_0 1)", "ends inside"),
        ("(minimize Y_0)", "`minimize` with 1 operands"),
        ("(vnnlib-version <2.0>)", "vnnlib-version"),
        ("junk (", "`junk`"),
        (")", "the command `)`"),
        ("(declare-const X_0 Real)", "`X_0`"),
        ("(declare-const X_5 Real)", "`X_5`"),
        ("(declare-const X_2 Int)", "`declare-const` with 2 operands"),
    ];
    for (text, expected) in refused {
        let message = refusal(&format!("{DECLARED}{BOX}{text}"));
        assert!(message.contains(expected), "{text}: {message}");
    }
    assert!(refusal(&format!("{DECLARED}(assert (<= X_0 1))")).contains("input 0 is not bounded on both sides"));
    assert!(refusal(&format!("{DECLARED}{BOX}\n(assert (<= Z 1))")).starts_with("line 5"));
}

#[test]
fn blow_up_is_refused() {
    let clause = "(assert (or (<= Y_0 1) (<= Y_1 1)))".repeat(40);
    assert!(refusal(&format!("{DECLARED}{BOX}{clause}")).contains("cases"));
    let deep = format!("(assert (<= {}Y_0{} 1))", "(+ ".repeat(100_000), ")".repeat(100_000));
    assert!(refusal(&format!("{DECLARED}{BOX}{deep}")).contains("too deep"));
}

#[test]
fn every_prefix_is_read_or_refused() {
    let text = format!("{DECLARED}{BOX}(assert (or (and (<= Y_0 1.5e-3) (>= Y_1 -2)) (<= (+ Y_0 \"s\") X_0))) ; end");
    for end in 0..text.len() {
        let _ = Property::read(&text[..end]);
    }
}
