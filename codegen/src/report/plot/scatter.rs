//! The times of two runs, instance by instance.

use super::super::run::{Outcome, Run};
use super::axis::{Axis, SHORTEST};
use super::colour;
use super::frame::{BOTTOM, LEFT, TOP, border, canvas, horizontal, legend, vertical};
use super::svg::{Anchor, Point, Svg};
use crate::suite::Word;

/// The frame is a square, of which the last part is for what was not decided.
const RIGHT: f64 = LEFT + (BOTTOM - TOP);
const BAND: f64 = 26.0;

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    Unsat,
    Sat,
    Undecided,
    Contradiction,
}

const MARKS: [(Mark, &str); 4] = [
    (Mark::Unsat, "unsat"),
    (Mark::Sat, "sat"),
    (Mark::Undecided, "undecided by both"),
    (Mark::Contradiction, "they disagree"),
];

/// `None` if one of them has no times or they share no instance.
pub fn scatter(first: &Run, second: &Run) -> Option<String> {
    let pairs = first.outcomes.iter().filter_map(|a| Some((a, second.find(a.key())?)));
    let pairs: Vec<_> = pairs.filter(|(a, b)| a.seconds.is_some() && b.seconds.is_some()).collect();
    pairs.first()?;
    let shown = MARKS.iter().filter(|(kind, _)| pairs.iter().any(|(a, b)| mark(a.verdict, b.verdict) == *kind));
    let (kinds, texts): (Vec<Mark>, Vec<String>) = shown.map(|(kind, text)| (*kind, text.to_string())).unzip();

    let mut svg = canvas(RIGHT, &texts);
    let times = pairs.iter().flat_map(|(a, b)| [a.decided_in(), b.decided_in()]).flatten();
    let times = times.map(|time| time.max(SHORTEST));
    let x = Axis::times(&format!("{}, seconds", first.name), times.clone(), (LEFT, RIGHT - BAND));
    let y = Axis::times(&format!("{}, seconds", second.name), times, (BOTTOM, TOP + BAND));
    bands(&mut svg, first, second);
    horizontal(&mut svg, &x);
    vertical(&mut svg, &y, RIGHT);
    svg.line((LEFT, BOTTOM), (RIGHT, TOP), "stroke=\"#888\" stroke-dasharray=\"3 3\"");
    for (a, b) in &pairs {
        let place = |outcome: &Outcome, axis: &Axis, band: f64| outcome.decided_in().map_or(band, |time| axis.at(time));
        let at = (place(a, &x, RIGHT - BAND / 2.0), place(b, &y, TOP + BAND / 2.0));
        draw(&mut svg, mark(a.verdict, b.verdict), at, Some(&title(a, b, first, second)));
    }
    border(&mut svg, &x.label, &y.label, RIGHT);
    legend(&mut svg, &texts, RIGHT, |svg, k, at| draw(svg, kinds[k], at, None));
    Some(svg.finish())
}

/// Where the instances are that a run did not decide, said outside of the frame.
fn bands(svg: &mut Svg, first: &Run, second: &Run) {
    let grey = "fill=\"#f3f3f3\"";
    svg.rectangle((LEFT, TOP), (RIGHT - LEFT, BAND), grey, None);
    svg.rectangle((RIGHT - BAND, TOP), (BAND, BOTTOM - TOP), grey, None);
    let (above, beside) = (((LEFT + RIGHT) / 2.0, TOP - 9.0), (RIGHT + 18.0, (TOP + BOTTOM) / 2.0));
    svg.text(above, Anchor::Middle, &format!("undecided by {}", second.name));
    svg.text_turned(beside, Anchor::Middle, &format!("undecided by {}", first.name), -90.0);
}

fn mark(a: Word, b: Word) -> Mark {
    match (a, b) {
        (a, b) if a.contradicts(b) => Mark::Contradiction,
        (Word::Sat, _) | (_, Word::Sat) => Mark::Sat,
        (Word::Unsat, _) | (_, Word::Unsat) => Mark::Unsat,
        _ => Mark::Undecided,
    }
}

/// Kinds differ in shape as well as in colour.
fn draw(svg: &mut Svg, mark: Mark, (x, y): Point, title: Option<&str>) {
    let style = |k| format!("fill=\"{0}\" fill-opacity=\"0.55\" stroke=\"{0}\"", colour(k));
    match mark {
        Mark::Unsat => svg.circle((x, y), 4.0, &style(0), title),
        Mark::Sat => svg.polygon(&[(x - 4.5, y + 4.0), (x + 4.5, y + 4.0), (x, y - 4.5)], &style(1), title),
        Mark::Undecided => svg.rectangle((x - 3.5, y - 3.5), (7.0, 7.0), "fill=\"none\" stroke=\"#666\"", title),
        Mark::Contradiction => {
            svg.polygon(&[(x - 7.0, y), (x, y - 7.0), (x + 7.0, y), (x, y + 7.0)], "fill=\"#000\"", title);
        }
    }
}

fn title(a: &Outcome, b: &Outcome, first: &Run, second: &Run) -> String {
    let told = |run: &Run, outcome: &Outcome| {
        format!("{}: {} in {:.3} s", run.name, outcome.verdict, outcome.seconds.unwrap_or_default())
    };
    format!("{} {}\n{}\n{}", a.network, a.property, told(first, a), told(second, b))
}

#[cfg(test)]
mod tests {
    use super::super::super::run::tests::sample;
    use super::*;

    #[test]
    fn each_shared_instance_is_a_mark() {
        let first = sample("a", &[(Word::Unsat, 1.0), (Word::Sat, 2.0), (Word::Timeout, 60.0), (Word::Sat, 1.0)]);
        let second = sample("b", &[(Word::Unsat, 3.0), (Word::Unsat, 0.1), (Word::Timeout, 60.0)]);
        let svg = scatter(&first, &second).unwrap();
        assert_eq!(svg.matches("<title>").count(), 3);
        assert!(svg.contains("they disagree") && svg.contains("undecided by both") && !svg.contains(">sat<"));
        assert!(scatter(&first, &sample("c", &[])).is_none());
    }

    #[test]
    fn a_verdict_of_one_is_the_kind() {
        assert!(mark(Word::Timeout, Word::Sat) == Mark::Sat && mark(Word::Unsat, Word::Error) == Mark::Unsat);
    }
}
