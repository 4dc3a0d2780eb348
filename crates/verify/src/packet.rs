//! The statement of a packet: in-toto, with all that a run's result rests on.
//! Owns: its members and their order, making one from its parts. Must not: judge one.
//!
//! What follows from the rest (which work products, which status, which formulas and keys) is stated at the head for readers; a
//! statement is made with what follows, and verifying derives it again.

mod read;

pub use read::{NotAStatement, Reading, Spoilt};

use crate::case::Case;
use crate::head;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use countersign_govern::types::wire::Wire;
use countersign_record::base64;
use countersign_record::canonical::{self, Unwritable};
use countersign_record::chain::{Anchor, Head};
use countersign_record::digest::Digest;
use countersign_record::id::{MatterId, PrincipalId, RunId};
use countersign_record::json::Json;
use countersign_record::row::Row;
use countersign_record::sign::PublicKey;
use countersign_record::time::Timestamp;
use serde::Serialize;
use serde::ser::{SerializeMap, SerializeStruct, Serializer};

/// What kind of statement it is.
pub const STATEMENT_TYPE: &str = "https://in-toto.io/Statement/v1";
/// What is stated.
pub const PREDICATE_TYPE: &str = "tag:countersign,2026:reliance-packet/1";
/// The version of the predicate's form.
pub const SCHEMA_VERSION: &str = "1.0";

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The work products.
    pub subjects: Vec<Subject>,
    /// Whose it is.
    pub matter: MatterId,
    /// The run.
    pub run: RunId,
    /// The packet, as its record calls it.
    pub packet_id: String,
    /// How far the work may be relied on.
    pub status: String,
    /// When the statement was made.
    pub made_at: Timestamp,
    /// By whom.
    pub made_by: PrincipalId,
    /// By which version of the product.
    pub made_with: String,
    /// The task as it was run.
    pub task: Json,
    /// Files of the task that criteria go by, by path.
    pub files: BTreeMap<String, Digest>,
    /// The rows.
    pub ledger: Ledger,
    /// The bytes that rows name, by digest.
    pub blobs: Vec<Blob>,
    /// The formulas that receipts name.
    pub formulas: Vec<Formula>,
    /// The keys that decisions are signed with.
    pub keys: Vec<Key>,
}

/// A work product.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// Its file name, as the task has it.
    pub name: String,
    /// SHA-256 of its bytes.
    pub digest: Digest,
}

/// The rows of a matter from the first of a run to its last.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ledger {
    /// A signed head.
    pub anchor: Option<Anchor>,
    /// The last row.
    pub head: Head,
    /// All rows in order: those of the run whole, those of others by their hash.
    pub rows: Vec<Entry>,
}

/// A row of the ledger, or what is shown of one that is not the run's.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Entry {
    /// A row of the run.
    Whole(alloc::boxed::Box<Row>),
    /// A row of something else.
    Withheld(Head),
}

impl Entry {
    /// Its place and hash.
    #[must_use]
    pub fn head(&self) -> Head {
        match self {
            Entry::Whole(row) => Head { seq: row.seq, hash: row.hash },
            Entry::Withheld(head) => *head,
        }
    }
}

/// Bytes that a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    /// SHA-256 of them.
    pub digest: Digest,
    /// How many there are.
    pub size: u64,
    /// What they are.
    pub content: Content,
}

/// What stands of some bytes in a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// The bytes.
    Present(Vec<u8>),
    /// They stay where they are, and why.
    Withheld(String),
}

impl Blob {
    /// Bytes as they are.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Self {
        Blob { digest: Digest::of(&bytes), size: bytes.len() as u64, content: Content::Present(bytes) }
    }
}

/// A formula that a receipt names, with what it takes to compute it.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Its id.
    pub id: String,
    /// Its version.
    pub version: String,
    /// Its whole text, whose digest receipts hold.
    pub text: String,
    /// What it takes and gives, and its policies: a `FormulaSpec`.
    pub spec: Json,
}

/// A key that decisions are signed with.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Key {
    /// Whose.
    pub principal: PrincipalId,
    /// The key.
    pub key: PublicKey,
}

/// What a statement is made of.
#[derive(Clone, Debug)]
pub struct Parts {
    /// Whose it is.
    pub matter: MatterId,
    /// The run.
    pub run: RunId,
    /// When it is made.
    pub made_at: Timestamp,
    /// By whom.
    pub made_by: PrincipalId,
    /// By which version of the product.
    pub made_with: String,
    /// The task as it was run.
    pub task: Json,
    /// Files of the task that criteria go by, by path.
    pub files: BTreeMap<String, Digest>,
    /// The rows.
    pub rows: Vec<Entry>,
    /// A signed head.
    pub anchor: Option<Anchor>,
    /// The bytes that rows name.
    pub blobs: Vec<Blob>,
}

/// Why there is no statement.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPacket {
    /// The run has no packet, be it that it goes on or that it ended without one.
    #[error("the run {run} has no reliance packet")]
    None {
        /// The run.
        run: RunId,
    },
    /// There are no rows.
    #[error("there are no rows")]
    Empty,
    /// A receipt names a formula that is not registered here.
    #[error("the formula {id} is not registered in version {version}")]
    Formula {
        /// Which.
        id: String,
        /// In which version.
        version: String,
    },
}

