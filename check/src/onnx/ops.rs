//! The operators that are read, and how a node calls one.
//!
//! An operator takes the attributes that it heeds, and a node with any other is refused; so is one with inputs that the
//! operator does not expect. So nothing that changes the meaning of a node is passed over.

use crate::{Dyadic, Message, Refused, Value, refuse, refused, require};
use std::collections::HashMap;

use super::row::Row;
use super::tensor::{Tensor, count, index};

/// What an operator gives.
type Computed<'a> = Result<Tensor<'a>, Refused>;

/// The value of a node of any operator but those that make variables.
pub(super) fn run<'a>(operator: &str, inputs: &[Tensor<'a>], attributes: &mut Attributes<'a>) -> Computed<'a> {
    let takes_integers = matches!(operator, "Reshape" | "Slice");
    let are_fine = inputs.iter().enumerate().all(|(n, input)| input.is_integer == (takes_integers && n > 0));
    require(are_fine, "integers stand where floats were expected, or the other way round")?;
    match (operator, inputs) {
        ("Add", [a, b]) => add(a, Dyadic::ONE, b),
        ("Sub", [a, b]) => add(a, Dyadic::MINUS_ONE, b),
        ("Mul", [a, b]) if b.constants().is_ok() => mul(a, b),
        ("Mul", [a, b]) => mul(b, a),
        ("Div", [a, b]) => scaled(a, b, |row, divisor| {
            row.divided(divisor, true).ok_or_else(|| refused("it divides by zero, or the quotient is too long"))
        }),
        ("MatMul", [a, b]) if b.shape.len() == 1 => matmul(b, a, true, &[]),
        ("MatMul", [a, b]) => matmul(a, b, false, &[]),
        ("Gemm", [a, b, c @ ..]) if c.len() <= 1 => gemm(a, b, c, attributes),
        ("Conv", [x, w, b @ ..]) if b.len() <= 1 => conv(x, w, b, attributes),
        ("BatchNormalization", [x, of @ ..]) if of.len() == 4 => normalised(x, of, attributes),
        ("Identity", [x]) => Ok(x.clone()),
        ("Dropout", [x]) => attributes.take("ratio", 1).map(|_| x.clone()),
        ("Flatten", [x]) => attributes.expect("axis", 1, 1).and_then(|()| reshape(x, &[0, -1], attributes)),
        ("Reshape", [x, shape]) => reshape(x, &shape.integers()?, attributes),
        ("Transpose", [x]) => transpose(x, attributes),
        ("Slice", [x, bounds @ ..]) => slice(x, bounds),
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
        self.0.keys().next().map_or(Ok(()), |name| refuse(format!("the attribute `{name}` is not supported")))
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

    /// The bits of a float.
    fn float(&mut self, name: &str, default: u32) -> Result<u32, Refused> {
        let Some(attribute) = self.take(name, 1)? else { return Ok(default) };
        match attribute.one(2)? {
            Some(Value::Fixed32(bits)) => Ok(bits),
            _ => refuse(format!("`{name}` has no value")),
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
fn elementwise<'a>(a: &Tensor, b: &Tensor, combine: impl Fn(usize, usize) -> Result<Row, Refused>) -> Computed<'a> {
    let (from, to) = if a.broadcasts(&b.shape) { (a, b) } else { (b, a) };
    require(from.broadcasts(&to.shape), format!("the shape {:?} does not match {:?}", from.shape, to.shape))?;
    Tensor::build(to.shape.clone(), |place| {
        let index = index(&to.shape, place);
        combine(a.place(&index), b.place(&index))
    })
}

/// `a + weight · b`.
fn add<'a>(a: &Tensor, weight: Dyadic, b: &Tensor) -> Computed<'a> {
    let rows = (a.rows(), b.rows());
    elementwise(a, b, |i, j| Row::combination([(Dyadic::ONE, &rows.0[i]), (weight, &rows.1[j])]))
}

/// Rows, each with a constant.
fn scaled<'a>(a: &Tensor, by: &Tensor, combine: impl Fn(&Row, Dyadic) -> Result<Row, Refused>) -> Computed<'a> {
    let (rows, factor) = (a.rows(), by.constants()?);
    elementwise(a, by, |i, j| combine(&rows[i], factor(j)))
}

fn mul<'a>(a: &Tensor, factors: &Tensor) -> Computed<'a> {
    scaled(a, factors, |row, factor| Row::combination([(factor, row)]))
}

/// Every vector along the last axis times a constant matrix, which is given row by row or, if turned, column by column, and what is
/// added to that.
fn matmul<'a>(a: &Tensor, b: &Tensor, is_turned: bool, added: &[Tensor]) -> Computed<'a> {
    let (&[.., inner], &[height, width]) = (&a.shape[..], &b.shape[..]) else {
        return refuse(format!("tensors of the shapes {:?} and {:?} are not multiplied", a.shape, b.shape));
    };
    let (rows, columns) = if is_turned { (width, height) } else { (height, width) };
    require(inner == rows, format!("vectors of length {inner} do not fit a matrix of {rows} rows"))?;
    let (vectors, weights, more) = (a.rows(), b.constants()?, added.iter().map(Tensor::rows).collect::<Vec<_>>());
    let shape = [&a.shape[..a.shape.len() - 1], &[columns]].concat();
    require(added.iter().all(|c| c.broadcasts(&shape)), "what is added is larger than the product, or does not match")?;
    Tensor::build(shape.clone(), |place| {
        let (first, column) = (place / columns * inner, place % columns);
        let weight = |k: usize| weights(if is_turned { column * width + k } else { k * width + column });
        let more = added.iter().zip(&more).map(|(c, rows)| (Dyadic::ONE, &rows[c.place(&index(&shape, place))]));
        Row::combination((0..inner).map(|k| (weight(k), &vectors[first + k])).chain(more))
    })
}

/// The product of two matrices, the second turned on demand, and what is added to it, if anything.
fn gemm<'a>(a: &Tensor, b: &Tensor, c: &[Tensor], attributes: &mut Attributes<'_>) -> Computed<'a> {
    const ONE: u32 = 0x3f80_0000;
    let factors = [attributes.float("alpha", ONE)?, attributes.float("beta", ONE)?];
    require(factors == [ONE; 2], "`alpha` or `beta` is not 1")?;
    attributes.expect("transA", 0, 0)?;
    let is_turned = attributes.int("transB", 0)? != 0;
    require(a.shape.len() == 2, "A is no matrix")?;
    matmul(a, b, is_turned, c)
}

/// How many windows slide over a plane each way, and of each, in the order of the outputs, what is inside of the plane: places of
/// the plane, and of the window.
type Windows = ([usize; 2], Vec<Vec<(usize, usize)>>);

fn windows(plane: [usize; 2], kernel: [usize; 2], attributes: &mut Attributes<'_>) -> Result<Windows, Refused> {
    let (dilations, strides) = (attributes.sizes("dilations", [1, 1])?, attributes.sizes("strides", [1, 1])?);
    let pads = attributes.sizes("pads", [0; 4])?;
    let steps = |i: usize| {
        let room = (plane[i] + pads[i] + pads[i + 2]).checked_sub(kernel[i])?;
        Some(room.checked_div(strides[i])? + 1)
    };
    let (Some(down), Some(right), [1, 1]) = (steps(0), steps(1), dilations) else {
        return refuse("the window is dilated or too large, or does not move");
    };
    let along = |i: usize, at: usize, within: usize| {
        let place = (at * strides[i] + within).checked_sub(pads[i])?;
        Some(place).filter(|&place| place < plane[i])
    };
    let inside = |window: usize| {
        let row = |at: usize| along(0, window / right, at / kernel[1]);
        let place = |at: usize| Some((row(at)? * plane[1] + along(1, window % right, at % kernel[1])?, at));
        (0..kernel[0] * kernel[1]).filter_map(place).collect()
    };
    Ok(([down, right], (0..count(&[down, right])?).map(inside).collect()))
}

/// `out[0, m, y, x] = b[m] + Σ w[m, c, i, j] · image[0, c, y · stride + i - pad, …]`, the image being zero where it has
/// no such place; of several groups each reads its own channels.
fn conv<'a>(image: &Tensor, w: &Tensor, b: &[Tensor], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let (&[1, channels, height, width], &[outputs, depth, tall, wide]) = (&image.shape[..], &w.shape[..]) else {
        return refuse(format!("weights {:?} over {:?} are not supported", w.shape, image.shape));
    };
    let groups = usize::try_from(attributes.int("group", 1)?).unwrap_or(0);
    let do_match = depth.checked_mul(groups) == Some(channels) && outputs.checked_rem(groups) == Some(0);
    let do_match = do_match && attributes.sizes("kernel_shape", [tall, wide])? == [tall, wide];
    let do_match = do_match && b.iter().all(|b| b.shape == [outputs]);
    require(do_match, "the shapes of the image, the weights, the groups and the bias do not match")?;
    let ([down, right], windows) = windows([height, width], [tall, wide], attributes)?;
    let (pixels, weights, biases) = (image.rows(), w.constants()?, b.first().map(Tensor::rows));
    Tensor::build(vec![1, outputs, down, right], |place| {
        let (m, window) = (place / windows.len(), &windows[place % windows.len()]);
        let part = |c: usize, &(place, at): &(usize, usize)| {
            let channel = m / (outputs / groups) * depth + c;
            (weights((m * depth + c) * tall * wide + at), &pixels[channel * height * width + place])
        };
        let sum = (0..depth).flat_map(|c| window.iter().map(move |cell| part(c, cell)));
        Row::combination(sum.chain(biases.iter().map(|biases| (Dyadic::ONE, &biases[m]))))
    })
}

