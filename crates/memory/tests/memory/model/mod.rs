//! Stores that tests make up, and what a read of them must give, in the plainest words.
//! Owns: generated lines, their scores and their order. Must not: use the product's own scoring or ordering.

use countersign_record::digest::Digest;
use countersign_testkit::scratch::Scratch;
use jsonschema::Validator;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::path::Path;

/// Three terms; the fourth word is too short to be one.
pub(crate) const QUERY: &str = "  Roof lease\tROOF Δ tenant ";
const TERMS: [&str; 3] = ["roof", "lease", "tenant"];

/// A record, as a line of a store has it.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) memory_id: String,
    pub(crate) text: String,
    pub(crate) tags: Option<Vec<String>>,
    /// As it is normalised already, so that its text can be compared as its instant.
    pub(crate) ts_utc: Option<String>,
}

impl Record {
    pub(crate) fn line(&self) -> String {
        let mut line = json!({"memory_id": self.memory_id, "text": self.text});
        if let Some(tags) = &self.tags {
            line["tags"] = json!(tags);
        }
        if let Some(at) = &self.ts_utc {
            line["ts_utc"] = json!(at);
        }
        line.to_string()
    }

    fn normal_tags(&self) -> Vec<String> {
        let tags = self.tags.clone().unwrap_or_default();
        let mut tags: Vec<String> = tags.iter().map(|tag| tag.trim().to_lowercase()).collect();
        tags.retain(|tag| !tag.is_empty());
        tags.sort();
        tags.dedup();
        tags
    }

    fn hash(&self) -> String {
        let text = |text: &str| serde_json::to_string(text).unwrap();
        let tags: Vec<String> = self.normal_tags().iter().map(|tag| text(tag)).collect();
        let normal = format!(
            "{{\"memory_id\":{},\"refs\":[],\"tags\":[{}],\"text\":{},\"ts_utc\":{}}}",
            text(&self.memory_id),
            tags.join(","),
            text(&self.text),
            self.ts_utc.as_deref().map_or("null".into(), text),
        );
        Digest::of(normal.as_bytes()).to_string()
    }

    /// What its excerpt takes.
    pub(crate) fn tokens(&self, per_item: u64) -> u64 {
        let text = self.text.trim();
        let room = usize::try_from(per_item * 4).unwrap();
        let end = (0..=text.len().min(room)).rev().find(|end| text.is_char_boundary(*end)).unwrap();
        (end as u64).div_ceil(4)
    }
}

/// A record in its store.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) record: Record,
    path: String,
}

impl Ranked {
    /// Store, id and hash.
    pub(crate) fn name(&self) -> (String, String, String) {
        (self.path.clone(), self.record.memory_id.clone(), self.record.hash())
    }

    fn halves(&self) -> u32 {
        let (text, tags) = (self.record.text.to_lowercase(), self.record.normal_tags());
        let of_term =
            |term: &&str| u32::from(text.contains(*term)) * 2 + u32::from(tags.contains(&(*term).to_owned()));
        TERMS.iter().map(of_term).sum()
    }

    pub(crate) fn score(&self) -> f64 {
        f64::from(self.halves()) / 2.0
    }
}

/// In the contract's order: score, time, store, id, hash.
pub(crate) fn rank(mut records: Vec<Ranked>) -> Vec<Ranked> {
    records.sort_by_cached_key(|one| {
        let (path, memory_id, hash) = one.name();
        (Reverse(one.halves()), Reverse(one.record.ts_utc.clone()), path, memory_id, hash)
    });
    records
}

