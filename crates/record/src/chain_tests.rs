//! Damage of every kind is found and named.

use super::*;
use crate::id::{IdemKey, PrincipalId};
use crate::json::{Json, Object};
use crate::row::{self, BlobBytes, Cause, DataClass, Draft, PackedBlobs, Place, Proof, Row, Taint};
use crate::time::Timestamp;
use alloc::vec::Vec;
use proptest::prelude::*;
use std::string::String;
use std::{format, vec};

fn matter() -> MatterId {
    MatterId::try_from("acme").unwrap()
}

fn draft(at: usize) -> Draft {
    Draft {
        stream: ["runs/1", "runs/2"][at % 2].try_into().unwrap(),
        kind: "external.note".try_into().unwrap(),
        version: 1,
        at: Timestamp::try_from("2025-12-10T10:00:00Z").unwrap(),
        actor: PrincipalId::try_from("ana").unwrap(),
        proof: Proof::None,
        cause: (at > 0).then_some(Cause::Row(1)),
        data_class: DataClass::Internal,
        taint: Taint::Unclassified,
        payload: Object::from([("text", Json::String(format!("note {at} \"é\"")))]).into(),
        blobs: if at == 2 { vec![BlobBytes::new(b"bytes".to_vec()).unwrap()] } else { vec![] },
    }
}

/// A sound ledger.
fn ledger(length: usize) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for at in 0..length {
        let prev_hash = rows.last().map_or(genesis(&matter()), |row| row.hash);
        let stream_seq = (at / 2 + 1) as u64;
        let place = Place { seq: at as u64 + 1, stream_seq, prev_hash, cause: (at > 0).then_some(1) };
        let sealed = draft(at).seal().unwrap();
        let packed = sealed.packed_blobs();
        let key = IdemKey::try_from(format!("key-{at}")).unwrap();
        let placed = sealed.at("acme", place, Some(&key), PackedBlobs::try_from(packed.as_slice()).unwrap());
        rows.push(placed.to_row().unwrap());
    }
    rows
}

fn verify(rows: &[Row], anchors: &[Anchor]) -> Vec<(u64, Damage)> {
    let matter = matter();
    let mut verifier = Verifier::new(&matter, anchors);
    for row in rows {
        let payload = crate::canonical::to_bytes(&row.payload).unwrap();
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        verifier.see(&row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).unwrap()));
    }
    verifier.finish(None).findings.into_iter().map(|finding| (finding.seq, finding.damage)).collect()
}

/// What somebody who only edits the file would do after moving rows about.
fn renumber(rows: &mut [Row]) {
    for (at, row) in rows.iter_mut().enumerate() {
        row.seq = at as u64 + 1;
    }
}

/// What somebody who knows the format would do.
fn rehash(rows: &mut [Row], from: usize) {
    for at in from..rows.len() {
        let prev = if at == 0 { genesis(&matter()) } else { rows[at - 1].hash };
        let row = &mut rows[at];
        row.prev_hash = prev;
        let payload = crate::canonical::to_bytes(&row.payload).unwrap();
        row.payload_hash = crate::digest::Digest::of(&payload);
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        row.hash =
            row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).unwrap()).computed_hash("acme");
    }
}

fn anchor(rows: &[Row]) -> Anchor {
    let last = rows.last().unwrap();
    Anchor {
        anchor: 1,
        matter: matter(),
        seq: last.seq,
        hash: last.hash,
        at: last.at.clone(),
        key: "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29".try_into().unwrap(),
        signature: crate::sign::Signature::from_bytes([0; 64]),
    }
}

