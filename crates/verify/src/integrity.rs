//! Whether what is in a packet is what was written: hashes, links, bytes, signatures.
//! Owns: naming what was changed. Must not: interpret a row.

use crate::found::Found;
use crate::packet::{Blob, Content, Entry, Statement, run_stream, work_stream};
use crate::report::{Check, Place};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_record::canonical;
use countersign_record::chain::{Head, genesis};
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::row::{PackedBlobs, Row};

const CHECK: Check = Check::Integrity;

/// Looks at every row, every link, every byte.
pub(crate) fn check(statement: &Statement, found: &mut Found) {
    let entries = &statement.ledger.rows;
    links(statement, found);
    for entry in entries {
        if let Entry::Whole(row) = entry {
            self::row(statement, row, found);
        }
    }
    streams(statement, found);
    blobs(statement, found);
    anchor(statement, found);
}

fn at(seq: u64, path: &str) -> Place {
    Place { row: Some(seq), path: (!path.is_empty()).then(|| path.to_string()), ..Place::default() }
}

/// Each row follows on the one before it, from the run's first one to the head.
fn links(statement: &Statement, found: &mut Found) {
    let mut before: Option<Head> = None;
    for entry in &statement.ledger.rows {
        let head = entry.head();
        let expected = before.map(|before| before.seq + 1);
        if expected.is_some_and(|expected| expected != head.seq) {
            let message = format!("row {} is expected here", expected.unwrap_or_default());
            found.wrong(Code::VerifyChain, CHECK, at(head.seq, "/seq"), message);
        } else {
            found.right(CHECK);
        }
        if let Entry::Whole(row) = entry {
            let linked = match before {
                Some(before) => row.prev_hash == before.hash,
                // Before the first row that is shown stands one that is not, unless it is the first of all.
                None => row.seq != 1 || row.prev_hash == genesis(&statement.matter),
            };
            match linked {
                true => found.right(CHECK),
                false => {
                    let message = "it was built on another row than the one before it";
                    found.wrong(Code::VerifyChain, CHECK, at(row.seq, "/prev_hash"), message);
                }
            }
        }
        before = Some(head);
    }
    match before {
        Some(last) if last == statement.ledger.head => found.right(CHECK),
        Some(_) | None => {
            let place = Place { path: Some("/predicate/ledger/head".to_string()), ..Place::default() };
            found.wrong(Code::VerifyChain, CHECK, place, "the head is not the last row");
        }
    }
}

/// A row has the hashes that it names, and who signed it did.
fn row(statement: &Statement, row: &Row, found: &mut Found) {
    let payload = match canonical::to_bytes(&row.payload) {
        Ok(payload) => payload,
        Err(error) => {
            return found.wrong(Code::VerifyRow, CHECK, at(row.seq, "/payload"), error.to_string());
        }
    };
    let packed = PackedBlobs::pack(row.blobs.iter().copied());
    let Ok(blobs) = PackedBlobs::try_from(packed.as_slice()) else { return };
    let stored = row.as_stored(&payload, blobs);
    let matter = statement.matter.as_str();
    match (Digest::of(&payload) == row.payload_hash, stored.computed_hash(matter) == row.hash) {
        (true, true) => found.right(CHECK),
        (false, true) => {
            let message = "the payload is not the one that the row was written with";
            found.wrong(Code::VerifyRow, CHECK, at(row.seq, "/payload"), message);
        }
        (_, false) => {
            let message = "the row does not have the hash that it names";
            found.wrong(Code::VerifyRow, CHECK, at(row.seq, ""), message);
        }
    }
    match stored.signer(matter) {
        Ok(Some(_)) => found.right(CHECK),
        Ok(None) => {}
        Err(forged) => {
            found.wrong(Code::VerifyDecision, CHECK, at(row.seq, "/proof"), forged.to_string());
        }
    }
}

