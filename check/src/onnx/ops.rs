//! The operators that are read, and how a node calls one.
//!
//! An operator takes the attributes that it heeds, and a node with any other is refused; so is one with inputs that the
//! operator does not expect. So nothing that changes the meaning of a node is passed over.

use std::borrow::Cow;
use std::collections::HashMap;

use crate::number::Dyadic;
use crate::protobuf::{Message, Value};
use crate::{Refused, refuse, refused, require};

use super::row::Row;
use super::tensor::{Tensor, count, index};

/// What an operator gives.
type Computed<'a> = Result<Tensor<'a>, Refused>;

/// The value of a node of any operator but Relu, which makes variables.
pub(super) fn run<'a>(operator: &str, inputs: &[Tensor<'a>], attributes: &mut Attributes<'a>) -> Computed<'a> {
    match (operator, inputs) {
        ("Add", [a, b]) => add(a, Dyadic::ONE, b),
        ("Sub", [a, b]) => add(a, Dyadic::MINUS_ONE, b),
        ("Mul", [a, b]) if b.is_constant() => mul(a, b),
        ("Mul", [a, b]) => mul(b, a),
        ("Div", [a, b]) => elementwise(a, b, |i, j| {
            let quotient = a.row(i)?.divided(b.constant(j)?, true);
            quotient.ok_or_else(|| refused("it divides by zero, or the quotient is too long"))
        }),
        ("MatMul", [a, b]) if b.shape.len() == 1 => matmul(b, a, true),
        ("MatMul", [a, b]) => matmul(a, b, false),
        ("Gemm", [a, b, c @ ..]) if c.len() <= 1 => gemm(a, b, c, attributes),
        ("Conv", [x, w, b @ ..]) if b.len() <= 1 => conv(x, w, b, attributes),
        ("BatchNormalization", [x, scale, bias, mean, variance]) => {
            normalised(x, [scale, bias, mean, variance], attributes)
        }
        ("Identity", [x]) => Ok(x.clone()),
        ("Dropout", [x]) => attributes.take("ratio", 1).map(|_| x.clone()),
        ("Flatten", [x]) => {
            attributes.expect("axis", 1, 1)?;
            let (first, others) = x.shape.split_at(x.shape.len().min(1));
            x.reshaped(vec![count(first)?, count(others)?])
        }
        ("Reshape", [x, shape]) => reshape(x, shape.integers()?, attributes),
        ("Transpose", [x]) => transpose(x, attributes),
        ("Slice", [x, starts, ends, axes, steps]) => slice(x, [starts, ends, axes, steps]),
        ("Concat", [first, ..]) => concat(first, inputs, attributes),
        ("Constant", []) => match attributes.take("value", 4)? {
            Some(value) => Tensor::read(&value.message(5, &Tensor::FIELDS)?),
            None => refuse("the value of the constant is missing"),
        },
        _ => refuse(format!("the operator with {} inputs is not supported", inputs.len())),
    }
}

/// The attributes of a node that have not been taken yet.
pub(super) struct Attributes<'a>(HashMap<&'a str, Message<'a>>);

impl<'a> Attributes<'a> {
    pub(super) fn read(node: &Message<'a>) -> Result<Self, Refused> {
        let mut attributes = HashMap::new();
        for attribute in node.messages(5, &[1, 2, 3, 4, 5, 8, 13, 20])? {
            let name = attribute.text(1)?;
            require(attributes.insert(name, attribute).is_none(), format!("the attribute `{name}` is given twice"))?;
        }
        Ok(Self(attributes))
    }

    /// Refuses the node if an attribute has not been taken.
    pub(super) fn finish(&self) -> Result<(), Refused> {
        match self.0.keys().next() {
            Some(name) => refuse(format!("the attribute `{name}` is not supported")),
            None => Ok(()),
        }
    }

