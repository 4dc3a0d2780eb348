//! What tests share: the conformance suite of the ledger port, seeded randomness, drafts, governed logs, forged packets, scratch
//! directories.
//! Owns: fakes and fixtures. Must not: be part of the product.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation,
    reason = "tests fail by panicking, and say why on stderr"
)]

pub mod another;
pub mod audits;
pub mod bench;
pub mod conformance;
pub mod drafts;
pub mod forge;
pub mod random;
pub mod scratch;
pub mod worlds;
