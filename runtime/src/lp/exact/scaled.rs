//! The system in integers: column j counted in units 1/`unit` so that its bounds are integral, each row multiplied
//! by a positive number so that it is. Variables are numbered columns first, then the slacks of the rows.

use super::system::{Bounds, Farkas, Relation, System};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::collections::BTreeMap;

/// `real` + `infinitesimal`·δ for a δ smaller than any positive real; the order of the fields is that of the values.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Value {
    pub real: BigInt,
    pub infinitesimal: BigInt,
}

impl Value {
    pub fn scaled(&self, factor: &BigInt) -> Value {
        Value { real: &self.real * factor, infinitesimal: &self.infinitesimal * factor }
    }

    pub fn add_product(&mut self, factor: &BigInt, value: &Value) {
        self.real += factor * &value.real;
        if !value.infinitesimal.is_zero() {
            self.infinitesimal += factor * &value.infinitesimal;
        }
    }
}

/// A variable's bounds.
#[derive(Clone, Debug, Default)]
pub(super) struct Interval {
    pub lower: Option<Value>,
    pub upper: Option<Value>,
}

/// The columns' values at a basis, over one positive denominator.
pub(super) struct Vertex {
    pub numerators: Vec<Value>,
    pub denominator: BigInt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Lower,
    Upper,
}

/// Positive multipliers of bounds of variables, which contradict each other when added up.
pub(super) type Conflict = Vec<(usize, Side, BigInt)>;

pub(super) struct Scaled {
    /// Integral coefficients of the columns, sorted, none zero; the slack of a row is this sum.
    pub rows: Vec<Vec<(usize, BigInt)>>,
    /// Of the columns, then of the slacks.
    pub intervals: Vec<Interval>,
    /// log₂ of a variable's size here when columns are of size 1 as given; what heuristics weigh with.
    pub magnitudes: Vec<f64>,
    /// An integral column is the given one times this.
    units: Vec<BigInt>,
    /// An integral row is the given one times this.
    factors: Vec<BigRational>,
}

impl Scaled {
    pub fn new(system: &System) -> Self {
        let denominator = |bound: &Option<BigRational>| bound.as_ref().map_or_else(BigInt::one, |b| b.denom().clone());
        let unit = |bounds: &Bounds| denominator(&bounds.lower).lcm(&denominator(&bounds.upper));
        let units: Vec<_> = system.columns.iter().map(unit).collect();
        let integral = |bound: &Option<BigRational>, unit: &BigInt| {
            bound.as_ref().map(|b| Value { real: b.numer() * (unit / b.denom()), ..Value::default() })
        };
        let interval = |(bounds, unit): (&Bounds, &BigInt)| Interval {
            lower: integral(&bounds.lower, unit),
            upper: integral(&bounds.upper, unit),
        };
        let intervals = system.columns.iter().zip(&units).map(interval).collect();
        let magnitudes = units.iter().map(log2).collect();
        let mut scaled = Scaled { rows: Vec::new(), intervals, magnitudes, units, factors: Vec::new() };
        for row in &system.rows {
            let mut terms: BTreeMap<usize, BigRational> = BTreeMap::new();
            for (column, coefficient) in &row.terms {
                assert!(*column < scaled.columns(), "a row names column {column} of {}", scaled.columns());
                *terms.entry(*column).or_default() += coefficient / &scaled.units[*column];
            }
            terms.retain(|_, coefficient| !coefficient.is_zero());
            scaled.push_row(&terms, row.relation, &row.rhs);
        }
        scaled
    }