    /// An attribute of this type, in the numbers of ONNX: a float 1, an integer 2, a tensor 4, integers 7.
    fn take(&mut self, name: &str, kind: i64) -> Result<Option<Message<'a>>, Refused> {
        match self.0.remove(name) {
            Some(attribute) if attribute.int(20)? != kind => refuse(format!("`{name}` is of the wrong type")),
            found => Ok(found),
        }
    }

    fn int(&mut self, name: &str, default: i64) -> Result<i64, Refused> {
        self.take(name, 2)?.map_or(Ok(default), |attribute| attribute.int(3))
    }

    /// Refuses any value but one.
    fn expect(&mut self, name: &str, default: i64, only: i64) -> Result<(), Refused> {
        let value = self.int(name, default)?;
        require(value == only, format!("`{name}` is {value}, not {only}"))
    }

    /// Refuses any float but 1.
    fn expect_one(&mut self, name: &str) -> Result<(), Refused> {
        match self.take(name, 1)?.map(|attribute| attribute.one(2)).transpose()? {
            None | Some(Some(Value::Fixed32(0x3f80_0000))) => Ok(()),
            _ => refuse(format!("the attribute `{name}` is not 1, which is not supported")),
        }
    }

    /// As many sizes as there are by default.
    fn sizes<const N: usize>(&mut self, name: &str, default: [usize; N]) -> Result<[usize; N], Refused> {
        let Some(attribute) = self.take(name, 7)? else { return Ok(default) };
        let size = |value: i64| usize::try_from(value).ok().filter(|&value| value <= 1 << 16);
        let sizes: Option<Vec<_>> = attribute.ints(8)?.into_iter().map(size).collect();
        let sizes = sizes.and_then(|sizes| sizes.try_into().ok());
        sizes.ok_or_else(|| refused(format!("`{name}` is negative, too large or not {N} numbers")))
    }
}

/// An axis counted from the front, of a tensor with `rank` axes; a negative one counts from the back.
fn axis(axis: i64, rank: usize) -> Result<usize, Refused> {
    let place = if axis < 0 { axis.saturating_add_unsigned(rank as u64) } else { axis };
    let place = usize::try_from(place).ok().filter(|&place| place < rank);
    place.ok_or_else(|| refused(format!("there is no axis {axis} among {rank}")))
}

/// Combines the places of two tensors that broadcasting pairs. One of them has the shape of the result.
fn elementwise<'a>(
    a: &Tensor<'_>,
    b: &Tensor<'_>,
    combine: impl Fn(usize, usize) -> Result<Row, Refused>,
) -> Computed<'a> {
    let size = |tensor: &Tensor<'_>| (tensor.shape.len(), count(&tensor.shape).unwrap_or(0));
    let (from, to) = if size(a) < size(b) { (a, b) } else { (b, a) };
    let mut axes = from.shape.iter().rev().zip(to.shape.iter().rev());
    let do_match = axes.all(|(&own, &size)| own == 1 || own == size);
    require(do_match, format!("the shape {:?} does not match {:?}", from.shape, to.shape))?;
    Tensor::build(to.shape.clone(), |index| combine(a.place(index), b.place(index)))
}

/// `a + weight · b`.
fn add<'a>(a: &Tensor<'_>, weight: Dyadic, b: &Tensor<'_>) -> Computed<'a> {
    elementwise(a, b, |i, j| Row::combination([a.part(Dyadic::ONE, i), b.part(weight, j)]))
}

fn mul<'a>(a: &Tensor<'_>, factors: &Tensor<'_>) -> Computed<'a> {
    elementwise(a, factors, |i, j| Row::combination([a.part(factors.constant(j)?, i)]))
}

/// Every vector along the last axis times a constant matrix, which is given row by row or, if turned, column by column.
fn matmul<'a>(a: &Tensor<'_>, b: &Tensor<'_>, is_turned: bool) -> Computed<'a> {
    let (&[.., inner], &[height, width]) = (&a.shape[..], &b.shape[..]) else {
        return refuse(format!("tensors of the shapes {:?} and {:?} are not multiplied", a.shape, b.shape));
    };
    let (rows, columns) = if is_turned { (width, height) } else { (height, width) };
    require(inner == rows, format!("vectors of length {inner} do not fit a matrix of {rows} rows"))?;
    let weight = |k: usize, column: usize| b.constant(if is_turned { column * width + k } else { k * width + column });
    let shape = [&a.shape[..a.shape.len() - 1], &[columns]].concat();
    Tensor::build(shape, |index| {
        let (column, first) = (index[index.len() - 1], a.place(&[&index[..index.len() - 1], &[0]].concat()));
        Row::combination((0..inner).map(|k| a.part(weight(k, column)?, first + k)))
    })
}

/// The product of two matrices, the second turned on demand, and what is added to it, if anything.
fn gemm<'a>(a: &Tensor<'_>, b: &Tensor<'_>, c: &[Tensor<'_>], attributes: &mut Attributes<'_>) -> Computed<'a> {
    attributes.expect_one("alpha")?;
    attributes.expect_one("beta")?;
    attributes.expect("transA", 0, 0)?;
    let is_turned = attributes.int("transB", 0)? != 0;
    let product = matmul(a, b, is_turned)?;
    let sum = c.iter().try_fold(product.clone(), |sum, c| add(&sum, Dyadic::ONE, c))?;
    if sum.shape == product.shape && a.shape.len() == 2 { Ok(sum) } else { refuse("A is no matrix, or C too large") }
}

/// Windows that slide over the planes of an image, which has nothing where they stand out.
struct Windows {
    plane: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    pads: [usize; 4],
    counts: [usize; 2],
}

