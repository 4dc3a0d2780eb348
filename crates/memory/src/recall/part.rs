//! What one piece of a store gives.
//! Owns: a compact entry for each line. Must not: hold a text.

use super::lines::{Line, Piece, Store};
use countersign_kernel::recall::package::Reason;
use countersign_kernel::recall::{self, Key, Plan, Refusal, Scratch};
use countersign_record::canonical::Score;
use countersign_record::digest::Digest;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

/// What a line is called in a package: a stretch of the part's ids, and its hash. The long list of those dropped needs
/// nothing else, in the contract's order: so names stand close together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    pub(super) record_hash: Digest,
    start: u32,
    length: u32,
}

impl Name {
    fn stretch(self) -> Range<usize> {
        let start = self.start as usize;
        start..start + self.length as usize
    }
}

/// A record that may be selected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) score: Score,
    pub(super) tokens: u64,
    /// Where its line is.
    pub(super) offset: u64,
    pub(super) length: u32,
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
    candidates: Vec<Candidate>,
    /// In the contract's order, as soon as the piece is read: names, keys, and places in the list of candidates.
    names: Vec<Name>,
    keys: Vec<Key>,
    places: Vec<u32>,
    /// In reading order.
    pub(super) refused: Vec<Refused>,
}

impl Part {
    /// Reads the lines of a piece.
    pub(super) fn read(plan: &Plan, stores: &[Store], range: &Piece) -> Result<Self, Refusal> {
        let mut part = Part { store: u32::try_from(range.store).unwrap_or(u32::MAX), ..Part::default() };
        let Some(store) = stores.get(range.store) else { return Ok(part) };
        let mut scratch = Scratch::default();
        let lines = store.lines(range, |offset, line| part.take(plan, &mut scratch, offset, &line));
        lines.map_err(|error| store.refusal(&error))?;
        part.sort();
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
                self.keys.push(Key::new(score, at, self.store, memory_id));
                let name = self.note(memory_id, record_hash);
                self.names.push(name);
                let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
                self.candidates.push(Candidate { score, tokens, offset, length });
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
        self.ids.get(name.stretch()).unwrap_or_default()
    }

    /// The key of an entry and what its candidate is called.
    fn key(&self, at: u32) -> Option<Keyed<'_>> {
        let name = *self.names.get(at as usize)?;
        Some((*self.keys.get(at as usize)?, (self.id(name), name.record_hash)))
    }

    /// Puts everything into the contract's order, the ids too: whoever goes through a long list of them reads on
    /// instead of jumping.
    fn sort(&mut self) {
        // What is moved about is small: a score, and a place to look further where scores are equal.
        let mut order: Vec<(u64, u32)> = self.keys.iter().map(|key| key.score()).zip(0..).collect();
        order.sort_by(|(a, one), (b, other)| {
            a.cmp(b).then_with(|| compared(self.key(*one), self.key(*other)))
        });
        let places: Vec<u32> = order.into_iter().map(|(_, at)| at).collect();
        let sorted = |at: &u32| Some((*self.names.get(*at as usize)?, *self.keys.get(*at as usize)?));
        let (names, keys): (Vec<Name>, Vec<Key>) = places.iter().filter_map(sorted).unzip();
        let ids = std::mem::take(&mut self.ids);
        let mut room = String::with_capacity(ids.len());
        let mut moved = |name: Name| {
            let start = u32::try_from(room.len()).unwrap_or(u32::MAX);
            room.push_str(ids.get(name.stretch()).unwrap_or_default());
            Name { start, ..name }
        };
        self.names = names.into_iter().map(&mut moved).collect();
        for one in &mut self.refused {
            one.name = moved(one.name);
        }
        (self.keys, self.places, self.ids) = (keys, places, room);
    }
}

/// The best candidate of a part that was not taken yet.
struct Next<'a> {
    key: Key,
    at: u32,
    /// Parts are in reading order, which is what decides between equals.
    number: u32,
    part: &'a Part,
}

impl Ord for Next<'_> {
    /// Better is greater: that is what a heap gives first.
    fn cmp(&self, other: &Self) -> Ordering {
        let further = || compared(self.part.key(self.at), other.part.key(other.at));
        let better = self.key.cmp(&other.key).then_with(further);
        better.then(self.number.cmp(&other.number)).reverse()
    }
}

impl PartialOrd for Next<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Next<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Next<'_> {}

/// Every candidate of every part in the contract's order, as the number of the part that each is taken from: each part
/// is in order already.
pub(super) fn merged(parts: &[Part]) -> Vec<u32> {
    let mut all = Vec::with_capacity(parts.iter().map(|part| part.keys.len()).sum());
    let best = parts
        .iter()
        .zip(0..)
        .filter_map(|(part, number)| Some(Next { key: *part.keys.first()?, at: 0, number, part }));
    let mut heap: BinaryHeap<Next<'_>> = best.collect();
    while let Some(mut best) = heap.peek_mut() {
        all.push(best.number);
        let at = best.at + 1;
        match best.part.keys.get(at as usize) {
            Some(key) => (best.key, best.at) = (*key, at),
            None => drop(PeekMut::pop(best)),
        }
    }
    all
}

/// What the part of a candidate and its place there say of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered<'a> {
    pub(super) part: &'a Part,
    pub(super) name: Name,
    at: usize,
}

impl<'a> Ordered<'a> {
    /// The candidate itself.
    pub(super) fn candidate(&self) -> Option<&'a Candidate> {
        self.part.candidates.get(*self.part.places.get(self.at)? as usize)
    }
}

/// Goes through the candidates in the order that was merged.
pub(super) fn ordered<'a>(parts: &'a [Part], order: &'a [u32]) -> impl Iterator<Item = Ordered<'a>> {
    let mut taken = vec![0_usize; parts.len()];
    order.iter().filter_map(move |number| {
        let part = parts.get(*number as usize)?;
        let next = taken.get_mut(*number as usize)?;
        let at = *next;
        *next += 1;
        Some(Ordered { part, name: *part.names.get(at)?, at })
    })
}

type Keyed<'a> = (Key, (&'a str, Digest));

fn compared(a: Option<Keyed<'_>>, b: Option<Keyed<'_>>) -> Ordering {
    match (a, b) {
        (Some((a, named)), Some((b, other))) => a.order(named, b, other),
        // Every entry has its name and key.
        (None, _) | (_, None) => Ordering::Equal,
    }
}
