//! Puts one request's rows into an open transaction.
//! Owns: the order of the checks: the request's key, the ends of streams, causes. Must not: begin or commit, or
//! put anything in before every check has passed.

use super::columns::{self, Entry, Interned, int};
use super::indexes;
use super::state::State;
use countersign_record::chain::Head;
use countersign_record::digest::Digest;
use countersign_record::id::{IdemKey, RowKind, StreamId};
use countersign_record::row::{BlobBytes, Cause, PackedBlobs, Place, RowRef, Sealed};
use countersign_runtime::ports::ledger::{Appended, BATCH_ROWS_MAX, Batch, Error, Stamp};
use rusqlite::{CachedStatement, Connection, OptionalExtension, params};

/// Whether the newest record of a blob has its bytes.
const HAS_BLOB: &str = "SELECT bytes IS NOT NULL FROM blobs WHERE digest = ?1 ORDER BY id DESC LIMIT 1";
const INSERT_BLOB: &str = "INSERT INTO blobs(digest, size, bytes) VALUES (?1, ?2, ?3)";

/// A batch on its way to the writer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) batch: Batch,
    /// What makes it the same request again; there whenever it has a key.
    pub(super) request_hash: Option<Digest>,
}

impl Request {
    /// Checks what can be checked without the ledger. This runs in the caller's task.
    pub(super) fn new(batch: Batch) -> Result<Self, Error> {
        if batch.rows.is_empty() {
            return Err(Error::Batch { why: "a batch needs at least one row" });
        }
        if batch.rows.len() > BATCH_ROWS_MAX || batch.expected.len() > BATCH_ROWS_MAX {
            return Err(Error::Batch {
                why: "a batch holds 50,000 rows and as many expected places at most",
            });
        }
        for (at, row) in batch.rows.iter().enumerate() {
            if let Some(Cause::Batch(cause)) = row.draft().cause
                && cause >= at
            {
                return Err(Error::Batch { why: "a row's cause must stand before it" });
            }
        }
        let request_hash = match batch.idem_key {
            Some(_) => Some(
                countersign_record::row::request_hash(&batch.rows, &batch.expected)
                    .map_err(|_| Error::Batch { why: "an expected place is beyond 2^53" })?,
            ),
            None => None,
        };
        Ok(Request { batch, request_hash })
    }

    /// What the request weighs, to keep a group of them bounded.
    pub(super) fn bytes(&self) -> usize {
        let of_row = |row: &Sealed| {
            row.payload().len() + row.draft().blobs.iter().map(|blob| blob.bytes().len()).sum::<usize>()
        };
        self.batch.rows.iter().map(of_row).sum()
    }
}

/// A ledger inside a transaction.
pub(super) struct Pen<'a> {
    pub(super) connection: &'a Connection,
    pub(super) matter: &'a str,
    pub(super) state: &'a mut State,
    /// Held through the transaction: looking it up for every row would cost a tenth of putting the row in.
    insert: CachedStatement<'a>,
    has_blob: CachedStatement<'a>,
    insert_blob: CachedStatement<'a>,
}

impl<'a> Pen<'a> {
    /// Takes the pen in a transaction that has begun.
    pub(super) fn new(
        connection: &'a Connection,
        matter: &'a str,
        state: &'a mut State,
    ) -> Result<Self, rusqlite::Error> {
        Ok(Pen {
            connection,
            matter,
            state,
            insert: connection.prepare_cached(columns::INSERT)?,
            has_blob: connection.prepare_cached(HAS_BLOB)?,
            insert_blob: connection.prepare_cached(INSERT_BLOB)?,
        })
    }

