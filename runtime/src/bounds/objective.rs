//! What is bounded from below: a linear function of the network's inputs and outputs.

use crate::property::{Affine, Enclosed, Row};
use pg_core::rounding::{TINY, at_most, sum_error};

/// `x·inputs + y·outputs + constant`, each coefficient known up to an error.
///
/// From a row of a property, `row ≤ 0` is one of the conditions on a counterexample: where the objective of a nonnegative
/// combination of rows is positive, there is none.
#[derive(Clone, Debug)]
pub struct Objective {
    pub x: Vec<f64>,
    pub x_error: Vec<f64>,
    pub y: Vec<f64>,
    pub y_error: Vec<f64>,
    pub constant: f64,
    pub constant_error: f64,
}

impl Objective {
    pub fn zero(inputs: usize, outputs: usize) -> Objective {
        Objective {
            x: vec![0.0; inputs],
            x_error: vec![0.0; inputs],
            y: vec![0.0; outputs],
            y_error: vec![0.0; outputs],
            constant: 0.0,
            constant_error: 0.0,
        }
    }

    /// Whether it is a function of the inputs too.
    pub fn has_inputs(&self) -> bool {
        self.x.iter().zip(&self.x_error).any(|(&a, &error)| a != 0.0 || error != 0.0)
    }

    pub fn of_row(row: &Row, inputs: usize, outputs: usize) -> Objective {
        let mut objective = Objective::zero(inputs, outputs);
        let Affine { x, y, constant } = &row.affine;
        for term in x {
            (objective.x[term.index], objective.x_error[term.index]) = nearest(&term.coefficient);
        }
        for term in y {
            (objective.y[term.index], objective.y_error[term.index]) = nearest(&term.coefficient);
        }
        (objective.constant, objective.constant_error) = nearest(constant);
        objective
    }

    /// `Σ λᵢ·objectiveᵢ` for exact nonnegative λ. Each sum of n products is within n roundings of its magnitudes, and each
    /// product may underflow.
    pub fn combination(terms: &[(f64, &Objective)], inputs: usize, outputs: usize) -> Objective {
        let mut sum = Objective::zero(inputs, outputs);
        let mut size = Objective::zero(inputs, outputs);
        for &(lambda, term) in terms {
            assert!(lambda >= 0.0);
            let add = |to: &mut f64, size: &mut f64, error: &mut f64, value: f64, value_error: f64| {
                *to += lambda * value;
                // What underflows is not nothing.
                *size += (lambda * value).abs().max(if (value, value_error) == (0.0, 0.0) { 0.0 } else { TINY });
                *error += lambda * value_error;
            };
            for i in 0..inputs {
                add(&mut sum.x[i], &mut size.x[i], &mut sum.x_error[i], term.x[i], term.x_error[i]);
            }
            for j in 0..outputs {
                add(&mut sum.y[j], &mut size.y[j], &mut sum.y_error[j], term.y[j], term.y_error[j]);
            }
            add(&mut sum.constant, &mut size.constant, &mut sum.constant_error, term.constant, term.constant_error);
        }
        let count = terms.len();
        let close = |error: &mut f64, size: f64| {
            if *error > 0.0 || size > 0.0 {
                *error = at_most(*error + sum_error(count, size), 2 * count + 4);
            }
        };
        sum.x_error.iter_mut().zip(&size.x).for_each(|(e, &s)| close(e, s));
        sum.y_error.iter_mut().zip(&size.y).for_each(|(e, &s)| close(e, s));
        close(&mut sum.constant_error, size.constant);
        sum
    }
}

/// A number inside the enclosure and its distance to the farther end, rounded up.
fn nearest(enclosed: &Enclosed) -> (f64, f64) {
    if enclosed.low == enclosed.high {
        return (enclosed.low, 0.0);
    }
    (enclosed.low, (enclosed.high - enclosed.low).next_up())
}
