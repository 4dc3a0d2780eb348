//! The ledger on disk: SQLite, exports, keys, and the checkpoints of sessions.
//! Owns: how rows, blobs, snapshots and keys are kept and how durable they are. Must not: interpret rows, beyond
//! the ledger's own ones about holds and erasures.
//!
//! Invariants:
//! - what was acknowledged survives a crash; what was refused leaves no trace;
//! - one file and one writer per matter, and nothing that two matters share;
//! - bytes on disk are hostile: they may make an error, never a panic.
#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod archive;
pub mod keys;
pub mod roots;
pub mod sessions;
mod sqlite;
pub mod traces;

pub use sqlite::Sqlite;