impl Statement {
    /// The statement of a run's last packet.
    ///
    /// # Errors
    /// There is none to be made.
    pub fn of(parts: Parts) -> Result<Self, NoPacket> {
        let Parts { matter, run, made_at, made_by, made_with, task, files, rows, anchor, mut blobs } = parts;
        let head = rows.last().map(Entry::head).ok_or(NoPacket::Empty)?;
        blobs.sort_by_key(|blob| blob.digest);
        blobs.dedup_by_key(|blob| blob.digest);
        let stated = {
            let case = Case::new(&run, &matter, &task, &files, &rows, &blobs);
            head::Stated::of(&case).ok_or_else(|| NoPacket::None { run: run.clone() })?
        };
        let mut formulas = Vec::new();
        for (id, version) in stated.formulas {
            let formula = Formula::registered(&id, &version);
            formulas.push(formula.ok_or(NoPacket::Formula { id, version })?);
        }
        Ok(Statement {
            subjects: stated.subjects,
            matter,
            run,
            packet_id: stated.packet_id,
            status: stated.status,
            made_at,
            made_by,
            made_with,
            task,
            files,
            ledger: Ledger { anchor, head, rows },
            blobs,
            formulas,
            keys: stated.keys.into_iter().collect(),
        })
    }

    /// The bytes that are signed and put into an envelope.
    ///
    /// # Errors
    /// Something in it has no canonical form.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Unwritable> {
        canonical::to_bytes_of(self)
    }

    /// The statement with some bytes left out; each is still named, with the reason.
    #[must_use]
    pub fn withholding(mut self, digests: &BTreeSet<Digest>, reason: &str) -> Self {
        for blob in self.blobs.iter_mut().filter(|blob| digests.contains(&blob.digest)) {
            blob.content = Content::Withheld(reason.to_string());
        }
        self
    }
}

impl Formula {
    /// A formula as this build has it.
    #[must_use]
    pub fn registered(id: &str, version: &str) -> Option<Self> {
        let spec = countersign_govern::formula::registry::find(id).filter(|spec| spec.version == version)?;
        let record = spec.record()?.write()?;
        Some(Formula { id: id.to_string(), version: version.to_string(), text: spec.text(), spec: record })
    }
}

impl Serialize for Statement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut statement = serializer.serialize_struct("Statement", 4)?;
        statement.serialize_field("_type", STATEMENT_TYPE)?;
        statement.serialize_field("subject", &self.subjects)?;
        statement.serialize_field("predicateType", PREDICATE_TYPE)?;
        statement.serialize_field("predicate", &Predicate(self))?;
        statement.end()
    }
}

struct Predicate<'a>(&'a Statement);

impl Serialize for Predicate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = self.0;
        let mut predicate = serializer.serialize_struct("Predicate", 14)?;
        predicate.serialize_field("schema_version", SCHEMA_VERSION)?;
        predicate.serialize_field("matter", &of.matter)?;
        predicate.serialize_field("run", &of.run)?;
        predicate.serialize_field("packet_id", &of.packet_id)?;
        predicate.serialize_field("status", &of.status)?;
        predicate.serialize_field("made_at", &of.made_at)?;
        predicate.serialize_field("made_by", &of.made_by)?;
        predicate.serialize_field("made_with", &of.made_with)?;
        predicate.serialize_field("task", &of.task)?;
        predicate.serialize_field("files", &of.files)?;
        predicate.serialize_field("ledger", &of.ledger)?;
        predicate.serialize_field("blobs", &of.blobs)?;
        predicate.serialize_field("formulas", &of.formulas)?;
        predicate.serialize_field("keys", &of.keys)?;
        predicate.end()
    }
}

impl Serialize for Subject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut subject = serializer.serialize_map(Some(2))?;
        subject.serialize_entry("name", &self.name)?;
        subject.serialize_entry("digest", &BTreeMap::from([("sha256", self.digest)]))?;
        subject.end()
    }
}

impl Serialize for Formula {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut formula = serializer.serialize_map(Some(4))?;
        formula.serialize_entry("id", &self.id)?;
        formula.serialize_entry("version", &self.version)?;
        formula.serialize_entry("text", &self.text)?;
        formula.serialize_entry("spec", &self.spec)?;
        formula.end()
    }
}

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut blob = serializer.serialize_map(Some(3))?;
        blob.serialize_entry("digest", &self.digest)?;
        blob.serialize_entry("size", &self.size)?;
        match &self.content {
            // Most of what a run rests on is text, and a reader should be able to read it.
            Content::Present(bytes) => match core::str::from_utf8(bytes) {
                Ok(text) => blob.serialize_entry("text", text)?,
                Err(_) => blob.serialize_entry("base64", &base64::encode(bytes))?,
            },
            Content::Withheld(reason) => blob.serialize_entry("withheld", reason)?,
        }
        blob.end()
    }
}

/// The stream of a run's own rows.
pub(crate) fn run_stream(run: &RunId) -> String {
    format!("run/{run}")
}

/// The stream of a run's governed records.
pub(crate) fn work_stream(run: &RunId) -> String {
    format!("work/{run}")
}
