//! Decided instances against time: a step up for each, the curves of better runs to the left and above.

use super::super::run::Run;
use super::axis::{Axis, SHORTEST};
use super::frame::{BOTTOM, LEFT, TOP, border, canvas, horizontal, legend, vertical};
use super::svg::{Anchor, Point};
use super::{colour, dash};

const RIGHT: f64 = 620.0;

/// `None` if no run has times.
pub fn cactus(runs: &[Run]) -> Option<String> {
    let runs: Vec<&Run> = runs.iter().filter(|run| run.is_timed()).collect();
    let times: Vec<Vec<f64>> = runs.iter().map(|run| decision_times(run)).collect();
    let limits = runs.iter().flat_map(|run| run.outcomes.iter().filter_map(|outcome| outcome.limit));
    let longest = limits.chain(times.iter().flatten().copied()).reduce(f64::max)?;
    let total = runs.iter().map(|run| run.outcomes.len()).max()?;
    let count = |(run, times): (&&Run, &Vec<f64>)| format!("{}: {} of {}", run.name, times.len(), run.outcomes.len());
    let texts: Vec<String> = runs.iter().zip(&times).map(count).collect();

    let mut svg = canvas(RIGHT, &texts);
    let x = Axis::times("time in seconds", times.iter().flatten().copied().chain([longest]), (LEFT, RIGHT));
    let y = Axis::counts("instances decided", total + total.div_ceil(20), (BOTTOM, TOP));
    horizontal(&mut svg, &x);
    vertical(&mut svg, &y, RIGHT);
    let all = y.at(total as f64);
    svg.line((LEFT, all), (RIGHT, all), "stroke=\"#888\" stroke-dasharray=\"3 3\"");
    svg.text((LEFT + 8.0, all - 5.0), Anchor::Start, &format!("all {total}"));
    let style = |k| format!("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", colour(k), dash(k));
    for (k, times) in times.iter().enumerate() {
        let steps = steps(times, &x, &y);
        svg.path(&steps, &style(k));
        if let Some(&end) = steps.last() {
            svg.circle(end, 3.5, &format!("fill=\"{}\"", colour(k)), None);
        }
    }
    border(&mut svg, &x.label, &y.label, RIGHT);
    legend(&mut svg, &texts, RIGHT, |svg, k, (x, y)| svg.line((x - 16.0, y), (x + 16.0, y), &style(k)));
    Some(svg.finish())
}

/// Of what was decided, in order.
fn decision_times(run: &Run) -> Vec<f64> {
    let mut times: Vec<f64> = run.outcomes.iter().filter_map(|outcome| outcome.decided_in()).collect();
    times.iter_mut().for_each(|time| *time = time.max(SHORTEST));
    times.sort_by(f64::total_cmp);
    times
}

fn steps(times: &[f64], x: &Axis, y: &Axis) -> Vec<Point> {
    let corners = |(k, &time): (usize, &f64)| [(x.at(time), y.at(k as f64)), (x.at(time), y.at(k as f64 + 1.0))];
    times.iter().enumerate().flat_map(corners).collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::run::tests::sample;
    use super::*;
    use crate::suite::Word;

    #[test]
    fn each_decision_is_a_step() {
        let run = sample("a & b", &[(Word::Sat, 2.0), (Word::Timeout, 60.0), (Word::Unsat, 0.5)]);
        assert_eq!(decision_times(&run), [0.5, 2.0]);
        let svg = cactus(&[run]).unwrap();
        assert!(svg.contains("a &amp; b: 2 of 3"), "{svg}");
        assert!(cactus(&[]).is_none());
    }
}
