//! Checks everything that a matter's file holds.
//! Owns: what the chain does not cover: blobs, receipts, request keys, the recorded head. Must not: change
//! anything, or hold the ledger in memory.

use super::columns::{self, int};
use super::erase;
use super::indexes::{self, Sum};
use super::read::walk;
use super::readers::Stop;
use countersign_record::canonical::{Hasher, Sink};
use countersign_record::chain::{Anchor, Damage, Finding, Head, Report, Verifier};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::MatterId;
use countersign_record::json;
use countersign_record::row::{BlobRef, RowRef};
use rusqlite::{Connection, MAIN_DB, OptionalExtension};
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::ControlFlow;

/// Blobs are hashed in pieces of this size.
const PIECE_BYTES: usize = 256 * 1024;

/// Findings beside the rows that are listed.
const BESIDE_MAX: usize = 100;

/// Walks the ledger in one snapshot.
pub(super) fn verify(
    connection: &Connection,
    matter: &MatterId,
    recorded: Head,
    anchors: &[Anchor],
) -> Result<Report, Stop> {
    let mut verifier = Verifier::new(matter, anchors);
    for anchor in anchors.iter().filter(|anchor| anchor.matter != *matter) {
        verifier.note(anchor.seq, Damage::NotAnchored);
    }
    let mut request = RequestRun::default();
    let mut named = Named::default();
    let mut last = Head { seq: 0, hash: recorded.hash };
    let mut sum = Sum::new(indexes::indexed(connection)?);
    walk(connection, i64::MIN, |entry, stored| {
        sum.row(entry);
        // Places count from 1; what stands before was put there by other hands.
        let Some(seq) = u64::try_from(entry.seq).ok().filter(|seq| *seq > 0) else {
            verifier.note(0, Damage::Inserted);
            return Ok(ControlFlow::Continue(()));
        };
        match stored {
            Ok(row) => {
                verifier.see(&row);
                last = Head { seq, hash: row.hash };
                for blob in row.blobs.iter() {
                    check_reference(connection, &mut verifier, &mut named, (seq, blob))?;
                }
                named.receipt(&row);
                request.follow(connection, &mut verifier, &row)?;
            }
            Err(what) => {
                verifier.see_unreadable(seq, what.into());
                last = Head { seq, hash: recorded.hash };
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    request.end(connection, &mut verifier)?;
    check_strange_requests(connection, &mut verifier)?;
    let unnamed = check_blobs(connection, &mut verifier, &named)?;
    check_receipts(connection, &mut verifier, &named)?;
    check_head(&mut verifier, recorded, last);
    let mut report = verifier.finish(Some(recorded));
    // Damage that names a row says more than what is beside the rows, which is most often a part of it.
    if report.is_sound() {
        let disagreements = [
            sum.disagreement(connection)?,
            indexes::strange_name(connection)?,
            indexes::unused_name(connection)?,
        ];
        let lists = disagreements.into_iter().flatten().map(|what| Damage::Index { what: what.into() });
        let blobs = unnamed.into_iter().map(|digest| Damage::BlobUnnamed { digest });
        let mut beside = lists.chain(blobs).map(|damage| Finding { seq: 0, damage });
        report.findings.extend(beside.by_ref().take(BESIDE_MAX));
        report.unlisted += beside.count() as u64;
    }
    Ok(report)
}

/// What the rows say of blobs: a few bytes for each.
#[derive(Default)]
struct Named {
    /// The records that rows name, by number, and the first row that does.
    records: BTreeMap<i64, u64>,
    /// The blobs whose receipt no later row has undone by naming them again.
    erased: BTreeMap<Digest, u64>,
}

impl Named {
    fn receipt(&mut self, row: &RowRef<'_>) {
        if row.kind == hold::ERASED {
            let payload = json::parse(row.payload).ok();
            let digest = payload.and_then(|payload| hold::erased_digest(row.kind, &payload));
            self.erased.extend(digest.map(|digest| (digest, row.seq)));
        }
    }
}

/// What was erased is not there.
fn check_receipts(
    connection: &Connection,
    verifier: &mut Verifier<'_>,
    named: &Named,
) -> Result<(), rusqlite::Error> {
    for (digest, receipt) in &named.erased {
        if erase::record(connection, *digest)?.is_some_and(|record| record.is_present()) {
            verifier.note(*receipt, Damage::BlobUnnamed { digest: *digest });
        }
    }
    Ok(())
}

/// The recorded head speaks of the last row. Rows that are missing at the end are the verifier's to name.
fn check_head(verifier: &mut Verifier<'_>, recorded: Head, last: Head) {
    if recorded.seq < last.seq {
        verifier.note(recorded.seq + 1, Damage::Inserted);
    } else if recorded.seq == last.seq && recorded.hash != last.hash {
        verifier.note(last.seq, Damage::RowChanged);
    }
}

/// The blob that a row names has a record: its bytes (hashed later, once per blob) or a sound receipt.
fn check_reference(
    connection: &Connection,
    verifier: &mut Verifier<'_>,
    named: &mut Named,
    (seq, blob): (u64, BlobRef),
) -> Result<(), rusqlite::Error> {
    let digest = blob.digest;
    let Some(record) = erase::record(connection, digest)? else {
        verifier.note(seq, Damage::BlobMissing { digest });
        return Ok(());
    };
    named.records.entry(record.id).or_insert(seq);
    named.erased.remove(&digest);
    match (record.size, record.receipt, record.length) {
        (Some(size), None, Some(length)) if size == blob.size && length == blob.size => {}
        (_, None, Some(_)) => drop(verifier.note(seq, Damage::BlobChanged { digest })),
        (_, Some(receipt), None) if is_receipt(connection, receipt, digest)? && receipt > seq => {}
        _ => drop(verifier.note(seq, Damage::BlobMissing { digest })),
    }
    Ok(())
}

/// Whether the row at `seq` says that the blob was erased.
fn is_receipt(connection: &Connection, seq: u64, digest: Digest) -> Result<bool, rusqlite::Error> {
    let row: Option<(String, Vec<u8>)> = connection
        .prepare_cached("SELECT name, payload FROM rows JOIN kinds ON id = kind WHERE seq = ?1")?
        .query_row([int(seq)], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let erased = row.and_then(|(kind, payload)| hold::erased_digest(&kind, &json::parse(&payload).ok()?));
    Ok(erased == Some(digest))
}

/// Hashes every blob that is there, once, in pieces. Gives back those that no row names, which are there behind the
/// ledger's back: a copy of what was erased, or what was never recorded.
fn check_blobs(
    connection: &Connection,
    verifier: &mut Verifier<'_>,
    named: &Named,
) -> Result<Vec<Digest>, Stop> {
    let mut unnamed = Vec::new();
    let sql = "SELECT id, digest, receipt, length(bytes) IS NOT NULL FROM blobs ORDER BY id";
    let mut statement = connection.prepare_cached(sql)?;
    let mut blobs = statement.query([])?;
    let mut piece = vec![0; PIECE_BYTES];
    while let Some(blob) = blobs.next()? {
        let id: i64 = blob.get(0)?;
        let name = columns::digest(blob.get_ref(1)?);
        let (first, is_present) = (named.records.get(&id), blob.get(3)?);
        match (first, name) {
            (Some(seq), Some(digest)) if is_present => {
                if hash_of(connection, id, &mut piece)? != digest {
                    verifier.note(*seq, Damage::BlobChanged { digest });
                }
            }
            (Some(_), _) => {}
            (None, _) if is_present => unnamed.push(hash_of(connection, id, &mut piece)?),
            // What is left of a blob that was erased and came back with a record of its own.
            (None, Some(digest)) => {
                let receipt = columns::count(blob.get_ref(2)?).unwrap_or(0);
                if !is_receipt(connection, receipt, digest)? {
                    unnamed.push(digest);
                }
            }
            (None, None) => unnamed.push(Digest::from_bytes([0; 32])),
        }
    }
    Ok(unnamed)
}

fn hash_of(connection: &Connection, id: i64, piece: &mut [u8]) -> Result<Digest, rusqlite::Error> {
    let mut blob = connection.blob_open(MAIN_DB, "blobs", "bytes", id, true)?;
    let mut hasher = Hasher::new();
    loop {
        // The only error of reading here is one of SQLite, whose own words `io::Error` can't carry.
        let count = blob.read(piece).map_err(|_| indexes::disagrees("the bytes of a blob can't be read"))?;
        match piece.get(..count) {
            Some(read) if count > 0 => hasher.put(read),
            Some(_) | None => return Ok(hasher.finish()),
        }
    }
}

/// The rows of one request, which stand together.
#[derive(Default)]
struct RequestRun {
    key: String,
    first: u64,
    count: u64,
}

impl RequestRun {
    fn follow(
        &mut self,
        connection: &Connection,
        verifier: &mut Verifier<'_>,
        row: &RowRef<'_>,
    ) -> Result<(), rusqlite::Error> {
        let key = row.idem_key.unwrap_or_default();
        if self.count > 0 && self.key == key {
            self.count += 1;
            return Ok(());
        }
        self.end(connection, verifier)?;
        if !key.is_empty() {
            self.key.clear();
            self.key.push_str(key);
            (self.first, self.count) = (row.seq, 1);
        }
        Ok(())
    }

    /// The ledger must know the request, or a repeat of it would be appended a second time.
    fn end(&mut self, connection: &Connection, verifier: &mut Verifier<'_>) -> Result<(), rusqlite::Error> {
        if self.count == 0 {
            return Ok(());
        }
        let known: Option<(i64, i64)> = connection
            .prepare_cached("SELECT first_seq, count FROM idem WHERE key = ?1")?
            .query_row([&self.key], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if known != Some((int(self.first), int(self.count))) {
            verifier.note(self.first, Damage::RequestChanged);
        }
        self.count = 0;
        Ok(())
    }
}

/// A key without rows of its own would make a request that was never appended look as if it had been.
fn check_strange_requests(
    connection: &Connection,
    verifier: &mut Verifier<'_>,
) -> Result<(), rusqlite::Error> {
    let sql = "SELECT first_seq FROM idem LEFT JOIN rows ON rows.seq = idem.first_seq \
               WHERE rows.idem_key IS NOT idem.key";
    let mut statement = connection.prepare_cached(sql)?;
    let mut strange = statement.query([])?;
    while let Some(entry) = strange.next()? {
        let seq = columns::count(entry.get_ref(0)?).unwrap_or(0);
        verifier.note(seq, Damage::RequestChanged);
    }
    Ok(())
}
