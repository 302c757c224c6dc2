//! Windows that slide over the spatial axes of a tensor: the geometry of convolutions and pools.
//!
//! All sizes come from a file. Each is at most [`LARGEST`], so sums and products of two fit 64 bits; how many entries
//! the windows have together is known before any is listed.

use super::checked_len;
use crate::affine::{MAX_ENTRIES, too_many_entries};

/// The largest kernel, stride, dilation or padding.
const LARGEST: i64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AutoPad {
    /// The padding is as given.
    Explicit,
    /// As many outputs as inputs over the stride; an odd padding is longer behind.
    SameUpper,
    /// The same, longer in front.
    SameLower,
    Valid,
}

/// The attributes that convolutions and pools share; what is left out is 1, and 0 for paddings.
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    pub kernel: Option<Vec<i64>>,
    pub strides: Option<Vec<i64>>,
    pub dilations: Option<Vec<i64>>,
    /// All in front, then all behind.
    pub pads: Option<Vec<i64>>,
    pub auto_pad: AutoPad,
    /// A last window may reach beyond the padding, if it begins before.
    pub ceil_mode: bool,
}

/// One axis: the window at output `o` reads `o·stride + k·dilation − before` for each `k` of the kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    pub size: usize,
    pub kernel: usize,
    pub stride: usize,
    pub dilation: usize,
    pub before: usize,
    pub after: usize,
    pub outputs: usize,
}

/// An entry of the kernel and the entry of the tensor under it, as flat indices of the spatial axes.
pub type Tap = (usize, usize);

impl Window {
    /// A window without kernel, padding or steps of its own.
    pub fn plain() -> Window {
        Window {
            kernel: None,
            strides: None,
            dilations: None,
            pads: None,
            auto_pad: AutoPad::Explicit,
            ceil_mode: false,
        }
    }

    /// The kernel of a pool, which only the attribute tells.
    pub fn own_kernel(&self, rank: usize) -> Result<Vec<usize>, String> {
        if self.kernel.is_none() {
            return Err("it has no kernel_shape".into());
        }
        sizes(&self.kernel, rank, 1, 1, "kernel_shape")
    }

    /// A convolution's attribute repeats the shape of its kernel.
    pub fn agrees(&self, kernel: &[usize]) -> Result<(), String> {
        let same = |own: &Vec<i64>| own.iter().map(|&k| k as usize).eq(kernel.iter().copied());
        if self.kernel.as_ref().is_none_or(same) {
            return Ok(());
        }
        Err(format!(
            "its kernel_shape {:?} is not that of its kernel, {kernel:?}",
            self.kernel.as_deref().unwrap_or_default()
        ))
    }

    /// The axes of a window of the given kernel over the spatial axes of a tensor.
    pub fn axes(&self, spatial: &[usize], kernel: &[usize]) -> Result<Vec<Axis>, String> {
        if kernel.contains(&0) {
            return Err(format!("its kernel of shape {kernel:?} is empty"));
        }
        let strides = sizes(&self.strides, spatial.len(), 1, 1, "strides")?;
        let dilations = sizes(&self.dilations, spatial.len(), 1, 1, "dilations")?;
        let pads = sizes(&self.pads, 2 * spatial.len(), 0, 0, "pads")?;
        let axis = |i: usize| {
            let plain = Axis {
                size: spatial[i],
                kernel: kernel[i],
                stride: strides[i],
                dilation: dilations[i],
                before: pads[i],
                after: pads[i + spatial.len()],
                outputs: 0,
            };
            plain.padded(self.auto_pad).counted(self.ceil_mode)
        };
        (0..spatial.len()).map(axis).collect()
    }
}

