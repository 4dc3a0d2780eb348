//! What stands on a row besides what it says: by whom it is, its version, how secret it is.
//! Owns: holding that to what the rows themselves say. Must not: look at what follows from a record.

use crate::case::Case;
use crate::found::Found;
use crate::report::{Check, Place};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use countersign_govern::member::Member;
use countersign_record::code::Code;
use countersign_record::json::{Json, Object};
use countersign_record::row::{Proof, Row};
use countersign_record::{run_kind, upcast};

const CHECK: Check = Check::Completeness;
/// The version of all governed records.
const GOVERNED: u32 = 1;
/// What the row of a governed record holds.
const MEMBERS: [&str; 2] = ["record", "id"];
/// The records with which somebody else than whoever drives the run begins to write.
const INVOCATION: &str = "govern.command_invocation";
/// The rows by which a run is decided, and the command that gives an answer.
const OWN: &str = "run.";
const ANSWER: &str = "hard_call.resolve";
/// Rows that others put beside ours.
const FOREIGN: &str = "external.";

pub(crate) fn check(case: &Case<'_>, found: &mut Found) {
    let invoked = case.rows().filter(|row| row.kind.as_str() == INVOCATION);
    let actors = case.events.iter().copied().chain(invoked);
    let actors: BTreeSet<&str> = actors.map(|row| row.actor.as_str()).collect();
    for row in case.events.iter().filter(|row| !row.kind.as_str().starts_with(FOREIGN)) {
        event(row, found);
        common(row, found);
    }
    for row in case.rows() {
        governed(row, &actors, found);
        common(row, found);
    }
    in_order(case, found);
    since(case, found);
    signed(case, found);
    needed(case, found);
}

/// The rows of the run itself were written one behind the other.
fn in_order(case: &Case<'_>, found: &mut Found) {
    let own: Vec<&Row> =
        case.events.iter().copied().filter(|row| row.kind.as_str().starts_with(OWN)).collect();
    for (before, row) in own.iter().zip(own.iter().skip(1)) {
        match before.at.instant() <= row.at.instant() {
            true => found.right(CHECK),
            false => wrong(row, "/at", "it is of a time before that of the row before it", found),
        }
    }
}

/// Nothing of a run stands before its first row, or is older.
fn since(case: &Case<'_>, found: &mut Found) {
    let Some(first) = case.events.first() else { return };
    let own = case.events.iter().copied().filter(|row| !row.kind.as_str().starts_with(FOREIGN));
    for row in own.chain(case.rows()) {
        match (row.seq < first.seq, row.at.instant() < first.at.instant()) {
            (false, false) => found.right(CHECK),
            (true, _) => wrong(row, "/seq", "it stands before the row with which its run began", found),
            (false, true) => wrong(row, "/at", "it is of a time before its run began", found),
        }
    }
}

/// What people decide: nothing else in a run is anybody's word.
const DECISIONS: [&str; 2] = [INVOCATION, run_kind::ANSWERED];

/// Whoever has signed a decision signs each that follows, with the same key; and an answer as the command by which it was given.
fn signed(case: &Case<'_>, found: &mut Found) {
    let is_decision = |row: &&Row| row.kind.as_str() == INVOCATION || row.kind.as_str() == run_kind::ANSWERED;
    let mut rows: Vec<&Row> = case.events.iter().copied().chain(case.rows()).filter(is_decision).collect();
    rows.sort_by_key(|row| row.seq);
    let key = |row: &Row| match row.proof {
        Proof::Signed { key, .. } => Some(key),
        Proof::None | Proof::SelfAsserted => None,
    };
    let mut last: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        let before = last.insert(row.actor.as_str(), row);
        let is_given = row.kind.as_str() == run_kind::ANSWERED
            && before.is_some_and(|before| before.payload.text("record.command_id") == Some(ANSWER));
        match before.map(|before| (key(before), key(row))) {
            Some((Some(before), after)) if after != Some(before) => {
                wrong(row, "/proof", "it is not signed as this person has signed before", found);
            }
            Some((None, Some(_))) if is_given => {
                wrong(row, "/proof", "the answer is signed, and the command that gave it is not", found);
            }
            _same => found.right(CHECK),
        }
    }
}

