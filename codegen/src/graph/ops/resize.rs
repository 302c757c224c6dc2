//! Resize and Upsample: each output entry is the nearest input entry, or lies between its neighbours along every axis.
//!
//! Where the model's float32 arithmetic may round a coordinate to another entry than exact arithmetic does, the nearest
//! entry is not known, and the model is refused.

use super::bilinear::row;
use super::constant::{decided_ceil, decided_floor};
use super::shape::{axes, checked_len, strides};
use super::{Reading, given};
use crate::affine::{Affine, MAX_ENTRIES, Matrix, too_many_entries};
use crate::approx::Approx;

#[derive(Clone, Debug, PartialEq)]
pub struct Resize {
    pub interpolation: Interpolation,
    pub coordinates: Coordinates,
    /// The axes that scales and sizes are of, if not all.
    pub axes: Option<Vec<i64>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Interpolation {
    Nearest(Rounding),
    Linear,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rounding {
    HalfDown,
    HalfUp,
    Floor,
    Ceil,
}

/// Where an output entry lies among the input's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coordinates {
    Asymmetric,
    HalfPixel,
    /// As half a pixel, but a single output entry is the first input entry.
    PytorchHalfPixel,
    AlignCorners,
}

/// An axis's output entries, each as coefficients of input entries.
type Weights = Vec<Vec<(usize, Approx)>>;

/// Inputs: the tensor, a region that is not used, scales, sizes; or the tensor and scales, as in opset 10.
pub fn resize(resize: &Resize, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let x = &inputs[0];
    if x.shape.contains(&0) {
        return Err(format!("its input of shape {:?} is empty", x.shape));
    }
    let chosen = match &resize.axes {
        Some(given) => axes(given, x.shape.len())?,
        None => (0..x.shape.len()).collect(),
    };
    let mut scaled: Vec<(usize, Approx)> = x.shape.iter().map(|&d| (d, Approx::ONE)).collect();
    for (a, found) in chosen.iter().zip(scales(inputs, &chosen)?) {
        scaled[*a] = found;
    }
    let shape: Vec<usize> = scaled.iter().map(|s| s.0).collect();
    let len = checked_len(&shape)?;
    let weights = (0..shape.len()).map(|a| weights(resize, x.shape[a], scaled[a]));
    let weights = weights.collect::<Result<Vec<Weights>, _>>()?;
    let entries = |axis: &Weights| axis.iter().map(Vec::len).sum::<usize>();
    if weights.iter().fold(1usize, |total, axis| total.saturating_mul(entries(axis))) > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    let rows = rows(&weights, &strides(x.shape)).into_iter();
    let mut map = Affine { matrices: vec![], bias: vec![Approx::exact(0.0); len] };
    match x.constant {
        Some(tensor) => map.bias = rows.map(|row| combined(&row, &tensor.data)).collect(),
        None => map.matrices.push(Matrix { cols: x.len(), rows: rows.map(|r| row(r.into_iter())).collect() }),
    }
    Ok((shape, map))
}

fn combined(row: &[(usize, Approx)], data: &[Approx]) -> Approx {
    row.iter().map(|&(i, weight)| weight * data[i]).reduce(|a, b| a + b).unwrap_or(Approx::exact(0.0))
}

/// The size and scale of each chosen axis of the output, from whichever of the two is given.
fn scales(inputs: &[Reading], chosen: &[usize]) -> Result<Vec<(usize, Approx)>, String> {
    let size_of = |a: usize| Approx::exact(inputs[0].shape[a] as f64);
    let by_scale = given(inputs, if inputs.len() == 2 { 1 } else { 2 });
    let found: Vec<(usize, Approx)> = match (by_scale, given(inputs, 3)) {
        (Some(scales), _) => {
            let scales = scales.constant("scales")?.data.iter().zip(chosen);
            let size = |(&scale, &a): (&Approx, &usize)| {
                let size = decided_floor(size_of(a) * scale)?;
                if scale.value <= 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&size) {
                    return Err(format!("its scale {} is beyond reason", scale.value));
                }
                Ok((size as usize, scale))
            };
            scales.map(size).collect::<Result<_, String>>()?
        }
        (None, Some(sizes)) => {
            let sizes = sizes.sizes("sizes")?.into_iter().zip(chosen);
            sizes.map(|(size, &a)| (size, Approx::exact(size as f64) / size_of(a))).collect()
        }
        (None, None) => return Err("it has neither scales nor sizes".into()),
    };
    let all = given(inputs, 3).or(by_scale).map_or(0, Reading::len);
    if found.len() == chosen.len() && all == chosen.len() {
        Ok(found)
    } else {
        Err(format!("it has {all} scales or sizes for {} axes", chosen.len()))
    }
}

fn weights(resize: &Resize, inputs: usize, (outputs, scale): (usize, Approx)) -> Result<Weights, String> {
    let last = inputs - 1;
    let entry = |o: usize| {
        if outputs == inputs && scale == Approx::ONE {
            return Ok(vec![(o, Approx::ONE)]);
        }
        let at = coordinate(resize.coordinates, o, inputs, outputs, scale);
        match resize.interpolation {
            Interpolation::Nearest(rounding) => {
                Ok(vec![(nearest(at, rounding)?.clamp(0.0, last as f64) as usize, Approx::ONE)])
            }
            Interpolation::Linear => between(at, last),
        }
    };
    (0..outputs).map(entry).collect()
}

