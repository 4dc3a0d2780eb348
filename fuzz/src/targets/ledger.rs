//! Rows: a line of an export and its manifest, packed blobs, a whole chain.
//! Owns: what reading them must hold to, and what a sound chain is, said a second time. Must not: open a store.

use countersign_record::canonical;
use countersign_record::chain::{Report, Verifier, genesis};
use countersign_record::digest::Digest;
use countersign_record::hold::{Held, Holds};
use countersign_record::id::MatterId;
use countersign_record::json::{self, Json, Object};
use countersign_record::manifest::Manifest;
use countersign_record::row::{self, BadLine, BlobRef, Draft, PackedBlobs, Place, Proof, Row};
use countersign_record::upcast;
use std::collections::BTreeMap;

const MATTER: &str = "acme";

/// A line that is read is written as the same bytes. A document that is a row but for its form is tried in it.
pub(crate) fn row_line(input: &[u8]) {
    check_line(input);
    if let Some(line) = json::parse(input).ok().and_then(|value| canonical::to_bytes(&value).ok()) {
        assert!(!matches!(row::read_line(&line), Err(BadLine::Json(_) | BadLine::Inexact(_))));
        check_line(&line);
    }
}

fn check_line(line: &[u8]) {
    let row = match row::read_line(line) {
        Ok(row) => row,
        Err(bad) => {
            assert!(!bad.to_string().is_empty() && !bad.code().as_str().is_empty());
            return;
        }
    };
    let again = row::line(&row).expect("a row that was read can be written");
    assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(line));
    let payload = canonical::to_bytes(&row.payload).expect("it was canonical");
    let packed = PackedBlobs::pack(row.blobs.iter().copied());
    let stored = row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).expect("it was packed"));
    assert_eq!(stored.to_row().as_ref(), Ok(&row));
    assert_eq!(
        Ok(stored.computed_hash(MATTER)),
        canonical::hash(&header(&row)),
        "the hash is not over the header"
    );
    if row.version > 0 && row.blobs.is_empty() {
        draft_gives_the_same_row(&row);
    }
}

/// What a row's hash covers, as a tree.
fn header(row: &Row) -> Json {
    let text = json::to_text(row).expect("a row can be written");
    let mut header = json::parse(text.as_bytes())
        .ok()
        .and_then(|row| row.as_object().cloned())
        .expect("a row is an object");
    header.remove("payload");
    header.remove("hash");
    header.insert("matter", MATTER);
    header.into()
}

fn draft_gives_the_same_row(row: &Row) {
    let draft = Draft {
        stream: row.stream.clone(),
        kind: row.kind.clone(),
        version: row.version,
        at: row.at.clone(),
        actor: row.actor.clone(),
        proof: row.proof,
        cause: None,
        data_class: row.data_class,
        taint: row.taint,
        payload: row.payload.clone(),
        blobs: Vec::new(),
    };
    let sealed = draft.seal().expect("a row that was read can be drafted");
    let place =
        Place { seq: row.seq, stream_seq: row.stream_seq, prev_hash: row.prev_hash, cause: row.cause };
    let packed = PackedBlobs::try_from(&[][..]).expect("nothing is packed");
    let placed = sealed.at(MATTER, place, row.idem_key.as_ref(), packed).to_row().expect("it was a row");
    let expected = Row { payload_hash: placed.payload_hash, hash: placed.hash, ..row.clone() };
    assert_eq!(placed, expected);
    assert_eq!(canonical::hash(&header(&placed)), Ok(placed.hash));
}

/// A manifest that is read is written as the same bytes; one that is refused is told why, in few words.
pub(crate) fn manifest(input: &[u8]) {
    check_manifest(input);
    if let Some(mut bytes) = json::parse(input).ok().and_then(|value| canonical::to_bytes(&value).ok()) {
        bytes.push(b'\n');
        check_manifest(&bytes);
    }
}

fn check_manifest(bytes: &[u8]) {
    match Manifest::read(bytes) {
        Ok(manifest) => {
            assert_eq!(manifest.to_bytes().as_deref(), Ok(bytes));
            assert!(manifest.rows > 0 && manifest.rows == manifest.head.seq);
        }
        Err(message) => assert!((1..1_000).contains(&message.len()), "a message of {} bytes", message.len()),
    }
}

/// Packed references come out as they went in; bytes that do not fill them are refused.
pub(crate) fn packed_blobs(input: &[u8]) {
    let Ok(packed) = PackedBlobs::try_from(input) else {
        assert!(!input.len().is_multiple_of(40));
        return;
    };
    assert_eq!(packed.as_bytes(), input);
    let blobs: Vec<BlobRef> = packed.iter().collect();
    assert_eq!(blobs.len() * 40, input.len());
    assert_eq!(PackedBlobs::pack(blobs.iter().copied()), input);
}

