//! Products with a sparse matrix whose size is known at run time: lanes over the rows of a batch, not over columns.
//!
//! A group of rows, up to [`GROUP`] panels, is transposed, so that a number of the matrix meets whole vectors of them, and what comes out is
//! transposed back. Every sum runs over its column's entries from first to last, and a lane is a row of its own: so a row's
//! result does not depend on the rows beside it.

use super::panels::{Chunk, Lanes, PANEL, ZERO, chunks, chunks_mut, padded};
use super::simd::{Simd, Vectorised, dispatch};

/// Panels of rows taken together: as many as keep their sums in registers.
const GROUP: usize = 3;

/// A number of a column, and the row it is in.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry {
    pub row: u32,
    pub value: f32,
}

/// A matrix by its columns: of each the entries that are not 0.
#[derive(Clone, Copy)]
pub struct Columns<'a> {
    rows: usize,
    /// Where each column's entries end.
    ends: &'a [usize],
    entries: &'a [Entry],
}

impl<'a> Columns<'a> {
    pub fn new(rows: usize, ends: &'a [usize], entries: &'a [Entry]) -> Columns<'a> {
        assert_eq!(ends.last().copied().unwrap_or(0), entries.len(), "the entries of all columns");
        Columns { rows, ends, entries }
    }

    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// How much room products take.
    pub const fn room(rows: usize) -> usize {
        padded(rows) * GROUP
    }

    /// Adds each row of `a` times the matrix to a row of `c`, or sets it: as many rows, each as long as its side of the
    /// matrix, padded. To the padding of `c` zeros are added. What is in `room` before does not matter.
    pub fn product(&self, a: &[f32], c: &mut [f32], sets: bool, room: &mut [Lanes]) {
        let (stride, width) = (padded(self.rows), padded(self.ends.len()));
        assert!(a.len().is_multiple_of(stride) && a.len() / stride * width == c.len(), "as many rows");
        dispatch(Product { matrix: *self, a, c, sets, room });
    }

    /// The entries of a column; none of padding.
    #[inline(always)]
    pub fn column(&self, col: usize) -> &'a [Entry] {
        let Some(&end) = self.ends.get(col) else { return &[] };
        let start = if col == 0 { 0 } else { self.ends[col - 1] };
        &self.entries[start..end]
    }
}

struct Product<'a> {
    matrix: Columns<'a>,
    a: &'a [f32],
    c: &'a mut [f32],
    sets: bool,
    room: &'a mut [Lanes],
}

impl Vectorised for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Product { matrix, a, c, sets, room } = self;
        let (stride, width) = (padded(matrix.rows), padded(matrix.ends.len()));
        for (a, c) in a.chunks(GROUP * PANEL * stride).zip(c.chunks_mut(GROUP * PANEL * width)) {
            match (a.len() / stride).div_ceil(PANEL) {
                1 => matrix.group::<S, 1>(a, c, sets, room),
                2 => matrix.group::<S, 2>(a, c, sets, room),
                _ => matrix.group::<S, 3>(a, c, sets, room),
            }
        }
    }
}

impl Columns<'_> {
    /// The product of up to `P` panels of rows.
    #[inline(always)]
    fn group<S: Simd, const P: usize>(&self, a: &[f32], c: &mut [f32], sets: bool, room: &mut [Lanes]) {
        let (stride, width) = (padded(self.rows), padded(self.ends.len()));
        let from = &mut room.as_chunks_mut::<P>().0[..stride];
        to_lanes(a, from);
        for panel in 0..width / PANEL {
            let mut sums = [[ZERO; PANEL]; P];
            for lane in 0..PANEL {
                let sum = combination::<S, P>(self.column(panel * PANEL + lane), from);
                for p in 0..P {
                    sums[p][lane] = Lanes(sum[p]);
                }
            }
            for p in 0..P {
                transpose(&mut sums[p]);
                for (row, c) in c.chunks_mut(width).skip(p * PANEL).take(PANEL).enumerate() {
                    let c = &mut chunks_mut(c)[panel];
                    let mut total = sums[p][row].0;
                    if !sets {
                        let before = *c;
                        for lane in 0..PANEL {
                            total[lane] += before[lane];
                        }
                    }
                    *c = total;
                }
            }
        }
    }
}

/// The sum of entries times the numbers of their rows, for each lane.
#[inline(always)]
fn combination<S: Simd, const P: usize>(entries: &[Entry], from: &[[Lanes; P]]) -> [Chunk; P] {
    let mut sums = [[0.0; PANEL]; P];
    for &Entry { row, value } in entries {
        let from = from[row as usize];
        for p in 0..P {
            for lane in 0..PANEL {
                sums[p][lane] = S::mul_add(value, from[p].0[lane], sums[p][lane]);
            }
        }
    }
    sums
}

/// Rows of numbers, at most `P` panels of them, as lanes: for each number those of all rows, and zeros where there is no row.
#[inline(always)]
pub fn to_lanes<const P: usize>(rows: &[f32], into: &mut [[Lanes; P]]) {
    let stride = into.len();
    for (panel, into) in into.as_chunks_mut::<PANEL>().0.iter_mut().enumerate() {
        for p in 0..P {
            let mut tile = [ZERO; PANEL];
            for (tile, row) in tile.iter_mut().zip(rows.chunks(stride).skip(p * PANEL)) {
                *tile = Lanes(chunks(row)[panel]);
            }
            transpose(&mut tile);
            for lane in 0..PANEL {
                into[lane][p] = tile[lane];
            }
        }
    }
}

