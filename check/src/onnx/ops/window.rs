//! Operators that move a window over the last one or two axes.

use crate::number::Dyadic;
use crate::onnx::row::Row;
use crate::onnx::tensor::{MAX_COMPUTED, Tensor};
use crate::{Refused, refuse};

use super::Call;

/// For each position of a window along an axis, the places that its cells lie on; `None` in the padding.
type Cells = Vec<Vec<Option<usize>>>;

/// A tensor with two axes to move over, the first of size 1 if the model has only one.
struct Image {
    batch: usize,
    channels: usize,
    size: [usize; 2],
}

impl Image {
    fn of(shape: &[usize]) -> Result<Self, Refused> {
        match *shape {
            _ if shape.contains(&0) => refuse("a tensor that windows move over is empty"),
            [batch, channels, width] => Ok(Self { batch, channels, size: [1, width] }),
            [batch, channels, height, width] => Ok(Self { batch, channels, size: [height, width] }),
            _ => refuse(format!("windows over a tensor of the shape {shape:?} are not supported")),
        }
    }

    /// The shape of an output with so many channels and window positions, with as many axes as the input has.
    fn output(&self, rank: usize, channels: usize, positions: &[Cells; 2]) -> Vec<usize> {
        let shape = [self.batch, channels, positions[0].len(), positions[1].len()];
        if rank == 3 { vec![shape[0], shape[1], shape[3]] } else { shape.to_vec() }
    }

    fn place(&self, item: usize, channel: usize, y: usize, x: usize) -> usize {
        ((item * self.channels + channel) * self.size[0] + y) * self.size[1] + x
    }
}

/// `out[n, m, y, x] = B[m] + Σ W[m, c, i, j] · X[n, g + c, …]` with `g` the first channel of the group of `m`.
pub(super) fn conv(call: &Call<'_>) -> Result<Tensor, Refused> {
    let (x, w) = (call.input(0)?, call.input(1)?);
    let (image, kernel, weights) = (Image::of(&x.shape)?, Image::of(&w.shape)?, w.constants()?);
    let groups = usize::try_from(call.int("group", 1)).unwrap_or(0);
    let outputs = kernel.batch;
    let fits = groups > 0 && outputs % groups == 0 && kernel.channels.checked_mul(groups) == Some(image.channels);
    if !fits || x.shape.len() != w.shape.len() {
        return refuse(format!("weights {:?} do not fit an input {:?}", w.shape, x.shape));
    }
    let positions = positions(call, &x.shape, &w.shape[2..])?;
    let biases = call.optional(2).map(Tensor::rows).transpose()?;
    if biases.as_ref().is_some_and(|biases| biases.len() != outputs) {
        return refuse("the bias does not have one element for each output channel");
    }
    let (rows, per_group) = (x.rows()?, outputs / groups);
    let [ys, xs] = &positions;
    let cell = |(item, output, y, x): (usize, usize, usize, usize)| {
        let first = output / per_group * kernel.channels;
        let window = (0..kernel.channels)
            .flat_map(|channel| inside(&ys[y], &xs[x]).map(move |(i, j, y, x)| (channel, i, j, y, x)));
        let part = |(channel, i, j, y, x)| {
            (weights.at(kernel.place(output, channel, i, j)), &rows[image.place(item, first + channel, y, x)])
        };
        Row::combination(window.map(part).chain(biases.iter().map(|biases| (Dyadic::ONE, &biases[output]))))
    };
    let shape = image.output(x.shape.len(), outputs, &positions);
    Tensor::collect(shape, cells(image.batch, outputs, &positions).map(cell))
}

/// All elements of an output in row-major order.
fn cells(batch: usize, channels: usize, [ys, xs]: &[Cells; 2]) -> impl Iterator<Item = (usize, usize, usize, usize)> {
    let (height, width) = (ys.len(), xs.len());
    let columns = move |n, m, y| (0..width).map(move |x| (n, m, y, x));
    let plane = move |n, m| (0..height).flat_map(move |y| columns(n, m, y));
    (0..batch).flat_map(move |n| (0..channels).flat_map(move |m| plane(n, m)))
}

