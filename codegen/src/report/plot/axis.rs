//! From values to places, and the values that deserve a mark.

/// An axis from a low to a high value, drawn from one place to another.
#[derive(Clone, Debug)]
pub struct Axis {
    pub label: String,
    low: f64,
    high: f64,
    is_log: bool,
    places: (f64, f64),
}

/// A mark on an axis; small ones have no text.
#[derive(Debug, PartialEq)]
pub struct Tick {
    pub value: f64,
    pub text: String,
}

impl Axis {
    /// From zero to at least the highest value.
    pub fn counts(label: &str, highest: usize, places: (f64, f64)) -> Axis {
        Axis { label: label.into(), low: 0.0, high: highest.max(1) as f64, is_log: false, places }
    }

    /// Logarithmic, over all the values and with a little room on both sides.
    pub fn times(label: &str, values: impl Iterator<Item = f64> + Clone, places: (f64, f64)) -> Axis {
        let low = values.clone().fold(f64::INFINITY, f64::min).clamp(SHORTEST, 1e6);
        let high = values.fold(low, f64::max).max(low * 10.0);
        Axis { label: label.into(), low: low / 1.3, high: high * 1.3, is_log: true, places }
    }

    /// The place of a value; one beyond the ends is drawn at the end.
    pub fn at(&self, value: f64) -> f64 {
        let scale = |value: f64| if self.is_log { value.max(f64::MIN_POSITIVE).ln() } else { value };
        let share = (scale(value) - scale(self.low)) / (scale(self.high) - scale(self.low));
        self.places.0 + share.clamp(0.0, 1.0) * (self.places.1 - self.places.0)
    }

    pub fn ticks(&self) -> Vec<Tick> {
        if self.is_log { self.decades() } else { self.steps() }
    }

    /// Powers of ten have texts. An axis of few decades has them at 2 and 5 too.
    fn decades(&self) -> Vec<Tick> {
        let is_short = self.high / self.low < 150.0;
        let exponents = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
        let all = exponents.flat_map(|exponent| (1..10).map(move |digit| (exponent, digit)));
        let ticks = all.map(|(exponent, digit)| {
            let value = f64::from(digit) * 10f64.powi(exponent);
            let has_text = digit == 1 || (is_short && matches!(digit, 2 | 5));
            let decimals = usize::try_from(-exponent).unwrap_or(0);
            Tick { value, text: if has_text { format!("{value:.decimals$}") } else { String::new() } }
        });
        ticks.filter(|tick| (self.low..=self.high).contains(&tick.value)).collect()
    }

    /// Multiples of 1, 2 or 5 times a power of ten, at most eight of them.
    fn steps(&self) -> Vec<Tick> {
        let steps = (0..).flat_map(|exponent| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(exponent)));
        let step = steps.into_iter().find(|step| self.high / step <= 8.0).expect("steps grow");
        let values = (0..).map(|k| f64::from(k) * step).take_while(|value| *value <= self.high);
        values.map(|value| Tick { value, text: format!("{value}") }).collect()
    }
}

/// Shorter times are drawn as this, in seconds.
pub const SHORTEST: f64 = 1e-3;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<String> {
        axis.ticks().into_iter().map(|tick| tick.text).filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn counts_have_round_steps() {
        let axis = Axis::counts("n", 90, (0.0, 90.0));
        assert_eq!(texts(&axis), ["0", "20", "40", "60", "80"]);
        assert_eq!((axis.at(0.0), axis.at(45.0), axis.at(200.0)), (0.0, 45.0, 90.0));
        assert_eq!(texts(&Axis::counts("n", 0, (0.0, 1.0))), ["0", "1"]);
    }

    #[test]
    fn times_have_decades() {
        let axis = Axis::times("t", [0.004, 60.0].into_iter(), (0.0, 100.0));
        assert_eq!(texts(&axis), ["0.01", "0.1", "1", "10"]);
        assert!((axis.at(0.49) - 50.0).abs() < 1.0, "{}", axis.at(0.49));
        let short = Axis::times("t", [1.0, 20.0].into_iter(), (0.0, 100.0));
        assert_eq!(texts(&short), ["1", "2", "5", "10", "20"]);
        let nothing = Axis::times("t", [].into_iter(), (0.0, 100.0));
        assert!(nothing.at(0.0) == 0.0 && nothing.at(1.0).is_finite());
    }
}
