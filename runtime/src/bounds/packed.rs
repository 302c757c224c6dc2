//! A matrix picked from a stage's map, owned, in panels.

use pg_core::kernel::{Lanes, Panels, ZERO};
use pg_core::map::{pack, panels};

#[derive(Clone)]
pub struct Packed {
    rows: usize,
    cols: usize,
    lanes: Vec<Lanes>,
}

impl Packed {
    /// From its rows, one after the other.
    pub fn new(rows: usize, cols: usize, matrix: &[f32]) -> Packed {
        let mut lanes = vec![ZERO; panels(rows, cols)];
        pack(rows, cols, matrix, &mut lanes);
        Packed { rows, cols, lanes }
    }

    /// Each row of `a` times the matrix: set, or added to, a row of `c`.
    pub fn product(&self, a: &[f32], c: &mut [f32], sets: bool) {
        let panels = Panels::new(self.rows, self.cols, &self.lanes);
        if sets { panels.set_product(a, c) } else { panels.add_product(a, c) }
    }
}
