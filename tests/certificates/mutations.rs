//! Changed certificates: whatever is changed, what is accepted is a proof.

use super::anatomy::Anatomy;
use super::{Case, cases, of_two_boxes};
use pg_check::digest;
use pg_tests::Random;

/// Mutants in all, and how many of those that are accepted the second judge looks at.
const MUTANTS: usize = 100_000;
const LOOKED_AT: usize = 100;

/// The same with the digest of what it is now.
fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 32;
    let sealed = digest(&bytes[..end]);
    bytes[end..].copy_from_slice(&sealed);
    bytes
}

/// The same certificate, said to be about the float32 program.
pub fn about_the_program(bytes: &[u8]) -> Vec<u8> {
    let (mut bytes, name) = (bytes.to_vec(), usize::from(bytes[68]));
    bytes[69 + name] = 1;
    sealed(bytes)
}

/// Changes a certificate somewhere before its digest.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let end = bytes.len() - 32;
    // The heading is a seventh of small files and says little.
    let at = if random.below(20) == 0 { random.below(end) } else { 76 + random.below(end - 76) };
    let length = 1 + random.below(8).min(end - at - 1);
    match random.below(7) {
        0 => bytes[at] = bytes[at].wrapping_add(1),
        1 => bytes[at] = bytes[at].wrapping_sub(1),
        2 => bytes[at] ^= 1 << random.below(8),
        3 => bytes[at] = random.bits() as u8,
        4 => drop(bytes.drain(at..at + length)),
        5 => {
            let copy = bytes[at..at + length].to_vec();
            bytes.splice(at..at, copy);
        }
        _ => {
            let to = 76 + random.below(end - 76 - length.min(end - 76));
            let copy = bytes[at..at + length].to_vec();
            bytes[to..to + length].copy_from_slice(&copy);
        }
    }
}

#[test]
fn mutants_are_rejected_or_still_are_proofs() {
    // Overflows are caught, and told by the hook otherwise.
    std::panic::set_hook(Box::new(|_| ()));
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.certificate.len() < 4_000).collect();
    assert!(cases.len() >= 6, "{}", cases.len());
    let each = MUTANTS / cases.len() + 1;
    let judge_all = |(number, case): (usize, &Case)| {
        let mut random = Random::new(number as u64 + 1);
        let mut accepted = Vec::new();
        for _ in 0..each {
            let mut bytes = case.certificate.clone();
            (0..1 + random.below(2)).for_each(|_| mutate(&mut bytes, &mut random));
            let bytes = sealed(bytes);
            if bytes != case.certificate && case.judge(&bytes).is_ok() {
                accepted.push(bytes);
            }
        }
        accepted
    };
    let accepted: Vec<Vec<Vec<u8>>> = std::thread::scope(|scope| {
        let work: Vec<_> = cases.iter().enumerate().map(|item| scope.spawn(move || judge_all(item))).collect();
        work.into_iter().map(|work| work.join().expect("no panic")).collect()
    });
    let _ = std::panic::take_hook();
    let count: usize = accepted.iter().map(Vec::len).sum();
    eprintln!("{count} of {MUTANTS} mutants are accepted");
    assert!(count < MUTANTS / 4, "{count} mutants are accepted");
    for (case, accepted) in cases.iter().zip(&accepted) {
        for bytes in accepted.iter().step_by((count / LOOKED_AT).max(1)) {
            assert_ne!(case.second_opinion(bytes), Some(false), "accepted, but no proof:\n{}", case.text());
        }
    }
}

#[test]
fn what_is_cut_short_is_rejected() {
    for case in cases().into_iter().take(4) {
        for length in 0..case.certificate.len() {
            assert!(case.judge(&case.certificate[..length]).is_err(), "cut to {length} bytes");
            if length > 40 {
                assert!(case.judge(&sealed(case.certificate[..length].to_vec())).is_err(), "cut to {length}, sealed");
            }
        }
    }
}

/// With the digests of the other question written over its own.
#[test]
fn another_model_or_property_is_rejected() {
    let cases = cases();
    let mut tried = 0;
    for (i, case) in cases.iter().enumerate() {
        for other in cases.iter().skip(i + 1) {
            assert!(other.judge(&case.certificate).is_err());
            let mut bytes = case.certificate.clone();
            bytes[4..36].copy_from_slice(&digest(&other.model));
            bytes[36..68].copy_from_slice(&digest(other.property.as_bytes()));
            tried += 1;
            if other.judge(&sealed(bytes.clone())).is_ok() {
                // It may happen that the same tree of cells is a proof of another network's property.
                assert_ne!(other.second_opinion(&sealed(bytes)), Some(false));
            }
        }
    }
    assert!(tried > 50);
}

/// The records of a region in reverse order: bounds are then used before they are proved.
#[test]
fn bounds_are_not_used_before_their_proof() {
    let mut rejected = 0;
    for case in cases() {
        let Some(bytes) = with_closings_first(&case.certificate) else { continue };
        rejected += usize::from(case.judge(&sealed(bytes)).is_err());
    }
    assert!(rejected >= 2, "{rejected}");
}

/// Moves everything behind the bounds by rules at a region's beginning in front of them.
fn with_closings_first(bytes: &[u8]) -> Option<Vec<u8>> {
    let start = (76..bytes.len() - 40).find(|&at| bytes[at] == 2 && rule_at(bytes, at).is_some())?;
    let mut end = start;
    while let Some(next) = rule_at(bytes, end) {
        end = next;
    }
    let tail = bytes.len() - 32 - 1 - records(bytes).len();
    (end < tail && end > start + 20).then(|| {
        // The region's end is the last byte but the file's own.
        let closed = tail - 1;
        [&bytes[..start], &bytes[end..closed], &bytes[start..end], &bytes[closed..]].concat()
    })
}

