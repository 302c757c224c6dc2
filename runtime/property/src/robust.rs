//! Local robustness as a property: no input near an image scores another class as high as its own.

use std::sync::Arc;

use super::affine::{Affine, Row, Term};
use super::error::PropertyError;
use super::region::{Bound, InputBox, Side};
use super::{Decimal, Disjunct, Property};

const ORIGIN: &str = "robustness property";

impl Property {
    /// Inputs within `eps` of the image in every coordinate, clipped to the given range;
    /// counterexamples score some other class at least as high as `label`. All exact.
    ///
    /// An image outside of the range by more than `eps` leaves no input: every disjunct is empty.
    pub fn robust(
        image: &[Decimal],
        eps: &Decimal,
        clip: Option<(Decimal, Decimal)>,
        label: usize,
        outputs: usize,
    ) -> Result<Self, PropertyError> {
        check(image, eps, &clip, label, outputs)?;
        let sides = image.iter().map(|pixel| side(pixel, eps, clip.as_ref()).map(Arc::new));
        let region = sides.collect::<Option<Vec<_>>>().map(|sides| Arc::new(InputBox::new(sides)));
        let others = (0..outputs).filter(|&other| other != label);
        let disjunct = |other| {
            let region = region.clone()?;
            let rows = vec![Arc::new(scores_at_least(other, label))];
            Some(Disjunct { region, rows, quadratics: Vec::new() })
        };
        let disjuncts: Vec<_> = others.filter_map(disjunct).collect();
        let empty_disjuncts = outputs - 1 - disjuncts.len();
        let (origin, inputs) = (ORIGIN.into(), image.len());
        Ok(Self {
            origin,
            inputs,
            outputs,
            disjuncts,
            empty_disjuncts,
            has_strict_meeting: false,
            declares_float32: false,
        })
    }
}

fn side(pixel: &Decimal, eps: &Decimal, clip: Option<&(Decimal, Decimal)>) -> Option<Side> {
    let (mut lower, mut upper) = (pixel - eps, pixel + eps);
    if let Some((low, high)) = clip {
        lower = lower.max(low.clone());
        upper = upper.min(high.clone());
    }
    let closed = |value| Bound { value, strict: false };
    Side::new(closed(lower), closed(upper))
}

/// `y[label] - y[other] ≤ 0`.
fn scores_at_least(other: usize, label: usize) -> Row {
    let term = |index, coefficient: i64| Term { index, coefficient: Decimal::from(coefficient).into() };
    let mut y = vec![term(label, 1), term(other, -1)];
    y.sort_by_key(|term| term.index);
    let affine = Affine { x: Vec::new(), y, constant: Decimal::zero().into() };
    Row { affine, strict: false }
}

fn check(
    image: &[Decimal],
    eps: &Decimal,
    clip: &Option<(Decimal, Decimal)>,
    label: usize,
    outputs: usize,
) -> Result<(), PropertyError> {
    let (what, advice) = if image.is_empty() {
        ("the image is empty".into(), "give one number per input of the network".into())
    } else if eps.is_negative() {
        (format!("the radius {eps} is negative"), "give a radius of 0 or more".into())
    } else if let Some((low, high)) = clip.as_ref().filter(|(low, high)| low > high) {
        (format!("the range {low} to {high} to clip to is empty"), "give the lower end first".into())
    } else if outputs < 2 {
        let advice = "robustness needs a classifier of two outputs or more";
        ("there is no other class".into(), advice.into())
    } else if label >= outputs {
        let what = format!("the label {label} is no output of the network");
        (what, format!("labels run from 0 to {}", outputs - 1))
    } else {
        return Ok(());
    };
    Err(PropertyError::new(ORIGIN, what, advice))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimals(texts: &[&str]) -> Vec<Decimal> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    fn robust(image: &[&str], eps: &str, clip: Option<(i64, i64)>, label: usize) -> Property {
        let clip = clip.map(|(low, high)| (low.into(), high.into()));
        Property::robust(&decimals(image), &eps.parse().unwrap(), clip, label, 3).unwrap()
    }

    #[test]
    fn the_box_is_exact_and_shared_and_there_is_a_case_per_other_class() {
        let property = robust(&["0.5", "0.01", "1"], "0.03", Some((0, 1)), 1);
        assert_eq!((property.inputs, property.outputs, property.disjuncts.len()), (3, 3, 2));
        let [first, second] = &property.disjuncts[..] else { panic!() };
        assert!(Arc::ptr_eq(&first.region, &second.region));
        let sides = first.region.sides().map(|s| [s.lower().value.clone(), s.upper().value.clone()]);
        assert_eq!(sides.flatten().collect::<Vec<_>>(), decimals(&["0.47", "0.53", "0", "0.04", "0.97", "1"]));
        let holds = |disjunct: &Disjunct, y| disjunct.rows[0].holds_exactly(&[], &decimals(y));
        assert!(holds(first, &["2", "2", "0"]) && !holds(second, &["2", "2", "0"]));
        assert!(holds(second, &["0", "2", "3"]) && !holds(first, &["0", "2", "3"]));
    }

    #[test]
    fn an_image_outside_of_the_range_leaves_nothing() {
        let property = robust(&["0.5", "7"], "0.03", Some((0, 1)), 0);
        assert_eq!((property.disjuncts.len(), property.empty_disjuncts), (0, 2));
    }

    #[test]
    fn senseless_requests_are_refused() {
        let (image, eps) = (decimals(&["0"]), Decimal::one());
        let error = |image: &[Decimal], eps: &Decimal, clip, label, outputs| {
            Property::robust(image, eps, clip, label, outputs).unwrap_err().to_string()
        };
        assert!(error(&image, &eps, None, 3, 3).contains("labels run from 0 to 2"));
        assert!(error(&image, &-&eps, None, 0, 3).contains("-1 is negative"));
        assert!(error(&[], &eps, None, 0, 3).contains("empty"));
        assert!(error(&image, &eps, None, 0, 1).contains("no other class"));
        let inverted = Some((Decimal::one(), Decimal::zero()));
        assert!(error(&image, &eps, inverted, 0, 3).contains("1 to 0"));
    }
}
