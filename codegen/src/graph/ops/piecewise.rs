//! Piecewise linear operators of one value: Abs, LeakyRelu, PRelu, Clip, HardSigmoid.

use super::bilinear::row;
use super::elementwise::scaling;
use super::shape::{broadcast, broadcast_indices};
use super::{Reading, given};
use crate::affine::{Affine, Matrix};
use crate::approx::Approx;
use crate::graph::build::Site;
use crate::graph::{Op, Operand};
use std::cmp::Ordering;
use std::slice::from_ref;

/// A bound from here on is none: no float32 is beyond it, and older models have it as their default.
const NO_BOUND: f64 = f32::MAX as f64;

pub fn build(site: &mut Site, op: &Op, inputs: &[Operand]) -> Result<Operand, String> {
    let x = &inputs[0];
    let len = site.reading(x).len();
    match op {
        Op::Abs => leaky(site, x, &vec![-Approx::ONE; len]),
        Op::LeakyRelu { alpha } => leaky(site, x, &vec![Approx::exact(f64::from(*alpha)); len]),
        Op::PRelu => {
            let slopes = slopes(&site.reading(x), &site.reading(&inputs[1]))?;
            leaky(site, x, &slopes)
        }
        Op::Clip => {
            let readings: Vec<Reading> = inputs.iter().map(|operand| site.reading(operand)).collect();
            let (lower, upper) = (bound(&readings, 1)?, bound(&readings, 2)?);
            clip(site, x, lower, upper)
        }
        Op::HardSigmoid { alpha, beta } => {
            let (alpha, beta) = (Approx::exact(f64::from(*alpha)), Approx::exact(f64::from(*beta)));
            let reading = site.reading(x);
            let mut map = scaling(&reading, &(0..len).collect::<Vec<_>>(), |_| alpha);
            map.bias.iter_mut().for_each(|b| *b = *b + beta);
            let shape = reading.shape.to_vec();
            let line = site.affine("line", from_ref(x), shape, map)?;
            clip(site, &line, Some(Approx::exact(0.0)), Some(Approx::ONE))
        }
        _ => unreachable!("{} is not piecewise linear", op.name()),
    }
}

/// The slope of each entry of `x`, to which the constant broadcasts.
fn slopes(x: &Reading, slope: &Reading) -> Result<Vec<Approx>, String> {
    let tensor = slope.constant("slope")?;
    if broadcast(x.shape, slope.shape)? != x.shape {
        return Err(format!("its slope of shape {:?} does not broadcast to {:?}", slope.shape, x.shape));
    }
    Ok(broadcast_indices(slope.shape, x.shape).into_iter().map(|i| tensor.data[i]).collect())
}

/// `max(x, 0) + slope·min(x, 0)`, which is `slope·x + (1 − slope)·relu(x)` with one ReLU an entry.
fn leaky(site: &mut Site, x: &Operand, slopes: &[Approx]) -> Result<Operand, String> {
    let zero = Approx::exact(0.0);
    if let Operand::Constant(tensor) = x {
        let entry = |(v, &slope): (&Approx, &Approx)| v.max(zero) + slope * v.min(zero);
        return site.constant(tensor.shape.clone(), tensor.data.iter().zip(slopes).map(entry).collect());
    }
    if slopes.iter().all(|slope| *slope == zero) {
        return site.relu("", x);
    }
    let diagonal = |factor: &dyn Fn(Approx) -> Approx| Matrix {
        cols: slopes.len(),
        rows: slopes.iter().enumerate().map(|(i, &slope)| row([(i, factor(slope))].into_iter())).collect(),
    };
    let mut inputs = vec![x.clone()];
    let mut matrices = vec![diagonal(&|slope| slope)];
    if slopes.iter().any(|slope| *slope != Approx::ONE) {
        inputs.push(site.relu("positive part", x)?);
        matrices.push(diagonal(&|slope| Approx::ONE - slope));
    }
    let shape = site.reading(x).shape.to_vec();
    site.affine("", &inputs, shape, Affine { matrices, bias: vec![zero; slopes.len()] })
}

/// A bound of Clip, if it is given and is one.
fn bound(inputs: &[Reading], index: usize) -> Result<Option<Approx>, String> {
    let Some(reading) = given(inputs, index) else { return Ok(None) };
    let bound = reading.number(if index == 1 { "min" } else { "max" })?;
    let (is_lower, value) = (index == 1, bound.value);
    let is_none = if is_lower { value <= -NO_BOUND } else { value >= NO_BOUND };
    Ok((!is_none).then_some(bound))
}