/// One number for each axis, at least `least`; `default` where there are none.
pub fn sizes(
    given: &Option<Vec<i64>>,
    count: usize,
    default: usize,
    least: i64,
    what: &str,
) -> Result<Vec<usize>, String> {
    let Some(given) = given else { return Ok(vec![default; count]) };
    if given.len() != count {
        return Err(format!("its {what} {given:?} should be {count} numbers"));
    }
    if let Some(wrong) = given.iter().find(|&&v| v < least || v > LARGEST) {
        return Err(format!("its {what} {given:?} have a size of {wrong}"));
    }
    Ok(given.iter().map(|&v| v as usize).collect())
}

impl Axis {
    /// How far the window reaches.
    pub fn reach(&self) -> usize {
        (self.kernel - 1) * self.dilation + 1
    }

    fn padded(self, auto_pad: AutoPad) -> Axis {
        let (before, after) = match auto_pad {
            AutoPad::Explicit => (self.before, self.after),
            AutoPad::Valid => (0, 0),
            same => {
                let outputs = self.size.div_ceil(self.stride);
                let needed = (outputs.saturating_sub(1) * self.stride + self.reach()).saturating_sub(self.size);
                halves(needed, same)
            }
        };
        Axis { before, after, ..self }
    }

    fn counted(self, ceil_mode: bool) -> Result<Axis, String> {
        let padded = self.before + self.size + self.after;
        let room = padded.checked_sub(self.reach()).ok_or_else(|| {
            format!("its window of {} does not fit the {padded} entries of an axis with its padding", self.reach())
        })?;
        let last = room / self.stride;
        let is_partial = room % self.stride > 0 && (last + 1) * self.stride < self.before + self.size;
        Ok(Axis { outputs: last + 1 + usize::from(ceil_mode && is_partial), ..self })
    }

    /// How many of the kernel's entries lie before `end` in the window at output `o`; the padding in front counts.
    fn before_position(&self, o: usize, end: usize) -> usize {
        end.saturating_sub(o * self.stride).div_ceil(self.dilation).min(self.kernel)
    }

    /// The pairs of a kernel's entry and the tensor's entry under it, for the window at output `o`.
    fn taps(&self, o: usize) -> impl Iterator<Item = Tap> + '_ {
        let inside = self.before_position(o, self.before)..self.before_position(o, self.before + self.size);
        inside.map(move |k| (k, o * self.stride + k * self.dilation - self.before))
    }

    /// How many of the kernel's entries lie inside the tensor or its padding.
    pub fn covered(&self, o: usize) -> usize {
        self.before_position(o, self.before + self.size + self.after)
    }
}

/// A padding of `total`, shared between front and back.
pub fn halves(total: usize, auto_pad: AutoPad) -> (usize, usize) {
    let (less, more) = (total / 2, total - total / 2);
    if auto_pad == AutoPad::SameUpper { (less, more) } else { (more, less) }
}

/// The taps of each axis and output.
pub type AxisTaps = Vec<Vec<Tap>>;

/// The windows of a convolution or a pool, in the order of the outputs; each is read `uses` times.
pub fn sliding(axes: &[Axis], uses: usize) -> Result<Vec<Vec<Tap>>, String> {
    listed(axes, uses, |axis| (0..axis.outputs).map(|o| axis.taps(o).collect()).collect())
}

/// The windows whose taps along each axis are listed by `taps`, at most as many as the kernel's or the axis's entries
/// for each output. Nothing is listed that is beyond the limit.
pub fn listed(axes: &[Axis], uses: usize, taps: impl Fn(&Axis) -> AxisTaps) -> Result<Vec<Vec<Tap>>, String> {
    checked_len(&axes.iter().map(|axis| axis.outputs).collect::<Vec<_>>())?;
    let most = |axis: &Axis| axis.outputs.saturating_mul(axis.kernel.min(axis.size));
    if axes.iter().any(|axis| most(axis) > MAX_ENTRIES) {
        return Err(too_many_entries());
    }
    let lists: Vec<AxisTaps> = axes.iter().map(taps).collect();
    let entries = |list: &AxisTaps| list.iter().map(Vec::len).sum::<usize>().max(1);
    if lists.iter().fold(uses, |total, list| total.saturating_mul(entries(list))) > MAX_ENTRIES {
        return Err(too_many_entries());
    }
    let mut all = vec![vec![(0, 0)]];
    for (axis, list) in axes.iter().zip(&lists) {
        let pairs = all.iter().flat_map(|outer| list.iter().map(move |inner| (outer, inner)));
        all = pairs.map(|(outer, inner)| joined(outer, inner, axis)).collect();
    }
    Ok(all)
}

