//! Sums and products. One factor of a product is constant, so every result is affine.

use std::iter::repeat_n;

use crate::number::Dyadic;
use crate::onnx::row::Row;
use crate::onnx::tensor::Tensor;
use crate::{Refused, refuse};

use super::Call;
use super::places::{places, strides};

pub(super) fn add(call: &Call<'_>) -> Result<Tensor, Refused> {
    weighted_sum(call.input(0)?, Dyadic::ONE, call.input(1)?, Dyadic::ONE)
}

pub(super) fn sub(call: &Call<'_>) -> Result<Tensor, Refused> {
    weighted_sum(call.input(0)?, Dyadic::ONE, call.input(1)?, Dyadic::ONE.neg())
}

pub(super) fn neg(call: &Call<'_>) -> Result<Tensor, Refused> {
    scaled(call.input(0)?, Dyadic::ONE.neg())
}

pub(super) fn sum(call: &Call<'_>) -> Result<Tensor, Refused> {
    let mut sum = call.input(0)?.clone();
    for number in 1..call.inputs.len() {
        sum = weighted_sum(&sum, Dyadic::ONE, call.input(number)?, Dyadic::ONE)?;
    }
    Ok(sum)
}

pub(super) fn mul(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (left, right) = (call.input(0)?, call.input(1)?);
    let (rows, factors) = if right.constants().is_ok() { (left, right) } else { (right, left) };
    let factors_of = factors.constants()?;
    elementwise(rows, factors, |row, place| Row::combination([(factors_of.at(place), row)]))
}

/// Two constants are not divided: integers among them would be rounded, and nothing here tells them from floats.
pub(super) fn div(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (left, right) = (call.input(0)?, call.input(1)?);
    let divisors = right.constants()?;
    if left.constants().is_ok() {
        return refuse("the division of a constant is not supported");
    }
    elementwise(left, right, |row, place| row.divided(divisors.at(place)))
}

/// `alpha · A' · B' + beta · C`, `A'` and `B'` transposed on demand.
pub(super) fn gemm(call: &Call<'_>) -> Result<Tensor, Refused> {
    let matrix = |number, turned| -> Result<Matrix<'_>, Refused> {
        let tensor = call.input(number)?;
        let [_, _] = tensor.shape[..] else { return refuse("a matrix was expected") };
        let matrix = Matrix::of(tensor, true)?;
        Ok(if call.int(turned, 0) == 0 { matrix } else { matrix.turned() })
    };
    let product = matrix(0, "transA")?.times(&matrix(1, "transB")?)?;
    let alpha = call.float("alpha", Dyadic::ONE);
    let Some(c) = call.optional(2) else { return scaled(&product, alpha) };
    let sum = weighted_sum(&product, alpha, c, call.float("beta", Dyadic::ONE))?;
    if sum.shape == product.shape { Ok(sum) } else { refuse("C has more elements than the product") }
}

/// A vector on the left is a row and one on the right a column, and that axis of the result goes. Axes before the last
/// two are those of a batch and have to be of size 1.
pub(super) fn matmul(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (a, b) = (call.input(0)?, call.input(1)?);
    let product = Matrix::of(a, true)?.times(&Matrix::of(b, false)?)?;
    let batch = a.shape.len().max(b.shape.len()).saturating_sub(2);
    let mut shape: Vec<usize> = repeat_n(1, batch).collect();
    shape.extend((a.shape.len() > 1).then_some(product.shape[0]));
    shape.extend((b.shape.len() > 1).then_some(product.shape[1]));
    product.reshaped(shape)
}

/// A tensor seen as a matrix: the sizes of its two axes and the distances between neighbours along them.
struct Matrix<'a> {
    tensor: &'a Tensor,
    sizes: [usize; 2],
    strides: [usize; 2],
}

impl<'a> Matrix<'a> {
    fn of(tensor: &'a Tensor, is_left: bool) -> Result<Self, Refused> {
        let sizes = match tensor.shape[..] {
            [size] if is_left => [1, size],
            [size] => [size, 1],
            [ref batch @ .., rows, columns] if batch.iter().all(|&size| size == 1) => [rows, columns],
            _ => return refuse(format!("a tensor of the shape {:?} is no matrix", tensor.shape)),
        };
        Ok(Self { tensor, sizes, strides: [sizes[1], 1] })
    }