#[test]
fn the_header_is_the_row_without_hash_and_payload() {
    for row in ledger(4) {
        let payload = crate::canonical::to_bytes(&row.payload).unwrap();
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        let stored = row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).unwrap());
        let mut header = Vec::new();
        stored.write_header("acme", &mut header);
        let line = crate::json::parse(&row::line(&row).unwrap()).unwrap();
        let Json::Object(mut expected) = line else { panic!("a row is an object") };
        expected.remove("hash");
        expected.remove("payload");
        expected.insert("matter", "acme");
        assert_eq!(
            String::from_utf8(header),
            String::from_utf8(crate::canonical::to_bytes(&expected.into()).unwrap())
        );
    }
}

#[test]
fn a_sound_ledger_is_sound_and_survives_its_lines() {
    let rows = ledger(9);
    assert_eq!(verify(&rows, &[anchor(&rows)]), []);
    assert_eq!(verify(&[], &[]), []);
    for row in &rows {
        let line = row::line(row).unwrap();
        assert_eq!(row::read_line(&line).unwrap(), *row);
        let mut spaced = line.clone();
        spaced.push(b' ');
        assert_eq!(row::read_line(&spaced), Err(row::BadLine::NotCanonical));
    }
}

/// The places at which time goes back, of rows of two streams in turns at these times.
fn backwards(times: &[&str]) -> (u64, Option<u64>) {
    let mut rows: Vec<Row> = ledger(times.len());
    for (row, time) in rows.iter_mut().zip(times) {
        row.at = Timestamp::try_from(*time).unwrap();
    }
    rehash(&mut rows, 0);
    let matter = matter();
    let mut verifier = Verifier::new(&matter, &[]);
    for row in &rows {
        let payload = crate::canonical::to_bytes(&row.payload).unwrap();
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        verifier.see(&row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).unwrap()));
    }
    let report = verifier.finish(None);
    assert!(report.is_sound(), "{report:?}");
    (report.backwards.rows, report.backwards.first)
}

#[test]
fn only_a_time_that_concurrency_does_not_explain_is_told() {
    let [nine, a_minute_before, an_hour_before, longer_before] =
        ["2025-12-10T09:00:00Z", "2025-12-10T08:59:00Z", "2025-12-10T08:00:00Z", "2025-12-10T07:59:59.999Z"];
    for (times, expected) in [
        (&[nine, nine, nine][..], (0, None)),
        // Who began sooner in the other stream commits later.
        (&[nine, a_minute_before, nine, a_minute_before], (0, None)),
        (&[nine, an_hour_before], (0, None)),
        (&[nine, longer_before], (1, Some(2))),
        // In one stream each row is written after the one before.
        (&[nine, nine, a_minute_before], (1, Some(3))),
        (&[nine, longer_before, longer_before, nine], (2, Some(2))),
    ] {
        assert_eq!(backwards(times), expected, "{times:?}");
    }
}

#[test]
fn rows_of_another_matter_do_not_fit() {
    let other = MatterId::try_from("other").unwrap();
    let rows = ledger(1);
    let mut verifier = Verifier::new(&other, &[]);
    let payload = crate::canonical::to_bytes(&rows[0].payload).unwrap();
    verifier.see(&rows[0].as_stored(&payload, PackedBlobs::try_from([].as_slice()).unwrap()));
    assert!(!verifier.finish(None).is_sound());
}

#[test]
fn truncation_needs_an_anchor_or_a_head() {
    let rows = ledger(9);
    assert_eq!(verify(&rows[..6], &[]), []);
    assert_eq!(verify(&rows[..6], &[anchor(&rows)]), [(7, Damage::Truncated { to: 9 })]);
}

#[test]
fn a_rewritten_tail_needs_an_anchor() {
    let rows = ledger(9);
    let mut forged = rows.clone();
    forged[5].payload = Json::Null;
    rehash(&mut forged, 5);
    assert_eq!(verify(&forged, &[]), []);
    assert_eq!(verify(&forged, &[anchor(&rows)]), [(9, Damage::NotAnchored)]);
}