impl Windows {
    fn read(plane: [usize; 2], kernel: [usize; 2], attributes: &mut Attributes<'_>) -> Result<Windows, Refused> {
        let dilations = attributes.sizes("dilations", [1, 1])?;
        let (strides, pads) = (attributes.sizes("strides", [1, 1])?, attributes.sizes("pads", [0; 4])?);
        let count = |i: usize| {
            let room = (plane[i] + pads[i] + pads[i + 2]).checked_sub(kernel[i])?;
            Some(room.checked_div(strides[i])? + 1)
        };
        match (count(0), count(1), dilations) {
            (Some(down), Some(right), [1, 1]) => Ok(Windows { plane, kernel, strides, pads, counts: [down, right] }),
            _ => refuse("the window is dilated or too large, or does not move"),
        }
    }

    /// The place in its plane of an element of the window at an index, if that is inside.
    fn place(&self, index: &[usize], at: usize) -> Option<usize> {
        let within = [at / self.kernel[1] % self.kernel[0], at % self.kernel[1]];
        let along = |i: usize| {
            let place = (index[i + 2] * self.strides[i] + within[i]).checked_sub(self.pads[i])?;
            Some(place).filter(|&place| place < self.plane[i])
        };
        Some(along(0)? * self.plane[1] + along(1)?)
    }
}

/// `out[0, m, y, x] = b[m] + Σ w[m, c, i, j] · image[0, c, y · stride + i - pad, …]`, the image being zero where it has
/// no such place; of several groups each reads its own channels.
fn conv<'a>(image: &Tensor<'_>, w: &Tensor<'_>, b: &[Tensor<'_>], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let (&[1, channels, height, width], &[outputs, depth, tall, wide]) = (&image.shape[..], &w.shape[..]) else {
        return refuse(format!("weights {:?} over {:?} are not supported", w.shape, image.shape));
    };
    let groups = usize::try_from(attributes.int("group", 1)?).unwrap_or(0);
    let do_match = depth.checked_mul(groups) == Some(channels) && outputs.checked_rem(groups) == Some(0);
    let do_match = do_match && attributes.sizes("kernel_shape", [tall, wide])? == [tall, wide];
    let do_match = do_match && b.iter().all(|b| b.shape == [outputs]);
    require(do_match, "the shapes of the image, the weights, the groups and the bias do not match")?;
    let windows = Windows::read([height, width], [tall, wide], attributes)?;
    let window = depth * tall * wide;
    Tensor::build([&[1, outputs][..], &windows.counts].concat(), |index| {
        let first = index[1] / (outputs / groups) * depth;
        let cell = |at: usize| {
            let place = (first + at / (tall * wide)) * height * width + windows.place(index, at)?;
            Some(w.constant(index[1] * window + at).and_then(|weight| image.part(weight, place)))
        };
        Row::combination((0..window).filter_map(cell).chain(b.iter().map(|b| b.part(Dyadic::ONE, index[1]))))
    })
}

/// The shape of a pool's output, and the places that each window has inside of its image, in their order.
pub(super) fn pool(image: &Tensor<'_>, attributes: &mut Attributes<'_>) -> Result<(Vec<usize>, Groups), Refused> {
    let &[1, channels, height, width] = &image.shape[..] else { return refuse("the image is not one of planes") };
    attributes.expect("ceil_mode", 0, 0)?;
    attributes.expect("storage_order", 0, 0)?;
    let kernel @ [tall, wide] = attributes.sizes("kernel_shape", [0, 0])?;
    let windows = Windows::read([height, width], kernel, attributes)?;
    let shape = [&[1, channels][..], &windows.counts].concat();
    let group = |place: usize| {
        let index = index(&shape, place);
        let inside = (0..tall * wide).filter_map(|at| windows.place(&index, at));
        inside.map(|place| index[1] * height * width + place).collect()
    };
    let groups: Groups = (0..count(&shape)?).map(group).collect();
    require(groups.iter().all(|group| !group.is_empty()), "a window is empty")?;
    Ok((shape, groups))
}

/// Places of a tensor that belong together.
pub(super) type Groups = Vec<Vec<usize>>;

