//! Maxima and minima: Max, Min, MaxPool, GlobalMaxPool, ReduceMax, ReduceMin.
//!
//! The largest of n entries takes n − 1 ReLUs, by `max(a, b) = b + relu(a − b)` in a tournament: of each group two and
//! two are compared in a round, so there are as many rounds as log₂ n. What two groups compare both is compared once.
//! The smallest is the same by `min(a, b) = b − relu(b − a)`.

use super::Reading;
use super::movement::selection;
use super::reduce::{Groups, groups};
use super::shape::{broadcast, broadcast_indices, checked_len};
use crate::affine::{Affine, MAX_ENTRIES, Matrix, Row, too_many_entries};
use crate::approx::Approx;
use crate::graph::build::Site;
use crate::graph::{Op, Operand};
use std::collections::HashMap;

pub fn build(site: &mut Site, op: &Op, inputs: &[Operand]) -> Result<Operand, String> {
    let least = matches!(op, Op::Min | Op::ReduceMin(_));
    if !matches!(op, Op::Max | Op::Min) {
        let readings: Vec<Reading> = inputs.iter().map(|operand| site.reading(operand)).collect();
        let groups = groups(op, &readings)?;
        return extreme(site, &inputs[0], groups, least);
    }
    let (computed, constants): (Vec<_>, Vec<_>) = inputs.iter().cloned().partition(|o| matches!(o, Operand::Value(_)));
    if constants.is_empty() {
        return among(site, &computed, least);
    }
    // All constants together are one candidate. It stands last: `c + relu(x − c)` reads x by its ReLU alone.
    let constant = among(site, &constants, least)?;
    if computed.is_empty() { Ok(constant) } else { among(site, &[&computed[..], &[constant]].concat(), least) }
}

/// The extreme of several operands, which broadcast.
fn among(site: &mut Site, inputs: &[Operand], least: bool) -> Result<Operand, String> {
    let readings: Vec<Reading> = inputs.iter().map(|operand| site.reading(operand)).collect();
    let shape = readings.iter().try_fold(vec![], |shape, reading| broadcast(&shape, reading.shape))?;
    check_candidates(checked_len(&shape)?.saturating_mul(inputs.len()))?;
    let mut groups = vec![Vec::with_capacity(inputs.len()); checked_len(&shape)?];
    let mut sources = Vec::new();
    for (k, reading) in readings.iter().enumerate() {
        let places = broadcast_indices(reading.shape, &shape);
        groups.iter_mut().zip(places).for_each(|(group, place)| group.push(sources.len() + place));
        sources.extend((0..reading.len()).map(|i| (k, i)));
    }
    let candidates = selection(&sources, &readings)?;
    let all = site.affine("candidates", inputs, vec![sources.len()], candidates)?;
    extreme(site, &all, (shape, groups), least)
}

/// A comparison takes about as much memory as eight coefficients.
fn check_candidates(count: usize) -> Result<(), String> {
    if count > MAX_ENTRIES / 8 { Err(too_many_entries()) } else { Ok(()) }
}

/// The extreme entry of each group.
fn extreme(site: &mut Site, x: &Operand, (shape, mut groups): Groups, least: bool) -> Result<Operand, String> {
    if groups.iter().any(Vec::is_empty) {
        return Err("it has no entries to choose from".into());
    }
    if let Operand::Constant(tensor) = x {
        let choose = |a: Approx, b: Approx| if least { a.min(b) } else { a.max(b) };
        let entry = |group: &Vec<usize>| group.iter().map(|&i| tensor.data[i]).reduce(choose).expect("an entry");
        return site.constant(shape, groups.iter().map(entry).collect());
    }
    check_candidates(groups.iter().map(Vec::len).sum())?;
    let mut x = x.clone();
    let mut number = 1;
    while groups.iter().any(|group| group.len() > 1) {
        let pairs = round(&mut groups);
        let (differences, join) = compared(&pairs, site.reading(&x).len(), least);
        let is_last = groups.iter().enumerate().all(|(o, group)| *group == [o]) && pairs.len() == groups.len();
        let (step, new_shape) =
            if is_last { (String::new(), shape.clone()) } else { (format!("round {number}"), vec![pairs.len()]) };
        let contested = differences.outputs();
        let difference =
            site.affine(&format!("difference {number}"), std::slice::from_ref(&x), vec![contested], differences)?;
        let gain = site.relu(&format!("gain {number}"), &difference)?;
        x = site.affine(&step, &[x, gain], new_shape, join)?;
        if is_last {
            return Ok(x);
        }
        number += 1;
    }
    let sources: Vec<(usize, usize)> = groups.iter().map(|group| (0, group[0])).collect();
    let arrange = selection(&sources, &[site.reading(&x)])?;
    site.affine("", &[x], shape, arrange)
}

