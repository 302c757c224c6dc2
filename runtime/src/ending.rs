//! Networks whose last operator is cut: what may be asked about them, and what their models give out.
//!
//! The network that is verified ends with the scores that the operator reads. Softmax, LogSoftmax and Sigmoid keep the order
//! of the scores exactly, in real numbers, so a comparison of two outputs of the model holds where it holds of the
//! scores. Nothing else about the outputs does.

use crate::property::{Property, Row, Scope};
use pg_core::Ending;

/// For `info` and for people.
pub fn note(ending: Ending) -> Option<String> {
    let name = ending.name()?;
    Some(format!("the model ends with {name}, which is cut: only comparisons of classes can be verified"))
}

/// A network whose model gives out a class has no outputs that a property could name.
pub fn admit_property(ending: Ending) -> Result<(), String> {
    match ending {
        Ending::ArgMax => {
            Err("the network ends with ArgMax, which is cut: its output is a class, and only `robust` can ask about it"
                .into())
        }
        _ => Ok(()),
    }
}

/// Whether every condition on outputs compares two of them. Conditions on inputs alone are free.
pub fn admit(ending: Ending, property: &Property) -> Result<(), String> {
    let Some(name) = ending.name() else { return Ok(()) };
    let rows = |row: &Row| row.scope() == Scope::Input || is_comparison(row);
    let compares = property.disjuncts.iter().all(|disjunct| {
        disjunct.rows.iter().all(|row| rows(row)) && disjunct.quadratics.iter().all(|q| q.scope() == Scope::Input)
    });
    if compares {
        return Ok(());
    }
    Err(format!(
        "the network ends with {name}, which is cut: of its outputs only comparisons of two classes can be asked, such as \
         (<= Y_0 Y_1)"
    ))
}

/// `a·y_i − a·y_j ≤ 0`, or `< 0`.
fn is_comparison(row: &Row) -> bool {
    let affine = &row.affine;
    match &affine.y[..] {
        [i, j] => {
            let sum = &i.coefficient.exact + &j.coefficient.exact;
            affine.x.is_empty() && sum.is_zero() && affine.constant.exact.is_zero()
        }
        _ => false,
    }
}

/// The model's outputs from its scores, computed in float64 and rounded once. They are printed; no verdict rests on them.
pub fn apply(ending: Ending, scores: &[f32]) -> Vec<f32> {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let below = |&score: &f32| f64::from(score) - f64::from(highest);
    let sum: f64 = scores.iter().map(|score| below(score).exp()).sum();
    match ending {
        Ending::None => scores.to_vec(),
        Ending::Softmax => scores.iter().map(|score| (below(score).exp() / sum) as f32).collect(),
        Ending::LogSoftmax => scores.iter().map(|score| (below(score) - sum.ln()) as f32).collect(),
        Ending::Sigmoid => scores.iter().map(|&score| (1.0 / (1.0 + (-f64::from(score)).exp())) as f32).collect(),
        Ending::ArgMax => vec![scores.iter().position(|&score| score == highest).unwrap_or(0) as f32],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_the_models() {
        let scores = [1.0, 3.0, 3.0, -2.0];
        let softmax = apply(Ending::Softmax, &scores);
        let e = |v: f64| v.exp();
        let sum = e(1.0) + 2.0 * e(3.0) + e(-2.0);
        let close = |a: f32, b: f64| (f64::from(a) - b).abs() < 1e-7;
        assert!(close(softmax[0], e(1.0) / sum) && close(softmax[1], e(3.0) / sum));
        assert!(close(apply(Ending::LogSoftmax, &scores)[3], -2.0 - sum.ln()));
        assert!(close(apply(Ending::Sigmoid, &scores)[0], 1.0 / (1.0 + e(-1.0))));
        assert_eq!(apply(Ending::ArgMax, &scores), [1.0], "the first of the highest");
        assert_eq!(apply(Ending::None, &scores), scores);
    }

    #[test]
    fn large_scores_do_not_overflow() {
        assert_eq!(apply(Ending::Softmax, &[3e38, -3e38]), [1.0, 0.0]);
        assert_eq!(apply(Ending::LogSoftmax, &[2000.0, 1000.0]), [0.0, -1000.0]);
        assert_eq!(apply(Ending::Sigmoid, &[-3e38, 3e38]), [0.0, 1.0]);
    }

    #[test]
    fn comparisons_are_admitted_and_nothing_else() {
        let names = ["X_0", "Y_0", "Y_1", "Y_2"].map(|name| format!("(declare-const {name} Real)"));
        let admitted = |condition: &str| {
            let text = format!("{}(assert (>= X_0 0))(assert (<= X_0 1)){condition}", names.concat());
            admit(Ending::Softmax, &Property::parse(&text, "p").unwrap())
        };
        let good = [
            "",
            "(assert (<= Y_0 Y_1))",
            "(assert (> (* 2.5 Y_0) (* 2.5 Y_1)))",
            "(assert (or (<= Y_0 Y_1) (and (<= Y_0 Y_2) (< Y_2 Y_1))))",
            "(assert (and (<= (* X_0 X_0) 0.5) (<= Y_0 Y_1)))",
            "(assert (<= (- Y_0 Y_1) 0))",
        ];
        for condition in good {
            assert_eq!(admitted(condition), Ok(()), "{condition}");
        }
        let bad = [
            "(assert (<= Y_0 0.5))",
            "(assert (<= Y_0 (+ Y_1 0.1)))",
            "(assert (<= (* 2 Y_0) Y_1))",
            "(assert (<= (+ Y_0 Y_1) Y_2))",
            "(assert (<= (+ Y_0 X_0) Y_1))",
            "(assert (or (<= Y_0 Y_1) (<= Y_2 0)))",
            "(assert (<= (* Y_0 Y_0) 0.5))",
            "(assert (<= (+ Y_0 Y_1) 0))",
        ];
        for condition in bad {
            let message = admitted(condition).unwrap_err();
            assert!(message.contains("ends with Softmax, which is cut"), "{condition}: {message}");
        }
        assert_eq!(admit(Ending::ArgMax, &robust()), Ok(()), "robustness compares");
        assert!(admit_property(Ending::ArgMax).unwrap_err().contains("`robust`"));
    }

    fn robust() -> Property {
        let one = crate::property::Decimal::one();
        Property::robust(std::slice::from_ref(&one), &one, None, 0, 3).unwrap()
    }
}
