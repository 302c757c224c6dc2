//! What the plots have in common: a frame with two axes and a legend beside it.

use super::axis::Axis;
use super::svg::{Anchor, Point, Svg};

/// The inside of the frame: left, top, right, bottom.
pub const LEFT: f64 = 64.0;
pub const TOP: f64 = 28.0;
pub const BOTTOM: f64 = 400.0;
const HEIGHT: f64 = 456.0;
/// From the frame to the middle of a legend's marks, and to its texts.
const MARKS: f64 = 44.0;
const TEXTS: f64 = 66.0;
/// About as wide as a character is, on average.
const CHARACTER: f64 = 7.5;

const FRAME: &str = "stroke=\"#444\"";
const GRID: &str = "stroke=\"#e4e4e4\"";
const TICK: f64 = 5.0;

/// An empty drawing, the frame's inside ending at `right`, with room for a legend of these texts.
pub fn canvas(right: f64, texts: &[String]) -> Svg {
    let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    Svg::new(right + TEXTS + CHARACTER * longest as f64 + 16.0, HEIGHT)
}

/// Below: ticks, their texts and the label; light lines across the frame.
pub fn horizontal(svg: &mut Svg, axis: &Axis) {
    for tick in axis.ticks() {
        let x = axis.at(tick.value);
        let is_small = tick.text.is_empty();
        if !is_small {
            svg.line((x, TOP), (x, BOTTOM), GRID);
            svg.text((x, BOTTOM + 20.0), Anchor::Middle, &tick.text);
        }
        svg.line((x, BOTTOM), (x, BOTTOM + if is_small { TICK / 2.0 } else { TICK }), FRAME);
    }
}

/// On the left.
pub fn vertical(svg: &mut Svg, axis: &Axis, right: f64) {
    for tick in axis.ticks() {
        let y = axis.at(tick.value);
        let is_small = tick.text.is_empty();
        if !is_small {
            svg.line((LEFT, y), (right, y), GRID);
            svg.text((LEFT - 9.0, y + 4.5), Anchor::End, &tick.text);
        }
        svg.line((LEFT - if is_small { TICK / 2.0 } else { TICK }, y), (LEFT, y), FRAME);
    }
}

/// The labels of both axes and the frame itself, over the grid.
pub fn border(svg: &mut Svg, below: &str, beside: &str, right: f64) {
    svg.rectangle((LEFT, TOP), (right - LEFT, BOTTOM - TOP), &format!("fill=\"none\" {FRAME}"), None);
    svg.text(((LEFT + right) / 2.0, BOTTOM + 42.0), Anchor::Middle, below);
    svg.text_turned((18.0, (TOP + BOTTOM) / 2.0), Anchor::Middle, beside, -90.0);
}

/// One line of the legend for each text; `mark` draws what it explains, around the given place.
pub fn legend(svg: &mut Svg, texts: &[String], right: f64, mut mark: impl FnMut(&mut Svg, usize, Point)) {
    for (k, text) in texts.iter().enumerate() {
        let y = TOP + 12.0 + 22.0 * k as f64;
        mark(svg, k, (right + MARKS, y));
        svg.text((right + TEXTS, y + 4.5), Anchor::Start, text);
    }
}