/// `min(max(x, lower), upper)`.
fn clip(site: &mut Site, x: &Operand, lower: Option<Approx>, upper: Option<Approx>) -> Result<Operand, String> {
    let shape = site.reading(x).shape.to_vec();
    if let Operand::Constant(tensor) = x {
        let above = |v: Approx| lower.map_or(v, |lower| v.max(lower));
        let between = |v: &Approx| upper.map_or(above(*v), |upper| above(*v).min(upper));
        return site.constant(shape, tensor.data.iter().map(between).collect());
    }
    let one = Approx::ONE;
    match (lower, upper) {
        (None, None) => {
            let identity = Affine::identity(site.reading(x).len());
            site.affine("", from_ref(x), shape, identity)
        }
        (Some(lower), None) if lower.value == 0.0 && lower.radius == 0.0 => site.relu("", x),
        (Some(lower), None) => hinges(site, x, lower, &[Hinge { at: lower, side: one, slope: one }]),
        // This way round it reads nothing but the ReLU.
        (None, Some(upper)) => hinges(site, x, upper, &[Hinge { at: upper, side: -one, slope: -one }]),
        (Some(lower), Some(upper)) => match lower.compare(upper) {
            Some(Ordering::Less) => {
                let ends = [Hinge { at: lower, side: one, slope: one }, Hinge { at: upper, side: one, slope: -one }];
                hinges(site, x, lower, &ends)
            }
            Some(_) => {
                let len = site.reading(x).len();
                site.constant(shape, vec![upper; len])
            }
            None => Err("which of its bounds is the smaller one is lost in their rounding".into()),
        },
    }
}

/// `slope·relu(side·(x − at))`.
struct Hinge {
    at: Approx,
    side: Approx,
    slope: Approx,
}

/// `base` plus the hinges, each of every entry of `x`; their ReLUs are one node.
fn hinges(site: &mut Site, x: &Operand, base: Approx, hinges: &[Hinge]) -> Result<Operand, String> {
    let shape = site.reading(x).shape.to_vec();
    let len = site.reading(x).len();
    let rows = hinges.iter().flat_map(|hinge| (0..len).map(|i| vec![(i as u32, hinge.side)])).collect();
    let bias = hinges.iter().flat_map(|hinge| vec![-(hinge.side * hinge.at); len]).collect();
    let knees = Affine { matrices: vec![Matrix { cols: len, rows }], bias };
    let knees = site.affine("knees", from_ref(x), vec![len * hinges.len()], knees)?;
    let bent = site.relu("bent", &knees)?;
    let entry = |i: usize| (0..hinges.len()).map(|k| ((k * len + i) as u32, hinges[k].slope)).collect();
    let matrices = vec![Matrix { cols: len * hinges.len(), rows: (0..len).map(entry).collect() }];
    site.affine("", &[bent], shape, Affine { matrices, bias: vec![base; len] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Function, Graph, GraphBuilder, Tensor};

    fn scalar(value: f64) -> Operand {
        Tensor { shape: vec![], data: vec![Approx::exact(value)] }.into()
    }

    /// The graph of one operator on two entries.
    fn graph(op: &Op, more: &[Operand]) -> Result<Graph, String> {
        let (mut builder, x) = GraphBuilder::new("x", vec![2])?;
        let y = builder.node("n", op, &[&[x], more].concat(), "y")?;
        builder.finish(&y)
    }

    fn relus(graph: &Graph) -> usize {
        let relus = graph.nodes.iter().filter(|node| matches!(node.function, Function::Relu));
        relus.map(|node| graph.values[node.output].entries()).sum()
    }

    #[test]
    fn each_bound_takes_one_relu_an_entry() {
        let left_out = || Operand::from(Tensor { shape: vec![0], data: vec![] });
        let clip = |lower: Operand, upper: Operand| graph(&Op::Clip, &[lower, upper]);
        assert_eq!(relus(&clip(scalar(-1.0), scalar(6.0)).unwrap()), 4);
        assert_eq!(relus(&clip(scalar(-1.0), left_out()).unwrap()), 2);
        assert_eq!(relus(&clip(left_out(), scalar(6.0)).unwrap()), 2);
        assert_eq!(clip(scalar(0.0), scalar(f64::from(f32::MAX))).unwrap().nodes.len(), 1, "a plain ReLU");
        assert!(clip(scalar(2.0), scalar(1.0)).unwrap_err().contains("depend"), "a constant");
        let near = Tensor { shape: vec![], data: vec![Approx { value: 1.0, radius: 0.5 }] };
        assert!(clip(scalar(1.25), near.into()).unwrap_err().contains("rounding"));
    }

    #[test]
    fn the_remainder_of_a_slope_carries_its_rounding() {
        let tiny = Op::LeakyRelu { alpha: 1e-20 };
        let graph = graph(&tiny, &[]).unwrap();
        let Function::Affine(map) = &graph.nodes[1].function else { panic!("not affine") };
        assert!(map.matrices[1].rows[0][0].1.radius > 0.0);
        assert!(map.matrices[0].rows[0][0].1.radius == 0.0);
    }

    #[test]
    fn slopes_of_zero_and_one_are_simple() {
        assert_eq!(graph(&Op::LeakyRelu { alpha: 0.0 }, &[]).unwrap().nodes.len(), 1);
        assert_eq!(relus(&graph(&Op::LeakyRelu { alpha: 1.0 }, &[]).unwrap()), 0);
        assert_eq!(relus(&graph(&Op::Abs, &[]).unwrap()), 2);
    }
}
