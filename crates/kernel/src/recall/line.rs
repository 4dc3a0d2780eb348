//! What one line of a store is worth.
//! Owns: the record's rules, its normal form and hash, its excerpt. Must not: keep a text.

use super::excerpt::{self, Excerpt};
use super::input::Input;
use super::query;
use super::score::{self, Recency, Terms};
use super::trust::Trust;
use alloc::string::String;
use alloc::vec::Vec;
use countersign_record::canonical::{self, Hasher, Inexact, Score, Sink, write_string};
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Object};
use countersign_record::time::{Instant, Timestamp};

/// A read that is ready for lines.
#[derive(Clone, Debug)]
pub struct Plan {
    query_hash: Digest,
    terms: Terms,
    enable_tag_overlap: bool,
    recency: Option<Recency>,
    trust: Trust,
    excerpt_bytes_max: usize,
}

/// Room that is used again for each line.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    memory_id: String,
    lower: Vec<u8>,
}

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Line<'a> {
    /// White space: nothing was said.
    Blank,
    /// No record.
    Invalid {
        /// Its id, as far as one can be read.
        memory_id: &'a str,
        /// SHA-256 of the line's bytes.
        record_hash: Digest,
    },
    /// A record that the trust snapshot denies.
    Denied {
        /// Its id.
        memory_id: &'a str,
        /// Its hash.
        record_hash: Digest,
    },
    /// A record that may be selected.
    Candidate {
        /// Its id.
        memory_id: &'a str,
        /// Its hash.
        record_hash: Digest,
        /// What it is worth.
        score: Score,
        /// When it was written.
        at: Option<Instant>,
        /// What its excerpt would take.
        tokens: u64,
    },
}

impl Plan {
    /// Makes the input ready. `trust` is what the snapshot of the input says, if it names one.
    #[must_use]
    pub fn new(input: &Input, trust: Trust) -> Self {
        let normal = query::normal(&input.query);
        let terms = match &input.scoring.query_terms {
            Some(terms) => query::given(terms),
            None => query::derived(&normal),
        };
        let recency = input.now.filter(|_| input.scoring.enable_recency_weight);
        let half_life_days = input.scoring.recency_half_life_days;
        Plan {
            query_hash: Digest::of(normal.as_bytes()),
            terms: Terms::new(terms),
            enable_tag_overlap: input.scoring.enable_tag_overlap,
            recency: recency.map(|now| Recency { now, half_life_days }),
            trust,
            excerpt_bytes_max: excerpt::bytes_max(input.budget),
        }
    }

    /// SHA-256 of the query in its normal form.
    #[must_use]
    pub fn query_hash(&self) -> Digest {
        self.query_hash
    }

    /// Looks at one line, without its line ending.
    pub fn see<'a>(&self, line: &[u8], scratch: &'a mut Scratch) -> Line<'a> {
        if is_blank(line) {
            return Line::Blank;
        }
        let record = match Record::read(line) {
            Ok(record) => record,
            Err(memory_id) => {
                scratch.memory_id = memory_id;
                return Line::Invalid { memory_id: &scratch.memory_id, record_hash: Digest::of(line) };
            }
        };
        let Ok(record_hash) = record.hash() else {
            scratch.memory_id = record.memory_id;
            return Line::Invalid { memory_id: &scratch.memory_id, record_hash: Digest::of(line) };
        };
        let Scratch { memory_id, lower } = scratch;
        *memory_id = record.memory_id;
        if self.trust.denies(memory_id, record_hash) {
            return Line::Denied { memory_id, record_hash };
        }
        lowercase(&record.text, lower);
        let in_tags = if self.enable_tag_overlap { self.terms.in_tags(&record.tags) } else { 0 };
        Line::Candidate {
            memory_id,
            record_hash,
            score: score::total(self.terms.in_text(lower), in_tags, self.recency.zip(record.at)),
            at: record.at,
            tokens: excerpt::tokens_of(excerpt::cut(&record.text, self.excerpt_bytes_max)),
        }
    }

    /// The excerpt of a line that was a candidate; nothing if the line is not that record any more.
    #[must_use]
    pub fn excerpt(&self, line: &[u8], record_hash: Digest) -> Option<Excerpt> {
        let record = Record::read(line).ok()?;
        (record.hash() == Ok(record_hash)).then(|| Excerpt::of(&record.text, self.excerpt_bytes_max))
    }
}

