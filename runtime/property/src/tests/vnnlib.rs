//! What is read, shown on small files.

use std::sync::Arc;

use crate::{Decimal, Disjunct, Property, Scope, Tensors, Variable, Violation};

/// A property of two inputs in [0, 1] and two outputs, with further commands.
fn unit(commands: &str) -> Property {
    let text = format!("{HEADER}{commands}");
    Property::parse(&text, "unit.vnnlib").unwrap_or_else(|error| panic!("{error}"))
}

const HEADER: &str = "; a comment (with parentheses\r
(set-logic QF_LRA)
(declare-const X_0 Real) (declare-fun X_1 () Real)\r
(declare-const Y_0 Real) (declare-const Y_1 Real)
(assert (>= X_0 0)) (assert (<= X_0 1)) (assert (and (>= X_1 0.0) (<= X_1 1e0)))\n";

fn decimal(text: &str) -> Decimal {
    text.parse().unwrap()
}

fn ends(disjunct: &Disjunct, input: usize) -> (String, String) {
    let side = disjunct.region.side(input);
    (side.lower().value.to_string(), side.upper().value.to_string())
}

#[test]
fn several_asserts_are_a_conjunction_and_cases_multiply() {
    let property = unit(
        "(assert (or (<= Y_0 1) (and (<= Y_0 2) (<= Y_1 2)))) (assert (>= Y_1 0))
         (assert (or (<= X_0 0.5) (>= X_0 0.5))) (check-sat)",
    );
    assert_eq!(property.disjuncts.len(), 4);
    let rows: Vec<_> = property.disjuncts.iter().map(|d| d.rows.len()).collect();
    assert_eq!(rows, [2, 2, 3, 3]);
    assert_eq!(ends(&property.disjuncts[0], 0), ("0".into(), "0.5".into()));
    assert_eq!(ends(&property.disjuncts[1], 0), ("0.5".into(), "1".into()));
}

#[test]
fn disjuncts_that_add_no_bounds_share_their_box() {
    let cases: String = (0..1000).map(|i| format!("(and (<= Y_0 {i}))")).collect();
    let property = unit(&format!("(assert (or {cases}))"));
    let first = &property.disjuncts[0];
    assert!(property.disjuncts.iter().all(|d| Arc::ptr_eq(&d.region, &first.region)));
    let again = unit("(assert (or (and (<= X_0 0.5) (<= Y_0 1)) (and (<= X_0 0.50) (<= Y_0 2))))");
    assert!(Arc::ptr_eq(&again.disjuncts[0].region, &again.disjuncts[1].region));
}

#[test]
fn rows_over_one_input_become_bounds_where_that_is_exact() {
    let property = unit("(assert (<= (+ (* 2 X_0) 1) 1.5)) (assert (< 0.125 (* 0.5 X_1)))");
    let disjunct = &property.disjuncts[0];
    assert!(disjunct.rows.is_empty());
    assert_eq!(ends(disjunct, 0), ("0".into(), "0.25".into()));
    assert!(disjunct.region.side(1).lower().strict);
    assert_eq!(ends(disjunct, 1), ("0.25".into(), "1".into()));
}

#[test]
fn rows_over_one_input_that_are_not_exact_bounds_stay_and_imply_one() {
    let property = unit("(assert (< (* 3 X_0) 1))");
    let disjunct = &property.disjuncts[0];
    assert_eq!(disjunct.rows_of(Scope::Input).count(), 1);
    let upper = &disjunct.region.side(0).upper().value;
    assert!(&decimal("3") * upper > decimal("1") && *upper < decimal("0.333334"));
    let other = unit("(assert (> (* 3 X_0) 1))");
    let lower = &other.disjuncts[0].region.side(0).lower().value;
    assert!(&decimal("3") * lower < decimal("1") && *lower > decimal("0.333333"));
    assert!(disjunct.contains_input(&[0.333_333_3, 0.0]));
    assert!(!disjunct.contains_input(&[0.333_333_34, 0.0]));
    assert_eq!(
        property.differs_with_closed_fractions(),
        Some("an input is bounded by a number that is no finite decimal")
    );
    assert_eq!(unit("(assert (< (* 4 X_0) 1))").differs_with_closed_fractions(), None);
}

#[test]
fn boxes_that_are_empty_at_a_strict_end_are_told() {
    let why = |commands: &str| unit(commands).differs_with_closed_fractions();
    let strictly = Some("two ends of an input meet, and one of them is strict");
    assert_eq!(why("(assert (> X_0 1)) (assert (<= Y_0 0))"), strictly);
    assert_eq!(why("(assert (or (and (> X_0 1) (<= Y_0 1)) (<= Y_0 2)))"), strictly);
    assert_eq!(why("(assert (>= X_0 1)) (assert (<= Y_0 0))"), None);
    assert_eq!(why("(assert (or (and (> X_0 1.5) (<= Y_0 1)) (<= Y_0 2)))"), None);
}

