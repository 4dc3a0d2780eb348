//! What is remembered: stores of memory records, a conversation and the snapshot of its vectors.
//! Owns: reading them, in bounded memory. Must not: decide what is selected (`countersign-kernel` does), write to
//! a store that is read, or run a pickle.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod conversation;
pub mod embed;
pub mod lexicon;
pub mod recall;
pub mod search;
pub mod snapshot;
