//! Tangents of convex quadratics: the exact linear rows that outer linearisation (Kelley's cutting planes) is made of, and
//! the float values that tell where to take them.

use std::collections::BTreeMap;

use super::Decimal;
use super::affine::{Affine, Row, Term};
use super::quadratic::{Product, Quadratic, Variable};

/// A power of two beyond this is not used as a scale.
const LARGEST_EXPONENT: i32 = 500;

impl Quadratic {
    /// The tangent at `(x, y)` as a row that every point of the constraint satisfies, scaled so that its largest
    /// coefficient is about 1; `None` if the point is not finite.
    ///
    /// Sound at any point, on the constraint or off it: `v·w` is replaced by its linearisation `p·w + r·v − p·r`, which
    /// in sum is the tangent of the left side, and the tangent of a convex function is nowhere above it. Nothing is
    /// rounded: the floats are taken as the decimals that they are.
    pub fn tangent(&self, x: &[f64], y: &[f64]) -> Option<Row> {
        let at = |variable: Variable| Decimal::from_f64(coordinate(variable, x, y));
        let mut constant = self.affine().constant.exact.clone();
        let mut slopes: BTreeMap<Variable, Decimal> = BTreeMap::new();
        let mut add = |variable: Variable, slope: &Decimal| {
            slopes.entry(variable).and_modify(|sum| *sum += slope).or_insert_with(|| slope.clone());
        };
        self.affine().x.iter().for_each(|term| add(Variable::Input(term.index), &term.coefficient.exact));
        self.affine().y.iter().for_each(|term| add(Variable::Output(term.index), &term.coefficient.exact));
        for Product { a, b, coefficient } in self.products() {
            let (p, r) = (&coefficient.exact * &at(*a)?, at(*b)?);
            add(*a, &(&coefficient.exact * &r));
            add(*b, &p);
            constant = &constant - &(&p * &r);
        }
        Some(Row { affine: scaled(slopes, constant), strict: self.strict() })
    }

    /// The left side, in floats.
    pub fn value(&self, x: &[f64], y: &[f64]) -> f64 {
        self.affine().value_near(x, y) + self.curvature(x, y)
    }

    /// The products alone, in floats: along a line, the coefficient of the square.
    pub fn curvature(&self, x: &[f64], y: &[f64]) -> f64 {
        let value = |p: &Product| p.coefficient.low * coordinate(p.a, x, y) * coordinate(p.b, x, y);
        self.products().iter().map(value).sum()
    }

    /// The gradient of the left side by inputs and by outputs, in floats.
    pub fn gradient(&self, x: &[f64], y: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (mut by_x, mut by_y) = self.affine().slopes_near(x.len(), y.len());
        let mut add = |variable: Variable, slope: f64| match variable {
            Variable::Input(i) => by_x[i] += slope,
            Variable::Output(j) => by_y[j] += slope,
        };
        for Product { a, b, coefficient } in self.products() {
            add(*a, coefficient.low * coordinate(*b, x, y));
            add(*b, coefficient.low * coordinate(*a, x, y));
        }
        (by_x, by_y)
    }
}

impl Affine {
    /// The value, in floats.
    pub fn value_near(&self, x: &[f64], y: &[f64]) -> f64 {
        let term = |term: &Term, values: &[f64]| term.coefficient.low * values[term.index];
        let x = self.x.iter().map(|t| term(t, x));
        x.chain(self.y.iter().map(|t| term(t, y))).sum::<f64>() + self.constant.low
    }

    /// The coefficients of all inputs and of all outputs, in floats.
    pub fn slopes_near(&self, inputs: usize, outputs: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut by_x, mut by_y) = (vec![0.0; inputs], vec![0.0; outputs]);
        self.x.iter().for_each(|term| by_x[term.index] = term.coefficient.low);
        self.y.iter().for_each(|term| by_y[term.index] = term.coefficient.low);
        (by_x, by_y)
    }
}

fn coordinate(variable: Variable, x: &[f64], y: &[f64]) -> f64 {
    match variable {
        Variable::Input(i) => x[i],
        Variable::Output(j) => y[j],
    }
}