/// Pairs the entries of each group, which then holds its pairs' numbers. Who finds no partner is paired with itself.
fn round(groups: &mut [Vec<usize>]) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    let mut numbers = HashMap::new();
    for group in groups {
        let pair = |two: &[usize]| {
            let pair = (two[0], *two.last().expect("one or two"));
            *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        };
        *group = group.chunks(2).map(pair).collect();
    }
    pairs
}

/// The differences whose ReLUs decide the pairs, and the winners as a map of the entries and these ReLUs.
fn compared(pairs: &[(usize, usize)], entries: usize, least: bool) -> (Affine, Affine) {
    let sign = if least { -Approx::ONE } else { Approx::ONE };
    let difference = |&(a, b): &(usize, usize)| -> Row {
        let mut row = vec![(a as u32, sign), (b as u32, -sign)];
        row.sort_unstable_by_key(|&(j, _)| j);
        row
    };
    let differences: Vec<Row> = pairs.iter().filter(|(a, b)| a != b).map(difference).collect();
    let contested = differences.len();
    let kept = pairs.iter().map(|&(_, b)| vec![(b as u32, Approx::ONE)]).collect();
    let mut next = 0..contested as u32;
    let gain =
        |&(a, b): &(usize, usize)| if a == b { vec![] } else { next.by_ref().take(1).map(|k| (k, sign)).collect() };
    let gains = pairs.iter().map(gain).collect();
    let zeros = |n| vec![Approx::exact(0.0); n];
    let winners = vec![Matrix { cols: entries, rows: kept }, Matrix { cols: contested, rows: gains }];
    (
        Affine { matrices: vec![Matrix { cols: entries, rows: differences }], bias: zeros(contested) },
        Affine { matrices: winners, bias: zeros(pairs.len()) },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many comparisons the groups take in all rounds.
    fn comparisons(mut groups: Vec<Vec<usize>>) -> usize {
        let mut count = 0;
        while groups.iter().any(|group| group.len() > 1) {
            count += round(&mut groups).iter().filter(|(a, b)| a != b).count();
        }
        count
    }

    #[test]
    fn a_group_of_n_takes_one_less() {
        for n in 1..20 {
            assert_eq!(comparisons(vec![(0..n).collect()]), n - 1);
        }
        assert_eq!(comparisons(vec![vec![0, 1, 2], vec![3], vec![4, 5]]), 3);
    }

    #[test]
    fn what_groups_share_is_compared_once() {
        assert_eq!(comparisons(vec![vec![0, 1, 2, 3], vec![0, 1, 4, 5]]), 5);
        assert_eq!(comparisons(vec![vec![0, 1], vec![0, 1]]), 1);
    }

    #[test]
    fn winners_are_right() {
        let x = [3.0, 5.0, -1.0].map(Approx::exact);
        for (least, expected) in [(false, [5.0, -1.0]), (true, [3.0, -1.0])] {
            let (differences, winners) = compared(&[(0, 1), (2, 2)], 3, least);
            let mut gain = differences.bias.clone();
            differences.matrices[0].accumulate(&x, &mut gain);
            let gain: Vec<Approx> = gain.into_iter().map(|v| v.max(Approx::exact(0.0))).collect();
            let mut y = winners.bias.clone();
            winners.matrices[0].accumulate(&x, &mut y);
            winners.matrices[1].accumulate(&gain, &mut y);
            assert_eq!(y, expected.map(Approx::exact));
        }
    }
}
