//! What a candidate is worth.
//! Owns: the arithmetic of the contract. Must not: use anything but what it is given.

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical::Score;
use countersign_record::time::Instant;
use memchr::memmem::Finder;

const NANOS_PER_DAY: f64 = 86_400e9;
/// What a term in the text adds, and what one that is also a tag does, in halves.
const TEXT_HALVES: u32 = 2;
const TAG_HALVES: u32 = 1;

/// So many terms are looked for at once; fewer one by one, which is faster.
const AT_ONCE_MIN: usize = 9;
/// And no more bytes of them: what finds them at once takes a hundred times as much.
const AT_ONCE_BYTES_MAX: usize = 1024 * 1024;

/// The terms, made ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    /// Sorted; a term stands once.
    sorted: Vec<String>,
    search: Search,
}

#[derive(Clone, Debug)]
enum Search {
    Each(Vec<Finder<'static>>),
    AtOnce(AhoCorasick),
}

/// Room to note which terms were seen: a bit for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Vec<u64>);

impl Seen {
    fn clear(&mut self, terms: usize) {
        self.0.clear();
        self.0.resize(terms.div_ceil(64), 0);
    }

    /// Whether it was not seen before.
    fn note(&mut self, term: usize) -> bool {
        let bit = 1 << (term % 64);
        self.0.get_mut(term / 64).is_some_and(|word| {
            let is_new = *word & bit == 0;
            *word |= bit;
            is_new
        })
    }
}

impl Terms {
    pub(super) fn new(terms: Vec<String>) -> Self {
        let mut sorted = terms;
        sorted.sort_unstable();
        let bytes: usize = sorted.iter().map(String::len).sum();
        let is_many = sorted.len() >= AT_ONCE_MIN && bytes <= AT_ONCE_BYTES_MAX;
        let kind = Some(AhoCorasickKind::ContiguousNFA);
        let at_once = is_many.then(|| AhoCorasick::builder().kind(kind).build(&sorted).ok()).flatten();
        let finder = |term: &String| Finder::new(term.as_bytes()).into_owned();
        let search =
            at_once.map_or_else(|| Search::Each(sorted.iter().map(finder).collect()), Search::AtOnce);
        Terms { sorted, search }
    }

    /// How many of them are somewhere in the text, which is lowercased.
    pub(super) fn in_text(&self, lower: &[u8], seen: &mut Seen) -> usize {
        match &self.search {
            Search::Each(finders) => finders.iter().filter(|finder| finder.find(lower).is_some()).count(),
            Search::AtOnce(automaton) => {
                let all = self.sorted.len();
                seen.clear(all);
                let found = automaton.find_overlapping_iter(lower);
                // When all were seen, there is nothing left to look for.
                found.filter(|found| seen.note(found.pattern().as_usize())).take(all).count()
            }
        }
    }

    /// How many of them are tags. A tag stands once, and so does a term.
    pub(super) fn in_tags<'a>(&self, tags: impl Iterator<Item = &'a [u8]>) -> usize {
        let is_term = |tag: &[u8]| self.sorted.binary_search_by(|term| term.as_bytes().cmp(tag)).is_ok();
        tags.filter(|tag| is_term(tag)).count()
    }
}

/// How much newer is better.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recency {
    pub(super) now: Instant,
    pub(super) half_life_days: u64,
}

impl Recency {
    /// From 1, at that time or after it, to a half, one half-life before, and so on.
    fn weight(self, at: Instant) -> f64 {
        let age = nanos(self.now) - nanos(at);
        if age <= 0 {
            return 1.0;
        }
        // Rounding to a double is part of the rule: nanoseconds are finer than six decimals of a score can show.
        let days = age as f64 / NANOS_PER_DAY;
        libm::exp2(-(days / self.half_life_days as f64))
    }
}

fn nanos(instant: Instant) -> i128 {
    i128::from(instant.seconds) * 1_000_000_000 + i128::from(instant.nanos)
}

/// Adds the parts up.
pub(super) fn total(in_text: usize, in_tags: usize, recency: Option<(Recency, Instant)>) -> Score {
    let count = |matches: usize| u32::try_from(matches).unwrap_or(u32::MAX);
    let (in_text, in_tags) =
        (count(in_text).saturating_mul(TEXT_HALVES), count(in_tags).saturating_mul(TAG_HALVES));
    let matches = Score::of_halves(in_text.saturating_add(in_tags));
    match recency {
        // A sum of halves and of a number between 0 and 1 is finite.
        Some((recency, at)) => Score::try_from(matches.value() + recency.weight(at)).unwrap_or(matches),
        None => matches,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn many_terms_are_counted_like_few(
            terms in prop::collection::btree_set("[ab\u{e9}]{1,4}", 0..30),
            text in "[abc\u{e9}]{0,40}",
        ) {
            let expected = terms.iter().filter(|term| text.contains(term.as_str())).count();
            let mut seen = Seen::default();
            // What is left of another text does not matter.
            seen.clear(200);
            seen.note(3);
            let tags: Vec<&[u8]> = terms.iter().map(|term| term.as_bytes()).step_by(2).collect();
            let terms = Terms::new(terms.iter().rev().cloned().collect());
            prop_assert_eq!(terms.in_text(text.as_bytes(), &mut seen), expected);
            prop_assert_eq!(terms.in_tags(tags.iter().copied().chain([&b"other"[..]])), tags.len());
        }
    }
}