/// `scale · (x - mean) / √(variance + ε) + bias`, each of the channel, which is the second axis.
fn normalised<'a>(x: &Tensor<'_>, of: [&Tensor<'_>; 4], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let [scale, bias, mean, variance] = of;
    let channels = [x.shape.get(1).copied().unwrap_or(0)];
    require(of.iter().all(|tensor| tensor.shape == channels), "its numbers are not one for each channel")?;
    attributes.take("momentum", 1)?;
    let epsilon = attributes.take("epsilon", 1)?.map(|attribute| attribute.one(2)).transpose()?.flatten();
    let epsilon = match epsilon {
        None => Dyadic::from_f32_bits(0x3727_c5ac),
        Some(Value::Fixed32(bits)) => Dyadic::from_f32_bits(bits),
        Some(_) => None,
    };
    Tensor::build(x.shape.clone(), |index| {
        let channel = index[1];
        let centred = Row::combination([x.part(Dyadic::ONE, x.place(index)), mean.part(Dyadic::MINUS_ONE, channel)])?;
        let spread = epsilon.and_then(|epsilon| Some(variance.constant(channel).ok()?.add(epsilon)?.root()));
        let quotient = spread.flatten().and_then(|root| centred.divided(root, false));
        let quotient = quotient.ok_or_else(|| refused("the variance is not positive, or too long"))?;
        Row::combination([Ok((scale.constant(channel)?, Cow::Owned(quotient))), bias.part(Dyadic::ONE, channel)])
    })
}

/// In the new shape 0 keeps the size of the same axis, and -1 stands for what is left.
fn reshape<'a>(x: &Tensor<'a>, wanted: &[i64], attributes: &mut Attributes<'_>) -> Computed<'a> {
    attributes.expect("allowzero", 0, 0)?;
    let (mut shape, mut open) = (Vec::new(), None);
    for (place, &size) in wanted.iter().enumerate() {
        shape.push(match (size, x.shape.get(place)) {
            (0, Some(&kept)) => kept,
            (-1, _) if open.replace(place).is_none() => 1,
            (1.., _) => usize::try_from(size).map_err(|_| Refused::overflow())?,
            _ => return refuse(format!("{wanted:?} is no shape")),
        });
    }
    if let Some(open) = open {
        shape[open] = count(&x.shape)? / count(&shape)?;
    }
    x.reshaped(shape)
}

/// The elements of a tensor at other places: the one at each index of the result comes from the index that is given.
fn moved<'a>(x: &Tensor<'_>, shape: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Computed<'a> {
    Tensor::build(shape, |index| x.row(x.place(&from(index))).map(Cow::into_owned))
}

fn transpose<'a>(x: &Tensor<'_>, attributes: &mut Attributes<'_>) -> Computed<'a> {
    let Some(order) = attributes.take("perm", 7)? else { return refuse("the order of the axes is missing") };
    let rank = x.shape.len();
    let order = order.ints(8)?.into_iter().map(|place| axis(place, rank)).collect::<Result<Vec<_>, _>>()?;
    let turned = |axis: usize| order.iter().position(|&from| from == axis);
    let Some(places) = (0..rank).map(turned).collect::<Option<Vec<_>>>().filter(|_| order.len() == rank) else {
        return refuse(format!("{order:?} is no order of {rank} axes"));
    };
    let shape = order.iter().map(|&axis| x.shape[axis]).collect();
    moved(x, shape, |index| places.iter().map(|&place| index[place]).collect())
}

/// A range along one axis, counted from the front and in steps of 1. An end beyond that of the axis is that.
fn slice<'a>(x: &Tensor<'_>, [starts, ends, axes, steps]: [&Tensor<'_>; 4]) -> Computed<'a> {
    let bounds = (starts.integers()?, ends.integers()?, axes.integers()?, steps.integers()?);
    let (&[start], &[end], &[along], &[1]) = bounds else {
        return refuse("only ranges along one axis in steps of 1 are supported");
    };
    let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else {
        return refuse("ranges counted from the back are not supported");
    };
    let (along, mut shape) = (axis(along, x.shape.len())?, x.shape.clone());
    shape[along] = end.min(shape[along]).saturating_sub(start);
    moved(x, shape, |index| {
        let mut from = index.to_vec();
        from[along] += start;
        from
    })
}

/// Tensors one behind the other along an axis.
fn concat<'a>(first: &Tensor<'_>, parts: &[Tensor<'_>], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let Some(along) = attributes.take("axis", 2)? else { return refuse("the axis is missing") };
    let along = axis(along.int(3)?, first.shape.len())?;
    let others = |tensor: &Tensor<'_>| {
        let (before, rest) = tensor.shape.split_at_checked(along)?;
        Some((before.to_vec(), rest.get(1..)?.to_vec()))
    };
    require(parts.iter().all(|part| others(part) == others(first)), "the shapes do not match")?;
    let mut shape = first.shape.clone();
    shape[along] = parts.iter().map(|part| part.shape[along]).sum();
    Tensor::build(shape, |index| {
        let mut from = index.to_vec();
        for part in parts {
            if from[along] < part.shape[along] {
                return part.row(part.place(&from)).map(Cow::into_owned);
            }
            from[along] -= part.shape[along];
        }
        refuse("the index is in no part")
    })
}
