//! Pad: more entries, or fewer, at the ends of axes.

use super::movement::selection;
use super::shape::{axes, checked_len, strides};
use super::{Reading, given};
use crate::affine::Affine;
use crate::approx::Approx;
use crate::graph::{PadMode, Tensor};

/// The largest pad, whatever the other end cuts off: places of entries fit 64 bits.
const LARGEST: u64 = 1 << 48;

/// Inputs: the tensor, the pads (all in front, then all behind), the padding's value, the axes that the pads are of.
pub fn pad(mode: PadMode, inputs: &[Reading]) -> Result<(Vec<usize>, Affine), String> {
    let shape = inputs[0].shape;
    let chosen = match given(inputs, 3) {
        Some(given) => axes(&given.integers("axes")?, shape.len())?,
        None => (0..shape.len()).collect(),
    };
    let pads = inputs[1].integers("pads")?;
    if pads.len() != 2 * chosen.len() {
        return Err(format!("its pads {pads:?} are not two for each of {} axes", chosen.len()));
    }
    let mut ends = vec![(0, 0); shape.len()];
    for (k, &a) in chosen.iter().enumerate() {
        ends[a] = (pads[k], pads[k + chosen.len()]);
    }
    let new_shape = shape.iter().zip(&ends).map(|(&d, &ends)| padded(d, ends)).collect::<Result<Vec<_>, _>>()?;
    checked_len(&new_shape)?;
    let places = (0..shape.len()).map(|a| places(mode, shape[a], ends[a], new_shape[a]));
    let sources = sources(&places.collect::<Result<Vec<_>, _>>()?, &strides(shape));
    let zero = Tensor { shape: vec![], data: vec![Approx::exact(0.0)] };
    let value = given(inputs, 2).copied().unwrap_or(Reading { shape: &[], constant: Some(&zero) });
    if value.len() != 1 {
        return Err(format!("its value of shape {:?} is not one number", value.shape));
    }
    Ok((new_shape, selection(&sources, &[inputs[0], value])?))
}

fn padded(size: usize, (before, after): (i64, i64)) -> Result<usize, String> {
    let sum = i64::try_from(size).ok().and_then(|size| size.checked_add(before)?.checked_add(after));
    let is_small = before.unsigned_abs().max(after.unsigned_abs()) <= LARGEST;
    let sum = sum.filter(|_| is_small).and_then(|sum| usize::try_from(sum).ok());
    sum.ok_or_else(|| format!("an axis of {size} entries cannot be padded by {before} and {after}"))
}

/// Where each entry of a padded axis comes from; `None` is the padding's value.
fn places(mode: PadMode, size: usize, (before, after): (i64, i64), len: usize) -> Result<Vec<Option<usize>>, String> {
    let is_cut = before.min(after) < 0;
    match mode {
        PadMode::Reflect | PadMode::Wrap if is_cut && before.max(after) > 0 => {
            return Err("it cuts one end of an axis and repeats entries at the other, which is not defined".into());
        }
        PadMode::Reflect if size == 1 && !is_cut && len > 1 => {
            return Err("an axis of one entry has nothing to reflect".into());
        }
        PadMode::Constant => {}
        _ if size == 0 && len > 0 => return Err("an empty axis has nothing to repeat".into()),
        _ => {}
    }
    let n = size as i64;
    let place = |i: i64| match mode {
        _ if (0..n).contains(&i) => Some(i),
        PadMode::Constant => None,
        PadMode::Edge => Some(i.clamp(0, n - 1)),
        PadMode::Wrap => Some(i.rem_euclid(n)),
        PadMode::Reflect => {
            let period = 2 * (n - 1);
            let turned = i.rem_euclid(period);
            Some(turned.min(period - turned))
        }
    };
    Ok((0..len as i64).map(|i| place(i - before).map(|i| i as usize)).collect())
}

/// Entries of the tensor, operand 0, where every axis has a place, and of the value, operand 1, elsewhere.
fn sources(places: &[Vec<Option<usize>>], strides: &[usize]) -> Vec<(usize, usize)> {
    let mut found = vec![Some(0)];
    for (axis, &stride) in places.iter().zip(strides) {
        let join = |base: Option<usize>, place: &Option<usize>| Some(base? + (*place)? * stride);
        found = found.iter().flat_map(|&base| axis.iter().map(move |place| join(base, place))).collect();
    }
    found.into_iter().map(|index| index.map_or((1, 0), |i| (0, i))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(mode: PadMode, size: usize, before: i64, after: i64) -> Result<Vec<Option<usize>>, String> {
        places(mode, size, (before, after), padded(size, (before, after))?)
    }

    #[test]
    fn each_mode_repeats_in_its_way() {
        let known = |line: Result<Vec<Option<usize>>, String>| line.unwrap().into_iter().flatten().collect::<Vec<_>>();
        assert_eq!(line(PadMode::Constant, 2, 1, 1), Ok(vec![None, Some(0), Some(1), None]));
        assert_eq!(known(line(PadMode::Edge, 2, 2, 1)), [0, 0, 0, 1, 1]);
        assert_eq!(known(line(PadMode::Reflect, 3, 2, 2)), [2, 1, 0, 1, 2, 1, 0]);
        assert_eq!(known(line(PadMode::Wrap, 3, 1, 1)), [2, 0, 1, 2, 0]);
        assert_eq!(known(line(PadMode::Constant, 4, -1, -2)), [1]);
    }

    #[test]
    fn what_cannot_be_padded_is_refused() {
        assert!(line(PadMode::Constant, 2, -3, 0).is_err());
        assert!(line(PadMode::Constant, 2, i64::MAX, 0).is_err());
        assert!(line(PadMode::Edge, 2, i64::MIN, i64::MAX).is_err());
        assert!(line(PadMode::Reflect, 1, 1, 0).is_err());
        assert!(line(PadMode::Reflect, 3, -1, 1).is_err());
    }
}
