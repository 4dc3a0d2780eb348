//! Makes an empty ledger whole from an export.
//! Owns: that what comes in is one chain with all its blobs. Must not: trust any of it.

use super::append::Pen;
use super::columns::int;
use super::indexes;
use super::writer::Pieces;
use countersign_record::canonical;
use countersign_record::chain::{Head, Verifier};
use countersign_record::digest::Digest;
use countersign_record::hold;
use countersign_record::id::{IdemKey, MatterId};
use countersign_record::row::{PAYLOAD_BYTES_MAX, PackedBlobs, Row};
use countersign_runtime::ports::ledger::{Error, Piece};
use rusqlite::{Connection, OptionalExtension, params};

/// What the rows say of each blob, beside what came in. It is gone with the transaction.
const NAMED: &str = "CREATE TEMP TABLE named(
    digest BLOB PRIMARY KEY,
    size INTEGER NOT NULL,
    receipt INTEGER
) STRICT, WITHOUT ROWID";

/// Restores all the pieces. The inner error is a refusal.
pub(super) fn restore(pen: &mut Pen<'_>, pieces: Pieces) -> Result<Result<Head, Error>, rusqlite::Error> {
    let Ok(matter) = MatterId::try_from(pen.matter) else {
        return Err(indexes::disagrees("the matter has no name"));
    };
    if pen.state.head.seq > 0 {
        return Ok(Err(Error::NotEmpty { matter }));
    }
    pen.connection.execute_batch("DROP TABLE IF EXISTS temp.named")?;
    pen.connection.execute_batch(NAMED)?;
    let mut restoring = Restoring { verifier: Verifier::new(&matter, &[]), request: None, rows: 0 };
    for piece in pieces {
        let refusal = match piece {
            Err(error) => Some(error),
            Ok(Piece::Blob(_)) if restoring.rows > 0 => Some(archive("a blob stands after the rows")),
            Ok(Piece::Blob(blob)) => {
                pen.put_blob(&blob)?;
                None
            }
            Ok(Piece::Row(row)) => restoring.row(pen, &row)?,
        };
        if let Some(refusal) = refusal {
            return Ok(Err(refusal));
        }
    }
    if let Some(refusal) = restoring.end_request(pen)? {
        return Ok(Err(refusal));
    }
    let report = restoring.verifier.finish(None);
    if let Some(finding) = report.findings.into_iter().next() {
        return Ok(Err(Error::Damaged { finding }));
    }
    if report.rows == 0 {
        return Ok(Err(archive("there are no rows")));
    }
    if let Some(refusal) = settle_blobs(pen.connection)? {
        return Ok(Err(refusal));
    }
    pen.connection.execute_batch("DROP TABLE temp.named")?;
    Ok(Ok(pen.state.head))
}

fn archive(why: &str) -> Error {
    Error::Archive { why: why.into() }
}

struct Restoring<'a> {
    verifier: Verifier<'a>,
    /// The request whose rows are coming in: its key, its first row, how many there are.
    request: Option<(IdemKey, u64, u64)>,
    rows: u64,
}

