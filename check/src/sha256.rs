//! SHA-256 of FIPS 180-4, by which a proof names the files that it is about.
//!
//! Additions wrap because the standard adds modulo 2^32; nowhere else in this crate does arithmetic wrap.

/// The first 32 bits of the fractional parts of the roots of the first primes: the greatest r with r^power ≤ prime·2^(32·power).
fn roots<const N: usize>(power: u32) -> [u32; N] {
    let mut primes = (2u128..).filter(|n| (2..*n).all(|d| n % d != 0));
    std::array::from_fn(|_| {
        let most = primes.next().unwrap_or(0) << (32 * power);
        let has = |root: u128| root.pow(power) <= most;
        (0..37).rev().fold(0, |root, bit| if has(root | 1 << bit) { root | 1 << bit } else { root }) as u32
    })
}

/// The digest of a message.
pub fn digest(message: &[u8]) -> [u8; 32] {
    let (mut state, round) = (roots::<8>(2), roots::<64>(3));
    let (blocks, rest) = message.as_chunks::<64>();
    let mut tail = rest.to_vec();
    tail.push(0x80);
    tail.resize(if tail.len() > 56 { 120 } else { 56 }, 0);
    tail.extend((message.len() as u64).wrapping_mul(8).to_be_bytes());
    for block in blocks.iter().chain(tail.as_chunks().0) {
        compress(&mut state, &round, block);
    }
    let mut digest = [0; 32];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    digest
}

fn compress(state: &mut [u32; 8], round: &[u32; 64], block: &[u8; 64]) {
    let mut words = [0u32; 64];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for t in 16..64 {
        let (near, far) = (words[t - 2], words[t - 15]);
        let near = near.rotate_right(17) ^ near.rotate_right(19) ^ (near >> 10);
        let far = far.rotate_right(7) ^ far.rotate_right(18) ^ (far >> 3);
        words[t] = near.wrapping_add(words[t - 7]).wrapping_add(far).wrapping_add(words[t - 16]);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (word, round) in words.into_iter().zip(*round) {
        let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let choice = (e & f) ^ (!e & g);
        let first = h.wrapping_add(sum).wrapping_add(choice).wrapping_add(round).wrapping_add(word);
        let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let second = sum.wrapping_add((a & b) ^ (a & c) ^ (b & c));
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
    }
    for (word, change) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *word = word.wrapping_add(change);
    }
}
