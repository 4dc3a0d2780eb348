//! What is remembered: stores of memory records, a conversation, texts as vectors, and finding what is near.
//! Owns: reading and writing files in bounded memory, embedding, exact search. Must not: decide what is selected
//! (`countersign-kernel` does), write to a store that is read, run a pickle, or use a network.

#![cfg_attr(
    test,
    allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests fail by panicking")
)]

pub mod conversation;
pub mod embed;
pub mod lexicon;
pub mod recall;
pub mod remembered;
pub mod search;
pub mod snapshot;
