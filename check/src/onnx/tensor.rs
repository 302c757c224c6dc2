//! Tensors of affine forms, and the constant ones that a model stores.

use crate::{Dyadic, Message, Refused, refuse, refused, require};
use std::sync::Arc;

use super::row::Row;

/// The most terms of all affine forms of a network together; a form counts as three more.
pub(super) const MAX_TERMS: usize = 1 << 24;
/// The most elements of a tensor.
const MAX_ELEMENTS: usize = 1 << 26;

/// Elements in row-major order, as many as the shape says and at least one.
#[derive(Clone)]
pub(super) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    data: Data<'a>,
    /// Whether a model stores it as integers, which are for shapes and indices alone.
    pub(super) is_integer: bool,
}

#[derive(Clone)]
enum Data<'a> {
    /// float32 numbers as they are in the file, so that large weights stay as small as there.
    Floats(&'a [[u8; 4]]),
    Rows(Arc<Vec<Row>>),
}

impl<'a> Tensor<'a> {
    pub(super) fn new(shape: Vec<usize>, rows: Vec<Row>) -> Self {
        Self { shape, data: Data::Rows(Arc::new(rows)), is_integer: false }
    }

    /// The tensor whose element at each place is given.
    pub(super) fn build(shape: Vec<usize>, element: impl Fn(usize) -> Result<Row, Refused>) -> Result<Self, Refused> {
        let (mut rows, mut terms) = (Vec::new(), 0);
        for place in 0..count(&shape)? {
            let row = element(place)?;
            terms += row.terms.len() + 3;
            require(terms <= MAX_TERMS, "a tensor has too many coefficients")?;
            rows.push(row);
        }
        Ok(Self::new(shape, rows))
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Refused> {
        let is_as_large = count(&shape)? == count(&self.shape)?;
        require(is_as_large, format!("the shape {:?} cannot become {shape:?}", self.shape))?;
        Ok(Self { shape, ..self.clone() })
    }

    /// Whether broadcasting makes it a tensor of this shape.
    pub(super) fn broadcasts(&self, shape: &[usize]) -> bool {
        let mut axes = self.shape.iter().rev().zip(shape.iter().rev());
        self.shape.len() <= shape.len() && axes.all(|(&own, &size)| own == 1 || own == size)
    }

    /// The place of the element at an index. Broadcasting is in it: leading axes may be missing, and there is the one element of an
    /// axis of size 1 everywhere.
    pub(super) fn place(&self, index: &[usize]) -> usize {
        let index = &index[index.len() - self.shape.len()..];
        let step = |place: usize, (&size, &at): (&usize, &usize)| place * size + if size == 1 { 0 } else { at };
        self.shape.iter().zip(index).fold(0, step)
    }

    pub(super) fn rows(&self) -> Arc<Vec<Row>> {
        match &self.data {
            Data::Rows(rows) => rows.clone(),
            Data::Floats(floats) => Arc::new(floats.iter().filter_map(float).map(Row::constant).collect()),
        }
    }

    /// The exact values by their places, if all are known and depend on no variable.
    pub(super) fn constants(&self) -> Result<impl Fn(usize) -> Dyadic, Refused> {
        let is_known = |row: &Row| row.terms.is_empty() && row.error.is_zero();
        let are_known = if let Data::Rows(rows) = &self.data { rows.iter().all(is_known) } else { true };
        require(are_known, "a constant was expected where a value depends on the input or was rounded")?;
        Ok(|place: usize| match &self.data {
            Data::Rows(rows) => rows[place].bias,
            Data::Floats(floats) => float(&floats[place]).unwrap_or_default(),
        })
    }

    pub(super) fn integers(&self) -> Result<Vec<i64>, Refused> {
        let whole = |value: Dyadic| value.floor_scaled(0).and_then(|value| i64::try_from(value).ok());
        let whole = (0..count(&self.shape)?).map(self.constants()?).map(whole).collect::<Option<_>>();
        whole.ok_or_else(Refused::overflow)
    }

    /// The terms that it takes, as [`MAX_TERMS`] counts them.
    pub(super) fn terms(&self) -> usize {
        if let Data::Rows(rows) = &self.data { rows.iter().map(|row| row.terms.len() + 3).sum() } else { 0 }
    }

    /// The fields of a `TensorProto` that are read. Others hold data of other types or in other files.
    pub(super) const FIELDS: [u64; 8] = [1, 2, 4, 7, 8, 9, 12, 16];

    /// The value of a `TensorProto`.
    pub(super) fn read(tensor: &Message<'a>) -> Result<Self, Refused> {
        let size = |dim: i64| usize::try_from(dim).map_err(|_| refused("a dimension is negative"));
        let shape = tensor.ints(1)?.into_iter().map(size).collect::<Result<Vec<_>, _>>()?;
        let (number, kind) = (count(&shape)?, tensor.int(2)?);
        let whole = |integers: &[i64]| integers.iter().filter_map(|&i| Dyadic::new(i.into(), 0)).collect::<Vec<_>>();
        let integers = match (kind, tensor.bytes(9)?, tensor.bytes(4)?, &tensor.ints(7)?[..]) {
            (1, bytes, [], []) | (1, [], bytes, []) if bytes.len() == 4 * number => {
                let floats = bytes.as_chunks().0;
                require(floats.iter().all(|bits| float(bits).is_some()), "it holds infinity or NaN")?;
                return Ok(Self { shape, data: Data::Floats(floats), is_integer: false });
            }
            (7, [], [], integers) if integers.len() == number => whole(integers),
            (7, bytes, [], []) if bytes.len() == 8 * number => {
                whole(&bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect::<Vec<_>>())
            }
            _ => return refuse(format!("its elements, of the type {kind}, are unknown or not {number}")),
        };
        Ok(Self { is_integer: true, ..Self::new(shape, integers.into_iter().map(Row::constant).collect()) })
    }
}

fn float(bits: &[u8; 4]) -> Option<Dyadic> {
    Dyadic::from_f32_bits(u32::from_le_bytes(*bits))
}

/// The number of elements of a tensor of this shape.
pub(super) fn count(shape: &[usize]) -> Result<usize, Refused> {
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let product = product.filter(|product| (1..=MAX_ELEMENTS).contains(product));
    product.ok_or_else(|| refused(format!("a tensor of the shape {shape:?} has not 1 to {MAX_ELEMENTS} elements")))
}

/// The index of the element at a place.
pub(super) fn index(shape: &[usize], mut place: usize) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (at, size) in index.iter_mut().zip(shape).rev() {
        (*at, place) = (place % size, place / size);
    }
    index
}