/// Every tap of the axes so far with every one of the next axis.
fn joined(outer: &[Tap], inner: &[Tap], axis: &Axis) -> Vec<Tap> {
    let next = |&(k, x): &Tap| inner.iter().map(move |&(l, y)| (k * axis.kernel + l, x * axis.size + y));
    outer.iter().flat_map(next).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(window: &Window, size: usize, kernel: usize) -> Axis {
        window.axes(&[size], &[kernel]).unwrap()[0]
    }

    fn read(window: &Window, size: usize, kernel: usize) -> Vec<Vec<usize>> {
        let axes = window.axes(&[size], &[kernel]).unwrap();
        sliding(&axes, 1).unwrap().iter().map(|taps| taps.iter().map(|tap| tap.1).collect()).collect()
    }

    #[test]
    fn windows_are_cut_at_the_padding() {
        let window = Window { pads: Some(vec![1, 2]), strides: Some(vec![2]), ..Window::plain() };
        assert_eq!(read(&window, 3, 3), [vec![0, 1], vec![1, 2]]);
        let dilated = Window { dilations: Some(vec![2]), pads: Some(vec![1, 1]), ..Window::plain() };
        assert_eq!(read(&dilated, 4, 2), [vec![1], vec![0, 2], vec![1, 3], vec![2]]);
    }

    #[test]
    fn a_partial_window_begins_inside() {
        let window = Window { strides: Some(vec![2]), ceil_mode: true, ..Window::plain() };
        assert_eq!(read(&window, 4, 3), [vec![0, 1, 2], vec![2, 3]]);
        let beyond = Window { strides: Some(vec![3]), pads: Some(vec![0, 1]), ceil_mode: true, ..Window::plain() };
        assert_eq!(read(&beyond, 3, 2), [vec![0, 1]]);
        let padded = Window { pads: Some(vec![1, 1]), ..window };
        assert_eq!((0..3).map(|o| axis(&padded, 4, 3).covered(o)).collect::<Vec<_>>(), [3, 3, 2]);
    }

    #[test]
    fn the_same_size_pads_the_odd_entry_at_one_end() {
        let same = |auto_pad| axis(&Window { auto_pad, ..Window::plain() }, 5, 4);
        let (upper, lower) = (same(AutoPad::SameUpper), same(AutoPad::SameLower));
        assert_eq!((upper.before, upper.after, upper.outputs), (1, 2, 5));
        assert_eq!((lower.before, lower.after, lower.outputs), (2, 1, 5));
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused() {
        let refuse = |window: Window| window.axes(&[5], &[3]).unwrap_err();
        assert!(refuse(Window { strides: Some(vec![0]), ..Window::plain() }).contains("strides"));
        assert!(refuse(Window { dilations: Some(vec![0]), ..Window::plain() }).contains("dilations"));
        assert!(refuse(Window { dilations: Some(vec![i64::MAX]), ..Window::plain() }).contains("dilations"));
        assert!(refuse(Window { pads: Some(vec![-1, 0]), ..Window::plain() }).contains("pads"));
        assert!(refuse(Window { pads: Some(vec![1]), ..Window::plain() }).contains("2 numbers"));
        assert!(refuse(Window { dilations: Some(vec![3]), ..Window::plain() }).contains("does not fit"));
        assert!(Window::plain().axes(&[5], &[0]).unwrap_err().contains("empty"));
        let wide = Window { pads: Some(vec![1 << 30, 0]), ..Window::plain() };
        assert!(sliding(&wide.axes(&[5], &[3]).unwrap(), 1).is_err());
    }
}
