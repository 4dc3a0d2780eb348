//! What a candidate is worth.
//! Owns: the arithmetic of the contract. Must not: use anything but what it is given.

use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical::Score;
use countersign_record::time::Instant;
use memchr::memmem::Finder;

const NANOS_PER_DAY: f64 = 86_400e9;
/// What a term in the text adds, and what one that is also a tag does, in halves.
const TEXT_HALVES: u32 = 2;
const TAG_HALVES: u32 = 1;

/// The terms, made ready to be looked for.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    terms: Vec<(String, Finder<'static>)>,
}

impl Terms {
    pub(super) fn new(terms: Vec<String>) -> Self {
        let ready = |term: String| {
            let finder = Finder::new(term.as_bytes()).into_owned();
            (term, finder)
        };
        Terms { terms: terms.into_iter().map(ready).collect() }
    }

    /// How many of them are somewhere in the text, which is lowercased.
    pub(super) fn in_text(&self, lower: &[u8]) -> usize {
        self.terms.iter().filter(|(_, finder)| finder.find(lower).is_some()).count()
    }

    /// How many of them are tags. A tag stands once, and so does a term.
    pub(super) fn in_tags<'a>(&self, tags: impl Iterator<Item = &'a [u8]>) -> usize {
        tags.filter(|tag| self.terms.iter().any(|(term, _)| term.as_bytes() == *tag)).count()
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
