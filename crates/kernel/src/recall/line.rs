//! What one line of a store is worth.
//! Owns: the record's rules, its normal form and hash, its excerpt. Must not: keep a text.

use super::excerpt::{self, Excerpt};
use super::input::Input;
use super::plain::{self, Room};
use super::query;
use super::score::{self, Recency, Seen, Terms};
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
    seen: Seen,
    plain: Room,
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
        if let Some(plain) = plain::read(line, &mut scratch.plain) {
            scratch.memory_id.clear();
            scratch.memory_id.push_str(plain.memory_id);
            let record_hash = scratch.plain.hash(line, &plain);
            let in_tags = self.in_tags(scratch.plain.tags(line));
            return self.weigh(scratch, record_hash, plain.text, plain.at, in_tags);
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
        let in_tags = self.in_tags(record.tags.iter().map(String::as_bytes));
        scratch.memory_id = record.memory_id;
        self.weigh(scratch, record_hash, &record.text, record.at, in_tags)
    }

    fn in_tags<'t>(&self, tags: impl Iterator<Item = &'t [u8]>) -> usize {
        if self.enable_tag_overlap { self.terms.in_tags(tags) } else { 0 }
    }

    /// What a record is worth, whose id is in the scratch.
    fn weigh<'a>(
        &self,
        scratch: &'a mut Scratch,
        record_hash: Digest,
        text: &str,
        at: Option<Instant>,
        in_tags: usize,
    ) -> Line<'a> {
        let Scratch { memory_id, lower, seen, .. } = scratch;
        if self.trust.denies(memory_id, record_hash) {
            return Line::Denied { memory_id, record_hash };
        }
        lowercase(text, lower);
        Line::Candidate {
            memory_id,
            record_hash,
            score: score::total(self.terms.in_text(lower, seen), in_tags, self.recency.zip(at)),
            at,
            tokens: excerpt::tokens_of(excerpt::cut(text, self.excerpt_bytes_max)),
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

/// The time of a record. One that can't be written in its normal form is none.
pub(super) fn when(text: &str) -> Option<Instant> {
    Instant::read(text).filter(|at| at.has_text())
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
            Some(Json::String(text)) => when(&text),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = &'static str> + Clone {
        prop::sample::select(alloc::vec![
            "",
            "a",
            "b",
            "roof",
            "Roof",
            " x ",
            "\u{e9}",
            "\u{65e5}",
            "\\n",
            "\\u0041",
            "\t",
            "z z",
            "2025-01-02T03:04:05Z",
            "2025-01-02T03:04:05.50Z",
            "2025-01-02T03:04:05+01:00",
            "2025-02-30T00:00:00Z",
            "null",
        ])
    }

    fn value() -> impl Strategy<Value = String> {
        let text = word().prop_map(|word| alloc::format!("\"{word}\""));
        let list = |item: BoxedStrategy<String>| {
            prop::collection::vec(item, 0..4).prop_map(|items| alloc::format!("[{}]", items.join(", ")))
        };
        let object = prop::collection::vec((word(), text.clone()), 0..3).prop_map(|members| {
            let members: Vec<String> =
                members.iter().map(|(name, value)| alloc::format!("\"{name}\": {value}")).collect();
            alloc::format!("{{{}}}", members.join(","))
        });
        let other =
            prop::sample::select(alloc::vec!["null", "1", "true", "[[]]", "-0.5e3"]).prop_map(String::from);
        prop_oneof![8 => text.clone(), 4 => list(text.boxed()), 4 => list(object.boxed()), 1 => other]
    }

    fn line() -> impl Strategy<Value = String> {
        let name = prop::sample::select(alloc::vec![
            "memory_id",
            "memory_id",
            "text",
            "text",
            "tags",
            "refs",
            "ts_utc",
            "other",
        ]);
        (prop::collection::vec((name, value()), 1..6), prop::sample::select(alloc::vec!["", " ", "x", "}"]))
            .prop_map(|(members, end)| {
                let members: Vec<String> =
                    members.iter().map(|(name, value)| alloc::format!("\"{name}\":{value}")).collect();
                alloc::format!("{{{}}}{end}", members.join(", "))
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn the_short_way_gives_what_the_long_way_gives(line in line()) {
            let mut room = Room::default();
            if let Some(plain) = plain::read(line.as_bytes(), &mut room) {
                let record = Record::read(line.as_bytes()).unwrap();
                prop_assert_eq!(plain.memory_id, &record.memory_id);
                prop_assert_eq!(plain.text, &record.text);
                prop_assert_eq!(plain.at, record.at);
                let tags: Vec<&[u8]> = room.tags(line.as_bytes()).collect();
                prop_assert_eq!(tags, record.tags.iter().map(String::as_bytes).collect::<Vec<_>>());
                prop_assert_eq!(room.hash(line.as_bytes(), &plain), record.hash().unwrap());
            }
        }

        #[test]
        fn usual_lines_go_the_short_way(id in "[a-z0-9-]{1,8}", text in "[A-Za-z \u{e9}]{0,20}", tag in "[a-z]{0,4}") {
            let line = alloc::format!(
                "{{\"memory_id\": \"{id}\", \"text\": \"{text}\", \"tags\": [\"{tag}\"], \"refs\":[{{\"a\":\"1\"}}]}}"
            );
            prop_assert!(plain::read(line.as_bytes(), &mut Room::default()).is_some());
        }
    }
}
