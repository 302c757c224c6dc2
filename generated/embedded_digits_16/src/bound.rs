//! Bounds of all neurons over a box of inputs, in float32 with rigorous error terms: what `certify` rests on.
//!
//! For any numbers ν, one a hidden neuron, with μ = Aᵀν the coefficients that they leave to the activations before them,
//!
//! ```text
//!     f ≥ Σ ν·b + Σ m + min over the box of μ·x,      m = min over z in [l, u] of μ·max(z, 0) − ν·z,
//! ```
//!
//! since −νz + νz cancels and every neuron's term is at least its minimum. What is proved covers two programs at once: the network in
//! real numbers, and `eval` in its declared float32 arithmetic. Both are stages z = A·h + b + δ, and δ is bounded for each neuron:
//! with u = 2⁻²⁴, a sum of n products and a bias is off by at most γ·S, γ = (n + 1)u/(1 − (n + 1)u), S = |b| + Σ|w|·max|h|, and by
//! 2⁻¹⁵⁰ for each product that underflows. `error` is κ·S and what underflow costs, for each neuron, where κ = 4·(N + 16)·u and N is the larger
//! of the numbers of terms of the stage's sums forward and backward (the generator refuses networks with N above 2¹⁵). One half of κ
//! covers δ, the other the rounding of what is computed here: of the same sum at the centre of a box, or of the coefficients μ, whose
//! error on the largest activations is at most γ·|ν|·S as well. What underflow may cost the coefficients is charged apart, with 2⁻¹²⁶ instead of 2⁻¹⁵⁰.
//!
//! Sums of bounds are off by at most γ times the sum of magnitudes, which is kept beside them. An infinity or a NaN anywhere makes
//! the magnitudes one, and every comparison with the result false: nothing is shown then.

#![allow(dead_code, reason = "not every network needs everything here")]

/// What products that underflow may cost a neuron: generous, since a unit in the last place of any number that matters is larger.
pub const TINY: f32 = f32::MIN_POSITIVE;
/// Magnitudes of a neuron's terms stay below this, so that `eval` cannot overflow in any order of its sums.
const LARGEST: f32 = 8.507_059e37;

/// A range of every input or activation: within the radius of the centre.
pub struct Ranges<const N: usize> {
    pub centre: [f32; N],
    pub radius: [f32; N],
}

impl<const N: usize> Ranges<N> {
    pub const fn new() -> Self {
        Ranges { centre: [0.0; N], radius: [0.0; N] }
    }

    /// Sets the range of one to what lies between two numbers.
    #[inline]
    fn set(&mut self, place: usize, low: f32, high: f32) {
        let centre = 0.5 * low + 0.5 * high;
        let (below, above) = (centre - low, high - centre);
        let radius = if above > below { above } else { below };
        if let (Some(c), Some(r)) = (self.centre.get_mut(place), self.radius.get_mut(place)) {
            // A NaN must not be lost in a comparison: `below` is one where either end is.
            (*c, *r) = (centre, (radius + 0.0 * below).next_up());
        }
    }

    /// The inputs within `eps` of a point and within a domain; whether the point is a finite one of the domain.
    pub fn around(&mut self, x: &[f32; N], eps: f32, domain: &[(f32, f32); N]) -> bool {
        let mut inside = eps >= 0.0 && eps <= f32::MAX;
        for (place, (&x, &(low, high))) in x.iter().zip(domain).enumerate() {
            inside &= low <= x && x <= high;
            let (below, above) = ((x - eps).next_down(), (x + eps).next_up());
            self.set(place, if below > low { below } else { low }, if above < high { above } else { high });
        }
        inside
    }

    /// What all of them may sum up to in magnitude.
    fn total(&self) -> f32 {
        let mut total = 0.0;
        for (c, r) in self.centre.iter().zip(&self.radius) {
            total += c.abs() + r;
        }
        total
    }
}

/// What is known of a stage's neurons.
pub struct Stage<const N: usize> {
    pub lower: [f32; N],
    pub upper: [f32; N],
    /// What a unit of each neuron's multiplier may cost.
    pub error: [f32; N],
    /// The magnitude of each neuron's terms.
    pub size: [f32; N],
}

impl<const N: usize> Stage<N> {
    pub const fn new() -> Self {
        Stage { lower: [0.0; N], upper: [0.0; N], error: [0.0; N], size: [0.0; N] }
    }

    /// Sets everything to what the biases alone give: `lower` holds the centre and `upper` the radius until [`Stage::close`].
    pub fn begin(&mut self, bias: &[f32; N]) {
        self.lower = *bias;
        self.upper.fill(0.0);
        self.error.fill(0.0);
        for (size, bias) in self.size.iter_mut().zip(bias) {
            *size = bias.abs();
        }
    }

    /// Adds what a map of given ranges contributes.
    #[inline]
    pub fn read<const I: usize>(&mut self, map: &impl super::map::Map<I, N>, from: &Ranges<I>) {
        let sums = self.lower.iter_mut().zip(&mut self.upper).zip(&mut self.size);
        for (neuron, ((centre, radius), size)) in sums.enumerate() {
            map.row(neuron, |i, w| {
                if let (Some(c), Some(r)) = (from.centre.get(i), from.radius.get(i)) {
                    *centre += w * c;
                    *radius += w.abs() * r;
                    *size += w.abs() * (c.abs() + r);
                }
            });
        }
    }

    /// Adds what the stored coefficients may differ from the model's by: so much in each weight and in the bias.
    pub fn rounded<const I: usize>(&mut self, from: &Ranges<I>, weight: &[f32; N], bias: &[f32; N]) {
        let total = from.total();
        for ((error, weight), bias) in self.error.iter_mut().zip(weight).zip(bias) {
            *error += weight * total + bias;
        }
    }

