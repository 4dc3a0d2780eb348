//! Texts as numbers, so that they are compared and found without being read again.
//! Owns: the one function for that, the same everywhere and always; finding one of some fixed names. Must not: be relied on where somebody gains by two texts of one
//! number: who finds one by it compares the texts.

use alloc::vec;
use alloc::vec::Vec;

/// The number of a text.
#[must_use]
pub(crate) fn number(text: &str) -> u64 {
    let bytes = text.as_bytes();
    let sum = bytes.len() as u64;
    // The last letters are taken together with some that were taken before, rather than one by one.
    if let Some(last) = bytes.last_chunk::<8>() {
        let (words, _) = bytes.as_chunks::<8>();
        let sum = words.iter().fold(sum, |sum, word| join(sum, u64::from_le_bytes(*word)));
        join(sum, u64::from_le_bytes(*last))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        join(sum, u64::from(first) | u64::from(last) << 32)
    } else {
        bytes.iter().fold(join(sum, 0), |sum, byte| join(sum, u64::from(*byte)))
    }
}

/// The number of two, in their order.
#[must_use]
pub(crate) fn join(one: u64, other: u64) -> u64 {
    // Both halves of a product: each bit of both goes into each bit of the sum.
    let product = u128::from(one ^ 0x9E37_79B9_7F4A_7C15) * u128::from(other ^ 0xD1B5_4A32_D192_ED03);
    let low = one_half(product);
    low ^ one_half(product >> 64)
}

fn one_half(product: u128) -> u64 {
    u64::try_from(product & u128::from(u64::MAX)).unwrap_or(0)
}

/// The places of some names in a list, found by their numbers: each at its own or at the first free one behind.
#[derive(Debug)]
pub(crate) struct Slots {
    places: Vec<Option<u16>>,
    /// For each length the last letters that names of it have, a bit for each of 64: nearly all that is no name is known by that.
    ends: [u64; LENGTHS],
}

/// Names are shorter than this.
const LENGTHS: usize = 64;

fn end(name: &str) -> u64 {
    name.bytes().next_back().map_or(0, |last| 1 << (last % 64))
}

impl Slots {
    /// Those of fixed names, each once. What is looked for may be anything.
    pub(crate) fn of<'n>(names: impl Iterator<Item = &'n str> + Clone) -> Self {
        // A quarter is taken, so that what is not there is soon known not to be.
        let size = (names.clone().count() * 4).next_power_of_two();
        let mut slots = Slots { places: vec![None; size], ends: [0; LENGTHS] };
        for (at, name) in names.enumerate() {
            let free = slots.along(name).find(|slot| slots.places.get(*slot) == Some(&None));
            let slot = free.and_then(|free| slots.places.get_mut(free));
            slot.into_iter().for_each(|slot| *slot = u16::try_from(at).ok());
            slots.ends.get_mut(name.len()).into_iter().for_each(|ends| *ends |= end(name));
        }
        slots
    }

    /// The slots in which a name may be, in order.
    fn along(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        let mask = self.places.len() - 1;
        let first = usize::try_from(number(name) & mask as u64).unwrap_or(0);
        (first..=first + mask).map(move |at| at & mask)
    }

    /// The place of a name, for which this holds.
    pub(crate) fn find(&self, name: &str, is_it: impl Fn(usize) -> bool) -> Option<usize> {
        let ends = self.ends.get(name.len())?;
        if ends & end(name) == 0 && !name.is_empty() {
            return None;
        }
        for slot in self.along(name) {
            let at = usize::from((*self.places.get(slot)?)?);
            if is_it(at) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::format;
    use std::string::String;

    #[test]
    fn texts_that_differ_have_numbers_that_do() {
        let mut all: BTreeSet<u64> = (0..100_000).map(|at| number(&format!("finding-{at}"))).collect();
        all.extend((0..64).map(|length| number(&"a".repeat(length))));
        let padded = ["a", "a\0", "a\0\0", "\0", "", "aaaaaaaa", "aaaaaaaa\0"];
        all.extend(padded.iter().skip(1).take(3).map(|text| number(text)));
        assert_eq!(all.len(), 100_000 + 64 + 3);
        assert_eq!(number("finding-1"), number(&String::from("finding-1")));
    }

    #[test]
    fn names_are_found_where_they_stand() {
        let names = ["a", "b", "run_id", "task_id", ""];
        let slots = Slots::of(names.into_iter());
        for (at, name) in names.into_iter().enumerate() {
            assert_eq!(slots.find(name, |place| names[place] == name), Some(at));
        }
        assert_eq!(slots.find("c", |place| names[place] == "c"), None);
        assert_eq!(Slots::of([].into_iter()).find("a", |_| true), None);
    }
}
