//! The shipped files, mutated thousands of times: each is read or refused, and none panics. The same path as the fuzz target
//! of `codegen/fuzz`, through the whole compiler up to the files, with seeded mutations that need no instrumented build.

use pg_codegen::lower::{Runtime, lower};
use pg_codegen::read::read_as;
use pg_codegen::{emit, normalise};
use pg_runtime::property::Property;
use pg_tests::{Random, shipped};

/// Mutants of each file.
const MUTANTS: usize = 3000;
/// Mutations of one mutant, at most.
const MOST: usize = 4;
/// What a mutated number or word is replaced by.
const WORDS: [&str; 20] = [
    "",
    "(",
    ")",
    "-",
    "-0",
    "0",
    "1e999",
    "-1e-999",
    "nan",
    "inf",
    "1.5e",
    "99999999999999999999",
    "assert",
    "or",
    "not",
    "<=",
    "X_0",
    "X_4294967296",
    "Y_0",
    "//",
];
const BYTES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, 0x0a, b'(', b','];

fn range(random: &mut Random, len: usize) -> std::ops::Range<usize> {
    let start = random.below(len + 1);
    let length = random.pick(&[1, 2, 8, 64, 512]);
    start..(start + random.below(length) + 1).min(len)
}

/// Replaces, removes, repeats or inserts a few bytes; or a word of a text by another.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = range(random, bytes.len());
    match random.below(6) {
        _ if at.is_empty() => bytes.push(random.bits() as u8),
        0 => bytes[at.start] = random.pick(&BYTES),
        1 => bytes[at.start] ^= 1 << random.below(8),
        2 => drop(bytes.drain(at)),
        3 => {
            let copy = bytes[at].to_vec();
            let to = random.below(bytes.len() + 1);
            bytes.splice(to..to, copy);
        }
        4 => {
            let copy = bytes[at.clone()].to_vec();
            let to = random.below(bytes.len() - copy.len() + 1);
            bytes[to..to + copy.len()].copy_from_slice(&copy);
        }
        _ => {
            let is_part = |b: &u8| b.is_ascii_alphanumeric() || b"._-+<>=".contains(b);
            let start = bytes[..at.start].iter().rposition(|b| !is_part(b)).map_or(0, |before| before + 1);
            let end = at.start + bytes[at.start..].iter().take_while(|b| is_part(b)).count();
            bytes.splice(start..end.max(start), random.pick(&WORDS).bytes());
        }
    }
}

/// Gives every mutant to `take`, which tells whether it was accepted; returns how many were.
fn accepted(name: &str, seed: u64, take: impl Fn(&[u8]) -> bool) -> usize {
    let original = std::fs::read(shipped(name)).unwrap();
    assert!(take(&original), "{name} is sound");
    let mut random = Random::new(seed);
    let mutant = |_: &usize| {
        let mut bytes = original.clone();
        (0..=random.below(MOST)).for_each(|_| mutate(&mut bytes, &mut random));
        take(&bytes)
    };
    let count = (0..MUTANTS).filter(mutant).count();
    eprintln!("{name}: {count} of {MUTANTS} mutants accepted");
    count
}

/// Through the compiler up to the generated files.
fn compiles(bytes: &[u8], name: &str) -> bool {
    let plan = read_as(bytes, name)
        .and_then(|model| normalise::normalise(model, |_, _| {}))
        .and_then(|net| lower(net, None, Runtime::Version("0".into())));
    plan.map(|plan| emit::emit(&plan)).is_ok()
}

#[test]
fn mutated_networks_are_read_or_refused() {
    for (seed, name) in ["control.onnx", "control.nnet", "digits_16.onnx", "digits_bn.onnx"].into_iter().enumerate() {
        let count = accepted(name, seed as u64, |bytes| compiles(bytes, name));
        assert!((MUTANTS / 100..MUTANTS).contains(&count), "{name}: mutants reach all of the compiler, or none of it");
    }
}

#[test]
fn mutated_properties_are_read_or_refused() {
    let names = ["control_bound.vnnlib", "digits_16_robust.vnnlib", "digits_16_violated.vnnlib"];
    for (seed, name) in names.into_iter().enumerate() {
        let take = |bytes: &[u8]| Property::parse(&String::from_utf8_lossy(bytes), name).is_ok();
        let count = accepted(name, 10 + seed as u64, take);
        assert!((MUTANTS / 100..MUTANTS).contains(&count), "{name}: mutants reach all of the reader, or none of it");
    }
}