/// Each change that a hand can make to one row's columns.
fn change(row: &mut Row, which: usize) -> Damage {
    match which {
        0 => {
            row.payload = Json::Null;
            return Damage::PayloadChanged;
        }
        1 => row.stream = "runs/3".try_into().unwrap(),
        2 => row.stream_seq += 1,
        3 => row.kind = "external.other".try_into().unwrap(),
        4 => row.version += 1,
        5 => row.at = Timestamp::try_from("2025-12-10T10:00:01Z").unwrap(),
        6 => row.actor = PrincipalId::try_from("eve").unwrap(),
        7 => row.cause = Some(77),
        8 => row.idem_key = None,
        9 => row.data_class = DataClass::Public,
        10 => row.taint = Taint::InternalCorpusTrusted,
        11 => row.proof = Proof::SelfAsserted,
        12 => row.prev_hash = crate::digest::Digest::of(b"x"),
        13 => row.hash = crate::digest::Digest::of(b"x"),
        _ => row.blobs.push(BlobBytes::new(vec![1]).unwrap().reference()),
    }
    Damage::RowChanged
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_changed_column_is_found(length in 1_usize..12, at in any::<prop::sample::Index>(), which in 0_usize..15) {
        let mut rows = ledger(length);
        let at = at.index(length);
        let expected = change(&mut rows[at], which);
        prop_assert_eq!(verify(&rows, &[]), vec![(at as u64 + 1, expected)]);
    }

    #[test]
    fn removed_rows_are_found(length in 3_usize..12, at in any::<prop::sample::Index>()) {
        let mut rows = ledger(length);
        let at = at.index(length - 1);
        rows.remove(at);
        let seq = at as u64 + 1;
        prop_assert_eq!(verify(&rows, &[]), vec![(seq, Damage::Removed { to: seq })]);
        renumber(&mut rows);
        prop_assert_eq!(verify(&rows, &[]), vec![(seq, Damage::ClosedGap)]);
    }

    #[test]
    fn inserted_rows_are_found(length in 2_usize..12, at in any::<prop::sample::Index>()) {
        let mut rows = ledger(length);
        let at = at.index(length);
        let mut stranger = rows[at].clone();
        stranger.payload = Json::Null;
        stranger.payload_hash = crate::digest::Digest::of(b"null");
        rows.insert(at, stranger);
        renumber(&mut rows);
        prop_assert_eq!(verify(&rows, &[]), vec![(at as u64 + 1, Damage::Inserted)]);
    }

    #[test]
    fn swapped_rows_are_found(length in 2_usize..12, a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>()) {
        let mut rows = ledger(length);
        let (a, b) = (a.index(length), b.index(length));
        prop_assume!(a != b);
        rows.swap(a, b);
        renumber(&mut rows);
        let found = verify(&rows, &[]);
        prop_assert!(!found.is_empty());
        prop_assert!(found.iter().all(|(_, damage)| matches!(damage, Damage::Moved { .. } | Damage::Inserted | Damage::ClosedGap)), "{found:?}");
    }

    #[test]
    fn a_replaced_row_is_found(length in 2_usize..12, at in any::<prop::sample::Index>()) {
        let mut rows = ledger(length);
        let at = at.index(length - 1);
        rows[at].payload = Json::Null;
        let (head, _) = rows.split_at_mut(at + 1);
        rehash(head, at);
        prop_assert_eq!(verify(&rows, &[]), vec![(at as u64 + 1, Damage::Replaced)]);
    }
}

/// What can be sealed can be read again, here and in a line of an export.
#[test]
fn a_payload_deeper_than_a_reader_reads_is_refused() {
    let nested = |depth: usize| (0..depth).fold(Json::Null, |inside, _| Json::Array(vec![inside]));
    let sealed = Draft { payload: nested(127), ..draft(0) }.seal().unwrap();
    assert!(crate::json::parse(sealed.payload()).is_ok());
    let refused = Draft { payload: nested(128), ..draft(0) }.seal().unwrap_err();
    assert_eq!(refused.code(), crate::code::Code::JsonTooDeep);
}
