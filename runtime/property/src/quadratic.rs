//! Convex quadratic constraints `Σ qᵢⱼ·vᵢ·vⱼ + affine ≤ 0` over inputs and outputs.
//!
//! Convexity is what makes outer linearisation sound: at any point the tangent of the left side lies
//! below it. It is therefore decided exactly when the constraint is built, never assumed.

use std::collections::BTreeMap;

use num_bigint::BigInt;

use super::Decimal;
use super::affine::{Affine, Enclosed, Scope};
use super::convexity::{Semidefinite, is_positive_semidefinite};
use super::disjunct::Violation;
use super::interval::Interval;

/// A variable of a property. Inputs order before outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    Input(usize),
    Output(usize),
}

/// `coefficient · a · b` with `a ≤ b`. The coefficient is that of the product as a whole: `2·Qₐᵦ`
/// of the symmetric matrix where `a ≠ b`.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    pub a: Variable,
    pub b: Variable,
    pub coefficient: Enclosed,
}

/// The constraint `Σ products + affine ≤ 0`, or `< 0` if strict, with a convex left side.
#[derive(Clone, Debug, PartialEq)]
pub struct Quadratic {
    products: Vec<Product>,
    affine: Affine,
    strict: bool,
}

/// Why a quadratic constraint is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    NotConvex,
    TooLarge,
}

impl Quadratic {
    pub(super) fn new(products: Vec<Product>, affine: Affine, strict: bool) -> Result<Self, Refused> {
        match convexity(&products) {
            Semidefinite::Yes => Ok(Self { products, affine, strict }),
            Semidefinite::No => Err(Refused::NotConvex),
            Semidefinite::TooLarge => Err(Refused::TooLarge),
        }
    }

    /// The products of the quadratic part, each pair of variables once.
    pub fn products(&self) -> &[Product] {
        &self.products
    }

    pub fn affine(&self) -> &Affine {
        &self.affine
    }

    pub fn strict(&self) -> bool {
        self.strict
    }

    pub fn scope(&self) -> Scope {
        let variables = || self.products.iter().flat_map(|product| [product.a, product.b]);
        let is_input = |variable: Variable| matches!(variable, Variable::Input(_));
        Scope::of(
            !self.affine.x.is_empty() || variables().any(is_input),
            !self.affine.y.is_empty() || !variables().all(is_input),
        )
    }

    /// The constraint at a point of inputs and over a box of outputs. Products are enclosed one by
    /// one, so the range may be too wide and then decides nothing.
    pub(super) fn decide(&self, x: &[f32], y: &[Option<Interval>]) -> Violation {
        Violation::of_range(self.range(x, y), self.strict)
    }

    fn range(&self, x: &[f32], y: &[Option<Interval>]) -> Option<Interval> {
        let value = |variable| match variable {
            Variable::Input(i) => Decimal::from_f32(x[i]).map(Interval::point),
            Variable::Output(j) => y[j].clone(),
        };
        let mut sum = self.affine.range(x, y)?;
        for Product { a, b, coefficient } in &self.products {
            let product = if a == b { value(*a)?.square() } else { value(*a)?.product(&value(*b)?) };
            sum.add(&product.scaled(&coefficient.exact));
        }
        Some(sum)
    }
}

/// Whether the quadratic form of the products is convex: whether `2Q`, scaled to integers by a power
/// of ten, is positive semidefinite.
fn convexity(products: &[Product]) -> Semidefinite {
    let variables = products.iter().flat_map(|product| [product.a, product.b]);
    let mut numbers: BTreeMap<Variable, usize> = variables.map(|variable| (variable, 0)).collect();
    for (number, slot) in numbers.values_mut().enumerate() {
        *slot = number;
    }
    let digits = products.iter().map(|p| p.coefficient.exact.fraction_digits()).max().unwrap_or(0);
    let entries = products.iter().map(|Product { a, b, coefficient }| {
        let entry: BigInt = coefficient.exact.scaled_to_integer(digits);
        (numbers[a], numbers[b], if a == b { entry * 2 } else { entry })
    });
    is_positive_semidefinite(numbers.len(), &entries.collect::<Vec<_>>())
}
