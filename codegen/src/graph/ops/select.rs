//! Operators that choose or repeat entries: Gather, Split, Expand, Tile, DepthToSpace, SpaceToDepth, Where.

use super::Reading;
use super::movement::{Moved, chosen_entries, permuted};
use super::shape::{axis, broadcast, broadcast_indices, checked_len};
use crate::approx::Approx;

/// The axis is replaced by all axes of the indices.
pub fn gather(shape: &[usize], along: i64, indices: &Reading) -> Result<Moved, String> {
    let a = axis(along, shape.len())?;
    let inside = |&i: &i64| {
        let counted = if i < 0 { i.saturating_add(shape[a] as i64) } else { i };
        usize::try_from(counted).ok().filter(|&i| i < shape[a])
    };
    let found = indices.integers("indices")?;
    let places = found.iter().map(inside).collect::<Option<Vec<_>>>();
    let places = places.ok_or_else(|| format!("its indices reach outside axis {a} of shape {shape:?}"))?;
    let mut new_shape = shape[..a].to_vec();
    new_shape.extend(indices.shape);
    new_shape.extend(&shape[a + 1..]);
    checked_len(&new_shape)?;
    Ok((new_shape, with_axis(shape, a, places).1))
}

/// All entries, with other places along one axis.
fn with_axis(shape: &[usize], a: usize, places: Vec<usize>) -> Moved {
    let mut chosen: Vec<Vec<usize>> = shape.iter().map(|&d| (0..d).collect()).collect();
    chosen[a] = places;
    chosen_entries(&chosen, shape)
}

pub fn split(
    shape: &[usize],
    along: i64,
    sizes: Option<&Reading>,
    parts: usize,
    part: usize,
    uneven: bool,
) -> Result<Moved, String> {
    let a = axis(along, shape.len())?;
    let wrong = |sizes: &dyn std::fmt::Debug| format!("an axis of {} entries has no parts of {sizes:?}", shape[a]);
    let (start, size) = match sizes {
        Some(sizes) => {
            let sizes = sizes.sizes("split")?;
            let total = sizes.iter().try_fold(0usize, |total, &size| total.checked_add(size));
            if total != Some(shape[a]) || sizes.len() != parts {
                return Err(wrong(&sizes));
            }
            (sizes[..part].iter().sum(), sizes[part])
        }
        None => {
            let size = shape[a].div_ceil(parts);
            let last = shape[a].checked_sub(size * (parts - 1)).filter(|&last| last == size || uneven && last > 0);
            let last = last.ok_or_else(|| format!("an axis of {} entries has no {parts} equal parts", shape[a]))?;
            (part * size, if part + 1 == parts { last } else { size })
        }
    };
    Ok(with_axis(shape, a, (start..start + size).collect()))
}

/// Broadcasts both ways: a size of 1 in the target keeps the axis.
pub fn expand(shape: &[usize], target: &[usize]) -> Result<Moved, String> {
    let full = broadcast(shape, target)?;
    checked_len(&full)?;
    let sources = broadcast_indices(shape, &full).into_iter().map(|i| (0, i)).collect();
    Ok((full, sources))
}

pub fn tile(shape: &[usize], repeats: &[usize]) -> Result<Moved, String> {
    if repeats.len() != shape.len() {
        return Err(format!("its repeats {repeats:?} do not fit shape {shape:?}"));
    }
    let full: Option<Vec<usize>> = shape.iter().zip(repeats).map(|(d, r)| d.checked_mul(*r)).collect();
    let full = full.ok_or_else(|| format!("its repeats {repeats:?} are beyond reason"))?;
    checked_len(&full)?;
    let chosen: Vec<Vec<usize>> = shape.iter().zip(&full).map(|(&d, &n)| (0..n).map(|i| i % d).collect()).collect();
    Ok(chosen_entries(&chosen, shape))
}

/// Blocks of channels become blocks of a plane; the channels count through the block first, or last if `depth_first`.
pub fn depth_to_space(shape: &[usize], block: i64, depth_first: bool) -> Result<Moved, String> {
    let (&[n, c, h, w], b) = (plane(shape)?, block_size(block)?);
    let square = b.checked_mul(b).filter(|&square| c % square == 0);
    let depth = c / square.ok_or_else(|| format!("its {c} channels are no blocks of {b} by {b}"))?;
    let (split, perm) = if depth_first {
        ([n, b, b, depth, h, w], [0, 3, 4, 1, 5, 2])
    } else {
        ([n, depth, b, b, h, w], [0, 1, 4, 2, 5, 3])
    };
    Ok((vec![n, depth, h * b, w * b], moved(&split, &perm)))
}