/// The shape of a pool's output, and the places that each window has inside of its image, in their order.
pub(super) fn pool(image: &Tensor, attributes: &mut Attributes<'_>) -> Result<(Vec<usize>, Vec<Vec<usize>>), Refused> {
    let &[1, channels, height, width] = &image.shape[..] else { return refuse("the image is not one of planes") };
    attributes.expect("ceil_mode", 0, 0)?;
    attributes.expect("storage_order", 0, 0)?;
    let kernel = attributes.sizes("kernel_shape", [0, 0])?;
    let ([down, right], windows) = windows([height, width], kernel, attributes)?;
    require(windows.iter().all(|window| !window.is_empty()), "a window is empty")?;
    let group = |c: usize, window: &[(usize, usize)]| window.iter().map(|(at, _)| c * height * width + at).collect();
    let groups = (0..channels).flat_map(|c| windows.iter().map(move |window| group(c, window)));
    Ok((vec![1, channels, down, right], groups.collect()))
}

/// `scale · (x - mean) / √(variance + ε) + bias`, each of the channel, which is the second axis.
fn normalised<'a>(x: &Tensor, of: &[Tensor], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let channels = [x.shape.get(1).copied().unwrap_or(0)];
    require(of.iter().all(|tensor| tensor.shape == channels), "its numbers are not one for each channel")?;
    attributes.take("momentum", 1)?;
    let epsilon = Dyadic::from_f32_bits(attributes.float("epsilon", 0x3727_c5ac)?);
    // With an axis of size 1 for each behind the channels', so that they broadcast.
    let shape = [&channels[..], &vec![1; x.shape.len() - 2]].concat();
    let along = |n: usize| of[n].reshaped(shape.clone());
    let centred = add(x, Dyadic::MINUS_ONE, &along(2)?)?;
    let divided = scaled(&centred, &along(3)?, |centred, variance| {
        let root = epsilon.and_then(|epsilon| variance.add(epsilon)?.root());
        let quotient = root.and_then(|root| centred.divided(root, false));
        quotient.ok_or_else(|| refused("the variance is not positive, or too long"))
    });
    add(&mul(&divided?, &along(0)?)?, Dyadic::ONE, &along(1)?)
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
fn moved<'a>(x: &Tensor, shape: Vec<usize>, from: impl Fn(&[usize]) -> Vec<usize>) -> Computed<'a> {
    let rows = x.rows();
    Tensor::build(shape.clone(), |place| Ok(rows[x.place(&from(&index(&shape, place)))].clone()))
}

