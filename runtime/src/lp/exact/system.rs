//! A linear system, and the judges of its two kinds of evidence: a point and a vector of Farkas multipliers.
//! The judges are the whole trusted base of the exact simplex and use nothing but integers.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// A·x ≤ b
    AtMost,
    /// A·x < b
    Below,
    /// A·x = b
    Equal,
}

/// Σ `terms` `relation` `rhs`; a column may occur in several terms.
#[derive(Clone, Debug)]
pub struct Row {
    pub terms: Vec<(usize, BigRational)>,
    pub relation: Relation,
    pub rhs: BigRational,
}

/// `lower` ≤ x ≤ `upper`, each optional.
#[derive(Clone, Debug, Default)]
pub struct Bounds {
    pub lower: Option<BigRational>,
    pub upper: Option<BigRational>,
}

/// Rows over as many columns as there are `columns`.
#[derive(Clone, Debug, Default)]
pub struct System {
    pub columns: Vec<Bounds>,
    pub rows: Vec<Row>,
}

/// Multipliers of the rows and of the bounds, under which these add up to a contradiction: Σ `rows`·A + `upper` −
/// `lower` = 0 in every column, while Σ `rows`·b + `upper`·u − `lower`·l is negative, or zero with a strict row.
#[derive(Clone, Debug, PartialEq)]
pub struct Farkas {
    pub rows: Vec<BigRational>,
    pub lower: Vec<BigRational>,
    pub upper: Vec<BigRational>,
}

/// The rational that `value` denotes, exactly; `None` for an infinity or a NaN.
pub fn exact(value: f64) -> Option<BigRational> {
    BigRational::from_float(value)
}

impl System {
    /// A system of `columns` free variables and no rows.
    pub fn new(columns: usize) -> Self {
        System { columns: vec![Bounds::default(); columns], rows: Vec::new() }
    }

    /// Appends a row given densely, one coefficient per column.
    pub fn dense_row(&mut self, coefficients: &[BigRational], relation: Relation, rhs: BigRational) {
        assert_eq!(coefficients.len(), self.columns.len(), "one coefficient per column");
        let terms = coefficients.iter().cloned().enumerate().filter(|(_, c)| !c.is_zero()).collect();
        self.rows.push(Row { terms, relation, rhs });
    }

    /// Whether `point` satisfies every row and bound: the definition, each row multiplied by the positive numbers
    /// that make it and the point integral.
    pub fn admits(&self, point: &[BigRational]) -> bool {
        if point.len() != self.columns.len() {
            return false;
        }
        let (x, denominator) = integral(point);
        let holds = |row: &Row| {
            let (coefficients, rhs, _) = row.integral();
            let value: BigInt = row.terms.iter().zip(&coefficients).map(|((column, _), c)| c * &x[*column]).sum();
            match row.relation {
                Relation::AtMost => value <= rhs * &denominator,
                Relation::Below => value < rhs * &denominator,
                Relation::Equal => value == rhs * &denominator,
            }
        };
        self.columns.iter().zip(point).all(|(bounds, x)| bounds.contain(x)) && self.rows.iter().all(holds)
    }

    /// Whether `farkas` proves that no point satisfies the system.
    ///
    /// Sound: at a solution every inequality holds when multiplied by a nonnegative number, an equation when
    /// multiplied by any, and so does their sum, which reads 0·x ≤ r, or 0·x < r if a strict row has a positive
    /// multiplier. Accepted is only r < 0 in the first case and r ≤ 0 in the second, each of which is false. A
    /// multiplier of an absent bound is not accepted. Multiplying all multipliers by one positive number, which
    /// makes the sums integral, changes none of this.
    pub fn refuted_by(&self, farkas: &Farkas) -> bool {
        let lengths = [farkas.rows.len(), farkas.lower.len(), farkas.upper.len()];
        if lengths != [self.rows.len(), self.columns.len(), self.columns.len()] {
            return false;
        }
        let used = |multiplier: &BigRational| !multiplier.is_zero();
        let mut strict = false;
        // The inequalities used, as integral terms and right-hand side, and their multipliers.
        let mut sum: Vec<(Vec<(usize, BigInt)>, BigInt)> = Vec::new();
        let mut multipliers = Vec::new();
        for (row, multiplier) in self.rows.iter().zip(&farkas.rows).filter(|(_, multiplier)| used(multiplier)) {
            if multiplier.is_negative() && row.relation != Relation::Equal {
                return false;
            }
            strict |= row.relation == Relation::Below;
            let (coefficients, rhs, unit) = row.integral();
            sum.push((row.terms.iter().map(|(column, _)| *column).zip(coefficients).collect(), rhs));
            multipliers.push(multiplier / unit);
        }
        for (j, bounds) in self.columns.iter().enumerate() {
            let ends = [(&farkas.lower[j], &bounds.lower, -1), (&farkas.upper[j], &bounds.upper, 1)];
            for (multiplier, bound, sign) in ends.into_iter().filter(|(multiplier, ..)| used(multiplier)) {
                let (Some(bound), true) = (bound, multiplier.is_positive()) else { return false };
                sum.push((vec![(j, bound.denom() * sign)], bound.numer() * sign));
                multipliers.push(multiplier / bound.denom());
            }
        }
        let mut columns = vec![BigInt::zero(); self.columns.len()];
        let mut total = BigInt::zero();
        for ((terms, rhs), multiplier) in sum.iter().zip(integral(&multipliers).0) {
            terms.iter().for_each(|(column, c)| columns[*column] += c * &multiplier);
            total += rhs * &multiplier;
        }
        columns.iter().all(Zero::is_zero) && (total.is_negative() || total.is_zero() && strict)
    }
}

impl Bounds {
    fn contain(&self, x: &BigRational) -> bool {
        self.lower.as_ref().is_none_or(|lower| lower <= x) && self.upper.as_ref().is_none_or(|upper| x <= upper)
    }
}

impl Row {
    /// A row of floating-point numbers, taken exactly; `None` if one of them is not finite.
    pub fn from_f64(terms: &[(usize, f64)], relation: Relation, rhs: f64) -> Option<Self> {
        let terms = terms.iter().map(|(column, c)| Some((*column, exact(*c)?))).collect::<Option<_>>()?;
        Some(Row { terms, relation, rhs: exact(rhs)? })
    }

    /// The coefficients and the right-hand side times the positive integer that makes them integral, and that.
    fn integral(&self) -> (Vec<BigInt>, BigInt, BigInt) {
        let all: Vec<_> = self.terms.iter().map(|(_, c)| c.clone()).chain([self.rhs.clone()]).collect();
        let (mut all, unit) = integral(&all);
        let rhs = all.pop().expect("the right-hand side comes last");
        (all, rhs, unit)
    }
}

/// `values` times the least positive integer that makes them integral, and that integer.
fn integral(values: &[BigRational]) -> (Vec<BigInt>, BigInt) {
    let unit = values.iter().fold(BigInt::one(), |unit, value| unit.lcm(value.denom()));
    (values.iter().map(|value| value.numer() * (&unit / value.denom())).collect(), unit)
}
