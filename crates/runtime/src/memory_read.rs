//! The tool `memory.read` (SPEC-006): reads memory and records that it did.
//! Owns: the order of checking, reading, recording and handing out. Must not: record a read that failed, or anything of
//! what was read.

use crate::clock::Clock;
use crate::ports::ledger::{self, Batch, Journal, Stamp};
use crate::ports::memory::{Memory, Package};
use countersign_kernel::recall::path::cleaned;
use countersign_kernel::recall::{Input, Refusal};
use countersign_record::access::MatterAccess;
use countersign_record::code::Code;
use countersign_record::id::{NotAnId, RowKind, StreamId};
use countersign_record::json::{Json, Number, Object};
use countersign_record::label::Label;
use countersign_record::memory_read::{KIND, Receipt, STREAM, VERSION};
use countersign_record::row::{DataClass, Draft, NotADraft, Proof, Sealed, Taint};
use countersign_record::time::NotATimestamp;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the prompt may be given from memory.
#[derive(Clone)]
pub struct Recall {
    /// Who reads it.
    pub memory: Arc<dyn Memory>,
    /// The stores, and how far what is in them may travel.
    pub stores: BTreeMap<String, DataClass>,
    /// Where they are, as the machine names it: a session may have written one.
    pub places: BTreeMap<String, String>,
    /// How much of it, in tokens.
    pub tokens_max: u32,
}

/// The tool, with what it reads and where it records.
#[derive(Clone, Copy)]
pub struct Tool<'a> {
    /// What is read.
    pub memory: &'a dyn Memory,
    /// Where that is recorded.
    pub ledger: &'a dyn Journal,
    /// Who reads, and for which matter.
    pub access: &'a MatterAccess,
    /// When.
    pub clock: &'a Clock,
}

/// A read whose receipt is durable. There is no other way to a package through the tool.
#[derive(Debug)]
pub struct Recorded {
    /// What was read.
    pub package: Box<dyn Package>,
    /// Where the receipt stands.
    pub receipt: Stamp,
}

/// Why nothing was handed out. Nothing was recorded either.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The input, a store or the trust snapshot can't be used.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The receipt does not fit a row: the stores have too many names.
    #[error(transparent)]
    NotADraft(#[from] NotADraft),
    /// A name of the receipt is none.
    #[error(transparent)]
    NotAnId(#[from] NotAnId),
    /// The clock says nothing that can be written.
    #[error(transparent)]
    NotATimestamp(#[from] NotATimestamp),
    /// The ledger did not take the receipt.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
}

impl Error {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Error::Refused(refusal) => refusal.code(),
            Error::NotADraft(error) => error.code(),
            Error::NotAnId(error) => error.code(),
            Error::NotATimestamp(_) => Code::TimeInvalid,
            Error::Ledger(error) => error.code(),
        }
    }
}

impl Tool<'_> {
    /// Checks the arguments (the contract's MemoryControllerInput), reads, and appends one row. The package is handed
    /// out when the row is durable.
    ///
    /// # Errors
    /// There is no package, and no row.
    pub async fn call(&self, arguments: &Json) -> Result<Recorded, Error> {
        let nothing = || Batch { rows: Vec::new(), expected: BTreeMap::new(), idem_key: None };
        self.call_after(arguments, nothing).await
    }

    /// As [`Tool::call`], with rows that happened before the read and are appended with it, once it has succeeded.
    ///
    /// # Errors
    /// There is no package, and no row.
    pub async fn call_after(
        &self,
        arguments: &Json,
        before: impl FnOnce() -> Batch,
    ) -> Result<Recorded, Error> {
        let package = self.memory.read(Input::read(arguments)?).await?;
        let receipt = self.sealed(package.receipt())?;
        let mut batch = before();
        batch.rows.push(receipt);
        let appended = self.ledger.append(self.access, batch).await?;
        let receipt = *appended.rows.last().ok_or(ledger::Error::Closed)?;
        Ok(Recorded { package, receipt })
    }

    fn sealed(&self, receipt: Receipt) -> Result<Sealed, Error> {
        let draft = Draft {
            stream: StreamId::try_from(STREAM)?,
            kind: RowKind::try_from(KIND)?,
            version: VERSION,
            at: self.clock.now()?,
            actor: self.access.principal().clone(),
            proof: Proof::None,
            cause: None,
            data_class: DataClass::Internal,
            // The paths are as whoever asked wrote them.
            taint: Taint::Unclassified,
            payload: receipt.payload(),
            blobs: Vec::new(),
        };
        Ok(draft.seal()?)
    }
}

/// What holds for a store.
pub(crate) fn label_of(recall: &Recall, store: &str) -> Label {
    // A store that nobody classed: nothing that it holds may leave.
    let is_same = |(known, _): &(&String, &DataClass)| cleaned(known) == store;
    let data_class = recall.stores.iter().find(is_same).map_or(DataClass::LocalOnly, |(_, class)| *class);
    Label { data_class, taint: Taint::Unclassified }
}

/// The arguments of a memory read.
pub(crate) fn asked(query: &str, recall: &Recall, items_max: Option<&Json>) -> Json {
    let stores = recall.stores.keys().map(|store| Json::from(store.as_str())).collect();
    let mut budget = Object::from([("max_excerpt_tokens", Json::Number(Number::from(recall.tokens_max)))]);
    if let Some(items_max) = items_max {
        budget.insert("max_items", items_max.clone());
    }
    Object::from([("query", query.into()), ("store_paths", Json::Array(stores)), ("budget", budget.into())])
        .into()
}