#[test]
fn rows_are_classified_and_like_terms_merged() {
    let property = unit(
        "(assert (<= (+ X_0 X_1) 1)) (assert (<= (- Y_0 X_0 Y_0) (- Y_1)))
         (assert (>= Y_0 (+ Y_1 0.1))) (assert (<= (* 2 (- X_0 Y_0) -0.5) 0))",
    );
    let disjunct = &property.disjuncts[0];
    let scopes: Vec<_> = disjunct.rows.iter().map(|row| row.scope()).collect();
    assert_eq!(scopes, [Scope::Input, Scope::Joint, Scope::Output, Scope::Joint]);
    let joint = &disjunct.rows[1].affine;
    assert_eq!((joint.x.len(), joint.y.len()), (1, 1));
    let constant = &disjunct.rows[2].affine.constant;
    assert_eq!(constant.exact, decimal("0.1"));
    assert!(constant.low < constant.high && constant.low.next_up() == constant.high);
    assert_eq!(disjunct.rows[3].affine.x[0].coefficient.exact, decimal("-1"));
}

#[test]
fn cases_without_any_point_are_dropped_and_counted() {
    for (condition, left, empty) in [
        ("(> X_0 1)", 0, 1),
        ("(or (> X_0 1) (<= Y_0 0))", 1, 1),
        ("(or (< X_1 0) (<= 2 1) (> 1 (+ X_0 (- X_0) 1)))", 0, 3),
        ("(and (<= 1 2) (<= Y_0 0))", 1, 0),
        ("(and (>= X_0 1) (or (<= Y_0 0) (< X_0 1)))", 1, 1),
        ("(and (< 2 1) (or (<= Y_0 0) (<= Y_1 0)))", 0, 2),
    ] {
        let property = unit(&format!("(assert {condition})"));
        let found = (property.disjuncts.len(), property.empty_disjuncts);
        assert_eq!(found, (left, empty), "{condition}");
    }
}

#[test]
fn products_of_sums_are_multiplied_out() {
    let property = unit("(assert (<= (* 2 (+ X_0 1) (- X_0 Y_0 3)) (* -2 X_0 Y_0)))");
    let quadratic = &property.disjuncts[0].quadratics[0];
    let numbers = [&quadratic.affine().x[0], &quadratic.affine().y[0]].map(|t| &t.coefficient.exact);
    assert_eq!(numbers, [&decimal("-4"), &decimal("-2")]);
    assert_eq!(quadratic.affine().constant.exact, decimal("-6"));
    let [square] = quadratic.products() else { panic!("{:?}", quadratic.products()) };
    assert_eq!((square.a, square.b), (Variable::Input(0), Variable::Input(0)));
    assert_eq!(square.coefficient.exact, decimal("2"));
}

#[test]
fn a_ball_of_many_inputs_is_convex() {
    let declare: String = (0..500).map(|i| format!("(declare-const X_{i} Real)")).collect();
    let sides: String = (0..500).map(|i| format!("(assert (and (>= X_{i} 0) (<= X_{i} 1)))")).collect();
    let squares: String = (0..500).map(|i| format!("(* (- X_{i} 0.5) (- X_{i} 0.5))")).collect();
    let text = format!("{declare}(declare-const Y_0 Real){sides}(assert (<= (+ {squares}) 0.01))");
    let property = Property::parse(&text, "ball").unwrap();
    let ball = &property.disjuncts[0].quadratics[0];
    assert_eq!((ball.scope(), ball.products().len()), (Scope::Input, 500));
    let mut x = [0.5f32; 500];
    assert!(property.disjuncts[0].contains_input(&x));
    (x[0], x[499]) = (0.55, 0.59);
    assert!(!property.disjuncts[0].contains_input(&x));
}

#[test]
fn quadratic_constraints_over_intervals_of_outputs() {
    let property = unit("(assert (<= (+ (* X_0 X_0) (* (- Y_0 Y_1) (- Y_0 Y_1))) (+ 1 Y_0)))");
    let disjunct = &property.disjuncts[0];
    assert_eq!(disjunct.quadratics[0].scope(), Scope::Joint);
    let at = |low: [f64; 2], high: [f64; 2]| disjunct.violated_at(&[0.5, 0.5], &low, &high);
    assert_eq!(at([0.0, 0.0], [0.1, 0.1]), Violation::Certain);
    assert_eq!(at([0.0, 3.0], [0.1, 3.1]), Violation::Impossible);
    assert_eq!(at([0.0, 0.0], [0.1, 3.0]), Violation::Undecided);
    assert_eq!(at([0.0, 0.0], [0.1, f64::INFINITY]), Violation::Undecided);
}