#[derive(Clone, Debug)]
enum Line {
    Record(Record),
    Invalid(Vec<u8>),
    Blank(&'static str),
}

/// Stores that are not written yet: a name, and lines with their endings.
#[derive(Clone, Debug)]
pub(crate) struct Case(Vec<(String, Vec<(Line, &'static str)>)>);

/// Stores on the disk.
pub(crate) struct Place {
    _scratch: Scratch,
    /// In the order of the case.
    pub(crate) paths: Vec<String>,
}

impl Case {
    /// Stores of lines that are no record to the model.
    pub(crate) fn of(stores: &[(&str, &[&str])]) -> Self {
        let line = |line: &&str| (Line::Invalid(line.as_bytes().to_vec()), "\n");
        Case(stores.iter().map(|(name, lines)| ((*name).into(), lines.iter().map(line).collect())).collect())
    }

    pub(crate) fn written(&self) -> Place {
        let scratch = Scratch::new();
        let mut paths = Vec::new();
        for (name, lines) in &self.0 {
            let mut bytes = Vec::new();
            for (line, ending) in lines {
                match line {
                    Line::Record(record) => bytes.extend_from_slice(record.line().as_bytes()),
                    Line::Invalid(line) => bytes.extend_from_slice(line),
                    Line::Blank(line) => bytes.extend_from_slice(line.as_bytes()),
                }
                bytes.extend_from_slice(ending.as_bytes());
            }
            let path = scratch.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            paths.push(path.display().to_string());
        }
        Place { _scratch: scratch, paths }
    }

    /// Every record, in reading order.
    pub(crate) fn records(&self, place: &Place) -> Vec<Ranked> {
        self.lines(place, |path, line| match line {
            Line::Record(record) => Some(Ranked { record: record.clone(), path: path.to_owned() }),
            Line::Invalid(_) | Line::Blank(_) => None,
        })
    }

    /// The hashes of the lines that are no record, in reading order.
    pub(crate) fn invalid_lines(&self, place: &Place) -> Vec<String> {
        self.lines(place, |_, line| match line {
            Line::Invalid(line) => Some(Digest::of(line).to_string()),
            Line::Record(_) | Line::Blank(_) => None,
        })
    }

    fn lines<T>(&self, place: &Place, see: impl Fn(&str, &Line) -> Option<T>) -> Vec<T> {
        let mut stores: Vec<_> = place.paths.iter().zip(&self.0).collect();
        stores.sort_by_key(|(path, _)| *path);
        let lines = stores.iter().flat_map(|(path, (_, lines))| lines.iter().map(move |line| (path, line)));
        lines.filter_map(|(path, (line, _))| see(path, line)).collect()
    }
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "roof", "Roof", "LEASE", "tenant", "garden", "é", "日本", "😀", " ", "\u{a0}", "\"", "\\",
    ]);
    prop::collection::vec(word, 0..9).prop_map(|words| words.join(" "))
}

/// Few ids, times and texts, so that records are equal in all but the last of what they are ordered by.
pub(crate) fn record() -> impl Strategy<Value = Record> {
    let tag = prop::sample::select(vec!["roof", " Lease ", "TENANT", "garden", "", "  "]);
    let tags = prop::option::of(prop::collection::vec(tag.prop_map(str::to_owned), 0..4));
    let time = prop::sample::select(vec!["2025-12-10T10:00:00Z", "2026-01-01T00:00:00Z"]);
    let text = prop_oneof![Just("the roof".to_owned()), text()];
    let parts = ("m[0-3]", text, tags, prop::option::of(time.prop_map(str::to_owned)));
    parts.prop_map(|(memory_id, text, tags, ts_utc)| Record { memory_id, text, tags, ts_utc })
}

fn line() -> impl Strategy<Value = Line> {
    let invalid = prop::sample::select(vec![
        &b"{"[..],
        b"no record",
        b"{\"memory_id\":\"m1\",\"text\":\"roof\"",
        b"{\"memory_id\":\"m1\"}",
        b"{\"memory_id\":\"\",\"text\":\"roof\"}",
        b"{\"memory_id\":\"m1\",\"text\":\"roof\",\"tags\":\"roof\"}",
        b"{\"memory_id\":\"m1\",\"text\":\"roof\",\"refs\":[1]}",
        b"{\"memory_id\":\"m1\",\"text\":\"\\ud800\"}",
        b"{\"memory_id\":\"m1\",\"text\":\"\xff\"}",
    ]);
    let blank = prop::sample::select(vec!["", "  ", "\t", "\u{2003}"]);
    prop_oneof![
        6 => record().prop_map(Line::Record),
        2 => invalid.prop_map(|line| Line::Invalid(line.to_vec())),
        1 => blank.prop_map(Line::Blank),
    ]
}

/// One to three stores of up to twenty lines.
pub(crate) fn case() -> impl Strategy<Value = Case> {
    let ending = prop::sample::select(vec!["\n", "\r\n"]);
    let lines = prop::collection::vec((line(), ending), 0..20);
    let names = prop::sample::subsequence(vec!["a.jsonl", "Z.jsonl", "é.jsonl"], 1..=3);
    let stores = (names, prop::collection::vec(lines, 3));
    stores.prop_map(|(names, lines)| Case(names.into_iter().map(str::to_owned).zip(lines).collect()))
}

/// A schema, as it is given to others.
pub(crate) fn schema(name: &str) -> Validator {
    let file = format!("../../schemas/{name}.v1.schema.json");
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}
