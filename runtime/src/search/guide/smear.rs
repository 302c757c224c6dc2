//! Which neuron to split where intervals are propagated: the one whose inputs matter most to the other conditions.
//!
//! A variable matters to a condition by the part that it has in the range of its sum (the smear of constraint branching:
//! Kearfott 1996). Only conditions that can still tell something count: neurons whose phase is open, and sums that their
//! limits cut. A split of a neuron halves about what it reads, each by its part in the neuron.

use crate::search::proof::contract::{Conditions, Domain};

/// How much each variable matters. A limit cuts a sum if it takes at least the given part of its range.
fn smears(conditions: &Conditions, domain: &Domain, least_cut: f64) -> Vec<f64> {
    let mut smears = vec![0.0; domain.lower.len()];
    for condition in conditions.all() {
        let [(least, most), (lower, upper)] = conditions.ranges(domain, condition);
        let cut = (lower - least).max(most - upper);
        let is_open = cut > least_cut * (most - least) || is_wide(lower, upper, least_cut);
        if is_open && most - least > 0.0 {
            for &(variable, weight) in conditions.terms(condition) {
                let (low, high) = conditions.read(domain, variable as usize);
                smears[variable as usize] += weight.abs() * (high - low) / (most - least);
            }
        }
    }
    smears
}

/// Whether a phase is open by more than rounding.
fn is_wide(lower: f64, upper: f64, least_cut: f64) -> bool {
    upper.min(-lower) > least_cut * (upper - lower)
}

/// The undecided neuron to split, and whether to try it on first.
pub fn widest(conditions: &Conditions, domain: &Domain, least_cut: f64) -> Option<(usize, bool)> {
    let smears = smears(conditions, domain, least_cut);
    let score = |neuron: usize| {
        let (mut sum, mut range) = (0.0, 0.0);
        for &(variable, weight) in conditions.terms(conditions.of_neuron(neuron)) {
            let (low, high) = conditions.read(domain, variable as usize);
            let part = weight.abs() * (high - low);
            (sum, range) = (sum + part * smears[variable as usize], range + part);
        }
        // What is undecided by rounding alone comes last.
        let is_wide = is_wide(domain.lower[neuron], domain.upper[neuron], least_cut);
        if is_wide { sum / range + smears[neuron] } else { 0.0 }
    };
    let open = conditions.hidden().filter(|&neuron| domain.is_undecided(neuron));
    let (neuron, _) = open.map(|neuron| (neuron, score(neuron).max(0.0))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some((neuron, domain.upper[neuron] >= -domain.lower[neuron]))
}