    /// Appends the row times the positive number that leaves `terms` and `rhs` coprime integers.
    fn push_row(&mut self, terms: &BTreeMap<usize, BigRational>, relation: Relation, rhs: &BigRational) {
        let all = || terms.values().chain([rhs]);
        let denominators = all().fold(BigInt::one(), |lcm, value| lcm.lcm(value.denom()));
        let numerator = |value: &BigRational| value.numer() * (&denominators / value.denom());
        let content = all().fold(BigInt::zero(), |gcd, value| gcd.gcd(&numerator(value)));
        let factor = BigRational::new(denominators.clone(), content.max(BigInt::one()));
        let integer = |value: &BigRational| (value * &factor).to_integer();
        let row: Vec<_> = terms.iter().map(|(column, value)| (*column, integer(value))).collect();
        self.magnitudes.push(row.iter().map(|(column, c)| log2(c) + self.magnitudes[*column]).fold(0.0, f64::max));
        self.rows.push(row);
        let bound = |infinitesimal: i32| Some(Value { real: integer(rhs), infinitesimal: infinitesimal.into() });
        self.intervals.push(match relation {
            Relation::AtMost => Interval { lower: None, upper: bound(0) },
            Relation::Below => Interval { lower: None, upper: bound(-1) },
            Relation::Equal => Interval { lower: bound(0), upper: bound(0) },
        });
        self.factors.push(factor);
    }

    pub fn columns(&self) -> usize {
        self.units.len()
    }

    /// The value of slack number `row` at `vertex`, times the vertex's denominator.
    pub fn slack(&self, row: usize, vertex: &Vertex) -> Value {
        let mut sum = Value::default();
        for (column, coefficient) in &self.rows[row] {
            sum.add_product(coefficient, &vertex.numerators[*column]);
        }
        sum
    }

    /// The point of the given system at a feasible `vertex`, with a real number for δ.
    pub fn unscale_point(&self, vertex: &Vertex) -> Vec<BigRational> {
        let delta = self.delta(vertex);
        let point = |(value, unit): (&Value, &BigInt)| {
            let real = BigRational::from_integer(value.real.clone());
            let infinitesimal = BigRational::from_integer(value.infinitesimal.clone());
            (real + infinitesimal * &delta) / (&vertex.denominator * unit)
        };
        vertex.numerators.iter().zip(&self.units).map(point).collect()
    }

    /// A positive δ small enough for every bound: where (a, p) ≤ (b, q) as δ-values, a + pδ ≤ b + qδ as reals needs
    /// δ ≤ (b − a)/(p − q) if p > q, and nothing otherwise.
    fn delta(&self, vertex: &Vertex) -> BigRational {
        let slacks = (0..self.rows.len()).map(|row| self.slack(row, vertex));
        let values = vertex.numerators.iter().cloned().chain(slacks);
        let mut delta = BigRational::one();
        let mut limit = |small: &Value, large: &Value| {
            let rate = &small.infinitesimal - &large.infinitesimal;
            if rate.is_positive() {
                delta = delta.clone().min(BigRational::new(&large.real - &small.real, rate));
            }
        };
        for (value, interval) in values.zip(&self.intervals) {
            if let Some(lower) = &interval.lower {
                limit(&lower.scaled(&vertex.denominator), &value);
            }
            if let Some(upper) = &interval.upper {
                limit(&value, &upper.scaled(&vertex.denominator));
            }
        }
        delta
    }

    /// The same contradiction in terms of the given rows and bounds.
    pub fn unscale_conflict(&self, conflict: &Conflict) -> Farkas {
        let zeros = |count| vec![BigRational::zero(); count];
        let columns = self.columns();
        let mut farkas = Farkas { rows: zeros(self.rows.len()), lower: zeros(columns), upper: zeros(columns) };
        for (variable, side, multiplier) in conflict {
            let multiplier = BigRational::from_integer(multiplier.clone());
            match (variable.checked_sub(columns), side) {
                (None, Side::Lower) => farkas.lower[*variable] += multiplier * &self.units[*variable],
                (None, Side::Upper) => farkas.upper[*variable] += multiplier * &self.units[*variable],
                (Some(row), Side::Lower) => farkas.rows[row] -= multiplier * &self.factors[row],
                (Some(row), Side::Upper) => farkas.rows[row] += multiplier * &self.factors[row],
            }
        }
        farkas
    }
}

/// log₂|`value`| to about 60 bits, −∞ for zero.
pub(super) fn log2(value: &BigInt) -> f64 {
    let shift = value.bits().saturating_sub(60);
    (value.abs() >> shift).to_f64().map_or(f64::INFINITY, f64::log2) + shift as f64
}
