//! What one piece of a store gives.
//! Owns: a compact entry for each line. Must not: hold a text.

use super::lines::{Line, Range, Store};
use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{self, Key, Plan, Refusal, Scratch};
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;
use std::cmp::Ordering;

/// A stretch of a part's ids.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    start: usize,
    length: u32,
}

/// A record that may be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: Score,
    pub(super) at: Option<Instant>,
    pub(super) record_hash: Digest,
    pub(super) id: Span,
    pub(super) tokens: u64,
    /// Where its line is.
    pub(super) offset: u64,
    pub(super) length: u32,
}

/// A candidate's place in the order. What it begins with decides nearly every comparison where it stands, without
/// looking at the candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rank {
    /// Score, second, nanosecond and store, then the first bytes of the id: each so that a lesser number comes first.
    first: [u64; 4],
    pub(super) part: u32,
    pub(super) at: u32,
}

impl Rank {
    fn of(part: &Part, candidate: &Candidate, at: usize) -> Self {
        // A score is not negative, so its bits are in its order.
        let score = !candidate.score.value().to_bits();
        let (second, nano) = match candidate.at {
            Some(at) => (!(at.seconds.cast_unsigned() ^ (1 << 63)), !at.nanos),
            None => (u64::MAX, u32::MAX),
        };
        // Stores are in the order of their paths.
        let place = u64::from(nano) << 32 | u64::from(part.store);
        let mut id = [0; 8];
        for (room, byte) in id.iter_mut().zip(part.text(candidate.id).bytes()) {
            *room = byte;
        }
        let first = [score, second, place, u64::from_be_bytes(id)];
        Rank { first, part: 0, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }
}

/// A line that can't be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) record_hash: Digest,
    pub(super) id: Span,
    pub(super) reason: Reason,
}

/// What one piece of a store gives.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) store: u32,
    ids: String,
    /// In reading order.
    pub(super) candidates: Vec<Candidate>,
    /// Their places, in the contract's order.
    pub(super) order: Vec<Rank>,
    /// In reading order.
    pub(super) refused: Vec<Refused>,
}

impl Part {
    /// Reads the lines of a piece.
    pub(super) fn read(plan: &Plan, stores: &[Store], range: &Range) -> Result<Self, Refusal> {
        let mut part = Part { store: u32::try_from(range.store).unwrap_or(u32::MAX), ..Part::default() };
        let Some(store) = stores.get(range.store) else { return Ok(part) };
        let mut scratch = Scratch::default();
        let lines = store.lines(range, |offset, line| part.take(plan, &mut scratch, offset, &line));
        lines.map_err(|error| Refusal::StoreUnreadable {
            path: store.path.clone(),
            why: error.kind().to_string(),
        })?;
        part.sort(store);
        Ok(part)
    }

    fn take(&mut self, plan: &Plan, scratch: &mut Scratch, offset: u64, line: &Line<'_>) {
        let bytes = match line {
            Line::Whole(bytes) => bytes,
            Line::TooLong(record_hash) => {
                return self.refuse("", *record_hash, Reason::InvalidRecordSchema);
            }
        };
        match plan.see(bytes, scratch) {
            recall::Line::Blank => {}
            recall::Line::Invalid { memory_id, record_hash } => {
                self.refuse(memory_id, record_hash, Reason::InvalidRecordSchema);
            }
            recall::Line::Denied { memory_id, record_hash } => {
                self.refuse(memory_id, record_hash, Reason::TrustDenied);
            }
            recall::Line::Candidate { memory_id, record_hash, score, at, tokens } => {
                let id = self.note(memory_id);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.candidates.push(Candidate { score, at, record_hash, id, tokens, offset, length });
            }
        }
    }

    fn refuse(&mut self, memory_id: &str, record_hash: Digest, reason: Reason) {
        let id = self.note(memory_id);
        self.refused.push(Refused { record_hash, id, reason });
    }

    fn note(&mut self, id: &str) -> Span {
        let start = self.ids.len();
        self.ids.push_str(id);
        Span { start, length: u32::try_from(id.len()).unwrap_or(u32::MAX) }
    }

    /// The id that a span stands for.
    pub(super) fn text(&self, span: Span) -> &str {
        self.ids.get(span.start..span.start + span.length as usize).unwrap_or_default()
    }

    /// What a candidate is ordered by.
    fn key<'a>(&'a self, candidate: &Candidate, store_path: &'a str) -> Key<'a> {
        let Candidate { score, at, record_hash, id, .. } = *candidate;
        Key { score, at, store_path, memory_id: self.text(id), record_hash }
    }

    fn sort(&mut self, store: &Store) {
        let mut order: Vec<Rank> =
            self.candidates.iter().enumerate().map(|(at, one)| Rank::of(self, one, at)).collect();
        let key = |rank: &Rank| self.candidates.get(rank.at as usize).map(|one| self.key(one, &store.path));
        order.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| compared(key(a), key(b))));
        self.order = order;
    }
}

/// Every candidate of every part, in the contract's order. Each part is in order already, so this only merges; what is
/// equal in everything keeps the order of reading.
pub(super) fn merged(parts: &[Part], stores: &[Store]) -> Vec<Rank> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.order.len()).sum());
    for (at, part) in parts.iter().enumerate() {
        let number = u32::try_from(at).unwrap_or(u32::MAX);
        all.extend(part.order.iter().map(|rank| Rank { part: number, ..*rank }));
    }
    let key = |rank: &Rank| {
        let (part, candidate) = found(parts, *rank)?;
        let path = stores.get(part.store as usize).map_or("", |store| &store.path);
        Some(part.key(candidate, path))
    };
    all.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| compared(key(a), key(b))));
    all
}

/// The candidate that a rank stands for, and its part.
pub(super) fn found(parts: &[Part], rank: Rank) -> Option<(&Part, &Candidate)> {
    let part = parts.get(rank.part as usize)?;
    Some((part, part.candidates.get(rank.at as usize)?))
}

fn compared(a: Option<Key<'_>>, b: Option<Key<'_>>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.order(&b),
        // Every rank has its candidate.
        (None, _) | (_, None) => Ordering::Equal,
    }
}
