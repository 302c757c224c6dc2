//! Symbolic tensors, and the constant ones that a model stores.

use std::borrow::Cow;

use crate::number::Dyadic;
use crate::protobuf::{Message, Value};
use crate::{Refused, refuse};

use super::row::Row;

/// The most terms of all affine forms of a network together.
pub(super) const MAX_TERMS: usize = 1 << 25;
/// The most elements of a tensor.
const MAX_ELEMENTS: usize = 1 << 26;
/// The most elements of a tensor that is computed.
pub(super) const MAX_COMPUTED: usize = 1 << 22;

/// Elements in row-major order, as many as the shape says.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub(super) shape: Vec<usize>,
    pub(super) data: Data,
}

#[derive(Clone, Debug)]
pub(super) enum Data {
    Constants(Constants),
    Rows(Vec<Row>),
}

/// Exactly known numbers; integers are among them.
#[derive(Clone, Debug)]
pub(super) enum Constants {
    Numbers(Vec<Dyadic>),
    /// The bits of finite float32 numbers, kept as they are in the file so that large weights stay as small as there.
    Floats(Vec<u32>),
}

impl Constants {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Floats(floats) => floats.len(),
        }
    }

    pub(super) fn at(&self, place: usize) -> Dyadic {
        match self {
            Self::Numbers(numbers) => numbers[place],
            Self::Floats(floats) => Dyadic::from_f32_bits(floats[place]).expect("only finite floats are kept"),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = Dyadic> {
        (0..self.len()).map(|place| self.at(place))
    }
}

impl Tensor {
    /// Rows in row-major order; they become constants if all of them are.
    pub(super) fn collect(
        shape: Vec<usize>,
        rows: impl Iterator<Item = Result<Row, Refused>>,
    ) -> Result<Self, Refused> {
        let (mut all, mut terms) = (Vec::new(), 0usize);
        for row in rows {
            let row = row?;
            terms = terms.saturating_add(row.terms.len());
            if terms > MAX_TERMS || all.len() >= MAX_COMPUTED {
                return refuse(format!("a tensor has more than {MAX_TERMS} coefficients or {MAX_COMPUTED} elements"));
            }
            all.push(row);
        }
        if count(&shape)? != all.len() {
            return refuse("the shape does not fit the number of elements");
        }
        let constants = all.iter().map(Row::as_constant).collect::<Option<Vec<_>>>();
        Ok(constants
            .map_or(Self { shape: shape.clone(), data: Data::Rows(all) }, |numbers| Self::numbers(shape, numbers)))
    }

    pub(super) fn numbers(shape: Vec<usize>, numbers: Vec<Dyadic>) -> Self {
        Self { shape, data: Data::Constants(Constants::Numbers(numbers)) }
    }

    pub(super) fn constants(&self) -> Result<&Constants, Refused> {
        match &self.data {
            Data::Constants(values) => Ok(values),
            Data::Rows(_) => refuse("a constant was expected where a value depends on the input or was rounded"),
        }
    }

    pub(super) fn integers(&self) -> Result<Vec<i64>, Refused> {
        let whole = |value: Dyadic| value.to_i64().ok_or_else(|| Refused("an integer was expected".into()));
        self.constants()?.iter().map(whole).collect()
    }

    pub(super) fn rows(&self) -> Result<Cow<'_, [Row]>, Refused> {
        match &self.data {
            Data::Constants(values) if values.len() > MAX_COMPUTED => {
                refuse(format!("more than {MAX_COMPUTED} constants are computed with"))
            }
            Data::Constants(values) => Ok(values.iter().map(Row::constant).collect()),
            Data::Rows(rows) => Ok(Cow::Borrowed(rows)),
        }
    }

    /// The number of terms, or how many would take the memory of what there is instead. What is kept as in the file does
    /// not count.
    pub(super) fn terms(&self) -> usize {
        match &self.data {
            Data::Constants(Constants::Floats(_)) => 0,
            Data::Constants(Constants::Numbers(numbers)) => numbers.len(),
            Data::Rows(rows) => rows.iter().map(|row| row.terms.len() + 3).sum(),
        }
    }

    /// The same elements in another shape.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Result<Self, Refused> {
        if count(&shape)? != count(&self.shape)? {
            return refuse(format!("the shape {:?} cannot become {shape:?}", self.shape));
        }
        Ok(Self { shape, data: self.data.clone() })
    }

    /// The elements at these places; where there is none, zero.
    pub(super) fn select(&self, shape: Vec<usize>, places: &[Option<usize>]) -> Result<Self, Refused> {
        fn pick<T: Clone + Default>(from: &[T], places: &[Option<usize>]) -> Option<Vec<T>> {
            places.iter().map(|place| place.map_or(Some(T::default()), |place| from.get(place).cloned())).collect()
        }
        let data = match &self.data {
            Data::Constants(Constants::Numbers(from)) => {
                pick(from, places).map(Constants::Numbers).map(Data::Constants)
            }
            Data::Constants(Constants::Floats(from)) => pick(from, places).map(Constants::Floats).map(Data::Constants),
            Data::Rows(rows) => pick(rows, places).map(Data::Rows),
        };
        let data = data.ok_or_else(|| Refused("an index is out of range".into()))?;
        Ok(Self { shape, data })
    }

    /// A `TensorProto`: its name and its value.
    pub(super) fn read(bytes: &[u8]) -> Result<(&str, Self), Refused> {
        let (mut name, mut dims, mut kind) = ("", Vec::new(), 0);
        let (mut raw, mut ints) = (Vec::new(), Vec::new());
        for field in Message(bytes) {
            match field? {
                (1, value) => value.ints(&mut dims)?,
                (2, value) => kind = value.int()?,
                (5 | 7, value) => value.ints(&mut ints)?,
                (8, value) => name = value.text()?,
                (4 | 9 | 10, value) => value.fixed(&mut raw)?,
                (13, _) | (14, Value::Varint(1..)) => {
                    return refuse(format!("the tensor `{name}` lies in another file, which is not read"));
                }
                (3 | 6 | 11, _) => return refuse(format!("the tensor `{name}` is stored in an unsupported way")),
                _ => {}
            }
        }
        let size = |&dim: &i64| usize::try_from(dim).map_err(|_| Refused("a dimension is negative".into()));
        let shape = dims.iter().map(size).collect::<Result<Vec<_>, _>>()?;
        let values = if ints.is_empty() { decoded(kind, &raw) } else { listed(kind, &ints) };
        let values = values.map_err(|fault| fault.at(format!("tensor `{name}`")))?;
        if count(&shape)? != values.len() || !(ints.is_empty() || raw.is_empty()) {
            return refuse(format!("the tensor `{name}` has {} elements, which is not its shape", values.len()));
        }
        Ok((name, Self { shape, data: Data::Constants(values) }))
    }
}

