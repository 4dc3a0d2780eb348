//! What people asked for with commands, turned round: each member of each request is changed in turn, everything is hashed, chained and
//! signed anew, and it is found.

use crate::scenes;
use crate::sound::told;
use crate::stage::{Stage, parsed};
use countersign_record::canonical;
use countersign_record::json::{self, Json, Object};
use countersign_record::row::Row;
use countersign_testkit::forge::{file, key, restated};
use countersign_verify::packet::{Blob, Content, Entry, Statement};
use countersign_verify::report::Outcome;
use countersign_verify::verify;
use std::collections::BTreeSet;

/// A statement in which a row names other bytes first; what the row's record says of them as well.
fn asked_otherwise(statement: &Statement, at: usize, request: &Json) -> Statement {
    let mut other = statement.clone();
    let blob = Blob::of(canonical::to_bytes(request).unwrap());
    let mut rows = statement.ledger.rows.clone();
    let Entry::Whole(row) = &mut rows[at] else { panic!("it is there") };
    let mut record = row.payload.get("record").unwrap().as_object().unwrap().clone();
    record.insert("request_hash", String::from(canonical::hash(request).unwrap()));
    let mut payload = row.payload.as_object().unwrap().clone();
    payload.insert("record", record);
    row.payload = payload.into();
    (row.blobs[0].digest, row.blobs[0].size) = (blob.digest, blob.size);
    other.blobs.push(blob);
    let named: BTreeSet<_> = rows
        .iter()
        .filter_map(|one| if let Entry::Whole(row) = one { Some(row) } else { None })
        .flat_map(|row| row.blobs.iter().map(|blob| blob.digest))
        .collect();
    other.blobs.retain(|blob| named.contains(&blob.digest));
    other.blobs.sort_by_key(|blob| blob.digest);
    other.blobs.dedup_by_key(|blob| blob.digest);
    restated(&other, rows)
}

fn command(row: &Row) -> Option<&str> {
    let is_asked = row.kind.as_str() == "govern.command_invocation";
    row.payload.get("record").filter(|_| is_asked)?.get("command_id")?.as_str()
}

/// Other values of a member.
fn others(name: &str, value: &Json) -> Vec<Json> {
    match (name, value) {
        (_, Json::Bool(is)) => vec![Json::Bool(!is)],
        (_, Json::Number(_)) => vec![parsed("0")],
        (_, Json::String(text)) => vec![format!("{text}x").into(), Json::Null, parsed("1")],
        ("found", Json::Object(all)) => {
            let other = |id: &str| {
                let mut all = all.clone();
                all.insert(id, "0".repeat(64));
                Json::from(all)
            };
            all.iter().map(|(id, _)| other(id)).collect()
        }
        ("gone", Json::Array(_)) => vec![parsed(r#"["letter"]"#), parsed("[1]")],
        (_, Json::Array(_)) => vec![parsed(r#"["x"]"#)],
        (_, Json::Object(_) | Json::Null) => vec![Json::Null],
    }
}

/// A request with each member changed or gone, with one more, and without any.
fn turned(request: &Object) -> Vec<(String, Json)> {
    let mut all = vec![("nothing is asked".to_owned(), Object::new().into())];
    for (name, value) in request.iter() {
        for other in others(name, value) {
            let mut changed = request.clone();
            let what = format!("{name} is {}", json::to_text(&other).unwrap());
            changed.insert(name.to_owned(), other);
            all.push((what, changed.into()));
        }
        let without = request.iter().filter(|(own, _)| *own != name);
        let without: Object = without.map(|(own, value)| (own, value.clone())).collect();
        all.push((format!("{name} is gone"), without.into()));
    }
    let mut more = request.clone();
    more.insert("approved", true);
    all.push(("it says more".to_owned(), more.into()));
    all
}

/// What may be left out, because that comes to the same.
const SAME: [(&str, &str); 1] = [("source.recheck", "gone is gone")];

/// A run in which a person answers by a command, deals with what waits, and has sources compared with what they are now.
pub(crate) fn commanded() -> Stage {
    let mut stage = scenes::asked_of_a_person();
    stage.command("source.recheck", r#"{"found": {}}"#);
    let id = stage.waiting();
    stage.command("attention.resolve_item", &format!(r#"{{"item_id": "{id}", "note": "seen"}}"#));
    let hash = "0".repeat(64);
    stage.command("source.recheck", &format!(r#"{{"found": {{"lease": "{hash}"}}, "gone": []}}"#));
    stage.command("reliance.renew_packet", "{}");
    stage
}

impl Stage {
    /// The critic asks, and a person chooses by a command.
    pub(crate) fn asks_by_command(&mut self, question: &str, option: &str) {
        self.escalates(question, "");
        let request = format!(r#"{{"hard_call_id": "{question}", "option_id": "{option}"}}"#);
        self.command("hard_call.resolve", &request);
        self.call();
    }

    /// The first item that waits for a person.
    pub(crate) fn waiting(&self) -> String {
        let is_open =
            |id: &str| self.desk.says("attention_ledger_item", id, "lifecycle_state") == Some("open");
        let mut all = self.desk.each::<Json>("AttentionLedgerItem").map(|one| one.id);
        all.find(|id| is_open(id)).unwrap()
    }
}

#[test]
fn what_was_asked_for_is_what_was_done() {
    let (mut missed, mut tried, mut commands) = (Vec::new(), 0, BTreeSet::new());
    for (name, scene) in scenes::ALL.into_iter().flatten() {
        let statement = scene().statement();
        for (at, entry) in statement.ledger.rows.iter().enumerate() {
            let Entry::Whole(row) = entry else { continue };
            let Some(command) = command(row) else { continue };
            let blob = statement.blobs.iter().find(|one| one.digest == row.blobs[0].digest).unwrap();
            let Content::Present(bytes) = &blob.content else { panic!("it is here") };
            let request = json::parse(bytes).unwrap();
            let request = request.as_object().unwrap();
            commands.insert(command.to_owned());
            for (what, turned) in turned(request) {
                let is_same = turned == Json::from(request.clone());
                if is_same || SAME.contains(&(command, what.as_str())) {
                    continue;
                }
                tried += 1;
                let report = verify(&file(&asked_otherwise(&statement, at, &turned), &key(2)), &[]);
                if report.result != Outcome::Failed {
                    missed.push(format!("{name}: {} {command}: {what}\n{}", row.seq, told(&report)));
                }
            }
        }
    }
    assert!(tried > 100, "only {tried} were tried of {commands:?}");
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