impl Restoring<'_> {
    fn row(&mut self, pen: &mut Pen<'_>, row: &Row) -> Result<Option<Error>, rusqlite::Error> {
        self.rows += 1;
        if row.seq != self.rows {
            return Ok(Some(Error::Archive {
                why: format!("row {} stands where row {} should", row.seq, self.rows),
            }));
        }
        if row.cause.is_some_and(|cause| cause == 0 || cause >= row.seq) {
            return Ok(Some(Error::Archive {
                why: format!("the cause of row {} does not stand before it", row.seq),
            }));
        }
        let payload = match canonical::to_bytes(&row.payload) {
            Ok(payload) if payload.len() <= PAYLOAD_BYTES_MAX => payload,
            Ok(_) | Err(_) => {
                return Ok(Some(Error::Archive {
                    why: format!("the payload of row {} is too large", row.seq),
                }));
            }
        };
        let packed = PackedBlobs::pack(row.blobs.iter().copied());
        let packed = PackedBlobs::try_from(packed.as_slice())
            .map_err(|_| indexes::disagrees("a row's blobs can't be packed"))?;
        let stored = row.as_stored(&payload, packed);
        self.verifier.see(&stored);
        let (stream, stream_seq) = pen.next_in_stream(&row.stream)?;
        if stream_seq != row.stream_seq {
            let why = format!("row {} is number {} of its stream, not {stream_seq}", row.seq, row.stream_seq);
            return Ok(Some(Error::Archive { why }));
        }
        pen.insert(&stored, stream, &row.kind)?;
        if let Some(refusal) = name_blobs(pen.connection, row)? {
            return Ok(Some(refusal));
        }
        self.follow_request(pen, row)
    }

    /// Rows of one request stand together and share its key.
    fn follow_request(&mut self, pen: &Pen<'_>, row: &Row) -> Result<Option<Error>, rusqlite::Error> {
        match (&mut self.request, &row.idem_key) {
            (Some((key, _, count)), Some(found)) if key == found => *count += 1,
            _ => {
                let refusal = self.end_request(pen)?;
                self.request = row.idem_key.clone().map(|key| (key, row.seq, 1));
                return Ok(refusal);
            }
        }
        Ok(None)
    }

    fn end_request(&mut self, pen: &Pen<'_>) -> Result<Option<Error>, rusqlite::Error> {
        let Some((key, first, count)) = self.request.take() else { return Ok(None) };
        let added = pen
            .connection
            .prepare_cached(
                "INSERT INTO idem(key, first_seq, count) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key.as_str(), int(first), int(count)])?;
        let why = || format!("the idempotency key {key} of row {first} stands at an earlier row too");
        Ok((added == 0).then(|| Error::Archive { why: why() }))
    }
}

/// Notes what a row says of blobs: it names them, or it is the receipt for one.
fn name_blobs(connection: &Connection, row: &Row) -> Result<Option<Error>, rusqlite::Error> {
    for blob in &row.blobs {
        let size = int(blob.size);
        let known: i64 = connection
            .prepare_cached(
                "INSERT INTO named(digest, size) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET receipt = NULL \
                 RETURNING size",
            )?
            .query_row(params![blob.digest.as_bytes(), size], |row| row.get(0))?;
        if known != size {
            return Ok(Some(Error::Archive { why: format!("blob {} has two sizes", blob.digest) }));
        }
    }
    if let Some(digest) = hold::erased_digest(row.kind.as_str(), &row.payload) {
        connection
            .prepare_cached("UPDATE named SET receipt = ?2 WHERE digest = ?1")?
            .execute(params![digest.as_bytes(), int(row.seq)])?;
    }
    Ok(None)
}

/// Holds what the rows say of blobs against the blobs that came in.
fn settle_blobs(connection: &Connection) -> Result<Option<Error>, rusqlite::Error> {
    let first = |sql: &str| -> Result<Option<Digest>, rusqlite::Error> {
        let found: Option<[u8; 32]> = connection.query_row(sql, [], |row| row.get(0)).optional()?;
        Ok(found.map(Digest::from_bytes))
    };
    let missing = "SELECT digest FROM named WHERE receipt IS NULL \
                   AND NOT EXISTS (SELECT 1 FROM blobs WHERE blobs.digest = named.digest) LIMIT 1";
    if let Some(digest) = first(missing)? {
        return Ok(Some(Error::BlobMissing { digest }));
    }
    let unnamed = "SELECT digest FROM blobs WHERE digest NOT IN (SELECT digest FROM named) LIMIT 1";
    if let Some(digest) = first(unnamed)? {
        return Ok(Some(Error::Archive { why: format!("no row names the blob {digest}") }));
    }
    let back =
        "SELECT named.digest FROM named JOIN blobs USING (digest) WHERE named.receipt IS NOT NULL LIMIT 1";
    if let Some(digest) = first(back)? {
        return Ok(Some(Error::Archive {
            why: format!("the blob {digest} was erased and is there all the same"),
        }));
    }
    let sized =
        "SELECT named.digest FROM named JOIN blobs USING (digest) WHERE named.size <> blobs.size LIMIT 1";
    if let Some(digest) = first(sized)? {
        return Ok(Some(Error::Archive { why: format!("blob {digest} has another size than its row says") }));
    }
    connection.execute(
        "INSERT INTO blobs(digest, size, receipt) \
         SELECT digest, size, receipt FROM named WHERE receipt IS NOT NULL ORDER BY receipt, digest",
        [],
    )?;
    Ok(None)
}