/// The elements of a tensor that has its bytes in a row, the lowest of each first.
fn decoded(kind: i64, raw: &[u8]) -> Result<Constants, Refused> {
    fn each<const N: usize, T>(raw: &[u8], value: impl Fn([u8; N]) -> Option<T>) -> Option<Vec<T>> {
        let (chunks, rest) = raw.as_chunks::<N>();
        if rest.is_empty() { chunks.iter().map(|chunk| value(*chunk)).collect() } else { None }
    }
    let values = match kind {
        1 => {
            let finite = |bits: u32| Dyadic::from_f32_bits(bits).map(|_| bits);
            let floats = each(raw, |bytes| finite(u32::from_le_bytes(bytes)));
            return floats.map(Constants::Floats).ok_or_else(no_numbers);
        }
        6 => each(raw, |bytes| Dyadic::new(i32::from_le_bytes(bytes).into(), 0)),
        7 => each(raw, |bytes| Dyadic::new(i64::from_le_bytes(bytes).into(), 0)),
        10 => each(raw, |bytes| Dyadic::from_f16_bits(u16::from_le_bytes(bytes))),
        11 => each(raw, |bytes| Dyadic::from_f64_bits(u64::from_le_bytes(bytes))),
        16 => each(raw, |bytes| Dyadic::from_bf16_bits(u16::from_le_bytes(bytes))),
        _ => return refuse(format!("the element type {kind} is not supported")),
    };
    values.map(Constants::Numbers).ok_or_else(no_numbers)
}

fn no_numbers() -> Refused {
    Refused("its data is cut off, or holds infinity or NaN".into())
}

/// The elements of a tensor that has them as integers: a 16-bit float is stored as the integer of its bits.
fn listed(kind: i64, ints: &[i64]) -> Result<Constants, Refused> {
    let bits = |&value: &i64| u16::try_from(value).ok();
    let values: Option<Vec<_>> = match kind {
        6 | 7 => ints.iter().map(|&value| Dyadic::new(value.into(), 0)).collect(),
        10 => ints.iter().map(|value| Dyadic::from_f16_bits(bits(value)?)).collect(),
        16 => ints.iter().map(|value| Dyadic::from_bf16_bits(bits(value)?)).collect(),
        _ => return refuse(format!("the element type {kind} is not supported in this form")),
    };
    values.map(Constants::Numbers).ok_or_else(no_numbers)
}

/// The number of elements of a tensor of this shape.
pub(super) fn count(shape: &[usize]) -> Result<usize, Refused> {
    let product = shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let product = product.filter(|&product| product <= MAX_ELEMENTS);
    product.ok_or_else(|| Refused(format!("a tensor of the shape {shape:?} has more than {MAX_ELEMENTS} elements")))
}
