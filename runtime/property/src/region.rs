//! The input box of a disjunct: one exact interval for every input.
//!
//! Each side of the box also carries its floating views, rounded once when it is built. `f64` ends
//! are rounded outward, so an engine that bounds the network over them covers the whole region.
//! The `f32` ends are rounded inward to the first and last float that belong to the region:
//! a float `x` satisfies `x ≥ lower` exactly if it is at least the smallest float that does,
//! so membership of a float point takes two float comparisons per input and is exact.
//!
//! An input that a property fixes at a number which is no float, as one of more digits, would leave the
//! box without a float point. There the nearest float stands for that number: see [`Side::stands_for`].

use std::sync::Arc;

use super::Decimal;

/// One end of an interval. A strict end is not part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    pub value: Decimal,
    pub strict: bool,
}

/// The nonempty interval of one input.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    lower: Bound,
    upper: Bound,
    enclosure: (f64, f64),
    floats: (f32, f32),
    /// Whether it is one number between two floats.
    is_between: bool,
}

impl Side {
    /// `None` if no real number lies between the two bounds.
    pub fn new(lower: Bound, upper: Bound) -> Option<Self> {
        let strict = lower.strict || upper.strict;
        if lower.value > upper.value || (strict && lower.value == upper.value) {
            return None;
        }
        let enclosure = (lower.value.to_f64_down(), upper.value.to_f64_up());
        let mut floats = (first_float(&lower), last_float(&upper));
        let nearest = enclosure.0 as f32;
        let is_between = lower.value == upper.value && floats.0 > floats.1 && nearest.is_finite();
        if is_between {
            floats = (nearest, nearest);
        }
        Some(Self { lower, upper, enclosure, floats, is_between })
    }

    /// The number that the only float of the side stands for, if that is not itself.
    pub fn stands_for(&self) -> Option<&Decimal> {
        self.is_between.then_some(&self.lower.value)
    }

    pub fn lower(&self) -> &Bound {
        &self.lower
    }

    pub fn upper(&self) -> &Bound {
        &self.upper
    }

    /// An `f64` interval that contains this one; an end beyond the finite floats is infinite.
    pub fn enclosure(&self) -> (f64, f64) {
        self.enclosure
    }

    /// The same, which also contains the float that stands for the side's only number: what a program's input can be.
    pub fn program_enclosure(&self) -> (f64, f64) {
        let float = f64::from(self.floats.0);
        match self.is_between {
            true => (self.enclosure.0.min(float), self.enclosure.1.max(float)),
            false => self.enclosure,
        }
    }

    /// The smallest and the largest `f32` inside; the first exceeds the second if there is none. Of one number that is no
    /// float, the nearest.
    pub fn floats(&self) -> (f32, f32) {
        self.floats
    }

    fn contains(&self, x: f32) -> bool {
        x.is_finite() && self.floats.0 <= x && x <= self.floats.1
    }
}

fn first_float(lower: &Bound) -> f32 {
    let float = lower.value.to_f32_up();
    let excluded = lower.strict && Decimal::from_f32(float).as_ref() == Some(&lower.value);
    if excluded { float.next_up() } else { float }
}

fn last_float(upper: &Bound) -> f32 {
    let float = upper.value.to_f32_down();
    let excluded = upper.strict && Decimal::from_f32(float).as_ref() == Some(&upper.value);
    if excluded { float.next_down() } else { float }
}

/// A nonempty box. Boxes that differ in a few inputs share the sides of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct InputBox {
    sides: Vec<Arc<Side>>,
}

impl InputBox {
    pub fn new(sides: Vec<Arc<Side>>) -> Self {
        Self { sides }
    }

    pub fn inputs(&self) -> usize {
        self.sides.len()
    }

    pub fn side(&self, input: usize) -> &Side {
        &self.sides[input]
    }

    pub fn sides(&self) -> impl ExactSizeIterator<Item = &Side> {
        self.sides.iter().map(|side| &**side)
    }

    /// The `f64` ends of every side, rounded outward.
    pub fn enclosure(&self) -> (Vec<f64>, Vec<f64>) {
        self.sides().map(Side::enclosure).unzip()
    }

