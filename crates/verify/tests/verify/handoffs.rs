//! What our own agents hand over, said otherwise: each member of each handoff is changed in turn, everything is hashed, chained and signed
//! anew, and it is found.

use crate::scenes;
use crate::sound::told;
use crate::stage::{Stage, parsed};
use countersign_record::canonical;
use countersign_record::digest::Digest;
use countersign_record::json::{self, Json, Object};
use countersign_testkit::forge::{file, key, restated};
use countersign_verify::packet::{Blob, Content, Entry, Statement};
use countersign_verify::report::Outcome;
use countersign_verify::verify;
use countersign_work::score::Seen;
use std::collections::BTreeSet;

const TASK: &str = r#"{
  "schema_version": "1.0", "id": "parser", "title": "A parser", "goal": "Write a parser.",
  "artifacts": [{"id": "parser", "path": "parser.py", "kind": "code", "language": "python", "codespec": "builtin:python"}],
  "sources": [{"id": "note", "path": "note.md", "kind": "document", "trust_basis": "user_supplied", "verified_by": "ana"}],
  "outcomes": [{"id": "named", "statement": "It is named.", "criteria": [
    {"id": "has-name", "text": "It has a name.", "basis": "deterministic_check", "required": true, "threshold": 1,
      "check": {"kind": "matches", "pattern": "def parse"}}]}]
}"#;
const DRAFT: &str = "```python\nimport os\n\ndef parse():\n    return os.name\n```\n";
const CODE: &str = "```python\ndef parse():\n    return None\n```\n";

/// Code that is held to its CodeSpec, and repaired once.
pub(crate) fn coded() -> Stage {
    let mut stage = Stage::new(TASK, &[("note", "Write a parser.\n")], &[]);
    let version = stage.enforced("parser", DRAFT, CODE);
    let text = "def parse():\n    return None\n";
    let (claims, _) = stage.look(&[("parser", &version, text)], &Seen::default());
    stage.judged("");
    stage.call();
    stage.rely(&claims);
    stage.integrated();
    stage
}

/// A statement in which a row of the run names another handoff.
pub(crate) fn handed_otherwise(statement: &Statement, at: usize, handoff: &Json) -> Statement {
    let mut other = statement.clone();
    let blob = Blob::of(canonical::to_bytes(handoff).unwrap());
    let mut rows = statement.ledger.rows.clone();
    let Entry::Whole(row) = &mut rows[at] else { panic!("it is there") };
    let old = row.blobs[0].digest;
    let mut payload = row.payload.as_object().unwrap().clone();
    if let Some(said) = handoff.get("payload") {
        payload.insert("payload_hash", String::from(canonical::hash(said).unwrap()));
    }
    row.payload = payload.into();
    (row.blobs[0].digest, row.blobs[0].size) = (blob.digest, blob.size);
    let is_named = |entry: &Entry| match entry {
        Entry::Whole(row) => row.blobs.iter().any(|one| one.digest == old),
        Entry::Withheld(_) => false,
    };
    if !rows.iter().any(is_named) {
        other.blobs.retain(|one| one.digest != old);
    }
    other.blobs.push(blob);
    other.blobs.sort_by_key(|blob| blob.digest);
    other.blobs.dedup_by_key(|blob| blob.digest);
    restated(&other, rows)
}

/// Values with one leaf, list or member of them changed or gone, by the way to it.
fn turned(value: &Json) -> Vec<(String, Option<Json>)> {
    match value {
        Json::Object(members) => {
            let mut all = Vec::new();
            for (name, member) in members.iter() {
                for (path, changed) in turned(member) {
                    let path = if path.is_empty() { name.to_owned() } else { format!("{name}.{path}") };
                    let rest = members.iter().filter(|(own, _)| *own != name || changed.is_some());
                    let mut object: Object = rest.map(|(own, one)| (own, one.clone())).collect();
                    if let Some(changed) = changed {
                        object.insert(name.to_owned(), changed);
                    }
                    all.push((path, Some(object.into())));
                }
                let rest = members.iter().filter(|(own, _)| *own != name);
                let rest: Object = rest.map(|(own, one)| (own, one.clone())).collect();
                all.push((format!("{name} gone"), Some(rest.into())));
            }
            all
        }
        Json::Array(items) => {
            let mut all = Vec::new();
            for (at, item) in items.iter().enumerate() {
                for (path, changed) in turned(item) {
                    let mut items = items.clone();
                    let Some(changed) = changed else { continue };
                    items[at] = changed;
                    let path = if path.is_empty() { "[]".to_owned() } else { format!("[].{path}") };
                    all.push((path, Some(Json::Array(items))));
                }
            }
            let other = if items.is_empty() { vec!["x".into()] } else { items[1..].to_vec() };
            all.push((String::new(), Some(Json::Array(other))));
            all
        }
        Json::Bool(is) => vec![(String::new(), Some(Json::Bool(!is)))],
        Json::Number(number) => {
            let other = number.as_u64().map_or(9, |count| count + 1);
            vec![(String::new(), Some(parsed(&other.to_string())))]
        }
        Json::String(text) => vec![(String::new(), Some(format!("{text}x").into()))],
        Json::Null => vec![(String::new(), Some("x".into()))],
    }
}

