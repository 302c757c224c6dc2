//! Shapes, axes, and the order of a tensor's entries.

/// The most entries a tensor may have.
const MAX_LEN: usize = 1 << 24;
/// The most axes a tensor may have.
const MAX_RANK: usize = 32;

/// The number of entries of a shape, refused when it is beyond reason.
pub fn checked_len(shape: &[usize]) -> Result<usize, String> {
    check_shape(shape)?;
    let len = shape.iter().try_fold(1usize, |len, &d| len.checked_mul(d));
    let len = len.filter(|&len| len <= MAX_LEN);
    len.ok_or_else(|| format!("a tensor of shape {shape:?} has more than {MAX_LEN} entries"))
}

/// Refuses a constant of a file that has more axes than any real one, or sizes beyond reason beside one of 0.
pub fn check_shape(shape: &[usize]) -> Result<(), String> {
    if shape.len() > MAX_RANK {
        return Err(format!("a tensor has {} axes; the limit is {MAX_RANK}", shape.len()));
    }
    let nonzero = shape.iter().try_fold(1usize, |len, &d| len.checked_mul(d.max(1)));
    if shape.contains(&0) && nonzero.is_none_or(|len| len > MAX_LEN) {
        return Err(format!("a tensor of shape {shape:?} has more than {MAX_LEN} entries beside its axes of none"));
    }
    Ok(())
}

/// ONNX's axis: from −rank to rank − 1.
pub fn axis(axis: i64, rank: usize) -> Result<usize, String> {
    let counted = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(counted)
        .ok()
        .filter(|&a| a < rank)
        .ok_or_else(|| format!("its axis {axis} is outside a tensor of rank {rank}"))
}

/// Distinct axes.
pub fn axes(given: &[i64], rank: usize) -> Result<Vec<usize>, String> {
    if given.len() > MAX_RANK {
        return Err(format!("it has {} axes; the limit is {MAX_RANK}", given.len()));
    }
    let axes = given.iter().map(|&a| axis(a, rank)).collect::<Result<Vec<_>, _>>()?;
    let repeats = (1..axes.len()).any(|i| axes[..i].contains(&axes[i]));
    if repeats { Err(format!("its axes {given:?} repeat")) } else { Ok(axes) }
}

/// Row-major strides.
pub fn strides(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    strides
}

/// The two shapes' common shape under ONNX's multidirectional broadcasting.
pub fn broadcast(a: &[usize], b: &[usize]) -> Result<Vec<usize>, String> {
    let rank = a.len().max(b.len());
    let dim = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    let merged = |i| match (dim(a, i), dim(b, i)) {
        (p, q) if p == q || q == 1 => Some(p),
        (1, q) => Some(q),
        _ => None,
    };
    (0..rank).map(merged).collect::<Option<_>>().ok_or_else(|| format!("shapes {a:?} and {b:?} do not broadcast"))
}

/// For each entry of `full`, in order, the flat index of the entry of `part` that broadcasting reads there.
pub fn broadcast_indices(part: &[usize], full: &[usize]) -> Vec<usize> {
    let offset = full.len() - part.len();
    let own = strides(part);
    let step: Vec<usize> =
        (0..full.len()).map(|i| if i < offset || part[i - offset] == 1 { 0 } else { own[i - offset] }).collect();
    walk(full, &step)
}

/// The flat indices met by counting through `shape` with the given step along each axis.
pub fn walk(shape: &[usize], step: &[usize]) -> Vec<usize> {
    let along = |(&d, &s): (&usize, &usize)| (0..d).map(|i| i * s).collect();
    grid(&shape.iter().zip(step).map(along).collect::<Vec<_>>())
}

/// The sums of one offset of each axis, in row-major order.
pub fn grid(offsets: &[Vec<usize>]) -> Vec<usize> {
    if offsets.iter().any(Vec::is_empty) {
        return vec![];
    }
    let next = |all: Vec<usize>, axis: &Vec<usize>| all.iter().flat_map(|&o| axis.iter().map(move |i| o + i)).collect();
    offsets.iter().fold(vec![0], next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broadcasting_follows_numpy() {
        assert_eq!(broadcast(&[2, 1, 3], &[4, 1]), Ok(vec![2, 4, 3]));
        assert_eq!(broadcast(&[], &[5]), Ok(vec![5]));
        assert!(broadcast(&[2], &[3]).is_err());
        assert_eq!(broadcast_indices(&[2, 1], &[2, 3]), [0, 0, 0, 1, 1, 1]);
        assert_eq!(broadcast_indices(&[3], &[2, 3]), [0, 1, 2, 0, 1, 2]);
        assert_eq!(broadcast_indices(&[], &[2]), [0, 0]);
    }

    #[test]
    fn shapes_beyond_reason_are_refused() {
        assert!(checked_len(&[1 << 40, 1 << 40]).is_err());
        assert!(checked_len(&[1 << 25]).is_err());
        assert_eq!(checked_len(&[3, 0]), Ok(0));
        assert!(checked_len(&[0, 1 << 40]).is_err());
        assert!(checked_len(&[1; 100]).is_err());
        assert!(check_shape(&[1 << 40, 0]).is_err());
        assert_eq!(check_shape(&[1 << 25]), Ok(()), "a file with so many numbers is large itself");
    }

    #[test]
    fn axes_count_from_either_end_and_once() {
        assert_eq!(axes(&[0, -1], 3), Ok(vec![0, 2]));
        assert!(axes(&[2, -1], 3).is_err());
        assert!(axes(&[i64::MIN], 3).is_err());
    }
}