/// A chain that is called sound is sound, and one that is made sound is called so.
pub(crate) fn chain(input: &[u8]) {
    let mut rows: Vec<Row> = Vec::new();
    for line in input.split(|byte| *byte == b'\n') {
        let canonical = json::parse(line).ok().and_then(|value| canonical::to_bytes(&value).ok());
        rows.extend(canonical.and_then(|line| row::read_line(&line).ok()));
    }
    // A store's rows are ordered by their place and no two stand at one.
    rows.sort_by_key(|row| row.seq);
    rows.dedup_by_key(|row| row.seq);
    let report = verify(&rows);
    assert_eq!(report.is_sound(), is_sound(&rows), "{:?}", report.findings);
    assert_eq!(verify(&rows), report, "a second walk finds something else");
    fold(&rows);
    reforge(&mut rows);
    let report = verify(&rows);
    assert!(is_sound(&rows) && report.is_sound(), "{:?}", report.findings);
    if let Some(row) = rows.last_mut() {
        let seq = row.seq;
        row.payload = Object::from([("other", row.payload.clone())]).into();
        let report = verify(&rows);
        assert!(report.findings.iter().any(|finding| finding.seq == seq), "a changed payload is not found");
    }
}

fn verify(rows: &[Row]) -> Report {
    let matter = MatterId::try_from(MATTER).expect("it is one");
    let mut verifier = Verifier::new(&matter, &[]);
    for row in rows {
        let payload = canonical::to_bytes(&row.payload).expect("it was canonical");
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        verifier
            .see(&row.as_stored(&payload, PackedBlobs::try_from(packed.as_slice()).expect("it was packed")));
    }
    let report = verifier.finish(None);
    assert_eq!(report.rows, rows.len() as u64);
    assert!(report.findings.is_sorted_by_key(|finding| finding.seq));
    report
}

fn is_sound(rows: &[Row]) -> bool {
    let mut prev_hash = genesis(&MatterId::try_from(MATTER).expect("it is one"));
    let mut streams: BTreeMap<&str, u64> = BTreeMap::new();
    rows.iter().zip(1..).all(|(row, seq)| {
        let stream_seq = streams.entry(row.stream.as_str()).or_insert(0);
        *stream_seq += 1;
        let is_next = row.seq == seq && row.stream_seq == *stream_seq && row.prev_hash == prev_hash;
        prev_hash = row.hash;
        let is_itself = canonical::hash(&row.payload) == Ok(row.payload_hash)
            && canonical::hash(&header(row)) == Ok(row.hash);
        is_next && is_itself && is_signed_or_plain(row)
    })
}

/// The statement under a decision, put together a second time.
fn is_signed_or_plain(row: &Row) -> bool {
    let Proof::Signed { key, signature } = row.proof else { return true };
    let whole = header(row);
    let mut decision = Object::new();
    for name in ["actor", "at", "blobs", "kind", "matter", "payload_hash", "stream", "version"] {
        decision.insert(name, whole.get(name).cloned().expect("a header has it"));
    }
    let statement = canonical::to_bytes(&decision.into()).expect("a header is canonical");
    let message = [b"countersign/decision/1\n".as_slice(), &statement].concat();
    key.verify(&message, &signature).is_ok()
}

/// Gives every row a place in one sound chain.
fn reforge(rows: &mut [Row]) {
    let mut prev_hash = genesis(&MatterId::try_from(MATTER).expect("it is one"));
    let mut streams: BTreeMap<String, u64> = BTreeMap::new();
    for (row, seq) in rows.iter_mut().zip(1..) {
        let stream_seq = streams.entry(row.stream.to_string()).or_insert(0);
        *stream_seq += 1;
        (row.seq, row.stream_seq, row.prev_hash) = (seq, *stream_seq, prev_hash);
        row.payload_hash = canonical::hash(&row.payload).expect("it was canonical");
        if !is_signed_or_plain(row) {
            row.proof = Proof::SelfAsserted;
        }
        row.hash = canonical::hash(&header(row)).expect("a header is canonical");
        prev_hash = row.hash;
    }
}

/// The ledger's own folds take any row.
fn fold(rows: &[Row]) {
    let mut holds = Holds::default();
    for row in rows {
        if let Ok(row) = upcast::LEDGER.read(row.clone()) {
            holds.apply(&row);
        }
    }
    for (id, held, _) in holds.iter() {
        let digest = match held {
            Held::Blob(digest) => digest,
            Held::Matter => Digest::of(b""),
        };
        assert!(holds.contains(id) && holds.keeping(&digest).is_some(), "{id} keeps nothing");
    }
}
