//! The float32 program that evaluates a network, as the network that a proof is about.
//!
//! The program sums up, for each neuron of each stage, the bias and the products of the stored float32 coefficients with what
//! it has computed before. So with h̃ its own activations
//!
//! ```text
//!     z̃_k = Σ over the edges (s → k) of A_ks·h̃_s + b_k + δ_k,     h̃_k = max(z̃_k, 0),
//! ```
//!
//! where |δ_k| is at most what [`Roundoff`](pg_core::rounding::Roundoff) says of the sum's terms, in any order, fused or not,
//! unless something overflows. A maximum is exact. This is the normal form with an error of each neuron, and every bound pays for
//! such errors: a bound over a box of real inputs covers the program at all float32 inputs of the box.
//!
//! That nothing overflows is shown apart, for every box of the property: [`Program::excludes_overflow`].

use crate::bounds::{Bounder, Bounds, Relaxation, Worth};
use pg_core::{Model, Network, Shape, Source, Stage, Tensor};

pub struct Program<'n> {
    network: &'n dyn Network,
    stages: Vec<Stage<'n>>,
}

impl<'n> Program<'n> {
    pub fn of(network: &'n dyn Network) -> Program<'n> {
        let stages = network.shape().stages.iter().map(Stage::in_float32).collect();
        Program { network, stages }
    }

    /// Whether no sum on the way from an input of the box to the outputs can overflow, as far as bounds tell; worth says whether to
    /// bound by more than intervals.
    ///
    /// By induction over the stages: bounds of a stage's neurons hold if nothing before them overflows, and then bound the terms
    /// of the next stages' sums.
    pub fn excludes_overflow(&self, (lower, upper): (Vec<f64>, Vec<f64>), is_worth: Worth) -> bool {
        let shape = self.shape();
        let size = |(l, u): (&f64, &f64)| l.abs().max(u.abs());
        let inputs: Vec<f64> = lower.iter().zip(&upper).map(size).collect();
        let rules = &[Relaxation::Adaptive, Relaxation::Parallel];
        let Ok((_, bounds)) = Bounder::new(shape, lower, upper, None, rules, false, is_worth) else { return false };
        (0..shape.stages.len()).all(|stage| stage_excludes_overflow(&shape, stage, &inputs, &bounds))
    }
}

fn stage_excludes_overflow(shape: &Shape, stage: usize, inputs: &[f64], bounds: &Bounds) -> bool {
    let data = &shape.stages[stage];
    let roundoff = data.roundoff.expect("a stage of a program");
    let largest = |source: Source, i: usize| match source {
        Source::Input => inputs[i],
        Source::Stage(s) => bounds.upper(s)[i].max(0.0),
    };
    (0..data.width()).all(|j| {
        let products: f64 = data.terms(j).map(|(from, i, w)| f64::from(w).abs() * largest(from, i)).sum();
        roundoff.excludes_overflow(f64::from(data.bias[j]).abs() + products)
    })
}

impl Network for Program<'_> {
    fn model(&self) -> Model<'_> {
        self.network.model()
    }

    fn shape(&self) -> Shape<'_> {
        Shape { inputs: self.network.inputs(), stages: &self.stages }
    }

    fn forward(&self, x: &[f32], y: &mut [f32]) {
        self.network.forward(x, y);
    }

    fn input_tensor(&self, number: usize) -> Option<Tensor<'_>> {
        self.network.input_tensor(number)
    }

    fn output_tensor(&self, number: usize) -> Option<Tensor<'_>> {
        self.network.output_tensor(number)
    }
}
