//! How many linear programs instances took: a histogram whose classes double, a bar for each run.

use super::super::run::Run;
use super::axis::Axis;
use super::colour;
use super::frame::{BOTTOM, LEFT, TOP, border, canvas, legend, vertical};
use super::svg::{Anchor, Svg};

const RIGHT: f64 = 620.0;
/// The share of a class's width that its bars take.
const FILLED: f64 = 0.8;
/// Fewer classes would make bars that look like walls.
const FEWEST: usize = 8;

/// `None` if no run counted.
pub fn lp_calls(runs: &[Run]) -> Option<String> {
    let counted = |run: &&Run| run.outcomes.iter().any(|outcome| outcome.lp_calls.is_some());
    let runs: Vec<&Run> = runs.iter().filter(counted).collect();
    let calls: Vec<Vec<u64>> = runs.iter().map(|run| decided_calls(run)).collect();
    let classes = (class(*calls.iter().flatten().max()?) + 1).max(FEWEST);
    let count = |calls: &Vec<u64>| {
        let mut counts = vec![0usize; classes];
        calls.iter().for_each(|&calls| counts[class(calls)] += 1);
        counts
    };
    let counts: Vec<Vec<usize>> = calls.iter().map(count).collect();
    let highest = counts.iter().flatten().copied().max()?;

    let texts: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    let mut svg = canvas(RIGHT, &texts);
    let y = Axis::counts("instances", highest + highest.div_ceil(20), (BOTTOM, TOP));
    vertical(&mut svg, &y, RIGHT);
    let width = (RIGHT - LEFT) / classes as f64;
    let bar = FILLED * width / runs.len() as f64;
    for k in 0..classes {
        let left = LEFT + width * (k as f64 + (1.0 - FILLED) / 2.0);
        for (r, counts) in counts.iter().enumerate().filter(|(_, counts)| counts[k] > 0) {
            let top = y.at(counts[k] as f64);
            let (at, size) = ((left + bar * r as f64, top), (bar, BOTTOM - top));
            let title = format!("{}: {} instances with {}", runs[r].name, counts[k], range(k));
            svg.rectangle(at, size, &fill(r), Some(&title));
        }
        if k % classes.div_ceil(16) == 0 {
            svg.text((LEFT + width * (k as f64 + 0.5), BOTTOM + 20.0), Anchor::Middle, &first_text(k));
        }
    }
    border(&mut svg, "LP calls, from this number to below the next", &y.label, RIGHT);
    let square = |svg: &mut Svg, k: usize, (x, y)| svg.rectangle((x - 7.0, y - 7.0), (14.0, 14.0), &fill(k), None);
    legend(&mut svg, &texts, RIGHT, square);
    Some(svg.finish())
}

fn fill(k: usize) -> String {
    format!("fill=\"{0}\" stroke=\"{0}\"", colour(k))
}

fn decided_calls(run: &Run) -> Vec<u64> {
    let decided = run.outcomes.iter().filter(|outcome| outcome.verdict.is_decided());
    decided.filter_map(|outcome| outcome.lp_calls).collect()
}

/// 0, 1, 2 to 3, 4 to 7 and so on.
fn class(calls: u64) -> usize {
    (u64::BITS - calls.leading_zeros()) as usize
}

fn first(class: usize) -> u64 {
    if class == 0 { 0 } else { 1 << (class - 1) }
}

fn first_text(class: usize) -> String {
    match first(class) {
        n if n < 1 << 10 => n.to_string(),
        n if n < 1 << 20 => format!("{}k", n >> 10),
        n => format!("{}M", n >> 20),
    }
}

fn range(class: usize) -> String {
    match class {
        0 => "no LP call".into(),
        1 => "1 LP call".into(),
        _ => format!("{} to {} LP calls", first(class), 2 * first(class) - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::run::tests::sample;
    use super::*;
    use crate::suite::Word;

    #[test]
    fn classes_double() {
        assert_eq!([0, 1, 2, 3, 4, 7, 8, 1023, 1024].map(class), [0, 1, 2, 2, 3, 3, 4, 10, 11]);
        assert_eq!([0, 1, 3, 11].map(first_text), ["0", "1", "4", "1k"]);
        assert_eq!(range(3), "4 to 7 LP calls");
    }

    #[test]
    fn only_decided_instances_are_counted() {
        let svg = lp_calls(&[sample("a", &[(Word::Sat, 2.0), (Word::Timeout, 60.0), (Word::Unsat, 0.5)])]).unwrap();
        assert!(svg.contains("a: 1 instances with no LP call") && svg.contains("1 instances with 2 to 3 LP calls"));
        assert!(!svg.contains("with 1 LP call<"));
    }
}