/// The other way.
#[inline(always)]
pub fn from_lanes<const P: usize>(lanes: &[[Lanes; P]], rows: &mut [f32]) {
    let stride = lanes.len();
    for (panel, lanes) in lanes.as_chunks::<PANEL>().0.iter().enumerate() {
        for p in 0..P {
            let mut tile = [ZERO; PANEL];
            for lane in 0..PANEL {
                tile[lane] = lanes[lane][p];
            }
            transpose(&mut tile);
            for (tile, row) in tile.iter().zip(rows.chunks_mut(stride).skip(p * PANEL)) {
                chunks_mut(row)[panel] = tile.0;
            }
        }
    }
}

/// Exchanges rows and columns of a tile. A round moves each number's place by one bit, from the top of its row's to the bottom
/// of its column's: four of them exchange the two. All pass through memory, since the compiler would else move single numbers.
#[inline(always)]
fn transpose(tile: &mut [Lanes; PANEL]) {
    let mut other = [ZERO; PANEL];
    for _ in 0..PANEL.ilog2() / 2 {
        interleave(tile, &mut other);
        interleave(&other, tile);
    }
}

/// Interleaves the first half of the rows with the second.
#[inline(always)]
fn interleave(rows: &[Lanes; PANEL], into: &mut [Lanes; PANEL]) {
    for pair in 0..PANEL / 2 {
        let (Lanes(a), Lanes(b)) = (rows[pair], rows[pair + PANEL / 2]);
        let (mut first, mut second) = ([0.0; PANEL], [0.0; PANEL]);
        for lane in 0..PANEL / 2 {
            (first[2 * lane], first[2 * lane + 1]) = (a[lane], b[lane]);
            (second[2 * lane], second[2 * lane + 1]) = (a[lane + PANEL / 2], b[lane + PANEL / 2]);
        }
        (into[2 * pair], into[2 * pair + 1]) = (Lanes(first), Lanes(second));
    }
}

#[cfg(test)]
mod tests {
    use super::super::simd::Portable;
    use super::*;

    /// About a number in `of` of a matrix that is not 0: its columns, and all of it row by row.
    fn matrix(rows: usize, cols: usize, of: usize) -> (Vec<usize>, Vec<Entry>, Vec<f32>) {
        let (mut ends, mut entries, mut all) = (vec![], vec![], vec![0.0; rows * cols]);
        for col in 0..cols {
            for row in (0..rows).filter(|row| (row * 7 + col * 5) % of == 0) {
                let value = ((row * 3 + col) % 13) as f32 - 5.5;
                entries.push(Entry { row: row as u32, value });
                all[row * cols + col] = value;
            }
            ends.push(entries.len());
        }
        (ends, entries, all)
    }

    #[test]
    fn every_size_agrees_with_the_definition() {
        for (rows, cols) in [(1, 1), (3, 16), (17, 5), (40, 33), (9, 70), (0, 4), (4, 0)] {
            let (ends, entries, all) = matrix(rows, cols, 3);
            let columns = Columns::new(rows, &ends, &entries);
            let mut room = vec![Lanes([f32::NAN; PANEL]); Columns::room(rows)];
            for count in [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 97] {
                let a: Vec<f32> = (0..count * padded(rows)).map(|k| (k % 7) as f32 - 3.0).collect();
                let mut added = vec![7.0; count * padded(cols)];
                columns.product(&a, &mut added, false, &mut room);
                let mut set = vec![9.0; added.len()];
                columns.product(&a, &mut set, true, &mut room);
                let mut portable = vec![9.0; added.len()];
                Product { matrix: columns, a: &a, c: &mut portable, sets: true, room: &mut room }.run::<Portable>();
                for (a, (c, p)) in
                    a.chunks(padded(rows)).zip(set.chunks(padded(cols)).zip(portable.chunks(padded(cols))))
                {
                    for (j, &value) in c.iter().enumerate() {
                        let sum: f32 = (0..rows).filter(|_| j < cols).map(|i| a[i] * all[i * cols + j]).sum();
                        assert!(value == sum && p[j] == sum, "{value} and {}, not {sum}", p[j]);
                    }
                }
                assert!(added.iter().zip(&set).all(|(&added, &set)| added == 7.0 + set));
            }
        }
    }

    #[test]
    fn a_row_does_not_depend_on_those_beside_it() {
        let (rows, cols) = (70, 40);
        let (ends, entries, _) = matrix(rows, cols, 4);
        let columns = Columns::new(rows, &ends, &entries);
        let mut room = vec![ZERO; Columns::room(rows)];
        let a: Vec<f32> = (0..60 * padded(rows)).map(|k| ((k * 7919) % 2003) as f32 / 1001.0 - 1.0).collect();
        let mut together = vec![0.0; 60 * padded(cols)];
        columns.product(&a, &mut together, true, &mut room);
        for (a, expected) in a.chunks(padded(rows)).zip(together.chunks(padded(cols))) {
            let mut alone = vec![0.0; padded(cols)];
            columns.product(a, &mut alone, true, &mut room);
            assert_eq!(alone, expected);
        }
    }
}
