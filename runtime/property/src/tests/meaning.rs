//! Random conditions: the property that is read must contain exactly the points that meet them.

use proptest::prelude::*;

use crate::{Decimal, Property, Violation};

const INPUTS: usize = 2;
const OUTPUTS: usize = 2;

#[derive(Clone, Debug)]
enum Expr {
    Number(i64),
    /// Inputs first.
    Variable(usize),
    Sum(Vec<Expr>),
    Difference(Vec<Expr>),
    Scaled(i64, Box<Expr>),
    Square(Box<Expr>),
}

#[derive(Clone, Debug)]
enum Formula {
    Compare(&'static str, Expr, Expr),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Not(Box<Formula>),
}

fn linear() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![(-9i64..10).prop_map(Expr::Number), (0..INPUTS + OUTPUTS).prop_map(Expr::Variable),];
    leaf.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::Sum),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Expr::Difference),
            (-3i64..4, inner).prop_map(|(factor, term)| Expr::Scaled(factor, term.into())),
        ]
    })
}

fn formula() -> impl Strategy<Value = Formula> {
    let relation = prop::sample::select(vec!["<=", ">=", "<", ">", "=", "==", "!="]);
    let compare = (relation, linear(), linear()).prop_map(|(r, a, b)| Formula::Compare(r, a, b));
    let ball = (linear(), linear()).prop_map(|(a, b)| Formula::Compare("<=", Expr::Square(a.into()), b));
    prop_oneof![8 => compare, 1 => ball].prop_recursive(3, 10, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4).prop_map(Formula::And),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Formula::Or),
            inner.prop_map(|formula| Formula::Not(formula.into())),
        ]
    })
}

impl Expr {
    fn value(&self, point: &[i64]) -> i64 {
        match self {
            Expr::Number(value) => *value,
            Expr::Variable(index) => point[*index],
            Expr::Sum(terms) => terms.iter().map(|term| term.value(point)).sum(),
            Expr::Difference(terms) => {
                let values: Vec<i64> = terms.iter().map(|term| term.value(point)).collect();
                let rest: i64 = values[1..].iter().sum();
                if values.len() == 1 { -values[0] } else { values[0] - rest }
            }
            Expr::Scaled(factor, term) => factor * term.value(point),
            Expr::Square(term) => term.value(point).pow(2),
        }
    }

    fn text(&self, name: &impl Fn(usize) -> String) -> String {
        let all = |terms: &[Expr]| terms.iter().map(|t| t.text(name)).collect::<Vec<_>>().join(" ");
        match self {
            Expr::Number(value) => format!("{value}.0"),
            Expr::Variable(index) => name(*index),
            Expr::Sum(terms) => format!("(+ {})", all(terms)),
            Expr::Difference(terms) => format!("(- {})", all(terms)),
            Expr::Scaled(factor, term) => format!("(* {} {factor})", term.text(name)),
            Expr::Square(term) => format!("(* {0} {0})", term.text(name)),
        }
    }
}

impl Formula {
    fn holds(&self, point: &[i64]) -> bool {
        match self {
            Formula::Compare(relation, a, b) => {
                let (a, b) = (a.value(point), b.value(point));
                match *relation {
                    "<=" => a <= b,
                    ">=" => a >= b,
                    "<" => a < b,
                    ">" => a > b,
                    "!=" => a != b,
                    _ => a == b,
                }
            }
            Formula::And(parts) => parts.iter().all(|part| part.holds(point)),
            Formula::Or(parts) => parts.iter().any(|part| part.holds(point)),
            Formula::Not(part) => !part.holds(point),
        }
    }

    fn text(&self, name: &impl Fn(usize) -> String) -> String {
        let all = |parts: &[Formula]| parts.iter().map(|p| p.text(name)).collect::<Vec<_>>().join("\n");
        match self {
            Formula::Compare(relation, a, b) => {
                format!("({relation} {} {})", a.text(name), b.text(name))
            }
            Formula::And(parts) => format!("(and {})", all(parts)),
            Formula::Or(parts) => format!("(or {})", all(parts)),
            Formula::Not(part) => format!("(not {})", part.text(name)),
        }
    }
}