/// Both streams of the run are whole from their first row, and no other row is shown.
fn streams(statement: &Statement, found: &mut Found) {
    let names = [run_stream(&statement.run), work_stream(&statement.run)];
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    for entry in &statement.ledger.rows {
        let Entry::Whole(row) = entry else { continue };
        let stream = row.stream.as_str();
        if !names.iter().any(|name| name == stream) {
            let message = "a row of another stream is shown, which belongs to somebody else";
            found.wrong(Code::VerifyChain, CHECK, at(row.seq, "/stream"), message);
            continue;
        }
        let expected = last.get(stream).copied().unwrap_or(0) + 1;
        last.insert(stream, row.stream_seq);
        if row.stream_seq == expected {
            found.right(CHECK);
        } else {
            let message = format!("number {expected} of its stream is expected here");
            found.wrong(Code::VerifyChain, CHECK, at(row.seq, "/stream_seq"), message);
        }
    }
    for name in &names {
        if !last.contains_key(name.as_str()) {
            let place = Place { path: Some("/predicate/ledger/rows".to_string()), ..Place::default() };
            found.wrong(Code::VerifyChain, CHECK, place, format!("there is no row of {name}"));
        }
    }
    let ends = [statement.ledger.rows.first(), statement.ledger.rows.last()];
    for head in ends.into_iter().flatten().filter(|one| matches!(one, Entry::Withheld(_))).map(Entry::head) {
        let message = "rows of others stand only between those of the run";
        found.wrong(Code::VerifyChain, CHECK, at(head.seq, ""), message);
    }
}

/// The bytes that rows name are there, or told as withheld; nothing else is.
fn blobs(statement: &Statement, found: &mut Found) {
    let mut named: BTreeMap<Digest, (u64, u64)> = BTreeMap::new();
    for entry in &statement.ledger.rows {
        let Entry::Whole(row) = entry else { continue };
        for blob in &row.blobs {
            named.entry(blob.digest).or_insert((row.seq, blob.size));
        }
    }
    let mut there: BTreeSet<Digest> = BTreeSet::new();
    for blob in &statement.blobs {
        let place = || Place {
            row: named.get(&blob.digest).map(|(row, _)| *row),
            blob: Some(blob.digest),
            ..Place::default()
        };
        match trouble(blob, &named) {
            Some(message) => found.wrong(Code::VerifyBlob, CHECK, place(), message),
            None if !there.insert(blob.digest) => {
                found.wrong(Code::VerifyBlob, CHECK, place(), "the bytes stand there twice");
            }
            None if matches!(blob.content, Content::Withheld(_)) => found.withheld(CHECK),
            None => found.right(CHECK),
        }
    }
    for (digest, (row, _)) in named.iter().filter(|(digest, _)| !there.contains(*digest)) {
        // Bytes that were changed are told above, by the digest that they should have.
        let is_told = statement.blobs.iter().any(|blob| blob.digest == *digest);
        if !is_told {
            let place = Place { row: Some(*row), blob: Some(*digest), ..Place::default() };
            found.wrong(Code::VerifyBlob, CHECK, place, "the bytes are not in the packet");
        }
    }
    let sorted: Vec<Digest> = statement.blobs.iter().map(|blob| blob.digest).collect();
    if !sorted.is_sorted() {
        let place = Place { path: Some("/predicate/blobs".to_string()), ..Place::default() };
        found.wrong(Code::VerifyBlob, CHECK, place, "the bytes do not stand in the order of their digests");
    }
}

fn trouble(blob: &Blob, named: &BTreeMap<Digest, (u64, u64)>) -> Option<String> {
    let Some((_, size)) = named.get(&blob.digest) else {
        return Some("no row names these bytes".to_string());
    };
    if blob.size != *size {
        return Some(format!("a row says that there are {size} bytes"));
    }
    match &blob.content {
        Content::Present(bytes) if bytes.len() as u64 != *size => {
            Some(format!("there are {} bytes, and a row says {size}", bytes.len()))
        }
        Content::Present(bytes) if Digest::of(bytes) != blob.digest => {
            Some("the bytes do not have this digest".to_string())
        }
        Content::Present(_) | Content::Withheld(_) => None,
    }
}

/// An anchor is of this matter, and of a row that is in the packet.
fn anchor(statement: &Statement, found: &mut Found) {
    let Some(anchor) = &statement.ledger.anchor else { return };
    let place = || Place {
        row: Some(anchor.seq),
        path: Some("/predicate/ledger/anchor".to_string()),
        ..Place::default()
    };
    let row = statement.ledger.rows.iter().map(Entry::head).find(|head| head.seq == anchor.seq);
    match row {
        _ if anchor.matter != statement.matter => {
            found.wrong(Code::VerifyAnchor, CHECK, place(), "it is of another matter");
        }
        None => found.wrong(Code::VerifyAnchor, CHECK, place(), "the row that it is of is not in the packet"),
        Some(head) if head.hash != anchor.hash => {
            found.wrong(Code::VerifyAnchor, CHECK, place(), "the row that it is of was another one");
        }
        Some(_) => found.right(CHECK),
    }
}
