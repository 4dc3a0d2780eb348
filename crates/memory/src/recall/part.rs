//! What one piece of a store gives.
//! Owns: a compact entry for each line. Must not: hold a text.

use super::lines::{Line, Range, Store};
use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{self, Key, Plan, Refusal, Scratch};
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use countersign_record::time::Instant;
use std::cmp::Ordering;
use std::io;

/// What a line is called in a package: a stretch of the part's ids, and its hash. The long list of those dropped needs
/// nothing else, in an order that jumps through the part: so names stand close together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) record_hash: Digest,
    start: u32,
    length: u32,
}

/// A record that may be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: Score,
    pub(super) at: Option<Instant>,
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
    fn of(part: &Part, candidate: &Candidate, name: Name, at: usize) -> Self {
        // A score is not negative, so its bits are in its order.
        let score = !candidate.score.value().to_bits();
        let (second, nano) = match candidate.at {
            Some(at) => (!(at.seconds.cast_unsigned() ^ (1 << 63)), !at.nanos),
            None => (u64::MAX, u32::MAX),
        };
        // Stores are in the order of their paths.
        let place = u64::from(nano) << 32 | u64::from(part.store);
        let mut id = [0; 8];
        for (room, byte) in id.iter_mut().zip(part.id(name).bytes()) {
            *room = byte;
        }
        let first = [score, second, place, u64::from_be_bytes(id)];
        Rank { first, part: 0, at: u32::try_from(at).unwrap_or(u32::MAX) }
    }
}

/// A line that can't be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refused {
    pub(super) name: Name,
    pub(super) reason: Reason,
}

/// What one piece of a store gives.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) store: u32,
    ids: String,
    /// In reading order.
    pub(super) candidates: Vec<Candidate>,
    /// Theirs.
    names: Vec<Name>,
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
        lines.map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Refusal::StoreChanged { path: store.path.clone() },
            kind => Refusal::StoreUnreadable { path: store.path.clone(), why: kind.to_string() },
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
                let name = self.note(memory_id, record_hash);
                self.names.push(name);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.candidates.push(Candidate { score, at, tokens, offset, length });
            }
        }
    }

    fn refuse(&mut self, memory_id: &str, record_hash: Digest, reason: Reason) {
        let name = self.note(memory_id, record_hash);
        self.refused.push(Refused { name, reason });
    }

    /// A piece of a store holds at most its own bytes and one line of ids, which is far below 4 GiB.
    fn note(&mut self, id: &str, record_hash: Digest) -> Name {
        let number = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let (start, length) = (number(self.ids.len()), number(id.len()));
        self.ids.push_str(id);
        Name { record_hash, start, length }
    }

    /// The id of a name.
    pub(super) fn id(&self, name: Name) -> &str {
        let start = name.start as usize;
        self.ids.get(start..start + name.length as usize).unwrap_or_default()
    }

    /// What a candidate is ordered by.
    fn key<'a>(&'a self, rank: Rank, store_path: &'a str) -> Option<Key<'a>> {
        let Candidate { score, at, .. } = *self.candidates.get(rank.at as usize)?;
        let name = *self.names.get(rank.at as usize)?;
        Some(Key { score, at, store_path, memory_id: self.id(name), record_hash: name.record_hash })
    }

    fn sort(&mut self, store: &Store) {
        let named = self.candidates.iter().zip(&self.names).enumerate();
        let mut order: Vec<Rank> = named.map(|(at, (one, name))| Rank::of(self, one, *name, at)).collect();
        let key = |rank: &Rank| self.key(*rank, &store.path);
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
        let part = parts.get(rank.part as usize)?;
        part.key(*rank, stores.get(part.store as usize).map_or("", |store| &store.path))
    };
    all.sort_by(|a, b| a.first.cmp(&b.first).then_with(|| compared(key(a), key(b))));
    all
}

/// The part of a rank, and the name of its candidate.
pub(super) fn named(parts: &[Part], rank: Rank) -> Option<(&Part, Name)> {
    let part = parts.get(rank.part as usize)?;
    Some((part, *part.names.get(rank.at as usize)?))
}

/// The part of a rank, and its candidate.
pub(super) fn found(parts: &[Part], rank: Rank) -> Option<(&Part, Candidate, Name)> {
    let (part, name) = named(parts, rank)?;
    Some((part, *part.candidates.get(rank.at as usize)?, name))
}

fn compared(a: Option<Key<'_>>, b: Option<Key<'_>>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.order(&b),
        // Every rank has its candidate.
        (None, _) | (_, None) => Ordering::Equal,
    }
}