/// The form times a power of two that brings its largest slope, if there is one, to between 1 and 2.
fn scaled(slopes: BTreeMap<Variable, Decimal>, constant: Decimal) -> Affine {
    let largest = slopes.values().fold(0.0, |largest: f64, slope| largest.max(slope.to_f64_up().abs()));
    let exponent = largest.log2().floor();
    let usable = exponent.is_finite() && exponent.abs() <= f64::from(LARGEST_EXPONENT);
    let scale = Decimal::from_f64(if usable { (-exponent).exp2() } else { 1.0 }).expect("a finite power of two");
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (variable, slope) in slopes.into_iter().filter(|(_, slope)| !slope.is_zero()) {
        let coefficient = (&slope * &scale).into();
        match variable {
            Variable::Input(index) => x.push(Term { index, coefficient }),
            Variable::Output(index) => y.push(Term { index, coefficient }),
        }
    }
    Affine { x, y, constant: (&constant * &scale).into() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Property;

    /// (X_0 − 1)² + X_0·Y_0 + Y_0² ≤ 0.1, not strict.
    fn quadratic() -> Quadratic {
        let text = "(declare-const X_0 Real)(declare-const Y_0 Real)(assert (>= X_0 -9))(assert (<= X_0 9))\
            (assert (<= (+ (* (- X_0 1.0) (- X_0 1.0)) (* X_0 Y_0) (* Y_0 Y_0)) 0.1))";
        let property = Property::parse(text, "a test").unwrap();
        (*property.disjuncts[0].quadratics[0]).clone()
    }

    fn exact(value: f64) -> Decimal {
        Decimal::from_f64(value).unwrap()
    }

    /// The left side, exactly.
    fn value(x: f64, y: f64) -> Decimal {
        let (x, y) = (exact(x), exact(y));
        let from_one = &x - &Decimal::one();
        &(&(&(&from_one * &from_one) + &(&x * &y)) + &(&y * &y)) - &"0.1".parse().unwrap()
    }

    fn row_value(row: &Row, x: f64, y: f64) -> Decimal {
        let mut sum = row.affine.constant.exact.clone();
        row.affine.x.iter().for_each(|term| sum += &(&term.coefficient.exact * &exact(x)));
        row.affine.y.iter().for_each(|term| sum += &(&term.coefficient.exact * &exact(y)));
        sum
    }

    #[test]
    fn a_tangent_is_the_constraint_to_first_order() {
        let row = quadratic().tangent(&[0.3], &[0.7]).unwrap();
        let (by_x, by_y) = quadratic().gradient(&[0.3], &[0.7]);
        assert!((by_x[0] + 0.7).abs() < 1e-12 && (by_y[0] - 1.7).abs() < 1e-12);
        assert!((quadratic().value(&[0.3], &[0.7]) - 1.09).abs() < 1e-12);
        assert_eq!(row_value(&row, 0.3, 0.7), value(0.3, 0.7), "its largest slope is between 1 and 2 as it is");
        assert_eq!((row.affine.x[0].coefficient.low * 1e3).round(), -700.0);
        assert!(quadratic().tangent(&[f64::NAN], &[0.0]).is_none());
    }

    proptest! {
        /// Exactly so: not even the last digit of a tangent is above the constraint.
        #[test]
        fn a_tangent_is_nowhere_above(
            (p, r) in (-1e3..1e3, -1e3..1e3),
            (x, y) in (-1e3..1e3, -1e3..1e3),
            near in -60i32..1,
        ) {
            let (x, y) = (p + (x - p) * f64::from(near).exp2(), r + (y - r) * f64::from(near).exp2());
            let row = quadratic().tangent(&[p], &[r]).unwrap();
            let at = row_value(&row, p, r);
            let scale = if at.is_zero() { return Ok(()) } else { value(p, r) };
            // row·scale ≤ value·at says row ≤ value with the row's scaling undone, at > 0 as p is outside.
            prop_assume!(at.is_positive());
            prop_assert!(&row_value(&row, x, y) * &scale <= &value(x, y) * &at);
        }
    }
}