    /// Turns centres and radii into bounds, with the rounding of `eval` and of what was computed here; whether no sum of `eval` can
    /// overflow.
    pub fn close(&mut self, kappa: f32, terms: f32) -> bool {
        let mut finite = true;
        let ends = self.lower.iter_mut().zip(&mut self.upper).zip(self.error.iter_mut().zip(&self.size));
        for ((lower, upper), (error, size)) in ends {
            *error = (*error * (1.0 + kappa) + kappa * size) + terms * TINY;
            finite &= *size < LARGEST && *error < LARGEST;
            let (centre, radius) = (*lower, (*upper + *error) * (1.0 + kappa));
            *lower = (centre - radius).next_down();
            *upper = (centre + radius).next_up();
        }
        finite
    }

    /// Takes better bounds of a neuron.
    pub fn tighten(&mut self, neuron: usize, (lower, upper): (f32, f32)) {
        if let (Some(l), Some(u)) = (self.lower.get_mut(neuron), self.upper.get_mut(neuron)) {
            // Both hold, and a NaN is never larger.
            *l = if lower > *l { lower } else { *l };
            *u = if upper < *u { upper } else { *u };
        }
    }

    /// Whether a neuron takes both signs, for all that is known.
    pub fn is_undecided(&self, neuron: usize) -> bool {
        matches!((self.lower.get(neuron), self.upper.get(neuron)), (Some(&l), Some(&u)) if l < 0.0 && u > 0.0)
    }

    /// The ranges of the activations max(z, 0); returns what underflow may cost the coefficients of these.
    pub fn activations(&self, ranges: &mut Ranges<N>, terms: f32) -> f32 {
        for (neuron, (&l, &u)) in self.lower.iter().zip(&self.upper).enumerate() {
            // A NaN is kept.
            let (low, high) = (if l < 0.0 { 0.0 } else { l }, if u < 0.0 { 0.0 } else { u });
            ranges.set(neuron, low, high);
        }
        underflow(ranges, terms)
    }
}

/// What underflow may cost the coefficients of these activations or inputs, sums of so many terms.
pub fn underflow<const N: usize>(ranges: &Ranges<N>, terms: f32) -> f32 {
    terms * TINY * ranges.total()
}

/// How the multiplier of an undecided neuron is chosen.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// For μ ≥ 0 all or nothing, whichever leaves the smaller triangle: CROWN's rule.
    Adaptive,
    /// The slope of the chord, which serves both sides of a function: DeepZ's rule.
    Parallel,
}

/// A linear function on its way from the outputs to the inputs.
pub struct Sums {
    /// Of the function, and of its negative.
    low: f32,
    high: f32,
    /// The magnitudes of all terms.
    size: f32,
    /// What errors may cost.
    charge: f32,
}

impl Sums {
    /// A function that begins as a constant.
    pub fn new(constant: f32, charge: f32) -> Sums {
        Sums { low: constant, high: -constant, size: constant.abs(), charge }
    }

    /// Adds so many times a neuron, whose row of weights goes to the coefficients of what it reads.
    pub fn neuron<const N: usize>(&mut self, stage: &Stage<N>, bias: &[f32; N], neuron: usize, times: f32) {
        if let (Some(bias), Some(error)) = (bias.get(neuron), stage.error.get(neuron)) {
            self.term(times * bias);
            self.charge += times.abs() * error;
        }
    }

    #[inline]
    fn term(&mut self, term: f32) {
        self.low += term;
        self.high -= term;
        self.size += term.abs();
    }

    /// Replaces the coefficients μ of a stage's activations by multipliers ν of its neurons.
    pub fn relax<const N: usize>(&mut self, stage: &Stage<N>, bias: &[f32; N], mu: &mut [f32; N], rule: Rule) {
        let known = stage.lower.iter().zip(&stage.upper).zip(&stage.error).zip(bias);
        for (mu, (((&l, &u), &error), &bias)) in mu.iter_mut().zip(known) {
            let number = *mu;
            // An overflow must not be lost where the multiplier does not tell it.
            self.size += 0.0 * number;
            let nu = if u <= 0.0 {
                0.0
            } else if l >= 0.0 {
                number
            } else if number < 0.0 || rule == Rule::Parallel {
                number * (u / (u - l))
            } else if u > -l {
                number
            } else {
                0.0
            };
            if l < 0.0 && u > 0.0 {
                let (at_lower, at_upper) = (-nu * l, (number - nu) * u);
                self.low += least(at_lower, at_upper);
                self.high += least(-at_lower, -at_upper);
                self.size += at_lower.abs() + at_upper.abs();
            }
            self.term(nu * bias);
            self.charge += nu.abs() * error;
            *mu = nu;
        }
    }

    /// Bounds of the function over the box: a lower and an upper one.
    pub fn close<const N: usize>(mut self, mu: &[f32; N], inputs: &Ranges<N>, kappa: f32, underflow: f32) -> (f32, f32) {
        for (mu, (centre, radius)) in mu.iter().zip(inputs.centre.iter().zip(&inputs.radius)) {
            self.term(mu * centre);
            let reach = mu.abs() * radius;
            self.low -= reach;
            self.high -= reach;
            self.size += reach;
        }
        let error = ((self.charge + underflow) * (1.0 + kappa) + kappa * self.size) * (1.0 + kappa) + TINY;
        ((self.low - error).next_down(), -(self.high - error).next_down())
    }
}

/// The least of two numbers and 0; they are part of the magnitudes, which keep a NaN.
#[inline]
fn least(a: f32, b: f32) -> f32 {
    let least = if a < b { a } else { b };
    if least < 0.0 { least } else { 0.0 }
}
