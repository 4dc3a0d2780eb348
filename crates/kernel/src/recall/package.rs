//! The package: what is handed to a prompt, and the list of what is not (the contract's ContextPackage).
//! Owns: its members, their order, its hash. Must not: hold its lists; they may be longer than memory.

use super::excerpt::Excerpt;
use super::input::Budget;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical::{self, Hasher, Score, Sink, write_string};
use countersign_record::digest::Digest;

/// The version of the rules.
pub const CONTROLLER_VERSION: &str = "phase6-v1";

/// Everything but the lists.
#[derive(Clone, Debug)]
pub struct Head<'a> {
    /// The query as it was given.
    pub raw: &'a str,
    /// SHA-256 of its normal form.
    pub query_hash: Digest,
    /// The budget.
    pub budget: Budget,
    /// What is used of it.
    pub used: u64,
}

/// A record that was selected.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Selected<'a> {
    /// Its id.
    pub memory_id: &'a str,
    /// Its hash.
    pub record_hash: Digest,
    /// Its store.
    pub store_path: &'a str,
    /// What it is worth.
    pub score: Score,
    /// What is shown of it.
    pub excerpt: &'a Excerpt,
    /// What that takes.
    #[cfg_attr(feature = "schema", schemars(rename = "excerpt_tokens"))]
    pub tokens: u64,
}

/// A record or a line that was not.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Dropped<'a> {
    /// Its id, as far as one can be read.
    pub memory_id: &'a str,
    /// Its hash.
    pub record_hash: Digest,
    /// Its store.
    pub store_path: &'a str,
    /// Why.
    pub reason: Reason,
}

/// Why a record or a line was not selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename_all = "snake_case"))]
pub enum Reason {
    /// It is no record.
    InvalidRecordSchema,
    /// The trust snapshot denies it.
    TrustDenied,
    /// The budget was used up.
    BudgetExhausted,
    /// There were as many as there may be.
    MaxItemsReached,
}

impl Reason {
    /// The contract's word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::InvalidRecordSchema => "invalid_record_schema",
            Reason::TrustDenied => "trust_denied",
            Reason::BudgetExhausted => "budget_exhausted",
            Reason::MaxItemsReached => "max_items_reached",
        }
    }
}

/// The hash of a package: SHA-256 of its canonical JSON without the hash itself.
pub fn hash<'a>(
    head: &Head<'_>,
    selected: impl Iterator<Item = Selected<'a>>,
    dropped: impl Iterator<Item = Dropped<'a>>,
) -> Digest {
    let mut sink = Hasher::new();
    let Budget { max_excerpt_tokens, per_item_max_excerpt_tokens, max_items } = head.budget;
    put_integer("{\"budget\":{\"max_excerpt_tokens\":", max_excerpt_tokens, &mut sink);
    put_integer(",\"max_items\":", max_items, &mut sink);
    put_integer(",\"per_item_max_excerpt_tokens\":", per_item_max_excerpt_tokens, &mut sink);
    put_integer(",\"remaining_excerpt_tokens\":", head.remaining(), &mut sink);
    put_integer(",\"used_excerpt_tokens\":", head.used, &mut sink);
    put_text("},\"controller_version\":", CONTROLLER_VERSION, &mut sink);
    put_digest(",\"query\":{\"query_hash\":", head.query_hash, &mut sink);
    put_text(",\"raw\":", head.raw, &mut sink);
    sink.put(b"},\"selection\":{\"dropped\":[");
    let mut frame = Frame::default();
    list(dropped, &mut sink, |item, sink| {
        frame.put(item, sink, |frame| {
            put_text(",\"reason\":", item.reason.as_str(), &mut frame.before_hash);
            put_text(",\"store_path\":", item.store_path, &mut frame.after_hash);
        });
    });
    sink.put(b"],\"selected\":[");
    list(selected, &mut sink, |item, sink| {
        put_text("{\"excerpt\":", item.excerpt.shown(), sink);
        put_integer(",\"excerpt_tokens\":", item.tokens, sink);
        put_text(",\"memory_id\":", item.memory_id, sink);
        put_digest(",\"record_hash\":", item.record_hash, sink);
        put_score(",\"score\":", item.score, sink);
        put_text(",\"store_path\":", item.store_path, sink);
    });
    sink.put(b"]}}");
    sink.finish()
}

