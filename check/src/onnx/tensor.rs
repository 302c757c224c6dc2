//! Tensors of affine forms, and the constant ones that a model stores.

use std::borrow::Cow;
use std::rc::Rc;

use crate::number::Dyadic;
use crate::protobuf::Message;
use crate::{Refused, refuse, refused, require};

use super::row::{Part, Row};

/// The most terms of all affine forms of a network together; a form counts as three more.
pub(super) const MAX_TERMS: usize = 1 << 24;
/// The most elements of a tensor.
const MAX_ELEMENTS: usize = 1 << 26;

/// Elements in row-major order, as many as the shape says and at least one.
#[derive(Clone)]
pub(super) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    pub(super) data: Data<'a>,
}

#[derive(Clone)]
pub(super) enum Data<'a> {
    /// float32 numbers as they are in the file, so that large weights stay as small as there.
    Floats(&'a [[u8; 4]]),
    Integers(Vec<i64>),
    Rows(Rc<Vec<Row>>),
}

impl<'a> Tensor<'a> {
    /// The tensor whose element at each index is given.
    pub(super) fn build(
        shape: Vec<usize>,
        element: impl Fn(&[usize]) -> Result<Row, Refused>,
    ) -> Result<Self, Refused> {
        let (mut rows, mut terms) = (Vec::new(), 0);
        for place in 0..count(&shape)? {
            let row = element(&index(&shape, place))?;
            terms += row.terms.len() + 3;
            require(terms <= MAX_TERMS, "a tensor has too many coefficients")?;
            rows.push(row);
        }
        Ok(Self { shape, data: Data::Rows(Rc::new(rows)) })
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Refused> {
        let is_as_large = count(&shape)? == count(&self.shape)?;
        require(is_as_large, format!("the shape {:?} cannot become {shape:?}", self.shape))?;
        Ok(Self { shape, data: self.data.clone() })
    }

    /// The place of the element at an index. Broadcasting is in it: leading axes may be missing, and there is the one
    /// element of an axis of size 1 everywhere.
    pub(super) fn place(&self, index: &[usize]) -> usize {
        let index = &index[index.len() - self.shape.len()..];
        let step = |place: usize, (&size, &at): (&usize, &usize)| place * size + if size == 1 { 0 } else { at };
        self.shape.iter().zip(index).fold(0, step)
    }

    pub(super) fn row(&self, place: usize) -> Result<Cow<'_, Row>, Refused> {
        match &self.data {
            Data::Rows(rows) => Ok(Cow::Borrowed(&rows[place])),
            _ => self.constant(place).map(Row::constant).map(Cow::Owned),
        }
    }

    /// An element with the weight that it has in a sum.
    pub(super) fn part(&self, weight: Dyadic, place: usize) -> Result<Part<'_>, Refused> {
        Ok((weight, self.row(place)?))
    }

    pub(super) fn constant(&self, place: usize) -> Result<Dyadic, Refused> {
        let value = match &self.data {
            Data::Floats(floats) => Dyadic::from_f32_bits(u32::from_le_bytes(floats[place])),
            Data::Rows(rows) => rows[place].as_constant(),
            Data::Integers(_) => return refuse("integers stand where floats were expected"),
        };
        value.ok_or_else(|| refused("a constant was expected where a value depends on the input or was rounded"))
    }

    pub(super) fn is_constant(&self) -> bool {
        match &self.data {
            Data::Rows(rows) => rows.iter().all(|row| row.terms.is_empty()),
            _ => true,
        }
    }

    pub(super) fn integers(&self) -> Result<&[i64], Refused> {
        match &self.data {
            Data::Integers(integers) => Ok(integers),
            _ => refuse("floats stand where integers were expected"),
        }
    }

    /// The terms that it takes, as [`MAX_TERMS`] counts them.
    pub(super) fn terms(&self) -> usize {
        match &self.data {
            Data::Rows(rows) => rows.iter().map(|row| row.terms.len() + 3).sum(),
            _ => 0,
        }
    }

    /// The fields of a `TensorProto` that are read. Others hold data of other types or in other files.
    pub(super) const FIELDS: [u64; 8] = [1, 2, 4, 7, 8, 9, 12, 16];

    /// The value of a `TensorProto`.
    pub(super) fn read(tensor: &Message<'a>) -> Result<Self, Refused> {
        let size = |dim: i64| usize::try_from(dim).map_err(|_| refused("a dimension is negative"));
        let shape = tensor.ints(1)?.into_iter().map(size).collect::<Result<Vec<_>, _>>()?;
        let number = count(&shape)?;
        let data = match (tensor.int(2)?, tensor.bytes(9)?, tensor.bytes(4)?, &tensor.ints(7)?[..]) {
            (1, bytes, [], []) | (1, [], bytes, []) if bytes.len() == 4 * number => Data::Floats(bytes.as_chunks().0),
            (7, [], [], integers) if integers.len() == number => Data::Integers(integers.to_vec()),
            (7, bytes, [], []) if bytes.len() == 8 * number => {
                Data::Integers(bytes.as_chunks().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
            }
            (kind, ..) => return refuse(format!("its elements, of the type {kind}, are unknown or not {number}")),
        };
        let is_finite = |bits: &[u8; 4]| Dyadic::from_f32_bits(u32::from_le_bytes(*bits)).is_some();
        match data {
            Data::Floats(floats) if !floats.iter().all(is_finite) => refuse("it holds infinity or NaN"),
            _ => Ok(Self { shape, data }),
        }
    }
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
