//! Which part gets which leaf: those with the most expected work first, each to the part with the least so far.

/// The leaves of each part, of at most so many parts; ascending, and none is empty.
pub fn deal(work: &[f64], parts: usize) -> Vec<Vec<usize>> {
    let mut leaves: Vec<usize> = (0..work.len()).collect();
    leaves.sort_by(|&a, &b| work[b].total_cmp(&work[a]));
    let mut hands = vec![(0.0, vec![]); parts.min(work.len()).max(1)];
    for leaf in leaves {
        let by_work = |a: &&mut (f64, Vec<usize>), b: &&mut (f64, Vec<usize>)| {
            a.0.total_cmp(&b.0).then(a.1.len().cmp(&b.1.len()))
        };
        let least = hands.iter_mut().min_by(by_work).expect("a part");
        least.0 += work[leaf];
        least.1.push(leaf);
    }
    hands.iter_mut().for_each(|(_, leaves)| leaves.sort_unstable());
    hands.into_iter().map(|(_, leaves)| leaves).collect()
}

#[cfg(test)]
mod tests {
    use super::deal;

    #[test]
    fn every_leaf_is_dealt_once_and_work_is_even() {
        let work: Vec<f64> = (0..100).map(|k| f64::from(k % 7 + 1)).collect();
        let hands = deal(&work, 8);
        let mut all: Vec<usize> = hands.concat();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        let sums: Vec<f64> = hands.iter().map(|hand| hand.iter().map(|&leaf| work[leaf]).sum()).collect();
        let most = sums.iter().copied().fold(0.0, f64::max);
        assert!(sums.iter().all(|sum| most - sum <= 7.0), "{sums:?}");
    }

    #[test]
    fn there_are_no_more_parts_than_leaves() {
        assert_eq!(deal(&[1.0, 1.0, 1.0], 16), [[0], [1], [2]]);
        assert_eq!(deal(&[1.0; 5], 2), [vec![0, 2, 4], vec![1, 3]]);
        assert_eq!(deal(&[0.0; 4], 2), [vec![0, 2], vec![1, 3]], "also of no work at all");
    }
}
