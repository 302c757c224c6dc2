//! One pass of CROWN in float64 over a whole network: bounds of every neuron by a row of its own, then the outputs' differences.

use pg_core::bound::{Known, Relaxation, Rows, slop, underflow};
use pg_core::rounding::Sum;
use pg_core::{Shape, Source};

/// Bounds of all neurons so far.
struct Bounds<'s> {
    shape: Shape<'s>,
    input: (&'s [f64], &'s [f64]),
    lower: Vec<f64>,
    upper: Vec<f64>,
    slop: Vec<f64>,
    underflow: f64,
}

impl Bounds<'_> {
    /// A lower bound of a sum of a stage's neurons with coefficients.
    fn row(&self, stage: usize, terms: &[(usize, f64)]) -> f64 {
        let (shape, data) = (self.shape, &self.shape.stages[stage]);
        let mut mu = vec![0.0; shape.room()];
        let mut sum = Sum::new(0.0, 0.0);
        for &(neuron, times) in terms {
            for edge in data.edges {
                let place = shape.place(edge.from);
                edge.map.row(neuron).for_each(|(i, w)| mu[place + i] += times * f64::from(w));
            }
            let bias = times * f64::from(data.bias[neuron]);
            sum.add(bias, bias.abs(), 1);
            sum.charge(times.abs() * self.slop[shape.start(stage) + neuron], 1);
        }
        let known = Known {
            shape,
            input: self.input,
            lower: &self.lower,
            upper: &self.upper,
            slop: &self.slop,
            underflow: self.underflow,
        };
        let (mut sums, mut found) = ([sum], [0.0]);
        let rows = Rows { mu: &mut mu, sums: &mut sums };
        known.lower_bounds(stage, rows, None, |_, _, mu, l, u| Relaxation::Adaptive.multiplier(mu, l, u), &mut found);
        found[0]
    }
}

/// Whether a class's output is above all others on a box.
pub fn shows(shape: &Shape, input: (&[f64], &[f64]), class: usize) -> bool {
    let neurons = shape.neurons();
    let mut largest = vec![0.0; shape.room()];
    for (i, (l, u)) in input.0.iter().zip(input.1).enumerate() {
        largest[i] = l.abs().max(u.abs());
    }
    let (lower, upper, slops) = (vec![0.0; neurons], vec![0.0; neurons], vec![0.0; neurons]);
    let first = underflow(shape, Source::Input, &largest[..shape.inputs]);
    let mut bounds = Bounds { shape: *shape, input, lower, upper, slop: slops, underflow: first };
    for (k, stage) in shape.stages.iter().enumerate() {
        let (start, width) = (shape.start(k), stage.width());
        let of = |source: Source| &largest[shape.place(source)..][..shape.width(source)];
        slop(shape, k, of, &mut bounds.slop[start..start + width]);
        if k == shape.last() {
            break;
        }
        for j in 0..width {
            (bounds.lower[start + j], bounds.upper[start + j]) =
                (bounds.row(k, &[(j, 1.0)]), -bounds.row(k, &[(j, -1.0)]));
        }
        let place = shape.place(Source::Stage(k));
        for j in 0..width {
            largest[place + j] = bounds.upper[start + j].max(0.0);
        }
        bounds.underflow += underflow(shape, Source::Stage(k), &largest[place..place + width]);
    }
    let last = shape.last();
    (0..shape.outputs()).all(|other| other == class || bounds.row(last, &[(class, 1.0), (other, -1.0)]) > 0.0)
}
