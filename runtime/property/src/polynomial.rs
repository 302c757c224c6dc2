//! Polynomials of degree at most two over the variables of a property: what the terms of a formula
//! evaluate to.
//!
//! Sums are only collected; like terms are merged once, in [`Polynomial::merge`], so that reading a
//! sum takes time linear in its length. Every limit is on work that a short text could ask for.

use super::Decimal;
use super::affine::{Affine, Term};
use super::quadratic::{Product, Variable};

/// The most pairs of variables that one product of two sums may give.
const MAX_PAIRS: usize = 40_000;

#[derive(Clone, Debug)]
pub(super) struct Polynomial {
    constant: Decimal,
    linear: Vec<(Variable, Decimal)>,
    quadratic: Vec<((Variable, Variable), Decimal)>,
}

/// Why a product is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// Degree three or more.
    Degree,
    /// More than `MAX_PAIRS` products of variables.
    Pairs,
    /// A constant beyond what exact arithmetic should be asked to carry.
    Digits,
}

impl Polynomial {
    pub(super) fn constant(value: Decimal) -> Self {
        Self { constant: value, linear: Vec::new(), quadratic: Vec::new() }
    }

    pub(super) fn variable(variable: Variable) -> Self {
        let linear = vec![(variable, Decimal::one())];
        Self { constant: Decimal::zero(), linear, quadratic: Vec::new() }
    }

    /// How many products of variables stand in it.
    pub(super) fn pairs(&self) -> usize {
        self.quadratic.len()
    }

    /// Appends the shorter to the longer, so a sum nested to either side stays linear in time.
    pub(super) fn add(&mut self, other: Polynomial) {
        self.constant += &other.constant;
        append(&mut self.linear, other.linear);
        append(&mut self.quadratic, other.quadratic);
    }

    pub(super) fn negate(&mut self) {
        for value in self.numbers_mut() {
            *value = -std::mem::replace(value, Decimal::zero());
        }
    }

    pub(super) fn multiply(mut self, mut other: Polynomial) -> Result<Self, Excess> {
        self.merge()?;
        other.merge()?;
        if other.is_constant() {
            return self.scale(&other.constant);
        }
        if self.is_constant() {
            return other.scale(&self.constant);
        }
        if self.pairs() + other.pairs() > 0 {
            return Err(Excess::Degree);
        }
        if self.linear.len().saturating_mul(other.linear.len()) > MAX_PAIRS {
            return Err(Excess::Pairs);
        }
        self.expand(other)
    }

    /// `(p + c)·(q + d) = p·q + d·p + c·(q + d)` for linear forms `p` and `q`.
    fn expand(self, other: Polynomial) -> Result<Self, Excess> {
        let quadratic = self
            .linear
            .iter()
            .flat_map(|(a, p)| other.linear.iter().map(move |(b, q)| ((*a.min(b), *a.max(b)), p * q)));
        let mut product = Self::constant(Decimal::zero());
        product.quadratic = quadratic.collect();
        let Self { constant, linear, .. } = self;
        let p = Self { constant: Decimal::zero(), linear, quadratic: Vec::new() };
        product.add(p.scale(&other.constant)?);
        product.add(other.scale(&constant)?);
        product.merge()?;
        Ok(product)
    }

    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut Decimal> {
        let linear = self.linear.iter_mut().map(|(_, coefficient)| coefficient);
        let quadratic = self.quadratic.iter_mut().map(|(_, coefficient)| coefficient);
        linear.chain(quadratic).chain([&mut self.constant])
    }

    fn is_constant(&self) -> bool {
        self.linear.is_empty() && self.quadratic.is_empty()
    }

    fn scale(mut self, factor: &Decimal) -> Result<Self, Excess> {
        if factor.is_one() {
            return Ok(self);
        }
        for value in self.numbers_mut() {
            *value = &*value * factor;
            if !value.is_moderate() {
                return Err(Excess::Digits);
            }
        }
        Ok(self)
    }

    /// Like terms added up, variables ascending, zero coefficients dropped.
    pub(super) fn merge(&mut self) -> Result<(), Excess> {
        merge_terms(&mut self.linear);
        merge_terms(&mut self.quadratic);
        if self.numbers_mut().all(|value| value.is_moderate()) { Ok(()) } else { Err(Excess::Digits) }
    }

    /// The products and the affine rest of a merged polynomial.
    pub(super) fn into_parts(self) -> (Vec<Product>, Affine) {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (variable, coefficient) in self.linear {
            let coefficient = coefficient.into();
            match variable {
                Variable::Input(index) => x.push(Term { index, coefficient }),
                Variable::Output(index) => y.push(Term { index, coefficient }),
            }
        }
        let product = |((a, b), q): (_, Decimal)| Product { a, b, coefficient: q.into() };
        let products = self.quadratic.into_iter().map(product).collect();
        (products, Affine { x, y, constant: self.constant.into() })
    }

    /// `(input, coefficient, constant)` if a merged polynomial is `coefficient·input + constant`.
    pub(super) fn as_single_input(&self) -> Option<(usize, &Decimal, &Decimal)> {
        match (&self.linear[..], self.pairs()) {
            ([(Variable::Input(input), coefficient)], 0) => Some((*input, coefficient, &self.constant)),
            _ => None,
        }
    }

    /// The value of a merged polynomial without variables.
    pub(super) fn as_constant(&self) -> Option<&Decimal> {
        self.is_constant().then_some(&self.constant)
    }
}

fn append<T>(long: &mut Vec<T>, mut other: Vec<T>) {
    if other.len() > long.len() {
        std::mem::swap(long, &mut other);
    }
    long.append(&mut other);
}

fn merge_terms<K: Ord + Copy>(terms: &mut Vec<(K, Decimal)>) {
    terms.sort_by_key(|(key, _)| *key);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += &next.1;
        }
        same
    });
    terms.retain(|(_, coefficient)| !coefficient.is_zero());
}
