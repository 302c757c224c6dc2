//! The maps between stages, owned: what the compiler chose for each.

use ndarray::Array2;
use pg_core::map::Geometry;
use std::fmt;

#[derive(Clone, Debug)]
pub enum Map {
    /// One row a neuron.
    Dense(Array2<f32>),
    Sparse(Rows),
    /// One row an output channel, of as many weights as its window has taps.
    Conv {
        geometry: Geometry,
        kernel: Array2<f32>,
    },
}

/// Rows of columns and values, columns ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    pub cols: usize,
    /// Where each row begins, and at last the number of entries.
    pub starts: Vec<u32>,
    pub columns: Vec<u32>,
    pub values: Vec<f32>,
}

/// A matrix is sparse if it has at least so many entries, and at most one in so many is not 0.
const LEAST_ENTRIES: usize = 1024;
const SPARSITY: usize = 8;
/// A convolution is worth its shape if each of its weights stands for so many entries.
const REUSE: usize = 2;

impl Rows {
    pub fn new(cols: usize) -> Rows {
        Rows { cols, starts: vec![0], ..Rows::default() }
    }

    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    pub fn push(&mut self, row: impl Iterator<Item = (u32, f32)>) {
        row.for_each(|(col, value)| {
            self.columns.push(col);
            self.values.push(value);
        });
        self.starts.push(self.values.len() as u32);
    }

    pub fn row(&self, neuron: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let row = self.starts[neuron] as usize..self.starts[neuron + 1] as usize;
        self.columns[row.clone()].iter().zip(&self.values[row]).map(|(&col, &value)| (col as usize, value))
    }

    fn is_sparse(&self) -> bool {
        let size = self.rows().saturating_mul(self.cols);
        size >= LEAST_ENTRIES && self.values.len().saturating_mul(SPARSITY) <= size
    }

    fn dense(&self) -> Array2<f32> {
        let mut matrix = Array2::zeros((self.rows(), self.cols));
        (0..self.rows()).for_each(|j| self.row(j).for_each(|(col, value)| matrix[[j, col]] = value));
        matrix
    }
}

impl Map {
    /// The kind that fits: a convolution of one of the given geometries, sparse, or dense.
    pub fn choose(rows: Rows, windows: &[Geometry]) -> Map {
        let conv = |&geometry: &Geometry| {
            let kernel = kernel(&rows, &geometry)?;
            (REUSE * kernel.len() <= rows.values.len()).then_some(Map::Conv { geometry, kernel })
        };
        match windows.iter().find_map(conv) {
            Some(conv) => conv,
            None if rows.is_sparse() => Map::Sparse(rows),
            None => Map::Dense(rows.dense()),
        }
    }

    pub fn rows(&self) -> usize {
        match self {
            Map::Dense(matrix) => matrix.nrows(),
            Map::Sparse(rows) => rows.rows(),
            Map::Conv { geometry, .. } => geometry.outputs(),
        }
    }

    pub fn cols(&self) -> usize {
        match self {
            Map::Dense(matrix) => matrix.ncols(),
            Map::Sparse(rows) => rows.cols,
            Map::Conv { geometry, .. } => geometry.inputs(),
        }
    }

    /// All of it, one row a neuron.
    pub fn dense(&self) -> Array2<f32> {
        match self {
            Map::Dense(matrix) => matrix.clone(),
            Map::Sparse(rows) => rows.dense(),
            Map::Conv { geometry, kernel } => {
                let (mut matrix, places) =
                    (Array2::zeros((self.rows(), self.cols())), geometry.output[1] * geometry.output[2]);
                for neuron in 0..self.rows() {
                    geometry
                        .window(neuron)
                        .for_each(|(col, tap)| matrix[[neuron, col]] = kernel[[neuron / places, tap]]);
                }
                matrix
            }
        }
    }

    /// Numbers stored.
    pub fn parameters(&self) -> usize {
        match self {
            Map::Dense(matrix) => matrix.len(),
            Map::Sparse(rows) => rows.values.len(),
            Map::Conv { kernel, .. } => kernel.len(),
        }
    }

