//! Why a read is refused.
//! Owns: the codes and the words; the same bad input gives the same ones. Must not: repeat anything from a store.

use alloc::string::String;
use countersign_record::code::Code;

/// Why a read is refused; nothing of it was given out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// There is no query.
    #[error("query: a text that is not blank is needed")]
    Query,
    /// There are no stores.
    #[error("store_paths: a list of at least one path is needed, each a text that is not empty")]
    StorePaths,
    /// The budget is none.
    #[error("{field}: {needed}")]
    Budget {
        /// Which part of it.
        field: &'static str,
        /// What is needed.
        needed: &'static str,
    },
    /// Another member is not what it should be.
    #[error("{field}: {needed}")]
    Input {
        /// Which.
        field: String,
        /// What is needed.
        needed: &'static str,
    },
    /// A store is not there.
    #[error("there is no store at {path}")]
    StoreMissing {
        /// Its path, cleaned.
        path: String,
    },
    /// A store can't be read.
    #[error("the store {path} can't be read: {why}")]
    StoreUnreadable {
        /// Its path, cleaned.
        path: String,
        /// Why.
        why: String,
    },
    /// A store was changed while it was read.
    #[error("the store {path} was changed while it was read")]
    StoreChanged {
        /// Its path, cleaned.
        path: String,
    },
    /// The trust snapshot says nothing that can be relied on.
    #[error("the trust snapshot {path} can't be used: {why}")]
    TrustSnapshot {
        /// Its path.
        path: String,
        /// Why.
        why: String,
    },
}

impl Refusal {
    /// The stable code.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Refusal::Query => Code::MemoryQuery,
            Refusal::StorePaths => Code::MemoryStorePaths,
            Refusal::Budget { .. } => Code::MemoryBudget,
            Refusal::Input { .. } => Code::MemoryInput,
            Refusal::StoreMissing { .. } => Code::MemoryStoreMissing,
            Refusal::StoreUnreadable { .. } => Code::MemoryStoreUnreadable,
            Refusal::StoreChanged { .. } => Code::MemoryStoreChanged,
            Refusal::TrustSnapshot { .. } => Code::MemoryTrustSnapshot,
        }
    }
}
