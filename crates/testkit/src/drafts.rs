//! Rows for tests.
//! Owns: plain drafts and random ones. Must not: make one that a ledger refuses, unless it says so.

use crate::random::Random;
use countersign_record::access::{Access, MatterAccess, Role};
use countersign_record::id::{IdemKey, MatterId, PrincipalId, RowKind, StreamId};
use countersign_record::json::{Json, Number, Object};
use countersign_record::row::{BlobBytes, Cause, DataClass, Draft, Proof, Sealed, Taint};
use countersign_record::time::Timestamp;
use countersign_runtime::ports::ledger::Batch;
use std::collections::BTreeMap;

/// A matter.
#[must_use]
pub fn matter(name: &str) -> MatterId {
    MatterId::try_from(name).expect("a matter")
}

/// A stream.
#[must_use]
pub fn stream(name: &str) -> StreamId {
    StreamId::try_from(name).expect("a stream")
}

/// A kind.
#[must_use]
pub fn kind(name: &str) -> RowKind {
    RowKind::try_from(name).expect("a kind")
}

/// A key.
#[must_use]
pub fn key(name: &str) -> IdemKey {
    IdemKey::try_from(name).expect("a key")
}

/// Leave to act as `role` in the matter `name`, and in no other.
#[must_use]
pub fn access(name: &str, role: Role) -> MatterAccess {
    let principal = PrincipalId::try_from("tester").expect("a principal");
    let matter = matter(name);
    Access::new(principal, BTreeMap::from([(matter.clone(), role)])).to(&matter).expect("the matter is open")
}

/// A plain draft.
#[must_use]
pub fn draft(stream_name: &str, kind_name: &str, payload: impl Into<Json>) -> Draft {
    Draft {
        stream: stream(stream_name),
        kind: kind(kind_name),
        version: 1,
        at: Timestamp::try_from("2026-01-02T03:04:05Z").expect("a time"),
        actor: PrincipalId::try_from("tester").expect("a principal"),
        proof: Proof::None,
        cause: None,
        data_class: DataClass::Internal,
        taint: Taint::UserTrustedBounded,
        payload: payload.into(),
        blobs: Vec::new(),
    }
}

/// A plain row.
#[must_use]
pub fn row(stream_name: &str, text: &str) -> Sealed {
    draft(stream_name, "note.taken", Object::from([("text", text.into())])).seal().expect("a draft")
}

/// A batch without key or expectations.
#[must_use]
pub fn batch(rows: Vec<Sealed>) -> Batch {
    Batch { rows, expected: BTreeMap::new(), idem_key: None }
}

/// A blob.
#[must_use]
pub fn blob(bytes: &[u8]) -> BlobBytes {
    BlobBytes::new(bytes.to_vec()).expect("a blob")
}

const STREAMS: [&str; 5] = ["run:1", "run:2", "session/8", "ledger", "a"];
const KINDS: [&str; 4] = ["note.taken", "stage.ended", "tool.called", "external.note"];
const TEXTS: [&str; 6] =
    ["", "plain", "quote \" and \\ and \u{1}", "Grüße aus Köln", "日本語 🖋", "\u{E000}\u{10000}"];

/// A random draft; `rows_before` rows stand in the ledger, and `place` rows of the batch stand before it.
#[must_use]
pub fn random_draft(random: &mut Random, rows_before: u64, place: usize) -> Draft {
    let mut payload = Object::new();
    for _ in 0..random.index(0..4) {
        let name = format!("{}{}", random.pick(&["a", "ü", "🖋", "z"]), random.within(0..10));
        payload.insert(name, random_value(random));
    }
    let (stream, kind) = (*random.pick(&STREAMS), *random.pick(&KINDS));
    let mut draft = draft(stream, kind, payload);
    draft.version = if random.once_in(4) { 2 } else { 1 };
    draft.data_class = *random.pick(DataClass::ALL);
    draft.taint = *random.pick(Taint::ALL);
    draft.proof = if random.once_in(4) { Proof::SelfAsserted } else { Proof::None };
    draft.cause = match random.within(0..4) {
        0 if rows_before > 0 => Some(Cause::Row(random.within(1..rows_before + 1))),
        1 if place > 0 => Some(Cause::Batch(random.index(0..place))),
        _ => None,
    };
    let blobs = random.within(0..6).saturating_sub(3);
    draft.blobs = (0..blobs).map(|_| random_blob(random)).collect();
    draft
}

fn random_value(random: &mut Random) -> Json {
    match random.within(0..4) {
        0 => Json::Null,
        1 => Json::Number(Number::try_from(random.within(0..1 << 53)).expect("a number")),
        2 => Json::Array(vec![Json::Bool(true), (*random.pick(&TEXTS)).into()]),
        _ => (*random.pick(&TEXTS)).into(),
    }
}

/// A blob of random bytes and length; few enough different ones that some are named twice.
fn random_blob(random: &mut Random) -> BlobBytes {
    let length = *random.pick(&[0, 1, 100, 4_000, 4_096, 20_000]);
    let byte = random.bits().to_le_bytes()[0] % 8;
    blob(&vec![byte; length])
}

/// A random batch of 1 to `rows_max` rows.
#[must_use]
pub fn random_batch(random: &mut Random, rows_before: u64, rows_max: usize) -> Batch {
    let count = random.index(1..rows_max + 1);
    let rows = (0..count).map(|at| random_draft(random, rows_before, at).seal().expect("a draft")).collect();
    batch(rows)
}
