//! The plots, written as SVG without help: frames, axes and marks are all there is.

mod axis;
mod cactus;
mod frame;
mod lp_calls;
mod scatter;
mod svg;

pub use cactus::cactus;
pub use lp_calls::lp_calls;
pub use scatter::scatter;
pub use svg::escape;

/// The palette of Okabe and Ito, which colour-blind readers can tell apart, without its yellow, which is faint on white.
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
/// Lines differ in their dashes too, and run out of them later than of colours.
const DASHES: [&str; 5] = ["", "8 4", "2 3", "10 3 2 3", "5 2"];

fn colour(k: usize) -> &'static str {
    COLOURS[k % COLOURS.len()]
}

fn dash(k: usize) -> &'static str {
    DASHES[k % DASHES.len()]
}