/// The records that are about a text, which their rows name.
const ABOUT: [&str; 9] = [
    "govern.artifact_version",
    "govern.command_invocation",
    "govern.ephemeral_source_lookup_receipt",
    "govern.evaluation_contract_review",
    "govern.revision_review_packet",
    "govern.run_board_visible_post",
    "govern.source_evidence_anchor",
    "govern.source_record",
    "govern.work_product_certification",
];

/// What a governed row names is what its record is about: one text, or none.
fn needed(case: &Case<'_>, found: &mut Found) {
    for row in case.rows() {
        let most = usize::from(ABOUT.contains(&row.kind.as_str()));
        match row.blobs.len() <= most {
            true => found.right(CHECK),
            false => wrong(row, "/blobs", "it names bytes that its record is not about", found),
        }
    }
}

fn wrong(row: &Row, path: &str, message: &str, found: &mut Found) {
    let place = Place { row: Some(row.seq), path: Some(path.to_string()), ..Place::default() };
    found.wrong(Code::VerifyRow, CHECK, place, message);
}

/// No step of a run is a request of somebody's own, or brought about by a row that is named.
fn common(row: &Row, found: &mut Found) {
    if row.proof != Proof::None && !DECISIONS.contains(&row.kind.as_str()) {
        wrong(row, "/proof", "it is no decision that anybody could have signed or asserted", found);
    }
    match (row.cause, &row.idem_key) {
        (None, None) => found.right(CHECK),
        (Some(_), _) => wrong(row, "/cause", "no row of a run names another one as its cause", found),
        (None, Some(_)) => wrong(row, "/idem_key", "no row of a run has the key of a request", found),
    }
}

/// A row of the run itself.
fn event(row: &Row, found: &mut Found) {
    let kind = row.kind.as_str();
    let newest = upcast::LEDGER.newest.iter().find(|(known, _)| *known == kind);
    match newest {
        Some((_, newest)) if (1..=*newest).contains(&row.version) => found.right(CHECK),
        Some((_, newest)) => {
            wrong(row, "/version", &format!("{kind} has versions up to {newest}"), found);
        }
        None => wrong(row, "/kind", "no run writes rows of this kind", found),
    }
    if kind == run_kind::ANSWERED {
        match row.payload.get("by").and_then(Json::as_str) == Some(row.actor.as_str()) {
            true => found.right(CHECK),
            false => wrong(row, "/actor", "it is not by who the answer says that it is", found),
        }
    }
}

/// A row with a governed record.
fn governed(row: &Row, actors: &BTreeSet<&str>, found: &mut Found) {
    if row.version != GOVERNED {
        wrong(row, "/version", &format!("governed records have the version {GOVERNED}"), found);
    }
    let members = row.payload.as_object().into_iter().flat_map(Object::iter);
    for (name, _) in members.filter(|(name, _)| !MEMBERS.contains(name)) {
        wrong(row, &format!("/payload/{name}"), "no governed record has such a member beside it", found);
    }
    let says = |name: &str| row.payload.get("record").and_then(|record| record.get(name)?.as_str());
    if says("data_class").is_some_and(|class| class != row.data_class.as_str()) {
        wrong(row, "/data_class", "the record says that it is of another class", found);
    }
    // An engine acts for whoever drives the run.
    let actor = says("actor_ref").filter(|_| row.kind.as_str() == INVOCATION);
    let named = actor.and_then(|text| text.strip_prefix("user:").or_else(|| text.strip_prefix("agent:")));
    if named.is_some_and(|named| named != row.actor.as_str()) {
        wrong(row, "/actor", "the command is another's, by its own words", found);
    }
    match actors.contains(row.actor.as_str()) {
        true => found.right(CHECK),
        false => wrong(row, "/actor", "it is by nobody who took part in the run", found),
    }
}