/// Two assertions and a box from -2 to 2 strictly below, in both versions of the language.
fn texts(a: &Formula, b: &Formula) -> [String; 2] {
    let v1 = |i: usize| {
        if i < INPUTS { format!("X_{i}") } else { format!("Y_{}", i - INPUTS) }
    };
    let v2 = |i: usize| {
        if i < INPUTS { format!("In[0,{i}]") } else { format!("Out[{}]", i - INPUTS) }
    };
    let declare = (0..INPUTS + OUTPUTS).map(|i| format!("(declare-const {} Real)\n", v1(i)));
    let network = "(vnnlib-version <2.0>) (declare-network N \
                   (declare-input In float32 [1,2]) (declare-output Out real [2]))\n";
    let body = |name: &dyn Fn(usize) -> String| {
        let name = |i: usize| name(i);
        let sides = (0..INPUTS).map(|i| format!("(assert (and (>= {0} -2) (< {0} 2)))\n", name(i)));
        let sides: String = sides.collect();
        format!("(assert {})\n{sides}(assert {})\n", a.text(&name), b.text(&name))
    };
    [declare.collect::<String>() + &body(&v1), network.to_string() + &body(&v2)]
}

/// All integer points from -2 to 2.
fn points() -> impl Iterator<Item = Vec<i64>> {
    (0..5i64.pow(4)).map(|n| (0..4).map(|k| n / 5i64.pow(k) % 5 - 2).collect())
}

fn contains(property: &Property, point: &[i64]) -> bool {
    let x: Vec<f32> = point[..INPUTS].iter().map(|&v| v as f32).collect();
    let y: Vec<f64> = point[INPUTS..].iter().map(|&v| v as f64).collect();
    property.disjuncts.iter().any(|disjunct| match disjunct.violated_at(&x, &y, &y) {
        Violation::Certain => true,
        Violation::Impossible => false,
        Violation::Undecided => panic!("a point is decided"),
    })
}

proptest! {
    #[test]
    fn the_property_contains_exactly_the_points_that_meet_it(a in formula(), b in formula()) {
        let texts = texts(&a, &b);
        let read = texts.each_ref().map(|text| Property::parse(text, "random"));
        let [v1, v2] = match read {
            [Ok(v1), Ok(v2)] => [v1, v2],
            [Err(error), Err(_)] => {
                prop_assert!(error.what().contains("convex"), "{error}\n{}", texts[0]);
                return Ok(());
            }
            _ => return Err(TestCaseError::fail("the versions disagree")),
        };
        prop_assert_eq!(&v1, &v2);
        for point in points() {
            let inside = point[..INPUTS].iter().all(|&x| x < 2);
            let expected = inside && a.holds(&point) && b.holds(&point);
            prop_assert_eq!(contains(&v1, &point), expected, "{:?}\n{}", point, texts[0]);
        }
    }

    /// Over a box of outputs the answer must be right for every output in it.
    #[test]
    fn decisions_over_a_box_hold_for_all_its_points(
        a in formula(), b in formula(), low in prop::array::uniform2(-2i64..3), size in 0i64..3,
    ) {
        let Ok(property) = Property::parse(&texts(&a, &b)[0], "random") else { return Ok(()) };
        let ends = |shift: i64| low.map(|v| (v + shift) as f64);
        for disjunct in &property.disjuncts {
            for x in [[-2.0, -1.0], [0.0, 1.0], [-1.0, -1.0f32]] {
                let whole = disjunct.violated_at(&x, &ends(0), &ends(size));
                for (i, j) in (0..=size).flat_map(|i| (0..=size).map(move |j| (i, j))) {
                    let y = [(low[0] + i) as f64, (low[1] + j) as f64];
                    let point = disjunct.violated_at(&x, &y, &y);
                    prop_assert!(whole == Violation::Undecided || whole == point);
                }
            }
        }
    }

    /// A float lies in the box exactly if its decimal value does.
    #[test]
    fn membership_of_floats_is_exact(
        low in -3.0f64..3.0, width in 0.0f64..1.0, steps in -3i32..4, strict in any::<bool>(),
    ) {
        let (lower, upper) = (format!("{low:.9}"), format!("{:.9}", low + width));
        let relation = if strict { ("<", ">") } else { ("<=", ">=") };
        let text = format!(
            "(declare-const X_0 Real)(declare-const Y_0 Real)\
             (assert ({1} X_0 {lower}))(assert ({0} X_0 {upper}))",
            relation.0, relation.1,
        );
        let property = Property::parse(&text, "random").unwrap();
        let [lower, upper] = [lower, upper].map(|text| text.parse::<Decimal>().unwrap());
        for end in [&lower, &upper] {
            let bits = end.to_f32_down().to_bits().wrapping_add_signed(steps);
            let x = f32::from_bits(bits);
            let exact = Decimal::from_f32(x).unwrap();
            let inside = lower <= exact && exact <= upper;
            let expected = inside && !(strict && (exact == lower || exact == upper));
            let found = property.disjuncts.iter().any(|disjunct| disjunct.contains_input(&[x]));
            prop_assert_eq!(found, expected);
        }
    }
}
