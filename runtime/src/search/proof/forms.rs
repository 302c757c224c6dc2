//! What lower forms of a conjunction's rows say about a box: that it holds no counterexample, or where alone it may.
//!
//! A form is a constant and a slope for each input over t, here in a part [low, high] of [−1, 1]; a counterexample has every
//! form at most 0. So it is excluded by a form that is positive on all of the part, by any combination of forms with weights
//! that are not negative, and the part may be clipped to where each form can be 0 or less. Sums are of float64: their errors
//! are charged in [`slack`].

use pg_core::rounding::{EPSILON, TINY};

/// A part of the box: the least and greatest t of each input.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    pub low: Vec<f64>,
    pub high: Vec<f64>,
}

impl Part {
    pub fn whole(inputs: usize) -> Part {
        Part { low: vec![-1.0; inputs], high: vec![1.0; inputs] }
    }

    /// The least part that holds both.
    pub fn join(&mut self, other: &Part) {
        self.low.iter_mut().zip(&other.low).for_each(|(a, b)| *a = a.min(*b));
        self.high.iter_mut().zip(&other.high).for_each(|(a, b)| *a = a.max(*b));
    }

    /// Where a form is least.
    pub fn lowest(&self, form: &[f64]) -> Vec<f64> {
        let end = |(i, &a): (usize, &f64)| if a > 0.0 { self.low[i] } else { self.high[i] };
        form[1..].iter().enumerate().map(end).collect()
    }
}

/// What a sum over a form may be off by, as |t| is at most 1.
fn slack(form: &[f64]) -> f64 {
    let size: f64 = form.iter().map(|a| a.abs()).sum();
    let count = (2 * form.len() + 8) as f64;
    size * count * EPSILON + count * TINY
}

pub fn value(form: &[f64], t: &[f64]) -> f64 {
    form[0] + form[1..].iter().zip(t).map(|(a, t)| a * t).sum::<f64>()
}

/// The least value of a form on a part, as computed.
pub fn least(form: &[f64], part: &Part) -> f64 {
    let ends = part.low.iter().zip(&part.high);
    form[0] + form[1..].iter().zip(ends).map(|(&a, (&l, &h))| if a > 0.0 { a * l } else { a * h }).sum::<f64>()
}

/// Whether a form is positive on the whole part.
pub fn excludes(form: &[f64], part: &Part) -> bool {
    least(form, part) - slack(form) > 0.0
}

/// Shrinks the part to where a form can be at most 0; false if that is nowhere.
///
/// With all other inputs where the form is least, one may move from there only as far as the form's least value is below 0.
pub fn clip(form: &[f64], part: &mut Part) -> bool {
    let spare = slack(form) - least(form, part);
    if spare < 0.0 {
        return false;
    }
    if !spare.is_finite() {
        return true;
    }
    for (i, &a) in form[1..].iter().enumerate() {
        let room = (spare / a.abs() * (1.0 + 4.0 * EPSILON)).next_up();
        if a > 0.0 {
            part.high[i] = part.high[i].min((part.low[i] + room).next_up());
        } else if a < 0.0 {
            part.low[i] = part.low[i].max((part.high[i] - room).next_down());
        }
    }
    true
}

/// Raises the least value of a combination of forms: from a form towards the one that is highest where the combination is
/// least, as far as that gains, and again. The combination is a form like the others.
///
/// Sound whatever the weights: they are not negative, and what rounding may add is taken from the constant.
pub fn combine(forms: &[&[f64]], from: usize, part: &Part, rounds: usize) -> Vec<f64> {
    let mut best = forms[from].to_vec();
    for _ in 0..rounds {
        let (low, lowest) = (least(&best, part), part.lowest(&best));
        let at = |form: &&&[f64]| value(form, &lowest);
        let Some(other) = forms.iter().max_by(|a, b| at(a).total_cmp(&at(b))) else { break };
        let gain = value(other, &lowest) - low;
        if low > 0.0 || gain.is_nan() || gain <= 1e-9 * (1.0 + low.abs()) {
            break;
        }
        let weight = line_search(&best, other, part, gain);
        if weight <= 0.0 {
            break;
        }
        best = mixed(&best, other, weight);
    }
    best
}

/// How far to go from one form to another for the greatest least value: it is concave on the way, with a slope that begins as
/// the gain and falls where a coefficient changes its sign.
fn line_search(from: &[f64], to: &[f64], part: &Part, gain: f64) -> f64 {
    let mut turns: Vec<(f64, f64)> = Vec::with_capacity(from.len());
    for (i, (a, b)) in from[1..].iter().zip(&to[1..]).enumerate() {
        if a * b < 0.0 {
            turns.push((a / (a - b), (a - b).abs() * (part.high[i] - part.low[i])));
        }
    }
    turns.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut slope = gain;
    for (at, fall) in turns {
        slope -= fall;
        if slope <= 0.0 {
            return at.clamp(0.0, 1.0);
        }
    }
    1.0
}

fn mixed(a: &[f64], b: &[f64], weight: f64) -> Vec<f64> {
    let rest = 1.0 - weight;
    let mut sum: Vec<f64> = a.iter().zip(b).map(|(a, b)| rest * a + weight * b).collect();
    let size: f64 = a.iter().zip(b).map(|(a, b)| (rest * a).abs() + (weight * b).abs()).sum();
    sum[0] = (sum[0] - 4.0 * size * EPSILON - a.len() as f64 * 4.0 * TINY).next_down();
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_combination_excludes_what_no_form_does() {
        // t and −t + 0.1, of which one is always above 0: half of each is 0.05.
        let forms: [&[f64]; 2] = [&[0.0, 1.0], &[0.1, -1.0]];
        let part = Part::whole(1);
        assert!(forms.iter().all(|form| !excludes(form, &part)));
        assert!(excludes(&combine(&forms, 0, &part, 8), &part));
    }

    #[test]
    fn clipping_keeps_what_a_form_allows() {
        let mut part = Part::whole(2);
        // t₀ ≤ −0.5 + |0.25·t₁|, so at most −0.25.
        assert!(clip(&[0.5, 1.0, 0.25], &mut part));
        assert!((part.high[0] + 0.25).abs() < 1e-9 && part.high[0] >= -0.25 && part.high[1] == 1.0);
        assert!(!clip(&[3.0, 1.0, 1.0], &mut part));
        let mut part = Part::whole(1);
        assert!(clip(&[f64::NEG_INFINITY, 0.0], &mut part) && part == Part::whole(1));
    }
}
