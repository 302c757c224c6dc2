//! Images from text: numbers separated by commas or white space.
//!
//! A pixel means `number / scale` as a network receives it: the `f32` nearest to the exact quotient,
//! ties to even. For whole pixels and a scale such as 255 that is what `f32` division gives. From then
//! on that float is an exact number.

use std::path::Path;

use super::Decimal;
use super::error::{Fault, PropertyError, quoted};
use super::source::Source;

/// The image in a file, plain or gzip.
pub fn read_image(path: &Path, scale: &Decimal) -> Result<Vec<Decimal>, PropertyError> {
    let source = Source::read(path)?;
    parse_image(&source.text, &source.origin, scale)
}

/// The image in a text; `origin` names it in messages.
pub fn parse_image(text: &str, origin: &str, scale: &Decimal) -> Result<Vec<Decimal>, PropertyError> {
    if !scale.is_positive() {
        let what = format!("the scale {scale} is not positive");
        return Err(PropertyError::new(origin, what, "give the value of the brightest pixel, such as 255"));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let pixels = fields(text).map(|field| pixel(field?, scale));
    let pixels: Vec<_> = pixels.collect::<Result<_, _>>().map_err(|fault| fault.locate(origin, text))?;
    if pixels.is_empty() {
        return Err(PropertyError::new(origin, "there is no number in it", "give one number per input"));
    }
    Ok(pixels)
}

fn pixel((at, text): (usize, &str), scale: &Decimal) -> Result<Decimal, Fault> {
    let number = text.parse::<Decimal>().map_err(|bad| {
        let advice = "write numbers separated by commas, spaces or line ends";
        Fault::new(at, format!("{} {bad}", quoted(text)), advice)
    })?;
    let float = number.quotient_to_f32(scale).and_then(Decimal::from_f32);
    float.ok_or_else(|| {
        let what = format!("{} divided by {scale} is beyond float32", quoted(text));
        Fault::new(at, what, "check the number and the scale")
    })
}

/// The fields of the text with their places. A comma must follow a field, the last one may end it.
fn fields(text: &str) -> impl Iterator<Item = Result<(usize, &str), Fault>> {
    let is_separator = |c: char| c == ',' || c.is_whitespace();
    let (mut at, mut after_number) = (0, false);
    std::iter::from_fn(move || {
        loop {
            let rest = &text[at..];
            let next = rest.chars().next()?;
            let start = at;
            if next == ',' {
                at += 1;
                if !std::mem::take(&mut after_number) {
                    let what = "a number is missing before this comma";
                    return Some(Err(Fault::new(start, what, "write it, or remove the comma")));
                }
            } else if next.is_whitespace() {
                at += next.len_utf8();
            } else {
                at += rest.find(is_separator).unwrap_or(rest.len());
                after_number = true;
                return Some(Ok((start, &text[start..at])));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(text: &str, scale: &str) -> Vec<f32> {
        let image = parse_image(text, "i.csv", &scale.parse().unwrap()).unwrap();
        image.iter().map(Decimal::to_f32_down).collect()
    }

    fn error(text: &str, scale: &str) -> String {
        parse_image(text, "i.csv", &scale.parse().unwrap()).unwrap_err().to_string()
    }

    #[test]
    fn separators_mix_and_a_comma_may_end_the_text() {
        assert_eq!(floats("0, 1\t2\r\n3,\n4.5,", "1"), [0.0, 1.0, 2.0, 3.0, 4.5]);
        assert_eq!(floats("51,255,254", "255"), [0.2, 1.0, 254.0 / 255.0]);
    }

    #[test]
    fn a_pixel_is_exactly_the_nearest_float() {
        let image = parse_image("1", "i.csv", &Decimal::from(3)).unwrap();
        assert_eq!(image, [Decimal::from_f32(1.0 / 3.0).unwrap()]);
    }

    #[test]
    fn faults_are_located() {
        assert!(error("1,2\n3,,4", "1").starts_with("i.csv:2:3: a number is missing"));
        assert!(error(",1", "1").starts_with("i.csv:1:1:"));
        assert!(error("1 2\n  x7", "1").starts_with("i.csv:2:3: `x7` is not a decimal number"));
        assert!(error("1e300", "1e-300").starts_with("i.csv:1:1: `1e300` divided by"));
        assert!(error(" \n", "1").starts_with("i.csv: there is no number"));
        assert!(error("1", "0").starts_with("i.csv: the scale 0"));
    }
}
