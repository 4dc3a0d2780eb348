//! A row as one line of an export.
//! Owns: the line's form, canonical JSON, so that equal ledgers export equal bytes. Must not: check the chain.

use super::{BlobRef, DataClass, Proof, Row, RowRef, Taint};
use crate::canonical::{self, Inexact, Unwritable};
use crate::code::Code;
use crate::digest::Digest;
use crate::fields::{Fields, Trouble};
use crate::json::{self, Json, ParseError};
use crate::sign::{PublicKey, Signature};
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// A line that is no row.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadLine {
    /// It is not JSON.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// It is JSON, but no row.
    #[error("{0}")]
    Row(Trouble),
    /// It is a row, but not written as an export writes it.
    #[error("the line is not in canonical form")]
    NotCanonical,
    /// The payload has a number without a canonical form.
    #[error(transparent)]
    Inexact(#[from] Inexact),
}

impl BadLine {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            BadLine::Json(error) => error.problem.code(),
            BadLine::Row(trouble) => trouble.code,
            BadLine::NotCanonical => Code::ArchiveInvalid,
            BadLine::Inexact(_) => Code::NumberInexact,
        }
    }
}

/// The row as a line, without the line's end.
///
/// # Errors
/// The row was not read from a ledger: a count in it is beyond 2^53.
pub fn line(row: &Row) -> Result<Vec<u8>, Unwritable> {
    canonical::to_bytes_of(row)
}

/// Reads a line that [`line`] wrote.
///
/// # Errors
/// It did not.
pub fn read_line(text: &[u8]) -> Result<Row, BadLine> {
    let value = json::parse(text)?;
    if canonical::to_bytes(&value)? != text {
        return Err(BadLine::NotCanonical);
    }
    read(value)
}

/// Reads a row as it stands in a document.
///
/// # Errors
/// It is no row.
pub fn read(value: Json) -> Result<Row, BadLine> {
    let mut fields = Fields::taking(value).map_err(BadLine::Row)?;
    let row = read_row(&mut fields);
    fields.deny_unknown();
    match (fields.finish(), row) {
        (Ok(()), Some(row)) => Ok(row),
        (Err(mut troubles), _) if !troubles.is_empty() => Err(BadLine::Row(troubles.swap_remove(0))),
        (Err(_) | Ok(()), _) => Err(BadLine::NotCanonical),
    }
}

fn read_row(fields: &mut Fields<'_>) -> Option<Row> {
    let proof = fields.object("proof", |proof| {
        let read = read_proof(proof);
        proof.deny_unknown();
        read
    });
    let blobs = fields.objects("blobs", |blob| {
        let (digest, size) = (blob.parse("digest", |text| Digest::try_from(text)), blob.integer("size"));
        blob.deny_unknown();
        Some(BlobRef { digest: digest?, size: size? })
    });
    let data_class = fields.parse("data_class", |text| DataClass::try_from(text));
    let taint = fields.parse("taint", |text| Taint::try_from(text));
    let payload = fields.keep("payload").map(Cow::into_owned);
    let digests =
        ["payload_hash", "prev_hash", "hash"].map(|name| fields.parse(name, |text| Digest::try_from(text)));
    let [payload_hash, prev_hash, hash] = digests;
    let row = (
        fields.integer("seq"),
        fields.id("stream"),
        fields.integer("stream_seq"),
        fields.id("kind"),
        read_version(fields),
        fields.timestamp("at"),
        fields.id("actor"),
    );
    // A line holds every member, those without a value as null: two lines of one row would be two exports.
    fields.value("cause");
    fields.value("idem_key");
    let cause = fields.optional("cause", Fields::integer);
    let idem_key = fields.optional("idem_key", Fields::id);
    Some(Row {
        seq: row.0?,
        stream: row.1?,
        stream_seq: row.2?,
        kind: row.3?,
        version: row.4?,
        at: row.5?,
        actor: row.6?,
        proof: proof?,
        cause,
        idem_key,
        data_class: data_class?,
        taint: taint?,
        payload: payload?,
        payload_hash: payload_hash?,
        blobs: blobs?,
        prev_hash: prev_hash?,
        hash: hash?,
    })
}

fn read_version(fields: &mut Fields<'_>) -> Option<u32> {
    let version = u32::try_from(fields.integer("version")?);
    if version.is_err() {
        fields.trouble("version", Code::FieldInvalid, "an integer from 0 to 2^32 - 1 is needed");
    }
    version.ok()
}

fn read_proof(proof: &mut Fields<'_>) -> Option<Proof> {
    match proof.text("kind")?.as_str() {
        "none" => Some(Proof::None),
        "self_asserted" => Some(Proof::SelfAsserted),
        "signed" => {
            let key = proof.parse("key", |text| PublicKey::try_from(text));
            let signature = proof.parse("signature", |text| Signature::try_from(text));
            Some(Proof::Signed { key: key?, signature: signature? })
        }
        _ => {
            proof.trouble("kind", Code::FieldInvalid, "none, self_asserted or signed");
            None
        }
    }
}

impl Row {
    /// The row as a store holds it. `payload` is the payload's canonical bytes, `blobs` its packed references.
    #[must_use]
    pub fn as_stored<'a>(&'a self, payload: &'a [u8], blobs: super::PackedBlobs<'a>) -> RowRef<'a> {
        RowRef {
            seq: self.seq,
            stream: self.stream.as_str(),
            stream_seq: self.stream_seq,
            kind: self.kind.as_str(),
            version: self.version,
            at: self.at.as_str(),
            actor: self.actor.as_str(),
            proof: self.proof,
            cause: self.cause,
            idem_key: self.idem_key.as_ref().map(crate::id::IdemKey::as_str),
            data_class: self.data_class,
            taint: self.taint,
            payload,
            payload_hash: self.payload_hash,
            blobs,
            prev_hash: self.prev_hash,
            hash: self.hash,
        }
    }
}
