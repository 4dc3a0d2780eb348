//! `ledger append`: rows from outside.
//! Owns: reading them and acknowledging each. Must not: let anybody write the product's own kinds.

use crate::cli::Global;
use crate::failure::{Exit, Failure};
use crate::input::{self, Lines};
use crate::output;
use crate::place::Place;
use countersign_record::code::Code;
use countersign_record::digest::Digest;
use countersign_record::fields::{Fields, Trouble};
use countersign_record::hold;
use countersign_record::id::{IdemKey, RowKind, StreamId};
use countersign_record::json::Json;
use countersign_record::row::{BlobBytes, Cause, DataClass, Draft, Proof, Sealed, Taint};
use countersign_runtime::ports::ledger::{Appended, BATCH_ROWS_MAX, Batch, Journal, Stamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// Kinds that may come from outside begin with this.
const OUTSIDE: &str = "external.";

/// What the rows of `--atomic` may weigh together: they are held until the last one is read.
const ATOMIC_BYTES_MAX: usize = 64 * 1024 * 1024;

/// A line: a draft, and what the request around it says.
struct Request {
    sealed: Sealed,
    expected: Option<u64>,
    idem_key: Option<IdemKey>,
}

impl Request {
    fn bytes(&self) -> usize {
        let blobs = self.sealed.draft().blobs.iter().map(|blob| blob.bytes().len());
        self.sealed.payload().len() + blobs.sum::<usize>()
    }
}

#[derive(Serialize)]
struct Acknowledged<'a> {
    seq: u64,
    stream: &'a StreamId,
    stream_seq: u64,
    hash: Digest,
    repeated: bool,
}

pub(super) async fn run(
    global: &Global,
    place: &Place,
    file: &str,
    atomic: bool,
    blobs: &[String],
) -> Result<Exit, Failure> {
    let mut lines = Lines::open(file)?;
    let mut files = blobs
        .iter()
        .map(|path| Ok(BlobBytes::new(input::blob(path)?)?))
        .collect::<Result<Vec<_>, Failure>>()?;
    let single = !files.is_empty();
    let mut held = Vec::new();
    let mut held_line = 0_u64;
    let mut held_bytes = 0_usize;
    let mut appended = 0_u64;
    while let Some((number, value)) =
        lines.next_document().map_err(|failure| failure.with_count("appended", appended))?
    {
        let told = |failure: Failure| at_line(failure, number, appended);
        if single && !held.is_empty() {
            return Err(told(Failure::new(Code::UsageInvalid, "--blob takes one row")));
        }
        let request = read(place, value, std::mem::take(&mut files)).map_err(told)?;
        if atomic {
            if held.len() == BATCH_ROWS_MAX {
                return Err(told(Failure::new(Code::LedgerBatch, "a batch holds at most 50,000 rows")));
            }
            held_bytes += request.bytes();
            if held_bytes > ATOMIC_BYTES_MAX {
                return Err(told(Failure::new(
                    Code::LedgerBatch,
                    "the rows that go together have more than 64 MiB",
                )));
            }
        }
        // That a blob's row is the only one is known when the input has ended.
        if atomic || single {
            held.push(request);
            held_line = number;
            continue;
        }
        let done = append(place, vec![request]).await.map_err(told)?;
        appended += done.count();
        done.acknowledge(global).map_err(|failure| at_line(failure, number, appended))?;
    }
    if !held.is_empty() {
        let told = |failure: Failure, appended| {
            if atomic {
                failure.with_count("appended", appended)
            } else {
                at_line(failure, held_line, appended)
            }
        };
        let done = append(place, held).await.map_err(|failure| told(failure, 0))?;
        done.acknowledge(global).map_err(|failure| told(failure, done.count()))?;
    } else if appended == 0 {
        return Err(Failure::new(Code::JsonEmpty, "there is no row to append"));
    }
    Ok(Exit::Success)
}

fn at_line(failure: Failure, number: u64, appended: u64) -> Failure {
    let message = format!("line {number}: {}", failure.message);
    Failure { message, ..failure }.with_count("line", number).with_count("appended", appended)
}

/// A request that the ledger has taken: its rows are durable, whether or not anybody can be told.
struct Done {
    streams: Vec<StreamId>,
    answer: Appended,
}

impl Done {
    fn count(&self) -> u64 {
        self.answer.rows.len() as u64
    }