/// The cells of a window that lie inside the tensor: where in the window and where in the tensor.
fn inside<'a>(
    ys: &'a [Option<usize>],
    xs: &'a [Option<usize>],
) -> impl Iterator<Item = (usize, usize, usize, usize)> + 'a {
    let row = move |(i, y): (usize, &Option<usize>)| y.map(|y| (i, y));
    let column = move |(i, y): (usize, usize)| xs.iter().enumerate().filter_map(move |(j, x)| x.map(|x| (i, j, y, x)));
    ys.iter().enumerate().filter_map(row).flat_map(column)
}

/// Where a window of this size lies, along each axis.
fn positions(call: &Call<'_>, shape: &[usize], kernel: &[usize]) -> Result<[Cells; 2], Refused> {
    let sizes = shape.get(2..).filter(|sizes| (1..=2).contains(&sizes.len()));
    let Some(sizes) = sizes else { return refuse("windows move over one or two axes") };
    let rank = sizes.len();
    let list = |name: &str, length: usize, default: usize| -> Result<Vec<usize>, Refused> {
        let Some(attribute) = call.attribute(name) else { return Ok(vec![default; length]) };
        let size = |&value: &i64| usize::try_from(value).ok().filter(|&value| value <= 1 << 16);
        let values: Option<Vec<usize>> = attribute.ints.iter().map(size).collect();
        let values = values.filter(|values| values.len() == length);
        values.ok_or_else(|| Refused(format!("`{name}` is negative, too large or too short")))
    };
    let (strides, dilations, pads) =
        (list("strides", rank, 1)?, list("dilations", rank, 1)?, list("pads", 2 * rank, 0)?);
    let auto_pad = call.attribute("auto_pad").map_or("NOTSET", |attribute| attribute.text);
    let declared = call.attribute("kernel_shape").map(|kernel| kernel.ints.iter().map(|&size| usize::try_from(size)));
    if kernel.len() != rank || declared.is_some_and(|declared| !declared.eq(kernel.iter().map(|&size| Ok(size)))) {
        return refuse("`kernel_shape` does not fit");
    }
    let mut axes = [vec![vec![Some(0)]], vec![vec![Some(0)]]];
    for axis in 0..rank {
        let (begin, end) = (pads[axis], pads[rank + axis]);
        let along = Along { size: sizes[axis], kernel: kernel[axis], stride: strides[axis], dilation: dilations[axis] };
        axes[2 - rank + axis] = along.cells(auto_pad, begin, end)?;
    }
    Ok(axes)
}

/// A window along one axis.
struct Along {
    size: usize,
    kernel: usize,
    stride: usize,
    dilation: usize,
}

impl Along {
    fn cells(&self, auto_pad: &str, begin: usize, end: usize) -> Result<Cells, Refused> {
        let bounded = [self.size, self.kernel].iter().all(|&size| (1..=1 << 20).contains(&size));
        if !bounded || self.stride == 0 || self.dilation == 0 {
            return refuse("a size, a stride or a dilation is zero or too large");
        }
        let span = (self.kernel - 1) * self.dilation + 1;
        let wanted = self.size.div_ceil(self.stride);
        let missing = ((wanted - 1) * self.stride + span).saturating_sub(self.size);
        let (begin, end) = match auto_pad {
            "NOTSET" | "" => (begin, end),
            "VALID" => (0, 0),
            "SAME_UPPER" => (missing / 2, missing - missing / 2),
            "SAME_LOWER" => (missing - missing / 2, missing / 2),
            other => return refuse(format!("the padding `{other}` is not known")),
        };
        let Some(room) = (self.size + begin + end).checked_sub(span) else {
            return refuse("the window is larger than the padded tensor");
        };
        let number = room / self.stride + 1;
        if number.saturating_mul(self.kernel) > MAX_COMPUTED {
            return refuse("the padding is too large");
        }
        let inside = |place: usize| place.checked_sub(begin).filter(|&place| place < self.size);
        let window = |at: usize| (0..self.kernel).map(|cell| inside(at * self.stride + cell * self.dilation)).collect();
        Ok((0..number).map(window).collect())
    }
}
