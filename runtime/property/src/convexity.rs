//! Whether a sparse symmetric integer matrix is positive semidefinite, decided exactly.
//!
//! The matrix is split into its coupled blocks (the connected components of its pattern), and each is
//! reduced by symmetric elimination in the fraction-free form of Bareiss: with pivot `p` and the
//! pivot `p'` before it, `a[i][j] ← (a[i][j]·p − a[i][k]·a[k][j]) / p'`, a division without rest.
//! All pivots are positive, so what remains is a positive multiple of the Schur complement, and the
//! matrix is semidefinite exactly if the remainder is. A negative diagonal entry refutes that, and so
//! does a zero one with anything else in its row.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};

/// The most variables that one block may couple.
pub(super) const MAX_COUPLED: usize = 200;
/// The most machine multiplications, roughly, that one block may take.
const MAX_WORK: u64 = 300_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Semidefinite {
    Yes,
    No,
    /// A block beyond `MAX_COUPLED` variables or `MAX_WORK`.
    TooLarge,
}

/// Entries are `(row, column, value)`, each unordered pair at most once.
pub(super) fn is_positive_semidefinite(size: usize, entries: &[(usize, usize, BigInt)]) -> Semidefinite {
    let mut answer = Semidefinite::Yes;
    for block in blocks(size, entries) {
        match reduce(block) {
            Semidefinite::Yes => {}
            Semidefinite::No => return Semidefinite::No,
            Semidefinite::TooLarge => answer = Semidefinite::TooLarge,
        }
    }
    answer
}

/// The coupled blocks: how many rows, and the entries with rows numbered inside the block.
type Block = (usize, Vec<(usize, usize, BigInt)>);

fn blocks(size: usize, entries: &[(usize, usize, BigInt)]) -> Vec<Block> {
    let mut parent: Vec<usize> = (0..size).collect();
    for &(i, j, _) in entries {
        let (i, j) = (root(&mut parent, i), root(&mut parent, j));
        parent[i.max(j)] = i.min(j);
    }
    let mut blocks: BTreeMap<usize, Block> = BTreeMap::new();
    let mut number_in_block = vec![0; size];
    for (row, number) in number_in_block.iter_mut().enumerate() {
        let block = blocks.entry(root(&mut parent, row)).or_default();
        *number = block.0;
        block.0 += 1;
    }
    for (i, j, value) in entries {
        let block = blocks.entry(root(&mut parent, *i)).or_default();
        block.1.push((number_in_block[*i], number_in_block[*j], value.clone()));
    }
    blocks.into_values().collect()
}

fn root(parent: &mut [usize], mut row: usize) -> usize {
    while parent[row] != row {
        parent[row] = parent[parent[row]];
        row = parent[row];
    }
    row
}

fn reduce((size, entries): Block) -> Semidefinite {
    if let [(0, 0, only)] = &entries[..] {
        return if only.is_negative() { Semidefinite::No } else { Semidefinite::Yes };
    }
    if size > MAX_COUPLED {
        return Semidefinite::TooLarge;
    }
    let mut matrix = vec![vec![BigInt::zero(); size]; size];
    for (i, j, value) in entries {
        matrix[j][i] = value.clone();
        matrix[i][j] = value;
    }
    eliminate(matrix)
}

fn eliminate(mut matrix: Vec<Vec<BigInt>>) -> Semidefinite {
    let size = matrix.len();
    let (mut previous, mut work) = (BigInt::one(), 0u64);
    for k in 0..size {
        let pivot = matrix[k][k].clone();
        if pivot.is_negative() {
            return Semidefinite::No;
        }
        let rest = k + 1..size;
        if pivot.is_zero() {
            if matrix[k][rest].iter().any(|entry| !entry.is_zero()) {
                return Semidefinite::No;
            }
            continue;
        }
        let limbs = pivot.bits() / 64 + 1;
        work = work.saturating_add(((size - k) as u64).pow(2).saturating_mul(limbs.saturating_pow(2)));
        if work > MAX_WORK {
            return Semidefinite::TooLarge;
        }
        for i in rest.clone() {
            for j in i..size {
                let reduced = (&matrix[i][j] * &pivot - &matrix[k][i] * &matrix[k][j]) / &previous;
                matrix[j][i] = reduced.clone();
                matrix[i][j] = reduced;
            }
        }
        previous = pivot;
    }
    Semidefinite::Yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use Semidefinite::{No, TooLarge, Yes};

    fn decide(size: usize, entries: &[(usize, usize, i64)]) -> Semidefinite {
        let entries: Vec<_> = entries.iter().map(|&(i, j, v)| (i, j, v.into())).collect();
        is_positive_semidefinite(size, &entries)
    }

    #[test]
    fn small_matrices() {
        assert_eq!(decide(2, &[(0, 0, 1), (1, 1, 3)]), Yes);
        assert_eq!(decide(2, &[(0, 0, 1), (1, 1, -3)]), No);
        assert_eq!(decide(2, &[(0, 0, 1), (0, 1, 2), (1, 1, 4)]), Yes);
        assert_eq!(decide(2, &[(0, 0, 1), (0, 1, 2), (1, 1, 3)]), No);
        assert_eq!(decide(2, &[(0, 1, 1)]), No);
        assert_eq!(decide(3, &[(0, 0, 1), (0, 1, 1), (1, 1, 1), (1, 2, 1), (2, 2, 5)]), No);
    }

    #[test]
    fn the_square_of_a_sum_is_semidefinite_and_a_hair_less_is_not() {
        let size = 30;
        let pairs = || (0..size).flat_map(|i| (i..size).map(move |j| (i, j)));
        let square: Vec<_> = pairs().map(|(i, j)| (i, j, ((i + 1) * (j + 1)) as i64)).collect();
        assert_eq!(decide(size, &square), Yes);
        let mut less = square.clone();
        less.last_mut().unwrap().2 -= 1;
        assert_eq!(decide(size, &less), No);
    }

    #[test]
    fn many_separate_squares_are_cheap_and_many_coupled_ones_refused() {
        let diagonal: Vec<_> = (0..5_000).map(|i| (i, i, 1)).collect();
        assert_eq!(decide(5_000, &diagonal), Yes);
        let chain =
            |size: usize| -> Vec<_> { (0..size).map(|i| (i, i, 2)).chain((1..size).map(|i| (i - 1, i, 1))).collect() };
        assert_eq!(decide(60, &chain(60)), Yes);
        assert_eq!(decide(201, &chain(201)), TooLarge);
    }
}
