//! A linear program as data: what HiGHS is handed in one call, its rows compressed.

use highs_sys::HighsInt;

/// Minimise c·x over columns and rows with bounds, which may be infinite.
#[derive(Debug, Default)]
pub struct Program {
    pub(super) cost: Vec<f64>,
    pub(super) col_lower: Vec<f64>,
    pub(super) col_upper: Vec<f64>,
    pub(super) row_lower: Vec<f64>,
    pub(super) row_upper: Vec<f64>,
    /// Where each row begins in the two arrays below it.
    pub(super) starts: Vec<HighsInt>,
    pub(super) columns: Vec<HighsInt>,
    pub(super) values: Vec<f64>,
}

impl Program {
    pub fn rows(&self) -> usize {
        self.starts.len()
    }

    pub fn cols(&self) -> usize {
        self.cost.len()
    }

    /// Adds a variable and returns its index.
    pub fn add_col(&mut self, cost: f64, lower: f64, upper: f64) -> usize {
        self.cost.push(cost);
        self.col_lower.push(lower);
        self.col_upper.push(upper);
        self.cols() - 1
    }

    /// Adds `lower ≤ Σ terms ≤ upper` and returns its index. No column comes twice.
    pub fn add_row(&mut self, lower: f64, upper: f64, terms: impl IntoIterator<Item = (usize, f64)>) -> usize {
        self.starts.push(self.columns.len() as HighsInt);
        terms.into_iter().for_each(|(column, value)| {
            self.columns.push(column as HighsInt);
            self.values.push(value);
        });
        self.row_lower.push(lower);
        self.row_upper.push(upper);
        self.rows() - 1
    }
}