fn transpose<'a>(x: &Tensor, attributes: &mut Attributes<'_>) -> Computed<'a> {
    let Some(order) = attributes.take("perm", 7)? else { return refuse("the order of the axes is missing") };
    let rank = x.shape.len();
    let order = order.ints(8)?.into_iter().map(|place| axis(place, rank)).collect::<Result<Vec<_>, _>>()?;
    let is_order = order.len() == rank && (0..rank).all(|axis| order.contains(&axis));
    require(is_order, format!("{order:?} is no order of {rank} axes"))?;
    moved(x, order.iter().map(|&axis| x.shape[axis]).collect(), |index| {
        let mut from = vec![0; rank];
        order.iter().zip(index).for_each(|(&axis, &at)| from[axis] = at);
        from
    })
}

/// A range along one axis, counted from the front and in steps of 1. An end beyond that of the axis is that.
fn slice<'a>(x: &Tensor, bounds: &[Tensor]) -> Computed<'a> {
    let bounds = bounds.iter().map(Tensor::integers).collect::<Result<Vec<_>, _>>()?.concat();
    let &[start, end, along, 1] = &bounds[..] else {
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
fn concat<'a>(first: &Tensor, parts: &[Tensor], attributes: &mut Attributes<'_>) -> Computed<'a> {
    let Some(along) = attributes.take("axis", 2)? else { return refuse("the axis is missing") };
    let (along, mut shape) = (axis(along.int(3)?, first.shape.len())?, first.shape.clone());
    for part in &parts[1..] {
        let is_like = |axis: usize| axis == along || part.shape[axis] == shape[axis];
        require(part.shape.len() == shape.len() && (0..shape.len()).all(is_like), "the shapes do not match")?;
        shape[along] += part.shape[along];
    }
    let (blocks, parts) = (shape[..along].iter().product(), parts.iter().map(Tensor::rows).collect::<Vec<_>>());
    let block = |part: &[Row], n: usize| part.chunks(part.len() / blocks).nth(n).unwrap_or(&[]).to_vec();
    let rows = (0..blocks).flat_map(|n| parts.iter().flat_map(move |part| block(part, n)));
    Ok(Tensor::new(shape, rows.collect()))
}
