//! The one bound, in integers: for any multipliers ν of the hidden neurons, with μ = Σ Wᵀν the coefficients that they leave,
//!
//! ```text
//!     f ≥ constant + Σ_k ( ν_k·b_k + Σ_j m_kj ) + min over the box of μ_inputs·x,
//!     m = min over z in [l, u] of μ·max(z, 0) − ν·z,
//! ```
//!
//! since f = constant + Σ ν·b + Σ (μ·max(z, 0) − ν·z) + μ_inputs·x identically. Products are of integers and exact. Where μ
//! has too many bits it is rounded down: an activation is not negative, so that makes the bound smaller. The coefficients of
//! inputs, which may be negative, are charged a unit times the largest input instead. Sums are rounded down.

use crate::{Dyadic, Fixed, Inequality, Refused, Region, Term, Total, Turn, UNIT, bits, shift_down, small};

/// Bits of coefficients after rounding: with 57 bits of a bound, thousands of products of both have room.
const BITS: u32 = 50;

/// A function to bound, times a factor above 0: multipliers of a stage's neurons and coefficients of inputs, integers in units of
/// 2^−exponent, and a constant in units of 2^−80.
pub struct Start {
    pub stage: usize,
    pub nu: Vec<(usize, i64)>,
    pub x: Vec<(usize, i64)>,
    pub constant: i128,
    pub exponent: i32,
    pub factor: i64,
}

impl Start {
    /// A side of a neuron: itself for 0, its negative for 1.
    pub fn side(stage: usize, neuron: usize, side: usize) -> Start {
        let sign = if side == 0 { 1 } else { -1 };
        Start { stage, nu: vec![(neuron, sign)], x: vec![], constant: 0, exponent: 0, factor: 1 }
    }
}

/// What the multipliers are.
#[derive(Clone, Copy)]
pub enum Rule<'n> {
    /// 0, which leaves what intervals say.
    Interval,
    /// μ for neurons that are on, 0 for those that are off. Undecided, μ < 0: μu/(u − l). Undecided, μ ≥ 0: μ if u > −l, else 0.
    Adaptive,
    /// The same, but μu/(u − l) for every undecided neuron.
    Parallel,
    /// By a node: parts of μ ≥ 0 in 255ths, phases and their multipliers; undecided neurons that read inputs alone by the
    /// region's hull, if it has one.
    Node(&'n Node),
    /// Those that a node has for some neurons; of the others μ for those that are on, and 0.
    Given(&'n Node),
}

/// A phase that a node may have fixed, with its multiplier β ≥ 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    Open,
    Off(Dyadic),
    On(Dyadic),
}

/// The multipliers of a node, one entry for each hidden neuron.
pub struct Node {
    pub alpha: Vec<u8>,
    pub phase: Vec<Phase>,
    /// Multipliers themselves.
    pub given: Vec<Option<Dyadic>>,
}

impl Node {
    pub fn new(hidden: usize) -> Node {
        Node { alpha: vec![0; hidden], phase: vec![Phase::Open; hidden], given: vec![None; hidden] }
    }
}

/// Room for a row on its way to the inputs.
pub struct Bounder<'n> {
    pub net: &'n Fixed,
    /// A coefficient for each variable.
    mu: Vec<i128>,
    /// The exponents of the inputs' coefficients and of each stage's, once something was added.
    exponents: Vec<Option<i32>>,
    /// How often a coefficient of an input was rounded.
    rounded: i64,
    /// Of what was left of the last function the constant, and the exponent of the inputs' coefficients.
    left: (i128, i32),
    total: Total,
    /// The neurons that are to be spread over the inputs.
    turns: Vec<Turn>,
}