fn coordinate(coordinates: Coordinates, o: usize, inputs: usize, outputs: usize, scale: Approx) -> Approx {
    let exact = |v: f64| Approx::exact(v);
    let half = exact(0.5);
    // By sizes, the scale is their quotient: multiplying by the input's and dividing by the output's rounds once.
    let unscaled = |v: Approx| {
        let quotient = exact(outputs as f64) / exact(inputs as f64);
        if scale == quotient { v * exact(inputs as f64) / exact(outputs as f64) } else { v / scale }
    };
    match coordinates {
        Coordinates::Asymmetric => unscaled(exact(o as f64)),
        Coordinates::PytorchHalfPixel if outputs == 1 => exact(0.0),
        Coordinates::HalfPixel | Coordinates::PytorchHalfPixel => unscaled(exact(o as f64) + half) - half,
        Coordinates::AlignCorners if outputs == 1 => exact(0.0),
        Coordinates::AlignCorners => exact((o * (inputs - 1)) as f64) / exact((outputs - 1) as f64),
    }
}

fn nearest(at: Approx, rounding: Rounding) -> Result<f64, String> {
    let half = Approx::exact(0.5);
    match rounding {
        Rounding::Floor => decided_floor(at),
        Rounding::Ceil => decided_ceil(at),
        Rounding::HalfUp => decided_floor(at + half),
        Rounding::HalfDown => decided_ceil(at - half),
    }
}

/// The two entries around a coordinate; beyond the ends there is one. The result is continuous in the coordinate, so
/// only its own error matters, which must not reach over an entry.
fn between(at: Approx, last: usize) -> Result<Vec<(usize, Approx)>, String> {
    let (low, high) = (at.value - at.radius, at.value + at.radius);
    if high <= 0.0 {
        return Ok(vec![(0, Approx::ONE)]);
    }
    if low >= last as f64 {
        return Ok(vec![(last, Approx::ONE)]);
    }
    let below = at.value.floor();
    if low < below || high > below + 1.0 {
        return Err("which entries lie beside a coordinate is lost in its rounding".into());
    }
    let weight = at - Approx::exact(below);
    Ok(vec![(below as usize, Approx::ONE - weight), (below as usize + 1, weight)])
}

/// The products of the axes' weights, a row for each output entry.
fn rows(weights: &[Weights], strides: &[usize]) -> Weights {
    let mut all: Weights = vec![vec![(0, Approx::ONE)]];
    for (axis, &stride) in weights.iter().zip(strides) {
        let join = |outer: &[(usize, Approx)], inner: &[(usize, Approx)]| {
            let next = |&(i, a): &(usize, Approx)| inner.iter().map(move |&(j, b)| (i + j * stride, a * b));
            outer.iter().flat_map(next).filter(|(_, weight)| !weight.is_absent()).collect()
        };
        all = all.iter().flat_map(|outer| axis.iter().map(move |inner| join(outer, inner))).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(coordinates: Coordinates, rounding: Rounding, inputs: usize, outputs: usize) -> Vec<usize> {
        let resize = Resize { interpolation: Interpolation::Nearest(rounding), coordinates, axes: None };
        let scale = Approx::exact(outputs as f64) / Approx::exact(inputs as f64);
        weights(&resize, inputs, (outputs, scale)).unwrap().iter().map(|entry| entry[0].0).collect()
    }

    #[test]
    fn ties_go_as_asked() {
        assert_eq!(places(Coordinates::HalfPixel, Rounding::HalfDown, 4, 2), [0, 2]);
        assert_eq!(places(Coordinates::HalfPixel, Rounding::HalfUp, 4, 2), [1, 3]);
        assert_eq!(places(Coordinates::Asymmetric, Rounding::Floor, 2, 4), [0, 0, 1, 1]);
        assert_eq!(places(Coordinates::Asymmetric, Rounding::Ceil, 2, 4), [0, 1, 1, 1]);
        assert_eq!(places(Coordinates::AlignCorners, Rounding::HalfDown, 3, 5), [0, 0, 1, 1, 2]);
        assert_eq!(places(Coordinates::Asymmetric, Rounding::Floor, 3, 9), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_coordinate_next_to_a_tie_is_refused() {
        let resize = Resize {
            interpolation: Interpolation::Nearest(Rounding::Floor),
            coordinates: Coordinates::Asymmetric,
            axes: None,
        };
        let scale = Approx::exact(f64::from(5.0f32 / 3.0));
        assert!(weights(&resize, 6, (10, scale)).unwrap_err().contains("round"));
    }

    #[test]
    fn linear_weights_add_up() {
        let weights = between(Approx::exact(1.25), 3).unwrap();
        assert_eq!(weights, [(1, Approx::exact(0.75)), (2, Approx::exact(0.25))]);
        assert_eq!(between(Approx::exact(-0.25), 3).unwrap(), [(0, Approx::ONE)]);
        assert_eq!(between(Approx::exact(3.25), 3).unwrap(), [(3, Approx::ONE)]);
    }
}