/// What only whoever handed it over can tell: by whom the text was written, how many steps that took, what was shown to a model, what is said
/// of a look by a judge or a command beside what counts of it, and of a CodeSpec of ours which one it was.
const TOLD: [&str; 6] = [
    "payload.written_by",
    "payload.steps",
    "payload.hashes.spec_sha256",
    "payload.took.calls[].shown",
    "payload.excerpts",
    "payload.style_fixes",
];

fn is_told(path: &str) -> bool {
    let path = path.replace(".[]", "[]");
    TOLD.iter().any(|told| {
        path.strip_prefix(told).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '.', '[']))
    })
}

#[test]
fn what_is_handed_over_is_what_the_records_say() {
    let (mut missed, mut tried, mut done) = (Vec::new(), 0, BTreeSet::new());
    for (name, scene) in scenes::ALL.into_iter().flatten() {
        let statement = scene().statement();
        for (at, entry) in statement.ledger.rows.iter().enumerate() {
            let Entry::Whole(row) = entry else { continue };
            if row.kind.as_str() != "run.returned" {
                continue;
            }
            let key_of = row.payload.get("output_key").and_then(Json::as_str).unwrap_or_default();
            let blob = statement.blobs.iter().find(|one| one.digest == row.blobs[0].digest).unwrap();
            let Content::Present(bytes) = &blob.content else { panic!("it is here") };
            let handoff = json::parse(bytes).unwrap();
            let is_asking = handoff.get("escalate") == Some(&Json::Bool(true));
            for (path, other) in turned(&handoff) {
                let Some(other) = other.filter(|other| *other != handoff) else { continue };
                if is_told(&path) || !done.insert((key_of.to_owned(), is_asking, path.clone())) {
                    continue;
                }
                tried += 1;
                let report = verify(&file(&handed_otherwise(&statement, at, &other), &key(2)), &[]);
                let is_named = report.failures.iter().any(|one| one.place.row.is_some());
                if report.result != Outcome::Failed || !is_named {
                    missed.push(format!("{name}: {} {key_of} {path}\n{}", row.seq, told(&report)));
                }
            }
        }
    }
    assert!(tried > 150, "only {tried} were tried");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// A work product is as it was handed over: code that was found not to fit does not become one.
#[test]
fn code_that_does_not_fit_is_no_work() {
    let statement = coded().statement();
    let at = statement.ledger.rows.iter().position(|one| {
        matches!(one, Entry::Whole(row) if row.payload.get("output_key").and_then(Json::as_str) == Some("enforcement"))
    });
    let at = at.unwrap();
    let Entry::Whole(row) = &statement.ledger.rows[at] else { panic!("it is there") };
    let blob = statement.blobs.iter().find(|one| one.digest == row.blobs[0].digest).unwrap();
    let Content::Present(bytes) = &blob.content else { panic!("it is here") };
    let text = String::from_utf8(bytes.clone()).unwrap();
    for (what, from, to) in [
        ("it does not fit", r#""status":"PASS""#, r#""status":"FAIL""#),
        ("nothing is pinned", r#""status":"PASS""#, r#""status":"NOT_PINNED""#),
        ("something is wrong", r#""violations":[]"#, r#""violations":[{"rule":"imports"}]"#),
        ("another text", "return None", "return True"),
    ] {
        assert!(text.contains(from), "{text}");
        let other = parsed(&text.replace(from, to));
        let report = verify(&file(&handed_otherwise(&statement, at, &other), &key(2)), &[]);
        let is_it = report.failures.iter().any(|one| one.place.row == Some(row.seq));
        assert!(report.result == Outcome::Failed && is_it, "{what}:\n{}", told(&report));
    }
    assert_ne!(Digest::of(DRAFT.as_bytes()), Digest::of(CODE.as_bytes()));
}