/// The number of records, in one byte or two.
fn records(bytes: &[u8]) -> &[u8] {
    let end = bytes.len() - 32;
    let length = if bytes[end - 2] >= 128 { 2 } else { 1 };
    &bytes[end - length..end]
}

/// Where a bound by a rule that begins here ends: one byte each of kind, stage, side, four of value, and a proof of 0.
fn rule_at(bytes: &[u8], at: usize) -> Option<usize> {
    let is_one = bytes[at] == 2 && bytes[at + 1] < 4 && bytes[at + 2] < 128 && bytes[at + 7] == 0;
    is_one.then_some(at + 8)
}

/// The bytes with each of some ranges replaced, the digest made right.
fn with(bytes: &[u8], mut changes: Vec<(std::ops::Range<usize>, Vec<u8>)>) -> Vec<u8> {
    changes.sort_by_key(|(range, _)| range.start);
    let mut changed = bytes.to_vec();
    for (range, new) in changes.into_iter().rev() {
        changed.splice(range, new);
    }
    sealed(changed)
}

/// Every field of a file by itself: one more, one less, another sign or the highest bit that its kind has.
fn field_changes(bytes: &[u8], found: &Anatomy) -> Vec<Vec<u8>> {
    let body = bytes.len() - 32;
    let fields = found.fields.iter().filter(|field| field.end <= body);
    let changes = fields.flat_map(|field| {
        let (first, last) = (field.start, field.end - 1);
        [
            (first, bytes[first] ^ 1),
            (first, bytes[first].wrapping_add(2) & 127),
            (last, bytes[last] ^ 64),
            (last, bytes[last] ^ 128),
        ]
    });
    changes.map(|(at, byte)| with(bytes, vec![(at..at + 1, vec![byte])])).collect()
}

/// Children of every node exchanged, one of them left out, or one in the place of the other.
fn tree_changes(bytes: &[u8], found: &Anatomy) -> Vec<Vec<u8>> {
    let changes = found.children.iter().flat_map(|[a, b]| {
        let (first, second) = (bytes[a.clone()].to_vec(), bytes[b.clone()].to_vec());
        [
            vec![(a.clone(), second.clone()), (b.clone(), first.clone())],
            vec![(a.clone(), vec![])],
            vec![(b.clone(), vec![])],
            vec![(a.clone(), second)],
            vec![(b.clone(), first)],
        ]
    });
    changes.map(|changes| with(bytes, changes)).collect()
}

/// Every record left out, or exchanged with the next one.
fn record_changes(bytes: &[u8], found: &Anatomy) -> Vec<Vec<u8>> {
    let records = found.regions.iter().flat_map(|region| region.windows(2).chain(region.chunks(1)));
    let changes = records.map(|some| match some {
        [a, b] => vec![(a.clone(), bytes[b.clone()].to_vec()), (b.clone(), bytes[a.clone()].to_vec())],
        _ => vec![(some[0].clone(), vec![])],
    });
    changes.map(|changes| with(bytes, changes)).collect()
}

/// What the first judge accepts of the changes the second one has to accept; how many there are.
fn accepted(case: &Case, changes: Vec<Vec<u8>>) -> usize {
    let fine: Vec<Vec<u8>> =
        changes.into_iter().filter(|bytes| *bytes != case.certificate && case.judge(bytes).is_ok()).collect();
    for bytes in fine.iter().step_by(fine.len() / 3 + 1) {
        assert_ne!(case.second_opinion(bytes), Some(false), "accepted, but no proof:\n{}", case.text());
    }
    fine.len()
}

/// Numbers of slopes and multipliers, and cuts of cells, may be others; what a tree covers may not.
#[test]
fn changes_of_fields_children_and_records_are_rejected_or_still_are_proofs() {
    std::panic::set_hook(Box::new(|_| ()));
    let (mut tried, mut fine) = ([0; 3], [0; 3]);
    for case in cases().iter().filter(|case| case.certificate.len() < 2_000).step_by(4) {
        let found = Anatomy::of(&case.certificate, &case.property);
        let changes = [field_changes, tree_changes, record_changes].map(|of| of(&case.certificate, &found));
        for (kind, changes) in changes.into_iter().enumerate() {
            tried[kind] += changes.len();
            fine[kind] += accepted(case, changes);
        }
    }
    let _ = std::panic::take_hook();
    eprintln!("of changed fields, children and records {fine:?} of {tried:?} are accepted");
    assert!(tried.iter().zip([1_000, 50, 100]).all(|(tried, least)| *tried > least), "{tried:?}");
    assert!(tried.iter().zip(&fine).all(|(tried, fine)| 2 * fine < *tried), "{fine:?} of {tried:?}");
}

/// Bounds that were proved on one box are none on another one.
#[test]
fn bounds_of_another_region_are_rejected() {
    let case = of_two_boxes();
    let found = Anatomy::of(&case.certificate, &case.property);
    let [first, second] = &found.regions[..] else { panic!("{} regions", found.regions.len()) };
    let bounds = |records: &[std::ops::Range<usize>]| {
        let mut all = records.iter().filter(|record| case.certificate[record.start] == 2);
        (all.next().expect("a bound").start, all.next_back().expect("another").end)
    };
    let ((a, b), (c, d)) = (bounds(first), bounds(second));
    let bytes = &case.certificate;
    let exchanged = with(bytes, vec![(a..b, bytes[c..d].to_vec()), (c..d, bytes[a..b].to_vec())]);
    assert!(case.judge(&exchanged).is_err());
    assert_ne!(case.second_opinion(&exchanged), Some(true));
}