pub fn space_to_depth(shape: &[usize], block: i64) -> Result<Moved, String> {
    let (&[n, c, h, w], b) = (plane(shape)?, block_size(block)?);
    if h % b != 0 || w % b != 0 {
        return Err(format!("a plane of {h} by {w} is no blocks of {b} by {b}"));
    }
    let sources = moved(&[n, c, h / b, b, w / b, b], &[0, 3, 5, 1, 2, 4]);
    Ok((vec![n, c * b * b, h / b, w / b], sources))
}

fn plane(shape: &[usize]) -> Result<&[usize; 4], String> {
    let plane = shape.try_into().ok().filter(|_| !shape.contains(&0));
    plane.ok_or_else(|| format!("its input of shape {shape:?} is not a batch of channels of planes"))
}

fn block_size(block: i64) -> Result<usize, String> {
    usize::try_from(block).ok().filter(|&b| b > 0).ok_or_else(|| format!("its blocksize is {block}"))
}

fn moved(split: &[usize], perm: &[usize]) -> Vec<(usize, usize)> {
    permuted(split, perm).1.into_iter().map(|i| (0, i)).collect()
}

/// Where: the second operand where the first is true, else the third.
pub fn choose(inputs: &[Reading]) -> Result<Moved, String> {
    let condition = inputs[0].constant("condition")?;
    let shape = inputs.iter().try_fold(vec![], |shape, input| broadcast(&shape, input.shape))?;
    checked_len(&shape)?;
    let [asked, yes, no] = [0, 1, 2].map(|k| broadcast_indices(inputs[k].shape, &shape));
    let is_true = |i: usize| condition.data[i] != Approx::exact(0.0);
    let pick = |i: usize| if is_true(asked[i]) { (1, yes[i]) } else { (2, no[i]) };
    let sources = (0..asked.len()).map(pick).collect();
    Ok((shape, sources))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{reading, tensor};

    fn places((shape, sources): Moved) -> (Vec<usize>, Vec<usize>) {
        (shape, sources.into_iter().map(|s| s.1).collect())
    }

    #[test]
    fn indices_count_from_either_end() {
        let indices = tensor(&[1, 2], &[-1.0, 0.0]);
        let found = gather(&[2, 3], 1, &reading(&indices)).unwrap();
        assert_eq!(places(found), (vec![2, 1, 2], vec![2, 0, 5, 3]));
        assert!(gather(&[2, 1], 1, &reading(&tensor(&[], &[-2.0]))).is_err());
    }

    #[test]
    fn parts_add_up() {
        let part = |parts, part, uneven| split(&[5], 0, None, parts, part, uneven).map(places);
        assert_eq!(part(3, 2, true), Ok((vec![1], vec![4])));
        assert!(part(3, 2, false).is_err());
        assert!(part(4, 3, true).is_err());
        let sizes = tensor(&[2], &[2.0, 3.0]);
        assert_eq!(split(&[5], 0, Some(&reading(&sizes)), 2, 1, false).map(places), Ok((vec![3], vec![2, 3, 4])));
        assert!(split(&[4], 0, Some(&reading(&sizes)), 2, 1, false).is_err());
        assert!(split(&[5], 0, Some(&reading(&sizes)), 3, 2, false).is_err());
    }

    #[test]
    fn repeats_are_bounded() {
        assert_eq!(places(tile(&[2], &[2]).unwrap()), (vec![4], vec![0, 1, 0, 1]));
        assert!(tile(&[2], &[usize::MAX]).is_err());
        assert!(tile(&[2], &[1 << 40]).is_err());
        assert!(expand(&[1], &[1 << 40]).is_err());
    }

    #[test]
    fn blocks_of_channels_fill_the_plane() {
        assert_eq!(places(depth_to_space(&[1, 4, 1, 1], 2, true).unwrap()), (vec![1, 1, 2, 2], vec![0, 1, 2, 3]));
        assert_eq!(places(space_to_depth(&[1, 1, 2, 2], 2).unwrap()), (vec![1, 4, 1, 1], vec![0, 1, 2, 3]));
        assert!(depth_to_space(&[1, 4, 1, 1], i64::MAX, true).is_err());
        assert!(space_to_depth(&[1, 4, 1, 1], 0).is_err());
    }
}