    fn turned(self) -> Self {
        let ([rows, columns], [down, right]) = (self.sizes, self.strides);
        Self { sizes: [columns, rows], strides: [right, down], ..self }
    }

    fn place(&self, row: usize, column: usize) -> usize {
        row * self.strides[0] + column * self.strides[1]
    }

    /// The product of two matrices, one of them constant.
    fn times(&self, other: &Matrix<'_>) -> Result<Tensor, Refused> {
        let ([m, inner], [also_inner, n]) = (self.sizes, other.sizes);
        if inner != also_inner {
            return refuse(format!("matrices of the sizes {:?} and {:?} have no product", self.sizes, other.sizes));
        }
        let cells = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        if let Ok(weights) = other.tensor.constants() {
            let rows = self.tensor.rows()?;
            let part = |i, j, k| (weights.at(other.place(k, j)), &rows[self.place(i, k)]);
            let cell = |(i, j)| Row::combination((0..inner).map(|k| part(i, j, k)));
            return Tensor::collect(vec![m, n], cells.map(cell));
        }
        let (weights, rows) = (self.tensor.constants()?, other.tensor.rows()?);
        let part = |i, j, k| (weights.at(self.place(i, k)), &rows[other.place(k, j)]);
        let cell = |(i, j)| Row::combination((0..inner).map(|k| part(i, j, k)));
        Tensor::collect(vec![m, n], cells.map(cell))
    }
}

fn scaled(tensor: &Tensor, factor: Dyadic) -> Result<Tensor, Refused> {
    if factor == Dyadic::ONE {
        return Ok(tensor.clone());
    }
    Tensor::collect(tensor.shape.clone(), tensor.rows()?.iter().map(|row| Row::combination([(factor, row)])))
}

fn weighted_sum(left: &Tensor, weight: Dyadic, right: &Tensor, other_weight: Dyadic) -> Result<Tensor, Refused> {
    let others = right.rows()?;
    elementwise(left, right, |row, place| Row::combination([(weight, row), (other_weight, &others[place])]))
}

/// Combines each row on the left with the place on the right that broadcasting pairs it with.
fn elementwise(
    left: &Tensor,
    right: &Tensor,
    combine: impl Fn(&Row, usize) -> Result<Row, Refused>,
) -> Result<Tensor, Refused> {
    let rank = left.shape.len().max(right.shape.len());
    let padded = |tensor: &Tensor| -> Vec<usize> {
        repeat_n(1, rank - tensor.shape.len()).chain(tensor.shape.iter().copied()).collect()
    };
    let (from, also_from) = (padded(left), padded(right));
    let mut shape = Vec::new();
    for (&size, &other) in from.iter().zip(&also_from) {
        if size != other && size != 1 && other != 1 {
            return refuse(format!("the shapes {:?} and {:?} do not match", left.shape, right.shape));
        }
        shape.push(if size == 1 { other } else { size });
    }
    let (here, there) = (stretched(&from, &shape)?, stretched(&also_from, &shape)?);
    let rows = left.rows()?;
    let pairs = here.iter().zip(&there).map(|(here, there)| match (here, there) {
        (Some(here), Some(there)) => combine(&rows[*here], *there),
        _ => refuse("broadcasting leaves the tensor"),
    });
    Tensor::collect(shape, pairs)
}

/// Where the elements of a tensor of this shape, stretched to another, come from: along an axis of size 1, from there.
fn stretched(from: &[usize], to: &[usize]) -> Result<Vec<Option<usize>>, Refused> {
    let axis = |((&size, &stride), &wanted): ((&usize, &usize), &usize)| -> Vec<Option<usize>> {
        (0..wanted).map(|index| Some(if size == 1 { 0 } else { index * stride })).collect()
    };
    places(&from.iter().zip(&strides(from)).zip(to).map(axis).collect::<Vec<_>>())
}