    /// Appends the request. The inner error is a refusal and has left no trace; the outer one ends the transaction.
    pub(super) fn append(&mut self, request: &Request) -> Result<Result<Appended, Error>, rusqlite::Error> {
        let batch = &request.batch;
        if let Some(key) = &batch.idem_key
            && let Some(earlier) = self.earlier(key)?
        {
            return self.again(request, key, &earlier);
        }
        if let Some(refusal) = self.refusal(batch)? {
            return Ok(Err(refusal));
        }
        let first = self.state.head.seq + 1;
        let mut rows = Vec::with_capacity(batch.rows.len());
        for row in &batch.rows {
            rows.push(self.put(row, batch.idem_key.as_ref(), first)?);
        }
        if let (Some(key), Some(hash)) = (&batch.idem_key, &request.request_hash) {
            self.connection
                .prepare_cached(
                    "INSERT INTO idem(key, request_hash, first_seq, count) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![key.as_str(), hash.as_bytes(), int(first), int(rows.len() as u64)])?;
        }
        Ok(Ok(Appended { rows, repeated: false }))
    }

    fn refusal(&mut self, batch: &Batch) -> Result<Option<Error>, rusqlite::Error> {
        for (stream, expected) in &batch.expected {
            let found = self.state.stream(self.connection, stream)?.last;
            if found != *expected {
                return Ok(Some(Error::Conflict { stream: stream.clone(), expected: *expected, found }));
            }
        }
        let last = self.state.head.seq;
        let bad_cause = batch.rows.iter().any(|row| match row.draft().cause {
            Some(Cause::Row(seq)) => seq == 0 || seq > last,
            Some(Cause::Batch(_)) | None => false,
        });
        Ok(bad_cause.then_some(Error::Batch { why: "a row's cause is no row of this ledger" }))
    }

    /// Puts one row at the end. `first` is the place of the batch's first row.
    pub(super) fn put(
        &mut self,
        row: &Sealed,
        idem_key: Option<&IdemKey>,
        first: u64,
    ) -> Result<Stamp, rusqlite::Error> {
        for blob in &row.draft().blobs {
            self.put_blob(blob)?;
        }
        let draft = row.draft();
        let (stream, stream_seq) = self.state.next_in_stream(self.connection, &draft.stream)?;
        let place = Place {
            seq: self.state.head.seq + 1,
            stream_seq,
            prev_hash: self.state.head.hash,
            cause: draft.cause.map(|cause| match cause {
                Cause::Row(seq) => seq,
                Cause::Batch(at) => first + at as u64,
            }),
        };
        let packed = row.packed_blobs();
        let packed = PackedBlobs::try_from(packed.as_slice())
            .map_err(|_| indexes::disagrees("a row's blobs can't be packed"))?;
        let stored = row.at(self.matter, place, idem_key, packed);
        self.insert(&stored, stream, &draft.kind)?;
        Ok(Stamp { seq: stored.seq, stream_seq, hash: stored.hash })
    }

    /// Puts a row with all its hashes in, and moves the head to it.
    pub(super) fn insert(
        &mut self,
        row: &RowRef<'_>,
        stream: i64,
        kind: &RowKind,
    ) -> Result<(), rusqlite::Error> {
        let kind = self.state.kind(self.connection, kind)?;
        let (proof, key, signature) = columns::of_proof(&row.proof);
        let blobs = Some(row.blobs.as_bytes()).filter(|packed| !packed.is_empty());
        self.insert.execute(params![
            int(row.seq),
            stream,
            int(row.stream_seq),
            kind,
            row.version,
            row.at,
            row.actor,
            proof,
            key,
            signature,
            row.cause.map(int),
            row.idem_key,
            columns::of_data_class(row.data_class),
            columns::of_taint(row.taint),
            row.payload_hash.as_bytes(),
            row.prev_hash.as_bytes(),
            row.hash.as_bytes(),
            blobs,
            row.payload,
        ])?;
        let entry = Entry { seq: int(row.seq), stream, stream_seq: int(row.stream_seq), kind };
        self.state.advance(self.connection, Head { seq: row.seq, hash: row.hash }, entry)
    }

    /// The place in a stream that a restored row takes.
    pub(super) fn next_in_stream(&mut self, stream: &StreamId) -> Result<(i64, u64), rusqlite::Error> {
        self.state.next_in_stream(self.connection, stream)
    }

    /// Stores a blob's bytes unless they are there. Bytes that were erased come back as a new record, because a record that
    /// grew would move its neighbours and leave stale copies of them in the page.
    pub(super) fn put_blob(&mut self, blob: &BlobBytes) -> Result<(), rusqlite::Error> {
        let digest = blob.digest();
        let found: Option<bool> =
            self.has_blob.query_row([digest.as_bytes()], |row| row.get(0)).optional()?;
        if found != Some(true) {
            let size = int(blob.reference().size);
            self.insert_blob.execute(params![digest.as_bytes(), size, blob.bytes()])?;
        }
        Ok(())
    }

    fn earlier(&self, key: &IdemKey) -> Result<Option<Earlier>, rusqlite::Error> {
        self.connection
            .prepare_cached("SELECT request_hash, first_seq, count FROM idem WHERE key = ?1")?
            .query_row([key.as_str()], |row| {
                Ok(Earlier {
                    request_hash: columns::digest(row.get_ref(0)?),
                    first: columns::count(row.get_ref(1)?).unwrap_or(0),
                    count: columns::count(row.get_ref(2)?).unwrap_or(0),
                })
            })
            .optional()
    }

    /// Answers a request whose key is known.
    fn again(
        &self,
        request: &Request,
        key: &IdemKey,
        earlier: &Earlier,
    ) -> Result<Result<Appended, Error>, rusqlite::Error> {
        let last = earlier.first.saturating_add(earlier.count).saturating_sub(1);
        let sql = format!("SELECT {} FROM rows WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq", columns::COLUMNS);
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut found = statement.query([int(earlier.first), int(last)])?;
        let mut interned = Interned::new();
        let mut rows = Vec::new();
        let mut same = request.batch.rows.len() as u64 == earlier.count;
        // Damage to this request's own rows refuses this request; its neighbours in the group are not touched.
        let damaged =
            |seq| Ok(Err(Error::RowCorrupt { seq, why: "a request's rows are not as they were".into() }));
        while let Some(row) = found.next()? {
            let (_, Ok(stored)) = columns::read(self.connection, &mut interned, row)? else {
                return damaged(earlier.first + rows.len() as u64);
            };
            let asked = request.batch.rows.get(rows.len());
            same = same && asked.is_some_and(|asked| is_same(asked, &stored, earlier.first));
            rows.push(Stamp { seq: stored.seq, stream_seq: stored.stream_seq, hash: stored.hash });
        }
        if rows.len() as u64 != earlier.count {
            return damaged(earlier.first + rows.len() as u64);
        }
        // The rows can't be forged without the chain showing it; the request's hash stands in no chain, so it can
        // only refuse. An import does not even have it.
        let same = same && earlier.request_hash.is_none_or(|hash| Some(hash) == request.request_hash);
        if !same {
            return Ok(Err(Error::IdemMismatch { key: key.clone(), first_seq: earlier.first }));
        }
        Ok(Ok(Appended { rows, repeated: true }))
    }
}

struct Earlier {
    request_hash: Option<Digest>,
    first: u64,
    count: u64,
}

/// Whether a draft asks for what a row says; time and proof apart, as for `request_hash`.
fn is_same(asked: &Sealed, stored: &RowRef<'_>, first: u64) -> bool {
    let draft = asked.draft();
    let cause = draft.cause.map(|cause| match cause {
        Cause::Row(seq) => seq,
        Cause::Batch(at) => first + at as u64,
    });
    draft.stream.as_str() == stored.stream
        && draft.kind.as_str() == stored.kind
        && draft.version == stored.version
        && draft.actor.as_str() == stored.actor
        && cause == stored.cause
        && draft.data_class == stored.data_class
        && draft.taint == stored.taint
        && asked.payload_hash() == stored.payload_hash
        && draft.blobs.iter().map(BlobBytes::digest).eq(stored.blobs.iter().map(|blob| blob.digest))
}