    /// The same with what stands for a number that is no float.
    pub fn program_enclosure(&self) -> (Vec<f64>, Vec<f64>) {
        self.sides().map(Side::program_enclosure).unzip()
    }

    /// The float input inside the box nearest to `x`; `None` if a side holds no float.
    pub fn nearest_floats(&self, x: impl Iterator<Item = f32>) -> Option<Vec<f32>> {
        let inside = |(x, side): (f32, &Side)| {
            let (first, last) = side.floats();
            (first <= last).then(|| if x > first { x.min(last) } else { first })
        };
        x.zip(self.sides()).map(inside).collect()
    }

    /// Whether every float of a side is itself.
    pub fn is_of_floats(&self) -> bool {
        self.sides().all(|side| !side.is_between)
    }

    /// What a float point of the box stands for, enclosed in `f64`.
    pub fn enclosure_at(&self, x: &[f32]) -> (Vec<f64>, Vec<f64>) {
        let ends = |(side, &x): (&Side, &f32)| match side.is_between {
            true => side.enclosure,
            false => (f64::from(x), f64::from(x)),
        };
        self.sides().zip(x).map(ends).unzip()
    }

    /// Whether the float point lies in the exact box, or stands for a point that does. NaN and infinities lie in none.
    ///
    /// # Panics
    /// If the point is not of the size of the box.
    pub fn contains(&self, x: &[f32]) -> bool {
        assert_eq!(x.len(), self.inputs(), "a point of the wrong dimension");
        self.sides.iter().zip(x).all(|(side, &x)| side.contains(x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(text: &str, strict: bool) -> Bound {
        Bound { value: text.parse().unwrap(), strict }
    }

    #[test]
    fn empty_sides_are_refused() {
        assert!(Side::new(bound("1", false), bound("1", false)).is_some());
        assert!(Side::new(bound("1", true), bound("1", false)).is_none());
        assert!(Side::new(bound("1", false), bound("1", true)).is_none());
        assert!(Side::new(bound("1.0000000000000000001", false), bound("1", false)).is_none());
    }

    #[test]
    fn floats_are_inside_and_enclosures_outside() {
        let side = Side::new(bound("0.1", false), bound("0.3", false)).unwrap();
        let (first, last) = side.floats();
        assert!(side.contains(first) && !side.contains(first.next_down()));
        assert!(side.contains(last) && !side.contains(last.next_up()));
        assert!(f64::from(first) > side.enclosure().0 && f64::from(last) < side.enclosure().1);
    }

    #[test]
    fn a_number_between_floats_has_the_nearest_stand_for_it() {
        let side = Side::new(bound("0.1", false), bound("0.1", false)).unwrap();
        assert!(side.contains(0.1) && !side.contains(0.1f32.next_down()) && !side.contains(0.1f32.next_up()));
        assert_eq!(side.stands_for().map(Decimal::to_string).as_deref(), Some("0.1"));
        assert!(side.enclosure().0 < side.enclosure().1);
        let itself = Side::new(bound("0.5", false), bound("0.5", false)).unwrap();
        assert_eq!(itself.stands_for(), None);
        let beyond = Side::new(bound("1e300", false), bound("1e300", false)).unwrap();
        assert!(beyond.stands_for().is_none() && !beyond.contains(f32::MAX));
    }

    #[test]
    fn strict_ends_exclude_themselves_only() {
        let side = Side::new(bound("-0.5", true), bound("0.5", true)).unwrap();
        assert!(!side.contains(-0.5) && side.contains((-0.5f32).next_up()));
        assert!(!side.contains(0.5) && side.contains(0.5f32.next_down()));
        let positive = Side::new(bound("0", true), bound("1", false)).unwrap();
        assert!(!positive.contains(-0.0) && positive.contains(f32::from_bits(1)));
    }

    #[test]
    fn no_float_beyond_the_finite_ones_is_inside() {
        let side = Side::new(bound("-1e300", false), bound("1e300", false)).unwrap();
        assert!(side.contains(f32::MAX) && side.contains(f32::MIN));
        assert!(!side.contains(f32::INFINITY) && !side.contains(f32::NAN));
        let beyond = Side::new(bound("1e39", false), bound("1e40", false)).unwrap();
        assert!(!beyond.contains(f32::INFINITY) && !beyond.contains(f32::MAX));
    }
}
