//! A matrix picked from a stage's map, owned: in panels, or by its entries where most are 0.

use super::buffer::Buffer;
use pg_core::kernel::sparse::{Columns, Entry};
use pg_core::kernel::{Lanes, PANEL, Panels, ZERO};
use pg_core::map::panels;

/// A matrix of which this part is not 0 costs a product about the same either way.
const DENSE: f64 = 0.2;

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

    /// The part that is not 0.
    fn density(&self) -> f64 {
        self.entries.len() as f64 / (self.rows * self.ends.len()).max(1) as f64
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
        for col in 0..self.ends.len() {
            for &Entry { row, value } in self.column(col) {
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
        if matrix.density() < DENSE {
            return (Packed::Sparse(matrix.clone()), Packed::Sparse(matrix.transposed()));
        }
        let (rows, cols) = (matrix.rows, matrix.ends.len());
        let (mut lanes, mut transposed) = (vec![ZERO; panels(rows, cols)], vec![ZERO; panels(cols, rows)]);
        for col in 0..cols {
            for &Entry { row, value } in matrix.column(col) {
                let row = row as usize;
                lanes[col / PANEL * rows + row].0[col % PANEL] = value;
                transposed[row / PANEL * cols + col].0[row % PANEL] = value;
            }
        }
        (Packed::Dense { rows, cols, lanes }, Packed::Dense { rows: cols, cols: rows, lanes: transposed })
    }

    /// Each row of `a` times the matrix: set, or added to, a row of `c`. A sparse one takes room, which grows as needed.
    pub fn product(&self, a: &[f32], c: &mut [f32], sets: bool, room: &mut Buffer) {
        match self {
            Packed::Dense { rows, cols, lanes } => {
                let panels = Panels::new(*rows, *cols, lanes);
                if sets { panels.set_product(a, c) } else { panels.add_product(a, c) }
            }
            Packed::Sparse(Listed { rows, ends, entries }) => {
                Columns::new(*rows, ends, entries).product(a, c, sets, room.lanes(Columns::room(*rows)))
            }
        }
    }
}