#[test]
fn version_two_numbers_tensors_in_row_major_order() {
    let text = "(vnnlib-version <2.0>)
        (declare-network N (declare-input X Real [1,2,2] \"in\") (declare-output Y float32 []))
        (assert (and (>= X[0,0,0] 0) (<= X[0,0,0] 1) (>= X[0, 0,1] 1) (<= X [0,0,1] 2)))
        (assert (and (>= X[0,1,0] 2) (<= X[0,1,0] 3) (== X[0,1,1] 3)))
        (assert (!= Y 0.5))";
    let property = Property::parse(text, "v2").unwrap();
    assert_eq!((property.inputs, property.outputs, property.disjuncts.len()), (4, 1, 2));
    let lower: Vec<_> = (0..4).map(|i| ends(&property.disjuncts[0], i).0).collect();
    assert_eq!(lower, ["0", "1", "2", "3"]);
    assert!(property.disjuncts.iter().all(|disjunct| disjunct.rows[0].strict));
}

/// Two inputs of 1 and 2 elements, two outputs of one each.
fn several(input_names: [&str; 2], inputs: &str) -> String {
    let [a, b] = input_names;
    format!(
        "(vnnlib-version <2.0>)
        (declare-network N (declare-input A Real [1] {a}) (declare-output Y Real [])
            (declare-input B Real [{inputs}] {b}) (declare-output Z Real []))
        (assert (and (== A[0] 1) (== B[0,0] 2) (== B[0,1] 3) (<= Z Y)))"
    )
}

#[test]
fn several_tensors_lie_one_after_the_other() {
    let names = |names: [&str; 2], sizes: [usize; 2]| names.map(String::from).into_iter().zip(sizes).collect();
    let model = |inputs, sizes| Tensors { inputs: names(inputs, sizes), outputs: names(["y", "z"], [1, 1]) };
    let lower = |property: Property| (0..3).map(|i| ends(&property.disjuncts[0], i).0).collect::<Vec<_>>();
    let plain = several(["", ""], "1,2");
    let read = |text: &str, tensors: &Tensors| Property::parse_for(text, "v2", tensors).map(lower);
    assert_eq!(lower(Property::parse(&plain, "v2").unwrap()), ["1", "2", "3"]);
    assert_eq!(read(&plain, &model(["a", "b"], [1, 2])).unwrap(), ["1", "2", "3"]);
    let named = several(["\"a\"", "\"b\""], "1,2");
    assert_eq!(read(&named, &model(["a", "b"], [1, 2])).unwrap(), ["1", "2", "3"]);
    assert_eq!(read(&named, &model(["b", "a"], [2, 1])).unwrap(), ["2", "3", "1"], "in the model's order");
    let property = Property::parse(&plain, "v2").unwrap();
    let row = &property.disjuncts[0].rows[0].affine.y;
    assert_eq!((row[0].index, row[1].index), (0, 1));

    let error = |text: &str, tensors: &Tensors| read(text, tensors).unwrap_err().to_string();
    let sizes = error(&plain, &model(["b", "a"], [2, 1]));
    assert!(sizes.contains("A has 1 elements, and the network's input `b` has 2"), "{sizes}");
    assert!(error(&named, &model(["a", "c"], [1, 2])).contains("the network has no input `b`"));
    assert!(error(&several(["\"a\"", ""], "1,2"), &model(["a", "b"], [1, 2])).contains("some not"));
    let twice = several(["\"a\"", "\"a\""], "1,2");
    assert!(error(&twice, &model(["a", "b"], [1, 2])).contains("two tensors are the network's input `a`"));
    let single = Tensors { inputs: vec![], ..model(["a", "b"], [1, 2]) };
    assert!(error(&plain, &single).contains("declares 2 input tensors, and the network has 1"));
    let many = error(&several(["", ""], "16000000"), &model(["a", "b"], [1, 2]));
    assert!(many.contains("more than 16000000 elements in total"), "{many}");
    assert!(error(&plain.replace("input B", "input A"), &single).contains("two tensors have the name `A`"));
    let unbounded = Property::parse(&plain.replace("(== B[0,1] 3)", ""), "v2").unwrap_err().to_string();
    assert!(unbounded.contains("the input B[0,1] has no"), "{unbounded}");
}

#[test]
fn shapes_are_compared() {
    let property = unit("(assert (<= Y_0 0))");
    assert!(property.check_shape(2, 2).is_ok());
    let message = property.check_shape(784, 10).unwrap_err().to_string();
    assert!(message.contains("the property has 2 inputs and 2 outputs, the network 784 and 10"));
}