/// Writes the package as JSON, its members in the order of the contract. The hash is asked for when it is its turn.
pub fn write<'a>(
    head: &Head<'_>,
    selected: impl Iterator<Item = Selected<'a>>,
    dropped: impl Iterator<Item = Dropped<'a>>,
    package_hash: impl FnOnce() -> Digest,
    sink: &mut impl Sink,
) {
    let Budget { max_excerpt_tokens, per_item_max_excerpt_tokens, max_items } = head.budget;
    put_text("{\"query\":{\"raw\":", head.raw, sink);
    put_digest(",\"query_hash\":", head.query_hash, sink);
    put_integer("},\"budget\":{\"max_excerpt_tokens\":", max_excerpt_tokens, sink);
    put_integer(",\"used_excerpt_tokens\":", head.used, sink);
    put_integer(",\"remaining_excerpt_tokens\":", head.remaining(), sink);
    put_integer(",\"per_item_max_excerpt_tokens\":", per_item_max_excerpt_tokens, sink);
    put_integer(",\"max_items\":", max_items, sink);
    sink.put(b"},\"selection\":{\"selected\":[");
    list(selected, sink, |item, sink| {
        put_text("{\"memory_id\":", item.memory_id, sink);
        put_digest(",\"record_hash\":", item.record_hash, sink);
        put_text(",\"store_path\":", item.store_path, sink);
        put_score(",\"score\":", item.score, sink);
        put_text(",\"excerpt\":", item.excerpt.shown(), sink);
        put_integer(",\"excerpt_tokens\":", item.tokens, sink);
    });
    sink.put(b"],\"dropped\":[");
    let mut frame = Frame::default();
    list(dropped, sink, |item, sink| {
        frame.put(item, sink, |frame| {
            put_text(",\"store_path\":", item.store_path, &mut frame.after_hash);
            put_text(",\"reason\":", item.reason.as_str(), &mut frame.after_hash);
        });
    });
    put_digest("]},\"package_hash\":", package_hash(), sink);
    put_text(",\"controller_version\":", CONTROLLER_VERSION, sink);
    sink.put(b"}");
}

impl Head<'_> {
    fn remaining(&self) -> u64 {
        self.budget.max_excerpt_tokens.saturating_sub(self.used)
    }
}

/// What stands around the hash of an entry. The list is long, and nearly every entry has it from the one before.
#[derive(Default)]
struct Frame<'a> {
    of: Option<(&'a str, Reason)>,
    before_hash: Vec<u8>,
    after_hash: Vec<u8>,
}

impl<'a> Frame<'a> {
    /// Writes an entry and leaves it open; `make` says what stands before its hash and after it.
    fn put<S: Sink>(&mut self, item: &Dropped<'a>, sink: &mut S, make: impl FnOnce(&mut Self)) {
        let of = Some((item.store_path, item.reason));
        if self.of != of {
            *self = Frame { of, ..Frame::default() };
            make(self);
            self.before_hash.extend_from_slice(b",\"record_hash\":\"");
            self.after_hash.insert(0, b'"');
        }
        put_text("{\"memory_id\":", item.memory_id, sink);
        sink.put(&self.before_hash);
        sink.put(&item.record_hash.hex());
        sink.put(&self.after_hash);
    }
}

/// The items with commas between them; `put` leaves each one open.
fn list<T, S: Sink>(items: impl Iterator<Item = T>, sink: &mut S, mut put: impl FnMut(&T, &mut S)) {
    // In one go: a chain of lists is gone through faster from within.
    items.enumerate().for_each(|(at, item)| {
        if at > 0 {
            sink.put(b",");
        }
        put(&item, sink);
        sink.put(b"}");
    });
}

fn put_text(before: &str, text: &str, sink: &mut impl Sink) {
    sink.put(before.as_bytes());
    write_string(text, sink);
}

fn put_integer(before: &str, value: u64, sink: &mut impl Sink) {
    sink.put(before.as_bytes());
    sink.put(value.to_string().as_bytes());
}

fn put_digest(before: &str, digest: Digest, sink: &mut impl Sink) {
    sink.put(before.as_bytes());
    sink.put(b"\"");
    sink.put(&digest.hex());
    sink.put(b"\"");
}

fn put_score(before: &str, score: Score, sink: &mut impl Sink) {
    sink.put(before.as_bytes());
    // A score is finite, so it has a canonical form.
    let print = canonical::to_bytes_of(&score).unwrap_or_else(|_| String::from("0").into_bytes());
    sink.put(&print);
}