    /// As text, for `--dump`.
    pub fn dump(&self) -> String {
        let list = |row: &mut dyn Iterator<Item = String>| format!("  [{}]\n", row.collect::<Vec<_>>().join(", "));
        let dense = |matrix: &Array2<f32>| {
            let rows = matrix.rows().into_iter().map(|row| list(&mut row.iter().map(|w| format!("{w:?}"))));
            rows.collect::<String>()
        };
        match self {
            Map::Dense(matrix) => dense(matrix),
            Map::Sparse(rows) => {
                let row = |j| list(&mut rows.row(j).map(|(col, value)| format!("{col}: {value:?}")));
                (0..rows.rows()).map(row).collect()
            }
            Map::Conv { geometry, kernel } => format!("  {geometry:?}\n{}", dense(kernel)),
        }
    }
}

impl fmt::Display for Map {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Map::Dense(matrix) => write!(f, "dense {}x{}", matrix.nrows(), matrix.ncols()),
            Map::Sparse(rows) => write!(f, "sparse {}x{}, {} entries", rows.rows(), rows.cols, rows.values.len()),
            Map::Conv { geometry, .. } => write!(f, "convolution {geometry}"),
        }
    }
}

/// The kernel, if the matrix is a convolution of this geometry, bit for bit.
fn kernel(rows: &Rows, geometry: &Geometry) -> Option<Array2<f32>> {
    if (rows.rows(), rows.cols) != (geometry.outputs(), geometry.inputs()) {
        return None;
    }
    let places = geometry.output[1] * geometry.output[2];
    let mut kernel: Array2<Option<f32>> = Array2::from_elem((geometry.output[0], geometry.patch()), None);
    for neuron in 0..rows.rows() {
        let mut row = rows.row(neuron).peekable();
        for (col, tap) in geometry.window(neuron) {
            let value = row.next_if(|&(entry, _)| entry == col).map_or(0.0, |(_, value)| value);
            let known = kernel[[neuron / places, tap]].get_or_insert(value);
            if known.to_bits() != value.to_bits() {
                return None;
            }
        }
        if row.next().is_some() {
            return None;
        }
    }
    Some(kernel.mapv(Option::unwrap_or_default))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Geometry = Geometry {
        input: [1, 3, 3],
        output: [1, 2, 2],
        kernel: [2, 2],
        stride: [1, 1],
        dilation: [1, 1],
        pad: [0, 0],
        groups: 1,
    };

    fn convolution(weights: [f32; 4]) -> Rows {
        let mut rows = Rows::new(9);
        for neuron in 0..4 {
            rows.push(WINDOW.window(neuron).map(|(col, tap)| (col as u32, weights[tap])).filter(|(_, w)| *w != 0.0));
        }
        rows
    }

    #[test]
    fn a_convolution_is_recognised_and_nothing_else_is_taken_for_one() {
        let mut rows = convolution([1.0, 0.0, -2.5, 4.0]);
        let Map::Conv { kernel, .. } = Map::choose(rows.clone(), &[WINDOW]) else { panic!("not recognised") };
        assert_eq!(kernel.iter().copied().collect::<Vec<_>>(), [1.0, 0.0, -2.5, 4.0]);
        rows.values[4] += 1.0;
        assert!(matches!(Map::choose(rows, &[WINDOW]), Map::Dense(_)));
        let mut rows = convolution([1.0, 1.0, 1.0, 1.0]);
        rows.columns[3] = 8;
        assert!(matches!(Map::choose(rows, &[WINDOW]), Map::Dense(_)));
    }

    #[test]
    fn few_entries_in_a_large_matrix_are_sparse() {
        let mut rows = Rows::new(64);
        (0..64).for_each(|i| rows.push([(i, 1.0)].into_iter()));
        assert!(matches!(Map::choose(rows, &[]), Map::Sparse(_)));
    }
}