    fn acknowledge(&self, global: &Global) -> Result<(), Failure> {
        let repeated = self.answer.repeated;
        for (stream, Stamp { seq, stream_seq, hash }) in self.streams.iter().zip(&self.answer.rows) {
            if global.json {
                let (seq, stream_seq, hash) = (*seq, *stream_seq, *hash);
                output::json(&Acknowledged { seq, stream, stream_seq, hash, repeated })?;
            } else {
                let again = if repeated { "  (appended before)" } else { "" };
                output::line(&format!("{seq}  {stream}/{stream_seq}  {hash}{again}"))?;
            }
        }
        Ok(())
    }
}

async fn append(place: &Place, requests: Vec<Request>) -> Result<Done, Failure> {
    let mut expected = BTreeMap::new();
    let mut idem_key = None;
    let mut rows = Vec::new();
    let mut streams = Vec::new();
    for request in requests {
        let stream = request.sealed.draft().stream.clone();
        // A batch is one request: it has one key, and expects a stream to end at one place.
        if let Some(at) = request.expected
            && *expected.entry(stream.clone()).or_insert(at) != at
        {
            let message = format!("rows that go together expect {stream} to end at two places");
            return Err(Failure::new(Code::FieldConflict, message));
        }
        if let Some(key) = request.idem_key
            && *idem_key.get_or_insert(key.clone()) != key
        {
            return Err(Failure::new(Code::FieldConflict, "rows that go together have two idempotency keys"));
        }
        streams.push(stream);
        rows.push(request.sealed);
    }
    let answer = place.ledger.append(&place.access, Batch { rows, expected, idem_key }).await?;
    Ok(Done { streams, answer })
}

fn read(place: &Place, value: Json, files: Vec<BlobBytes>) -> Result<Request, Failure> {
    let invalid =
        |troubles: Vec<Trouble>| Failure::troubles(Code::RowInvalid, "the row is not valid", &troubles);
    let mut fields = Fields::of(&value).map_err(|trouble| invalid(vec![trouble]))?;
    let stream: Option<StreamId> = fields.id("stream");
    let kind: Option<RowKind> = fields.id("kind");
    fields.value("payload");
    let version = fields.absent_or("version", Fields::integer).unwrap_or(1);
    let data_class =
        fields.absent_or("data_class", |fields, name| fields.parse(name, |word| DataClass::try_from(word)));
    let taint = fields.absent_or("taint", |fields, name| fields.parse(name, |word| Taint::try_from(word)));
    let cause = fields.optional("cause", Fields::integer).map(Cause::Row);
    let expected = fields.optional("expected", Fields::integer);
    let idem_key = fields.optional("idem_key", Fields::id);
    let texts = fields.absent_or("blobs", |fields, name| {
        fields.objects(name, |blob| {
            let text = blob.text("text");
            blob.deny_unknown();
            text
        })
    });
    fields.deny_unknown();
    fields.finish().map_err(invalid)?;
    // Taken out rather than copied: a payload may be the whole line.
    let payload = match value {
        Json::Object(mut object) => object.remove("payload"),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => None,
    };
    let (Some(stream), Some(kind), Some(payload)) = (stream, kind, payload) else {
        return Err(invalid(Vec::new()));
    };
    if !kind.as_str().starts_with(OUTSIDE) {
        return Err(Failure::new(Code::RowKindReserved, format!("{kind} does not begin with {OUTSIDE}")));
    }
    if kind.as_str() == OUTSIDE || stream.as_str() == hold::STREAM {
        let message = format!(
            "{kind} in {stream}: a kind has a name after {OUTSIDE}, and the stream is not the ledger's own"
        );
        return Err(Failure::new(Code::RowKindReserved, message));
    }
    let mut blobs = files;
    for text in texts.unwrap_or_default() {
        blobs.push(BlobBytes::new(text.into_bytes())?);
    }
    let version =
        u32::try_from(version).map_err(|_| Failure::new(Code::RowInvalid, "the version is too large"))?;
    let draft = Draft {
        stream,
        kind,
        version,
        at: place.now()?,
        actor: place.access.principal().clone(),
        proof: Proof::None,
        cause,
        data_class: data_class.unwrap_or(DataClass::Internal),
        taint: taint.unwrap_or(Taint::Unclassified),
        payload,
        blobs,
    };
    Ok(Request { sealed: draft.seal()?, expected, idem_key })
}
