//! MatMul with broadcasting and Gemm, with exactly one computed factor.

use super::Reading;
use super::bilinear::bilinear;
use super::elementwise::add_operand;
use super::shape::{broadcast, broadcast_indices, checked_len};
use crate::affine::{Affine, MAX_ENTRIES, too_many_entries};
use crate::approx::Approx;

/// A stack of matrices: where each lies, and how to step through its rows and columns.
struct Stack {
    batch: Vec<usize>,
    rows: usize,
    cols: usize,
    row_step: usize,
    col_step: usize,
}

impl Stack {
    /// numpy's convention: a vector on the left is a row, on the right a column.
    fn new(shape: &[usize], is_left: bool) -> Result<Stack, String> {
        match *shape {
            [] => Err("a scalar has no matrix product".into()),
            [n] if is_left => Ok(Stack { batch: vec![], rows: 1, cols: n, row_step: n, col_step: 1 }),
            [n] => Ok(Stack { batch: vec![], rows: n, cols: 1, row_step: 1, col_step: 1 }),
            [ref batch @ .., rows, cols] => {
                Ok(Stack { batch: batch.to_vec(), rows, cols, row_step: cols, col_step: 1 })
            }
        }
    }

    fn transposed(self) -> Stack {
        Stack { rows: self.cols, cols: self.rows, row_step: self.col_step, col_step: self.row_step, ..self }
    }

    fn at(&self, matrix: usize, row: usize, col: usize) -> usize {
        matrix * self.rows * self.cols + row * self.row_step + col * self.col_step
    }
}

pub fn matmul(a: &Reading, b: &Reading) -> Result<(Vec<usize>, Affine), String> {
    let (left, right) = (Stack::new(a.shape, true)?, Stack::new(b.shape, false)?);
    let mut shape = broadcast(&left.batch, &right.batch)?;
    let map = product(a, &left, b, &right, &shape, Approx::ONE)?;
    if a.shape.len() > 1 {
        shape.push(left.rows);
    }
    if b.shape.len() > 1 {
        shape.push(right.cols);
    }
    Ok((shape, map))
}

/// `alpha·A′·B′ + beta·C`.
pub fn gemm(
    alpha: f32,
    beta: f32,
    trans_a: bool,
    trans_b: bool,
    inputs: &[Reading],
) -> Result<(Vec<usize>, Affine), String> {
    let (a, b) = (&inputs[0], &inputs[1]);
    if a.shape.len() != 2 || b.shape.len() != 2 {
        return Err(format!("its factors have shapes {:?} and {:?}, not two matrices", a.shape, b.shape));
    }
    let oriented = |stack: Stack, transpose| if transpose { stack.transposed() } else { stack };
    let left = oriented(Stack::new(a.shape, true)?, trans_a);
    let right = oriented(Stack::new(b.shape, false)?, trans_b);
    let shape = vec![left.rows, right.cols];
    let mut map = product(a, &left, b, &right, &[], Approx::exact(f64::from(alpha)))?;
    if let Some(c) = inputs.get(2) {
        if broadcast(c.shape, &shape)? != shape {
            return Err(format!("its third input of shape {:?} does not broadcast to {shape:?}", c.shape));
        }
        add_operand(&mut map, c, &broadcast_indices(c.shape, &shape), Approx::exact(f64::from(beta)));
    }
    Ok((shape, map))
}

/// `alpha` times the products of the two stacks' matrices, paired by broadcasting to `batch`.
fn product(
    a: &Reading,
    left: &Stack,
    b: &Reading,
    right: &Stack,
    batch: &[usize],
    alpha: Approx,
) -> Result<Affine, String> {
    if left.cols != right.rows {
        return Err(format!("shapes {:?} and {:?} do not multiply", a.shape, b.shape));
    }
    let outputs = checked_len(&[checked_len(batch)?, left.rows, right.cols])?;
    if outputs.saturating_mul(left.cols) > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    let (left_at, right_at) = (broadcast_indices(&left.batch, batch), broadcast_indices(&right.batch, batch));
    let terms = |output: usize| {
        let (row, j) = (output / right.cols, output % right.cols);
        let (m, i) = (row / left.rows, row % left.rows);
        let (l, r) = (left_at[m], right_at[m]);
        (0..left.cols).map(move |k| (left.at(l, i, k), right.at(r, k, j)))
    };
    bilinear(a, b, alpha, outputs, terms)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::ops::tests::{computed, image, reading, tensor};

    fn values(map: &Affine, x: &[f64]) -> Vec<f64> {
        let x: Vec<Approx> = x.iter().map(|&v| Approx::exact(v)).collect();
        image(map, &x).iter().map(|v| v.value).collect()
    }

    #[test]
    fn the_constant_may_stand_on_either_side() {
        let w = tensor(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let constant = reading(&w);
        let (shape, map) = matmul(&computed(&[1, 2]), &constant).unwrap();
        assert_eq!((shape, values(&map, &[1.0, 10.0])), (vec![1, 3], vec![41.0, 52.0, 63.0]));
        let (shape, map) = matmul(&constant, &computed(&[3])).unwrap();
        assert_eq!((shape, values(&map, &[1.0, 10.0, 100.0])), (vec![2], vec![321.0, 654.0]));
    }

    #[test]
    fn a_batch_of_matrices_broadcasts() {
        let w = tensor(&[2, 1], &[1.0, 10.0]);
        let constant = reading(&w);
        let (shape, map) = matmul(&computed(&[2, 1, 2]), &constant).unwrap();
        assert_eq!((shape, values(&map, &[1.0, 2.0, 3.0, 4.0])), (vec![2, 1, 1], vec![21.0, 43.0]));
    }

    #[test]
    fn gemm_scales_and_transposes() {
        let w = tensor(&[2, 2], &[1.0, 2.0, 3.0, 4.0]);
        let c = tensor(&[2], &[1.0, 1.0]);
        let inputs = [computed(&[1, 2]), reading(&w), reading(&c)];
        let (shape, map) = gemm(2.0, 0.5, false, true, &inputs).unwrap();
        assert_eq!((shape, values(&map, &[1.0, 1.0])), (vec![1, 2], vec![6.5, 14.5]));
        let (_, map) = gemm(1.0, 1.0, false, false, &inputs[..2]).unwrap();
        assert_eq!(values(&map, &[1.0, 1.0]), [4.0, 6.0]);
        let column = [computed(&[2, 1]), inputs[1]];
        let (_, map) = gemm(1.0, 1.0, true, false, &column).unwrap();
        assert_eq!(values(&map, &[1.0, 1.0]), [4.0, 6.0]);
    }
}
