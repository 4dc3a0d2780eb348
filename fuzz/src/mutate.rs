//! Turns seeds of the corpus into inputs nobody wrote, the same ones for the same seed.
//! Owns: the random numbers, the operations. Must not: know a target, or make an input beyond the limit.

use crate::dictionary::COMMON;
use crate::spans;
use crate::{INPUT_BYTES_MAX, Target};
use std::ops::Range;

/// Splitmix64: small, seeded, the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The numbers of one case, independent of those of every other case and target.
    #[must_use]
    pub fn of_case(seed: u64, target: &str, case: u64) -> Self {
        // FNV-1a, so that two targets with like corpora do not walk the same path.
        let name = target.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        });
        let mut mixed = Random(seed ^ name);
        let base = mixed.next();
        Random(base ^ Random(case).next())
    }

    /// The next number.
    #[expect(clippy::should_implement_trait, reason = "a source of numbers that never ends is no iterator")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next().to_le_bytes()[0]
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> Option<&'a T> {
        list.get(self.below(list.len()))
    }

    /// A piece of something `length` long, mostly a short one.
    fn range(&mut self, length: usize) -> Range<usize> {
        let start = self.below(length + 1);
        let most = if self.below(4) == 0 { length - start } else { (length - start).min(16) };
        start..start + self.below(most + 1)
    }
}

/// At most this many operations make one input of another.
const STEPS_MAX: usize = 8;
/// At most this often a piece is repeated.
const REPEATS_MAX: usize = 300;

/// The seeds that mutations start from and borrow from.
#[derive(Clone, Debug, Default)]
pub struct Seeds {
    /// Those of the target.
    pub own: Vec<Vec<u8>>,
    /// Those of everybody.
    pub shared: Vec<Vec<u8>>,
}

impl Seeds {
    /// Mostly one of the target's own: what is hostile to everybody hardly ever reaches a contract's checks.
    fn pick(&self, random: &mut Random) -> &[u8] {
        let (first, second) =
            if random.below(5) == 0 { (&self.shared, &self.own) } else { (&self.own, &self.shared) };
        random.pick(first).or_else(|| random.pick(second)).map(Vec::as_slice).unwrap_or_default()
    }
}

/// The input of case `case`: a seed, changed in a few places.
#[must_use]
pub fn input(target: &Target, seeds: &Seeds, seed: u64, case: u64) -> Vec<u8> {
    let mut random = Random::of_case(seed, target.name, case);
    let mut bytes = seeds.pick(&mut random).to_vec();
    // A document that no longer parses tests no contract, so most inputs only have whole values moved.
    let in_bytes = random.below(3) == 0;
    let steps = 1 + random.below(STEPS_MAX).min(random.below(STEPS_MAX)).min(random.below(STEPS_MAX));
    for _ in 0..steps {
        if in_bytes {
            change_bytes(&mut bytes, target, seeds, &mut random);
        } else {
            change_values(&mut bytes, target, seeds, &mut random);
        }
        bytes.truncate(INPUT_BYTES_MAX);
    }
    bytes
}

fn change_bytes(bytes: &mut Vec<u8>, target: &Target, seeds: &Seeds, random: &mut Random) {
    match random.below(11) {
        0 => flip_bit(bytes, random),
        1 => set_byte(bytes, random),
        2 => insert_bytes(bytes, random),
        3 => drop(bytes.drain(random.range(bytes.len()))),
        4 => duplicate(bytes, random),
        5 => splice(bytes, seeds, random),
        6 | 7 => insert_token(bytes, target, random),
        8 => bytes.truncate(random.below(bytes.len() + 1)),
        9 => repeat(bytes, random),
        _ => change_values(bytes, target, seeds, random),
    }
}

fn change_values(bytes: &mut Vec<u8>, target: &Target, seeds: &Seeds, random: &mut Random) {
    match random.below(10) {
        0..=2 => replace_value(bytes, target, random),
        3 => borrow_value(bytes, seeds, random),
        4 => nest_value(bytes, random),
        5 => drop_item(bytes, random),
        6 => double_item(bytes, random),
        7 => rename_member(bytes, target, random),
        _ => change_digit(bytes, random),
    }
}

fn flip_bit(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    let bit = 1 << random.below(8);
    if let Some(byte) = bytes.get_mut(at) {
        *byte ^= bit;
    }
}

fn set_byte(bytes: &mut [u8], random: &mut Random) {
    let at = random.below(bytes.len());
    let value = random.byte();
    if let Some(byte) = bytes.get_mut(at) {
        *byte = value;
    }
}

fn insert_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let new: Vec<u8> = (0..=random.below(4)).map(|_| random.byte()).collect();
    bytes.splice(at..at, new);
}

fn duplicate(bytes: &mut Vec<u8>, random: &mut Random) {
    let piece = bytes[random.range(bytes.len())].to_vec();
    let at = random.below(bytes.len() + 1);
    bytes.splice(at..at, piece);
}

