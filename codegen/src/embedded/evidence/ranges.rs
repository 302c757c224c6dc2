//! The range of every intermediate on the domain, by intervals in float64 with room for the rounding of float32.

use crate::embedded::Device;
use crate::interpret::Tables;
use pg_core::bound::interval;
use pg_core::kernel::padded;
use pg_core::sweep::forward;
use pg_core::{Shape, Source};
use serde::Serialize;

/// What the neurons of a stage lie between, and what any partial sum stays below in magnitude, in any order.
#[derive(Serialize)]
pub struct StageRange {
    pub stage: usize,
    pub lowest: f64,
    pub highest: f64,
    pub largest_sum: f64,
}

fn tables(device: &Device) -> Tables {
    let mut tables = Tables::new(device.net.inputs);
    device.net.stages.iter().for_each(|stage| tables.push(stage));
    tables
}

/// The ranges of all stages. A sum of n float32 products is within n/2²³ of its magnitudes of the exact one.
pub fn ranges(device: &Device) -> Vec<StageRange> {
    let (tables, mut found, mut activations) = (tables(device), Vec::new(), Vec::<(Vec<f64>, Vec<f64>)>::new());
    let shape = tables.shape();
    let domain = &device.question.domain;
    let input: (Vec<f64>, Vec<f64>) = domain.iter().map(|&(l, u)| (f64::from(l), f64::from(u))).unzip();
    for (k, stage) in shape.stages.iter().enumerate() {
        let of = |source: Source| match source {
            Source::Input => (&input.0[..], &input.1[..]),
            Source::Stage(s) => (&activations[s].0[..], &activations[s].1[..]),
        };
        let mut range =
            StageRange { stage: k + 1, lowest: f64::INFINITY, highest: f64::NEG_INFINITY, largest_sum: 0.0 };
        let mut next = (Vec::new(), Vec::new());
        for j in 0..stage.width() {
            let (mut size, mut terms) = (f64::from(stage.bias[j].abs()), 16.0);
            for (source, i, w) in stage.terms(j) {
                let (lower, upper) = of(source);
                size += f64::from(w.abs()) * lower[i].abs().max(upper[i].abs());
                terms += 1.0;
            }
            let slop = size * terms * f64::from(f32::EPSILON) + f64::from(f32::MIN_POSITIVE);
            let (l, u) = interval(stage, j, of);
            let (l, u) = (l - slop, u + slop);
            range.lowest = range.lowest.min(l);
            range.highest = range.highest.max(u);
            range.largest_sum = range.largest_sum.max(size + slop);
            next.0.push(l.max(0.0));
            next.1.push(u.max(0.0));
        }
        found.push(range);
        activations.push(next);
    }
    found.iter_mut().for_each(round_out);
    found
}

/// Two digits are enough for people, outward.
fn round_out(range: &mut StageRange) {
    let up = |value: f64| if value.is_finite() { above_digits(value) } else { f64::MAX };
    (range.lowest, range.highest, range.largest_sum) = (-up(-range.lowest), up(range.highest), up(range.largest_sum));
}

/// The least number with four digits that is not below.
fn above_digits(value: f64) -> f64 {
    let text = format!("{value:.3e}");
    let rounded: f64 = text.parse().unwrap_or(value);
    if rounded >= value { rounded } else { format!("{:.3e}", value + value.abs() * 1e-3).parse().unwrap_or(value) }
}

/// Which hidden neurons an input has on.
pub fn phases(device: &Device, x: &[f32]) -> Vec<bool> {
    let tables = tables(device);
    let shape: Shape = tables.shape();
    let mut room = vec![0.0; shape.room()];
    room[..x.len()].copy_from_slice(x);
    debug_assert!(padded(x.len()) >= x.len());
    forward(&shape, 1, &mut room);
    let stage = |k: usize| {
        let start = shape.place(Source::Stage(k));
        room[start..start + shape.stages[k].width()].iter().map(|h| *h > 0.0).collect::<Vec<_>>()
    };
    (0..shape.last()).flat_map(stage).collect()
}

#[cfg(test)]
mod tests {
    use super::above_digits;

    #[test]
    fn digits_are_rounded_up() {
        for value in [1.0, 1.23456, -1.23456, 0.0, 9.9999, -9.9999, 1e-30, 123456.0] {
            let rounded = above_digits(value);
            assert!(rounded >= value && rounded - value <= value.abs() * 2e-3, "{value} {rounded}");
        }
    }
}