impl<'n> Bounder<'n> {
    pub fn new(net: &'n Fixed) -> Bounder<'n> {
        let (mu, exponents) = (vec![0; net.starts[net.last()]], vec![None; net.layers.len()]);
        Bounder { net, mu, exponents, rounded: 0, left: (0, 0), total: Total::default(), turns: vec![] }
    }

    /// A lower bound of a function on a region, in units of 2^−80.
    pub fn bound(&mut self, region: &Region, start: &Start, rule: Rule) -> Result<i128, Refused> {
        self.begin(region, start)?;
        for stage in (0..start.stage).rev() {
            if self.exponents[stage + 1].is_some() || matches!(rule, Rule::Node(_) | Rule::Given(_)) {
                self.relax(region, stage, rule, start.factor)?;
            }
        }
        let exponent = self.round_slopes(region)?;
        let (slopes, cube) = (&self.mu[..self.net.inputs], &region.cube);
        if let Some(hull) = region.hull.as_ref().filter(|_| !self.turns.is_empty()) {
            self.total.add(hull.spread(region, (slopes, exponent), &mut self.turns)?.0, UNIT)?;
        } else {
            // Slopes have at most 50 bits now, so that this is a product of 64-bit numbers.
            let end =
                |(a, (l, u)): (&i128, (&i64, &i64))| i128::from(*a as i64) * i128::from(if *a > 0 { *l } else { *u });
            let least = slopes.iter().zip(cube.lower.iter().zip(&cube.upper)).map(end).sum();
            self.total.add(least, exponent + cube.grid)?;
        }
        Ok(self.total.0)
    }

    /// That a function is at most 0, of what it reads.
    pub fn at_most_zero(&mut self, region: &Region, start: &Start) -> Result<Inequality, Refused> {
        self.begin(region, start)?;
        self.round_slopes(region)?;
        let mut all = self.form(start.stage);
        all.terms.retain(|term| term.weight != 0);
        Ok(all)
    }

    /// That what is left of the last function is at most 0: of inputs, with a term for each, and of the stages before one. Of inputs
    /// alone it is nowhere above the function, if no neuron was spread. Coefficients are rounded down, since activations are not
    /// negative.
    pub fn form(&self, stages: usize) -> Inequality {
        let mut all = Inequality { terms: vec![], constant: self.left.0 };
        for part in 0..=stages {
            let variables = if part == 0 { 0 } else { self.net.starts[part - 1] }..self.net.starts[part];
            let excess = excess(&self.mu[variables.clone()]);
            let own = if part == 0 { self.left.1 } else { self.exponents[part].unwrap_or(WHOLE) };
            let weight = |variable: usize| (self.mu[variable] >> excess) as i64;
            let term = |variable| Term { variable, weight: weight(variable), scale: own - excess as i32 };
            all.terms.extend(variables.map(term));
        }
        all
    }

    /// Replaces what a function begins with by what that reads.
    fn begin(&mut self, region: &Region, start: &Start) -> Result<(), Refused> {
        self.mu[..self.net.starts[start.stage]].fill(0);
        self.turns.clear();
        self.exponents.fill(None);
        (self.rounded, self.total) = (0, Total(start.constant));
        if !start.x.is_empty() {
            self.exponents[0] = Some(start.exponent + WHOLE);
            start.x.iter().for_each(|&(i, a)| self.mu[i] = i128::from(a) << WHOLE);
        }
        self.pass(region, start.stage, start.exponent, &start.nu)
    }

    /// Chooses the multipliers of a stage's neurons, adds their terms, and passes them on.
    fn relax(&mut self, region: &Region, stage: usize, rule: Rule, factor: i64) -> Result<(), Refused> {
        let variables = self.net.starts[stage]..self.net.starts[stage + 1];
        let hull = region.hull.as_ref().filter(|_| self.net.layers[stage].reads_inputs_alone);
        let kept = self.exponents[stage + 1].unwrap_or(WHOLE);
        let mut excess = excess(&self.mu[variables.clone()]).max(kept.saturating_sub(FINEST).max(0) as u32);
        if let Rule::Given(node) = rule {
            let given = node.given[self.net.first(stage)..self.net.first(stage + 1)].iter().flatten();
            let size = |given: &Dyadic| given.exponent + (bits(given.mantissa) + bits(factor.into())) as i32;
            excess = excess.max(given.map(|given| size(given) + kept - BITS as i32).max().unwrap_or(0).max(0) as u32);
        }
        let exponent = kept - excess as i32;
        let (mut sum, mut passed) = (0i128, vec![]);
        for (j, variable) in variables.enumerate() {
            let (neuron, mu) = (variable - self.net.inputs, (self.mu[variable] >> excess.min(127)) as i64);
            let (l, u) = region.of(neuron);
            let is_undecided = l < 0 && u > 0;
            let phase = if let Rule::Node(node) = rule { node.phase[neuron] } else { Phase::Open };
            let nu = match (rule, phase) {
                (Rule::Interval, _) => 0,
                _ if region.base == Some(stage) => 0,
                (_, Phase::On(beta)) => mu - scaled(beta, factor, exponent)?,
                (_, Phase::Off(beta)) => scaled(beta, factor, exponent)?,
                (Rule::Given(node), _) => match node.given[neuron] {
                    Some(given) => scaled(given, factor, exponent)?,
                    None if l >= 0 => mu,
                    None => 0,
                },
                (Rule::Node(node), _) if is_undecided && mu >= 0 => {
                    (i128::from(mu) * i128::from(node.alpha[neuron]) / 255) as i64
                }
                (Rule::Node(_), _) if is_undecided && hull.is_some() => {
                    self.turns.push(Turn { stage, j, times: -mu, exponent });
                    continue;
                }
                (Rule::Adaptive, _) if is_undecided && mu > 0 && u <= -l => 0,
                (Rule::Adaptive, _) if is_undecided && mu > 0 => mu,
                _ => decided_or_chord(mu, l, u),
            };
            sum = sum.checked_add(least_of(mu, nu, l, u)).ok_or_else(Refused::overflow)?;
            if nu != 0 {
                passed.push((j, nu));
            }
        }
        self.total.add(sum, exponent + region.grids[stage + 1])?;
        self.pass(region, stage, exponent, &passed)
    }

    /// Replaces multipliers of a stage's neurons, in units of 2^−exponent, by coefficients of what it reads.
    ///
    /// A product has at most 99 bits, so that sums of less than 2²⁸ have room.
    fn pass(&mut self, region: &Region, stage: usize, exponent: i32, nu: &[(usize, i64)]) -> Result<(), Refused> {
        let layer = &self.net.layers[stage];
        let added = layer.scale + exponent;
        let mut bias = 0i128;
        for &(j, nu) in nu {
            let (row, factor) = (&layer.rows[j], i128::from(nu));
            bias += factor * i128::from(if nu >= 0 { row.bias.0 } else { row.bias.1 });
            for part in &row.parts {
                let by = *self.exponents[part.source].get_or_insert(added) - added;
                for &(column, weight) in &part.terms {
                    let term = factor * i128::from(weight);
                    let term = if by == 0 { term } else { shift_down(term, by).ok_or_else(Refused::overflow)? };
                    self.mu[column as usize] += term;
                }
                self.rounded += i64::from(part.source == 0 && by != 0);
            }
            self.total.take(factor.abs(), region.off[self.net.first(stage) + j], exponent + UNIT)?;
        }
        self.total.add(bias, exponent + layer.bias_scale)
    }

    /// Rounds the coefficients of the inputs, and takes what that may cost; returns the exponent of their unit.
    fn round_slopes(&mut self, region: &Region) -> Result<i32, Refused> {
        let (cube, slopes) = (&region.cube, &mut self.mu[..self.net.inputs]);
        let (excess, exponent, size) = (excess(slopes), self.exponents[0].unwrap_or(WHOLE), cube.sizes());
        slopes.iter_mut().for_each(|slope| *slope >>= excess);
        self.total.add(-(size * i128::from(self.rounded)), exponent + cube.grid)?;
        let exponent = exponent - excess as i32;
        self.total.add(-(size * i128::from(excess > 0)), exponent + cube.grid)?;
        self.left = (self.total.0, exponent);
        Ok(exponent)
    }
}

/// Bits behind the point of coefficients that are whole numbers, and the most of those of activations: so that coefficients
/// which a stage has by several ways can be added.
const WHOLE: i32 = 44;
const FINEST: i32 = 60;

/// By how many bits the largest number is too long.
fn excess(numbers: &[i128]) -> u32 {
    let all_bits = numbers.iter().fold(0, |all, number| all | number.unsigned_abs());
    (128 - all_bits.leading_zeros()).saturating_sub(BITS)
}

/// A given number times a factor, in units of 2^−exponent, rounded down.
fn scaled(given: Dyadic, factor: i64, exponent: i32) -> Result<i64, Refused> {
    let product = given.mantissa * i128::from(factor);
    let scaled = shift_down(product, given.exponent.saturating_add(exponent));
    small(scaled.filter(|&value| bits(value) <= 56))
}

/// μ of a neuron that is on, 0 of one that is off, else μu/(u − l), rounded towards 0.
fn decided_or_chord(mu: i64, l: i64, u: i64) -> i64 {
    match (l >= 0, u <= 0) {
        (_, true) => 0,
        (true, false) => mu,
        (false, false) => (i128::from(mu) * i128::from(u) / (i128::from(u) - i128::from(l))) as i64,
    }
}

/// The least value of μ·max(z, 0) − ν·z for z in [l, u].
fn least_of(mu: i64, nu: i64, l: i64, u: i64) -> i128 {
    let at = |z: i64| i128::from(mu) * i128::from(z.max(0)) - i128::from(nu) * i128::from(z);
    let ends = if nu == 0 { at(if mu >= 0 { l } else { u }) } else { at(l).min(at(u)) };
    if l < 0 && u > 0 { ends.min(0) } else { ends }
}