fn repeat(bytes: &mut Vec<u8>, random: &mut Random) {
    let range = random.range(bytes.len());
    let piece = &bytes[range.clone()];
    let room = (INPUT_BYTES_MAX.saturating_sub(bytes.len())) / piece.len().max(1);
    let repeated = piece.repeat(random.below(REPEATS_MAX.min(room) + 1));
    bytes.splice(range.end..range.end, repeated);
}

fn splice(bytes: &mut Vec<u8>, seeds: &Seeds, random: &mut Random) {
    let other = seeds.pick(random);
    let piece = &other[random.range(other.len())];
    bytes.splice(random.range(bytes.len()), piece.iter().copied());
}

fn token(target: &Target, random: &mut Random) -> Vec<u8> {
    let own = random.below(2) == 0;
    match random.pick(target.dictionary) {
        Some(word) if own => word.as_bytes().to_vec(),
        _ => random.pick(COMMON).map(|token| token.to_vec()).unwrap_or_default(),
    }
}

fn insert_token(bytes: &mut Vec<u8>, target: &Target, random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let token = token(target, random);
    // Over what stands there as often as before it.
    let end = if random.below(2) == 0 { at } else { (at + token.len()).min(bytes.len()) };
    bytes.splice(at..end, token);
}

fn replace_value(bytes: &mut Vec<u8>, target: &Target, random: &mut Random) {
    if let Some(span) = random.pick(&spans::values(bytes)).cloned() {
        let token = token(target, random);
        let is_value = serde_json::from_slice::<serde::de::IgnoredAny>(&token).is_ok();
        bytes.splice(span, if is_value { token } else { quoted(&token) });
    }
}

/// Another digit, or for a letter its neighbour: numbers, times, ids and digests keep their form.
fn change_digit(bytes: &mut [u8], random: &mut Random) {
    let places: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_alphanumeric()).collect();
    let digit = b'0' + random.byte() % 10;
    if let Some(byte) = random.pick(&places).and_then(|at| bytes.get_mut(*at)) {
        *byte = if byte.is_ascii_digit() { digit } else { *byte ^ 1 };
    }
}

fn quoted(token: &[u8]) -> Vec<u8> {
    let bare: Vec<u8> = token.iter().copied().filter(|byte| *byte != b'"').collect();
    [b"\"".as_slice(), &bare, b"\""].concat()
}

/// Puts a value that stands elsewhere, here or in another seed, in place of one that stands here.
fn borrow_value(bytes: &mut Vec<u8>, seeds: &Seeds, random: &mut Random) {
    let here = random.below(2) == 0;
    let lender = if here { bytes.clone() } else { seeds.pick(random).to_vec() };
    let lent = random.pick(&spans::values(&lender)).cloned();
    if let (Some(lent), Some(span)) = (lent, random.pick(&spans::values(bytes)).cloned()) {
        bytes.splice(span, lender[lent].iter().copied());
    }
}

/// Puts brackets around a value, sometimes up to beyond the limit of depth.
fn nest_value(bytes: &mut Vec<u8>, random: &mut Random) {
    let Some(span) = random.pick(&spans::values(bytes)).cloned() else { return };
    let deep = if random.below(4) == 0 { 100 + random.below(40) } else { 1 + random.below(3) };
    let (open, close) = if random.below(2) == 0 { ("[", "]") } else { ("{\"a\":", "}") };
    let nested = [open.repeat(deep).as_bytes(), &bytes[span.clone()], close.repeat(deep).as_bytes()].concat();
    bytes.splice(span, nested);
}

fn drop_item(bytes: &mut Vec<u8>, random: &mut Random) {
    if let Some(item) = random.pick(&spans::items(bytes)).cloned() {
        bytes.drain(item.whole());
    }
}

fn double_item(bytes: &mut Vec<u8>, random: &mut Random) {
    if let Some(item) = random.pick(&spans::items(bytes)).cloned() {
        let copy = [b",".as_slice(), &bytes[item.text.clone()]].concat();
        bytes.splice(item.text.end..item.text.end, copy);
    }
}

fn rename_member(bytes: &mut Vec<u8>, target: &Target, random: &mut Random) {
    if let Some(name) = random.pick(&spans::names(bytes)).cloned() {
        let token = quoted(&token(target, random));
        bytes.splice(name, token);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_case_is_the_same_input_and_none_is_too_long() {
        let target = Target { name: "json", run: |_| {}, dictionary: &["\"agent\""] };
        let own = vec![b"{\"a\":[1,2,{\"b\":null}]}".to_vec(), vec![b'['; INPUT_BYTES_MAX]];
        let corpus = Seeds { own, shared: vec![Vec::new()] };
        let mut different = 0;
        for case in 0..2_000 {
            let made = input(&target, &corpus, 7, case);
            assert!(made.len() <= INPUT_BYTES_MAX);
            assert_eq!(made, input(&target, &corpus, 7, case));
            different += usize::from(made != input(&target, &corpus, 8, case));
        }
        assert!(different > 1_500, "another seed makes other inputs: {different}");
    }

    #[test]
    fn nothing_to_start_from_is_no_trouble() {
        let target = Target { name: "json", run: |_| {}, dictionary: &[] };
        for case in 0..500 {
            drop(input(&target, &Seeds::default(), 1, case));
        }
    }
}