fn is_blank(line: &[u8]) -> bool {
    match line.first() {
        Some(b'{') => false,
        Some(_) => core::str::from_utf8(line).is_ok_and(|text| text.trim().is_empty()),
        None => true,
    }
}

/// Lowercases into room that is used again; most texts are ASCII, for which no character changes its length.
fn lowercase(text: &str, lower: &mut Vec<u8>) {
    lower.clear();
    if text.is_ascii() {
        lower.extend_from_slice(text.as_bytes());
        lower.make_ascii_lowercase();
    } else {
        lower.extend_from_slice(text.to_lowercase().as_bytes());
    }
}

/// A record in its normal form.
struct Record {
    memory_id: String,
    text: String,
    /// Lowercased, sorted, each once.
    tags: Vec<String>,
    refs: Vec<Json>,
    at: Option<Instant>,
}

impl Record {
    /// Reads a line; if it is no record, what can be read of its id.
    fn read(line: &[u8]) -> Result<Self, String> {
        let Ok(Json::Object(mut members)) = json::parse(line) else { return Err(String::new()) };
        let Some(Json::String(memory_id)) = members.remove("memory_id") else { return Err(String::new()) };
        if memory_id.is_empty() {
            return Err(memory_id);
        }
        match Record::of(&mut members) {
            Some(record) => Ok(Record { memory_id, ..record }),
            None => Err(memory_id),
        }
    }

    /// Everything but the id.
    fn of(members: &mut Object) -> Option<Self> {
        let Some(Json::String(text)) = members.remove("text") else { return None };
        let tags = match members.remove("tags") {
            None => Vec::new(),
            Some(Json::Array(tags)) => normal_tags(tags)?,
            Some(_) => return None,
        };
        let refs = match members.remove("refs") {
            None => Vec::new(),
            Some(Json::Array(refs)) if refs.iter().all(|item| matches!(item, Json::Object(_))) => refs,
            Some(_) => return None,
        };
        // The normal form itself has null where there is no time, and must be a record with the same hash.
        let at = match members.remove("ts_utc") {
            None | Some(Json::Null) => None,
            Some(Json::String(text)) => Instant::read(&text),
            Some(_) => return None,
        };
        Some(Record { memory_id: String::new(), text, tags, refs, at })
    }

    /// SHA-256 of the normal form in canonical JSON.
    fn hash(&self) -> Result<Digest, Inexact> {
        let mut sink = Hasher::new();
        sink.put(b"{\"memory_id\":");
        write_string(&self.memory_id, &mut sink);
        sink.put(b",\"refs\":[");
        for (at, item) in self.refs.iter().enumerate() {
            if at > 0 {
                sink.put(b",");
            }
            canonical::write(item, &mut sink)?;
        }
        sink.put(b"],\"tags\":[");
        for (at, tag) in self.tags.iter().enumerate() {
            if at > 0 {
                sink.put(b",");
            }
            write_string(tag, &mut sink);
        }
        sink.put(b"],\"text\":");
        write_string(&self.text, &mut sink);
        sink.put(b",\"ts_utc\":");
        match self.at.and_then(|at| Timestamp::try_from(at).ok()) {
            Some(at) => write_string(at.as_str(), &mut sink),
            None => sink.put(b"null"),
        }
        sink.put(b"}");
        Ok(sink.finish())
    }
}

/// Trimmed, lowercased, none empty, sorted, each once; nothing if one is no text.
fn normal_tags(tags: Vec<Json>) -> Option<Vec<String>> {
    let mut normal = Vec::with_capacity(tags.len());
    for tag in tags {
        let Json::String(tag) = tag else { return None };
        let tag = tag.trim().to_lowercase();
        if !tag.is_empty() {
            normal.push(tag);
        }
    }
    normal.sort_unstable();
    normal.dedup();
    Some(normal)
}
