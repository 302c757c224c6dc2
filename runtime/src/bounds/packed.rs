//! A matrix picked from a stage's map, owned: in panels, or by its entries where most are 0.

use super::buffer::Buffer;
use pg_core::kernel::sparse::{Columns, Entry};
use pg_core::kernel::{Lanes, PANEL, Panels, ZERO};
use pg_core::map::panels;

/// Whether a matrix with so many entries that are not 0 is better kept by these. By measurement, for batches of few rows: an
/// entry costs as much as five numbers of a dense matrix, and to transpose rows in and out as much as twenty for each of them.
pub fn is_sparse(entries: usize, rows: usize, cols: usize) -> bool {
    5 * entries + 20 * (rows + cols) < rows * cols
}

/// A matrix by its columns: of each the entries that are not 0.
#[derive(Clone)]
pub struct Listed {
    rows: usize,
    /// Where each column's entries end.
    ends: Vec<usize>,
    entries: Vec<Entry>,
}

impl Listed {
    /// With no column yet.
    pub fn new(rows: usize) -> Listed {
        Listed { rows, ends: vec![], entries: vec![] }
    }

    /// Appends a column.
    pub fn push(&mut self, column: impl Iterator<Item = Entry>) {
        self.entries.extend(column);
        self.ends.push(self.entries.len());
    }

    pub fn column(&self, col: usize) -> &[Entry] {
        let start = if col == 0 { 0 } else { self.ends[col - 1] };
        &self.entries[start..self.ends[col]]
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn columns(&self) -> impl ExactSizeIterator<Item = &[Entry]> {
        (0..self.ends.len()).map(|col| self.column(col))
    }

    pub fn as_columns(&self) -> Columns<'_> {
        Columns::new(self.rows, &self.ends, &self.entries)
    }

    /// The most entries of a row.
    pub fn longest_row(&self) -> usize {
        let mut counts = vec![0; self.rows];
        self.entries.iter().for_each(|entry| counts[entry.row as usize] += 1);
        counts.into_iter().max().unwrap_or(0)
    }

    fn transposed(&self) -> Listed {
        let mut ends = vec![0; self.rows];
        self.entries.iter().for_each(|entry| ends[entry.row as usize] += 1);
        let mut next = 0;
        for end in &mut ends {
            (next, *end) = (next + *end, next);
        }
        // Each end is where its column's next entry goes, until all are there.
        let mut entries = vec![Entry::default(); self.entries.len()];
        for (col, column) in self.columns().enumerate() {
            for &Entry { row, value } in column {
                entries[ends[row as usize]] = Entry { row: col as u32, value };
                ends[row as usize] += 1;
            }
        }
        Listed { rows: self.ends.len(), ends, entries }
    }
}

#[derive(Clone)]
pub enum Packed {
    Dense { rows: usize, cols: usize, lanes: Vec<Lanes> },
    Sparse(Listed),
}

impl Packed {
    /// A matrix and its transpose.
    pub fn both(matrix: &Listed) -> (Packed, Packed) {
        let (rows, cols) = (matrix.rows, matrix.ends.len());
        if is_sparse(matrix.entries.len(), rows, cols) {
            return (Packed::Sparse(matrix.clone()), Packed::Sparse(matrix.transposed()));
        }
        let (mut lanes, mut transposed) = (vec![ZERO; panels(rows, cols)], vec![ZERO; panels(cols, rows)]);
        for (col, column) in matrix.columns().enumerate() {
            for &Entry { row, value } in column {
                let row = row as usize;
                lanes[col / PANEL * rows + row].0[col % PANEL] = value;
                transposed[row / PANEL * cols + col].0[row % PANEL] = value;
            }
        }
        (Packed::Dense { rows, cols, lanes }, Packed::Dense { rows: cols, cols: rows, lanes: transposed })
    }

    /// The multiply-adds of a product with one row, about: those of a dense matrix run in lanes of columns.
    pub fn work(&self) -> u64 {
        match self {
            Packed::Dense { rows, cols, .. } => (rows * cols) as u64,
            Packed::Sparse(listed) => listed.entries.len() as u64,
        }
    }

    /// Each row of `a` times the matrix: set, or added to, a row of `c`. A sparse one takes room, which grows as needed.
    pub fn product(&self, a: &[f32], c: &mut [f32], sets: bool, room: &mut Buffer) {
        match self {
            Packed::Dense { rows, cols, lanes } => {
                let panels = Panels::new(*rows, *cols, lanes);
                if sets { panels.set_product(a, c) } else { panels.add_product(a, c) }
            }
            Packed::Sparse(listed) => {
                listed.as_columns().product(a, c, sets, room.lanes(Columns::room(listed.rows)));
            }
        }
    }
}
